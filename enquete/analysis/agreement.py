"""How far raters, codings and rankings agree, and when a group has agreed enough: κ, Krippendorff's α, Kendall's W,
exits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from enquete.analysis.answers import Flags
from enquete.analysis.change import PairedTest, holm, wilcoxon
from enquete.analysis.estimates import Floats, require_unique


@dataclass(frozen=True, slots=True)
class Kappa:
    """κ, None where it is undefined, for the `reason` given."""

    n: int
    n_missing: int
    kappa: float | None
    exact_share: float | None  # share of identical ratings
    reason: str = ""


def weighted_kappa(first: ArrayLike, second: ArrayLike) -> Kappa:
    """Return Cohen's κ with quadratic weights, as scikit-learn's cohen_kappa_score gives it.

    κ = 1 − Σ w·o / Σ w·e with w = (i − j)², o the observed table of the two ratings, e the product of its margins. i
    and j count the categories that occur in either list, as R's irr::kappa2 does, too: 2 and 4 are neighbours where
    nobody chose 3. 1 is identical, 0 as by chance, below 0 worse than that.

    Args:
        first: Ratings, NaN where missing.
        second: As many ratings of the same things by another rater, or on another occasion.

    Returns:
        κ, which is None without a pair, or where all ratings of both are one and the same value.

    Raises:
        ValueError: The lists are of different lengths.

    Source: Cohen 1968; Fleiss & Cohen 1973.
    """
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415 - takes a second; most runs compute no κ

    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"first and second must be two lists of equal length, not {x.shape} and {y.shape}")
    both = ~(np.isnan(x) | np.isnan(y))
    x, y, n_missing = x[both], y[both], int((~both).sum())
    if not x.size:
        return Kappa(0, n_missing, None, None, "no pairs")

    exact = float((x == y).mean())
    categories, places = np.unique(np.concatenate([x, y]), return_inverse=True)
    if categories.size == 1:
        return Kappa(x.size, n_missing, None, exact, "all ratings are one value: chance alone agrees fully")
    # Places stand for the values, since scikit-learn takes 2.5 for no category.
    kappa = cohen_kappa_score(places[: x.size], places[x.size :], weights="quadratic")
    return Kappa(x.size, n_missing, float(kappa), exact)


def stratified_kappa(first: Floats, second: Floats) -> float | None:
    """κ_w = 1 − Σᵢ Σₐ (xₐᵢ − yₐᵢ)² / Σᵢ nᵢ·(s²ₓᵢ + s²_yᵢ + (x̄ᵢ − ȳᵢ)²), the denominator what chance gives an item.

    first, second: agents × items in one unit, NaN where missing; s² with divisor n. One item gives Cohen's κ with
    quadratic weights of the ratings themselves: that of `weighted_kappa`, if every category between two that occur does
    so, too. No library has it. None where no item varies. Source: Fleiss & Cohen 1973; strata as in Barlow, Lai & Azen
    1991.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    n = known.sum(axis=0)
    x, y = np.where(known, first, 0.0), np.where(known, second, 0.0)
    observed = ((x - y) ** 2).sum()
    size = np.maximum(n, 1)
    mean_x, mean_y = x.sum(axis=0) / size, y.sum(axis=0) / size
    spread_x, spread_y = (x**2).sum(axis=0) - n * mean_x**2, (y**2).sum(axis=0) - n * mean_y**2
    by_chance = float((spread_x + spread_y + n * (mean_x - mean_y) ** 2).sum())
    return 1 - float(observed) / by_chance if by_chance > 1e-9 else None


@dataclass(frozen=True, slots=True)
class ArmComponents:
    """Variance components within items; negative estimates are kept, as ICC's formula needs them."""

    between_agents: float
    between_arms: float
    error: float
    n_arms: int
    n_items: int  # with at least two agents complete over all arms

    @property
    def icc(self) -> float | None:
        """ICC(A,1) = σ²_a/(σ²_a + σ²_p + σ²_e), two-way random, absolute agreement.

        Source: McGraw & Wong 1996; Shrout & Fleiss (2,1).
        """
        total = self.between_agents + self.between_arms + self.error
        return self.between_agents / total if total > 1e-12 else None

    @property
    def share_of_arms(self) -> float | None:
        """σ²_p/(σ²_a + σ²_p + σ²_e), negative estimates taken as 0."""
        agents, arms = max(self.between_agents, 0.0), max(self.between_arms, 0.0)
        total = agents + arms + self.error
        return arms / total if total > 1e-12 else None


def components(arms: Sequence[Floats]) -> ArmComponents | None:
    """Components of x = item + agent×item + arm×item + e from the mean squares, sums of squares pooled over items.

    σ²_a = (MS_a − MS_e)/k, σ²_p = (MS_p − MS_e)/n₀, σ²_e = MS_e, for k arms and n₀ = agents an item on average.
    arms: k ≥ 2 matrices agents × items in one unit; an answer missing in one arm is left out of all. None where no item
    has two complete agents. Raises ValueError for fewer than two arms.
    """
    k = len(arms)
    if k < 2:
        raise ValueError(f"components need at least two arms; {k} was given")
    x = np.stack(arms)
    known: Flags = np.asarray(~np.isnan(x).any(axis=0))
    enough = known.sum(axis=0) >= 2
    x, known = np.where(known, x, 0.0)[:, :, enough], known[:, enough]
    n = known.sum(axis=0)
    if not n.size:
        return None
    arm_means, agent_means = x.sum(axis=1) / n, x.mean(axis=0)
    means = arm_means.mean(axis=0)
    agents = k * float((known * (agent_means - means) ** 2).sum())
    by_arm = float((n * (arm_means - means) ** 2).sum())
    error = float((known * (x - means) ** 2).sum()) - agents - by_arm
    free = int((n - 1).sum())
    ms_agents, ms_arms = agents / free, by_arm / (n.size * (k - 1))
    ms_error = max(error, 0.0) / (free * (k - 1))  # rounding can leave it just below 0
    return ArmComponents((ms_agents - ms_error) / k, (ms_arms - ms_error) / float(n.mean()), ms_error, k, int(n.size))


# --- Whether two codings of the same statements into themes agree: Krippendorff's α by theme, and over sets of themes

Codes = frozenset[str]


@dataclass(frozen=True, slots=True)
class ThemeAgreement:
    """One theme: was it given or not? α is None where it is undefined, for the `reason` given."""

    theme: str
    n_first: int  # statements that the first coding gave it to
    n_second: int
    n_both: int
    alpha: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CodingAgreement:
    """Two codings of the statements that both have coded."""

    n: int
    n_first_only: int  # statements that only one coding knows: left out
    n_second_only: int
    identical_share: float | None  # statements with exactly the same set of themes
    alpha: float | None  # over sets of themes, MASI distance
    themes: tuple[ThemeAgreement, ...]  # sorted by id
    reason: str = ""


def coding_agreement(first: Mapping[str, Collection[str]], second: Mapping[str, Collection[str]]) -> CodingAgreement:
    """Krippendorff's α = 1 − Dₒ/Dₑ of two codings, statement → themes; an empty set means: coded, no theme fits.

    By theme: nominal α of the yes/no coding. Over all: α with the MASI distance between
    sets, δ = 1 − J·M, J = |A ∩ B|/|A ∪ B|, M = 1 equal, ⅔ one within the other, ⅓ overlapping, 0 disjoint: half-right
    counts half. Dₒ is the mean δ within statements, Dₑ that between any two of all 2n codings. With one theme each it
    is the usual nominal α. Both codings must use the same theme ids. At N statements it costs (number of distinct
    sets)²; the library `krippendorff` gives the same and takes 270 times as long (2,000 statements: 52 s for .2). From
    .80 rely on it, from .667 tentative conclusions (Krippendorff 2004).

    α is None without common statements, or where every coding is the same (nothing to tell apart).
    Source: Krippendorff 2004, ch. 11; Passonneau 2006 (MASI).
    """
    common = sorted(first.keys() & second.keys())
    x, y = ([frozenset(coding[s]) for s in common] for coding in (first, second))
    alpha, reason = _alpha_of_sets(x, y)
    return CodingAgreement(
        n=len(common),
        n_first_only=len(first) - len(common),
        n_second_only=len(second) - len(common),
        identical_share=sum(a == b for a, b in zip(x, y, strict=True)) / len(common) if common else None,
        alpha=alpha,
        themes=tuple(_theme(theme, x, y) for theme in sorted(frozenset().union(*x, *y))),
        reason=reason,
    )


def masi_distance(a: Codes, b: Codes) -> float:
    """δ = 1 − J·M of two sets, 0 equal (two empty ones too) … 1 disjoint. Source: Passonneau 2006."""
    if a == b:
        return 0.0
    shared = len(a & b)
    if not shared:
        return 1.0
    m = 2 / 3 if a < b or b < a else 1 / 3
    return 1 - shared / len(a | b) * m


def _theme(theme: str, x: list[Codes], y: list[Codes]) -> ThemeAgreement:
    """Of two sets that hold one theme or none the distance is 0 or 1: nominal α."""
    first, second = ([codes & {theme} for codes in coding] for coding in (x, y))
    alpha, _ = _alpha_of_sets(first, second)
    n_both = sum(a == b != frozenset() for a, b in zip(first, second, strict=True))
    # It never is absent everywhere: then no coding would have named it.
    reason = "given to every statement by both" if alpha is None else ""
    return ThemeAgreement(theme, sum(map(len, first)), sum(map(len, second)), n_both, alpha, reason)


def _alpha_of_sets(x: list[Codes], y: list[Codes]) -> tuple[float | None, str]:
    if not x:
        return None, "no statement is coded in both"
    observed = float(np.mean([masi_distance(a, b) for a, b in zip(x, y, strict=True)]))
    margin = Counter([*x, *y])
    sets = sorted(margin, key=sorted)
    n = np.array([margin[codes] for codes in sets], dtype=np.float64)
    distance = np.array([[masi_distance(a, b) for b in sets] for a in sets])
    expected = float(n @ distance @ n) / (n.sum() * (n.sum() - 1))
    return (None, "every statement has the same themes in both") if expected == 0 else (1 - observed / expected, "")


# --- How far several raters rank the same things alike, and which things they tell apart: Kendall's W, Friedman,
# pairwise Wilcoxon


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


NoTest = Literal["too_few_raters", "no_variation"]


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
    reason: NoTest | None


def friedman(ratings: ArrayLike) -> Friedman:
    """Friedman's χ² over n raters and k things, corrected for ties, with Kendall's W as its effect size.

    χ² = n(k − 1)·W with W = 12·Σⱼ(Rⱼ − n(k + 1)/2)² / (n²(k³ − k) − n·Σ(t³ − t)): Rⱼ the sum of the mid-ranks of thing
    j, t the sizes of a rater's groups of ties; k − 1 degrees of freedom. W runs from 0 (no concordance) to 1 (identical
    rankings). The χ² approximation is rough for few raters (below about 15 for k = 4).

    ratings: raters × things, k ≥ 2; a rater with a NaN is left out and counted. Reasons: 'too_few_raters' below two,
    'no_variation' where every rater rates everything alike. Raises ValueError unless two-dimensional with k ≥ 2.
    Source: Friedman 1937; Conover 1999, section 5.8. scipy.stats.friedmanchisquare gives the same χ², neither W
    nor anything of two things; so χ² comes from W.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < 2:
        raise ValueError(f"ratings must be a table of raters × at least two things, not of shape {x.shape}")
    complete = x[~np.isnan(x).any(axis=1)]
    n, k = complete.shape
    ranks = tuple(scipy.stats.rankdata(complete, axis=1).mean(axis=0).tolist()) if n else ()
    concordance = kendall_w(complete)
    reason: NoTest | None = None
    if concordance.w is None:
        reason = "too_few_raters" if n < 2 else "no_variation"
    return Friedman(n, len(x) - n, k, concordance.chi2, k - 1, concordance.p, concordance.w, ranks, reason)


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
