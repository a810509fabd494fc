"""How far ahead a study looks: as its requirement says, else as long as its simulation lasts. By rule, over words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from enquete.simulations.agents import CONFIG, try_object
from enquete.simulations.population import Population
from enquete.state.asking import Spoken

Unit = Literal["hour", "day", "week", "month", "year", "calendar"]
_NUMBERS: Mapping[Spoken, str] = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "en": "two three four five six seven eight nine ten eleven twelve",
}
_VALUES = {word: number for words in _NUMBERS.values() for number, word in enumerate(words.split(), start=2)} | {
    "one": 1, "a": 1, "an": 1, "einen": 1, "einem": 1, "einer": 1, "ein": 1, "eine": 1,
}  # fmt: skip
_UNITS: Mapping[Unit, Mapping[Spoken, str]] = {
    "hour": {"de": "Stunden", "en": "hours"},
    "day": {"de": "Tagen", "en": "days"},
    "week": {"de": "Wochen", "en": "weeks"},
    "month": {"de": "Monaten", "en": "months"},
    "year": {"de": "Jahren", "en": "years"},
}
_STEMS: Mapping[str, Unit] = {
    "hour": "hour", "stund": "hour", "day": "day", "tag": "day", "täg": "day", "week": "week", "woch": "week",
    "wöch": "week", "month": "month", "monat": "month", "year": "year", "jahr": "year", "jähr": "year",
}  # fmt: skip
_SMALLER: Mapping[Unit, tuple[int, Unit]] = {
    "day": (24, "hour"), "week": (7, "day"), "month": (4, "week"), "year": (12, "month"),
}  # fmt: skip
"""What one of a unit is in the next smaller one, so that no singular has to be spelt."""
_NUMBER = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_VALUES, key=len, reverse=True))})"
_UNIT = rf"(?P<unit>{'|'.join(_STEMS)})"
_LED = (
    r"\b(?:next|coming|following|within(?: the)?|in(?: the| den)?(?: next| coming| first)?|nächsten|kommenden|"
    r"folgenden|innerhalb(?: von| der)?|binnen|ersten)\s+(?:nächsten |kommenden |ersten )?"
)
_AHEAD = (
    re.compile(rf"{_LED}{_NUMBER}[\s-]+{_UNIT}\w*\b(?!\s+(?:ago|old|alt|zuvor|earlier))", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}-(?P<unit>hour|day|week|month|year)\b(?!-old)", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}-?(?P<unit>stünd|täg|wöch|monat|jähr)ig", re.IGNORECASE),
    re.compile(
        r"\b(?P<n>)(?:next|coming|nächste[nr]?|kommende[nr]?)\s+"
        r"(?P<unit>day|week|month|year|tag|woch|monat|jahr)e?s?\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_NUMBER}\s+{_UNIT}\w*\s+(?:from now|ahead|later|später|lang)\b", re.IGNORECASE),
)
_CALENDAR = re.compile(
    r"\b(?:by|until|till|towards?|to|bis|im jahre?|of|für|for|in|after|nach)\s+(?:the year |zum jahr )?(?P<n>20[3-9]\d|"
    r"21\d\d)\b|\b(?P<m>20[3-9]\d|21\d\d)\s*\?",
    re.IGNORECASE,
)
"""A year so far off that it is ahead of whatever is simulated."""
DAY_H, MONTH_D, LONG_D = 24, 30, 90


@dataclass(frozen=True)
class Horizon:
    """n of a unit from now; or, with the unit calendar, the year n. known: whether anything said so."""

    n: int
    unit: Unit
    known: bool = True

    def then(self, language: Spoken) -> str:
        """When it is reached, as a sentence begins."""
        if self.unit == "calendar":
            return f"Im Jahr {self.n}" if language == "de" else f"In {self.n}"
        return f"In {self._amount(language)}"

    def until(self, language: Spoken) -> str:
        """The time up to it, inside a sentence."""
        if self.unit == "calendar":
            return f"bis {self.n}" if language == "de" else f"until {self.n}"
        lead = "in den nächsten" if language == "de" else "over the next"
        return f"{lead} {self._amount(language)}"

    def _amount(self, language: Spoken) -> str:
        words = _NUMBERS[language].split()
        spelt = words[self.n - 2] if 2 <= self.n <= len(words) + 1 else str(self.n)
        return f"{spelt} {_UNITS[self.unit][language]}"


USUAL = Horizon(5, "year", known=False)
"""Where nothing says how far ahead: as far as most studies of the future look at least."""


def horizon_of(population: Population, topic: str = "") -> Horizon:
    """As the topic or the requirement says; else the simulated hours of its configuration; else five years."""
    return said_in(topic) or said_in(population.topic) or _simulated(population) or USUAL


def said_in(text: str) -> Horizon | None:
    """The first time ahead that a text names."""
    matches = sorted((match for pattern in _AHEAD if (match := pattern.search(text))), key=lambda match: match.start())
    if matches:
        word, unit = matches[0]["n"].casefold(), _STEMS[matches[0]["unit"].casefold().replace("stünd", "stund")]
        n = int(word) if word.isdigit() else _VALUES.get(word, 1)
        return _plural(n, unit) if n else None
    year = _CALENDAR.search(text)
    return Horizon(int(year["n"] or year["m"]), "calendar") if year else None


def _plural(n: int, unit: Unit) -> Horizon:
    if n == 1 and unit in _SMALLER:
        return Horizon(*_SMALLER[unit])
    return Horizon(max(n, 2), unit)


def _simulated(population: Population) -> Horizon | None:
    if not population.has_simulation:
        return None
    times = try_object(population.path / CONFIG, []).get("time_config")
    hours = times.get("total_simulation_hours") if isinstance(times, dict) else None
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 1 < hours < 10**6:
        return None
    days = ceil(hours / DAY_H)
    if hours <= 2 * DAY_H:
        return _plural(ceil(hours), "hour")
    return Horizon(days, "day") if days <= LONG_D else Horizon(round(days / MONTH_D), "month")
