"""A panel's ratings: how they are spread, how rounds move them, and which things are ranked before which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from enquete.analysis.agreement import Kappa, weighted_kappa
from enquete.analysis.change import PairedTest, benjamini_hochberg, holm, wilcoxon
from enquete.analysis.estimates import Floats, known, paired_scores, require_unique


@dataclass(frozen=True, slots=True)
class Dispersion:
    """One item's ratings. Figures that the data do not define are None."""

    n: int
    n_missing: int
    median: float | None
    q1: float | None
    q3: float | None
    iqr: float | None  # quartiles of type 7 (numpy and pandas default; R's default)
    mean: float | None
    sd: float | None  # n − 1; None for a single rating
    top_share: float | None
    agreement: float | None  # van der Eijk's A
    consensus: float | None  # Tastle–Wierman
    bimodality: float | None
    split: bool  # two sides that lie apart


def describe(ratings: ArrayLike, low: int, high: int, *, top: int = 2) -> Dispersion:
    """All measures of this module over the ratings of one item on the integer scale low … high.

    ratings: integers, NaN where missing. top: how many of the highest scale points make the top band.
    Raises ValueError for a rating off the scale or a scale of fewer than two points.
    """
    x = np.asarray(ratings, dtype=np.float64)
    given = known(x)
    counts = frequencies(given, low, high)
    q1, median, q3 = quartiles(given) if given.size else (None, None, None)
    return Dispersion(
        n=int(given.size),
        n_missing=int(x.size - given.size),
        median=median,
        q1=q1,
        q3=q3,
        iqr=None if q1 is None or q3 is None else q3 - q1,
        mean=float(given.mean()) if given.size else None,
        sd=float(given.std(ddof=1)) if given.size > 1 else None,
        top_share=float(counts[-top:].sum() / given.size) if given.size else None,
        agreement=agreement(counts),
        consensus=consensus(counts),
        bimodality=bimodality(given),
        split=is_split(counts),
    )


def frequencies(ratings: ArrayLike, low: int, high: int) -> NDArray[np.int64]:
    """How often each scale point low … high was chosen; NaN left out. Raises ValueError for one off the scale."""
    if high <= low:
        raise ValueError(f"a scale needs at least two points; {low} to {high} was given")
    x = known(ratings)
    off = x[(x < low) | (x > high) | (x != np.rint(x))]
    if off.size:
        raise ValueError(f"rating {off[0]:g} is not a point of the scale {low}–{high}")
    return np.bincount((x - low).astype(int), minlength=high - low + 1)


def iqr(ratings: ArrayLike) -> float | None:
    """Q3 − Q1 with quartiles of type 7 (Hyndman & Fan 1996), NaN left out; None without ratings."""
    x = known(ratings)
    if not x.size:
        return None
    q1, _, q3 = quartiles(x)
    return q3 - q1


def quartiles(x: Floats) -> tuple[float, float, float]:
    """Type 7, as numpy.percentile gives them, whose generality costs more than sorting a panel. x: without NaN."""
    ordered = np.sort(x).tolist()

    def at(share: float) -> float:
        place = (len(ordered) - 1) * share
        low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
        return float(low + (place - int(place)) * (high - low))

    return at(0.25), at(0.5), at(0.75)


def agreement(counts: ArrayLike) -> float | None:
    """Van der Eijk's agreement A of a frequency vector over K ordered categories.

    The vector is peeled into layers: the non-empty categories each give up the smallest remaining frequency m. A layer
    with S non-empty categories has weight w = S·m/N and agreement U·(1 − (S − 1)/(K − 1)), where
    U = ((K − 2)·TU − (K − 1)·TDU) / ((K − 2)·(TU + TDU)) compares the unimodal triples TU (110 and 011) with the
    bimodal ones TDU (101). A = Σ w·agreement: 1 unanimous, 0 uniform, −1 half and half at the ends.
    None without ratings or for K < 3, where A is not defined. Source: van der Eijk 2001, Quality & Quantity 35.
    """
    a = float(agreements(_counts(counts)[None, :])[0])
    return None if np.isnan(a) else a


def agreements(counts: Floats) -> Floats:
    """Van der Eijk's A of each row, frequencies × categories; NaN where `agreement` is None."""
    n, k = counts.sum(axis=1), counts.shape[1]
    if k < 3:
        return np.full(len(counts), np.nan)
    remaining, a = counts.astype(np.float64), np.zeros(len(counts))
    for _ in range(k):  # each layer empties a category at least
        pattern = remaining > 0
        left = pattern.any(axis=1)
        m = np.where(left, np.where(pattern, remaining, np.inf).min(axis=1), 0.0)
        of_layer = np.array([_layer_agreement(tuple(layer)) if any(layer) else 0.0 for layer in pattern.tolist()])
        a += pattern.sum(axis=1) * m * of_layer
        remaining = np.where(pattern, remaining - m[:, None], 0.0)
    return np.asarray(np.clip(np.divide(a, n, out=np.full(len(n), np.nan), where=n > 0), -1.0, 1.0))


def consensus(counts: ArrayLike) -> float | None:
    """Tastle–Wierman consensus, Cns = 1 + Σ pᵢ·log₂(1 − |Xᵢ − μ|/d) over categories Xᵢ with share pᵢ.

    μ = Σ pᵢXᵢ is the mean and d = X_max − X_min the width of the scale. 1 unanimous, 0 half and half at the ends.
    None without ratings or for one category. Source: Tastle & Wierman 2007, Int. J. Approximate Reasoning 45.
    """
    c = _counts(counts)
    n, d = c.sum(), c.size - 1
    if n == 0 or d < 1:
        return None
    p = c / n
    x = np.arange(c.size)
    mu = float(p @ x)
    chosen = p > 0  # an empty end category would give 0·log 0
    cns = 1 + float(p[chosen] @ np.log2(1 - np.abs(x[chosen] - mu) / d))
    return float(np.clip(cns, 0.0, 1.0))


def bimodality(ratings: ArrayLike) -> float | None:
    """Bimodality coefficient BC = (g₁² + 1) / (g₂ + 3(n − 1)²/((n − 2)(n − 3))).

    g₁, g₂ are skewness and excess kurtosis, corrected for bias as scipy corrects them. A uniform distribution has 5/9;
    larger hints at two modes, and strong skew does too. None for n < 4 or without variance. Source: SAS; Pfister et al.
    2013.
    """
    x = known(ratings)
    n = x.size
    if n < 4 or np.ptp(x) == 0:
        return None
    gap = x - x.mean()
    m2, m3, m4 = (float((gap**power).mean()) for power in (2, 3, 4))
    g1 = np.sqrt(n * (n - 1)) / (n - 2) * m3 / m2**1.5
    g2 = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * m4 / m2**2 - 3 * (n - 1))
    return float(g1**2 + 1) / (g2 + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)))


SIDE, BETWEEN_SIDES, APART = 1 / 3, 0.85, 1 / 3


def is_split(counts: ArrayLike) -> bool:
    """Whether ratings fall into two sides: a third of them at least on each, apart, with hardly anyone in between.

    Sides are those of the best cut. It has to explain η² ≥ .85 of the variance (1: two points and nothing else; an even
    spread .75, a bell about .65), and the sides' means have to lie a point and a half and a third of the scale apart. A
    says the same of camps at the ends, but has half and half on 2 and 4 of five points at ⅙, with one rating more on
    either side at .2.
    """
    return bool(_splits(_counts(counts)[None, :])[0])


def _splits(counts: Floats) -> NDArray[np.bool_]:
    """`is_split` of each row, frequencies × categories."""
    n, places = counts.sum(axis=1), np.arange(counts.shape[1])
    total = counts @ places
    spread = counts @ places**2 - np.divide(total**2, n, out=np.zeros_like(total), where=n > 0)
    below, of_below = np.cumsum(counts, axis=1)[:, :-1], np.cumsum(counts * places, axis=1)[:, :-1]
    above, of_above = n[:, None] - below, total[:, None] - of_below
    apart = of_above / np.maximum(above, 1) - of_below / np.maximum(below, 1)
    between = np.where((below > 0) & (above > 0), below * above * apart**2, -1.0)
    rows, cut = np.arange(len(counts)), between.argmax(axis=1)
    far = apart[rows, cut] >= max(1.5, APART * (counts.shape[1] - 1))
    wide = np.minimum(below, above)[rows, cut] >= SIDE * n
    clear = between[rows, cut] >= BETWEEN_SIDES * spread * n * (1 - TIED)
    return np.asarray(far & wide & (spread > 0) & clear)


EVEN = 49_999  # panels of an even spread


def camps_p(counts: ArrayLike) -> float | None:
    """How often so many ratings, spread evenly over the scale, are split and vary as much as these; 1 if these are not.

    (b + 1)/(m + 1) of m = 49,999 panels; more than the scale's even variance is what two camps at the ends have and a
    heap has not. Half the agents about 1.3 and half about 4.7 of five points (sd .7): p below .05/14 in .19 / .37 / .93
    of panels of 10 / 20 / 50, where van der Eijk's A as the statistic finds .14 / .26 / .89. An even spread is not the
    hardest null hypothesis: of panels with two fifths on one end and the others spread evenly .017 / .032 / .023 are
    below .05/14 = .0036. None without ratings.
    """
    c = _counts(counts)
    n = int(c.sum())
    if not n:
        return None
    if not is_split(c):
        return 1.0
    return float((EVEN - np.searchsorted(_even_spreads(n, c.size), _variances(c[None, :])[0] - TIED) + 1) / (EVEN + 1))


@lru_cache(maxsize=64)
def _even_spreads(n: int, k: int) -> Floats:
    """Variances of panels that choose each point alike, −1 of those that are not split, ascending."""
    drawn = np.random.default_rng(0).multinomial(n, np.full(k, 1 / k), size=EVEN).astype(np.float64)
    return np.sort(np.where(_splits(drawn), _variances(drawn), -1.0))


def _variances(counts: Floats) -> Floats:
    n, places = counts.sum(axis=1), np.arange(counts.shape[1])
    return np.asarray(counts @ places**2 / n - (counts @ places / n) ** 2)


Opinions = Literal["consensus", "camps", "spread"]


def has_camps(counts: ArrayLike, *, alpha: float = 0.05) -> bool:
    """Whether ratings fall into two camps: they are split (`is_split`), and an even spread seldom looks so (`camps_p`
    below alpha).

    A split is what the panel looks like; of ten ratings that are spread evenly one in six is split. alpha: .05 over the
    items that are looked at; where p goes into one correction with other tests, ask with alpha 1 and correct `camps_p`.
    Half and half on 2 and 4 of five points, each a quarter of the scale off the middle, is a split and no camps.
    """
    p = camps_p(counts)
    return p is not None and p < min(alpha, 1.0)


def opinions(counts: ArrayLike, *, consensus_iqr: float = 1.0, alpha: float = 0.05) -> Opinions | None:
    """How the ratings of one item lie: camps, a consensus (IQR at most 1), else "spread", which says no more than that.

    Two camps are never a consensus; without ratings None.
    """
    c = _counts(counts)
    if not c.sum():
        return None
    if has_camps(c, alpha=alpha):
        return "camps"
    q1, _, q3 = quartiles(np.repeat(np.arange(c.size, dtype=np.float64), c.astype(int)))
    return "consensus" if q3 - q1 <= consensus_iqr else "spread"


TIED = 1e-9


def parting(points: Floats, counts: Floats) -> tuple[float, float]:
    """The highest rating below and the lowest above the cut with the most variance between its sides, or all such cuts.

    points: ratings that occur, ascending; counts: how often. Source: JASA 53 (1958), 789–798.
    """
    n, total = np.cumsum(counts)[:-1], np.cumsum(points * counts)[:-1]
    rest, n_rest = (points * counts).sum() - total, counts.sum() - n
    between = n * n_rest * (total / n - rest / n_rest) ** 2
    best = np.flatnonzero(between >= between.max() * (1 - TIED))
    return float(points[best[0]]), float(points[best[-1] + 1])


def _counts(counts: ArrayLike) -> Floats:
    c = np.asarray(counts, dtype=np.float64)
    if c.ndim != 1 or np.isnan(c).any() or (c < 0).any():
        raise ValueError(f"frequencies must be one list of numbers ≥ 0, not {counts!r}")
    return c


@cache
def _layer_agreement(pattern: tuple[bool, ...]) -> float:
    k, s = len(pattern), sum(pattern)
    if s == 1:
        return 1.0
    triples = [tuple(triple) for triple in combinations(pattern, 3)]
    tu = triples.count((True, True, False)) + triples.count((False, True, True))
    tdu = triples.count((True, False, True))
    u = ((k - 2) * tu - (k - 1) * tdu) / ((k - 2) * (tu + tdu)) if tu + tdu else 1.0
    return float(u * (1 - (s - 1) / (k - 1)))


# --- All measures of a Delphi panel by item and round: consensus, stability and polarisation, apart from one another

DISAGREEMENT_IQR = 2.0
DISAGREEMENT_A = 0.2
CONSENSUS_IQR = 1.0


@dataclass(frozen=True, slots=True)
class Convergence:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    iqr_first: float | None
    iqr_second: float | None
    delta_iqr: float | None  # negative: the panel drew together
    n_off_median: int  # panelists whose first rating was not the median: only they can move toward it
    n_moved: int
    n_toward: int
    n_away: int
    share_toward: float | None  # n_toward / n_off_median


def converge(first: pd.Series[float], second: pd.Series[float], *, median: float | None = None) -> Convergence:
    """ΔIQR = IQR(second) − IQR(first) over the same panelists, and who moved toward the first round's median M.

    A panelist moves toward M where |second − M| < |first − M|, away where it is larger.
    first, second: ratings by participant id, NaN where missing. median: the M that was fed back; by default the median
    of all first-round ratings, those of later drop-outs included, because that is what the panel was shown.
    Raises ValueError if a participant occurs twice.
    """
    x, y, first_only, second_only = _both(first, second)
    m = float(first.median()) if median is None else median
    before, after = np.abs(x - m), np.abs(y - m)
    n_off, n_toward = int((before > 0).sum()), int((after < before).sum())
    iqr_first, iqr_second = iqr(x), iqr(y)
    return Convergence(
        n_paired=x.size,
        n_first_only=first_only,
        n_second_only=second_only,
        iqr_first=iqr_first,
        iqr_second=iqr_second,
        delta_iqr=None if iqr_first is None or iqr_second is None else iqr_second - iqr_first,
        n_off_median=n_off,
        n_moved=int((x != y).sum()),
        n_toward=n_toward,
        n_away=int((after > before).sum()),
        share_toward=n_toward / n_off if n_off else None,
    )


def _both(first: pd.Series[float], second: pd.Series[float]) -> tuple[Floats, Floats, int, int]:
    """Ratings of those present in both rounds, and how many rated only in the first, only in the second."""
    x, y, _ = paired_scores(first, second, ("first round", "second round"))
    only = [int(ratings.count()) - x.size for ratings in (first, second)]
    return x.to_numpy(dtype=float), y.to_numpy(dtype=float), only[0], only[1]


def is_polarised(spread: Dispersion, *, below: float = DISAGREEMENT_A) -> bool | None:
    """Van der Eijk's A < 0.2, or two sides that lie apart; None where there are no ratings."""
    if not spread.n:
        return None
    return spread.split or (spread.agreement is not None and spread.agreement < below)


def is_disagreement(
    spread: Dispersion, *, iqr_above: float = DISAGREEMENT_IQR, polarised_below: float = DISAGREEMENT_A
) -> bool:
    """IQR > 2 or polarised: the IQR alone misses a panel split half and half on 2 and 4 (IQR 2)."""
    wide = spread.iqr is not None and spread.iqr > iqr_above
    return wide or bool(is_polarised(spread, below=polarised_below))


def is_consensus(iqr: float | None, *, at_most: float = CONSENSUS_IQR) -> bool:
    """The usual label on five-point scales: IQR ≤ 1. Without ratings there is none."""
    return iqr is not None and iqr <= at_most


def rank_consensus(statements: pd.DataFrame, *, at_most: float = CONSENSUS_IQR) -> pd.DataFrame:
    """Consensus statements, the closest agreement first: by IQR ascending, then median importance descending.

    statements: index = theme id, columns iqr and median (of importance). Equal ones share their places and keep the
    order of their ids, so the ranking does not depend on the order given. Returns the rows with IQR ≤ at_most and
    columns rank and rank_to, the first and the last place that a theme shares, from 1.
    """
    chosen = statements[statements["iqr"] <= at_most].sort_index(kind="stable")
    ranked = chosen.sort_values(["iqr", "median"], ascending=[True, False], kind="stable")
    alike = ranked.assign(rank=range(1, len(ranked) + 1)).groupby(["iqr", "median"])["rank"]
    return ranked.assign(rank=alike.transform("min"), rank_to=alike.transform("max"))


STABLE_UP_TO = 0.15
"""Share of the panel that may have changed its place, net, in a stable item (Scheibe, Skutsch & Schofer 1975)."""


@dataclass(frozen=True, slots=True)
class RatingStability:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    n_changed: int
    share_changed: float | None
    net_change: float | None  # 0 … 1
    stable: bool | None  # net_change ≤ .15
    kappa: Kappa
    wilcoxon: PairedTest
    cv_first: float | None
    cv_second: float | None
    delta_cv: float | None  # negative: less spread for its level


def stability(
    first: pd.Series[float], second: pd.Series[float], low: int, high: int, *, up_to: float = STABLE_UP_TO
) -> RatingStability:
    """Change between two rounds within panelists: κ, Wilcoxon, net change of the histogram, ΔCV.

    net_change = ½Σₖ|nₖ,₂ − nₖ,₁|/n over scale points k: the share of the panel that would have to move to turn the one
    histogram into the other; the item is stable up to 15 %. Individuals may swap places all the same: share_changed and
    κ tell. CV = SD/mean (n − 1); it takes the scale's zero for a real one. Describes this run.

    first, second: ratings by participant on the integer scale low … high, NaN where missing.
    Raises ValueError if a participant occurs twice or a rating is off the scale.
    Source: Scheibe, Skutsch & Schofer 1975; Dajani, Sincoff & Talley 1979; von der Gracht 2012 for a review.
    """
    x, y, first_only, second_only = _both(first, second)
    moved = np.abs(frequencies(y, low, high) - frequencies(x, low, high)).sum() / 2
    net = float(moved / x.size) if x.size else None
    cv_first, cv_second = variation(x), variation(y)
    return RatingStability(
        n_paired=x.size,
        n_first_only=first_only,
        n_second_only=second_only,
        n_changed=int((x != y).sum()),
        share_changed=float((x != y).mean()) if x.size else None,
        net_change=net,
        stable=None if net is None else net <= up_to,
        kappa=weighted_kappa(x, y),
        wilcoxon=wilcoxon(x, y),
        cv_first=cv_first,
        cv_second=cv_second,
        delta_cv=None if cv_first is None or cv_second is None else cv_second - cv_first,
    )


def variation(ratings: np.ndarray) -> float | None:
    """Coefficient of variation SD/mean, n − 1, NaN left out; None below two ratings or for a mean of 0 or less."""
    x = known(ratings)
    return float(x.std(ddof=1) / x.mean()) if x.size > 1 and x.mean() > 0 else None


@dataclass(frozen=True, slots=True)
class PanelMeasure:
    """One item in one round. Stability and p are None in the first round and where the item was not asked before."""

    item: str
    round: int
    spread: Dispersion  # among them A, Tastle–Wierman, bimodality
    consensus: bool | None  # IQR ≤ 1; None without ratings
    polarised: bool | None  # A < 0.2 or split; None without ratings
    stability: RatingStability | None
    p_holm: float | None  # of stability.wilcoxon, over the items of this round
    p_bh: float | None


def panel_measures(
    rounds: Mapping[int, pd.DataFrame],
    scales: Mapping[str, tuple[int, int]],
    *,
    consensus_iqr: float = CONSENSUS_IQR,
    polarised_below: float = DISAGREEMENT_A,
) -> list[PanelMeasure]:
    """Every measure of every item and round, rounds ascending, items in the order of their table.

    A panel may agree without having settled, settle without agreeing, and split into camps inside a small IQR (half and
    half on 2 and 4 has IQR 2, A ⅙): so three answers, none derived from another.

    rounds: by round number, participants × items, NaN where missing. scales: lowest and highest point by item.
    Raises ValueError for an item without a scale, a rating off it, or a doubled participant or item.
    """
    measures: list[PanelMeasure] = []
    before: pd.DataFrame | None = None
    for number in sorted(rounds):
        table = rounds[number]
        require_unique(table, f"round {number}")
        measures += _round(number, table, before, scales, consensus_iqr, polarised_below)
        before = table
    return measures


def _round(
    number: int,
    table: pd.DataFrame,
    before: pd.DataFrame | None,
    scales: Mapping[str, tuple[int, int]],
    consensus_iqr: float,
    polarised_below: float,
) -> list[PanelMeasure]:
    items = [str(item) for item in table.columns]
    for item in items:
        if item not in scales:
            raise ValueError(
                f"round {number}: item {item!r} has no scale; known: {', '.join(map(repr, scales)) or 'none'}"
            )
    spreads = [describe(table[item].to_numpy(dtype=float), *scales[item]) for item in items]
    settled = [None if before is None or i not in before else stability(before[i], table[i], *scales[i]) for i in items]
    p = [None if stood is None else stood.wilcoxon.p for stood in settled]
    return [
        PanelMeasure(
            item=item,
            round=number,
            spread=spread,
            consensus=is_consensus(spread.iqr, at_most=consensus_iqr) if spread.n else None,
            polarised=is_polarised(spread, below=polarised_below),
            stability=stood,
            p_holm=p_holm,
            p_bh=p_bh,
        )
        for item, spread, stood, p_holm, p_bh in zip(
            items, spreads, settled, holm(p), benjamini_hochberg(p), strict=True
        )
    ]
