"""How firm a ranking of themes is: ranks of the themes when the panel is resampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.bootstrap import DRAWS, LEVEL, Floats, draws_within, resampled_counts
from enquete.analysis.joining import require_unique

CHUNK = 2_000_000  # agents × resamples held at once

By = Literal["mean", "consensus"]


@dataclass(frozen=True, slots=True)
class RankedTheme:
    """One theme's place. None where nobody rated it, or no panel could be resampled."""

    theme: str
    n: int
    rank: float | None  # observed, 1 the first; mid-rank for ties
    low: float | None  # percentile interval of the rank
    high: float | None
    p_top: float | None  # probability to be among the first k


@dataclass(frozen=True, slots=True)
class RankRobustness:
    """The ranking, theme by theme, and how far resampled rankings resemble it."""

    by: By
    k: int
    n_raters: int
    draws: int
    themes: tuple[RankedTheme, ...]  # in the order of the columns
    tau_mean: float | None  # mean Kendall τ-b of resampled with observed order
    tau_low: float | None  # 2.5th percentile: in 39 of 40 resamples the order is at least this alike
    reason: str = ""


def rank_robustness(
    ratings: pd.DataFrame, *, k: int, by: By = "mean", draws: int = DRAWS, level: float = LEVEL, seed: int = 0
) -> RankRobustness:
    """Bootstrap of the panel: each theme's rank interval, its probability to be in the top k, and Kendall's τ-b.

    by="mean": mean rating, highest first. by="consensus": IQR (type 7), smallest first, then median, highest first, the
    order of `rank_consensus`. Panelists are resampled with all their ratings. Ties get mid-ranks; where g themes tie
    across the k-th place, each of them has its share (k − number before)/g of the places left, so that p_top adds up to k.
    τ-b = Σ sgn·sgn′ / √(T·T′) over pairs of themes, T the pairs that an order does not tie. Describes this run.

    ratings: participants × themes, NaN where missing. At 5,000 raters × 25 themes resamples are processed in chunks of
    2 million agents. Below three raters or two rated themes there is a reason instead.
    Raises ValueError for k below 1 or above the number of themes, or a doubled label. Source: Efron & Tibshirani 1993;
    Hall & Miller 2009 on bootstrapping ranks (intervals are too narrow near ties, so they are a lower bound of doubt).
    """
    require_unique(ratings, "ratings")
    if not 1 <= k <= ratings.shape[1]:
        raise ValueError(f"k must lie between 1 and the number of themes, {ratings.shape[1]}, not {k}")
    x = ratings.dropna(how="all").to_numpy(dtype=np.float64)
    rated = ~np.isnan(x).all(axis=0) if len(x) else np.zeros(ratings.shape[1], dtype=bool)
    counts = (~np.isnan(x)).sum(axis=0)
    names = [str(name) for name in ratings.columns]
    reason = "fewer than 3 raters" if len(x) < 3 else ("fewer than 2 rated themes" if rated.sum() < 2 else "")
    if reason:
        themes = tuple(RankedTheme(name, int(n), None, None, None, None) for name, n in zip(names, counts, strict=True))
        return RankRobustness(by, k, len(x), 0, themes, None, None, reason)
    y = x[:, rated]
    observed = _ranks(_scores(y, np.ones((1, len(y))), by))
    resampled = _resampled_ranks(y, by, draws_within(len(y), draws), seed)
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    top = _in_top(resampled, min(k, y.shape[1])).mean(axis=0)
    tau = _tau(observed, resampled)
    place = {int(column): position for position, column in enumerate(np.flatnonzero(rated))}
    themes = tuple(
        RankedTheme(name, int(counts[c]), *(float(v[place[c]]) for v in (observed[0], low, high, top)))
        if c in place
        else RankedTheme(name, 0, None, None, None, None)
        for c, name in enumerate(names)
    )
    tau_mean, tau_low = (float(tau.mean()), float(np.quantile(tau, 0.025))) if tau.size else (None, None)
    return RankRobustness(by, k, len(x), len(resampled), themes, tau_mean, tau_low)


def _resampled_ranks(x: Floats, by: By, draws: int, seed: int) -> Floats:
    rng, step = np.random.default_rng(seed), max(1, CHUNK // len(x))
    parts = [
        _ranks(_scores(x, resampled_counts(np.ones(len(x)), min(step, draws - start), rng), by))
        for start in range(0, draws, step)
    ]
    return np.concatenate(parts)


def _scores(x: Floats, weight: Floats, by: By) -> Floats:
    """Resamples × themes, the smallest first in the ranking; a theme without raters in a resample comes last."""
    known = ~np.isnan(x)
    n = weight @ known
    if by == "mean":
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(-np.round((weight @ np.where(known, x, 0.0)) / n, 12), nan=np.inf)
    points = np.unique(x[known])
    reached = np.stack([weight @ (known & (x <= point)) for point in points])  # points × resamples × themes
    q1, median, q3 = (_quantile(points, reached, n, p) for p in (0.25, 0.5, 0.75))
    order = np.round(q3 - q1, 9) * 1e6 - np.round(median, 9)  # one number for two keys: ratings lie far below 10⁶
    return np.where(n > 0, order, np.inf)


def _quantile(points: Floats, reached: Floats, n: Floats, p: float) -> Floats:
    """Quantile of type 7 of integer-weighted ratings: x₍ⱼ₎ is the first point that more than j ratings reach."""
    h = np.maximum(n - 1, 0) * p
    low, high = (
        points[np.minimum((reached <= np.minimum(j, n - 1)).sum(axis=0), points.size - 1)]
        for j in (np.floor(h), np.floor(h) + 1)
    )
    return np.asarray(low + (h - np.floor(h)) * (high - low))


def _ranks(scores: Floats) -> Floats:
    return np.asarray(scipy.stats.rankdata(scores, axis=1), dtype=np.float64)


def _in_top(ranks: Floats, k: int) -> Floats:
    """Share of the first k places that each theme has in each resample; mid-ranks tell a tie's size and place."""
    before = (ranks[:, :, None] > ranks[:, None, :]).sum(axis=2)
    tied = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    return np.asarray(np.clip((k - before) / tied, 0.0, 1.0), dtype=np.float64)


def _tau(observed: Floats, resampled: Floats) -> Floats:
    """τ-b of each resample with the observed order; resamples (or an order) that tie everything are left out."""
    i, j = np.triu_indices(observed.shape[1], 1)
    own, other = (np.sign(ranks[:, i] - ranks[:, j]) for ranks in (observed, resampled))
    untied = np.sqrt(np.abs(own).sum() * np.abs(other).sum(axis=1))
    return np.asarray((other @ own[0])[untied > 0] / untied[untied > 0])
