"""A methodology whose arms end in different rounds, and whose units may have said everything before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from enquete.reports.declarations import Presentation, shaped
from enquete.reports.evaluation import Evaluation
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Truth

LAST = {"main": 2, "people": 3, "replicate_2": 1}
"""By arm, the round in which its verdict is to end."""

ENOUGH = 5.0
"""Who answers this owes nothing more: every agent with an even number, in the first round."""

ITEM = Item(id="i", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in range(1, 6)))


class UnevenInstrument(BaseModel):
    pass


class Uneven(Procedure[UnevenInstrument, NoSettings]):
    rounds = 3

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        return [who.id for who in context.participants() if not self._is_over(who.id, round, context)]

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        known = round == 1 or context.pinned(f"asked/{round}") is not None
        return [Block(key=context.key(unit, "items", round=round), instruction="?", items=(ITEM,))] if known else []

    async def between(self, round: int, context: InterviewContext) -> Literal["next", "end"]:
        if round == LAST[context.arm.id]:
            return "end"
        await context.pin(f"asked/{round + 1}", True)
        return "next"

    def _is_over(self, unit: str, round: int, context: InterviewContext) -> bool:
        earlier = (context.stored(context.key(unit, "items", round=number)) for number in range(1, round))
        return any(answer.value == ENOUGH for answers in earlier for answer in answers.values())


def planted(instrument: UnevenInstrument, settings: NoSettings) -> Truth:
    def answer(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        leaves = (who.agent_id or 0) % 2 == 0
        return [Answer(item.id, "ok", ENOUGH if leaves else 3.0) for item in block.items]

    return answer


EVALUATION = Evaluation(
    Presentation(tables=()), lambda frame, instrument, settings, context: shaped(Presentation(tables=()), {}, {})
)

METHODOLOGY = Methodology(
    name="uneven",
    title="Uneven",
    default=False,
    order=98,
    phases=("T1",),
    asks=lambda: MethodParts(UnevenInstrument, NoSettings, Uneven, planted),
    evaluation=lambda: EVALUATION,
    probes=(),
)
