"""A methodology whose units behave as a test says: done, with a bug, slow, or unable to write."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from enquete.state.asking import Answer, Block, Item, Language, Option, Outcome, Participant
from enquete.state.errors import LedgerError
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Truth
from tests.support.one_round import one_round

Behaviour = Literal["bug", "ledger", "slow", "short"]

behaviour: dict[str, Behaviour] = {}
"""By unit; a unit not named asks its one question."""
finished: list[str] = []
"""Units that came to their end, in that order."""

ITEM = Item(id="i", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in range(1, 6)))


class FickleInstrument(BaseModel):
    pass


class Fickle(Procedure[FickleInstrument, NoSettings]):
    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        return [Block(key=context.key(unit, "items"), instruction="?", items=(ITEM,))]

    async def conduct(self, unit: str, round: int, context: InterviewContext) -> Outcome:
        how = behaviour.get(unit)
        if how == "bug":
            raise ZeroDivisionError(f"planted in {unit}")
        if how == "ledger":
            raise LedgerError("the disk is full")
        if how == "short":
            return "short"
        if how == "slow":
            await asyncio.sleep(0.2)
        ended = await super().conduct(unit, round, context)
        finished.append(unit)
        return ended


def planted(instrument: FickleInstrument, settings: NoSettings) -> Truth:
    def answer(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        return [Answer(item.id, "ok", 3.0) for item in block.items]

    return answer


METHODOLOGY = Methodology(
    name="fickle",
    title="Fickle",
    default=False,
    order=99,
    phases=("T1",),
    asks=lambda: MethodParts(FickleInstrument, NoSettings, Fickle, planted),
    evaluation=lambda: None,
    graph=one_round,
    probes=(),
)
