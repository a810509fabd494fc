"""Numbers as people and models write them: 1500, "1,500", "1.500,00", "12,5", "1 500".

Whoever reads a reply, a form or a column of a file asks here what a text can mean. A text with two meanings, such as
"1.500", is never decided here: the reader asks again, or looks at the other values of a column.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Literal

DecimalMark = Literal[".", ","]
MARKS: tuple[DecimalMark, ...] = (".", ",")

_NUMBER = re.compile(r"(?P<sign>[+-]?)(?P<digits>\d[\d.,]*|[.,]\d+)")
_SPACED = re.compile(r"[+-]?\d{1,3}(?P<separator>[ '_])\d{3}(?:(?P=separator)\d{3})*(?:[.,]\d+)?")
_GROUPED = {mark: re.compile(rf"\d{{1,3}}(?:\{mark}\d{{3}})+") for mark in (".", ",")}
_EXPONENT = re.compile(r"[+-]?\d+(?:\.\d+)?e[+-]?\d{1,3}", re.IGNORECASE)
_SIGNS = str.maketrans({"−": "-", "–": "-", "’": "'", "‘": "'", "´": "'", "`": "'"})
LONGEST = 300
"""Characters of a number; more digits are no double either."""


class WrittenFloat(float):
    """A number of a JSON text that keeps how it was written there."""

    written: str

    def __new__(cls, written: str) -> WrittenFloat:
        number = super().__new__(cls, written)
        number.written = written
        return number


def read_written_float(written: str) -> float:
    """Return a JSON number as a float; one such as 1.500, which may stand for 1500, remembers how it was written."""
    return WrittenFloat(written) if has_two_meanings(written) else float(written)


def has_two_meanings(text: str) -> bool:
    """Return whether a text may be a number with decimals or one with groups of thousands: "1.500", "1,500"."""
    return len(set(read_number(text).values())) > 1


def read_number(text: str) -> dict[DecimalMark, float]:
    """Return what a text is as a number, by the mark that decimals follow.

    Groups of thousands may be separated by a comma, a point, a blank, an apostrophe or an underscore. Words, units and
    per cent signs are no part of a number.

    Returns:
        Both marks where the text has neither, as 1500; one where only that reading is possible, as "12,5"; both with
        different numbers where it has two meanings, as "1.500"; nothing where it is no number.
    """
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS).strip()
    if len(text) > LONGEST:
        return {}
    if _EXPONENT.fullmatch(text):
        return {".": float(text)} if math.isfinite(float(text)) else {}
    if match := _SPACED.fullmatch(text):
        text = text.replace(match["separator"], "")
        readings: dict[DecimalMark, float | None] = {mark: _read_ungrouped(text, mark) for mark in MARKS}
    else:
        readings = {mark: _read_with(text, mark) for mark in MARKS}
    return {mark: value for mark, value in readings.items() if value is not None}


def read_clear_number(text: str) -> float | None:
    """Return the number that a text is, or None where it is none or may be two."""
    meanings = set(read_number(text).values())
    return meanings.pop() if len(meanings) == 1 else None


def _read_with(text: str, mark: DecimalMark) -> float | None:
    """Return the number where decimals follow `mark`, and groups of thousands are parted by the other mark."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    group: DecimalMark = "," if mark == "." else "."
    whole, _, _ = match["digits"].partition(mark)
    if group in whole and not _GROUPED[group].fullmatch(whole):
        return None
    if group in whole and whole.startswith("0"):
        return None  # 0.500 and 0,500 are no groups
    ungrouped = whole.replace(group, "") + match["digits"][len(whole) :]
    return _read_ungrouped(match["sign"] + ungrouped, mark)


def _read_ungrouped(text: str, mark: DecimalMark) -> float | None:
    if text.count(mark) > 1 or ("," if mark == "." else ".") in text:
        return None
    try:
        return float(text.replace(mark, "."))
    except ValueError:
        return None
