"""How views are gathered: every agent sorts the statements, always as a whole, and places itself on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.synthetic import answer
from enquete.respondents.grid import GRID_ATTEMPTS
from enquete.respondents.llm import ATTEMPTS
from enquete.state.seam import Block, Desk, Language, Outcome, Plan, Truth

SORT, AXES = "sort", "axes"


MOST_FACTORS = 16  # twice as many as Q software extracts; beyond, a centroid solution is rounding errors and slow
Factors = tuple[Annotated[int, Field(ge=1)], ...]


class FlagChanges(BaseModel):
    """Changes by hand to which sorts define a Q factor: factors as the report numbers them, by participant id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    add: dict[str, Factors] = {}
    remove: dict[str, Factors] = {}

    @model_validator(mode="after")
    def _once(self) -> FlagChanges:
        for who in sorted(self.add.keys() & self.remove.keys()):
            both = sorted(set(self.add[who]) & set(self.remove[who]))
            if both:
                raise ValueError(f"factor {both[0]} of {who!r} is to be added and removed; name it once")
        return self


class DiversitySettings(BaseModel):
    """How the sorts are analysed; statements, grid and axes are the instrument's."""

    model_config = ConfigDict(extra="forbid")

    extraction: Literal["pca", "centroid"] = Field("pca", description="how Q factors are extracted")
    n_factors: int | None = Field(
        None,
        ge=1,
        le=MOST_FACTORS,
        description="number of Q factors; as many as parallel analysis finds where none is named",
    )
    flags: FlagChanges = Field(
        FlagChanges(),
        description='changes to the sorts that define a Q factor, such as {"remove": {"agent:7": [1]}}',
    )


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
    return Plan(
        calls={"answer": (agents * (1 + axis_calls), agents * most)},
        rows={"T1": (rows, rows)},
        attempts={SORT: ATTEMPTS + GRID_ATTEMPTS},
    )


def planted(instrument: DiversityInstrument) -> Truth:
    """The synthetic respondent's truth."""
    return answer
