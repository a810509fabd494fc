"""What a claim across methods is: data. Its sentence is a template filled with its own numbers, in both languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from enquete.reports.markdown import number
from enquete.state.seam import Language

FILE = "crossing.json"
"""Where claims are kept, beside the report."""

ARCHETYPE = "archetype:"
"""Begins a group that is an archetype: `archetype:A`."""

FEWEST = 3
"""Agents with a value that a group needs to be compared and named: fewer say little about it."""

Shown = Literal["count", "mean", "share"]
DIGITS: Mapping[Shown, int] = {"count": 0, "mean": 2, "share": 0}
"""Decimals that are printed; a share is printed in per cent."""


@dataclass(frozen=True, slots=True)
class Number:
    """A figure of a claim: how it is printed, and where it stands."""

    value: float
    shown: Shown
    path: str  # within FILE: claims.<id>.groups[0].value

    def printed(self, language: Language) -> str:
        if self.shown == "count":
            return str(int(self.value))
        if self.shown == "mean":
            return number(float(self.value), language, DIGITS["mean"])
        return number(100.0 * self.value, language, 0) + (" %" if language == "de" else "%")

    def as_json(self) -> dict[str, JsonValue]:
        return {"value": self.value, "shown": self.shown, "source": {"file": FILE, "path": self.path}}


@dataclass(frozen=True, slots=True)
class Group:
    """One group of agents: how many of its members have a value, how many members there are, and their figure."""

    group: str
    n: int
    n_total: int
    value: float | None
    count: int | None = None  # where `value` is a share: of how many


@dataclass(frozen=True)
class Claim:
    """A sentence that joins findings by participant. It compares at least two groups of FEWEST agents or more."""

    id: str
    template: str  # key of crossing_text.CLAIMS
    methods: tuple[str, ...]
    groups: tuple[Group, ...]  # the largest value first
    shown: Shown  # how the groups' values are printed
    n: int  # agents with a value
    n_total: int  # agents in all groups
    answer_ids: tuple[str, ...]  # of answers that stand for it
    n_answers: int  # answers that it rests on
    rests_on: tuple[str, ...]  # files and paths of what was joined
    facts: Mapping[str, int] = field(default_factory=dict)  # further counts of the sentence
    terms: Mapping[str, Mapping[Language, str]] = field(default_factory=dict)  # names in it, by language
    small: tuple[Group, ...] = ()  # groups with a value that are too small to be compared

    def numbers(self) -> dict[str, Number]:
        """Every figure of the claim by name, those of the groups as `groups[0].value`."""
        base = f"claims.{self.id}"
        counts = {"n": self.n, "n_total": self.n_total, "n_groups": len(self.groups)}
        counts |= {"n_small": len(self.small), "fewest": FEWEST} if self.small else {}
        found = {name: Number(count, "count", f"{base}.{name}") for name, count in counts.items()}
        for name, fact in self.facts.items():
            found[name] = Number(fact, "count", f"{base}.facts.{name}")
        for place, group in enumerate(self.groups):
            where = f"groups[{place}]"
            figures: Sequence[tuple[str, float | None, Shown]] = (
                ("n", group.n, "count"), ("n_total", group.n_total, "count"), ("count", group.count, "count"),
                ("value", group.value, self.shown),
            )  # fmt: skip
            for name, value, shown in figures:
                if value is not None:
                    found[f"{where}.{name}"] = Number(value, shown, f"{base}.{where}.{name}")
        return found

    def as_json(self) -> dict[str, JsonValue]:
        """The claim as crossing.json keeps it; `numbers` say where within it they stand."""
        small: dict[str, JsonValue] = {"n_small": len(self.small), "fewest": FEWEST} if self.small else {}
        return {
            "template": self.template, "methods": list(self.methods), "n": self.n, "n_total": self.n_total,
            "n_groups": len(self.groups), "groups": _listed(self.groups), "shown": self.shown, "facts": {**self.facts},
            **small, "small_groups": _listed(self.small),
            "terms": {name: {"de": term["de"], "en": term["en"]} for name, term in self.terms.items()},
            "numbers": [number.as_json() for number in self.numbers().values()], "rests_on": list(self.rests_on),
            "n_answers": self.n_answers, "answer_ids": list(self.answer_ids),
        }  # fmt: skip


def _listed(groups: Sequence[Group]) -> list[JsonValue]:
    return [{"group": g.group, "n": g.n, "n_total": g.n_total, "count": g.count, "value": g.value} for g in groups]


@dataclass(frozen=True, slots=True)
class Absent:
    """A claim that could not be made, and why: a key of crossing_text.ABSENT."""

    claim: str
    why: str


@dataclass(frozen=True)
class Crossing:
    """What could be said across methods, and what could not."""

    claims: tuple[Claim, ...] = ()
    absent: tuple[Absent, ...] = ()
