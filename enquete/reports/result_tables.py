"""The result tables of one methodology, as findings, charts and templates read them: pandas frames and single facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from enquete.reports.context import chosen, plain
from enquete.reports.declarations import ADJUSTED, Analysis, Column, Presentation, Row, Table

LEVEL = 0.05
"""Below which an adjusted p says that there is a difference."""


class ResultTables(Mapping[str, pd.DataFrame]):
    """Frames by table name, in the order in which they are declared, and `facts` by name."""

    def __init__(self, presentation: Presentation, analysis: Analysis) -> None:
        self.declared = presentation.tables
        self._frames = analysis.tables
        self.facts: dict[str, Any] = dict(analysis.facts)

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def select(self, table: str, **values: Any) -> pd.DataFrame:
        """Return the rows of a table that have these values; a list stands for any of its members.

        No row has a value that is None: a fact that is missing equals nothing.

        Raises:
            ValueError: the table has no such column, or the column of codes no such level.
        """
        frame, declared = self[table], self.declared[table]
        keep = np.ones(len(frame), dtype=bool)
        for name, value in values.items():
            wanted = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
            _check_levels(declared, name, wanted)
            keep &= frame[name].isin([each for each in wanted if each is not None]).to_numpy(dtype=bool, na_value=False)
        return chosen(frame, keep)


def _check_levels(table: Table, name: str, wanted: list[Any]) -> None:
    known = {column.name: column for column in table.stored}
    if name not in known:
        raise ValueError(f"table {table.name!r} has no column {name!r}; it has {', '.join(known)}")
    levels = known[name].levels
    unknown = [] if levels is None else [each for each in wanted if each is not None and each not in levels]
    if unknown:
        raise ValueError(f"{table.name}.{name} has no level {unknown[0]!r}; there are {', '.join(levels or ())}")


def rows_of(frame: pd.DataFrame, names: Collection[str] | None = None) -> list[Row]:
    """Return the rows as dictionaries with Python's own values, None where one is missing.

    Args:
        frame: the rows.
        names: the columns that are wanted; all of them by default.
    """
    columns = {str(name): plain(column) for name, column in frame.items() if names is None or name in names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def significant(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose adjusted p is below the level."""
    return frame[frame[ADJUSTED] < LEVEL]


def sort_rows(table: Table, frame: pd.DataFrame, by: str, ranks: Mapping[str, Mapping[Any, int]]) -> pd.DataFrame:
    """Return the rows in the order of these columns, "dimension -mean"; missing values last.

    Codes are sorted by the order of their levels, references by the order of the rows that they name.

    Args:
        table: the declared table that the rows are from.
        frame: its rows.
        by: columns in one text, "-" before one that falls.
        ranks: by table, the place of each id in it.
    """
    for name in reversed(by.split()) if len(frame) > 1 else ():
        column = table.column(name.removeprefix("-"))
        places = _places(column, ranks)
        frame = frame.sort_values(
            column.name, ascending=not name.startswith("-"), kind="stable", na_position="last",
            key=(lambda values, places=places: values.map(places)) if places else None,
        )  # fmt: skip
    return frame


def _places(column: Column, ranks: Mapping[str, Mapping[Any, int]]) -> Mapping[Any, int]:
    if column.format == "code" and column.levels:
        return {code: place for place, code in enumerate(column.levels)}
    if column.format == "reference":
        return ranks.get(column.to, {})
    return {}
