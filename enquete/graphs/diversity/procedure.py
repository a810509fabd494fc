"""How views are gathered: every agent sorts the statements, always as a whole, and places itself on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.state.asking import Block, Item
from enquete.state.desk import Desk
from enquete.state.methodology import Procedure

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


class Diversity(Procedure[DiversityInstrument, DiversitySettings]):
    """One round: the sort first, the axes after it."""

    @cached_property
    def _items(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        return self.instrument.sort_items(self.language), self.instrument.axis_items(self.language)

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        texts, (sort, axes) = self.instrument.instructions, self._items
        grid: JsonValue = {str(column): places for column, places in self.instrument.distribution.items()}
        above = texts.sort.in_(self.language), texts.axes.in_(self.language)
        return [
            Block(key=desk.key(unit, SORT), instruction=above[0], items=sort, constraint={"grid": grid}),
            *([Block(key=desk.key(unit, AXES), instruction=above[1], items=axes)] if axes else []),
        ]
