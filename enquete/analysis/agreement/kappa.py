"""Agreement of two ratings of the same things on an ordered scale: quadratic-weighted κ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Kappa:
    """κ, None where it is undefined, for the `reason` given."""

    n: int
    n_missing: int
    kappa: float | None
    exact_share: float | None  # share of identical ratings
    reason: str = ""


def weighted_kappa(first: ArrayLike, second: ArrayLike) -> Kappa:
    """Cohen's κ with quadratic weights, κ = 1 − Σ w·o / Σ w·e, w = (i − j)².

    o is the observed table of the two ratings, e the product of its margins. With quadratic weights this is
    κ = 1 − mean((x − y)²) / (s²ₓ + s²_y + (x̄ − ȳ)²), s² with divisor n: no scale has to be given, and categories that
    nobody chose do not matter. 1 identical, 0 as by chance, below 0 worse than that.

    first, second: equally long, NaN where missing. None without a pair, or where all ratings of both are one and the
    same value. Raises ValueError on different lengths.
    Source: Cohen 1968; Fleiss & Cohen 1973. sklearn.metrics.cohen_kappa_score(weights="quadratic") agrees.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"first and second must be two lists of equal length, not {x.shape} and {y.shape}")
    both = ~(np.isnan(x) | np.isnan(y))
    x, y, n_missing = x[both], y[both], int((~both).sum())
    if not x.size:
        return Kappa(0, n_missing, None, None, "no pairs")
    by_chance = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    exact = float((x == y).mean())
    if by_chance == 0:
        return Kappa(x.size, n_missing, None, exact, "all ratings are one value: chance alone agrees fully")
    return Kappa(x.size, n_missing, 1 - float(((x - y) ** 2).mean()) / by_chance, exact)
