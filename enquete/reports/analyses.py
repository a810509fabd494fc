"""Analyses of a run's rows: what each methodology's makes of them, what joins several, and results in one language.

`Evaluation.analyse(frame, instrument, settings, context)` is pure. `frame` holds the rows of the main arm alone, of all
phases and of an earlier baseline run; a methodology of two waves is given the arm "retest" and placebo arms too, which
a change is measured against. `context` is an `AnalysisContext`. It returns JSON without NaN: missing data is None
beside a count. The findings name the arms they read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import JsonValue
from threadpoolctl import threadpool_limits

from enquete.analysis.association import Kind, cross_table
from enquete.instruments.instrument import slug
from enquete.ledger.record import RunRecord
from enquete.locale import N_, in_language, tell
from enquete.reports.context import TYPE_NAMES, AnalysisContext, chosen, opened
from enquete.reports.declarations import (
    ADJUSTED,
    AS_GOOD_AS_EQUAL,
    PRIMARY,
    Analysis,
    Column,
    Finding,
    Presentation,
    Row,
    Table,
    View,
    adjusted_p,
    code,
    groups_by,
    integer,
    interval,
    names,
    number,
    p_value,
    several,
    shaped,
    share,
    text,
)
from enquete.reports.evaluation import Evaluation, Headline, evaluation
from enquete.reports.findings import FEWEST, KeyFinding, corrected, stated_of
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.markdown import readable
from enquete.reports.responses import AskedItem, participants_table, persona_columns, responses, without_second
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.views import Names, Results
from enquete.simulations.population import join
from enquete.state.asking import RESPONDED, Arm, Language
from enquete.state.methodology import Methodology

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
DIRECTIONS = {
    "rises": N_("together"), "falls": N_("opposed"), "differs": N_("groups differ"), "joint": N_("joint"),
    "unclear": N_("no association found"),
}  # fmt: skip
REASONS = {
    "no variation": N_("no variation"), "one category only": N_("one category only"),
    "fewer than 3 agents": N_("fewer than 3 agents"), "fewer than 3 values": N_("fewer than 3 values"),
    "fewer than 2 groups": N_("fewer than 2 groups"),
}  # fmt: skip

ASSOCIATIONS = Table(
    name="associations", title=N_("What goes together, over all agents"), key=("first", "second"),
    file="associations.json",
    columns=(
        text("first", N_("column"), means=N_("of agents.csv")), text("second", N_("with column")),
        text("first_name", N_("Of every agent")), text("second_name", N_("with")),
        code("measure", N_("Measure"), MEASURES),
        code("direction", N_("direction"), DIRECTIONS,
            unless_sure=dict.fromkeys(("rises", "falls", "differs", "joint"), "unclear")),
        number("effect", N_("Effect")),
            number("low", N_("lower bound")),
        number("high", N_("upper bound")), interval("low", "high", N_("95%")), integer("n", "n"),
            integer("n_total", "N"),
        p_value("p"), adjusted_p(), code("reason", N_("why it is not determined"), REASONS),
        text("grouping", N_("groups"), means=N_("the column by whose groups the other one is told")),
        text("measured", N_("compared")), text("category", N_("category they differ on most")),
        several("highest", N_("highest in"), means=N_("all groups of at least five agents that share it")),
        several("lowest", N_("lowest in")), number("mean_highest", N_("highest mean")),
        number("mean_lowest", N_("lowest mean")), share("share_highest", N_("highest share")),
        share("share_lowest", N_("lowest share")),
    ),
    views=(
        View(at="appendix", order=("p",), top=12,
             columns=names("first_name second_name measure effect low_to_high n p_adjusted reason")),
        View(at="digest", where="p_adjusted < .05", order=("p",), top=5,
            columns=names("first_name second_name measure effect p_adjusted")),
    ),
    note=N_("Every agent is a row of exports/agents.csv; columns of different methodologies are compared, and the "
            "groups of {fewest} agents or more. Cramér's V is corrected after "
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
        "differs": N_("{measured} differs by {grouping}: mean {mean_highest} ({highest}) to {mean_lowest} ({lowest}); "
                      "share of variance {effect}, adjusted {p}, n = {n}/{n_total}."),
        "joint": N_("{measured} goes with {grouping}: “{category}” for {share_highest} ({highest}) to {share_lowest} "
                    "({lowest}); V = {effect}, adjusted {p}, n = {n}/{n_total}."),
    },
)  # fmt: skip
BETWEEN = Presentation(
    title=N_("Across the methodologies"),
    tables=(ASSOCIATIONS,),
    facts=(integer("least"), integer("fewest")),
    findings=(TOGETHER,),
    primary=(),  # what joins methodologies is looked for, and nobody asked for it
)


NOTHING_ACROSS = shaped(BETWEEN, {}, {"least": LEAST, "fewest": FEWEST})


@dataclass(frozen=True, slots=True)
class AgentColumn:
    """What a methodology says of every agent: a column of agents.csv. name: in the language of its reader."""

    column: str
    kind: Kind
    name: str
    values: pd.Series[Any]  # by participant
    methodology: str = ""
    words: Mapping[Any, str] = field(default_factory=dict)  # what categories are called
    is_compared: bool = False  # whether its methodology compares groups on it

    @property
    def known(self) -> int:
        return int(self.values.notna().sum())


@dataclass(frozen=True)
class AgentTable:
    """table: index participant, one row an agent. columns: what methodologies say, and the group. covariates: columns
    of the table that come from a personas file."""

    table: pd.DataFrame
    columns: tuple[AgentColumn, ...] = field(default=())
    covariates: tuple[str, ...] = field(default=())

    @cached_property
    def twins(self) -> dict[str, str]:
        """Groupings of one methodology that part the same agents alike, by column: the earlier one stands for both."""
        twins: dict[str, str] = {}
        groupings = [column for column in self.columns if column.kind == "categorical" and column.known]
        for first, second in combinations(groupings, 2):
            if first.methodology == second.methodology and second.column not in twins:
                a, b = (pd.factorize(self.table[column.column])[0] for column in (first, second))
                if (a == b).all():
                    twins[second.column] = twins.get(first.column, first.column)
        return twins

    def associations(self) -> Analysis:
        """Every pair of columns of different methodologies; those of one share answers and go together anyway."""
        crowded = {c.column for c in self.columns if c.kind == "categorical" and c.values.nunique() > MOST_CATEGORIES}
        kept = [column for column in self.columns if column.known and column.column not in crowded | self.twins.keys()]
        pairs = [(a.column, b.column) for a, b in combinations(kept, 2) if _is_news(a, b)]
        by_name = {column.column: column for column in kept}
        called = {column.column: column.name for column in self.columns}
        rows = []
        compared = self.table.assign(**{c.column: _large(c.values) for c in kept if c.methodology == POPULATION})
        for pair in cross_table(compared, {c.column: c.kind for c in kept}, pairs=pairs) if pairs else ():
            test = pair.association
            direction = {"cramers_v": "joint", "epsilon_squared": "differs"}.get(test.measure)
            sides = _sides(by_name[pair.first], by_name[pair.second], compared)
            if direction and not sides:  # no two groups are large enough to be described
                direction = "unclear"
            rows.append({
                "first": pair.first, "second": pair.second, "first_name": called[pair.first],
                    "second_name": called[pair.second],
                "measure": test.measure, "direction": direction or ("falls" if (test.effect or 0) < 0 else "rises"),
                    "effect": test.effect,
                "low": test.low, "high": test.high, "n": test.n, "n_total": len(self.table), "p": test.p,
                    "reason": test.reason or None,
                **NOT_COMPARED, **sides,
            })  # fmt: skip
        return shaped(BETWEEN, {"associations": rows}, {"least": LEAST, "fewest": FEWEST})


NOT_COMPARED: Row = dict.fromkeys((
    "grouping", "measured", "category", "highest", "lowest", "mean_highest", "mean_lowest", "share_highest",
    "share_lowest",
))  # fmt: skip
"""Of two columns of numbers, and where no two groups are large enough."""


def _is_news(first: AgentColumn, second: AgentColumn) -> bool:
    """Whether a pair is tested nowhere else: columns of one methodology go together anyway, and groups may have been
    compared on a column already."""
    by_group = POPULATION in (first.methodology, second.methodology)
    return first.methodology != second.methodology and not (by_group and (first.is_compared or second.is_compared))


def _sides(first: AgentColumn, second: AgentColumn, table: pd.DataFrame) -> Row:
    """Which groups lie highest and lowest, and with what mean or share; nothing of two columns of numbers.

    Groups are the categories of the first column that has some, each of FEWEST agents at least. Of another column of
    categories, the one is told whose shares lie furthest apart.
    """
    if first.kind == "numeric" and second.kind == "numeric":
        return {}
    grouping, measured = (first, second) if first.kind == "categorical" else (second, first)
    both = table[[grouping.column, measured.column]].dropna()
    groups = both[grouping.column]
    sizes = groups.value_counts()
    both = both[groups.isin(sizes.index[sizes >= FEWEST])]
    if both[grouping.column].nunique() < 2:
        return {}
    told: Row = {"grouping": grouping.name, "measured": measured.name}
    values, what = both[measured.column], "mean"
    if measured.kind == "categorical":
        shares = pd.crosstab(both[grouping.column], values, normalize="index")
        category: Any = (shares.max() - shares.min()).idxmax()
        told["category"] = measured.words.get(category, readable(str(category)))
        values, what = values.eq(category), "share"
    means = values.astype(float).groupby(both[grouping.column], sort=False).mean()
    for side, end in (("highest", means.max()), ("lowest", means.min())):
        alike = means.index[(means - end).abs() < AS_GOOD_AS_EQUAL]
        told[side] = [grouping.words.get(group, readable(str(group))) for group in alike]
        told[f"{what}_{side}"] = float(end)
    return told


def _large(groups: pd.Series[Any]) -> pd.Series[Any]:
    """Missing for agents of a group below FEWEST, as wherever groups are compared."""
    sizes = groups.value_counts()
    return groups.where(groups.isin(sizes.index[sizes >= FEWEST]))


def agent_columns(
    presentation: Presentation, analysis: Analysis, methodology: str, called: Mapping[str, str],
    language: Language = "en",
) -> list[AgentColumn]:  # fmt: skip
    """What declared tables say of every single agent. called: names of columns in the reader's language."""
    columns = []
    for table, column in presentation.agent_columns:
        is_category = column.format in ("code", "reference", "flag", "text")
        kind: Kind = "categorical" if is_category else "numeric"
        label = called.get(column.name, column.label)
        for name, words, rows in _spread(presentation, analysis, table, column, label):
            if len(rows) and rows[column.name].notna().any():
                values = pd.Series(rows[column.name].tolist(), index=rows[table.key[0]].tolist())
                known = values if is_category else values.astype(float)
                categories = _category_words(presentation, analysis, column, language)
                is_compared = bool(column.compared_in)
                columns.append(AgentColumn(name, kind, words, known, methodology, categories, is_compared))
    return columns


def _category_words(
    presentation: Presentation, analysis: Analysis, column: Column, language: Language
) -> dict[Any, str]:
    """What a column's codes or references are called."""
    if column.levels is not None:
        return {code: tell(says, language) for code, says in column.levels.items() if "{" not in says}
    if to := presentation.tables.get(column.to):
        known = analysis.tables[column.to]
        return dict(zip(known[to.key[0]], known[to.label].astype(str), strict=True)) if to.label else {}
    return {}


def _spread(
    presentation: Presentation, analysis: Analysis, table: Table, column: Column, label: str
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """A table whose key has a second column has a row an agent and value of it: each value is a column of its own,
    `<column>_<its name>` in the language of the report. Its label names it, too: "desirability of “{scenario}”"."""
    frame = analysis.tables[table.name]
    if len(table.key) == 1:
        yield column.name, label, frame
        return
    key = table.column(table.key[1])
    names: dict[Any, str] = {}
    if to := presentation.tables.get(key.to):
        known = analysis.tables[to.name]
        names = dict(zip(known[to.key[0]], known[to.label], strict=True))
    taken: set[str] = set()
    value: Any
    for value, rows in frame.groupby(key.name, sort=False):
        called = str(names.get(value, value))
        words = re.sub(r"[^a-z0-9]+", "_", slug(called).lower()).strip("_") or str(value)
        name = f"{column.name}_{words if words not in taken else value}"
        taken.add(words)
        yield name, label.format(**{key.name: called}), rows


def agent_table(
    columns: Sequence[AgentColumn], frame: pd.DataFrame, people: pd.DataFrame, groups: pd.Series[str], group_name: str,
    own_columns: pd.DataFrame | None = None, group_words: Mapping[Any, str] | None = None,
) -> AgentTable:  # fmt: skip
    """frame: the response table, of which the main arm is read. people: index participant; agent_id, name,
    stakeholder_type.
    groups: what agents are compared by, whose name is `group_name`. own_columns: index participant; what a personas
    file says besides. group_words: what groups are called."""
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
        [table, pd.DataFrame({c.column: c.values.reindex(table.index) for c in columns}, index=table.index)],
        axis=1,
    )
    column = groups.name if isinstance(groups.name, str) and groups.name != "stakeholder_type" else "stakeholder_type"
    covariates: tuple[str, ...] = ()
    if own_columns is not None and column in own_columns and pd.api.types.is_numeric_dtype(own_columns[column]):
        column = f"{column}_group"  # the number itself stands beside the group that it lies in
    group = AgentColumn(column, "categorical", group_name, groups.reindex(table.index), POPULATION, group_words or {})
    if own_columns is not None:
        clear = own_columns.rename(
            columns=lambda name: f"persona_{name}" if name in RESERVED or name in table else name
        )
        table = pd.concat([table, clear.reindex(table.index)], axis=1)
        covariates = tuple(map(str, clear))
    table[column] = group.values
    return AgentTable(table, (group, *columns), covariates)


# --- Results of a run's methodologies as its readers hold them: analyses bound to a language and to the run's names ---


def results_of(
    by_method: Mapping[str, Evaluation], analyses: Mapping[str, Analysis], names: Names, language: Language
) -> dict[str, Results]:
    """Of every methodology that declares its results and was analysed, and of what joins them."""
    presentations = {name: each.presentation for name, each in by_method.items()} | {ACROSS: BETWEEN}
    return {
        name: Results(name, presentation, analyses[name], names, language)
        for name, presentation in presentations.items()
        if name in analyses
    }


def stated(declared: Mapping[str, Results], log: GapLog = NOTHING_CAUGHT) -> dict[str, list[KeyFinding]]:
    """Every finding by methodology, and under ACROSS those that join several; none of tests that were not corrected."""
    sure = {name: results for name, results in declared.items() if not log.has(name, "correction")}
    return {name: list(stated_of(results, log)) for name, results in sure.items()}


def names_of(
    reading: RunReading, asked: list[AskedItem] | tuple[AskedItem, ...] = (), titles: Mapping[str, str] | None = None
) -> Names:
    agents = {who.id: who.name for who in reading.population}
    wordings = {item.item_id: item.text(reading.language) for item in asked}
    return Names(agents, reading.type_names, wordings, titles or {})


def from_json(presentation: Presentation, stored: Mapping[str, JsonValue]) -> Analysis:
    """An analysis from results.json: without the tables that grow with the population, which are empty."""
    tables: dict[str, Any] = {name: stored.get(name) or [] for name in presentation.tables}
    analysis = shaped(presentation, tables, {name: stored.get(name) for name in presentation.facts})
    shares = stored.get(PRIMARY)
    if not isinstance(shares, dict):
        return analysis
    return replace(analysis, primary={str(name): float(str(share)) for name, share in shares.items()})


def read_results(
    methodology: str,
    presentation: Presentation,
    stored: Mapping[str, JsonValue],
    language: Language,
    names: Names | None = None,
) -> Results:
    """As they were written, for readers that do not analyse again."""
    types = stored.get(TYPE_NAMES)
    known = names or Names(groups={str(k): str(v) for k, v in types.items()} if isinstance(types, dict) else {})
    return Results(methodology, presentation, from_json(presentation, stored), known, language)


def headlines(results: Results) -> Iterator[Headline]:
    """What replicates are compared on: every value of a declared column that is a verdict, by the row's key."""
    for table in results.presentation.tables.values():
        compared = [column for column in table.columns if column.replicates]
        for row in rows_of(results.analysis.tables[table.name]) if compared else ():
            key = "/".join(str(row[name]) for name in table.key)
            for column in compared:
                value = row[column.name]
                about = results.labels(table.name).get(row[table.key[0]]) or ", ".join(
                    results.cell(table.column(name), row) for name in table.key
                )
                yield Headline(
                    f"{results.methodology}.{table.name}.{column.name}.{key}", f"{table.name}.{column.name}", value,
                    None if value is None else results.cell(column, row), (about,), value is not None,
                )  # fmt: skip


def compared_columns(presentation: Presentation) -> dict[str, Column]:
    """By the kind of their headlines."""
    columns = ((table, column) for table in presentation.tables.values() for column in table.columns)
    return {f"{table.name}.{column.name}": column for table, column in columns if column.replicates}


# --- Findings: what each methodology's analysis makes of its rows -----------------------------------------------------

_CHANGED: Mapping[str, str] = {
    "model": N_("The model was {then} at T0 and {now} at T1"),
    "respondent": N_("{then} answered at T0, {now} at T1"),
    "language": N_("T0 was asked in {then}, T1 in {now}"),
    "asking": N_("Questions were asked by {then} at T0 and by {now} at T1"),
    "fingerprint": N_("The server reported another model fingerprint at T0 ({then}) than at T1 ({now})"),
}


@dataclass
class Findings:
    """Findings by methodology; which could not be made stands in the log of gaps."""

    results: dict[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    # of methodologies that declare their results, and ACROSS
    analyses: dict[str, Analysis] = field(default_factory=dict)
    agents: AgentTable = field(default_factory=lambda: AgentTable(pd.DataFrame()))


def find(
    reading: RunReading, frame: pd.DataFrame, log: GapLog = NOTHING_CAUGHT, *, partial: bool = False,
    arm: Arm | None = None,
) -> Findings:  # fmt: skip
    """Analyse every methodology that has rows. A bug in one analysis goes to the log; the others go on.

    arm: stands in the main arm's place, with what was pinned for it; its rows bear the role "main" in `frame`.
    """
    with threadpool_limits(1):  # a second thread waits beside matrices of this size, at half as much CPU again
        return _find(reading, frame, log, partial=partial, arm=arm)


def _find(reading: RunReading, frame: pd.DataFrame, log: GapLog, *, partial: bool, arm: Arm | None) -> Findings:
    stands = arm or reading.record.main
    findings = Findings()
    groups = groups_by(reading.by, persona_columns(reading.ledger)) if reading.by else None
    about: dict[str, dict[str, JsonValue]] = {}
    for name in reading.record.methods:
        rows = chosen(frame, frame["methodology"].eq(name) & rows_read(frame, reading.methodology(name)))
        if not rows["arm_role"].eq("main").any():
            continue
        if log.has(name, "items"):
            continue  # without scales and keying every number of it would be wrong
        with log.catch(name, "analysis"):
            context = replace(analysis_context(reading, name, partial, stands), groups=groups)
            findings.analyses[name] = _analyse(reading, name, opened(rows.reset_index(drop=True)), context)
            about[name] = _about(reading, rows, context)
            findings.results[name] = about[name]
    presentations = {name: evaluation(reading.methodology(name)).presentation for name in findings.analyses}
    declared = {name: (presentations[name], analysis) for name, analysis in findings.analyses.items()}
    if arm is None:
        findings.agents = _agents(reading, frame, declared, groups, log)
        declared[ACROSS] = (BETWEEN, NOTHING_ACROSS)
        with log.catch(ACROSS, "associations"):
            declared[ACROSS] = (BETWEEN, findings.agents.associations())
    findings.analyses = _correct(declared, named_primary(reading), log)
    for name in about.keys() & declared.keys():
        presentation, final = declared[name][0], findings.analyses[name]
        results = Results(name, presentation, final, Names(groups=reading.type_names), reading.language)
        flags: list[JsonValue] = []
        with log.catch(name, "flags"):
            flags += results.flags()
        findings.results[name] = {**about[name], "flags": flags, **final.as_json(presentation)}
    return findings


def _correct(
    declared: Mapping[str, tuple[Presentation, Analysis]], primary: Mapping[str, Mapping[str, float]], log: GapLog
) -> dict[str, Analysis]:
    """Correct all tests together; those of a methodology whose declared tests fail are left out, and say nothing."""
    try:
        return _settled(declared, corrected(declared, primary))
    except Exception:  # one of them: which, is found one by one
        sound = {}
        for name, each in declared.items():
            with log.catch(name, "correction"):
                _settled({name: each}, corrected({name: each}, primary))
                sound[name] = each
        if len(sound) == len(declared):  # together they fail, alone none does: that is our own bug
            raise
        unsure = {name: analysis for name, (_, analysis) in declared.items()}
        return {**unsure, **_settled(sound, corrected(sound, primary))}


def _settled(
    declared: Mapping[str, tuple[Presentation, Analysis]], analyses: Mapping[str, Analysis]
) -> dict[str, Analysis]:
    """Make every verdict the corrected one: where the adjusted p is not below the level, a table says no more than page
    one does."""
    settled = {}
    for name, analysis in analyses.items():
        tables = dict(analysis.tables)
        for table in declared[name][0].tables.values():
            for column in table.columns:
                if column.unless_sure is not None and len(tables[table.name]):
                    tables[table.name] = _unless_sure(tables[table.name], column)
        settle = declared[name][0].settle
        if settle is not None:
            tables |= settle(ResultTables(declared[name][0], analysis))
        settled[name] = replace(analysis, tables=tables)
    return settled


def _unless_sure(frame: pd.DataFrame, column: Column) -> pd.DataFrame:
    """The table with the codes of one column that its corrected test does not bear out as `unless_sure` says. A row
    that nothing tested on page one stays as it is."""
    instead = dict(column.unless_sure or {})
    unsure = frame[ADJUSTED].to_numpy(dtype=float) >= LEVEL  # NaN is not
    codes = [
        instead.get(code, code) if is_unsure else code
        for code, is_unsure in zip(frame[column.name].tolist(), unsure.tolist(), strict=True)
    ]
    return frame.assign(**{column.name: pd.Series(codes, dtype=object, index=frame.index)})


def named_primary(reading: RunReading) -> dict[str, Mapping[str, float]]:
    """Return the primary questions that the study names, as finding → part of α, keyed by methodology.

    What was said when the run was begun holds for the whole study; else what each instrument says for its methodology.
    A methodology that is not in here has its default one.
    """
    methods = reading.record.methods
    if reading.record.primary:
        return {name: reading.record.primary.get(name, {}) for name in methods}
    instruments = {name: reading.instrument(name) for name in methods}
    return {name: instrument.primary for name, instrument in instruments.items() if instrument.primary}


def _agents(
    reading: RunReading, frame: pd.DataFrame, declared: Mapping[str, tuple[Presentation, Analysis]],
    groups: pd.Series[str] | None, log: GapLog,
) -> AgentTable:  # fmt: skip
    """All agents with what each methodology says of them, and what they are compared by."""
    columns: list[AgentColumn] = []
    for name, (presentation, analysis) in declared.items():
        called = {column.name: tell(column.label, reading.language) for _, column in presentation.agent_columns}
        with log.catch(name, "agents"):
            columns += agent_columns(presentation, analysis, name, called, reading.language)
    people = participants_table(reading.population)
    by = people["stakeholder_type"] if groups is None else groups.rename(reading.by)
    name = tell(N_("stakeholder type"), reading.language) if groups is None else reading.by
    own_columns, words = persona_columns(reading.ledger), reading.type_names if groups is None else {}
    return agent_table(columns, frame, people, by, name, own_columns, words)


def rows_read(frame: pd.DataFrame, methodology: Methodology) -> pd.Series[bool]:
    """Return which rows the methodology's analysis is given."""
    own_arms = [f"{methodology.name}_{variant}" for variant in evaluation(methodology).reads_variants]
    beside = frame["arm_role"].eq("variant") & frame["arm"].isin(own_arms)
    if {"T0", "T1"} <= set(methodology.phases):
        beside |= frame["arm_role"].eq("placebo")
    return frame["arm_role"].eq("main") | beside


def _analyse(reading: RunReading, name: str, rows: pd.DataFrame, context: AnalysisContext) -> Analysis:
    analyse = evaluation(reading.methodology(name)).analyse
    analysis = analyse(rows, reading.instrument(name), reading.settings(name), context)
    if not isinstance(analysis, Analysis):
        what = type(analysis).__name__
        raise TypeError(f"{name}: analyse returned {what}, not an Analysis (declarations.shaped makes one)")
    return analysis


def _about(reading: RunReading, rows: pd.DataFrame, context: AnalysisContext) -> dict[str, JsonValue]:
    """What every methodology's findings say beside its own."""
    return {
        "arms": [str(arm) for arm in sorted(rows["arm"].unique())], TYPE_NAMES: dict(reading.type_names),
        "partial": context.partial, "outcomes": dict(context.outcomes), "flags": [],
    }  # fmt: skip


def analysis_context(reading: RunReading, name: str, partial: bool, arm: Arm) -> AnalysisContext:
    """What the run's record, pinned values and baseline say to the analysis of one methodology."""
    record = reading.record
    incomparable: list[str] = []
    # how agents at T1 were joined to those at the beginning, as the run filed it when T1 opened
    keys = ("matched", "lost", "new", "changed")
    pairing: Mapping[str, JsonValue] = {key: reading.memory[key] for key in keys if key in reading.memory}
    folder = reading.baseline_folder()
    if folder is not None:
        with open_run(folder) as earlier:
            incomparable += _differences(earlier.record, record)
            incomparable += _server_changed(reading, earlier, name)
            joined = join(earlier.population, reading.population)
            pairing = {"matched": len(joined.matched), **{key: list(getattr(joined, key)) for key in keys[1:]}}
    elif record.baseline == "measured":
        incomparable += _server_changed(reading, reading, name)
    return AnalysisContext(
        language=reading.language,
        baseline=reading.baseline,
        memoryless_weight=record.memoryless_weight,
        pinned={**reading.pinned_values(record.main.id, name), **reading.pinned_values(arm.id, name)},
        variants={
            other.variant: reading.pinned_values(other.id, name)
            for other in record.arms
            if other.variant and name in other.methods and arm.role == "main"
        },
        participants=participants_table(reading.population),
        partial=partial,
        outcomes={phase: outcome for (method, phase), outcome in reading.stages.items() if method == name},
        incomparable=tuple(incomparable),
        pairing=pairing,
    )


def _differences(then: RunRecord, now: RunRecord) -> list[str]:
    """What makes the two waves two instruments."""
    texts = in_language(_CHANGED, now.language)
    pairs = {
        "model": (then.main.model, now.main.model),
        "respondent": (then.main.respondent, now.main.respondent),
        "language": (then.language, now.language),
        "asking": (then.asking, now.asking),
    }
    return [texts[what].format(then=a, now=b) for what, (a, b) in pairs.items() if a != b]


def _server_changed(now: RunReading, then: RunReading, name: str) -> list[str]:
    """A fingerprint seen in both waves is enough: servers report several within one wave."""
    before = then.fingerprints(name, "T0", then.record.main.id)
    after = now.fingerprints(name, "T1", now.record.main.id)
    if not before or not after or before & after:
        return []
    text = in_language(_CHANGED, now.record.language)["fingerprint"]
    return [text.format(then=", ".join(sorted(before)), now=", ".join(sorted(after)))]


# --- Findings of a methodology that is done, while others of its run are still being asked ----------------------------


def early_findings(folder: Path, planned: Sequence[tuple[str, str]], methodology: str) -> dict[str, Any]:
    """{} unless every one of its stages is done."""
    with open_run(folder) as reading:
        stages = [stage for stage in planned if stage[0] == methodology]
        if not stages or any(reading.stages.get(stage) != "done" for stage in stages):
            return {}
        log = GapLog(folder)
        findings = find(reading, without_second(responses(reading, stages, plain=True, log=log)), log)
        return dict(findings.results.get(methodology, {}))
