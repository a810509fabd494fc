"""Kendall's W: how far several raters rank the same things alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True, slots=True)
class Concordance:
    """W and its χ² test; None where fewer than two raters or items are left or nobody distinguishes the items."""

    n_raters: int
    n_items: int
    n_dropped: int  # raters left out for a missing rating
    w: float | None
    chi2: float | None
    p: float | None


def kendall_w(ratings: ArrayLike) -> Concordance:
    """Kendall's coefficient of concordance, corrected for ties.

    W = 12·S / (m²(k³ − k) − m·ΣT), S = Σⱼ(Rⱼ − m(k + 1)/2)², with m raters, k items, rank sums Rⱼ over raters
    (mid-ranks) and T = Σ(t³ − t) over a rater's groups of t tied items. χ² = m(k − 1)W with k − 1 degrees of freedom
    (good from k ≥ 8). W is 0 (no concordance) … 1 (identical rankings).

    ratings: raters × items; a rater with a NaN is left out and counted. Raises ValueError unless two-dimensional.
    Source: Kendall & Babington Smith 1939; Siegel & Castellan 1988.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"ratings must be a table of raters × items, not an array of {x.ndim} dimension(s)")
    complete = x[~np.isnan(x).any(axis=1)]
    (m, k), n_dropped = complete.shape, len(x) - len(complete)
    rank = stats.rankdata(complete, axis=1) if m and k else complete
    t = sum(_ties(row) for row in rank)
    possible = m**2 * (k**3 - k) - m * t
    if m < 2 or k < 2 or possible <= 0:
        return Concordance(m, k, n_dropped, None, None, None)
    s = float(((rank.sum(axis=0) - m * (k + 1) / 2) ** 2).sum())
    w = 12 * s / possible
    chi2 = m * (k - 1) * w
    return Concordance(m, k, n_dropped, w, chi2, float(stats.chi2.sf(chi2, k - 1)))


def _ties(rank: np.ndarray) -> int:
    _, t = np.unique(rank, return_counts=True)
    return int((t**3 - t).sum())
