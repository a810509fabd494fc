"""All agents × what each methodology says of every single one, in one table, and which of it goes together.

Measured by: one row an agent of the population, also of one that answered nothing; what an agent has not is empty,
never 0; associations are tested and enter the one correction of the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import pandas as pd

from enquete.analysis.relations.association import Kind, cross_table
from enquete.locale import N_
from enquete.reports.context import chosen
from enquete.reports.declarations import (
    Analysis,
    Column,
    Finding,
    Presentation,
    Table,
    View,
    adjusted_p,
    code,
    integer,
    interval,
    names,
    number,
    p_value,
    shaped,
    text,
)  # fmt: skip
from enquete.state.asking import RESPONDED

ACROSS = "across"
"""Stands where a methodology does, of what joins several."""
POPULATION = "population"
PERSON = ("agent_id", "agent_name", "stakeholder_type")
RESERVED = ("participant",)
LEAST = 10
"""Agents with both that a sentence about an association needs."""
MOST_CATEGORIES = 30
"""Of a categorical column: with more, such as a type for every agent, its table has no cell to speak of."""

MEASURES = {
    "cramers_v": N_("Cramér's V"),
    "epsilon_squared": N_("ε² (share of variance)"),
    "spearman": N_("Spearman's ρ"),
}
DIRECTIONS = {"rises": N_("together"), "falls": N_("opposed"), "differs": N_("groups differ"), "joint": N_("joint")}
REASONS = {
    "no variation": N_("no variation"), "one category only": N_("one category only"),
    "fewer than 3 agents": N_("fewer than 3 agents"),
}  # fmt: skip

ASSOCIATIONS = Table(
    name="associations", title=N_("What goes together, over all agents"), key=("first", "second"), file="associations.json",
    columns=(
        text("first", N_("column"), means=N_("of agents.csv")), text("second", N_("with column")),
        text("first_name", N_("Of every agent")), text("second_name", N_("with")), code("measure", N_("Measure"), MEASURES),
        code("direction", N_("direction"), DIRECTIONS), number("effect", N_("Effect")),
            number("low", N_("lower bound")),
        number("high", N_("upper bound")), interval("low", "high", N_("95%")), integer("n", "n"),
            integer("n_total", "N"),
        p_value("p"), adjusted_p(), code("reason", N_("why it is not determined"), REASONS),
    ),
    views=(
        View(at="appendix", order=("p",), top=12,
             columns=names("first_name second_name measure effect low_to_high n p_adjusted reason")),
        View(at="digest", where="p_adjusted < .05", order=("p",), top=5,
            columns=names("first_name second_name measure effect p_adjusted")),
    ),
    note=N_("Every agent is a row of exports/agents.csv; columns of different methodologies are compared, and the "
            "group. Cramér's V is corrected after "
            "Bergsma; ε² is above 0 by chance alone. A p describes these agents of this run, who share a model and a "
            "prompt."),
)  # fmt: skip
TOGETHER = Finding(
    name="together", table="associations", kind="difference", p="p", where="n >= @least", order=("p",), top=5,
    size="abs(effect)", word="direction", estimate="effect", low="low", high="high", test="permutation", scale="-1, 1",
    says={
        "rises": N_("{first_name} and {second_name} go together: the more of one, the more of the other (ρ = "
                    "{effect}, adjusted {p}; n = {n}/{n_total})."),
        "falls": N_("{first_name} and {second_name} are opposed: the more of one, the less of the other (ρ = "
                    "{effect}, adjusted {p}; n = {n}/{n_total})."),
        "differs": N_("{first_name} and {second_name}: the groups differ (share of variance {effect}, adjusted {p}; "
                      "n = {n}/{n_total})."),
        "joint": N_("{first_name} and {second_name} go together (V = {effect}, adjusted {p}; n = {n}/{n_total})."),
    },
)  # fmt: skip
PRESENTATION = Presentation(tables=(ASSOCIATIONS,), facts=(integer("least"),), findings=(TOGETHER,))


@dataclass(frozen=True, slots=True)
class AgentColumn:
    """What a methodology says of every agent: a column of agents.csv. name: in the language of its reader."""

    column: str
    kind: Kind
    name: str
    values: pd.Series[Any]  # by participant
    methodology: str = ""

    @property
    def known(self) -> int:
        return int(self.values.notna().sum())


@dataclass(frozen=True)
class AgentTable:
    """table: index participant, one row an agent. columns: what methodologies say, and the group."""

    table: pd.DataFrame
    columns: tuple[AgentColumn, ...] = field(default=())

    @cached_property
    def twins(self) -> dict[str, str]:
        """Groupings of one methodology that part the same agents alike, by column: the earlier one stands for both."""
        found: dict[str, str] = {}
        groupings = [one for one in self.columns if one.kind == "categorical" and one.known]
        for first, second in combinations(groupings, 2):
            if first.methodology == second.methodology and second.column not in found:
                a, b = (pd.factorize(self.table[one.column])[0] for one in (first, second))
                if (a == b).all():
                    found[second.column] = found.get(first.column, first.column)
        return found

    def associations(self) -> Analysis:
        """Every pair of columns of different methodologies; those of one share their answers and go together by construction."""
        crowded = {
            one.column for one in self.columns if one.kind == "categorical" and one.values.nunique() > MOST_CATEGORIES
        }
        kept = [one for one in self.columns if one.known and one.column not in crowded | self.twins.keys()]
        pairs = [(a.column, b.column) for a, b in combinations(kept, 2) if a.methodology != b.methodology]
        called = {one.column: one.name for one in self.columns}
        rows = []
        for one in cross_table(self.table, {one.column: one.kind for one in kept}, pairs=pairs) if pairs else ():
            found = one.association
            direction = {"cramers_v": "joint", "epsilon_squared": "differs"}.get(found.measure)
            rows.append({
                "first": one.first, "second": one.second, "first_name": called[one.first],
                    "second_name": called[one.second],
                "measure": found.measure, "direction": direction or ("falls" if (found.effect or 0) < 0 else "rises"),
                    "effect": found.effect,
                "low": found.low, "high": found.high, "n": found.n, "n_total": len(self.table), "p": found.p,
                    "reason": found.reason or None,
            })  # fmt: skip
        return shaped(PRESENTATION, {"associations": rows}, {"least": LEAST})


def agent_columns(
    presentation: Presentation, analysis: Analysis, methodology: str, called: Mapping[str, str]
) -> list[AgentColumn]:
    """What declared tables say of every single agent. called: names of columns in the reader's language."""
    found = []
    for table, column in presentation.agent_columns:
        is_category = column.format in ("code", "reference", "flag", "text")
        kind: Kind = "categorical" if is_category else "numeric"
        label = called.get(column.name, column.label)
        for name, said, own in _spread(presentation, analysis, table, column, label):
            if len(own) and own[column.name].notna().any():
                values = pd.Series(own[column.name].tolist(), index=own[table.key[0]].tolist())
                known = values if is_category else values.astype(float)
                found.append(AgentColumn(name, kind, said, known, methodology))
    return found


def _spread(
    presentation: Presentation, analysis: Analysis, table: Table, column: Column, label: str
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """A table whose key has a second column has a row an agent and value of it: each value is a column of its own,
    `<column>_<value>`, whose label names it by the key's name, "desirability of “{scenario}”"."""
    frame = analysis.tables[table.name]
    if len(table.key) == 1:
        yield column.name, label, frame
        return
    key = table.column(table.key[1])
    names: dict[Any, str] = {}
    if to := presentation.tables.get(key.to):
        known = analysis.tables[to.name]
        names = dict(zip(known[to.key[0]], known[to.label], strict=True))
    for value, own in frame.groupby(key.name, sort=False):
        yield f"{column.name}_{value}", label.format(**{key.name: names.get(value, str(value))}), own


def agent_table(
    columns: Sequence[AgentColumn], frame: pd.DataFrame, people: pd.DataFrame, groups: pd.Series[str], group_name: str,
    own_columns: pd.DataFrame | None = None,
) -> AgentTable:  # fmt: skip
    """frame: the response table, of which the main arm is read. people: index participant; agent_id, name, stakeholder_type.
    groups: what agents are compared by, whose name is `group_name`. own_columns: index participant; what a personas file says besides."""
    main = chosen(frame, frame["arm_role"].eq("main"))
    who = people.rename(columns={"name": "agent_name"})[list(PERSON)]
    answered = main.loc[main["status"].isin(RESPONDED), "participant"].value_counts()
    remembering = set(main.loc[main["phase"].eq("T1") & main["memory_available"], "participant"])
    table = who.assign(
        memory_available=who.index.isin(list(remembering)),
        n_answered=answered.reindex(who.index, fill_value=0),
        n_planned=main["participant"].value_counts().reindex(who.index, fill_value=0),
    )
    table = pd.concat(
        [table, pd.DataFrame({one.column: one.values.reindex(table.index) for one in columns}, index=table.index)],
        axis=1,
    )
    column = groups.name if isinstance(groups.name, str) and groups.name != "stakeholder_type" else "stakeholder_type"
    group = AgentColumn(column, "categorical", group_name, groups.reindex(table.index), POPULATION)
    if own_columns is not None:
        clear = own_columns.rename(
            columns=lambda name: f"persona_{name}" if name in RESERVED or name in table else name
        )
        table = pd.concat([table, clear.reindex(table.index)], axis=1)
    table[column] = group.values
    return AgentTable(table, (group, *columns))
