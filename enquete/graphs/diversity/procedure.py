"""How views are gathered: every agent sorts the statements, always as a whole, and places itself on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.synthetic import answer
from enquete.respondents.grid import GRID_ATTEMPTS
from enquete.respondents.llm import ATTEMPTS
from enquete.state.seam import Block, Desk, Language, Outcome, Plan, Truth

SORT, AXES = "sort", "axes"


class DiversitySettings(BaseModel):
    """Nothing to set: statements, grid and axes are the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Diversity:
    """One round: the sort first, the axes after it."""

    rounds = 1

    def __init__(self, instrument: DiversityInstrument, language: Language):
        self._instructions = instrument.instructions
        self._language: Language = language
        self._sort = instrument.sort_items(language)
        self._axes = instrument.axis_items(language)
        self._grid = {str(column): places for column, places in instrument.distribution.items()}

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        return [who.id for who in desk.participants()]

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        texts = self._instructions
        return [
            Block(
                key=desk.key(unit, SORT),
                instruction=texts.sort.in_(self._language),
                items=self._sort,
                constraint={"grid": {**self._grid}},
            ),
            Block(key=desk.key(unit, AXES), instruction=texts.axes.in_(self._language), items=self._axes),
        ]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        for block in self.blocks(unit, round, desk):
            reply = await desk.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["next", "end"]:
        return "end"


def procedure(instrument: DiversityInstrument, settings: DiversitySettings, language: Language) -> Diversity:
    return Diversity(instrument, language)


def plan(instrument: DiversityInstrument, settings: DiversitySettings, agents: int, asking: str) -> Plan:
    """The sort is one call, and up to GRID_ATTEMPTS more where it breaks the grid; the axes are one, or one each."""
    axes = len(instrument.likert_axes)
    axis_calls = axes if asking == "item" else 1
    most = ATTEMPTS + GRID_ATTEMPTS + axis_calls * ATTEMPTS
    rows = agents * (len(instrument.statements) + axes)
    return Plan(calls={"answer": (agents * (1 + axis_calls), agents * most)}, rows={"T1": (rows, rows)})


def planted(instrument: DiversityInstrument) -> Truth:
    """The synthetic respondent's truth."""
    return answer
