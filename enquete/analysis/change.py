"""Change within the same participants: Wilcoxon's test with its effect sizes, corrections for many tests, drift.

A test over simulated agents describes the run, not people: agents of one run share a prompt and a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from enquete.analysis.estimates import Floats, joined

DECIMALS = 9  # differences are compared to this many decimals: 0.3 − 0.1 and 0.5 − 0.3 are a tie
LISTED_UP_TO = 1_000  # distinct differences; beyond, their Walsh averages are counted, not listed
EXACT_UP_TO = 200  # non-zero differences; the exact distribution costs about n³ additions


@dataclass(frozen=True, slots=True)
class PairedTest:
    """What `wilcoxon` found. Undefined figures are None, with the reason in `note`."""

    n: int  # complete pairs
    n_missing: int  # pairs dropped for a NaN
    n_zero: int  # pairs without a change
    n_ties: int  # non-zero differences that share their size with another
    w_plus: float  # rank sum of the increases (R's V for before − after is w_minus)
    w_minus: float
    p: float | None  # two-sided
    method: str  # "exact", "exact permutation", "normal approximation", "none"
    rank_biserial: float | None
    hodges_lehmann: float | None
    mean_change: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ItemTest:
    """One item's paired test with its p-values corrected over all items of the table."""

    item: str
    test: PairedTest
    p_holm: float | None
    p_bh: float | None


def wilcoxon(before: ArrayLike, after: ArrayLike) -> PairedTest:
    """Wilcoxon signed-rank test of d = after − before, two-sided.

    W+ = Σ rank(|d|) over d > 0 and W− over d < 0, with mid-ranks for ties and zeros left out (Wilcoxon's convention).
    p is exact given the ranks up to 200 non-zero differences: under H0 every sign is + or − with ½, so W+ has the
    distribution of Σ Bᵢ·rankᵢ. Without ties this is the tabulated test ("exact"); with ties or zeros it is the
    sign-flip permutation test ("exact permutation"), where the tables would be wrong. Above 200 the normal
    approximation with tie correction is used, without continuity correction:
    z = (W+ − n(n+1)/4) / √(n(n+1)(2n+1)/24 − Σ(t³ − t)/48).

    before, after: numbers of equal length, paired by position; NaN where missing.
    No pair or no variation: p and rank-biserial are None and `note` says why.
    Raises ValueError on different lengths or infinite values.
    Source: Wilcoxon 1945; Hollander & Wolfe 1973, ch. 3; Pratt & Gibbons 1981 for ties.
    """
    x, y = _paired(before, after)
    complete = ~(np.isnan(x) | np.isnan(y))
    d = np.round(y[complete] - x[complete], DECIMALS)
    moved = d[d != 0]
    rank = scipy.stats.rankdata(np.abs(moved))
    w_plus, w_minus = float(rank[moved > 0].sum()), float(rank[moved < 0].sum())
    n_zero, n_ties = int(d.size - moved.size), _tied(np.abs(moved))
    p, method = _p_value(rank, w_plus, plain=n_zero == 0 and n_ties == 0)
    return PairedTest(
        n=int(d.size),
        n_missing=int(x.size - d.size),
        n_zero=n_zero,
        n_ties=n_ties,
        w_plus=w_plus,
        w_minus=w_minus,
        p=p,
        method=method,
        rank_biserial=(w_plus - w_minus) / (w_plus + w_minus) if moved.size else None,
        hodges_lehmann=hodges_lehmann(d),
        mean_change=float(d.mean()) if d.size else None,
        note="" if moved.size else ("no variation" if d.size else "no pairs"),
    )


def smallest_p(n: int) -> float:
    """The smallest two-sided p that n non-zero differences can give: all of one sign, 2·½ⁿ. At most .05 from 6 on."""
    return float(min(1.0, 2.0 ** (1 - n)))


def hodges_lehmann(d: ArrayLike) -> float | None:
    """Hodges–Lehmann estimate of the typical change: the median of the Walsh averages (dᵢ + dⱼ)/2, i ≤ j.

    Zeros are kept, because the estimate speaks of all pairs; R's wilcox.test drops them (pass non-zero values for
    that figure). In the unit of d; None without values. Source: Hodges & Lehmann 1963.
    """
    u, count = np.unique(np.asarray(d, dtype=np.float64), return_counts=True)
    if u.size == 0:
        return None
    m = int(count.sum()) * (int(count.sum()) + 1) // 2
    return sum(walsh_averages(u, count, [(m - 1) // 2 + 1, m // 2 + 1])) / 2


def walsh_averages(u: Floats, count: NDArray[np.int64], places: Sequence[int]) -> list[float]:
    """The Walsh averages at these places (1 the smallest) of values u, ascending, that occur `count` times.

    Of many different values by bisection: exact to the last digits, without the memory for n(n + 1)/2 averages.
    """
    if u.size <= LISTED_UP_TO:
        i, j = np.triu_indices(u.size)
        walsh = (u[i] + u[j]) / 2
        order = np.argsort(walsh, kind="stable")
        weight = np.where(i == j, count[i] * (count[i] + 1) // 2, count[i] * count[j])[order]
        return [float(average) for average in walsh[order][np.searchsorted(np.cumsum(weight), places)]]
    below = np.concatenate([[0], np.cumsum(count)])

    def reached(t: float) -> int:
        """Walsh averages ≤ t: ordered pairs and every value with itself, halved."""
        ordered = int(count @ below[np.searchsorted(u, 2 * t - u, side="right")])
        return (ordered + int(below[np.searchsorted(u, t, side="right")])) // 2

    return [_smallest(reached, place, u) for place in places]


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment, p̃₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎).

    m counts the tests that have a p; None and NaN stay None and are not counted. Source: Holm 1979 (R: p.adjust).
    scipy has no such correction; statsmodels' multipletests is right, but nothing else here needs statsmodels, and it
    collects garbage at every call, .2 s of CPU in a run of 50 agents.
    """
    return _adjusted(ps, _holm)


def benjamini_hochberg(ps: Sequence[float | None]) -> list[float | None]:
    """Benjamini–Hochberg adjustment, p̃₍ᵢ₎ = min over j ≥ i of min(1, m·p₍ⱼ₎/j); gaps as in `holm`; by scipy.

    Source: Benjamini & Hochberg 1995.
    """
    return _adjusted(ps, scipy.stats.false_discovery_control)


def paired_by_item(before: pd.DataFrame, after: pd.DataFrame) -> list[ItemTest]:
    """`wilcoxon` for every column of two waves (participants × items), with Holm and BH over all columns.

    Participants are joined by index label; one who is missing in a wave counts as a missing pair.
    Items of either wave appear, in the order of `before`, then of `after`. Raises ValueError on a doubled label.
    """
    x, y = joined(before, after)
    tests = [wilcoxon(x[item].to_numpy(), y[item].to_numpy()) for item in x.columns]
    p = [test.p for test in tests]
    corrected = zip(x.columns, tests, holm(p), benjamini_hochberg(p), strict=True)
    return [ItemTest(str(item), test, p_holm, p_bh) for item, test, p_holm, p_bh in corrected]


def _paired(before: ArrayLike, after: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"before and after must be two lists of equal length, not {x.shape} and {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("before and after must be finite numbers or NaN; an infinite value was given")
    return x, y


def _tied(sizes: Floats) -> int:
    _, counts = np.unique(sizes, return_counts=True)
    return int(counts[counts > 1].sum())


def _p_value(rank: Floats, w_plus: float, *, plain: bool) -> tuple[float | None, str]:
    n = rank.size
    if n == 0:
        return None, "none"
    if n <= EXACT_UP_TO:
        return _exact(rank, w_plus), "exact" if plain else "exact permutation"
    _, t = np.unique(rank, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float(np.sum(t.astype(float) ** 3 - t)) / 48
    z = (w_plus - n * (n + 1) / 4) / np.sqrt(variance)
    return float(2 * scipy.stats.norm.sf(abs(z))), "normal approximation"


def _exact(rank: Floats, w_plus: float) -> float:
    doubled = np.rint(2 * rank).astype(int)  # mid-ranks are halves, so twice a rank indexes the distribution
    probability, w = signed_ranks(doubled), round(2 * w_plus)
    tail = min(probability[: w + 1].sum(), probability[w:].sum())
    return float(min(1.0, 2 * tail))


def signed_ranks(ranks: NDArray[np.int64]) -> Floats:
    """P(Σ Bᵢ·rankᵢ = 0, 1, …) for fair coins Bᵢ: the distribution of W⁺, one rank after the other."""
    probability = np.zeros(ranks.sum() + 1)
    probability[0] = 1.0
    reached = 0
    for r in ranks:
        shifted = probability[: reached + 1].copy()
        probability[: reached + 1] *= 0.5
        probability[r : r + reached + 1] += 0.5 * shifted
        reached += r
    return probability


def _smallest(reached: Callable[[float], int], k: int, u: Floats) -> float:
    """The smallest t in the range of u with reached(t) ≥ k, halved down to the spacing of floating-point numbers."""
    low, high = float(u[0]), float(u[-1])
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if reached(middle) >= k else (middle, high)
    return low if reached(low) >= k else high


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    return adjusted


def _adjusted(ps: Sequence[float | None], method: Callable[[Floats], Floats]) -> list[float | None]:
    p = np.array([np.nan if value is None else value for value in ps], dtype=np.float64)
    known = ~np.isnan(p)
    outside = p[known][(p[known] < 0) | (p[known] > 1)]
    if outside.size:
        raise ValueError(f"a p-value lies between 0 and 1; {outside[0]} was given")
    if known.any():
        p[known] = method(p[known])
    return [None if np.isnan(value) else value for value in p.tolist()]


# --- How far participants moved between two waves: the Δ-matrix and drift per agent -----------------------------------

ScaleRanges = Mapping[str, tuple[float, float]]
"""Lowest and highest scale point by item."""


@dataclass(frozen=True, slots=True)
class PopulationDrift:
    """Population means of the agents' drift, weighted and unweighted side by side; None where no agent has a drift."""

    n_agents: int  # agents with at least one complete pair
    n_without_pairs: int  # agents in the matrix that have none
    n_memoryless: int  # of n_agents
    memoryless_weight: float
    mean_abs: float | None
    mean_abs_unweighted: float | None
    mean_signed: float | None
    mean_signed_unweighted: float | None
    share_changed: float | None
    share_changed_unweighted: float | None


def delta_matrix(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Δ = after − before, participants × items, NaN where either wave is missing.

    Rows are all participants of either wave (sorted), columns all items (order of `before`, then of `after`).
    Raises ValueError on a doubled participant or item.
    """
    x, y = joined(before, after)
    return y - x


def drift_per_agent(
    delta: pd.DataFrame, scale_ranges: ScaleRanges, memory: pd.Series[bool], memoryless_weight: float = 0.5
) -> pd.DataFrame:
    """Drift of each agent over the items it answered in both waves.

    For agent a with nₐ complete pairs Δₐᵢ on items of range Rᵢ = highᵢ − lowᵢ:
    mean_abs = Σ|Δₐᵢ|/nₐ and mean_signed = ΣΔₐᵢ/nₐ in scale points; mean_abs_share = Σ(|Δₐᵢ|/Rᵢ)/nₐ, comparable
    over items of different scales; share_changed = share of items with Δ ≠ 0; n_items = nₐ; weight = 1 with memory,
    `memoryless_weight` without.

    delta: participants × items, of rekeyed values, or opposite items cancel out in mean_signed.
    memory: whether the agent had a memory at the second wave, by participant; absent means none.
    Agents without a complete pair have n_items 0 and NaN figures.
    Raises ValueError for an item without a range, a change larger than its scale, or a weight outside 0–1.
    """
    if not 0 <= memoryless_weight <= 1:
        raise ValueError(f"memoryless_weight must lie between 0 and 1, not {memoryless_weight}")
    range_of = pd.Series({item: _width(item, scale_ranges) for item in delta.columns}, dtype=float)
    _require_within(delta, range_of)
    size = delta.abs()
    has_memory = memory.reindex(delta.index).eq(True)
    return pd.DataFrame(
        {
            "mean_abs": size.mean(axis=1),
            "mean_abs_share": (size / range_of).mean(axis=1),
            "mean_signed": delta.mean(axis=1),
            "share_changed": size.gt(0).where(size.notna()).astype(float).mean(axis=1),
            "n_items": delta.notna().sum(axis=1),
            "memory": has_memory,
            "weight": has_memory.map({True: 1.0, False: memoryless_weight}).astype(float),
        },
        index=delta.index,
    )


def population_drift(per_agent: pd.DataFrame, memoryless_weight: float = 0.5) -> PopulationDrift:
    """Means over agents of `drift_per_agent`, weighted Σwₐxₐ/Σwₐ beside the plain mean.

    Agents without a complete pair are left out and counted. A weighted mean whose weights are all 0 is None.
    """
    paired = per_agent[per_agent["n_items"] > 0]
    weight = paired["weight"].to_numpy(dtype=float)

    def mean(column: str, *, weighted: bool) -> float | None:
        x, w = paired[column].to_numpy(dtype=float), weight if weighted else np.ones(len(paired))
        return float(np.average(x, weights=w)) if w.sum() > 0 else None

    return PopulationDrift(
        n_agents=len(paired),
        n_without_pairs=len(per_agent) - len(paired),
        n_memoryless=int((~paired["memory"].astype(bool)).sum()),
        memoryless_weight=memoryless_weight,
        mean_abs=mean("mean_abs", weighted=True),
        mean_abs_unweighted=mean("mean_abs", weighted=False),
        mean_signed=mean("mean_signed", weighted=True),
        mean_signed_unweighted=mean("mean_signed", weighted=False),
        share_changed=mean("share_changed", weighted=True),
        share_changed_unweighted=mean("share_changed", weighted=False),
    )


def _width(item: str, scale_ranges: ScaleRanges) -> float:
    if item not in scale_ranges:
        raise ValueError(f"item {item!r} has no scale range; known: {', '.join(map(repr, scale_ranges)) or 'none'}")
    low, high = scale_ranges[item]
    if not low < high:
        raise ValueError(
            f"item {item!r}: scale range {low}–{high} is empty; the lowest point must be below the highest"
        )
    return high - low


def _require_within(delta: pd.DataFrame, range_of: pd.Series[float]) -> None:
    size = delta.abs().to_numpy(dtype=float)
    rows, columns = np.nonzero(size > range_of.to_numpy(dtype=float))
    if rows.size:
        row, column = int(rows[0]), int(columns[0])
        agent, item = repr(delta.index[row]), repr(delta.columns[column])
        change, width = float(size[row, column]), float(range_of.iloc[column])
        raise ValueError(f"{agent}, item {item}: a change of {change:g} exceeds the width of its scale, {width:g}")
