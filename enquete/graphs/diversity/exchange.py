"""The sorts for other Q software: PQMethod's .dat and a plain table of statements × sorts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import pandas as pd

from enquete.analysis.qmethod.sorts import legal, places
from enquete.reports.context import wide

MOST_SORTS = 999  # PQMethod keeps their number in three characters
TITLE = 60


def complete_sorts(frame: pd.DataFrame, grid: Mapping[int, int], statements: list[str]) -> pd.DataFrame:
    """Participants × statements: the complete legal sorts among rows of one arm, in their order."""
    sort = wide(frame, statements)
    return sort[legal(sort.to_numpy(), grid)].astype(int)


def sorts_csv(sort: pd.DataFrame) -> str:
    """Statements in lines, sorts in columns, named by participant: what KADE and R's qmethod read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["statement", *sort.index])
    writer.writerows([item, *column] for item, column in zip(sort.columns, sort.T.to_numpy().tolist(), strict=True))
    return text.getvalue()


def pqmethod_dat(sort: pd.DataFrame, grid: Mapping[int, int], title: str) -> str | None:
    """PQMethod's fixed columns, or None for more than 999 sorts.

    First line: three characters each for 0, the number of sorts, the number of statements, and a title. Second: lowest and
    highest column and how many statements each column takes. Then a line a sort: ten characters of name (its number, in
    the order of `sorts_csv`), two characters a statement. A column that no statement may take counts 0.
    """
    if len(sort) > MOST_SORTS:
        return None
    low, high = int(places(grid)[0]), int(places(grid)[-1])
    counts = [grid.get(column, 0) for column in range(low, high + 1)]
    plain = " ".join(title.encode("ascii", "replace").decode("ascii").split())[:TITLE]
    lines = [f"{0:3d}{len(sort):3d}{sort.shape[1]:3d} {plain}", "".join(f"{n:3d}" for n in (low, high, *counts))]
    rows = sort.to_numpy().tolist()
    lines += [f"{f'sort{i:03d}':<10}" + "".join(f"{place:2d}" for place in row) for i, row in enumerate(rows, 1)]
    return "\n".join(lines) + "\n"
