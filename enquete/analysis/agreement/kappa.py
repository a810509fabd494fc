"""How far ratings on an ordered scale agree: quadratic-weighted κ of two lists, the same stratified by item, variance components.

Pooling answers of different items into one table would count the items' own differences as agreement. So chance and
sums of squares of arms are taken within items and added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from enquete.analysis.answers import Flags, Floats


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


def stratified_kappa(first: Floats, second: Floats) -> float | None:
    """κ_w = 1 − Σᵢ Σₐ (xₐᵢ − yₐᵢ)² / Σᵢ nᵢ·(s²ₓᵢ + s²_yᵢ + (x̄ᵢ − ȳᵢ)²), the denominator being what chance gives per item.

    first, second: agents × items in one unit, NaN where missing; s² with divisor n. One item gives Cohen's κ with
    quadratic weights. None where no item varies. Source: Fleiss & Cohen 1973; strata as in Barlow, Lai & Azen 1991.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    n = known.sum(axis=0)
    x, y = np.where(known, first, 0.0), np.where(known, second, 0.0)
    observed = ((x - y) ** 2).sum()
    size = np.maximum(n, 1)
    mean_x, mean_y = x.sum(axis=0) / size, y.sum(axis=0) / size
    spread_x, spread_y = (x**2).sum(axis=0) - n * mean_x**2, (y**2).sum(axis=0) - n * mean_y**2
    by_chance = float((spread_x + spread_y + n * (mean_x - mean_y) ** 2).sum())
    return 1 - float(observed) / by_chance if by_chance > 1e-9 else None


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components within items; negative estimates are kept, as ICC's formula needs them."""

    between_agents: float
    between_arms: float
    error: float
    n_arms: int
    n_items: int  # with at least two agents complete over all arms

    @property
    def icc(self) -> float | None:
        """ICC(A,1) = σ²_a/(σ²_a + σ²_p + σ²_e), two-way random, absolute agreement (McGraw & Wong 1996; Shrout & Fleiss (2,1))."""
        total = self.between_agents + self.between_arms + self.error
        return self.between_agents / total if total > 1e-12 else None

    @property
    def share_of_arms(self) -> float | None:
        """σ²_p/(σ²_a + σ²_p + σ²_e), negative estimates taken as 0."""
        agents, arms = max(self.between_agents, 0.0), max(self.between_arms, 0.0)
        total = agents + arms + self.error
        return arms / total if total > 1e-12 else None


def components(arms: Sequence[Floats]) -> Components | None:
    """Components of x = item + agent×item + arm×item + e from the mean squares, sums of squares pooled over items.

    σ²_a = (MS_a − MS_e)/k, σ²_p = (MS_p − MS_e)/n₀, σ²_e = MS_e, for k arms and n₀ = agents an item on average.
    arms: k ≥ 2 matrices agents × items in one unit; an answer missing in one arm is left out of all. None where no item has
    two complete agents. Raises ValueError for fewer than two arms.
    """
    k = len(arms)
    if k < 2:
        raise ValueError(f"components need at least two arms; {k} was given")
    x = np.stack(arms)
    known: Flags = np.asarray(~np.isnan(x).any(axis=0))
    enough = known.sum(axis=0) >= 2
    x, known = np.where(known, x, 0.0)[:, :, enough], known[:, enough]
    n = known.sum(axis=0)
    if not n.size:
        return None
    arm_means, agent_means = x.sum(axis=1) / n, x.mean(axis=0)
    means = arm_means.mean(axis=0)
    agents = k * float((known * (agent_means - means) ** 2).sum())
    by_arm = float((n * (arm_means - means) ** 2).sum())
    error = float((known * (x - means) ** 2).sum()) - agents - by_arm
    free = int((n - 1).sum())
    ms_agents, ms_arms = agents / free, by_arm / (n.size * (k - 1))
    ms_error = max(error, 0.0) / (free * (k - 1))  # rounding can leave it just below 0
    return Components((ms_agents - ms_error) / k, (ms_arms - ms_error) / float(n.mean()), ms_error, k, int(n.size))
