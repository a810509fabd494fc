"""Two tables or two lists of scores brought together by label, each label once: what every paired figure starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


def known(values: ArrayLike) -> Floats:
    """The values that are there, NaN left out."""
    x = np.asarray(values, dtype=np.float64)
    return x[~np.isnan(x)]


def require_unique(frame: pd.DataFrame, name: str) -> None:
    """ValueError naming the first participant or item that occurs twice in `frame`."""
    require_single(frame.index, name)
    require_single(frame.columns, name, "item")


def require_single(labels: pd.Index, name: str, axis: str = "participant") -> None:
    if labels.has_duplicates:
        doubled = labels[labels.duplicated()][0]
        raise ValueError(f"{name}: {axis} {doubled!r} occurs more than once; one row or column each is needed")


def joined(
    first: pd.DataFrame, second: pd.DataFrame, names: tuple[str, str] = ("before", "after")
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables over all participants of either (sorted) and all items (those of `first` first), NaN where missing.

    Raises ValueError on a doubled participant or item, by the table's name.
    """
    for name, table in zip(names, (first, second), strict=True):
        require_unique(table, name)
    rows, items = first.index.union(second.index), list(dict.fromkeys([*first.columns, *second.columns]))
    one, other = (table.reindex(index=rows, columns=items).astype(float) for table in (first, second))
    return one, other


def joined_scores(first: pd.Series, second: pd.Series, names: tuple[str, str]) -> tuple[pd.Series, pd.Series]:
    """Both lists over all participants of either. Raises ValueError on a doubled participant, by the list's name."""
    for name, scores in zip(names, (first, second), strict=True):
        require_single(scores.index, name)
    if first.index.equals(second.index):
        return first, second
    rows = first.index.union(second.index)
    return first.reindex(rows), second.reindex(rows)


def paired_scores(first: pd.Series, second: pd.Series, names: tuple[str, str]) -> tuple[pd.Series, pd.Series, int]:
    """As `joined_scores`, of those who have both; and how many have not."""
    x, y = joined_scores(first, second, names)
    both = x.notna().to_numpy() & y.notna().to_numpy()
    return (x, y, 0) if both.all() else (x[both], y[both], int((~both).sum()))
