"""What a methodology declares of its results, once: tables with their columns, and what is read of them where.

`analyse` returns an `Analysis`: frames by table and single facts, typed, without language. All that people or programs
see of it is a view of these: section, appendix, digest, files, charts, findings on page one, rows that replicates are
compared on. Declarations import neither pandas nor altair. What they name is checked when they are made: a query, a
placeholder or an order that names a column which nobody declared is a TypeError at import.

    RATINGS = Table(
        name="ratings", title=N_("Ratings by theme"), key=("theme", "round"),
        columns=(reference("theme", N_("Theme"), to="themes"), integer("round", N_("Round")), number("median",
            N_("median"), digits=1),
                 code("label", N_("Verdict"), levels=VERDICTS, replicates=True)),
        views=(View(at="section", where="round == @last_round", order=("-median",), top=10), View(at="appendix")),
    )
    PRESENTATION = Presentation(tables=(THEMES, RATINGS), facts=(integer("last_round", N_("last round")),),
        findings=(...))
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pydantic import JsonValue

from enquete.locale import N_
from enquete.state.errors import InputError

if TYPE_CHECKING:
    import altair
    import pandas as pd

    from enquete.reports.charts import ChartData
    from enquete.reports.columns import Glossary
    from enquete.reports.key_questions import Digest, Finder, Question, Remarks
    from enquete.reports.result_tables import ResultTables


Format = Literal[
    "integer", "number", "share", "p", "text", "code", "flag", "reference", "of", "interval", "bounds", "list", "json",
]  # fmt: skip
"""json: a value that programs read, told as JSON. list: several codes, references or texts in one cell, in order."""
Place = Literal["page_one", "section", "appendix", "digest", "memory", "flag"]
"""flag: a sentence that a reader must know before using the data."""
MOST_SPREAD = 8
"""Columns that a spread makes in a report; files have all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One fact of a row. `of` and `interval` are cells made of two other columns; frames and files do not have them.

    levels: words of a code, in their order. to: whose name a reference stands for: a table of the same presentation, or
    "agent", "group", "item", "dimension", "methodology". means: for the codebook; the label where nothing is said.
    unit: the column that says of each row what its figure is: a share, a count or a number. A fact that is read in
    sentences alone needs no label.
    replicates: further runs of the study are compared on it. agents: joins agents.csv, is compared between groups and
    associated with those of other methodologies. compared_in: the table in which groups are compared on it already, so
    that they are not compared on it a second time with all that agents.csv has.
    unless_sure: of a code that tells the outcome of a test: what each code becomes where the test's adjusted p is not
    below the level, so that a table never says more than page one.
    """

    name: str
    label: str = ""
    format: Format = "text"
    digits: int = 2
    levels: Mapping[str, str] | None = None
    to: str = ""
    parts: tuple[str, str] | None = None
    means: str = ""
    unit: str = ""
    replicates: bool = False
    agents: bool = False
    compared_in: str = ""
    unless_sure: Mapping[str, str] | None = None

    @property
    def stored(self) -> bool:
        return self.parts is None


def integer(name: str, label: str = "", **more: Any) -> Column:
    return Column(name=name, label=label, format="integer", **more)


def number(name: str, label: str = "", digits: int = 2, **more: Any) -> Column:
    return Column(name=name, label=label, format="number", digits=digits, **more)


def share(name: str, label: str = "", digits: int = 0, **more: Any) -> Column:
    """A number between 0 and 1, told in per cent."""
    return Column(name=name, label=label, format="share", digits=digits, **more)


def p_value(name: str, label: str = "p", **more: Any) -> Column:
    return Column(name=name, label=label, format="p", **more)


def text(name: str, label: str = "", **more: Any) -> Column:
    """What somebody wrote, or a name; told as it is."""
    return Column(name=name, label=label, format="text", **more)


def code(name: str, label: str, levels: Mapping[Any, str], **more: Any) -> Column:
    return Column(name=name, label=label, format="code", levels=levels, **more)


def flag(name: str, label: str = "", **more: Any) -> Column:
    return Column(name=name, label=label, format="flag", **more)


def reference(name: str, label: str, to: str, **more: Any) -> Column:
    return Column(name=name, label=label, format="reference", to=to, **more)


def several(name: str, label: str = "", **more: Any) -> Column:
    """A list of codes (levels=) or references (to=)."""
    return Column(name=name, label=label, format="list", **more)


def nested(name: str, label: str = "", **more: Any) -> Column:
    """What has a structure of its own, as JSON."""
    return Column(name=name, label=label, format="json", **more)


def of(n: str, total: str, label: str) -> Column:
    """n / N in one cell."""
    return Column(name=f"{n}_of_{total}", label=label, format="of", parts=(n, total))


def interval(
    low: str, high: str, label: str, digits: int = 2, *, format: Format = "interval", unit: str = ""
) -> Column:
    """Two columns in one cell: [low; high], or as bounds: ≥ low, ≤ high, low to high."""
    parts, name = (low, high), f"{low}_to_{high}"
    return Column(name=name, label=label, format=format, parts=parts, digits=digits, unit=unit)


ADJUSTED = "p_adjusted"
DETECTABLE, DETECTABLE_SHARE, DETECTABLE_V = "detectable", "detectable_share", "detectable_v"
SIZES, OF_ALL, SD_WITHIN, EFFECTIVE_TESTS = "sizes", "of_all", "sd_within", "effective_tests"
"""Columns beside `detectable` of a comparison of groups, from which it is computed: agents of each group ("8, 7, 5"),
mean or share of all, standard deviation within groups (shares have none), and how many independent tests the rows are
as good as."""


def adjusted_p() -> Column:
    """Filled by the one correction of a report (findings.py): analyses leave it empty."""
    return p_value(
        ADJUSTED, N_("adjusted p"), means=N_("p corrected for all tests that could stand on page one of the report")
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """One column's values become columns: of each the cells named. `rows` stay rows."""

    column: str
    rows: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Which rows and columns of a table are read where, in which order.

    where: a query over columns, `@fact` for a fact, as pandas understands it. order: columns, "-" before one that
    falls.
    top: rows at most; how many there are is said where some are left out. spread: one column's values become columns.
    says: rows are told as sentences, one a row, instead of cells; quote: the column that holds an agent's words, told
    as a quotation of `who`; by: columns whose values are headings over their rows. heading: instead of the table's
    title, "" for none. note: below the rows, over facts. empty: what is said where no row is left; nothing if "". most:
    rows under each heading.
    """

    at: Place
    columns: tuple[str, ...] = ()
    where: str = ""
    order: tuple[str, ...] = ()
    top: int | None = None
    spread: Spread | None = None
    says: str | Mapping[str, str] = ""
    word: str = ""
    quote: str = ""
    who: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    most: int | None = None
    heading: str | None = None
    note: str = ""
    empty: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """key: columns that tell rows apart. label: the column by which references name a row of it.
    files: written as a file (CSV and whatever else is asked for); file: where else all of its rows stand.
    one_agent: a row is one agent or one of its answers, so that the table grows with the population and stands in files
    alone, not in results.json."""

    name: str
    title: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    views: tuple[View, ...] = ()
    label: str = ""
    note: str = ""
    files: bool = True
    file: str = ""
    one_agent: bool = False

    def column(self, name: str) -> Column:
        """Raises KeyError for one that is not declared."""
        for each in self.columns:
            if each.name == name:
                return each
        raise KeyError(f"{self.name} has no column {name!r}")

    @property
    def stored(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.stored)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBlock:
    """A paragraph over facts. where: a fact that must be true or a query; word: the fact that picks the sentence."""

    at: Place
    says: str | Mapping[str, str]
    word: str = ""
    where: str = ""
    after: str = ""  # the table whose views it follows; "" at the beginning


Kind = Literal["difference", "position", "null"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleValue:
    """A value of a row on its scale, in the small picture of a finding. of: the column that says whose it is; low,
    high: its interval."""

    value: str
    of: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A sentence over rows of a table (one row of facts where table is ""), as it may stand on page one.

    With p it is tested: every row that `where` leaves enters the correction over all tests of a page, and only rows
    below the level are told, the largest first, `top` at most; where none is, `null` is told once: over the facts, the
    row with the smallest p, `tests`, the fewest n of a tested row and `power`, a clause on what would have been found
    on each of them, from the columns of `detectable`.
    Without p it is a position: an estimate, whose interval must hold for how its row was chosen.
    within: whether the column p is already corrected over the table's rows (max-T) or not (Holm does it).
    after: a finding of the same methodology that has to hold before this one's tests count, or, where it tests nothing
    itself, before it is told; unless that one had nothing to test.
    word: a column of codes that picks the sentence of `says`; codes without a sentence are not told. size: an
    expression over columns and facts, a share of what is possible, by which findings are ranked. items: column with the
    item ids whose answers it rests on.
    scale: an expression for both ends of the scale that the estimate is on, "scale_min, scale_max", which its small
    picture on page one needs; shares need none. simultaneous: the intervals hold for all rows of the table at once, as
    is said beside the picture. points: what the picture shows in place of the estimate with its
    interval.
    """

    name: str
    says: str | Mapping[str, str]
    table: str = ""
    kind: Kind = "position"
    word: str = ""
    where: str = ""
    order: tuple[str, ...] = ()
    top: int = 1
    p: str = ""
    within: Literal["holm", "given"] = "holm"
    after: str = ""
    test: str = ""
    null: str = ""
    size: str = "0"
    estimate: str = ""
    low: str = ""
    high: str = ""
    n: str = "n"
    n_total: str = "n_total"
    items: str = ""
    chart: str = ""
    scale: str = ""
    points: tuple[ScaleValue, ...] = ()
    simultaneous: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A picture over tables. draw: 10–25 lines, from labelled frames to an altair.Chart, by dotted path so that altair
    is imported when a chart is drawn. needs: tables without rows of which it is not drawn. title, alt: over facts and
    the first row of the first table of `needs` in the order of `over`. rows: the rows that it draws, in their order, of
    the first table that it needs; it stands in place of `over`."""

    name: str
    title: str
    alt: str
    draw: str | Callable[[ChartData], altair.TopLevelMixin]
    needs: tuple[str, ...]
    over: View | None = None
    rows: Callable[[ResultTables], pd.DataFrame] | None = None
    at: Place = "section"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What is computed on `most` agents, drawn by seed, where the fact `of` is larger: the report says so."""

    what: str
    of: str
    most: int


class Presentation:
    """All that a methodology declares of its results. Raises TypeError naming what nobody declared.

    A methodology is read in one of two ways. With a `template` its section and appendix are a Jinja template over its
    frames, and its findings are functions; without one they are the views, texts and findings that are declared here,
    until the last methodology has a template.

    Args:
        tables: the declared tables, in the order of the report and the codebook.
        facts: single values beside the tables.
        texts: paragraphs over facts (without a template).
        findings: declared sentences (without a template).
        charts: pictures over tables.
        samples: what is computed on a sample of agents.
        title: of what is no methodology's: of instrument health, say.
        primary: names of tested questions, of which the first that a run asks is the primary question where a study
            names none; by default all of them, as they are declared.
        glossary: what the columns mean.
        template: `package:file` with the blocks `section` and `appendix`.
        questions: what is tested.
        finders: functions that yield findings, in the order in which they are told.
        settle: returns the tables with their verdicts as the corrected tests bear them out.
        digest: chooses the rows that a program is told.
        memories: yields what a memory is told.
        warnings: yields what a reader must know before using the data.
    """

    def __init__(
        self, *, tables: Sequence[Table], facts: Sequence[Column] = (), texts: Sequence[TextBlock] = (),
        findings: Sequence[Finding] = (), charts: Sequence[Chart] = (), samples: Sequence[Sample] = (), title: str = "",
        primary: Sequence[str] | None = None, glossary: Glossary | None = None, template: str = "",
        questions: Sequence[Question] = (), finders: Sequence[Finder] = (),
        settle: Callable[[ResultTables], Mapping[str, pd.DataFrame]] | None = None, digest: Digest | None = None,
        memories: Remarks | None = None, warnings: Remarks | None = None,
    ) -> None:  # fmt: skip
        self.title = title
        self.tables = {table.name: table for table in tables}
        self.facts = {fact.name: fact for fact in facts}
        self.texts, self.findings = tuple(texts), tuple(findings)
        self.charts, self.samples = tuple(charts), tuple(samples)
        self.glossary, self.template = glossary, template
        self.tested, self.finders, self.settle = tuple(questions), tuple(finders), settle
        self.digest, self.memories, self.warnings = digest, memories, warnings
        self.question_tables = {finding.name: finding.table for finding in self.findings if finding.p}
        self.question_tables |= {question.name: question.table for question in self.tested}
        self.questions = tuple(self.question_tables)
        self.primary = self.questions if primary is None else tuple(primary)
        if len(self.tables) < len(tables) or len(self.facts) < len(facts):
            raise TypeError("two tables or two facts share a name")
        if untested := [name for name in self.primary if name not in self.questions]:
            there = ", ".join(self.questions) or "none"
            raise TypeError(f"primary names {', '.join(untested)}, which no finding tests; tested are {there}")
        for table in tables:
            self._check_table(table)
        for each in self.texts:
            first = each.says if isinstance(each.says, str) else next(iter(each.says.values()), "")
            named = (_placeholders(each.says), _queried(each.where), [each.word])
            self._names(f"text {first[:40]!r}", self.facts, *named)
        for question in self.tested:
            self._check_question(question)
        for sample in self.samples:
            self._names(f"sample {sample.what!r}", self.facts, [sample.of])
        for finding in self.findings:
            self._check_finding(finding)
        for chart in self.charts:
            unknown = [name for name in chart.needs if name not in self.tables]
            if unknown or not chart.needs:
                there = ", ".join(self.tables)
                raise TypeError(f"chart {chart.name!r} needs {unknown or 'no table'}; there are {there}")
            known = {**self.facts, **_columns(self.tables[chart.needs[0]])}
            self._names(f"chart {chart.name!r}", known, _placeholders(chart.title), _placeholders(chart.alt))

    def _check_table(self, table: Table) -> None:
        known = _columns(table)
        if len(known) < len(table.columns):
            raise TypeError(f"table {table.name!r} has two columns of one name")
        self._names(f"table {table.name!r}", known, table.key, [table.label], *(c.parts or () for c in table.columns))
        for column in table.columns:
            if column.to and column.to not in (*self.tables, *NAMED):
                there = ", ".join((*self.tables, *NAMED))
                raise TypeError(f"{table.name}.{column.name} refers to {column.to!r}; there are {there}")
            if column.format == "code" and not column.levels:
                raise TypeError(f"{table.name}.{column.name} is a code without levels")
            if column.compared_in and column.compared_in not in self.tables:
                raise TypeError(
                    f"{table.name}.{column.name} is compared in {column.compared_in!r}, which nobody declared"
                )
            self._check_verdict(table, column)
        for view in table.views:
            spread = (view.spread.column, *view.spread.rows, *view.spread.cells) if view.spread else ()
            where = f"view of {table.name!r} at {view.at}"
            names = (view.columns, _bare(view.order), spread, [view.word, view.quote], view.who, view.by)
            self._names(where, known, *names)
            self._names(where, {**self.facts, **known}, _queried(view.where), _placeholders(view.says))
            self._names(where, {**self.facts, **dict.fromkeys(("shown", "rows"))}, _placeholders(view.note))

    def _check_verdict(self, table: Table, column: Column) -> None:
        if column.unless_sure is None:
            return
        where = f"{table.name}.{column.name}"
        self._names(where, dict(column.levels or {}), column.unless_sure, column.unless_sure.values())
        self._names(where, _columns(table), [ADJUSTED])

    def _check_finding(self, finding: Finding) -> None:
        declared = _columns(self.tables[finding.table]) if finding.table else dict(self.facts)
        known = {**self.facts, **declared}
        where = f"finding {finding.name!r}"
        points = [name for point in finding.points for name in (point.value, point.of, point.low, point.high)]
        columns = [finding.word, finding.p, finding.estimate, finding.low, finding.high, finding.items, *points]
        self._names(where, declared, columns, _bare(finding.order))
        self._names(where, known, [finding.n, finding.n_total])
        queried = (_queried(text) for text in (finding.where, finding.size, finding.scale))
        known = {**known, ADJUSTED: None}
        self._names(where, known, *queried, _placeholders(finding.says))
        self._names(where, {**known, "tests": None, "power": None}, _placeholders(finding.null))
        if finding.p and ADJUSTED not in declared:
            raise TypeError(f"{where} tests rows of {finding.table!r}, which has no column {ADJUSTED}")
        if finding.after and not any(other.name == finding.after and other.p for other in self.findings):
            raise TypeError(f"{where} comes after {finding.after!r}, which no finding tests")
        if finding.chart and finding.chart not in {chart.name for chart in self.charts}:
            raise TypeError(f"{where} names the chart {finding.chart!r}, which is not declared")

    def _check_question(self, question: Question) -> None:
        where = f"question {question.name!r}"
        if question.table not in self.tables:
            raise TypeError(f"{where} tests {question.table!r}; there are {', '.join(self.tables)}")
        self._names(where, _columns(self.tables[question.table]), [question.p, ADJUSTED])
        if question.after and question.after not in self.question_tables:
            raise TypeError(f"{where} comes after {question.after!r}, which is not tested")

    @staticmethod
    def _names(where: str, known: Mapping[str, object], *names: Iterable[str]) -> None:
        unknown = sorted({name for some in names for name in some if name and name not in known})
        if unknown:
            raise TypeError(f"{where} names {', '.join(unknown)}; declared are {', '.join(known)}")

    @cached_property
    def agent_columns(self) -> list[tuple[Table, Column]]:
        return [(table, column) for table in self.tables.values() for column in table.columns if column.agents]


NAMED = ("agent", "group", "item", "dimension", "methodology", "answer")
"""What a reference may stand for beside a table: names that the run knows."""


Row: TypeAlias = dict[str, Any]
"""Of a declared table: a cell is what its column says."""


@dataclass(frozen=True)
class Analysis:
    """What an analysis makes of a methodology's rows: frames by table, facts by name. `shaped` makes one that fits."""

    tables: Mapping[str, pd.DataFrame]
    facts: Mapping[str, JsonValue]
    primary: Mapping[str, float] | None = None
    """Finding → its share of α, of the primary questions, 0 where the run had nothing to test; every other test is
    exploratory. None: not corrected yet, or no question of the page is primary."""

    def count(self, fact: str) -> int:
        """0 where there is none."""
        value = self.facts.get(fact)
        return int(value) if isinstance(value, int | float) else 0

    def column(self, table: str, name: str) -> list[Any]:
        """Of a table; [] where it is not there, and None where a value is missing."""
        from enquete.reports.context import jsonable  # noqa: PLC0415 - see below

        return [jsonable(value) for value in self.tables[table][name].tolist()] if table in self.tables else []

    def figure(self, fact: str) -> float | None:
        value = self.facts.get(fact)
        return float(value) if isinstance(value, int | float) else None

    def as_json(self, presentation: Presentation, *, one_agent: bool = False) -> dict[str, JsonValue]:
        """Facts, and the rows of tables, without those that grow with the population unless they are wanted; missing is
        None, never NaN."""
        told: dict[str, JsonValue] = dict(self.facts)
        for name, frame in self.tables.items():
            if one_agent or not presentation.tables[name].one_agent:
                told[name] = records(frame)
        if self.primary is not None:
            told[PRIMARY] = dict(self.primary)
        return told


PRIMARY = "primary_questions"
"""Beside tables and facts in JSON: `Analysis.primary`."""
NOT_ANALYSED = Analysis({}, {})

DTYPES: Mapping[Format, str] = {
    "integer": "Int64",
    "number": "float64",
    "share": "float64",
    "p": "float64",
    "flag": "boolean",
}
"""Integers that are declared are integers that are stored; all else is text or None."""


def shaped(
    presentation: Presentation, tables: Mapping[str, pd.DataFrame | Iterable[Row]], facts: Mapping[str,
        Any]
) -> Analysis:  # fmt: skip
    """Frames with exactly the declared columns, in their order and of their types. A table that is not given is empty.

    Raises TypeError for a table, column or fact that is not declared, or a frame that lacks one that is.
    """
    return shape_results(tuple(presentation.tables.values()), tuple(presentation.facts.values()), tables, facts)


def shape_results(
    declared: Sequence[Table], declared_facts: Sequence[Column],
    tables: Mapping[str, pd.DataFrame | Iterable[Row]], facts: Mapping[str, Any],
) -> Analysis:  # fmt: skip
    """Return the tables with exactly the declared columns, in their order and of their types, and the facts.

    A table that is not given, or has no rows, is empty with its columns; a fact that is not given is None.

    Raises:
        TypeError: a table, column or fact is not declared, a frame lacks a column, or a code is none of its levels.
    """
    from enquete.reports.context import jsonable  # noqa: PLC0415 - imports pandas, which declarations do not

    by_name, fact_names = {table.name: table for table in declared}, [fact.name for fact in declared_facts]
    unknown = [*(set(tables) - by_name.keys()), *(set(facts) - set(fact_names))]
    if unknown:
        raise TypeError(f"not declared: {', '.join(sorted(unknown))}")
    frames = {name: _frame(table, tables.get(name)) for name, table in by_name.items()}
    return Analysis(frames, {name: jsonable(facts.get(name)) for name in fact_names})


def _frame(table: Table, rows: pd.DataFrame | Iterable[Row] | None) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - see above

    names = [column.name for column in table.stored]
    given = _lists(rows)
    missing = [None] * max(map(len, given.values()), default=0)
    if not missing:
        given = dict.fromkeys(names, missing)
    if ADJUSTED in names:
        given.setdefault(ADJUSTED, missing)
    wrong = given.keys() ^ set(names)
    if wrong:
        raise TypeError(f"table {table.name!r}: {', '.join(sorted(map(str, wrong)))} declared or given alone")
    made = {}
    for column in table.stored:
        try:
            made[column.name] = _cast(given[column.name], column)
            _require_levels(made[column.name], column)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{table.name}.{column.name}, declared as {column.format}: {error}") from error
    frame = pd.DataFrame(made)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _require_levels(values: Any, column: Column) -> None:
    """Raise ValueError for a code that is none of the column's levels, alone or in a list."""
    if column.levels is None:
        return
    codes = [value for value in values if value is not None]
    if column.format == "list":
        codes = [code for listed in codes for code in listed]
    unknown = [code for code in codes if str(code) not in column.levels]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no level; there are {', '.join(column.levels)}")


def _lists(rows: pd.DataFrame | Iterable[Row] | None) -> dict[str, Any]:
    """By column. As lists, for a frame on the way would cost as much as all else here: a run has a hundred tables.
    Numbers of a frame stay arrays, for some have a row an agent."""
    import pandas as pd  # noqa: PLC0415 - see above

    if isinstance(rows, pd.DataFrame):
        return {str(name): values if values.dtype.kind in "iuf" else values.tolist() for name, values in rows.items()}
    listed = list(rows or ())
    return {name: [row.get(name) for row in listed] for name in dict.fromkeys(name for row in listed for name in row)}


def _cast(values: Any, column: Column) -> Any:
    """values: a list, or a series of numbers."""
    import numpy as np  # noqa: PLC0415 - see above
    import pandas as pd  # noqa: PLC0415

    if isinstance(values, pd.Series):
        if DTYPES.get(column.format) == "float64":
            return values.to_numpy(dtype=np.float64, na_value=np.nan)
        if DTYPES.get(column.format) == "Int64" and values.dtype.kind != "f":
            return values.astype("Int64").array
        values = values.tolist()
    known = [value if value is not pd.NA and value == value else None for value in values]  # NaN is not itself
    match DTYPES.get(column.format):
        case "float64":
            return np.array([np.nan if value is None else float(value) for value in known], dtype=np.float64)
        case "Int64":
            whole = [None if value is None else int(value) for value in known]
            wrong = [value for value, exact in zip(known, whole, strict=True) if value != exact]
            if wrong:
                raise TypeError(f"{wrong[0]!r} is no whole number")
            return pd.array(whole, dtype="Int64")
        case "boolean":
            return pd.array(known, dtype="boolean")
    return pd.Series(known, dtype=object)  # of a list pandas makes texts of its own, with NaN in place of None


class TableRows:
    """Rows of a large table as JSON, some at a time, as often as they are read."""

    AT_ONCE = 5_000

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), self.AT_ONCE):
            yield from cast("list[Row]", records(self._frame.iloc[start : start + self.AT_ONCE]))


@dataclass(frozen=True)
class WholeResults:
    """What results.json has of a methodology, and its tables, those that grow with the population among them."""

    found: Mapping[str, JsonValue]
    tables: Mapping[str, pd.DataFrame]

    def __getitem__(self, name: str) -> JsonValue | TableRows:
        """A fact, or a table; the rows of one that grows with the population are made when they are read."""
        return self.found[name] if name in self.found else TableRows(self.tables[name])

    def rows(self, table: str) -> Iterable[Row]:
        return cast("Iterable[Row]", self[table])

    def without(self, *left_out: str) -> dict[str, JsonValue]:
        """What results.json has, but for these."""
        return {name: value for name, value in self.found.items() if name not in left_out}


def records(frame: pd.DataFrame) -> list[JsonValue]:
    """Rows as JSON: NaN and NA are None."""
    from enquete.reports.context import jsonable  # noqa: PLC0415 - see above

    columns = [frame[name].tolist() for name in frame]
    return [dict(zip(map(str, frame), map(jsonable, row), strict=True)) for row in zip(*columns, strict=True)]


def names(text: str) -> tuple[str, ...]:
    """Columns in one text: names("round -median")."""
    return tuple(text.split())


# --- checks of names --------------------------------------------------------------------------------------------------


def _columns(table: Table) -> dict[str, object]:
    return {column.name: column for column in table.columns}


def _bare(order: Iterable[str]) -> list[str]:
    return [name.removeprefix("-") for name in order]


def _placeholders(says: str | Mapping[str, str]) -> list[str]:
    texts = [says] if isinstance(says, str) else list(says.values())
    fields = {name for told in texts for _, name, _, _ in Formatter().parse(told) if name}
    return sorted(name.partition(".")[0] for name in fields)


_FACT = re.compile(r"@(?=\w)")


def _queried(expression: str) -> list[str]:
    """Names in a query, without those of functions."""
    if not expression:
        return []
    tree = ast.parse(_FACT.sub("", expression.replace("\n", " ")), mode="eval")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called})


# --- Do groups differ: the same two tables, the same test and the same sentence in every methodology ------------------
# Groups are the stakeholder types or any persona column that was chosen (`--by`). Those of fewer than FEWEST agents are
# named, not tested: their means stand in no table.

Ends: TypeAlias = tuple[float | None, float | None]
"""Of a scale; None where it has no bound."""
NO_ENDS: Ends = (None, None)
GROUP = reference("group", N_("group"), to="group")
HIGHEST_IN = several("highest", N_("highest in"), to="group", means=N_("all groups that share the highest value"))
LOWEST_IN = several("lowest", N_("lowest in"), to="group", means=N_("all groups that share the lowest value"))
IN_SMALL_GROUPS = integer(
    "n_small", N_("in small groups"), means=N_("agents in groups of fewer than five, who are not compared")
)
JOINT_P = p_value(
    "p_joint", N_("joint p"),
    means=N_("for all rows of the table, by handing agents with all they said another's group (max-T)"),
)  # fmt: skip


def group_tables(
    subject: Column, title: str, *, by: Column | None = None, digits: int = 2, share: bool = False, about: str = "",
    scales: bool = False,
) -> tuple[Table, Table]:  # fmt: skip
    """Means (or shares) by subject and group, and a test a subject. subject: what is compared, an item or a theme.

    by: where a subject is compared more than once, the column that tells which: each of them, the dimension say, is a
    test.
    about: where a methodology compares more than one thing, which this is: "change" names the tables change_groups and
    change_group_tests. scales: subjects are on several, which the report names.
    """
    subjects = (subject, by) if by is not None else (subject,)
    keys = tuple(column.name for column in subjects)
    value = Column(name="mean", label=N_("mean"), format="number", digits=digits)
    if share:
        value = Column(name="mean", label=N_("share"), format="share", digits=0)
    ends = [
        replace(value, name="mean_highest", label=N_("highest mean")),
        replace(value, name="mean_lowest", label=N_("lowest mean")),
    ]
    by_group = Table(
        name=f"{_prefix(about)}groups", title=title, key=(*keys, "group"),
        columns=(*subjects, GROUP, integer("n", "n"), value),
    )  # fmt: skip
    tests = Table(
        name=f"{_prefix(about)}group_tests", title=title, key=keys,
        columns=(
            *subjects, *([text("item", N_("item"))] if subject.name != "item" else []), integer("n", "n"),
            integer("n_total", "N"), of("n", "n_total", "n / N"), integer("n_groups", N_("groups")),
            text(SIZES, N_("n of each group")), HIGHEST_IN, LOWEST_IN, *ends,
            replace(value, name=OF_ALL, label=N_("share of all") if share else N_("mean of all")),
            number(SD_WITHIN, N_("SD within groups"), means=N_("of ratings; blank where shares are compared")),
            number(EFFECTIVE_TESTS, N_("tests, effective number"), digits=1,
                   means=N_("how many independent tests those of this table are as good as")),
            *detectable(
                N_("difference between two groups that would be found four times in five"), digits, share=share
            ),
            number("effect", N_("share of variance"),
                   means=N_("ε² of ranks, the share of variance between groups; Cramér's V of categories")),
            number("scale_min", N_("scale from"), digits=0), number("scale_max", N_("scale to"), digits=0),
            interval("scale_min", "scale_max", N_("scale"), digits=0, format="bounds"),
            text("test", N_("test")), p_value("p"), JOINT_P, adjusted_p(), IN_SMALL_GROUPS,
        ),
        views=(
            View(at="section", where="p_adjusted < .05", order=("-effect",), top=3,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest",
                     *(["scale_min_to_scale_max"] if scales else []), "effect", "p_adjusted")),
            View(at="appendix", where="n_groups > 1", order=("p",), top=10,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted",
                     "detectable")),
            View(at="digest", where="p_adjusted < .05", order=("-effect",), top=5,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted")),
        ),
        note=N_("Groups of at least five agents. Detectable: the difference between two groups that would be found "
                "four times in five."),
    )  # fmt: skip
    return by_group, tests


CHOICE = "choice"
"""What the tables of choices by group are about, beside those of ratings."""


def detectable(means: str, digits: int = 2, *, share: bool = False) -> tuple[Column, Column]:
    """Columns of what a test would have found, in points and of the scale's width; `on_scale` fills them.

    share: points are shares themselves."""
    points = Column(name=DETECTABLE, label=N_("detectable"), means=means, format="number", digits=digits)
    if share:
        points = replace(points, format="share", digits=0)
    return points, Column(
        name=DETECTABLE_SHARE, label=N_("detectable, of the scale"), format="share", digits=0,
        means=N_("blank where no difference on the scale is so large"),
    )  # fmt: skip


def on_scale(difference: float | None, ends: Ends) -> dict[str, float | None]:
    """What would have been found, by column of `detectable`: nothing where it is no smaller than the scale is wide."""
    low, high = ends
    known = None if difference is None or difference != difference else difference
    share = known / (high - low) if known is not None and low is not None and high is not None else None
    within = share is None or share < 1
    return {DETECTABLE: known if within else None, DETECTABLE_SHARE: share if within else None}


def between_groups(
    sizes: str, of_all: float, sd: float | None, ends: Ends, alpha: float | None
) -> dict[str, float | None]:
    """Return what a comparison of groups would have found at a level, by column of `detectable`.

    sd: within groups; None of shares. alpha: None where nothing was tested.
    """
    from enquete.analysis.inference import (  # noqa: PLC0415 - declarations do not import it
        detectable_difference,
        detectable_share,
    )

    if alpha is None:
        return on_scale(None, ends)
    groups = [int(size) for size in sizes.split(", ")]
    if sd is None:
        return on_scale(detectable_share(groups, of_all, alpha=alpha), (0, 1))
    low, high = ends
    scale = None if low is None or high is None else (low, high)
    return on_scale(detectable_difference(groups, of_all, sd, ends=scale, alpha=alpha), ends)


def _prefix(about: str) -> str:
    return f"{about}_" if about else ""


def group_finding(
    subject: Column, says: str, *, null: str, size: str, top: int = 3, chart: str = "", where: str = "",
    about: str = "",
    after: str = "",
) -> Finding:  # fmt: skip
    return Finding(
        name=f"{_prefix(about)}groups", table=f"{_prefix(about)}group_tests", kind="difference", where=where,
        p="p_joint", within="given", order=("-effect",), top=top, size=size, says=says, null=null, estimate="effect",
        items="item", test="test", chart=chart, after=after, scale="scale_min, scale_max",
        points=(ScaleValue(value="mean_highest", of="highest"), ScaleValue(value="mean_lowest", of="lowest")),
    )  # fmt: skip


MOST_GROUPS = 8
"""Values of a column of numbers from which it is cut into thirds."""


def groups_by(column: str, columns: pd.DataFrame | None) -> pd.Series[str]:
    """By participant: the value of a persona column; of one with many numbers the third that it lies in, "18–34".

    columns: index participant, each with its type. Raises InputError naming the columns that there are.
    """
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    if columns is None or column not in columns:
        known = "none" if columns is None else ", ".join(map(str, columns))
        raise InputError(f"by: no persona column {column!r}; there are: {known}")
    values = columns[column].dropna()
    if not pd.api.types.is_numeric_dtype(values):
        return values.astype(object)
    numbers = values.astype(float)
    if numbers.nunique() <= MOST_GROUPS:
        return numbers.map("{:g}".format)
    thirds = pd.qcut(numbers, 3, labels=False, duplicates="drop")
    ends = numbers.groupby(thirds).agg(["min", "max"])
    words = {third: f"{low:g}–{high:g}" for third, (low, high) in zip(ends.index, ends.to_numpy(), strict=True)}
    return thirds.map(words).dropna()


def compared(
    values: pd.DataFrame, groups: pd.Series[str], subject: str = "", items: Mapping[Any, str] | None = None, *,
    kind: Literal["rating", "share"] = "rating", about: str = "", ends: Mapping[Any, Ends] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The rows of `group_tables`, by table. values: participants × subjects, or × the levels
    of subject and `by`, named as they are; items: the item id behind a subject, where it is another; ends: of the scale
    that a subject is on, of shares 0 and 1."""
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    from enquete.analysis.groups import compare_groups  # noqa: PLC0415
    from enquete.analysis.inference import ALPHA  # noqa: PLC0415

    scales = ends or {}
    numbered = values.set_axis([str(place) for place in range(values.shape[1])], axis=1)
    comparison = compare_groups(numbered.astype(float), groups, kind)
    named: dict[Hashable, dict[str, Any]] = {}
    for place, name in zip(numbered, values, strict=True):
        keys = zip(values.columns.names, name, strict=True) if isinstance(name, tuple) else [(subject, name)]
        named[place] = {str(key): value for key, value in keys}
    shared_ends = _shared_ends(comparison.by_group)
    means = [
        {**named[row["variable"]], "group": row["group"], "n": row["n"], "mean": row["estimate"]}
        for row in comparison.by_group[~comparison.by_group["small"]]
        .sort_values("estimate", ascending=False, kind="stable")
        .to_dict("records")
    ]
    tests = []
    for name, row in zip(values, comparison.tests.to_dict("records"), strict=True):
        is_tested = row["p"] == row["p"]
        scale = scales.get(name, NO_ENDS)
        sd = None if kind == "share" else row["sd"]
        tests.append({
            **named[row["variable"]], "item": (items or {}).get(name, str(name)), "n": row["n"],
            "n_total": row["n_total"], "n_groups": row["groups"], SIZES: row["sizes"],
            **(shared_ends[row["variable"]] if is_tested else NO_SIDES),
            "mean_highest": row["estimate_highest"] if is_tested else None,
            "mean_lowest": row["estimate_lowest"] if is_tested else None, OF_ALL: row["mean"],
            SD_WITHIN: sd, EFFECTIVE_TESTS: row["tests"],
            **between_groups(row["sizes"], row["mean"], sd, scale, ALPHA / row["tests"] if is_tested else None),
            "scale_min": scale[0], "scale_max": scale[1], "effect": row["effect"], "test": row["method"],
            "p": row["p"] if is_tested else None, "p_joint": row["p_adjusted"], "n_small": row["n_small"],
        })  # fmt: skip
    return {f"{_prefix(about)}groups": pd.DataFrame(means), f"{_prefix(about)}group_tests": pd.DataFrame(tests)}


NO_SIDES: dict[str, list[str] | None] = {"highest": None, "lowest": None}
AS_GOOD_AS_EQUAL = 1e-9
"""Means closer than this are one: only rounding tells them apart."""


def _shared_ends(by_group: pd.DataFrame) -> dict[Hashable, dict[str, list[str] | None]]:
    """The groups of the highest and of the lowest estimate of every variable; all of them where several share it."""
    sides: dict[Hashable, dict[str, list[str] | None]] = {}
    for variable, rows in by_group[~by_group["small"]].groupby("variable", sort=False):
        groups, estimates = rows["group"], rows["estimate"]
        highest, lowest = estimates.max(), estimates.min()
        sides[variable] = {
            "highest": groups[estimates >= highest - AS_GOOD_AS_EQUAL].tolist(),
            "lowest": groups[estimates <= lowest + AS_GOOD_AS_EQUAL].tolist(),
        }
    return sides


def compared_choices(
    values: pd.DataFrame, groups: pd.Series[str], subject: str, labels: Mapping[Any, Mapping[str, str]],
    items: Mapping[Any, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Compare the options that groups chose: the rows of `declare_choice_group_tables`, by table.

    Args:
        values: participants × subjects, the option chosen, None where there is none.
        groups: by participant.
        subject: name of the subject's column.
        labels: of every subject, its options in words by their ids, in their order.
        items: the item id behind a subject, where it is another.
    """
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    from enquete.analysis.groups import compare_groups  # noqa: PLC0415

    comparison = compare_groups(values, groups, "category")
    by_group = comparison.by_group[~comparison.by_group["small"]]
    shares = [
        {subject: row["variable"], "option": labels[row["variable"]].get(row["category"], row["category"]),
         "group": row["group"], "n": row["n"], "share": row["estimate"], "low": row["low"], "high": row["high"]}
        for row in by_group.to_dict("records")
    ]  # fmt: skip
    tests = []
    for name, row in zip(values, comparison.tests.to_dict("records"), strict=True):
        is_tested = row["p"] == row["p"]
        tests.append({
            subject: name, "item": (items or {}).get(name, str(name)), "n": row["n"], "n_total": row["n_total"],
            "n_groups": row["groups"], "n_options": _count_options(by_group, name),
            **_furthest_apart(by_group, name, labels[name], is_tested=is_tested),
            "detectable_v": row["detectable"], "effect": row["effect"], "test": row["method"],
            "p": row["p"] if is_tested else None, "p_joint": row["p_adjusted"], "n_small": row["n_small"],
        })  # fmt: skip
    return {f"{CHOICE}_groups": pd.DataFrame(shares), f"{CHOICE}_group_tests": pd.DataFrame(tests)}


def _count_options(by_group: pd.DataFrame, variable: Any) -> int:
    """Return how many options somebody in a group that is large enough chose."""
    chosen = by_group[by_group["variable"].eq(variable) & by_group["estimate"].gt(0)]
    return int(chosen["category"].nunique())


def _furthest_apart(
    by_group: pd.DataFrame, variable: Any, labels: Mapping[str, str], *, is_tested: bool
) -> dict[str, Any]:
    """The option whose shares lie furthest apart between groups, the first of several, and who is at either end."""
    if not is_tested:
        return {"option": None, "share_highest": None, "share_lowest": None, **NO_SIDES}
    rows = by_group[by_group["variable"].eq(variable)]
    shares = rows.groupby("category", sort=False)["estimate"]
    apart = (shares.max() - shares.min()).round(9)
    ordered = [option for option in labels if option in apart.index] or list(apart.index)
    option = apart.reindex(ordered).idxmax()
    chosen = rows[rows["category"].eq(str(option))]
    return {
        "option": labels.get(str(option), str(option)), "share_highest": chosen["estimate"].max(),
        "share_lowest": chosen["estimate"].min(), **_shared_ends(chosen)[variable],
    }  # fmt: skip
