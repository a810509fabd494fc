"""Poll: whatever is asked, once and of everybody, and what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from enquete.instruments.polls import QuestionsInstrument
from enquete.locale import N_
from enquete.state.asking import Block, Item
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, NoSettings, Procedure, Steps


class PollInstrument(QuestionsInstrument):
    """Of this package, so that the file beside it is the one that ships."""


class Poll(Procedure[QuestionsInstrument, NoSettings]):
    """One round: everybody is asked everything."""

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return self.instrument.items(self.language)

    def blocks(self, unit: str, round: int, desk: InterviewContext) -> Sequence[Block]:
        instruction = self.instrument.instruction.in_(self.language)
        in_order = self.instrument.in_order
        return [Block(key=desk.key(unit, "questions"), instruction=instruction, items=self._items, in_order=in_order)]


METHODOLOGY = Methodology(
    name="poll",
    title=N_("Poll"),
    default=False,
    order=80,
    phases=("T1",),
    instrument=PollInstrument,
    settings=NoSettings,
    procedure=Poll,
    results="enquete.graphs.poll.results:EVALUATION",
    steps=Steps("open_questions", "ask_questions", "close_questions"),
)
