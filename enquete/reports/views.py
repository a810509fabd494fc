"""What is read of a methodology's results: views of its declared tables, told in one language.

Only here do tables meet a language: codes become words, references names, figures what the language writes. Measured
by: a number stands the same wherever it is read, because all places read the same cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from string import Formatter
from typing import Any

import pandas as pd
from jinja2 import Environment
from pydantic import JsonValue

from enquete.locale import N_, NN_, enumeration, plural, tell
from enquete.locale.templating import environment
from enquete.reports.context import chosen, jsonable, missing, plain
from enquete.reports.declarations import (
    MOST_SPREAD,
    Analysis,
    Column,
    Place,
    Presentation,
    Row,
    Spread,
    Table,
    TextBlock,
    View,
)
from enquete.reports.key_questions import DigestRows, Remark
from enquete.reports.markdown import MISSING, escape, number, of, p_value, quote, readable, share
from enquete.reports.printing import FIGURES, Printer, markdown_table
from enquete.reports.result_tables import ResultTables, rows_of
from enquete.state.asking import Language

DIMENSIONS = (
    N_("importance"), N_("plausibility"), N_("desirability"), N_("fairness"), N_("feasibility"), N_("probability"),
    N_("urgency"), N_("impact"),
)  # fmt: skip
"""Dimensions that an instrument may give by id alone."""


def dimension_name(dimension: str, language: Language) -> str:
    """The dimension's name in this language; its id, readable, where none is known."""
    return tell(dimension, language) if dimension in DIMENSIONS else dimension.replace("_", " ")


# --- Templates of what people read: Markdown with English texts in `_("…")`, told in the language of the run ----------
# A template is named `package:file`, so that a methodology's stands in its own folder, of this package or another:
#
#     render("enquete.methods.delphi:section.md.j2", "de", found=found)
#
#     {{ _("{n} of {total} agents", n=found.n, total=found.total) }}    {{ value | num(1) }}   {{ 0.25 | share }}
#     {{ agent.name | md }}   {{ of(3, 4) }}

_GAP = re.compile(r"\n{3,}")


def render(name: str, language: Language, /, **facts: Any) -> str:
    """The template filled in. Raises jinja2's errors: a fact that is not there is a bug."""
    filled = _environment(language).get_template(name).render(facts)
    return _GAP.sub("\n\n", filled) if "\n\n\n" in filled else filled  # a page is long, and sooner looked through


@cache
def _environment(language: Language) -> Environment:
    made = environment(language, optimized=False)  # folding constants takes longer than filling a template in once
    filled = {"language": language}
    made.globals |= {"of": partial(of, **filled), "missing": MISSING, "quote": partial(quote, **filled)}
    made.filters["md"] = escape
    made.filters["num"] = lambda value, digits=2: number(value, language, digits)
    made.filters["share"] = lambda value, digits=0: share(value, language, digits)
    return made


# --- What is read of a methodology's results: views of its declared tables, told in one language ----------------------


FEWEST_WORDS = 14
"""Of a name that is cut: a shorter one is told whole, since half a sentence says something else."""
YES_NO = {True: N_("yes"), False: N_("no")}


class PlaceholderText(str):
    """What fills a place in a sentence; of a number, with the noun in the form that it takes: "{n:theme|themes}"."""

    __slots__ = ()

    def __format__(self, forms: str) -> str:
        single, _, several = forms.partition("|")
        return f"{self} {single if self == '1' else several}" if several else str(self)


@dataclass(frozen=True)
class Names:
    """What the run calls what references stand for, by id: agents, groups in the language, wordings of items."""

    agents: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    methodologies: Mapping[str, str] = field(default_factory=dict)

    def of(self, to: str, value: str, language: Language) -> str:
        if to == "dimension":
            return dimension_name(value, language)
        if to == "group":
            return self.groups.get(value) or readable(value)
        known = {"agent": self.agents, "item": self.items, "methodology": self.methodologies}.get(to, {})
        return known.get(value) or value


@dataclass(frozen=True)
class Results:
    """A methodology's declared results with its analysis, in one language."""

    methodology: str
    presentation: Presentation
    analysis: Analysis
    names: Names
    language: Language

    # --- cells --------------------------------------------------------------------------------------------------------

    def cell(self, column: Column, row: Row) -> str:
        """A column of a row as it is read, plain text; a dash where it is missing."""
        if column.parts is not None:
            first, second = (row.get(part) for part in column.parts)
            if column.format == "of":
                return of(_whole(first), _whole(second), self.language)
            low, high = (None if missing(end) else self._figure(column, end, row) for end in (first, second))
            if column.format == "bounds":
                return self._bounds(low, high)
            return MISSING if low is None or high is None else f"[{low}; {high}]"
        value = row.get(column.name)
        if missing(value):
            return MISSING
        return self._figure(column, value, row) if column.format == "number" else self._told(column, value)

    def _figure(self, column: Column, value: Any, row: Row) -> str:
        """A number as its unit is told, which may be the row's own."""
        unit = row.get(column.unit) if column.unit else None
        if unit == "share":
            shown = round(100.0 * float(value), 1)
            return share(float(value), self.language, 0 if shown.is_integer() else 1)
        return number(float(value), self.language, 0 if unit == "count" else column.digits)

    def _bounds(self, low: str | None, high: str | None) -> str:
        """≥ low, ≤ high, low to high; a dash where nothing bounds."""
        if low is not None and high is not None:
            return tell(N_("{low} to {high}"), self.language).format(low=low, high=high)
        return MISSING if low is None and high is None else f"≥ {low}" if low is not None else f"≤ {high}"

    def markdown(self, column: Column, row: Row) -> str:
        """The same where Markdown is read: only words of others need to be escaped, figures do not."""
        told = self.cell(column, row)
        return told if column.format in FIGURES else escape(told)

    def _told(self, column: Column, value: Any) -> str:
        language = self.language
        match column.format:
            case "integer":
                return number(int(value), language)
            case "share":
                return share(float(value), language, column.digits)
            case "p":
                return p_value(float(value), language)
            case "flag":
                return tell(YES_NO[bool(value)], language)
            case "list":
                return "; ".join(self._named(column, each) for each in value) or MISSING  # names may have commas
            case "json":
                return json.dumps(value, ensure_ascii=False)
        return self._named(column, value)

    def _named(self, column: Column, value: Any) -> str:
        if column.levels is not None:
            says = column.levels.get(str(value), str(value))
            if "{" in says:  # a level's words may name facts
                return self.fill(says, self.facts, self.presentation.facts, markdown=False)
            return tell(says, self.language)
        if column.to in self.presentation.tables:
            return self.labels(column.to).get(value, str(value))
        return self.names.of(column.to, str(value), self.language) if column.to else str(value)

    def labels(self, table: str) -> Mapping[Any, str]:
        """Names of a table's rows by their key, in its order."""
        return self._labels[table]

    @cached_property
    def _labels(self) -> dict[str, dict[Any, str]]:
        """{} of a table without a label."""
        made: dict[str, dict[Any, str]] = {name: {} for name in self.presentation.tables}
        for name, table in self.presentation.tables.items():
            frame = self.analysis.tables[name]
            if table.label and len(table.key) == 1:
                made[name] = dict(zip(frame[table.key[0]], frame[table.label].astype(str), strict=True))
        return made

    def label(self, column: Column) -> str:
        """In the language; it may name facts."""
        return self.fill(column.label, self.facts, self.presentation.facts, markdown=False)

    def fill(self, says: str, row: Row, known: Mapping[str, Column], *, markdown: bool, room: int | None = None) -> str:
        """A marked sentence with its placeholders filled from a row and the facts, each as its declaration says; a noun
        after a count in the form that it takes, "{n:theme|themes}".

        room: words that the whole may have; names and texts are cut to what the others leave.
        """
        told = tell(says, self.language)
        names = [name for _, name, _, _ in Formatter().parse(told) if name]
        cells = {name: self._in_sentence(known[name], row) for name in names if name in known}
        cells |= {name: str(row[name]) for name in names if name not in known}

        def written(cells: Mapping[str, str]) -> str:
            return told.format(**{name: PlaceholderText(cell) for name, cell in cells.items()})

        long = [name for name in cells if name in known and known[name].format in ("reference", "text")]
        if room is not None and long and len(written(cells).split()) > room:
            left = room - len(written({**cells, **dict.fromkeys(long, "")}).split())
            long.sort(key=lambda name: len(cells[name].split()))  # what is short leaves its share
            for place, name in enumerate(long):
                cells[name] = shortened(cells[name], max(left // (len(long) - place), FEWEST_WORDS))
                left -= len(cells[name].split())
        if markdown:
            figures = {name for name in cells if name in known and known[name].format in FIGURES}
            cells = {name: value if name in figures else escape(value) for name, value in cells.items()}
        return written(cells)

    def _in_sentence(self, column: Column, row: Row) -> str:
        """A list as it is spoken: “a, b and c”; names with commas are set apart as in a cell."""
        if column.format == "list" and (values := row.get(column.name)):
            told = [self._named(column, each) for each in values]
            if not any("," in text for text in told):
                return enumeration(told, self.language)
        return self.cell(column, row)

    # --- rows ---------------------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dict(self.analysis.facts)

    def rows(self, table: Table, view: View, *, all_rows: bool = False) -> pd.DataFrame:
        """The rows of a view in its order; `top` of them unless all are wanted."""
        frame = chosen_rows(self.analysis.tables[table.name], view.where, self.facts)
        frame = self.ordered(table, frame, view.order)
        return frame if view.top is None or all_rows else frame.head(view.top)

    def ordered(self, table: Table, frame: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
        """Codes by the order of their levels, references by that of the table they refer to; missing last."""
        for name in reversed(order) if len(frame) > 1 else ():
            column = table.column(name.removeprefix("-"))
            frame = frame.sort_values(
                column.name,
                ascending=not name.startswith("-"),
                kind="stable",
                na_position="last",
                key=self._rank(column),
            )
        return frame

    def _rank(self, column: Column) -> Any:
        known: Iterable[Any] = column.levels if column.levels is not None else self._labels.get(column.to, ())
        places = {value: place for place, value in enumerate(known)}
        if column.format in ("code", "reference") and places:
            return lambda values: values.map(places)
        return None

    # --- Markdown -----------------------------------------------------------------------------------------------------

    def at(self, place: Place) -> str:
        """Section or appendix: the block of the template; else texts at the beginning, then table after table with
        what follows it."""
        if self.presentation.template:
            return Printer(self).render(place)
        blocks = [*self._texts(place, "")]
        for name, table in self.presentation.tables.items():
            shown = self._views(table, place)
            if shown and place == "appendix" and table.note:
                shown.append(self.fill(table.note, self.facts, self.presentation.facts, markdown=True))
            blocks += [*shown, *self._texts(place, name)]
        return "\n\n".join(blocks)

    def table(self, name: str, place: Place) -> str:
        """What is read of one table there."""
        return "\n\n".join(self._views(self.presentation.tables[name], place))

    def _views(self, table: Table, place: Place) -> list[str]:
        return [block for view in table.views if view.at == place and (block := self.view(table, view))]

    def _texts(self, place: Place, after: str) -> Iterator[str]:
        for each in self.presentation.texts:
            if each.at == place and each.after == after and self._holds(each):
                says = each.says if isinstance(each.says, str) else each.says.get(str(self.facts.get(each.word)), "")
                if says:
                    yield self.fill(says, self.facts, self.presentation.facts, markdown=True)

    def _holds(self, each: TextBlock) -> bool:
        """A comparison with a fact that is missing does not hold."""
        if not each.where:
            return True
        names = set(re.findall(r"\w+", each.where))
        read = {name: value for name, value in self.facts.items() if name in names}
        return not chosen_rows(pd.DataFrame([read]).fillna(float("nan")), each.where, self.facts).empty

    def view(self, table: Table, view: View) -> str:
        """One view: heading, rows, note. "" where no row is left and nothing is to be said of that."""
        every = self.rows(table, view, all_rows=True)
        frame = every if view.top is None else every.head(view.top)
        heading = tell(table.title if view.heading is None else view.heading, self.language)
        headings = {"appendix": f"### {heading}", "section": f"**{heading}**"}
        blocks = [headings[view.at]] if heading and view.at in headings else []
        if frame.empty:
            return "\n\n".join([*blocks, tell(view.empty, self.language)]) if view.empty else ""
        counts = {"shown": number(len(frame), self.language), "rows": number(len(every), self.language)}
        blocks += self._body(table, view, rows_of(frame))
        if view.note:
            blocks.append(self.fill(view.note, {**self.facts, **counts}, self.presentation.facts, markdown=True))
        elif len(every) > len(frame):
            blocks.append(tell(N_("{shown} of {rows} rows; all are in {file}."), self.language).format(
                **counts, file=table.file or f"exports/{self.methodology}/{table.name}.csv"))  # fmt: skip
        return "\n\n".join(blocks)

    def _body(self, table: Table, view: View, rows: Sequence[Row]) -> Iterator[str]:
        for heading, part in self._parts(table, view, rows):
            if heading:
                yield f"**{heading}**"
            if view.says or view.quote:
                yield "\n".join(self.told(table, view, part))
            elif view.spread:
                yield self._spread(table, view.spread, part)
            else:
                columns = [table.column(name) for name in view.columns] if view.columns else list(table.columns)
                columns = [column for column in columns if column.name not in view.by and self._has(column, part)]
                cells = [[self.markdown(column, row) for column in columns] for row in part]
                yield markdown_table(columns, [self._label(column.label) for column in columns], cells)

    def _has(self, column: Column, rows: Sequence[Row]) -> bool:
        """Whether any row has something there: a column without anything is not printed."""
        return any(row[name] is not None for name in column.parts or (column.name,) for row in rows)

    def _parts(self, table: Table, view: View, rows: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
        if not view.by:
            yield "", rows
            return
        for part in _together(rows, view.by):
            heading = " · ".join(escape(self.cell(table.column(name), part[0])) for name in view.by)
            yield heading, part[: view.most]

    def told(self, table: Table, view: View, rows: Sequence[Row]) -> Iterator[str]:
        """Rows as sentences or quotations, list entries of Markdown."""
        if not view.quote:
            yield from (f"- {sentence}" for sentence in self._sentences(table, view, rows, markdown=True))
            return
        for row in rows:
            who = ", ".join(escape(self.cell(table.column(name), row)) for name in view.who)
            words = row.get(view.quote)
            none = f"- {who}: *{tell(N_('no reason given'), self.language)}*"
            yield quote(words, who, self.language) if words else none

    def _sentences(self, table: Table, view: View, rows: Sequence[Row], *, markdown: bool) -> Iterator[str]:
        yield from (text for _, text in self._said(table, view, rows, markdown=markdown) if text)

    def _said(self, table: Table, view: View, rows: Sequence[Row], *, markdown: bool) -> Iterator[tuple[Row, str]]:
        """Rows, each with its sentence; "" where there is none for its word."""
        known = {**self.presentation.facts, **{column.name: column for column in table.columns}}
        for row in rows:
            says = view.says if isinstance(view.says, str) else view.says.get(str(row.get(view.word)), "")
            yield row, self.fill(says, {**self.facts, **row}, known, markdown=markdown) if says else ""

    def _label(self, label: str) -> str:
        """A label may name facts."""
        told = tell(label, self.language)
        return self.fill(label, self.facts, self.presentation.facts, markdown=False) if "{" in told else told

    def _spread(self, table: Table, spread: Spread, rows: Sequence[Row]) -> str:
        """Rows by `spread.rows`; of each value of the column the cells named."""
        across = table.column(spread.column)
        every = pd.DataFrame({across.name: pd.Series({row[across.name]: None for row in rows}.keys(), dtype=object)})
        values = self.ordered(table, every, (across.name,))[across.name].tolist()
        kept = values[: max(1, MOST_SPREAD // len(spread.cells))]
        fixed = [table.column(name) for name in spread.rows]
        cells = [table.column(name) for name in spread.cells]
        labels = [self._label(column.label) for column in fixed]
        for value in kept:
            named = self.cell(across, {across.name: value})
            labels += [f"{named}: {self._label(column.label)}" if len(cells) > 1 else named for column in cells]
        lines = []
        for part in _together(rows, spread.rows):
            by_value = {row[across.name]: row for row in part}
            told = [self.markdown(column, part[0]) for column in fixed]
            lines.append(told + [self.markdown(column, by_value.get(value, {})) for value in kept for column in cells])
        text = markdown_table([*fixed, *(cells * len(kept))], labels, lines)
        if not (n := len(values) - len(kept)):
            return text
        further = NN_("{n} further column is in the file.", "{n} further columns are in the file.")
        return f"{text}\n\n{plural(further, n, self.language)}"

    # --- other places -------------------------------------------------------------------------------------------------

    def digest(self) -> dict[str, JsonValue]:
        """What a program is told in a few kilobytes: facts, and the rows of the views declared for it, in words where
        ids and codes would say nothing. Numbers are as computed, to four significant digits."""
        tables: dict[str, JsonValue] = {}
        if self.presentation.digest is not None:
            for name, part in self.presentation.digest(self._tables).items():
                tables[name] = jsonable({"rows": len(part.rows), "shown": self._digested(name, part)})
        for table in self.presentation.tables.values():
            for view in table.views:
                if view.at == "digest":
                    every = self.rows(table, view, all_rows=True)
                    names = view.columns or tuple(column.name for column in table.stored)
                    columns = [table.column(name) for name in names]
                    rows = [
                        {column.name: self._value(column, row) for column in columns}
                        for row in rows_of(every.head(view.top or 20))
                    ]
                    tables[table.name] = jsonable({"rows": len(every), "shown": rows})
        facts = {name: _four_digits(jsonable(value)) for name, value in self.facts.items() if value is not None}
        return {"facts": facts, "tables": tables}

    def _digested(self, table: str, part: DigestRows) -> list[Row]:
        columns = [self.column(table, name) for name in part.columns.split()]
        columns = columns or list(self.presentation.tables[table].stored)
        rows = rows_of(part.rows.head(part.top))
        return [{column.name: self._value(column, row) for column in columns} for row in rows]

    def _value(self, column: Column, row: Row) -> Any:
        value = row.get(column.name)
        if column.parts is None and missing(value):
            return None
        words = column.parts is not None or column.format in ("code", "reference", "list")
        return self.cell(column, row) if words else _four_digits(value)

    def flags(self) -> Iterator[str]:
        """What a reader must know before using the data, plain text."""
        if self.presentation.warnings is not None:
            for remark in self.presentation.warnings(self._tables):
                yield self.tell_remark(remark)
        for each in self.presentation.texts:
            if each.at == "flag" and self._holds(each):
                yield self.fill(str(each.says), self.facts, self.presentation.facts, markdown=False)
        for table in self.presentation.tables.values():
            for view in table.views:
                if view.at == "flag":
                    yield from self._sentences(table, view, rows_of(self.rows(table, view)), markdown=False)

    def remembered(self) -> Iterator[tuple[str, str]]:
        """(id, sentence) of every row that is told to a memory."""
        if self.presentation.memories is not None:
            for remark in self.presentation.memories(self._tables):
                yield remark.id, self.tell_remark(remark)
        for table in self.presentation.tables.values():
            for view in table.views:
                if view.at == "memory":
                    for row, text in self._said(table, view, rows_of(self.rows(table, view)), markdown=False):
                        yield f"{table.name}/{'/'.join(str(row[name]) for name in table.key)}", text

    def tell_remark(self, remark: Remark) -> str:
        """Return the sentence, plain text."""
        row = {**self.facts, **remark.values}
        return self.fill(remark.text, row, self.columns_of(remark.table), markdown=False)

    @cached_property
    def _tables(self) -> ResultTables:
        return ResultTables(self.presentation, self.analysis)

    def columns_of(self, table: str) -> dict[str, Column]:
        """Return what is known of names in a sentence: the columns of the table, then the facts. "": facts alone."""
        declared = self.presentation.tables[table].columns if table else ()
        return {**self.presentation.facts, **{column.name: column for column in declared}}

    def column(self, table: str, name: str) -> Column:
        """Return a column of a table; a cell made of two columns need not be declared, the glossary has it."""
        declared = self.presentation.tables[table]
        if self.presentation.glossary is None or name in {column.name for column in declared.columns}:
            return declared.column(name)
        column = self.presentation.glossary.column(name, table)
        for part in column.parts or (name,):
            declared.column(part)  # raises KeyError where the table has no such column
        return column

    def labelled(self, table: Table, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of a table for a chart: references and codes as words in a column of that name, ids as `<name>_id`."""
        told: dict[str, Any] = {}
        for column in table.stored:
            if column.format in ("reference", "code"):
                ids = plain(rows[column.name])
                words = {value: None if value is None else self._named(column, value) for value in dict.fromkeys(ids)}
                told |= {f"{column.name}_id": rows[column.name], column.name: [words[value] for value in ids]}
        return rows.assign(**told)


def _together(rows: Iterable[Row], names: Sequence[str]) -> Iterable[list[Row]]:
    """Rows that are alike in these columns, in the order in which each kind first comes."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups.values()


def chosen_rows(frame: pd.DataFrame, where: str, facts: Mapping[str, Any]) -> pd.DataFrame:
    """Rows of which a declared query holds; a comparison with what is missing does not. A query over facts alone: all
    or none."""
    if not where or frame.empty:
        return frame
    read = set(re.findall(r"\w+", where))  # pandas would prepare every column of the table
    try:
        holds = frame[[name for name in frame if name in read]].eval(
            where.replace("\n", " "), local_dict=dict(facts), engine="python"
        )
    except TypeError:  # a fact that is missing cannot be compared
        if any(value is None for value in facts.values()):
            return frame.iloc[:0]
        raise
    if isinstance(holds, pd.Series):
        return chosen(frame, holds.to_numpy(dtype=bool, na_value=False))
    return frame if holds else frame.head(0)


def shortened(wording: str, most: int) -> str:
    """The first words of a statement, without the full stop that would end the sentence around it."""
    words = wording.strip().rstrip(".").split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]).rstrip(",;:–-") + " …"


def _four_digits(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _whole(value: Any) -> int:
    return 0 if missing(value) else int(value)
