"""How two findings about the same agents go together: Cramér's V, ε², Spearman's ρ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from enquete.analysis.groups import kruskal_wallis
from enquete.analysis.permutation import DRAWS, SMALL, Floats, Labels, enumerable, permutation_p

EXACT_ORDERS = 5_040  # 7!: orders of ranks that are enumerated

Measure = Literal["cramers_v", "epsilon_squared", "spearman"]


@dataclass(frozen=True, slots=True)
class Association:
    """One association. Undefined figures are None, for the `reason` given."""

    measure: Measure
    n: int  # agents with both findings
    n_missing: int
    effect: float | None  # V 0 … 1, ε² 0 … 1, ρ −1 … 1
    low: float | None  # 95 % interval, Spearman only
    high: float | None
    statistic: float | None  # χ², H or ρ
    p: float | None
    method: str
    reason: str = ""


def cramers_v(x: pd.Series[str], y: pd.Series[str], *, draws: int = DRAWS, seed: int = 0) -> Association:
    """Cramér's V of two categorical findings, corrected for bias, with a permutation p of χ².

    φ² = χ²/n, φ̃² = max(0, φ² − (k − 1)(r − 1)/(n − 1)), k̃ = k − (k − 1)²/(n − 1), r̃ likewise,
    V = √(φ̃²/min(k̃ − 1, r̃ − 1)), with χ² = Σ(o − e)²/e over the r × k table. p is exact where there are at most 20,000
    relabellings, else from random tables with the same margins (scipy.stats.random_table), (b + 1)/(m + 1).
    Describes this run. None below three agents or with one category only. Source: Bergsma 2013.
    """
    a, b, n_missing = _complete(x, y)
    n = len(a)
    left, right = (pd.factorize(values.astype(str), sort=True) for values in (a, b))
    r, k = len(left[1]), len(right[1])
    reason = "fewer than 3 agents" if n < 3 else ("one category only" if min(r, k) < 2 else "")
    if reason:
        return Association("cramers_v", n, n_missing, None, None, None, None, None, "none", reason)
    rows, columns = left[0].astype(np.int64), right[0].astype(np.int64)
    table = np.bincount(rows * k + columns, minlength=r * k).reshape(r, k)
    chi2 = float(_chi2(table[None, :, :])[0])
    p, method = _p_of_table(rows, columns, table, chi2, draws, seed)
    return Association("cramers_v", n, n_missing, _bergsma(chi2, n, r, k), None, None, chi2, p, method)


def epsilon_squared(values: pd.Series[float], groups: pd.Series[str], *, seed: int = 0) -> Association:
    """ε² = H/(n − 1) of a numeric by a categorical finding: `kruskal_wallis` as an association."""
    test = kruskal_wallis(values, groups, seed=seed)
    return Association(
        "epsilon_squared", test.n, test.n_missing, test.effect, None, None, test.statistic, test.p, test.method,
        test.reason,
    )  # fmt: skip


def spearman(x: pd.Series[float], y: pd.Series[float], *, level: float = 0.95, seed: int = 0) -> Association:
    """Spearman's ρ of two numeric findings: Pearson's r of the mid-ranks.

    Interval: tanh(artanh ρ ± z·√((1 + ρ²/2)/(n − 3))), from four agents on and for |ρ| < 1. p, two-sided: all orders up to
    seven agents, random ones by seed up to 200 agents, beyond that Student's t = ρ√((n − 2)/(1 − ρ²)). Describes this run.
    None below three agents or without variation. Source: Spearman 1904; Bonett & Wright 2000 for the interval.
    """
    a, b, n_missing = _complete(x, y)
    n = len(a)
    u, v = a.to_numpy(dtype=np.float64), b.to_numpy(dtype=np.float64)
    reason = "fewer than 3 agents" if n < 3 else ("no variation" if not np.ptp(u) or not np.ptp(v) else "")
    if reason:
        return Association("spearman", n, n_missing, None, None, None, None, None, "none", reason)
    s, t = (_standardised(values) for values in (u, v))
    rho = float(np.clip(s @ t, -1, 1))
    low, high = _fisher(rho, n, level)
    if n <= SMALL:
        found = permutation_p(np.arange(n), lambda order: np.abs(t[order] @ s), exact_up_to=EXACT_ORDERS, seed=seed)
        p, method = found.p, found.method
    else:
        p, method = float(stats.spearmanr(u, v).pvalue), "t approximation"
    return Association("spearman", n, n_missing, rho, low, high, rho, p, method)


def _complete(x: pd.Series, y: pd.Series) -> tuple[pd.Series, pd.Series, int]:
    for name, series in (("first", x), ("second", y)):
        if series.index.has_duplicates:
            doubled = series.index[series.index.duplicated()][0]
            raise ValueError(f"{name} finding: participant {doubled!r} occurs more than once")
    rows = x.index.union(y.index)
    a, b = x.reindex(rows), y.reindex(rows)
    both = a.notna() & b.notna()
    return a[both], b[both], int((~both).sum())


def _p_of_table(rows: Labels, columns: Labels, table: Labels, chi2: float, draws: int, seed: int) -> tuple[float, str]:
    r, k = table.shape
    if enumerable(columns):
        inside = (rows[None, :] == np.arange(r)[:, None]).astype(np.float64)

        def statistic(labels: Labels) -> Floats:
            return _chi2(np.stack([(labels == column) @ inside.T for column in range(k)], axis=2))

        found = permutation_p(columns, statistic, seed=seed)
        return found.p, found.method
    drawn = stats.random_table(table.sum(axis=1), table.sum(axis=0)).rvs(draws, random_state=seed)
    extreme = int((_chi2(drawn) >= chi2 * (1 - 1e-9)).sum())
    return (extreme + 1) / (draws + 1), "random permutation"


def _chi2(tables: ArrayLike) -> Floats:
    """χ² of tables × rows × columns with the same margins, none empty."""
    o = np.asarray(tables, dtype=np.float64)
    e = o[:1].sum(axis=2, keepdims=True) * o[:1].sum(axis=1, keepdims=True) / o[0].sum()
    return np.asarray(((o - e) ** 2 / e).sum(axis=(1, 2)))


def _bergsma(chi2: float, n: int, r: int, k: int) -> float | None:
    phi2 = max(0.0, chi2 / n - (k - 1) * (r - 1) / (n - 1))
    width = min(levels - (levels - 1) ** 2 / (n - 1) - 1 for levels in (r, k))
    return min(1.0, float(np.sqrt(phi2 / width))) if width > 0 else None


def _standardised(values: Floats) -> Floats:
    rank = np.asarray(stats.rankdata(values), dtype=np.float64)
    gap = rank - rank.mean()
    return np.asarray(gap / np.sqrt(gap @ gap))


def _fisher(rho: float, n: int, level: float) -> tuple[float | None, float | None]:
    if n < 4 or abs(rho) >= 1 - 1e-12:
        return None, None
    half = float(stats.norm.ppf((1 + level) / 2)) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    return float(np.tanh(np.arctanh(rho) - half)), float(np.tanh(np.arctanh(rho) + half))
