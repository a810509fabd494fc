"""What a personas file says of its people, as columns with a type each: numbers or text.

Decided here once for a column as a whole; agents.csv, the wide files, every format, the codebook, groups and Python's
frames read the columns that `type_columns` returns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from enquete.simulations.people_columns import Column, MissingCodes, read_column
from enquete.state.errors import SettingsError

_LEADING_ZERO = re.compile(r"[+-]?0\d")
"""Postal codes and identifiers: a number would lose it."""
_LETTER = re.compile(r"[^\W\d_]")
LARGEST_EXACT = 2**53
NO_CODES = MissingCodes({})


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
    column = _column_of_numbers(str(values.name), [text for text in dict.fromkeys(texts) if text])
    if column is None:
        present = [text or None for text in texts]
        return pd.Series(present, index=values.index, name=values.name, dtype="str")
    numbers = [column.number(text) if text else None for text in texts]
    exact = pd.Series(numbers, index=values.index, name=values.name, dtype="Float64")
    is_whole = all(column.mark not in text for text in texts)
    return exact.astype("Int64") if is_whole else exact


def _column_of_numbers(name: str, texts: Sequence[str]) -> Column | None:
    """Read a column as `--where` does; None for one of text.

    Text is also what a number would change: postal codes and identifiers (01067, 12e4, more digits than a double has),
    and a column in which every mark may be one of thousands as well ("2.000").
    """
    if not texts or any(_LEADING_ZERO.match(text) or _LETTER.search(text) for text in texts):
        return None
    try:
        column = read_column(name, (("", text) for text in texts), NO_CODES)
    except SettingsError:
        return None  # it has two meanings
    if not column.is_numeric:
        return None
    numbers = [column.number(text) for text in texts]
    is_exact = all(number is not None and abs(number) <= LARGEST_EXACT for number in numbers)
    return column if is_exact else None
