"""What is planted in the synthetic Delphi panel: themes, who voices them, how they are rated (truth/delphi.yaml of a pack).

Positions run from −1 (lowest scale point) to 1. docs/synthetic-respondent.md explains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from enquete.instruments.pack import Data, Lines, Words
from enquete.respondents.planted import side

CONSENSUAL_SD = 0.28


class Rating(Data):
    """Consensual: all near `low` (= `high`). Polarised: the theme's camp near `high`, everybody else near `low`."""

    low: float
    high: float
    sd: float = CONSENSUAL_SD
    outward: float = 0.0  # share of raters that choose the end of the scale beyond their camp's position

    @property
    def polarised(self) -> bool:
        return self.low != self.high


def _shared(given: object) -> object:
    return {"low": given, "high": given} if isinstance(given, int | float) else given


Rated = Annotated[Rating, BeforeValidator(_shared)]
"""A number stands for a position that all share."""


class PlantedTheme(Data):
    """`words` recognise the theme in a coded label or description; {topic} in a claim is the instrument's.

    camp: types that rate a polarised theme high; torn: types of which half do.
    """

    words: Words
    favoured_by: frozenset[str] = frozenset()
    importance: Rated
    plausibility: Rated
    camp: frozenset[str] = frozenset()
    torn: frozenset[str] = frozenset()
    claims: Lines

    @property
    def polarised(self) -> bool:
        return self.importance.polarised

    def rating(self, dimension: str) -> Rating:
        """The planted rating; a dimension of one's own instrument is rated like importance."""
        return self.plausibility if dimension == "plausibility" else self.importance


class DelphiTruth(Data):
    """`loyalty`: share of an unnamed type's agents who are in their type's camp; the others are in any."""

    themes: Mapping[str, PlantedTheme] = {}
    loyalty: float = 1.0
    openings: Lines = Field({})  # before a claim
    reasons: Mapping[
        str, Lines
    ] = {}  # of a rating that moved toward the median, was held against it, was there already

    @cached_property
    def _known(self) -> dict[str, str | None]:
        """The theme by wording: every agent rates the same ones."""
        return {}

    def in_camp(self, theme: str, kind: str, persona: str) -> bool:
        """Whether an agent of this type and persona hash rates a polarised theme high."""
        planted, key = self.themes[theme], ("delphi", "camp", theme)
        if kind.startswith("other:"):
            return side((True, False), kind, persona, self.loyalty, *key)
        return side((True, False), persona, persona, 1, *key) if kind in planted.torn else kind in planted.camp

    def recognised(self, wording: str) -> str | None:
        """The theme whose words occur most often in a coded theme's wording; None if none occurs."""
        if wording not in self._known:
            hits = {name: len(theme.words.findall(wording)) for name, theme in self.themes.items()}
            best = max(hits, key=hits.__getitem__, default=None)
            self._known[wording] = best if best is not None and hits[best] else None
        return self._known[wording]
