"""What may be set: how the sorts are analysed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
