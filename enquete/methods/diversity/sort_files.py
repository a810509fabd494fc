"""The sorts for other Q software: a plain table of statements × sorts, and PQMethod's .dat."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import pandas as pd

from enquete.analysis.qmethod import legal, places
from enquete.reports.context import wide

MAX_SORTS = 999
"""PQMethod keeps their number in three characters."""
TITLE_LENGTH = 60


def complete_sorts(frame: pd.DataFrame, grid: Mapping[int, int], statements: list[str]) -> pd.DataFrame:
    """Return participants × statements: the complete sorts that fit the grid among rows of one arm, in their order."""
    sort = wide(frame, statements)
    return sort[legal(sort.to_numpy(), grid)].astype(int)


def sorts_csv(sort: pd.DataFrame) -> str:
    """Return statements in lines and sorts in columns, named by participant: what KADE and R's qmethod read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["statement", *sort.index])
    for item, column in zip(sort.columns, sort.T.to_numpy().tolist(), strict=True):
        writer.writerow([item, *column])
    return text.getvalue()


def pqmethod_dat(sort: pd.DataFrame, grid: Mapping[int, int], title: str) -> str | None:
    """Return PQMethod's fixed columns, or None for more than 999 sorts.

    First line: three characters each for 0, the number of sorts, the number of statements, and a title. Second: lowest
    and highest column and how many statements each column takes. Then a line a sort: ten characters of name (its
    number, in the order of `sorts_csv`), two characters a statement. A column that no statement may take counts 0.
    """
    if len(sort) > MAX_SORTS:
        return None
    low, high = int(places(grid)[0]), int(places(grid)[-1])
    counts = [grid.get(column, 0) for column in range(low, high + 1)]
    plain_title = " ".join(title.encode("ascii", "replace").decode("ascii").split())[:TITLE_LENGTH]

    lines = [
        f"{0:3d}{len(sort):3d}{sort.shape[1]:3d} {plain_title}",
        "".join(f"{n:3d}" for n in (low, high, *counts)),
    ]
    for number, row in enumerate(sort.to_numpy().tolist(), start=1):
        lines.append(f"{f'sort{number:03d}':<10}" + "".join(f"{place:2d}" for place in row))
    return "\n".join(lines) + "\n"
