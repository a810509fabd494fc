"""How a wave is taken: every agent gets one block with all items, or one item at a time with --asking item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.synthetic import Planted
from enquete.state.seam import Block, Desk, Item, Language, Outcome, Plan, Truth

ATTEMPTS = 3
PART = "items"


class LongitudinalSettings(BaseModel):
    """Nothing to set: what is asked is the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Wave:
    """One wave. T0 and T1 differ only in the desk: its phase, and what the agents remember."""

    rounds = 1

    def __init__(self, instruction: str, items: tuple[Item, ...]):
        self._instruction = instruction
        self._items = items

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        return [who.id for who in desk.participants()]

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        return [Block(key=desk.key(unit, PART), instruction=self._instruction, items=self._items)]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        for block in self.blocks(unit, round, desk):
            reply = await desk.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["next", "end"]:
        return "end"


def procedure(instrument: LongitudinalInstrument, settings: LongitudinalSettings, language: Language) -> Wave:
    return Wave(instrument.instruction.in_(language), instrument.block_items(language))


def plan(instrument: LongitudinalInstrument, settings: LongitudinalSettings, agents: int, asking: str) -> Plan:
    """Rows and calls of one wave."""
    items = len(instrument.block_items("de"))
    calls = agents * (items if asking == "item" else 1)
    return Plan(
        calls={"answer": (calls, calls * ATTEMPTS)},
        rows=dict.fromkeys(("T0", "T1"), (agents * items, agents * items)),
    )


def planted(instrument: LongitudinalInstrument) -> Truth:
    """The synthetic respondent's truth, told which family an item belongs to and which way it is keyed."""
    return Planted({item.item_id: (item.family, item.reverse_coded) for item in instrument.items})
