"""What goes together: associations of two columns with intervals and tests, and which pole of a scale a theme is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from enquete.analysis.change import benjamini_hochberg, holm
from enquete.analysis.estimates import DRAWS as BOOTSTRAP
from enquete.analysis.estimates import (
    Floats,
    bca,
    draws_within,
    left_out,
    paired_scores,
    require_unique,
    resampled_counts,
)
from enquete.analysis.inference import DRAWS, SMALL, Labels, enumerable, permutation_p, staged

EXACT_ORDERS = 5_040  # 7!: orders of ranks that are enumerated
LEAST = 400  # resamples of an interval at the least: 10 in either tail
RESAMPLED = 1_000_000  # resamples × cells of one interval, unless that were fewer than LEAST
TINY = 1e-12
NAMES = ("first finding", "second finding")

Measure = Literal["cramers_v", "epsilon_squared", "spearman"]


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
    ε² = H/(n − 1). Up to 200 values p is that of a permutation test (exact up to 20,000 relabellings, else random ones
    by seed), beyond it is from χ² with g − 1 degrees of freedom. Describes this run.

    values, groups: by participant, NaN where missing; joined by label. Reasons: fewer than two groups, no variation,
    fewer than three values. Raises ValueError for a doubled participant.
    Source: Kruskal & Wallis 1952; Kelley 1935 for ε² (Tomczak & Tomczak 2014). H by scipy.stats.kruskal.
    """
    return _kruskal_wallis(_joined(values, groups), seed)


def _kruskal_wallis(joined: _Joined, seed: int) -> GroupTest:
    if joined.reason:
        return joined.test(None, (), None, "none", None)
    n, k, rank = joined.x.size, joined.k, np.asarray(scipy.stats.rankdata(joined.x), dtype=np.float64)
    h, approximate = map(float, scipy.stats.kruskal(*(joined.x[joined.label == group] for group in range(k))))
    p, method = _p_between(joined, rank, seed) or (approximate, "chi-squared")
    return joined.test(h, (k - 1,), p, method, min(1.0, h / (n - 1)))


@dataclass(frozen=True, slots=True)
class _Joined:
    """Values and their groups' numbers, complete, with what a test reports about them."""

    x: Floats
    label: Labels
    names: tuple[str, ...]
    n_missing: int

    @property
    def reason(self) -> str:
        """Why there is no test; else nothing."""
        if self.x.size < 3:
            return "fewer than 3 values"
        if self.k < 2:
            return "fewer than 2 groups"
        return "no variation" if np.ptp(self.x) == 0 else ""

    @property
    def k(self) -> int:
        return len(self.names)

    def test(
        self, statistic: float | None, df: tuple[int, ...], p: float | None, method: str, effect: float | None
    ) -> GroupTest:
        counts = dict(zip(self.names, np.bincount(self.label, minlength=self.k).tolist(), strict=True))
        return GroupTest(self.x.size, self.n_missing, counts, statistic, df, p, method, effect, self.reason)


def _joined(values: pd.Series[float], groups: pd.Series[str]) -> _Joined:
    x, kind, n_missing = paired_scores(values, groups, ("values", "groups"))
    names, label = np.unique(kind.astype(str).to_numpy(dtype=object), return_inverse=True)
    return _Joined(np.asarray(x, dtype=np.float64), label.astype(np.int64), tuple(map(str, names)), n_missing)


def _p_between(joined: _Joined, scores: Floats, seed: int) -> tuple[float, str] | None:
    """Of the permutation test on these scores, with its method; None where there are too many for one."""
    if joined.x.size > SMALL:
        return None
    test = permutation_p(joined.label, lambda labels: _between(scores, labels, joined.k), seed=seed)
    return test.p, test.method


def _between(x: Floats, labels: Labels, k: int) -> Floats:
    """Σ Sₖ²/nₖ of every relabelling, Sₖ the sum of group k: grows with H. x: ranks, whose sums are exact in four
    bytes."""
    total, ranks = np.zeros(len(labels)), x.astype(np.float32)
    for group in range(k):
        inside = labels == group
        total += (inside.astype(np.float32) @ ranks).astype(np.float64) ** 2 / inside[0].sum()
    return total


# --- two findings ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Association:
    """One association. Undefined figures are None, for the `reason` given."""

    measure: Measure
    n: int  # agents with both findings
    n_missing: int
    effect: float | None  # V 0 … 1, ε² 0 … 1, ρ −1 … 1
    low: float | None  # 95 % interval: of V and ε² from agents resampled, of ρ by its z transformation
    high: float | None
    statistic: float | None  # χ², H or ρ
    p: float | None
    method: str
    reason: str = ""


def cramers_v(x: pd.Series[str], y: pd.Series[str], *, draws: int = DRAWS, seed: int = 0) -> Association:
    """Cramér's V of two categorical findings, corrected for bias, with a permutation p of χ².

    φ² = χ²/n, φ̃² = max(0, φ² − (k − 1)(r − 1)/(n − 1)), k̃ = k − (k − 1)²/(n − 1), r̃ likewise,
    V = √(φ̃²/min(k̃ − 1, r̃ − 1)), with χ² = Σ(o − e)²/e over the r × k table. p is exact where there are at most
    20,000 relabellings, else from random tables with the same margins (scipy.stats.random_table), (b + 1)/(m + 1).
    Interval: BCa over agents resampled (`bootstrap`), none where every resample gives the same V. Describes this run.
    None below three agents or with one category only. Source: Bergsma 2013.
    """
    a, b, n_missing = paired_scores(x, y, NAMES)
    rows, columns = (pd.factorize(values.astype(str), sort=True)[0].astype(np.int64) for values in (a, b))
    return cramers_v_of(rows, columns, n_missing=n_missing, draws=draws, seed=seed)


def cramers_v_of(
    rows: Labels, columns: Labels, *, n_missing: int = 0, draws: int = DRAWS, seed: int = 0
) -> Association:
    """`cramers_v` of numbered categories, each of which somebody is in."""
    n, r, k = rows.size, int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1
    reason = "fewer than 3 agents" if n < 3 else ("one category only" if min(r, k) < 2 else "")
    if reason:
        return Association("cramers_v", n, n_missing, None, None, None, None, None, "none", reason)
    table = np.bincount(rows * k + columns, minlength=r * k).reshape(r, k)
    chi2 = float(_chi2(table[None, :, :])[0])
    p, method = _p_of_table(rows, columns, table, chi2, draws, seed)
    v = _bergsma(chi2, n, r, k)
    low, high = _resampled_v(table, v, seed) if v is not None else (None, None)
    return Association("cramers_v", n, n_missing, v, low, high, chi2, p, method)


def epsilon_squared(values: pd.Series[float], groups: pd.Series[str], *, seed: int = 0) -> Association:
    """ε² = H/(n − 1) of a numeric by a categorical finding: `kruskal_wallis` as an association.

    Interval: BCa over agents resampled (`bootstrap`), corrected for what resampling adds. ε² of g groups of noise is
    itself about (g − 1)/(n − 1), not 0: whether there is anything at all is read from p.
    """
    joined = _joined(values, groups)
    return epsilon_squared_of(joined.x, joined.label, n_missing=joined.n_missing, seed=seed)


def epsilon_squared_of(x: Floats, label: Labels, *, n_missing: int = 0, seed: int = 0) -> Association:
    """`epsilon_squared` of complete values in numbered groups, each of which somebody is in."""
    test = _kruskal_wallis(_Joined(x, label, tuple(map(str, range(int(label.max(initial=-1)) + 1))), n_missing), seed)
    low, high = _resampled_e(x, label, seed) if test.effect is not None else (None, None)
    return Association(
        "epsilon_squared", test.n, test.n_missing, test.effect, low, high, test.statistic, test.p, test.method,
        test.reason,
    )  # fmt: skip


def spearman(x: pd.Series[float], y: pd.Series[float], *, level: float = 0.95, seed: int = 0) -> Association:
    """Spearman's ρ of two numeric findings: Pearson's r of the mid-ranks.

    Interval: tanh(artanh ρ ± z·√((1 + ρ²/2)/(n − 3))), from four agents on and for |ρ| < 1. p, two-sided: all orders up
    to seven agents, random ones by seed up to 200 agents, beyond that Student's t = ρ√((n − 2)/(1 − ρ²)). Describes
    this run. None below three agents or without variation. Source: Spearman 1904; Bonett & Wright 2000 for the
    interval.
    """
    a, b, n_missing = paired_scores(x, y, NAMES)
    n = len(a)
    u, v = a.to_numpy(dtype=np.float64), b.to_numpy(dtype=np.float64)
    reason = "fewer than 3 agents" if n < 3 else ("no variation" if not np.ptp(u) or not np.ptp(v) else "")
    if reason:
        return Association("spearman", n, n_missing, None, None, None, None, None, "none", reason)
    s, t = (_standardised(values) for values in (u, v))
    rho = float(np.clip(s @ t, -1, 1))
    low, high = _by_z(rho, n, level)
    if n <= SMALL:
        test = permutation_p(np.arange(n), lambda order: np.abs(t[order] @ s), exact_up_to=EXACT_ORDERS, seed=seed)
        p, method = test.p, test.method
    else:
        p, method = float(scipy.stats.spearmanr(u, v).pvalue), "t approximation"
    return Association("spearman", n, n_missing, rho, low, high, rho, p, method)


def _p_of_table(rows: Labels, columns: Labels, table: Labels, chi2: float, draws: int, seed: int) -> tuple[float, str]:
    r, k = table.shape
    if enumerable(columns):
        inside = (rows[None, :] == np.arange(r)[:, None]).astype(np.float64)

        def statistic(labels: Labels) -> Floats:
            return _chi2(np.stack([(labels == column) @ inside.T for column in range(k)], axis=2))

        test = permutation_p(columns, statistic, seed=seed)
        return test.p, test.method
    tables = scipy.stats.random_table(table.sum(axis=1), table.sum(axis=0))

    def drawn(count: int, more: bool) -> int:
        return int((_chi2(tables.rvs(count, random_state=seed + more)) >= chi2 * (1 - 1e-9)).sum())

    return staged(drawn, draws, 1)[0], "random permutation"


def _chi2(tables: ArrayLike) -> Floats:
    """χ² of tables × rows × columns with the same margins, none empty."""
    o = np.asarray(tables, dtype=np.float64)
    e = o[:1].sum(axis=2, keepdims=True) * o[:1].sum(axis=1, keepdims=True) / o[0].sum()
    return np.asarray(((o - e) ** 2 / e).sum(axis=(1, 2)))


def _bergsma(chi2: float, n: int, r: int, k: int) -> float | None:
    phi2 = max(0.0, chi2 / n - (k - 1) * (r - 1) / (n - 1))
    width = min(levels - (levels - 1) ** 2 / (n - 1) - 1 for levels in (r, k))
    return min(1.0, float(np.sqrt(phi2 / width))) if width > 0 else None


# --- intervals -------------------------------------------------------------------------------------------------------


def _resampled_v(table: Labels, v: float, seed: int) -> tuple[float | None, float | None]:
    """Agents of one cell gave the same data: resampling agents is resampling the filled cells of the r × k table.

    Noise adds (k − 1)(r − 1)/(n − 1) to φ² once in the data and again in every resample of them, there the less the
    closer the association is (1 − V²; where one side determines the other, every resample shows it too). Resamples are
    corrected for both, else all of them would lie beside the V that they are to surround; where they still do, there is
    no interval.
    """
    r, k = table.shape
    filled = np.flatnonzero(table)
    counts = table.ravel()[filled].astype(np.float64)

    def each(rows: Floats, noise: float) -> Floats:
        tables = np.zeros((len(rows), r * k))
        tables[:, filled] = rows
        return _bergsma_each(tables.reshape(-1, r, k), noise)

    drawn = resampled_counts(counts, draws_within(r * k), np.random.default_rng(seed))
    spared = left_out(counts)
    interval = bca(v, each(drawn, 2 - v**2), each(spared, 1) if len(spared) else spared[:, 0], weight=counts)
    if interval.low is None or interval.high is None or not interval.low <= v <= interval.high:
        return None, None
    return interval.low, interval.high


def _bergsma_each(tables: Floats, noise: float) -> Floats:
    """V of each table, φ² less `noise` times what noise adds to it. Categories that a resample leaves empty are not
    its.

    NaN where one category is left.
    """
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :] / n[:, None, None]
    chi2 = np.divide((tables - expected) ** 2, expected, out=np.zeros_like(tables), where=expected > 0).sum(axis=(1, 2))
    r, k = (rows > 0).sum(axis=1), (columns > 0).sum(axis=1)
    phi2 = np.maximum(0.0, chi2 / n - noise * (k - 1) * (r - 1) / (n - 1))
    width = np.minimum(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    v = np.sqrt(np.divide(phi2, width, out=np.full(len(n), np.nan), where=width > 0))
    return np.asarray(np.minimum(1.0, v))


def _resampled_e(x: Floats, label: Labels, seed: int) -> tuple[float | None, float | None]:
    """Cells are the distinct pairs of value and group, in the order of the values, so that ranks are running sums.

    As with V, a resample is corrected for the noise that resampling adds, (1 − ε²)(g − 1)/(n − 1).
    """
    value, k = np.unique(x, return_inverse=True)[1], int(label.max()) + 1
    cells, n_agents = np.unique(value * k + label, return_counts=True)
    value, group = cells // k, pd.factorize(cells % k)[0]
    starts = np.flatnonzero(np.diff(value, prepend=-1))
    inside = (group[:, None] == np.arange(group.max() + 1)).astype(np.float64)

    def each(rows: Floats) -> Floats:
        return _epsilon_each(rows, value, starts, inside)

    counts = n_agents.astype(np.float64)
    n, estimate = counts.sum(), float(each(counts[None, :])[0])
    noise = (1 - estimate) * (inside.shape[1] - 1) / (n - 1)
    drawn = each(resampled_counts(counts, _draws(len(cells)), np.random.default_rng(seed)))
    spared = left_out(counts)
    jackknife = each(spared) if len(spared) else spared[:, 0]
    interval = bca(estimate, np.clip(drawn - noise, 0.0, 1.0), jackknife, weight=counts)
    return interval.low, interval.high


def _draws(cells: int) -> int:
    """As many resamples as elsewhere, fewer where nearly every one of thousands of agents is a cell of its own."""
    return min(BOOTSTRAP, max(LEAST, RESAMPLED // cells))


def _epsilon_each(counts: Floats, value: Labels, starts: Labels, inside: Floats) -> Floats:
    """ε² of each resample (row of counts). NaN where it has one group or one value only."""
    tied = np.add.reduceat(counts, starts, axis=1)
    n = tied.sum(axis=1)
    rank = np.cumsum(tied, axis=1) - (tied - 1) / 2  # mid-ranks; of a value that is not drawn it counts for nothing
    sums, sizes = (counts * rank[:, value]) @ inside, counts @ inside
    between = np.divide(sums**2, sizes, out=np.zeros_like(sums), where=sizes > 0).sum(axis=1)
    spread = 1 - (tied**3 - tied).sum(axis=1) / (n**3 - n)
    h = 12 / (n * (n + 1)) * between - 3 * (n + 1)
    known = (spread > TINY) & ((sizes > 0).sum(axis=1) > 1)
    return np.asarray(np.clip(np.divide(h, spread * (n - 1), out=np.full(len(n), np.nan), where=known), 0.0, 1.0))


def _standardised(values: Floats) -> Floats:
    rank = np.asarray(scipy.stats.rankdata(values), dtype=np.float64)
    gap = rank - rank.mean()
    return np.asarray(gap / np.sqrt(gap @ gap))


def _by_z(rho: float, n: int, level: float) -> tuple[float | None, float | None]:
    if n < 4 or abs(rho) >= 1 - 1e-12:
        return None, None
    half = float(scipy.stats.norm.ppf((1 + level) / 2)) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    return float(np.tanh(np.arctanh(rho) - half)), float(np.tanh(np.arctanh(rho) + half))


Kind = Literal["categorical", "numeric"]


@dataclass(frozen=True, slots=True)
class CrossFinding:
    """Two findings and their association; p corrected over all pairs of the table that have a p."""

    first: str
    second: str
    association: Association
    p_holm: float | None
    p_bh: float | None


def cross_table(
    findings: pd.DataFrame, kinds: Mapping[str, Kind], *, pairs: Sequence[tuple[str, str]] | None = None, seed: int = 0
) -> list[CrossFinding]:
    """The association of any two findings: V, ε² or ρ, whichever their kinds call for, with Holm and BH over all pairs.

    findings: agents × findings (a Q factor, the archetype, drift, the share of themes held out on, …), NaN or None
    where an agent has none. kinds: by finding. pairs: those asked for, else every two columns; leave out what is
    related by construction (a total and its part). The table is exploratory and describes this run: read BH, and
    effects before p. Raises ValueError for a finding without a kind or of another kind than 'categorical' and
    'numeric', an unknown finding, a numeric finding that holds no numbers, or a doubled agent or finding.
    """
    require_unique(findings, "findings")
    chosen = list(combinations(map(str, findings.columns), 2)) if pairs is None else list(pairs)
    columns = {name: _column(findings, kinds, name) for name in dict.fromkeys(chain.from_iterable(chosen))}
    associations = [_associate(columns[a], columns[b], kinds[a], kinds[b], seed) for a, b in chosen]
    p = [association.p for association in associations]
    corrected = zip(chosen, associations, holm(p), benjamini_hochberg(p), strict=True)
    return [CrossFinding(a, b, association, p_holm, p_bh) for (a, b), association, p_holm, p_bh in corrected]


def _column(findings: pd.DataFrame, kinds: Mapping[str, Kind], name: str) -> pd.Series:
    if name not in findings:
        raise ValueError(f"finding {name!r} is not in the table; known: {', '.join(map(repr, findings.columns))}")
    kind = kinds.get(name)
    if kind not in ("categorical", "numeric"):
        raise ValueError(f"finding {name!r}: kind must be 'categorical' or 'numeric', not {kind!r}")
    if kind == "categorical":
        return findings[name]
    try:
        return pd.to_numeric(findings[name]).astype(float)
    except (ValueError, TypeError) as error:
        raise ValueError(f"finding {name!r} is said to be numeric but holds no numbers: {error}") from None


def _associate(x: pd.Series, y: pd.Series, kind_x: Kind, kind_y: Kind, seed: int) -> Association:
    if kind_x == kind_y:
        return cramers_v(x, y, seed=seed) if kind_x == "categorical" else spearman(x, y, seed=seed)
    return epsilon_squared(x, y, seed=seed) if kind_x == "numeric" else epsilon_squared(y, x, seed=seed)


# --- Whether a future that is wished for is also expected: desirability × plausibility, centred on the scales'
# midpoints

Quadrant = Literal["wished_expected", "wished_unexpected", "feared_expected", "feared_unexpected", "undecided"]
QUADRANTS: tuple[Quadrant, ...] = (
    "wished_expected",
    "wished_unexpected",
    "feared_expected",
    "feared_unexpected",
    "undecided",
)


@dataclass(frozen=True, slots=True)
class Polarity:
    """A group's ratings of one future. None where nobody gave both ratings."""

    n: int  # raters who gave both ratings
    n_missing: int
    polarity: float | None  # mean over raters, −1 … 1
    wish: float | None  # mean centred desirability, −1 … 1
    expectation: float | None  # mean centred plausibility, −1 … 1
    quadrant: Quadrant | None  # of the point (wish, expectation)
    quadrants: Mapping[Quadrant, int]  # raters by their own quadrant


def centred(ratings: ArrayLike, low: float, high: float) -> Floats:
    """x′ = (x − m)/h with midpoint m = (low + high)/2 and half-width h = (high − low)/2: −1 … 1, 0 in the middle.

    NaN stays NaN. Raises ValueError for a scale without width.
    """
    if high <= low:
        raise ValueError(f"a scale runs from a lower to a higher point; {low:g} to {high:g} was given")
    return (np.asarray(ratings, dtype=np.float64) - (low + high) / 2) / ((high - low) / 2)


def agent_centred(ratings: ArrayLike, low: float, high: float) -> Floats:
    """x″ = (x − x̄ₐ)/h with x̄ₐ an agent's own mean over all futures and half-width h = (high − low)/2: −2 … 2.

    Above 0 the agent rates a future higher than its others: the quadrants of these points leave out that some agents
    (and models) rate everything high. One dimension at a time: agents × futures, NaN where missing and for an agent
    with fewer than two ratings, who has no futures to compare. Takes the place of `centred` in `group_polarity`; show
    both. Raises ValueError for a scale without width or a table that is not two-dimensional.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"ratings must be a table of agents × futures, not an array of {x.ndim} dimension(s)")
    if high <= low:
        raise ValueError(f"a scale runs from a lower to a higher point; {low:g} to {high:g} was given")
    known = ~np.isnan(x)
    n = known.sum(axis=1, keepdims=True)
    means = np.where(known, x, 0.0).sum(axis=1, keepdims=True) / np.where(n > 1, n, np.nan)
    # Rounded and without −0, so that a rating at the agent's own mean lies on the axis, not in a quadrant beside it.
    return np.asarray(np.round((x - means) / ((high - low) / 2), 12) + 0.0, dtype=np.float64)


def polarity(wish: ArrayLike, expectation: ArrayLike) -> Floats:
    """π = d′·p′ of centred desirability d′ and centred plausibility p′, by rater: −1 … 1.

    Above 0 wish and expectation point the same way (wished for and expected, or feared and not expected); below 0 they
    part (feared and expected, or wished for and not expected); 0 where either is at its midpoint. NaN: one is missing.
    """
    return np.asarray(wish, dtype=np.float64) * np.asarray(expectation, dtype=np.float64)


def quadrant(wish: float, expectation: float) -> Quadrant:
    """The quadrant of a centred point; 'undecided' on an axis."""
    if wish == 0 or expectation == 0:
        return "undecided"
    if wish > 0:
        return "wished_expected" if expectation > 0 else "wished_unexpected"
    return "feared_expected" if expectation > 0 else "feared_unexpected"


def group_polarity(wish: ArrayLike, expectation: ArrayLike) -> Polarity:
    """A group's mean polarity, the point of its means and its raters by quadrant, over those who gave both ratings.

    The mean polarity is the mean of the raters' products, not the product of the means: two camps on opposite sides of
    both axes have a clear polarity each although their mean point lies in the middle. wish, expectation: centred, NaN
    where missing. Raises ValueError unless both are equally long lists.
    """
    d, p = np.asarray(wish, dtype=np.float64), np.asarray(expectation, dtype=np.float64)
    if d.ndim != 1 or d.shape != p.shape:
        raise ValueError(f"wish and expectation must be equally long lists, not of shapes {d.shape} and {p.shape}")
    both = ~(np.isnan(d) | np.isnan(p))
    d, p = d[both], p[both]
    places = [quadrant(x, y) for x, y in zip(d.tolist(), p.tolist(), strict=True)]
    counts = {name: places.count(name) for name in QUADRANTS}
    n_missing = int(both.size - d.size)
    if not d.size:
        return Polarity(0, n_missing, None, None, None, None, counts)
    # Rounded, so that a mean of exactly 0 is not put into a quadrant by the last binary digit.
    mean_d, mean_p = (round(float(values.mean()), 12) + 0.0 for values in (d, p))
    return Polarity(d.size, n_missing, float(polarity(d, p).mean()), mean_d, mean_p, quadrant(mean_d, mean_p), counts)


@dataclass(frozen=True, slots=True)
class Alike:
    """Raters who rate everything alike. `share` is None where nobody rated everything."""

    n_alike: int
    n_complete: int
    n_dropped: int
    share: float | None


def alike_ratings(ratings: ArrayLike) -> Alike:
    """How many raters give all things the same rating, of those who rated all. ratings: raters × things, NaN missing.

    Raises ValueError unless two-dimensional.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"ratings must be a table of raters × things, not an array of {x.ndim} dimension(s)")
    complete = x[~np.isnan(x).any(axis=1)]
    n = int((np.ptp(complete, axis=1) == 0).sum()) if complete.size else 0
    return Alike(n, len(complete), len(x) - len(complete), n / len(complete) if len(complete) else None)
