"""How views are gathered: every agent sorts the statements, always as a whole, and places itself on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pydantic import JsonValue

from enquete.graphs.diversity.instrument import DiversityInstrument, DiversitySettings
from enquete.state.asking import Block, Item
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Procedure

SORT, AXES = "sort", "axes"


class Diversity(Procedure[DiversityInstrument, DiversitySettings]):
    """One round: the sort first, the axes after it."""

    answer_columns = ("placed", "notes")

    @cached_property
    def _items(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        return self.instrument.sort_items(self.language), self.instrument.axis_items(self.language)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        texts, (sort, axes) = self.instrument.instructions, self._items
        grid: JsonValue = {str(column): places for column, places in self.instrument.distribution.items()}
        above = texts.sort.in_(self.language), texts.axes.in_(self.language)
        in_order = self.instrument.in_order
        return [
            Block(
                key=context.key(unit, SORT),
                instruction=above[0],
                items=sort,
                constraint={"grid": grid},
                in_order=in_order,
            ),
            *(
                [Block(key=context.key(unit, AXES), instruction=above[1], items=axes, in_order=in_order)]
                if axes
                else []
            ),
        ]
