"""How large a change is: rank-biserial, Hodges–Lehmann and Cliff's δ with bootstrap intervals over agents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from enquete.analysis.bootstrap import (
    DRAWS,
    FEWEST,
    LEVEL,
    Floats,
    Interval,
    Statistic,
    bca,
    draws_within,
    left_out,
    resampled_counts,
    without,
)
from enquete.analysis.change.paired import DECIMALS, hodges_lehmann, signed_ranks, walsh_averages
from enquete.analysis.joining import known

RESAMPLED_UP_TO = 128  # distinct differences; with more, Hodges–Lehmann is not resampled: n² Walsh averages a draw
EXACT_BELOW = 50  # differences, as in R
CHUNK = 4_000_000  # Walsh averages × resamples held at once
DENSE_UP_TO = 1_000  # entries of a matrix of ones: a sparse one costs more to make
ONE_WAY = "all changes in one direction"


@dataclass(frozen=True, slots=True)
class PairedEffects:
    """Effect sizes of one paired change. Positive: after is higher."""

    n: int  # complete pairs
    n_missing: int
    rank_biserial: Interval
    hodges_lehmann: Interval  # in the unit of the ratings
    cliff: Interval
    mean_change: Interval


def cliffs_delta(x: ArrayLike, y: ArrayLike) -> float | None:
    """Cliff's δ = P(Y > X) − P(Y < X) over all pairs of a value of x with a value of y: −1 … 1.

    δ = 2U/(nₓn_y) − 1 with U = R_y − n_y(n_y + 1)/2 and R_y the sum of y's mid-ranks in both together. It compares two
    distributions and knows nothing of pairs: with two waves of the same agents it is a description, not a test.
    NaN is left out; None where x or y has no value. Source: Cliff 1993, Psychological Bulletin 114.
    """
    a, b = known(x), known(y)
    if not a.size or not b.size:
        return None
    rank = scipy.stats.rankdata(np.concatenate([a, b]))
    u = float(rank[a.size :].sum()) - b.size * (b.size + 1) / 2
    return 2 * u / (a.size * b.size) - 1


def paired_effects(
    before: ArrayLike, after: ArrayLike, *, draws: int = DRAWS, level: float = LEVEL, seed: int | list[int] = 0
) -> PairedEffects:
    """Effect sizes of d = after − before over the complete pairs, each with a BCa interval from the same resamples.

    rank_biserial = (W+ − W−)/(W+ + W−) over non-zero d (Kerby 2014); hodges_lehmann = median of the Walsh averages, zeros
    kept; cliff = `cliffs_delta`; mean_change = Σd/n. Agents are resampled with both their values. The cost depends on
    the number of distinct pairs of values (25 on a five-point scale), not on the agents; with more than 128 distinct
    d Hodges–Lehmann has the interval of `walsh_interval` instead, method "walsh".

    Fewer than three pairs or no variation: no interval, the reason is given. Nor has a rank-biserial of ±1, for every
    resample of changes in one direction gives ±1 again. Describes this run.
    Raises ValueError for lists of different lengths or infinite values.
    """
    x, y = (np.asarray(v, dtype=np.float64) for v in (before, after))
    if x.ndim != 1 or x.shape != y.shape or np.isinf(x).any() or np.isinf(y).any():
        raise ValueError(
            f"before and after must be equally long lists of finite numbers or NaN, not {x.shape}, {y.shape}"
        )
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y = x[complete], y[complete]
    n_missing = int(complete.size - x.size)
    if x.size < FEWEST:
        return PairedEffects(x.size, n_missing, *_too_few(x, y, level))
    triples = np.asarray(
        np.round(np.column_stack([x, y, y - x]), DECIMALS), dtype=np.float64
    )  # d of the raw values, or rounding twice breaks ties
    cells, counts = np.unique(triples, axis=0, return_counts=True)
    d: Floats = cells[:, 2]
    drawn = resampled_counts(counts, draws_within(counts.size, draws), np.random.default_rng(seed))
    spared = left_out(counts)
    weight = counts.astype(np.float64)

    def interval(statistic: Statistic) -> Interval:
        value = float(statistic(weight[None, :])[0])
        jackknife = statistic(spared) if len(spared) else np.empty(0)
        return bca(value, statistic(drawn), jackknife, weight=weight, level=level)

    return PairedEffects(
        n=x.size,
        n_missing=n_missing,
        rank_biserial=_or_one_way(interval(_rank_biserial(d))),
        hodges_lehmann=interval(_hodges_lehmann(d))
        if np.unique(d).size <= RESAMPLED_UP_TO
        else walsh_interval(y - x, level),
        cliff=interval(_cliff(cells[:, :2])),
        mean_change=interval(lambda c: c @ d / c.sum(axis=1)),
    )


def walsh_interval(d: ArrayLike, level: float = LEVEL) -> Interval:
    """Interval of the Hodges–Lehmann estimate by turning Wilcoxon's test round, for many different differences.

    From the C-th smallest to the C-th largest of the M = n(n + 1)/2 Walsh averages: the shifts that the test would not reject.
    Below 50 values C is the smallest c with P(W⁺ ≤ c) ≥ (1 − level)/2 under the exact distribution of the signed ranks, at least 1;
    from 50 on the integer part of M/2 − z·√(n(n + 1)(2n + 1)/24), z the normal quantile of (1 + level)/2.
    Zeros are kept, NaN is left out; ties make it wider than need be. No interval where all M averages do not reach the level (five
    values at 95 %). Source: Hollander & Wolfe 1973, section 3.3 (R's wilcox.test, conf.int: qsignrank below 50).
    """
    x: Floats = np.asarray(np.round(np.asarray(d, dtype=np.float64), DECIMALS), dtype=np.float64)
    u, count = np.unique(x[~np.isnan(x)], return_counts=True)
    n = int(count.sum())
    m = n * (n + 1) // 2
    c = _quantile(n, (1 - level) / 2)
    estimate = hodges_lehmann(np.repeat(u, count))
    if estimate is None or 2.0 ** (1 - n) > 1 - level:
        return without(np.nan if estimate is None else estimate, level, "too few differences for the level")
    low, high = walsh_averages(u, count, [c, m + 1 - c])
    return Interval(estimate, low, high, level, "walsh", 0)


def _quantile(n: int, tail: float) -> int:
    """The place, from either end, of the Walsh average that ends an interval with so much in either tail."""
    if n >= EXACT_BELOW:
        z = float(scipy.special.ndtri(1 - tail))
        return int(n * (n + 1) / 4 - z * np.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    below = np.cumsum(signed_ranks(np.arange(1, n + 1)))
    return max(1, int(np.searchsorted(below, tail * (1 - 1e-12))))


def _or_one_way(rank_biserial: Interval) -> Interval:
    extreme = rank_biserial.estimate is not None and abs(rank_biserial.estimate) == 1
    return replace(rank_biserial, reason=ONE_WAY) if extreme and rank_biserial.low is None else rank_biserial


def _too_few(x: Floats, y: Floats, level: float) -> tuple[Interval, Interval, Interval, Interval]:
    d = np.round(y - x, DECIMALS)
    one_each = np.ones((1, d.size))
    rank_biserial = float(_rank_biserial(d)(one_each)[0]) if d.any() else np.nan
    figures = (rank_biserial, hodges_lehmann(d), cliffs_delta(x, y), float(d.mean()) if d.size else None)
    reason = f"fewer than {FEWEST} pairs" if d.size else "no pairs"
    rank, typical, cliff, mean = (without(np.nan if f is None else f, level, reason) for f in figures)
    return rank, typical, cliff, mean


def _rank_biserial(d: Floats) -> Statistic:
    sizes, at = np.unique(np.abs(d), return_inverse=True)
    up, down = _one_hot(at, d > 0, sizes.size), _one_hot(at, d < 0, sizes.size)

    def statistic(counts: Floats) -> Floats:
        plus, minus = counts @ up, counts @ down
        tied = plus + minus
        rank = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
        total = (tied * rank).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(((plus - minus) * rank).sum(axis=1) / total)  # 0/0: nobody of the resample moved

    return statistic


def _cliff(cells: Floats) -> Statistic:
    values, at = np.unique(cells, return_inverse=True)
    at = at.reshape(cells.shape)
    everyone = np.ones(len(cells), dtype=bool)
    x, y = (_one_hot(at[:, wave], everyone, values.size) for wave in (0, 1))

    def statistic(counts: Floats) -> Floats:
        before, after = counts @ x, counts @ y
        below = np.cumsum(before, axis=1) - before
        n = counts.sum(axis=1)
        above = n[:, None] - below - before
        return np.asarray((after * (below - above)).sum(axis=1) / n**2)

    return statistic


def _hodges_lehmann(d: Floats) -> Statistic:
    u, at = np.unique(d, return_inverse=True)
    cell = _one_hot(at, np.ones(d.size, dtype=bool), u.size)
    i, j = np.triu_indices(u.size)
    walsh = (u[i] + u[j]) / 2
    order = np.argsort(walsh, kind="stable")
    i, j, walsh = i[order], j[order], walsh[order]

    def statistic(counts: Floats) -> Floats:
        parts = np.array_split(counts @ cell, max(1, len(counts) * walsh.size // CHUNK))
        return np.concatenate([_walsh_median(part, i, j, walsh) for part in parts if len(part)])

    return statistic


def _walsh_median(c: Floats, i: NDArray[np.intp], j: NDArray[np.intp], walsh: Floats) -> Floats:
    """Median of the Walsh averages, each weighted by the pairs of agents that have it; walsh ascending."""
    reached = np.cumsum(np.where(i == j, c[:, i] * (c[:, i] + 1) / 2, c[:, i] * c[:, j]), axis=1)
    total = reached[:, -1:]
    low, high = ((reached < np.floor(k) + 1).sum(axis=1) for k in ((total - 1) // 2, total // 2))
    return np.asarray((walsh[low] + walsh[high]) / 2)


def _one_hot(at: NDArray[np.intp], chosen: NDArray[np.bool_], width: int) -> Floats | scipy.sparse.csr_array:
    """Cells × `width`: 1 where a chosen cell has that value. Sparse where large: continuous data have a value a cell."""
    rows = np.flatnonzero(chosen)
    if at.size * width <= DENSE_UP_TO:
        dense = np.zeros((at.size, width))
        dense[rows, at[rows]] = 1.0
        return dense
    return scipy.sparse.csr_array((np.ones(rows.size), (rows, at[rows])), shape=(at.size, width))
