"""What a personas file says of its people, as columns with a type each: numbers or text.

Decided here once for a column as a whole; agents.csv, the wide files, every format, the codebook, groups and Python's
frames read the columns that `type_columns` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd

_NUMBER = {mark: re.compile(rf"[+-]?\d+(?:\{mark}\d+)?") for mark in (".", ",")}
_GROUP_LIKE = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
"""May be thousands as well: 2.000."""
_LEADING_ZERO = re.compile(r"[+-]?0\d")
"""Postal codes and identifiers: a number would lose it."""
LARGEST_EXACT = 2**53

ColumnType = Literal["integer", "number", "string"]


def type_columns(columns: pd.DataFrame) -> pd.DataFrame:
    """Return the columns with their types: Int64, Float64 or str; what is empty is missing.

    Args:
        columns: index participant, as texts.
    """
    typed = {name: type_column(columns[name]) for name in columns}
    return pd.DataFrame(typed, index=columns.index, columns=columns.columns)


def type_column(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return one column with its type. It is one of numbers where every value is, with one decimal mark for all."""
    texts = [str(value).strip() if isinstance(value, str) else "" for value in values]
    mark = decimal_mark(text for text in dict.fromkeys(texts) if text)
    if mark is None:
        present = [text or None for text in texts]
        return pd.Series(present, index=values.index, name=values.name, dtype="str")
    numbers = [float(text.replace(mark, ".")) if text else None for text in texts]
    exact = pd.Series(numbers, index=values.index, name=values.name, dtype="Float64")
    is_whole = all(mark not in text for text in texts)
    return exact.astype("Int64") if is_whole else exact


def decimal_mark(texts: Iterable[str]) -> str | None:
    """Return the mark that decimals of a column follow, None for a column of text.

    Where every value with a mark may be one of thousands as well ("2.000"), nothing tells which: it is text.
    """
    texts = list(texts)
    if not texts or any(map(_LEADING_ZERO.match, texts)):
        return None
    for mark, pattern in _NUMBER.items():
        if all(map(pattern.fullmatch, texts)):
            marked = [text for text in texts if mark in text]
            is_unclear = bool(marked) and all(map(_GROUP_LIKE.fullmatch, marked))
            is_exact = all(abs(float(text.replace(mark, "."))) <= LARGEST_EXACT for text in texts)
            return mark if is_exact and not is_unclear else None
    return None
