"""All agents × all findings: what each methodology says of every single agent, in one table.

Measured by: one row an agent of the population, also of one that answered nothing; a finding that an agent has not is empty,
never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import pandas as pd

from enquete.analysis.relations.association import Kind
from enquete.locale import N_, Words, tell
from enquete.reports.context import Found, chosen
from enquete.reports.crossing.claims import Finding
from enquete.reports.declarations import Analysis
from enquete.reports.evaluation import Evaluation
from enquete.reports.results import agent_findings
from enquete.state.asking import RESPONDED, Language

POPULATION = "population"
PERSON = ("agent_id", "agent_name", "stakeholder_type")
RESERVED = ("participant",)
COUNTS = ("memory_available", "n_answered", "n_planned")


@dataclass(frozen=True)
class AgentTable:
    """table: index participant, one row an agent. findings: its columns beyond PERSON and COUNTS, and the stakeholder type."""

    table: pd.DataFrame
    findings: tuple[Finding, ...]
    kinds_of_finding: Mapping[str, Words] = field(default_factory=dict)  # that the run's methodologies have, by name
    named_pairs: tuple[tuple[str, str], ...] = ()  # of kinds, whose association is always printed

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
        return next((tell(one.name, language) for one in self.findings if one.column == column), column)


def agent_table(
    evaluations: Mapping[str, Evaluation],
    results: Mapping[str, Found],
    frame: pd.DataFrame,
    people: pd.DataFrame,
    own_columns: pd.DataFrame | None = None,
    analyses: Mapping[str, Analysis] | None = None,
) -> AgentTable:
    """frame: the response table, of which the main arm is read. people: index participant; agent_id, name, stakeholder_type.
    own_columns: index participant; what a personas file says of them besides."""
    analyses = analyses or {}
    main = chosen(frame, frame["arm_role"].eq("main"))
    who = people.rename(columns={"name": "agent_name"})[list(PERSON)]
    answered = main.loc[main["status"].isin(RESPONDED), "participant"].value_counts()
    remembering = set(main.loc[main["phase"].eq("T1") & main["memory_available"], "participant"])
    table = who.assign(
        memory_available=who.index.isin(list(remembering)),
        n_answered=answered.reindex(who.index, fill_value=0),
        n_planned=main["participant"].value_counts().reindex(who.index, fill_value=0),
    )
    called: Words = N_("stakeholder type")
    kind = Finding("stakeholder_type", "categorical", called, who["stakeholder_type"], methodology=POPULATION)
    made = [kind]
    for name, own in evaluations.items():
        rows = chosen(main, main["methodology"].eq(name))
        found = (
            agent_findings(own.presentation, analyses[name])
            if own.presentation is not None and name in analyses
            else own.agents(results.get(name, {}), rows)
        )
        made += [replace(one, methodology=name) for one in found]
    findings = {one.column: one.values.reindex(table.index) for one in made[1:]}
    table = pd.concat([table, pd.DataFrame(findings, index=table.index)], axis=1)
    if own_columns is not None:
        clear = own_columns.rename(
            columns=lambda name: f"persona_{name}" if name in RESERVED or name in table else name
        )
        table = pd.concat([table, clear.reindex(table.index)], axis=1)
    kinds = {kind: words for own in evaluations.values() for kind, words in own.kinds.items()}
    pairs = tuple(pair for own in evaluations.values() for pair in own.pairs if set(pair) <= kinds.keys())
    return AgentTable(table, tuple(made), kinds, pairs)
