"""How far several raters rank the same things alike, and which things they tell apart: Kendall's W, Friedman, pairwise Wilcoxon."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from enquete.analysis.change.paired import PairedTest, holm, wilcoxon
from enquete.analysis.joining import require_unique


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
    rank = scipy.stats.rankdata(complete, axis=1) if m and k else complete
    t = sum(_ties(row) for row in rank)
    possible = m**2 * (k**3 - k) - m * t
    if m < 2 or k < 2 or possible <= 0:
        return Concordance(m, k, n_dropped, None, None, None)
    s = float(((rank.sum(axis=0) - m * (k + 1) / 2) ** 2).sum())
    w = 12 * s / possible
    chi2 = m * (k - 1) * w
    return Concordance(m, k, n_dropped, w, chi2, float(scipy.stats.chi2.sf(chi2, k - 1)))


def _ties(rank: np.ndarray) -> int:
    _, t = np.unique(rank, return_counts=True)
    return int((t**3 - t).sum())


Reason = Literal["too_few_raters", "no_variation"]


@dataclass(frozen=True, slots=True)
class Friedman:
    """χ², its p and Kendall's W; all None with a reason where there is nothing to test."""

    n: int  # raters who rated everything
    n_dropped: int  # raters left out for a missing rating
    k: int
    chi2: float | None
    df: int
    p: float | None
    w: float | None
    mean_ranks: tuple[float, ...]  # by column, 1 = rated lowest; mid-ranks for ties; empty without raters
    reason: Reason | None


def friedman(ratings: ArrayLike) -> Friedman:
    """Friedman's χ² over n raters and k things, corrected for ties, with Kendall's W as its effect size.

    χ² = n(k − 1)·W with W = 12·Σⱼ(Rⱼ − n(k + 1)/2)² / (n²(k³ − k) − n·Σ(t³ − t)): Rⱼ the sum of the mid-ranks of thing
    j, t the sizes of a rater's groups of ties; k − 1 degrees of freedom. W runs from 0 (no concordance) to 1 (identical
    rankings). The χ² approximation is rough for few raters (below about 15 for k = 4).

    ratings: raters × things, k ≥ 2; a rater with a NaN is left out and counted. Reasons: 'too_few_raters' below two,
    'no_variation' where every rater rates everything alike. Raises ValueError unless two-dimensional with k ≥ 2.
    Source: Friedman 1937; Conover 1999, section 5.8. scipy.stats.friedmanchisquare gives the same χ².
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < 2:
        raise ValueError(f"ratings must be a table of raters × at least two things, not of shape {x.shape}")
    complete = x[~np.isnan(x).any(axis=1)]
    n, k = complete.shape
    ranks = tuple(scipy.stats.rankdata(complete, axis=1).mean(axis=0).tolist()) if n else ()
    found = kendall_w(complete)
    reason: Reason | None = None
    if found.w is None:
        reason = "too_few_raters" if n < 2 else "no_variation"
    return Friedman(n, len(x) - n, k, found.chi2, k - 1, found.p, found.w, ranks, reason)


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """`second` against `first`: a positive effect means that `second` is rated higher."""

    first: str
    second: str
    test: PairedTest
    p_holm: float | None


def pairwise_wilcoxon(ratings: pd.DataFrame) -> list[PairwiseTest]:
    """Wilcoxon's signed-rank test for every two columns, p adjusted by Holm over all of them.

    For a look at what Friedman's test found, and no replacement of it: Friedman drops raters with any gap, a pair only
    those with a gap in the pair. Effect size: rank-biserial, in each test. Describes this run.
    ratings: raters × things, NaN where missing. Raises ValueError on a doubled rater or thing. Source: Holm 1979.
    """
    require_unique(ratings, "ratings")
    pairs = list(combinations(ratings.columns, 2))
    tests = [wilcoxon(ratings[a].to_numpy(dtype=float), ratings[b].to_numpy(dtype=float)) for a, b in pairs]
    adjusted = holm([test.p for test in tests])
    return [PairwiseTest(str(a), str(b), test, p) for (a, b), test, p in zip(pairs, tests, adjusted, strict=True)]
