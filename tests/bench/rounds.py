"""Medians over rounds; and ratios taken within a round before their median is, so that a busy minute weighs on both
alike."""

from __future__ import annotations

import statistics
from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    return float(statistics.median(values))


def ratio(values: Iterable[float], of: Iterable[float]) -> float:
    """Median over rounds of value / reference."""
    return median(value / other for value, other in zip(values, of, strict=True))
