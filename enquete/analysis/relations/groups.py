"""Whether groups differ: Kruskal–Wallis with ε², and the share of variance between groups, η²."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.joining import Floats, paired_scores
from enquete.analysis.permutation import SMALL, Labels, permutation_p


@dataclass(frozen=True, slots=True)
class GroupTest:
    """A comparison of groups. Undefined figures are None, for the `reason` given."""

    n: int
    n_missing: int  # without a value or a group
    groups: Mapping[str, int]  # values by group, sorted by name
    statistic: float | None  # H or F
    df: tuple[int, ...]
    p: float | None
    method: str  # "chi-squared", "F", "exact permutation", "random permutation", "none"
    effect: float | None  # ε² or η², 0 … 1
    reason: str = ""


def kruskal_wallis(values: pd.Series[float], groups: pd.Series[str], *, seed: int = 0) -> GroupTest:
    """Kruskal–Wallis H over g groups, corrected for ties, with ε² as its effect size.

    H = (12/(n(n + 1))·ΣRₖ²/nₖ − 3(n + 1)) / (1 − Σ(t³ − t)/(n³ − n)), Rₖ the rank sum of group k, t the sizes of ties;
    ε² = H/(n − 1). Up to 200 values p is that of a permutation test (exact up to 20,000 relabellings, else random ones by
    seed), beyond it is from χ² with g − 1 degrees of freedom. Describes this run.

    values, groups: by participant, NaN where missing; joined by label. Reasons: fewer than two groups, no variation,
    fewer than three values. Raises ValueError for a doubled participant.
    Source: Kruskal & Wallis 1952; Kelley 1935 for ε² (Tomczak & Tomczak 2014). scipy.stats.kruskal gives the same H.
    """
    joined = _joined(values, groups)
    if joined.reason:
        return joined.without()
    n, k, rank = joined.x.size, joined.k, np.asarray(scipy.stats.rankdata(joined.x), dtype=np.float64)
    between = float(_between(rank, joined.label[None, :], k)[0])
    h = (12.0 / (n * (n + 1)) * between - 3 * (n + 1)) / float(scipy.stats.tiecorrect(rank))  # type: ignore[arg-type]
    p, method = _p(joined, rank, seed) or (float(scipy.stats.chi2.sf(h, k - 1)), "chi-squared")
    return joined.test(h, (k - 1,), p, method, min(1.0, h / (n - 1)))


def eta_squared(values: pd.Series[float], groups: pd.Series[str], *, seed: int = 0) -> GroupTest:
    """η² = SS_between/SS_total: the share of the variance of `values` that lies between groups.

    SS_between = Σnₖ(x̄ₖ − x̄)², F = (SS_between/(g − 1)) / (SS_within/(n − g)). p as in `kruskal_wallis`, of F beyond 200
    values. η² of g groups of noise is about (g − 1)/(n − 1), not 0: read it beside p. F is None where groups have no
    variance within. Describes this run. Arguments, reasons and errors as in `kruskal_wallis`. Source: Statistical
    Methods for Research Workers, 1925.
    """
    joined = _joined(values, groups)
    if joined.reason:
        return joined.without()
    n, k = joined.x.size, joined.k
    gap = joined.x - joined.x.mean()
    total = float(gap @ gap)
    effect = min(1.0, float(_between(gap, joined.label[None, :], k)[0]) / total)
    f = effect / (k - 1) / ((1 - effect) / (n - k)) if n > k and effect < 1 - 1e-12 else None
    p, method = _p(joined, gap, seed) or (
        (None, "none") if f is None else (float(scipy.stats.f.sf(f, k - 1, n - k)), "F")
    )
    return joined.test(f, (k - 1, n - k), p, method, effect)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Values and their groups' numbers, complete, with what a test reports about them."""

    x: Floats
    label: Labels
    names: tuple[str, ...]
    n_missing: int
    reason: str

    @property
    def k(self) -> int:
        return len(self.names)

    def test(
        self, statistic: float | None, df: tuple[int, ...], p: float | None, method: str, effect: float | None
    ) -> GroupTest:
        counts = dict(zip(self.names, np.bincount(self.label, minlength=self.k).tolist(), strict=True))
        return GroupTest(self.x.size, self.n_missing, counts, statistic, df, p, method, effect, self.reason)

    def without(self) -> GroupTest:
        return self.test(None, (), None, "none", None)


def _joined(values: pd.Series[float], groups: pd.Series[str]) -> _Joined:
    x, kind, n_missing = paired_scores(values, groups, ("values", "groups"))
    names, label = np.unique(kind.astype(str).to_numpy(dtype=object), return_inverse=True)
    data: Floats = np.asarray(x, dtype=np.float64)
    reason = ""
    if data.size < 3:
        reason = "fewer than 3 values"
    elif len(names) < 2:
        reason = "fewer than 2 groups"
    elif np.ptp(data) == 0:
        reason = "no variation"
    return _Joined(data, label.astype(np.int64), tuple(map(str, names)), n_missing, reason)


def _p(joined: _Joined, scores: Floats, seed: int) -> tuple[float, str] | None:
    """Of the permutation test on these scores, with its method; None where there are too many for one."""
    if joined.x.size > SMALL:
        return None
    found = permutation_p(joined.label, lambda labels: _between(scores, labels, joined.k), seed=seed)
    return found.p, found.method


def _between(x: Floats, labels: Labels, k: int) -> Floats:
    """Σ Sₖ²/nₖ of every relabelling, Sₖ the sum of group k: grows with H of ranks and with F of centred values."""
    total = np.zeros(len(labels))
    for group in range(k):
        inside = labels == group
        total += (inside.astype(np.float64) @ x) ** 2 / inside[0].sum()
    return total
