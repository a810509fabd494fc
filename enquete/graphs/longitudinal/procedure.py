"""How a wave is taken: every agent gets one block with all items, or one item at a time with --asking item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.state.asking import Block, Item
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings, Procedure

PART = "items"


class Wave(Procedure[LongitudinalInstrument, NoSettings]):
    """One wave. T0 and T1 differ only in the context: its phase, and what the agents remember."""

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return self.instrument.block_items(self.language)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        instruction = self.instrument.instruction.in_(self.language)
        in_order = self.instrument.in_order
        return [Block(key=context.key(unit, PART), instruction=instruction, items=self._items, in_order=in_order)]
