"""What a methodology tests (`Question`) and what it says (`Finding`).

A report has many tests and one correction for all of them. So a methodology first names its questions; their p enter
the correction, which writes `p_adjusted` into the tables. Then its functions read the tables and yield findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pandas as pd

from enquete.reports.declarations import ADJUSTED, Row, ScaleValue
from enquete.reports.result_tables import ResultTables, rows_of, significant

if TYPE_CHECKING:
    from enquete.reports.declarations import Kind


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that is tested once or on several rows of a table.

    Attributes:
        name: as a study names it among its primary questions.
        table: the table whose rows are tested; it has the column `p_adjusted`.
        p: the column with the p of each row's own test.
        within: whether these p are corrected over the rows already ("given": max-T) or not ("holm").
        after: a question of the same methodology that must be answered with yes before this one counts.
        rows: chooses the rows that are tested; all rows by default.
    """

    name: str
    table: str
    p: str = "p"
    within: Literal["holm", "given"] = "holm"
    after: str = ""
    rows: Callable[[ResultTables], pd.DataFrame] | None = None

    def asked_rows(self, tables: ResultTables) -> pd.DataFrame:
        """Return the rows that the question is asked of, whether they could be tested or not."""
        return tables[self.table] if self.rows is None else self.rows(tables)

    def tested_rows(self, tables: ResultTables) -> pd.DataFrame:
        """Return the rows that were tested."""
        return self.asked_rows(tables).dropna(subset=[self.p])

    def found_rows(self, tables: ResultTables) -> pd.DataFrame:
        """Return the rows on which the corrected test found something."""
        return significant(self.tested_rows(tables))

    def found_nothing(self, tables: ResultTables) -> bool:
        """Return whether rows were tested and nothing was found on any."""
        tested = self.tested_rows(tables)
        return not tested.empty and significant(tested).empty


@dataclass(frozen=True)
class Power:
    """The clause that says what the tests of a question would have found, told when the language is known."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence about the results, with the numbers that it rests on.

    Attributes:
        id: the same in two runs that find the same: "camps.theme_3/importance".
        text: an English message, marked with N_, with a {placeholder} for each value that it names.
        values: by column name; written as `columns.yaml` says. Facts need not be repeated here.
        table: the table whose columns the values are; "" for facts.
        kind: a tested "difference", a "position" that is estimated, or a "null": tested, and nothing found.
        question: the name of the question that was tested; "" for a position.
        test: how it was tested.
        estimate, low, high: names of the values that are the estimate and the ends of its interval.
        n, n_total: names of the values that say on how many agents, of how many, it rests.
        size: how large, as a share of what is possible, 0 to 1; findings are ranked by it.
        items: ids of the items whose answers it rests on.
        chart: name of the chart that shows it.
        scale: both ends of the scale that the estimate is on, for its small picture; shares need none.
        points: what that picture shows in place of the estimate and its interval.
        simultaneous: whether the interval holds for all rows of the table at once.
    """

    id: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    table: str = ""
    kind: Kind = "position"
    question: str = ""
    test: str = ""
    estimate: str = ""
    low: str = ""
    high: str = ""
    n: str = "n"
    n_total: str = "n_total"
    size: float = 0.0
    items: Sequence[str] = ()
    chart: str = ""
    scale: tuple[float, float] | None = None
    points: Sequence[ScaleValue] = ()
    simultaneous: bool = False

    def require_values(self, row: Mapping[str, Any], text: str) -> None:
        """Raise ValueError where the sentence names something that has no value.

        Args:
            row: the values with the facts.
            text: the sentence in the language it is told in.
        """
        named = [name for _, name, _, _ in Formatter().parse(text) if name]
        missing = [name for name in named if row.get(name) is None]
        if missing:
            raise ValueError(f"finding {self.id!r} names {', '.join(missing)}, which has no value")


@dataclass(frozen=True)
class Remark:
    """A sentence that is no finding: a warning, or what a memory is told. `values` as in `Finding`."""

    id: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    table: str = ""


Finder: TypeAlias = Callable[[ResultTables], Iterator[Finding]]
Remarks: TypeAlias = Callable[[ResultTables], Iterator[Remark]]


def null_finding(question: Question, tables: ResultTables, text: str, **about: Any) -> Finding:
    """Return the finding that says that nothing was found, over the row with the smallest p.

    The text may name the columns of that row, the facts, `tests` (how many rows were tested), `n` (the fewest agents
    of a tested row) and `power` (what would have been found, from the columns `detectable`).

    Args:
        question: a tested question that found nothing.
        tables: the tables with `p_adjusted`.
        text: marked with N_.
        about: further fields of the finding.
    """
    tested = rows_of(question.tested_rows(tables))
    row = min(tested, key=lambda each: each[question.p])
    values = {**row, "tests": len(tested), "power": Power(tuple(tested))}
    if "n" in row:
        values["n"] = min(each["n"] for each in tested)
    if row.get("item"):
        about.setdefault("items", [row["item"]])
    if row.get("test"):
        about.setdefault("test", row["test"])
    return Finding(
        id=question.name, text=text, values=values, table=question.table, kind="null", question=question.name, **about
    )


@dataclass(frozen=True, kw_only=True)
class DigestRows:
    """Rows of a table that a program is told in a digest, and how many of them at most."""

    rows: pd.DataFrame
    columns: str = ""
    top: int = 20


Digest: TypeAlias = Callable[[ResultTables], Mapping[str, DigestRows]]

__all__ = [
    "ADJUSTED", "Digest", "DigestRows", "Finder", "Finding", "Power", "Question", "Remark", "Remarks", "null_finding",
]  # fmt: skip
