"""A mean over agents with Student's t interval, a share with Wilson's: of other agents of this population, not other people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from enquete.analysis.joining import known

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Mean:
    """low and high are None for fewer than two values."""

    n: int
    mean: float | None
    low: float | None
    high: float | None


def mean_of(values: ArrayLike, ends: tuple[float, float] | None = None) -> Mean:
    """`mean_interval` of values, NaN where missing."""
    x = known(np.asarray(values, dtype=np.float64))
    sd = float(x.std(ddof=1)) if x.size > 1 else None
    return mean_interval(x.size, float(x.mean()) if x.size else None, sd, ends)


def mean_interval(n: int, mean: float | None, sd: float | None, ends: tuple[float, float] | None = None) -> Mean:
    """x̄ ± t₍n−1₎·s/√n at 95 %, cut off at the `ends` of the scale. sd: s, with n − 1."""
    if mean is None or sd is None or n < 2:
        return Mean(n, mean, None, None)
    # scipy.stats has it by another name and takes .4 s to import, which a run of one methodology may do without
    reach = float(scipy.special.stdtrit(n - 1, (1 + LEVEL) / 2)) * sd / n**0.5
    low, high = mean - reach, mean + reach
    if ends is not None:
        low, high = max(low, ends[0]), min(high, ends[1])
    return Mean(n, mean, low, high)


def share_interval(count: int, n: int) -> dict[str, float]:
    """share, low, high: count / n with Wilson's interval at 95 % (Wilson 1927), which stays within 0 and 1 for few agents."""
    interval = scipy.stats.binomtest(count, n).proportion_ci(LEVEL, method="wilson")
    return {"share": count / n, "low": float(interval.low), "high": float(interval.high)}
