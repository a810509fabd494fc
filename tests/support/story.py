"""A methodology of one open question, the same for everybody."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from enquete.reports.evaluation import Evaluation
from enquete.state.asking import Block, Item
from enquete.state.desk import Desk
from enquete.state.methodology import Methodology, NoSettings, Procedure

QUESTION = Item(id="water", kind="text", wording="What is the boiling point of water at sea level?")


class StoryInstrument(BaseModel):
    pass


class Story(Procedure[StoryInstrument, NoSettings]):
    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        return [Block(key=desk.key(unit, "items"), instruction="Please answer.", items=(QUESTION,))]


EVALUATION = Evaluation(analyse=lambda frame, instrument, settings, context: {"said": list(frame["text"])})

METHODOLOGY = Methodology(
    name="story",
    title="Story",
    default=False,
    order=99,
    phases=("T1",),
    instrument=StoryInstrument,
    settings=NoSettings,
    procedure=Story,
    results="tests.support.story:EVALUATION",
    probes=(),
)
