"""What a claim across methods is, and the kinds of finding that it is made of: data. Its sentence is a template filled with
its own numbers, in both languages.

A methodology offers kinds of finding and never names another: its measures are compared between the groups that any other
methodology of the run offers, and between stakeholder types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pydantic import JsonValue

from enquete.locale import N_, Words, percent, tell
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import number
from enquete.state.asking import Language

if TYPE_CHECKING:  # scipy comes with it
    from enquete.analysis.relations.association import Kind


FILE = "crossing.json"
"""Where claims are kept, beside the report."""

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
        return percent(number(100.0 * self.value, language, 0), language)

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
    template: str  # its name without a suffix, and which of its two sentences fits
    methods: tuple[str, ...]
    groups: tuple[Group, ...]  # the largest value first
    shown: Shown  # how the groups' values are printed
    n: int  # agents with a value
    n_total: int  # agents in all groups
    answer_ids: tuple[str, ...]  # of answers that stand for it
    n_answers: int  # answers that it rests on
    rests_on: tuple[str, ...]  # files and paths of what was joined
    facts: Mapping[str, int] = field(default_factory=dict)  # further counts of the sentence
    terms: Mapping[str, Words] = field(default_factory=dict)  # names in it, by language
    small: tuple[Group, ...] = ()  # groups with a value that are too small to be compared
    heading: Words = ""
    text: str = ""  # the sentence that fits, with {names} of figures and terms
    words: Mapping[str, Words] = field(default_factory=dict)  # further {names} in it, without figures
    called: Mapping[str, Words] = field(default_factory=dict)  # by group; a group without has its own name
    subjects: tuple[str, ...] = ()  # terms that say what its groups are compared on

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

    def as_json(self, language: Language) -> dict[str, JsonValue]:
        """The claim as crossing.json keeps it; `numbers` say where within it they stand."""
        small: dict[str, JsonValue] = {"n_small": len(self.small), "fewest": FEWEST} if self.small else {}
        return {
            "template": self.template, "methods": list(self.methods), "n": self.n, "n_total": self.n_total,
            "n_groups": len(self.groups), "groups": _listed(self.groups), "shown": self.shown, "facts": {**self.facts},
            **small, "small_groups": _listed(self.small),
            "terms": {name: tell(term, language) for name, term in self.terms.items()},
            "numbers": [number.as_json() for number in self.numbers().values()], "rests_on": list(self.rests_on),
            "n_answers": self.n_answers, "answer_ids": list(self.answer_ids),
        }  # fmt: skip


def _listed(groups: Sequence[Group]) -> list[JsonValue]:
    return [{"group": g.group, "n": g.n, "n_total": g.n_total, "count": g.count, "value": g.value} for g in groups]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is nothing to compare: a code for files, and words."""

    why: str
    words: Words


@dataclass(frozen=True, slots=True)
class Absent:
    """A claim that could not be made, and why."""

    claim: str
    heading: Words
    missing: Missing

    @property
    def why(self) -> str:
        return self.missing.why


@dataclass(frozen=True)
class Crossing:
    """What could be said across methods, and what could not. legends: what names of groups mean."""

    claims: tuple[Claim, ...] = ()
    absent: tuple[Absent, ...] = ()
    legends: tuple[Words, ...] = ()


# --- kinds of finding ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """What a methodology says of every agent: a column of agents.csv. kind: numeric, or categorical for a grouping."""

    column: str
    kind: Kind
    name: Words
    values: pd.Series  # by participant
    stands_for: str = ""  # a key of `Evaluation.kinds`
    methodology: str = ""  # filled in where findings are joined

    @property
    def known(self) -> int:
        return int(self.values.notna().sum())


@dataclass(frozen=True)
class Sentences:
    """The two sentences of a claim: groups differ, and all alike. Their figures are those of `Claim.numbers`,
    of the two ends as {high}, {high_value}, {high_n}, {high_total}, {high_count} and the same of {low}."""

    differs: str
    same: str


BETWEEN_GROUPS = Sentences(
    N_(
        "{heading}: largest among {high} ({high_value}; {high_n} of {high_total} agents), smallest among {low} "
        "({low_value}; {low_n} of {low_total})."
    ),
    N_("{heading}: equal in all {n_groups} groups ({high_value}; {n} of {n_total} agents)."),
)


@dataclass(frozen=True)
class Measure:
    """Kind of finding: one value per agent, to be compared between groups of agents."""

    name: str  # begins the ids of its claims; measures of one name are variants, told apart by `suffix`
    heading: Words
    values: pd.Series[float] | Missing  # by participant
    evidence: pd.DataFrame = field(default_factory=pd.DataFrame)  # answers it rests on, the most telling first
    by_value: bool = False  # of evidence: the highest stand for the highest group, the lowest for the lowest
    rests_on: tuple[str, ...] = ()  # files and paths
    shown: Shown = "mean"  # share: values are 0 or 1
    sentences: Sentences = BETWEEN_GROUPS
    sides: Sentences = BETWEEN_GROUPS  # between two sides
    sides_heading: str = N_("{heading} ({them})")  # with {names} of `Grouping.sides`
    facts: Callable[[pd.Series[str]], Mapping[str, int]] = lambda labels: {}  # further counts, by the groups' labels
    terms: Mapping[str, Words] = field(default_factory=dict)  # names in the sentences: what is compared
    suffix: str = ""
    variants: str = (
        ""  # name of the fact that counts variants, of which only the one with the widest gap is told of sides
    )
    methodology: str = ""  # filled in where findings are joined


@dataclass(frozen=True)
class Grouping:
    """Kind of finding: a grouping of agents."""

    name: str  # ends the ids of claims
    heading: Words  # "by type"
    labels: pd.Series[str] | Missing  # by participant
    rests_on: tuple[str, ...] = ()
    called: Mapping[str, Words] = field(default_factory=dict)  # by label; one without has its own name
    legend: Words = ""  # what the names mean
    sides: Mapping[str, Words] = field(default_factory=dict)  # of two, those meant and the others: {names}
    evidence: pd.DataFrame = field(default_factory=pd.DataFrame)  # answers that make the two sides
    methodology: str = ""  # filled in where findings are joined
