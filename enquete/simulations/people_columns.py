"""Columns of a people file as numbers or as text, each column as a whole.

A column is one of numbers when every value in it is a number with the same decimal mark; otherwise it is text. Values
that the user declared as missing codes say nothing. `--where` compares by what is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from enquete.instruments.text import fold
from enquete.state.errors import SettingsError
from enquete.state.numbers import MARKS, DecimalMark, read_number


@dataclass(frozen=True)
class MissingCodes:
    """Values that say "not known", by column; under "" those of every column."""

    by_column: dict[str, frozenset[str]]

    def includes(self, column: str, text: str) -> bool:
        said = fold(text)
        return said in self.by_column.get("", ()) or said in self.by_column.get(column, ())

    def require_known(self, columns: Iterable[str]) -> None:
        """Raise SettingsError for a column that nobody has."""
        known = sorted(columns)
        for name in self.by_column:
            if name and name not in known:
                raise SettingsError(f"missing_codes: {name!r} is no column here; there are {', '.join(known)}")


def read_missing_codes(codes: Sequence[str]) -> MissingCodes:
    """Read codes as they are declared: "-99" for every column, "income=-99" for one."""
    by_column: dict[str, set[str]] = {}
    for code in codes:
        column, equals, value = code.rpartition("=")
        if equals and not (column.strip() and value.strip()):
            raise SettingsError(f"missing_codes: {code!r} names no code; write -99 or income=-99")
        by_column.setdefault(column.strip().casefold(), set()).add(fold(value))
    return MissingCodes({column: frozenset(values) for column, values in by_column.items()})


@dataclass(frozen=True)
class Column:
    """A column of numbers with one decimal mark; a column of text where `why_text` says what is no number in it."""

    name: str
    mark: DecimalMark = "."
    why_text: str = ""

    @property
    def is_numeric(self) -> bool:
        return not self.why_text

    def number(self, text: str) -> float | None:
        """The number that a value of this column is; None for one that is empty or a missing code."""
        return read_number(text).get(self.mark) if self.is_numeric else None


def read_column(
    name: str, values: Iterable[tuple[str, str]], missing: MissingCodes, mark: DecimalMark | None = None
) -> Column:
    """Decide whether a column holds numbers, and which mark its decimals follow.

    Args:
        name: the column's name, for messages.
        values: (whose, value) of everybody; empty ones and missing codes are passed over.
        missing: the codes that were declared.
        mark: the decimal mark where it was declared.

    Returns:
        The column; text where a value is no number, or where two values have different decimal marks.

    Raises:
        SettingsError: a value has two meanings ("2.000") and nothing in the column tells which.
    """
    possible: tuple[DecimalMark, ...] = (mark,) if mark else MARKS
    evidence = ""
    unclear: tuple[str, str] | None = None
    for who, text in values:
        if not text.strip() or missing.includes(name, text):
            continue
        readings = read_number(text)
        if not readings:
            return Column(name, why_text=f"{text!r} ({who}) is no number")
        left = tuple(candidate for candidate in possible if candidate in readings)
        if not left:
            other = evidence or f"the decimal mark {possible[0]!r}"
            return Column(name, why_text=f"{text!r} ({who}) does not go with {other}")
        if left != possible:
            possible, evidence = left, f"{text!r} ({who})"
        if len(set(readings.values())) > 1:
            unclear = unclear or (text, who)
    if unclear and len(possible) > 1:
        text, who = unclear
        meanings = " or ".join(f"{value:.15g}" for value in read_number(text).values())
        raise SettingsError(
            f"column {name!r}: {text!r} ({who}) may be {meanings}, and no other value of the column tells which; "
            "write it without a mark between thousands, or declare the mark before decimals: --decimal-mark , or ."
        )
    return Column(name, possible[0])
