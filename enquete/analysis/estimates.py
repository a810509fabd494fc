"""Values brought together by label, means and shares with intervals, and bootstrap intervals: of other agents of this
population, not of other people.

How many agents are compared with one another: of more, so many are drawn, by a seed that is the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd


MOST_COMPARED = 300
"""Agents among whom the number of types is chosen: silhouette and gap statistic need distances of all to all."""
MOST_AGENTS = 1_000
"""Agents whose answers are dealt anew against chance, which then gives r of .03; more would cost minutes."""
"""Pairs of agents whose profiles are correlated; the mean r of more would be closer than ±.005 without them."""


Floats = NDArray[np.float64]


def known(values: ArrayLike) -> Floats:
    """The values that are there, NaN left out."""
    x = np.asarray(values, dtype=np.float64)
    return x[~np.isnan(x)]


def require_unique(frame: pd.DataFrame, name: str) -> None:
    """ValueError naming the first participant or item that occurs twice in `frame`."""
    require_single(frame.index, name)
    require_single(frame.columns, name, "item")


def require_single(labels: pd.Index, name: str, axis: str = "participant") -> None:
    if labels.has_duplicates:
        doubled = labels[labels.duplicated()][0]
        raise ValueError(f"{name}: {axis} {doubled!r} occurs more than once; one row or column each is needed")


def joined(
    first: pd.DataFrame, second: pd.DataFrame, names: tuple[str, str] = ("before", "after")
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables over all participants of either (sorted) and all items (those of `first` first), NaN where missing.

    Raises ValueError on a doubled participant or item, by the table's name.
    """
    for name, table in zip(names, (first, second), strict=True):
        require_unique(table, name)
    rows, items = first.index.union(second.index), list(dict.fromkeys([*first.columns, *second.columns]))
    x, y = (table.reindex(index=rows, columns=items).astype(float) for table in (first, second))
    return x, y


def joined_scores(first: pd.Series, second: pd.Series, names: tuple[str, str]) -> tuple[pd.Series, pd.Series]:
    """Both lists over all participants of either. Raises ValueError on a doubled participant, by the list's name."""
    for name, scores in zip(names, (first, second), strict=True):
        require_single(scores.index, name)
    if first.index.equals(second.index):
        return first, second
    rows = first.index.union(second.index)
    return first.reindex(rows), second.reindex(rows)


def paired_scores(first: pd.Series, second: pd.Series, names: tuple[str, str]) -> tuple[pd.Series, pd.Series, int]:
    """As `joined_scores`, of those who have both; and how many have not."""
    x, y = joined_scores(first, second, names)
    both = ~np.asarray(x.array.isna() | y.array.isna(), dtype=bool)
    return (x, y, 0) if both.all() else (x[both], y[both], int((~both).sum()))


# --- A mean over agents with Student's t interval, a share with Wilson's: of other agents of this population, not
# other people

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
    """share, low, high: count / n with Wilson's interval at 95 % (Wilson 1927), within 0 and 1."""
    interval = scipy.stats.binomtest(count, n).proportion_ci(LEVEL, method="wilson")
    return {"share": count / n, "low": float(interval.low), "high": float(interval.high)}


# --- Bootstrap intervals over agents. An interval describes this run: other agents of this population, not other people

Statistic = Callable[[Floats], Floats]
"""Counts of the cells, resamples × cells → one figure a resample; NaN where a resample leaves it undefined."""

DRAWS = 1000
FEWEST = 3  # resampling one or two agents says nothing about how agents differ
UNDEFINED_UP_TO = 0.05  # share of resamples without a figure that an interval puts up with
JACKKNIFE_UP_TO = 1_000  # cells; with more, that is at least as many agents, the acceleration is next to 0
WORK = 20_000_000  # resamples × cells that one interval may hold
DECIMALS = 12  # resampled figures are compared to this many: equal ones may differ in the last bits


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval. low and high are None where there is none, for the `reason` given."""

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: Literal["bca", "bc", "percentile", "none"]
    draws: int
    reason: str = ""


def draws_within(cells: int, wanted: int = DRAWS) -> int:
    """`wanted` resamples, fewer where they would hold more than 20 million numbers, never fewer than 200.

    Raises ValueError for fewer than 100 wanted: the tails of an interval would rest on a handful.
    """
    if wanted < 100:
        raise ValueError(f"draws: at least 100 resamples are needed for an interval, not {wanted}")
    return min(wanted, max(200, WORK // max(cells, 1)))


def resampled_counts(counts: ArrayLike, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of Σ counts agents with replacement, as counts: draws × cells.

    Agents in one cell gave the same data, so drawing multinomial counts is drawing agents.
    """
    c = np.asarray(counts, dtype=np.float64)
    n = int(c.sum())
    if c.size * 4 < n:  # few cells, many agents: one multinomial draw costs cells, not agents
        return rng.multinomial(n, c / n, size=draws).astype(np.float64)
    cell_of = np.repeat(np.arange(c.size), c.astype(int))
    drawn = cell_of[rng.integers(0, n, size=(draws, n))] + np.arange(draws)[:, None] * c.size
    return np.bincount(drawn.ravel(), minlength=draws * c.size).reshape(draws, c.size).astype(np.float64)


def left_out(counts: ArrayLike) -> Floats:
    """The jackknife's samples: row u is `counts` with one agent fewer in cell u. Cells × cells; no cell may be empty.

    Without rows beyond 1,000 cells: `bca` then leaves the acceleration out.
    """
    c = np.asarray(counts, dtype=np.float64)
    return c[None, :] - np.eye(c.size) if c.size <= JACKKNIFE_UP_TO else np.empty((0, c.size))


def bca(
    estimate: float, replicates: ArrayLike, jackknife: ArrayLike, *, weight: ArrayLike | None = None,
    level: float = LEVEL,
) -> Interval:  # fmt: skip
    """Bias-corrected and accelerated interval from B resampled figures θ* and the jackknife's θ₍ᵢ₎.

    z₀ = Φ⁻¹(#{θ* < θ}/B + ½#{θ* = θ}/B); a = Σ(θ̄ − θ₍ᵢ₎)³ / (6·(Σ(θ̄ − θ₍ᵢ₎)²)^1.5); the ends are the quantiles
    Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) of θ* for z = Φ⁻¹((1 ∓ level)/2), by linear interpolation (type 7). Without
    jackknife values a = 0 (method "bc"). Where z₀ or a is not finite, or a correction leaves the range, the plain
    percentiles are taken (method "percentile").

    weight: how many agents each jackknife value stands for. No interval (reason given) where the estimate is undefined,
    more than 5 % of the resamples are, or all resamples agree. Raises ValueError for a level outside 0–1.
    Source: Efron 1987; Efron & Tibshirani 1993, ch. 14. scipy.stats.bootstrap does the same for samples of raw values.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    theta = np.asarray(replicates, dtype=np.float64)
    known = np.round(theta[~np.isnan(theta)], DECIMALS)
    reason = _why_none(estimate, known, theta.size)
    if reason:
        return without(estimate, level, reason)
    tail = np.array([(1 - level) / 2, (1 + level) / 2])
    corrected = _corrected(np.round(estimate, DECIMALS), known, np.asarray(jackknife, dtype=np.float64), weight, tail)
    low, high = np.quantile(known, tail if corrected is None else corrected)
    method: Literal["bca", "bc"] = "bca" if np.size(jackknife) else "bc"
    return Interval(estimate, float(low), float(high), level, "percentile" if corrected is None else method, known.size)


def without(estimate: float, level: float, reason: str) -> Interval:
    """An estimate that has no interval, and why."""
    return Interval(None if np.isnan(estimate) else estimate, None, None, level, "none", 0, reason)


def _why_none(estimate: float, known: Floats, total: int) -> str:
    if np.isnan(estimate):
        return "the figure is undefined"
    if known.size < (1 - UNDEFINED_UP_TO) * total:
        return f"undefined in {total - known.size} of {total} resamples"
    return "every resample gives the same figure" if np.ptp(known) == 0 else ""


def _corrected(
    estimate: float, known: Floats, jackknife: Floats, weight: ArrayLike | None, tail: Floats
) -> Floats | None:
    """The quantiles that BCa reads off instead of `tail`; None where it is not defined."""
    z0 = scipy.special.ndtri((known < estimate).mean() + (known == estimate).mean() / 2)
    a = _acceleration(jackknife, weight) if jackknife.size else 0.0
    if not np.isfinite(z0) or not np.isfinite(a):
        return None
    shifted = z0 + scipy.special.ndtri(tail)
    stretched = 1 - a * shifted
    return np.asarray(scipy.special.ndtr(z0 + shifted / stretched)) if (stretched > 0).all() else None


def _acceleration(jackknife: Floats, weight: ArrayLike | None) -> float:
    """a of `bca`; NaN where the jackknife's values do not differ or are not all defined."""
    w = np.ones(jackknife.size) if weight is None else np.asarray(weight, dtype=np.float64)
    gap = np.average(jackknife, weights=w) - jackknife
    spread = float(w @ gap**2)
    return float(w @ gap**3) / (6 * spread**1.5) if spread > 0 else float("nan")
