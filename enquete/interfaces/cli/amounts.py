"""Ranges, amounts of money and times, short enough for a column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from enquete.interfaces.cli.output import number
from enquete.interfaces.cli.words import say

if TYPE_CHECKING:
    from enquete.nodes.estimate import Range

UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def short(value: float) -> str:
    """999, 1.2k, 12k, 3.4M: two or three digits that count."""
    for size, unit in UNITS:
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def span(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


def counted(value: Range) -> str:
    """`123k (31k–129k)`: likely, and from least to most."""
    likely, ends = short(value.likely), span(short(value.low), short(value.high))
    return likely if ends == likely else f"{likely} ({ends})"


def dollars(amount: float) -> str:
    """To the cent from one dollar on, below that two digits that count."""
    if amount == 0 or amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{min(8, 1 - math.floor(math.log10(amount)))}f}"


def money(value: Range | None) -> str:
    """None: no price is known."""
    if value is None:
        return say("unknown")
    likely, ends = dollars(value.likely), span(dollars(value.low), dollars(value.high))
    return likely if ends == likely else f"{likely} ({ends})"


def duration(seconds: float) -> str:
    """40 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{number(hours)} h {rest} min" if rest else f"{number(hours)} h"
