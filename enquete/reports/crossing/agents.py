"""All agents × all findings: what each methodology says of every single agent, in one table.

Measured by: one row an agent of the population, also of one that answered nothing; a finding that an agent has not is empty,
never 0. Reads the same keys of the findings as crossing (`crossing_inputs.NEEDS`), and the Q factors (`Q_NEEDS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import pandas as pd

from enquete.analysis.relations.crosstable import Kind
from enquete.reports.context import responded
from enquete.reports.crossing.claims import ARCHETYPE
from enquete.reports.crossing.inputs import (
    Missing,
    Results,
    archetypes,
    drift,
    hold_outs,
    last_ratings,
    revised,
    wishes,
)
from enquete.reports.health.checks import listed, mapping
from enquete.state.seam import Language

Q_NEEDS = "q.members[*]: participant, factor (its number or name; null for a sort that is flagged on none)"
"""What is read of the diversity findings beside `crossing_inputs.NEEDS`."""

POPULATION = "population"
PERSON = ("agent_id", "agent_name", "stakeholder_type")
COUNTS = ("memory_available", "n_answered", "n_planned")

Name = Mapping[Language, str]


@dataclass(frozen=True)
class Finding:
    """One column of the table: what it is called, whose it is, and its value by participant."""

    column: str
    methodology: str  # POPULATION: no finding, but what agents were from the beginning
    kind: Kind
    name: Name
    values: pd.Series
    scenario: str = ""  # where it is about one scenario

    @property
    def known(self) -> int:
        return int(self.values.notna().sum())


@dataclass(frozen=True)
class AgentTable:
    """table: index participant, one row an agent. findings: its columns beyond PERSON and COUNTS, and the stakeholder type."""

    table: pd.DataFrame
    findings: tuple[Finding, ...]

    @property
    def kinds(self) -> dict[str, Kind]:
        return {one.column: one.kind for one in self.findings}

    def pairs(self) -> list[tuple[str, str]]:
        """Findings of different methodologies. Those of one share their answers, so that they go together by construction."""
        return [(a.column, b.column) for a, b in combinations(self.findings, 2) if a.methodology != b.methodology]

    @cached_property
    def twins(self) -> dict[str, str]:
        """Groupings of one methodology that part the same agents alike, by column: the earlier one stands for both."""
        found: dict[str, str] = {}
        groupings = [one for one in self.findings if one.kind == "categorical" and one.known]
        for first, second in combinations(groupings, 2):
            if first.methodology == second.methodology and second.column not in found:
                a, b = (pd.factorize(self.table[one.column])[0] for one in (first, second))
                if (a == b).all():
                    found[second.column] = found.get(first.column, first.column)
        return found

    def named(self, column: str, language: Language) -> str:
        return next((one.name[language] for one in self.findings if one.column == column), column)


def agent_table(results: Results, frame: pd.DataFrame, people: pd.DataFrame) -> AgentTable:
    """frame: the response table, of which the main arm is read. people: index participant; agent_id, name, stakeholder_type."""
    main = frame[frame["arm_role"].eq("main")]
    who = people.rename(columns={"name": "agent_name"})[list(PERSON)]
    answered = responded(main).groupby("participant").size()
    counts = {
        "memory_available": main[main["phase"].eq("T1")].groupby("participant")["memory_available"].any(),
        "n_answered": answered,
        "n_planned": main.groupby("participant").size(),
    }
    table = who.join(pd.DataFrame(counts).reindex(who.index))
    table["memory_available"] = table["memory_available"].eq(True)
    table[["n_answered", "n_planned"]] = table[["n_answered", "n_planned"]].fillna(0).astype("int64")
    kind = Finding(
        "stakeholder_type",
        POPULATION,
        "categorical",
        _same("Stakeholder-Gruppe", "stakeholder type"),
        who["stakeholder_type"],
    )
    own = [one for make in _FINDINGS for one in make(results, main)]
    for one in own:
        table[one.column] = one.values.reindex(table.index)
    return AgentTable(table, (kind, *own))


def _same(de: str, en: str) -> Name:
    return {"de": de, "en": en}


# --- findings by methodology -----------------------------------------------------------------------------------------


def _drift(results: Results, rows: pd.DataFrame) -> Iterator[Finding]:
    """Mean absolute and mean signed change."""
    moved = drift(results)
    if isinstance(moved, Missing):
        return
    is_drift = moved.kind == "drift"
    column = "drift" if is_drift else "experience_effect"
    changed, experienced = (
        _same("Veränderung je Aussage", "change a statement"),
        _same("Erfahrungseffekt je Aussage", "experience effect a statement"),
    )
    what = changed if is_drift else experienced
    yield Finding(f"{column}_abs", "longitudinal", "numeric", what, moved.moved)
    agents = listed(mapping(mapping(results.get("longitudinal")).get(moved.kind)).get("agents"))
    signed = pd.Series(
        {str(one["participant"]): one.get("mean_signed") for one in agents if "participant" in one}, dtype=float
    )
    signed = signed.reindex(moved.moved.index)
    if signed.notna().any():
        direction = _same(f"{what['de']}, gerichtet", f"{what['en']}, directed")
        yield Finding(f"{column}_signed", "longitudinal", "numeric", direction, signed)


def _views(results: Results, rows: pd.DataFrame) -> Iterator[Finding]:
    """Archetype and Q factor."""
    found = archetypes(results)
    if not isinstance(found, Missing):
        letters = found.str.removeprefix(ARCHETYPE)
        yield Finding("archetype", "diversity", "categorical", _same("Archetyp", "archetype"), letters)
    q = mapping(mapping(results.get("diversity")).get("q"))
    factors = {str(one["participant"]): one.get("factor") for one in listed(q.get("members")) if "participant" in one}
    known = {who: str(factor) for who, factor in factors.items() if factor is not None}
    if known:
        yield Finding(
            "q_factor", "diversity", "categorical", _same("Q-Faktor", "Q factor"), pd.Series(known, dtype="str")
        )


def _dissent(results: Results, rows: pd.DataFrame) -> Iterator[Finding]:
    """On which share of its last ratings an agent holds out, and its mean distance from the medians it was shown."""
    last = revised(results)
    if isinstance(last, Missing):
        return
    own = last_ratings(rows, last)
    found = hold_outs(results, rows)
    if not isinstance(found, Missing):
        share = _same(
            "Anteil der Delphi-Bewertungen, bei denen der Agent beharrt",
            "share of Delphi ratings that the agent holds out on",
        )
        yield Finding("delphi_held_out", "delphi", "numeric", share, found.share)
    if len(own):
        ratings = own.pivot(index="participant", columns="item_id", values="value").astype(float)
        shown = pd.Series(dict(mapping(mapping(results.get("delphi")).get("medians_shown"))), dtype=float)
        medians = shown.reindex(ratings.columns).fillna(ratings.median())
        gap = _same("mittlerer Abstand vom Median im Delphi", "mean distance from the median in the Delphi")
        yield Finding("delphi_gap", "delphi", "numeric", gap, ratings.sub(medians).abs().mean(axis=1))


def _wishes(results: Results, rows: pd.DataFrame) -> Iterator[Finding]:
    """Desirability of every scenario, and how far an agent sets the scenarios apart."""
    wished = wishes(results, responded(rows))
    if isinstance(wished, Missing):
        return
    for scenario, label in wished.labels.items():
        if scenario in wished.ratings:
            name = _same(f"Wünschbarkeit von „{label}“", f"desirability of “{label}”")
            column = f"desirability_{scenario}"
            yield Finding(column, "scenario", "numeric", name, wished.ratings[scenario], scenario)
    complete = wished.ratings.dropna()
    spread = complete.max(axis=1) - complete.min(axis=1)
    name = _same("Spannweite der Wünschbarkeiten", "range of desirabilities")
    yield Finding("desirability_range", "scenario", "numeric", name, spread)


_FINDINGS: Sequence[Callable[[Results, pd.DataFrame], Iterator[Finding]]] = (_drift, _views, _dissent, _wishes)
