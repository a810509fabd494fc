"""How the answers to every closed item are spread: shares at midpoint and ends, mean, entropy. Measured by hand counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.answers import Floats
from enquete.reports.context import numbered
from enquete.state.asking import RESPONDED


@dataclass(frozen=True, slots=True)
class Shape:
    """Distribution of a closed item: shares at the midpoint (None where there is none) and the ends, mean, entropy."""

    methodology: str
    phase: str
    round: int
    item: str
    scale_min: int
    scale_max: int
    n: int
    n_total: int
    mean: float | None
    midpoint: float | None
    ends: float | None
    entropy: float | None  # H / log K, K points


def shapes(rows: pd.DataFrame) -> Iterator[Shape]:
    """Every closed item by phase and round, in the table's order. rows: of one arm."""
    keys = ["methodology", "phase", "round", "item_id"]
    closed = rows[[*keys, "value", "status", "scale_min", "scale_max"]][rows["scale_min"].notna()]
    answered = closed["value"].where(closed["status"].isin(RESPONDED)).to_numpy(dtype=float)
    low, high = (closed[end].to_numpy(dtype=float) for end in ("scale_min", "scale_max"))
    group = numbered(closed, keys)
    order = np.argsort(group, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
        name, phase, number, item = closed[keys].iloc[at[0]]
        yield _shape((str(name), str(phase), int(number), str(item)), int(low[at[0]]), int(high[at[0]]), answered[at])


def _shape(key: tuple[str, str, int, str], low: int, high: int, given: Floats) -> Shape:
    values = given[~np.isnan(given)]
    n, middle = len(values), (low + high) / 2
    return Shape(
        *key, low, high, n, given.size, mean=float(values.mean()) if n else None,
        midpoint=float((values == middle).mean()) if n and middle.is_integer() else None,
        ends=float(np.isin(values, (low, high)).mean()) if n else None, entropy=entropy(values, high - low + 1),
    )  # fmt: skip


def entropy(values: Floats, points: int) -> float | None:
    """H / log K = −Σ pₖ log pₖ / log K over the K points of the scale; None for fewer than two answers (Shannon 1948)."""
    if len(values) < 2:
        return None
    counts = np.unique(values, return_counts=True)[1]
    share = counts / len(values)
    return float(share @ -np.log(share) / np.log(points)) + 0.0
