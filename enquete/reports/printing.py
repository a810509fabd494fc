"""How a methodology's template prints its frames: tables, quotations and sentences in one language.

A template `report.md.j2` has the blocks `section` and `appendix`. Within them:

    tables.ratings              a frame; facts.last_round: a single fact
    select("ratings", round=3)  rows that have these values; a level that does not exist is an error
    _("… {n} …", **facts)       an English text for the catalogue, its values written as columns.yaml says
    table("ratings", rows, columns="theme n_of_n_total median", sort="-mean")
    titled("ratings", …)        the same below the table's title, with its note
    spread, quotes, sentences   see `Printer`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd
from jinja2 import Environment

from enquete.locale import N_, NN_, plural, tell
from enquete.locale.templating import environment
from enquete.reports.declarations import Column, Row
from enquete.reports.markdown import escape, number, quote
from enquete.reports.result_tables import ResultTables, rows_of, significant, sort_rows
from enquete.state.asking import Language

if TYPE_CHECKING:
    from enquete.reports.views import Results

FIGURES = ("integer", "number", "share", "of", "interval", "bounds", "flag")
RIGHT = ("integer", "number", "share", "p", "of", "interval", "bounds")
"""Formats that stand on the right of a cell."""
MAX_SPREAD_COLUMNS = 8
"""Columns into which `spread` parts a table in a report; files have all."""

_GAP = re.compile(r"\n{3,}")


@cache
def _environment(language: Language) -> Environment:
    return environment(language, optimized=False)  # folding constants takes longer than filling a template in once


def markdown_table(columns: Sequence[Column], labels: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown; rows: cells as they stand in it."""
    line = "|".join("---:" if column.format in RIGHT else "---" for column in columns)
    head = " | ".join(map(escape, labels))
    return "\n".join([f"| {head} |", f"|{line}|", *(f"| {' | '.join(row)} |" for row in rows)])


class Printer:
    """Prints the results of one methodology in one language."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.language = results.language
        self.tables = ResultTables(results.presentation, results.analysis)

    def render(self, block: str) -> str:
        """Return one block of the methodology's template. Raises jinja2's errors: a name that is not there is a bug."""
        template = _environment(self.language).get_template(self.results.presentation.template)
        context = template.new_context(self._names())
        text = "".join(template.blocks[block](context))
        return _GAP.sub("\n\n", text).strip()

    def _names(self) -> dict[str, Any]:
        """Return what a template may name."""
        printing: dict[str, Callable[..., Any]] = {
            "_": self.say, "table": self.table, "titled": self.titled, "spread": self.spread, "quotes": self.quotes,
            "sentences": self.sentences, "group_differences": self.group_differences,
            "groups_compared": self.groups_compared, "choice_differences": self.choice_differences,
            "choices_compared": self.choices_compared,
        }  # fmt: skip
        return {
            **printing, "tables": self.tables, "facts": self.tables.facts, "select": self.tables.select,
            "significant": significant, "warnings": self.warnings,
        }  # fmt: skip

    # --- text ---------------------------------------------------------------------------------------------------------

    def say(self, text: str, /, **values: Any) -> str:
        """Return a text in the language, with its placeholders filled. Values are written as facts of their name."""
        return self.results.fill(text, values, self.results.presentation.facts, markdown=True)

    def title(self, name: str) -> str:
        """Return the title of a table."""
        return tell(self.results.presentation.tables[name].title, self.language)

    def note(self, name: str) -> str:
        """Return what a reader of a table must know."""
        says = self.results.presentation.tables[name].note
        return self.say(says, **self.tables.facts) if says else ""

    # --- tables -------------------------------------------------------------------------------------------------------

    def table(
        self, name: str, rows: pd.DataFrame | None = None, *, columns: str = "", sort: str = "",
        top: int | None = None, by: str = "",
    ) -> str:  # fmt: skip
        """Return rows as a table of Markdown; "" where there are none.

        Args:
            name: the table that the rows are from.
            rows: all rows of it by default.
            columns: the columns that are printed, in one text; all by default. One in which no row has anything is
                left out.
            sort: columns in one text, "-" before one that falls.
            top: rows at most; how many there are is said below.
            by: columns whose values are headings, each over its rows.
        """
        frame = self._sorted(name, rows, sort)
        shown = frame if top is None else frame.head(top)
        if shown.empty:
            return ""
        blocks = []
        for heading, part in self._parts(name, rows_of(shown), by):
            printed = [column for column in self._columns(name, columns) if column.name not in by.split()]
            printed = [column for column in printed if _has_value(column, part)]
            cells = [[self.results.markdown(column, row) for column in printed] for row in part]
            blocks += [heading, markdown_table(printed, self._labels(printed), cells)]
        if len(frame) > len(shown):
            blocks.append(self._say_rows_left_out(name, len(shown), len(frame)))
        return _join(blocks)

    def titled(
        self, name: str, rows: pd.DataFrame | None = None, *, title: str = "", body: str | None = None,
        note: bool = True, empty: str = "", bold: bool = False, **how: Any,
    ) -> str:  # fmt: skip
        """Return a table below its title and above its note; "" where it has no rows and nothing is to be said of that.

        Args:
            name, rows, how: as for `table`.
            title: instead of the table's own.
            body: what stands in place of the table, made by `spread` or `quotes`.
            note: whether the table's note follows.
            empty: what is said where there are no rows.
            bold: whether the title is a bold line, as in a section, instead of a heading.
        """
        text = self.table(name, rows, **how) if body is None else body
        text = text or empty
        if not text:
            return ""
        title = title or self.title(name)
        return _join([f"**{title}**" if bold else f"### {title}", text, self.note(name) if note else ""])

    def spread(
        self, name: str, rows: pd.DataFrame | None = None, *, across: str, line: str, cells: str, sort: str = "",
    ) -> str:  # fmt: skip
        """Return a table in which the values of one column have become columns.

        Args:
            name, rows, sort: as for `table`.
            across: the column whose values stand side by side.
            line: columns that tell the lines apart, in one text.
            cells: what is printed for each value of `across`, in one text.
        """
        frame = self._sorted(name, rows, sort)
        if frame.empty:
            return ""
        across_column, lines, printed = self.results.column(name, across), line.split(), self._columns(name, cells)
        values = self._sorted(name, frame.drop_duplicates(across), across)[across].tolist()
        kept = values[: max(1, MAX_SPREAD_COLUMNS // len(printed))]

        labels = self._labels(self._columns(name, line))
        for value in kept:
            value_name = self.results.cell(across_column, {across: value})
            for label in self._labels(printed):
                labels.append(f"{value_name}: {label}" if len(printed) > 1 else value_name)

        body = []
        for _, part in frame.groupby(lines, sort=False, dropna=False):
            by_value = {row[across]: row for row in rows_of(part)}
            first = next(iter(by_value.values()))
            told = [self.results.markdown(column, first) for column in self._columns(name, line)]
            for value in kept:
                told += [self.results.markdown(column, by_value.get(value, {})) for column in printed]
            body.append(told)

        text = markdown_table([*self._columns(name, line), *(printed * len(kept))], labels, body)
        left_out = len(values) - len(kept)
        if not left_out:
            return text
        further = NN_("{n} further column is in the file.", "{n} further columns are in the file.")
        return f"{text}\n\n{plural(further, left_out, self.language)}"

    # --- rows as words ------------------------------------------------------------------------------------------------

    def quotes(
        self, name: str, rows: pd.DataFrame | None = None, *, words: str, who: str, by: str = "", sort: str = ""
    ) -> str:
        """Return rows as quotations, each below the headings of its `by` columns.

        Args:
            name, rows, by, sort: as for `table`.
            words: the column with an agent's own words.
            who: columns that say who speaks, in one text.
        """
        blocks = []
        for heading, part in self._parts(name, rows_of(self._sorted(name, rows, sort)), by):
            speakers = [", ".join(self._cells(name, who, row)) for row in part]
            told = [self._quotation(row[words], speaker) for row, speaker in zip(part, speakers, strict=True)]
            blocks += [heading, "\n".join(told)]
        return _join(blocks)

    def _quotation(self, words: str | None, speaker: str) -> str:
        if words:
            return quote(words, speaker, self.language)
        return f"- {speaker}: *{tell(N_('no reason given'), self.language)}*"

    def sentences(self, name: str, rows: pd.DataFrame | None = None, *, text: str, sort: str = "") -> str:
        """Return rows as a list of sentences. text: marked in the template; it may name columns and facts."""
        known = self.results.columns_of(name)
        filled = [
            self.results.fill(text, {**self.tables.facts, **row}, known, markdown=True)
            for row in rows_of(self._sorted(name, rows, sort))
        ]
        return "\n".join(f"- {sentence}" for sentence in filled)

    def warnings(self, name: str) -> str:
        """Return what the methodology warns of over rows of one table, as a list of sentences."""
        warn = self.results.presentation.warnings
        remarks = [] if warn is None else [remark for remark in warn(self.tables) if remark.table == name]
        known = self.results.columns_of(name)
        filled = [
            self.results.fill(remark.text, {**self.tables.facts, **remark.values}, known, markdown=True)
            for remark in remarks
        ]
        return "\n".join(f"- {sentence}" for sentence in filled)

    # --- what every methodology prints alike --------------------------------------------------------------------------

    def group_differences(self, *, by: str, about: str = "", scales: bool = False) -> str:
        """Return what the groups differ on, for a section: below the title of the table.

        Args:
            by: columns that say what is compared, in one text.
            about: as in `declare_group_tables`.
            scales: whether the scale of each row is printed.
        """
        name = f"{about}_group_tests" if about else "group_tests"
        scale = "scale_min_to_scale_max" if scales else ""
        columns = f"{by} highest mean_highest lowest mean_lowest {scale} effect p_adjusted"
        rows = significant(self.tables[name])
        return self.titled(name, rows, columns=columns, sort="-effect", top=3, note=False, bold=True)

    def groups_compared(self, *, by: str, about: str = "") -> str:
        """Return the tests of group differences, for an appendix."""
        name = f"{about}_group_tests" if about else "group_tests"
        tests = self.tables[name]
        columns = f"{by} highest mean_highest lowest mean_lowest effect p_adjusted detectable"
        return self.titled(name, tests[tests["n_groups"] > 1], columns=columns, sort="p", top=10)

    def choice_differences(self, *, by: str) -> str:
        """Return the questions on which the groups choose differently, for a section."""
        columns = f"{by} option highest share_highest lowest share_lowest effect p_adjusted"
        rows = significant(self.tables["choice_group_tests"])
        return self.titled("choice_group_tests", rows, columns=columns, sort="-effect", top=3, note=False, bold=True)

    def choices_compared(self, *, by: str) -> str:
        """Return the tests of which options groups chose, for an appendix."""
        tests = self.tables["choice_group_tests"]
        columns = f"{by} option highest share_highest lowest share_lowest effect p_adjusted detectable_v"
        return self.titled("choice_group_tests", tests[tests["n_groups"] > 1], columns=columns, sort="p", top=10)

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _columns(self, name: str, columns: str) -> list[Column]:
        if not columns:
            return list(self.results.presentation.tables[name].columns)
        return [self.results.column(name, each) for each in columns.split()]

    def _labels(self, columns: Sequence[Column]) -> list[str]:
        return [self.results.label(column) for column in columns]

    def _cells(self, name: str, columns: str, row: Row) -> list[str]:
        return [escape(self.results.cell(column, row)) for column in self._columns(name, columns)]

    def _sorted(self, name: str, rows: pd.DataFrame | None, by: str) -> pd.DataFrame:
        frame = self.tables[name] if rows is None else rows
        ranks: Mapping[str, Mapping[Any, int]] = {}
        if by:
            names = self.results.presentation.tables
            ranks = {to: {key: place for place, key in enumerate(self.results.labels(to))} for to in names}
        return sort_rows(self.results.presentation.tables[name], frame, by, ranks)

    def _parts(self, name: str, rows: Sequence[Row], by: str) -> Iterator[tuple[str, list[Row]]]:
        """Yield rows that are alike in the `by` columns, each part with its heading; without any, all rows."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(row[each] for each in by.split()), []).append(row)
        for part in groups.values():
            heading = " · ".join(self._cells(name, by, part[0])) if by else ""
            yield f"**{heading}**" if heading else "", part

    def _say_rows_left_out(self, name: str, shown: int, rows: int) -> str:
        table = self.results.presentation.tables[name]
        file = table.file or f"exports/{self.results.methodology}/{name}.csv"
        return tell(N_("{shown} of {rows} rows; all are in {file}."), self.language).format(
            shown=number(shown, self.language), rows=number(rows, self.language), file=file
        )


def _has_value(column: Column, rows: Sequence[Row]) -> bool:
    """Return whether any row has something in this column."""
    return any(row.get(name) is not None for row in rows for name in column.parts or (column.name,))


def _join(blocks: Iterable[str]) -> str:
    return "\n\n".join(block for block in blocks if block)
