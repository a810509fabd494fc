"""A methodology that asks one question of every kind that takes options, and one in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from enquete.reports.declarations import Presentation, shaped
from enquete.reports.evaluation import Evaluation
from enquete.respondents.ground_truth import answer_at, uniform
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Truth
from tests.support.one_round import one_round

OPTIONS = (
    Option(value="sea", label="The sea"),
    Option(value="town", label="The town"),
    Option(value=3, label=""),
    Option(value="field", label="The field"),
)


def item(kind: Literal["choice", "ranking", "best_worst"]) -> Item:
    return Item(id=kind, kind=kind, wording="Where?", options=OPTIONS)


ITEMS = (item("choice"), item("ranking"), item("best_worst"), Item(id="why", kind="text", wording="Why?"))


class ChoosingInstrument(BaseModel):
    pass


class Choosing(Procedure[ChoosingInstrument, NoSettings]):
    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        return [Block(key=context.key(unit, "items"), instruction="?", items=ITEMS)]


def planted(instrument: ChoosingInstrument, settings: NoSettings) -> Truth:
    def answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        where = 2 * uniform(seed, who.id) - 1
        reasons = [Answer("why", "ok", text="So.")]
        return [answer_at(where, item, confidence=0.5) for item in block.items if item.options] + reasons

    return answers


EVALUATION = Evaluation(
    Presentation(tables=()), lambda frame, instrument, settings, context: shaped(Presentation(tables=()), {}, {})
)

METHODOLOGY = Methodology(
    name="choosing",
    title="Choosing",
    default=False,
    order=97,
    phases=("T1",),
    asks=lambda: MethodParts(ChoosingInstrument, NoSettings, Choosing, planted),
    evaluation=lambda: EVALUATION,
    graph=one_round,
    probes=(),
)
