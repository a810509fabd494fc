"""Friedman's test: whether several raters prefer some of the same things to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from enquete.analysis.agreement.kendall import kendall_w

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
    ranks = tuple(stats.rankdata(complete, axis=1).mean(axis=0).tolist()) if n else ()
    found = kendall_w(complete)
    reason: Reason | None = None
    if found.w is None:
        reason = "too_few_raters" if n < 2 else "no_variation"
    return Friedman(n, len(x) - n, k, found.chi2, k - 1, found.p, found.w, ranks, reason)
