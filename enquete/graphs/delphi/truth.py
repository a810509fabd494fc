"""What is planted in the synthetic Delphi panel: ten themes, who voices them, how they are rated, how ratings move.

docs/synthetic-respondent.md explains it; `voices.py` holds the sentences. Positions run from −1 (lowest scale point) to 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from enquete.respondents.planted import uniform


@dataclass(frozen=True, slots=True)
class Rating:
    """Consensual: all near `low` (= `high`). Polarised: the theme's camp near `high`, everybody else near `low`."""

    low: float
    high: float
    sd: float
    outward: float = 0.0  # share of raters that choose the end of the scale beyond their camp's position

    @property
    def polarised(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class PlantedTheme:
    """`words` recognise the theme in a coded label or description.

    camp: types that rate a polarised theme high; torn: types of which half do.
    """

    key: str
    words: re.Pattern[str]
    favoured_by: frozenset[str]
    importance: Rating
    plausibility: Rating
    camp: frozenset[str] = frozenset()
    torn: frozenset[str] = frozenset()

    @property
    def polarised(self) -> bool:
        return self.importance.polarised

    def rating(self, dimension: str) -> Rating:
        """The planted rating; a dimension of one's own instrument is rated like importance."""
        return self.plausibility if dimension == "plausibility" else self.importance

    def in_camp(self, kind: str, persona: str) -> bool:
        """Whether an agent of this type and persona hash rates a polarised theme high.

        Types without a name fall to a side by hash of the type, agents of a torn type by hash of the persona.
        """
        if kind.startswith("other:"):
            return uniform("delphi", "camp", self.key, kind) < 0.5
        if kind in self.torn:
            return uniform("delphi", "camp", self.key, persona) < 0.5
        return kind in self.camp


@dataclass(frozen=True, slots=True)
class DelphiTruth:
    themes: tuple[PlantedTheme, ...]
    themes_per_answer: tuple[int, int]
    step: float  # a mover goes this share of the way to the median in round 3
    movers_consensual: float  # share of agents off the median who move
    movers_polarised: float

    def by_key(self) -> Mapping[str, PlantedTheme]:
        return {theme.key: theme for theme in self.themes}


def _consensual(position: float) -> Rating:
    return Rating(position, position, sd=0.28)


def _theme(
    key: str, words: str, favoured_by: str, rating: Rating, plausibility: float, camp: str = "", torn: str = ""
) -> PlantedTheme:
    return PlantedTheme(
        key,
        re.compile(words, re.IGNORECASE),
        frozenset(favoured_by.split()),
        rating,
        _consensual(plausibility),
        frozenset(camp.split()),
        frozenset(torn.split()),
    )


ENDS = Rating(-1.0, 1.0, sd=0.15)
TWO_AND_FOUR = Rating(-0.5, 0.5, sd=0.08, outward=0.3)

TRUTH = DelphiTruth(
    themes=(
        _theme(
            "recovery",
            r"erhol|laich|schonzeit|jungfisch|nachwuchs der|recover|spawn|closed season|juvenile|rebuild",
            "ngo scientist angler small_scale",
            _consensual(0.75),
            0.1,
        ),
        _theme(
            "warming",
            r"erwärm|wärmer|temperatur|klima|hitze|warming|warmer|temperature|climate|heat",
            "scientist ngo municipality administration",
            _consensual(0.6),
            0.7,
        ),
        _theme(
            "succession",
            r"nachfolg|lehrling|auszubild|ausbild|junge leute|beruf|apprentic|successor|young people|trade",
            "small_scale municipality processor",
            _consensual(0.5),
            0.45,
        ),
        _theme(
            "nutrients",
            r"dünger|düng|nährstoff|sauerstoff|landwirtschaft|gülle|nitrat|fertili|nutrient|oxygen|farming|agricult|manure|algae|algen",
            "scientist ngo angler municipality",
            _consensual(0.45),
            0.4,
        ),
        _theme(
            "direct_sales",
            r"direktverm|direktverk|direktabsatz|regional|direkt (vom|am|an) |(vom|ab|am) (kutter|kai)\b|hofladen"
            r"|direct sale|directly (at|from)|from the boat|at the quay|local sale",
            "small_scale consumer processor municipality",
            _consensual(0.3),
            0.3,
        ),
        _theme(
            "comanagement",
            r"runde[rn]? tisch|beteilig|mitsprech|mitentscheid|mitbestimm|gemeinsam entsch|betroffene|gremien"
            r"|round table|involve|participat|co-?manag|have a say|decide together|those affected|councils|deciding",
            "administration scientist small_scale angler",
            _consensual(0.5),
            0.05,
        ),
        _theme(
            "quota_shares",
            r"quoten|fangmengen|aufteil|zuteil|umverteil|quota|allocat|allotment|shares of the catch",
            "small_scale ngo angler municipality",
            ENDS,
            -0.1,
            camp="small_scale ngo angler municipality consumer",
        ),
        _theme(
            "bottom_trawls",
            r"grundschlepp|schleppnetz|meeresboden|schutzgebiet|bottom trawl|seabed|sea floor|dragg|protected area",
            "ngo scientist consumer",
            ENDS,
            0.2,
            camp="ngo scientist consumer angler",
        ),
        _theme(
            "seals",
            r"robbe|kormoran|seehund|kegelrobb|prädator|raubtier|seal|cormorant|predator",
            "small_scale industrial angler",
            ENDS,
            0.15,
            camp="small_scale industrial angler processor",
        ),
        _theme(
            "label",
            r"siegel|zertifi|\bmsc\b|gütezeichen|label|certif|eco-?mark",
            "industrial processor consumer administration",
            TWO_AND_FOUR,
            0.0,
            camp="industrial processor consumer administration",
            torn="municipality",
        ),
    ),
    themes_per_answer=(1, 3),
    step=0.6,
    movers_consensual=0.75,
    movers_polarised=0.08,
)
