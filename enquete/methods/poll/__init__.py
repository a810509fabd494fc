"""Poll: whatever is asked, once and of everybody, and what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from enquete.instruments.polls import QuestionsInstrument
from enquete.locale import N_
from enquete.state.asking import Block, Item
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Offer, Procedure

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.state.methodology import Operation, PairComparisons


def _operations() -> Sequence[Operation]:
    from enquete.methods.poll.comparison import COMPARISON_OPERATIONS

    return COMPARISON_OPERATIONS


def _pairs() -> PairComparisons:
    from enquete.methods.poll.comparison import COMPARISONS

    return COMPARISONS


OFFER = Offer(
    "compare",
    "To ask two respondents one question, live, and let a person or a model prefer one of the answers, at once or "
    "later",
    _operations,
    pairs=_pairs,
)


class PollInstrument(QuestionsInstrument):
    """Of this package, so that the file beside it is the one that ships."""

    questions_tested = ("groups", "choice_groups")


class Poll(Procedure[QuestionsInstrument, NoSettings]):
    """One round: everybody is asked everything."""

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return self.instrument.items(self.language)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        instruction = self.instrument.instruction.in_(self.language)
        in_order = self.instrument.in_order
        return [
            Block(key=context.key(unit, "questions"), instruction=instruction, items=self._items, in_order=in_order)
        ]


def _graph() -> Any:
    from enquete.graphs.poll import poll

    return poll


def _evaluation() -> Evaluation:
    from enquete.methods.poll.evaluation import EVALUATION

    return EVALUATION


METHODOLOGY = Methodology(
    name="poll",
    title=N_("Poll"),
    default=False,
    order=80,
    phases=("T1",),
    asks=lambda: MethodParts(PollInstrument, NoSettings, Poll),
    evaluation=_evaluation,
    graph=_graph,
    offers=OFFER,
)
