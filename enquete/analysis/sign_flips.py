"""A paired change with one method for its test and its interval: sign flips, turned round.

Wilcoxon's test drops pairs without a change, while the usual interval of the Hodges–Lehmann estimate keeps them, so the
two contradict each other where many pairs do not change, as on few scale points. Here the interval holds exactly the
changes that the test would not reject.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enquete.analysis.estimates import LEVEL, Floats

EVERY_SUBSET_UP_TO = 14  # differences; beyond, random subsets
MOST_SUBSETS, FEWEST_SUBSETS = 9_999, 1_999
VALUES_HELD = 20_000_000  # subsets × differences
DECIMALS = 9


@dataclass(frozen=True, slots=True)
class MeanChange:
    """What `mean_change` found. p and the ends of the interval are None where the data do not define them."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    p: float | None  # two-sided
    level: float
    method: str  # "all sign flips", "random sign flips", "none"


def mean_change(differences: ArrayLike, *, level: float = LEVEL, seed: int = 0) -> MeanChange:
    """Return the mean of paired differences with its sign-flip test and the interval that this test gives.

    H₀: differences d are symmetric about θ, so that every sign of d − θ is as likely. Flipping the signs of a subset S
    leaves the sum as large as it is where the mean of d over S is at most θ. So with m subsets, all or random ones, the
    one-sided p of θ is (1 + number of subsets whose mean is ≤ θ)/(m + 1), which rises with θ; p is twice the smaller
    side at θ = 0, and the interval's ends are the k-th smallest and the k-th largest subset mean, k the largest number
    with k/(m + 1) < (1 − level)/2. So the interval leaves 0 out exactly where p < 1 − level.

    Args:
        differences: after − before, NaN where a pair is not complete.
        level: of the interval.
        seed: of the random subsets, where there are more than 14 differences.

    Returns:
        No p without a change; no interval where not even all of one sign would be rejected (five differences).

    Source: Fisher 1935; Hartigan 1969, "Using subsample values as typical values", JASA 64.
    """
    d: Floats = np.asarray(differences, dtype=np.float64)
    d = np.round(d[~np.isnan(d)], DECIMALS)
    n = d.size
    if n == 0:
        return MeanChange(0, None, None, None, None, level, "none")
    mean = float(d.mean())
    if not d.any():
        return MeanChange(n, mean, None, None, None, level, "none")
    subsets = _subsets(n, seed)
    means = np.round(np.sort(subsets @ d / subsets.sum(axis=1)), DECIMALS)
    below = 1 + int(np.searchsorted(means, 0.0, side="right"))
    above = 1 + means.size - int(np.searchsorted(means, 0.0, side="left"))
    p = min(1.0, 2 * min(below, above) / (means.size + 1))
    k = ceil((1 - level) / 2 * (means.size + 1) - 1e-9) - 1
    low, high = (float(means[k - 1]), float(means[-k])) if k > 0 else (None, None)
    method = "all sign flips" if n <= EVERY_SUBSET_UP_TO else "random sign flips"
    return MeanChange(n, mean, low, high, p, level, method)


@lru_cache(maxsize=8)
def _subsets(n: int, seed: int) -> NDArray[np.float32]:
    """Return subsets × n of 0 and 1, none of them empty: all there are, or random ones."""
    if n <= EVERY_SUBSET_UP_TO:
        return (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(np.float32)
    count = min(MOST_SUBSETS, max(FEWEST_SUBSETS, VALUES_HELD // n))
    drawn = np.random.default_rng(seed).integers(0, 2, (count, n), dtype=np.int8)
    drawn[~drawn.any(axis=1), 0] = 1
    return drawn.astype(np.float32)
