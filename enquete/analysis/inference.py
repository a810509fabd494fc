"""What a page may say of many tests at once: adjusted p, intervals of what was selected, and the smallest effect that
would be found.

Everything here describes one run: other agents of this population, not other people. Measured by: false claims of a
page at most .05 where nothing is planted, coverage of an interval shown at least .93, both at 10, 20 and 50 agents.

Permutation tests: every relabelling where there are few, else seeded random ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
import scipy
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from enquete.analysis.change import holm
from enquete.analysis.estimates import Floats, require_unique

# --- Permutation tests -----------------------------------------------------------------------------------------------

Labels = NDArray[np.int64]

EXACT_UP_TO = 20_000  # relabellings that are enumerated
OBSERVATIONS_HELD = 4_000_000  # relabellings × observations that an enumeration may hold
DRAWS = 19_999  # where it matters: a p that survives Holm over a hundred tests has to be below .0005
FIRST = 1_999
NEAR = 0.05  # p of the first ones, below which the others are drawn too
DRAWN = 500_000  # first random relabellings × observations
DRAWN_MORE = 4_000_000  # all of them
SMALL = 200  # observations up to which a permutation test is worth its cost; beyond, the approximations are good


@dataclass(frozen=True, slots=True)
class PermutationP:
    """p = share of relabellings as extreme as the data: exact, or (b + 1)/(m + 1) over m random ones."""

    p: float
    method: str  # "exact permutation", "random permutation"
    relabellings: int


def n_relabellings(labels: ArrayLike) -> int:
    """n!/Πnₖ!: the different ways to hand out the labels."""
    _, counts = np.unique(np.asarray(labels), return_counts=True)
    return math.factorial(int(counts.sum())) // math.prod(math.factorial(int(c)) for c in counts)


def enumerable(labels: ArrayLike, exact_up_to: int = EXACT_UP_TO) -> bool:
    """Whether every relabelling is taken: there are few, and they are short."""
    count = n_relabellings(labels)
    return count <= exact_up_to and count * np.size(labels) <= OBSERVATIONS_HELD


def permutation_p(
    labels: ArrayLike,
    statistic: Callable[[Labels], Floats],
    *,
    exact_up_to: int = EXACT_UP_TO,
    draws: int = DRAWS,
    seed: int = 0,
) -> PermutationP:
    """One-sided p: how often a relabelling makes the statistic as large as it is.

    H₀: the labels are exchangeable. All n!/Πnₖ! relabellings are taken up to 20,000, else random ones and the data
    themselves, p = (b + 1)/(m + 1), which is never 0: 1,999 of them, and up to `draws` where those leave p below .05.
    The first are among all, so p is below a level up to .05 no more often than it should. Describes this run.

    scipy.stats.permutation_test draws its labels anew for every column of a table and every stage; here those of a
    group are drawn once for all columns, and more are drawn only where p is near a level.

    labels: n integers. statistic: relabellings × n → one figure each; equal figures may differ by 1e-9 relative.
    Source: The Design of Experiments, 1935; Phipson & Smyth 2010 on the + 1.
    """
    codes = np.asarray(labels, dtype=np.int64)
    exact = enumerable(codes, exact_up_to)
    observed = float(statistic(codes[None, :])[0])

    def extreme(relabelled: Labels) -> int:
        return int((statistic(relabelled) >= observed - 1e-9 * max(1.0, abs(observed))).sum())

    if exact:
        every = _enumerate(codes)
        return PermutationP(extreme(every) / len(every), "exact permutation", len(every))

    def drawn(count: int, more: bool) -> int:
        return extreme(_drawn(codes.tobytes(), count, (seed, 1) if more else seed))

    p, taken = staged(drawn, draws, codes.size)
    return PermutationP(p, "random permutation", taken)


@lru_cache(maxsize=2)
def _kept(labels: bytes, draws: int, seed: int) -> Labels:
    return _relabelled(np.frombuffer(labels, dtype=np.int64), draws, (seed, 2))


def relabellings(labels: Labels, draws: int = DRAWS, seed: int = 0) -> tuple[Labels, bool]:
    """Relabellings × n, and whether they are all there are; else random ones by seed, fewer of many labels."""
    if enumerable(labels):
        return _enumerate(labels), True
    return _kept(labels.tobytes(), min(draws, max(999, DRAWN_MORE // 2 // labels.size)), seed), False


def staged(extreme: Callable[[int, bool], int], draws: int, n: int) -> tuple[float, int]:
    """p and how many were drawn. extreme: among so many random ones, of the first or of those that follow, how many are
    as extreme."""
    first = min(draws, FIRST, max(999, DRAWN // max(n, 1)))
    more = min(draws, max(first, DRAWN_MORE // max(n, 1))) - first
    reached = extreme(first, False)
    if more <= 0 or reached + 1 > NEAR * (first + 1):
        return (reached + 1) / (first + 1), first
    return (reached + extreme(more, True) + 1) / (first + more + 1), first + more


@lru_cache(maxsize=4)
def _drawn(labels: bytes, draws: int, seed: int | tuple[int, int]) -> Labels:
    """Random relabellings; kept, since a table compares the same groups in one column after the other."""
    drawn = _relabelled(np.frombuffer(labels, dtype=np.int64), draws, seed)
    drawn.flags.writeable = False
    return drawn


def _relabelled(labels: Labels, draws: int, seed: int | tuple[int, int]) -> Labels:
    """In as few bytes as hold the labels: millions of them are kept, and read again for every variable."""
    short = np.promote_types(np.min_scalar_type(labels.min()), np.min_scalar_type(labels.max()))
    return np.random.default_rng(seed).permuted(np.tile(labels.astype(short), (draws, 1)), axis=1)


def _enumerate(labels: Labels) -> Labels:
    """All different relabellings, label by label: the places of the first, then of the second among those left, …"""
    kinds, counts = np.unique(labels, return_counts=True)
    n = labels.size
    tables = [np.full((1, n), kinds[-1], dtype=np.int64)]
    free = np.arange(n)[None, :]  # places not handed out yet, one row a relabelling
    for kind, count in zip(kinds[:-1], counts[:-1], strict=True):
        chosen = np.array(list(combinations(range(free.shape[1]), int(count))))
        left = np.ones((len(chosen), free.shape[1]), dtype=bool)
        np.put_along_axis(left, chosen, False, axis=1)
        rest = np.nonzero(left)[1].reshape(len(chosen), -1)
        table = np.repeat(tables[-1], len(chosen), axis=0)
        places = free[:, chosen].reshape(len(table), int(count))
        np.put_along_axis(table, places, kind, axis=1)
        tables.append(table)
        free = free[:, rest].reshape(len(table), free.shape[1] - int(count))
    return tables[-1]


# --- Many tests at once ----------------------------------------------------------------------------------------------

ALPHA = 0.05
LEVEL = 0.95
POWER = 0.8
ALL_UP_TO = 12  # agents that changed, up to which every sign flip is taken
DRAWS_LEAST = 1_999
HELD = 8_000_000  # flips × agents, and flips × items, held at once
WORK = 60_000_000  # flips × agents in all; with more agents there are fewer flips
TIED = 1e-9  # statistics that differ by less are equal

Side = Literal["highest", "lowest", "any"]


# --- paired changes --------------------------------------------------------------------------------------------------


def max_t(changes: pd.DataFrame, *, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Whether items changed: Westfall–Young's step-down max-T over sign flips of whole agents.

    z_j = Σᵢ d_ij / √(Σᵢ d_ij²) over the agents i that answered item j in both waves. H₀: an agent's changes have a
    distribution that is symmetric about 0, as where both waves are draws of the same answers. Then εᵢ·d_i, εᵢ = ±1 for
    an agent with all its items, is as likely as d, so what the items have in common stays, and √(Σ d²) stays too: z has
    variance 1 under every flip, and with n agents it is Student's t in another unit, t = z·√(n − 1)/√(n − z²). Items in
    the order of |z|, j₁ … j_k: p̃_jr = max over s ≤ r of P(max over u ≥ s of |z*_ju| ≥ |z_js|). All 2ⁿ flips up to 12
    agents that changed at all (half of them: the other half has the same |z|), else random ones by seed, (b + 1)/(m +
    1).

    changes: agents × items in any unit, NaN where an agent lacks a wave.
    Returns by item: n, n_missing, n_changed, mean (in the unit of `changes`), sd (n − 1), statistic (z), p (this item
    alone), p_adjusted, test ("all sign flips", "random sign flips" or "none"), tests (how many independent ones these
    are as good as: `effective_tests`). Without a change there is no test: p
    NaN, and the item is no part of the family. Raises ValueError for a doubled label or an infinite value. Of 14 items
    with one that rises by a point this finds it in .23 / .62 / .82 of panels of 10 / 15 / 20, Wilcoxon's test after
    Holm in .05 / .43 / .65, at the same level. Source: Westfall & Young 1993, algorithm 4.1; Romano & Wolf 2005.
    """
    require_unique(changes, "changes")
    d = changes.to_numpy(dtype=np.float64)
    if np.isinf(d).any():
        raise ValueError("changes must be finite numbers or NaN; an infinite value was given")
    known = ~np.isnan(d)
    n, full = known.sum(axis=0), np.where(known, d, 0.0)
    squares = (full**2).sum(axis=0)
    tested = np.flatnonzero(squares > 0)
    rows = full[np.ix_((full != 0).any(axis=1), tested)] / np.sqrt(squares[tested])
    z = rows.sum(axis=0)
    p, adjusted, test, tests = _sign_flips(rows, z, draws, seed) if tested.size else (z, z, "none", 0.0)
    table = pd.DataFrame(
        {
            "n": n,
            "n_missing": len(d) - n,
            "n_changed": (full != 0).sum(axis=0),
            "mean": np.divide(full.sum(axis=0), n, out=np.full(n.size, np.nan), where=n > 0),
            "sd": [float(np.std(d[known[:, j], j], ddof=1)) if n[j] > 1 else np.nan for j in range(n.size)],
            "statistic": np.nan,
            "p": np.nan,
            "p_adjusted": np.nan,
            "test": "none",
            "tests": tests,
        },
        index=changes.columns,
    )
    table.loc[changes.columns[tested], ["statistic", "p", "p_adjusted"]] = np.column_stack([z, p, adjusted])
    table.loc[changes.columns[tested], "test"] = test
    return table


def _sign_flips(rows: Floats, z: Floats, draws: int, seed: int) -> tuple[Floats, Floats, str, float]:
    """p of each column alone and step-down; rows: agents × items, each column of length 1."""
    agents, items = rows.shape
    order = np.argsort(-np.abs(z), kind="stable")
    reached = np.abs(z[order]) * (1 - TIED) - TIED  # a statistic of 0 is one of some 1e-17
    alone, beside, total, tests = np.zeros(items), np.zeros(items), 0, 0.0
    for flips in _flips(agents, items, draws, seed):
        drawn = np.abs(flips @ rows[:, order])
        alone += (drawn >= reached).sum(axis=0)
        beside += (np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1] >= reached).sum(axis=0)
        total += len(flips)
        tests = tests or effective_tests(drawn)
    exact = agents <= ALL_UP_TO
    single, joint = (count / total if exact else (count + 1) / (total + 1) for count in (alone, beside))
    p, adjusted = np.empty(items), np.empty(items)
    p[order], adjusted[order] = single, np.maximum.accumulate(joint)
    return p, adjusted, "all sign flips" if exact else "random sign flips", tests


def effective_tests(drawn: Floats) -> float:
    """Return how many independent tests the largest of k statistics stands for: .05 over the mean share of draws in
    which a single one reaches the level that the largest reaches in .05 of them. drawn: draws × k."""
    reached = drawn >= np.quantile(drawn.max(axis=1), 1 - ALPHA) * (1 - TIED)
    return float(np.clip(reached.any(axis=1).mean() / max(reached.mean(), 1e-12), 1.0, drawn.shape[1]))


def _flips(agents: int, items: int, draws: int, seed: int) -> Iterator[Floats]:
    """Rows of ±1 in portions that fit into memory: every different one, the first agent's held, or random ones."""
    if agents <= ALL_UP_TO:
        yield np.asarray(1 - 2 * ((np.arange(2 ** (agents - 1))[:, None] >> np.arange(agents)) & 1), dtype=np.float64)
        return
    rng = np.random.default_rng(seed)
    draws = min(draws, max(DRAWS_LEAST, WORK // agents))
    step = max(1, HELD // max(agents, items))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count * agents // 8)), dtype=np.uint8), count=count * agents)
        yield np.asarray(1 - 2 * bits.astype(np.int8).reshape(count, agents), dtype=np.float64)


# --- intervals of what was selected ----------------------------------------------------------------------------------


def selected_intervals(
    n: ArrayLike, mean: ArrayLike, sd: ArrayLike, *, selected: Side = "any", ends: tuple[float, float] | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:  # fmt: skip
    """Intervals of k means that hold for the one that is singled out of them, whichever it is.

    x̄_j ± t·s̃_j/√n_j with t of n_j − 1 degrees of freedom at 1 − α/(2k) (Bonferroni), whatever the k means have in
    common. For the highest mean that is needed below it only: let J have the highest mean and j* the highest
    expectation. Were μ_J > x̄_J + c, then x̄_j* ≤ x̄_J < μ_J − c ≤ μ_j* − c, which a single interval allows with α/2:
    so above, t is taken at 1 − α/2; for the lowest likewise, turned round. "any": both sides corrected, for items
    selected otherwise (by their p, by a median). s̃_j² = ((n_j − 1)s_j² + 2s̄²)/(n_j + 1), s̄² the mean of the k
    variances: ratings that all agree do not have an interval of no width, since what is singled out at the end of a
    scale varies least.

    n, mean, sd: of k items, sd with n − 1; ends: of the scale, where intervals are cut off. k counts the items with two
    values or more; without them, or where no item varies, there is no interval (NaN).
    Returns by place: n, estimate, low, high, level, tests (k).
    Coverage of the highest and the lowest of 4 and of 15 five-point items, 10 / 20 / 50 agents: .967 to .988, where
    Student's own intervals cover .75 to .94. Source: Bonferroni; Smyth 2004 for the variance; Fuentes, Casella & Wells
    2018 on one side.
    """
    count, x, s = (np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (n, mean, sd))
    if not (count.shape == x.shape == s.shape and count.ndim == 1):
        raise ValueError(f"n, mean and sd must be equally long lists, not {count.shape}, {x.shape} and {s.shape}")
    usable = (count > 1) & ~np.isnan(x) & ~np.isnan(s)
    k = int(usable.sum())
    low, high = np.full(x.size, np.nan), np.full(x.size, np.nan)
    pooled = float((s[usable] ** 2).mean()) if k else 0.0
    if pooled > 0:
        m = count[usable]
        error = np.sqrt(((m - 1) * s[usable] ** 2 + 2 * pooled) / (m + 1) / m)
        alone, among = (scipy.special.stdtrit(m - 1, 1 - (1 - level) / (2 * tests)) * error for tests in (1, k))
        low[usable] = x[usable] - (alone if selected == "lowest" else among)
        high[usable] = x[usable] + (alone if selected == "highest" else among)
    if ends is not None:
        low, high = np.clip(low, *ends), np.clip(high, *ends)
    return pd.DataFrame({"n": count.astype(int), "estimate": x, "low": low, "high": high, "level": level, "tests": k})


def extreme(intervals: pd.DataFrame, side: Literal["highest", "lowest"]) -> tuple[int, list[int]]:
    """The place of the highest or lowest estimate, and all places that share it (to 9 decimals).

    Raises ValueError where there is no estimate.
    """
    x = intervals["estimate"].round(9)
    if not x.notna().any():
        raise ValueError("no item has a mean, so none is the highest")
    best = x.max() if side == "highest" else x.min()
    places = np.flatnonzero(x.eq(best)).tolist()
    return places[0], places


def share_intervals(counts: ArrayLike, n: ArrayLike, *, selected: Side = "any", level: float = LEVEL) -> pd.DataFrame:
    """Wilson's intervals of the shares counts/n of k options of one question, or of k groups with an n each, for the
    one that is singled out.

    Corrected as in `selected_intervals`: z at 1 − α/(2k), on the outer side of the largest or the smallest share at 1 −
    α/2. Centre (p + z²/2n)/(1 + z²/n), reach z√(p(1 − p)/n + z²/4n²)/(1 + z²/n). Returns by option: n, estimate, low,
    high, level, tests. NaN where n is 0. Raises ValueError for a count above n. Source: Wilson 1927.
    """
    c = np.asarray(counts, dtype=np.float64)
    of = np.broadcast_to(np.asarray(n, dtype=np.float64), c.shape)
    if (wrong := (c < 0) | (c > of)).any():
        raise ValueError(f"counts must lie between 0 and n = {of[wrong][0]:g}; {c[wrong][0]:g} was given")
    p, m = np.divide(c, of, out=np.full(c.size, np.nan), where=of > 0), np.maximum(of, 1)

    def ends(tests: int) -> tuple[Floats, Floats]:
        z = float(scipy.special.ndtri(1 - (1 - level) / (2 * tests)))
        widen = 1 + z**2 / m
        centre = (p + z**2 / (2 * m)) / widen
        reach = z * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2)) / widen
        return np.maximum(centre - reach, 0), np.minimum(centre + reach, 1)

    alone, among = ends(1), ends(max(c.size, 1))
    low, high = (alone if selected == "lowest" else among)[0], (alone if selected == "highest" else among)[1]
    return pd.DataFrame({"n": of.astype(int), "estimate": p, "low": low, "high": high, "level": level, "tests": c.size})


# --- what would have been found --------------------------------------------------------------------------------------


def detectable_change(
    n: int, sd: float, *, tests: float = 1, alpha: float = ALPHA, power: float = POWER, dof: float | None = None
) -> float | None:
    """Return the smallest mean change, in the unit of `sd`, that a paired t test finds with this power.

    δ = sd·√(λ/n), λ the noncentrality with which F of 1 and n − 1 degrees of freedom exceeds its quantile of 1 −
    α/tests with probability `power` (F = t²).

    Args:
        n: Pairs; below three there is no answer.
        sd: Of the changes, n − 1.
        tests: How many are corrected for: of a max-T the effective number (`effective_tests`).
        dof: Degrees of freedom with which sd was estimated. Then the probability is that over the sd's of such panels,
            s² as σ²·χ²/dof: what a panel of ten says of its own sd would else be found too seldom.

    Source: Cohen 1988, ch. 2.
    """
    if n < 3 or not sd > 0:
        return None
    needed = _noncentrality(1, n - 1, alpha / tests, power)
    if dof is not None and math.isfinite(dof):
        critical = float(scipy.special.fdtri(1, n - 1, 1 - alpha / tests))
        spreads = scipy.special.chdtri(dof, 1 - (np.arange(64) + 0.5) / 64) / dof

        def missed(noncentrality: float) -> float:
            found = 1 - scipy.special.ncfdtr(1, n - 1, noncentrality * spreads, critical)
            return power - float(found.mean())

        needed = float(scipy.optimize.brentq(missed, needed / 4, needed * 20, rtol=1e-4))
    return sd * float(np.sqrt(needed / n))


def shrink_sd(sd: ArrayLike, dof: ArrayLike) -> tuple[Floats, float]:
    """Return standard deviations drawn to what they have in common, and the degrees of freedom that this adds.

    s̃² = (d·s² + d₀·s₀²)/(d + d₀), with d₀ and s₀² fitted to the spread of log s² over items: where the sd's differ no
    more than chance has it, d₀ is large (at most 1,000). sd of 0 and NaN are left as they are and take no part.
    Source: Smyth 2004, section 6.2.
    """
    s, d = np.broadcast_arrays(np.asarray(sd, dtype=np.float64), np.asarray(dof, dtype=np.float64))
    varies = np.nan_to_num(s) > 0
    varies &= d > 0
    if varies.sum() < 3:
        return np.array(s), 0.0
    log_s2, half = 2 * np.log(s[varies]), d[varies] / 2
    e = log_s2 - scipy.special.digamma(half) + np.log(half)
    beyond = float(e.var(ddof=1) - scipy.special.polygamma(1, half).mean())
    half_prior = 500.0
    if beyond > float(scipy.special.polygamma(1, half_prior)):
        half_prior = float(scipy.optimize.brentq(lambda x: scipy.special.polygamma(1, x) - beyond, 1e-2, 500.0))
    common = math.exp(float(e.mean()) + float(scipy.special.digamma(half_prior)) - math.log(half_prior))
    shrunk = np.array(s)
    shrunk[varies] = np.sqrt((d[varies] * s[varies] ** 2 + 2 * half_prior * common) / (d[varies] + 2 * half_prior))
    return shrunk, 2 * half_prior


Ends = tuple[float, float]


def detectable_difference(
    sizes: Sequence[int], mean: float, sd: float, *, ends: Ends | None = None, tests: float = 1, alpha: float = ALPHA,
    power: float = POWER,
) -> float | None:  # fmt: skip
    """Return the smallest distance of one group's mean from that of all others that Kruskal–Wallis finds.

    On average over the groups, any of which may be the one. Answers of the others are taken to be normal with this mean
    and sd, rounded and cut off at the ends of their scale; those of the one group are such answers moved toward the end
    that is farther off. See `_kruskal_power`. None where no distance would be found with this power (of few agents, or
    at a low level, not even ranks of a group that lies wholly apart are enough), without variation, and below two
    groups.

    Args:
        sizes: Agents of each group.
        mean: Of all.
        sd: Within groups.
        ends: Of the scale; None where it has none.
    """
    if len(sizes) < 2 or sum(sizes) <= len(sizes) or not sd > 0:
        return None
    points = _answer_points(mean, sd, ends)
    spread = _latent_sd(points, mean, sd)
    others = _rounded_normal(points, mean, spread)
    toward = 1 if mean <= (points[0] + points[-1]) / 2 else -1

    def moved(by: float) -> Floats:
        return _rounded_normal(points, mean + toward * by, spread)

    farthest = float(points[-1] - points[0]) + 4 * spread
    by = _found_at(lambda by: _kruskal_power(sizes, others, moved(by), alpha / tests), farthest, power)
    return None if by is None else abs(float((moved(by) - others) @ points))


def detectable_share(
    sizes: Sequence[int], share: float, *, tests: float = 1, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the smallest distance of one group's share from that of all others that a test of groups finds.

    As `detectable_difference`, of answers that are 0 or 1. None where the share of the others, taken to be that of all,
    leaves no room for it.
    """
    if len(sizes) < 2 or sum(sizes) <= len(sizes) or not 0 < share < 1:
        return None
    toward = 1 if share <= 0.5 else -1
    others = np.array([1 - share, share])

    def moved(by: float) -> Floats:
        return np.array([1 - share - toward * by, share + toward * by])

    return _found_at(lambda by: _kruskal_power(sizes, others, moved(by), alpha / tests), max(share, 1 - share), power)


def _found_at(power_at: Callable[[float], float], farthest: float, power: float) -> float | None:
    """Return the size that has this power; None where the farthest has less."""
    if power_at(farthest) < power:
        return None
    return float(scipy.optimize.brentq(lambda size: power_at(size) - power, 0.0, farthest, rtol=1e-3))


FINE = 100
"""Steps into which a scale is parted that has no ends or is wider than COARSE."""
COARSE = 20


def _answer_points(mean: float, sd: float, ends: Ends | None) -> Floats:
    if ends is None:
        return np.linspace(mean - 10 * sd, mean + 10 * sd, 2 * FINE + 1)
    steps = round(ends[1] - ends[0]) if 1 <= ends[1] - ends[0] <= COARSE else FINE
    return np.linspace(*ends, steps + 1)


def _rounded_normal(points: Floats, mean: float, sd: float) -> Floats:
    """Return the probability of each point of a normal value that is rounded to the nearest of them."""
    below = scipy.special.ndtr(((points[1:] + points[:-1]) / 2 - mean) / sd)
    return np.diff(below, prepend=0.0, append=1.0)


def _latent_sd(points: Floats, mean: float, sd: float) -> float:
    """Return the sd before rounding and cutting off, with which answers have this one after it."""

    def too_wide(latent: float) -> float:
        p = _rounded_normal(points, mean, latent)
        return float(p @ points**2 - (p @ points) ** 2) - sd**2

    least, most = sd / 10, 3 * float(points[-1] - points[0])
    if too_wide(least) >= 0 or too_wide(most) <= 0:
        return sd
    return float(scipy.optimize.brentq(too_wide, least, most, rtol=1e-3))


NODES = (np.arange(16) + 0.5) / 16
"""Quantiles at which χ² is averaged."""


FEW_AGENTS = 0.8
"""By about this over N the critical H of relabellings lies above that of F of ranks: 1.03 to 1.08 times as high at
N = 20 and 1.00 to 1.03 times at N = 50, at levels of .0036 and .0009 (60,000 relabellings of two to four groups)."""


def _kruskal_power(sizes: Sequence[int], others: Floats, moved: Floats, alpha: float) -> float:
    """Return the power of Kruskal–Wallis where one group answers otherwise, on average over the groups.

    Of m agents against k others, N in all: H = 12·m·k·(Û − ½)²/((N + 1)·T) + H'. Û, the share of pairs in which the
    group's answer exceeds (ties count half), is about normal with variance σ₁²/m + σ₀²/k, σ² those of the share that
    one answer exceeds; T = 1 − Σw³ corrects for ties, w the shares of answers among all; H' is what the others differ
    by among themselves: χ² of g − 2 degrees of freedom times the variance of their ranks over that of all. The critical
    H is that of F of ranks, raised by `FEW_AGENTS`.

    Args:
        others, moved: Probability of each answer, of the others and of the group.

    Source: Lehmann 2006, Nonparametrics, section 2.3; Iman & Davenport 1976 for F of ranks.
    """
    n, g = sum(sizes), len(sizes)
    critical_f = float(scipy.special.fdtri(g - 1, n - g, 1 - alpha))
    critical_h = (1 + FEW_AGENTS / n) * (n - 1) * (g - 1) * critical_f / ((g - 1) * critical_f + n - g)
    exceeded, excess = _exceeds(others), _exceeds(moved)
    chance = float(moved @ exceeded)
    var_moved = float(moved @ exceeded**2) - chance**2
    var_others = float(others @ excess**2) - (1 - chance) ** 2
    total = 0.0
    for m, count in Counter(sizes).items():
        k = n - m
        if g == 2 and 2 / math.comb(n, m) >= alpha:  # the least p that relabellings can give
            continue
        pooled = (m * moved + k * others) / n
        ties = 1 - float((pooled**3).sum())
        if ties <= 0:
            continue
        remainder = np.zeros(1)
        if g > 2:
            rank = _exceeds(pooled)
            narrowed = (others @ rank**2 - (others @ rank) ** 2) / (pooled @ rank**2 - (pooled @ rank) ** 2)
            remainder = narrowed * scipy.special.chdtri(g - 2, 1 - NODES)
        needed = np.sqrt(np.clip(critical_h - remainder, 0, None) * (n + 1) * ties / (12 * m * k))
        sd = math.sqrt(max(var_moved / m + var_others / k, 1e-12))
        away = abs(chance - 0.5)
        found = scipy.special.ndtr((away - needed) / sd) + scipy.special.ndtr((-away - needed) / sd)
        total += count * float(np.where(needed < 0.5, found, 0.0).mean())
    return total / g


def _exceeds(p: Floats) -> Floats:
    """Return by point the share of answers below it, and half of those at it."""
    return np.cumsum(p) - p / 2


def detectable_association(
    n: int, rows: int, columns: int, *, tests: float = 1, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest Cramér's V = √(λ/(n·min(r − 1, k − 1))) of an r × k table that χ² finds; λ as in
    `detectable_change`, of χ².

    At most 1; None where a side has one category. Source: Cohen 1988, ch. 7.
    """
    width = min(rows, columns) - 1
    if width < 1 or n < 1:
        return None
    df = (rows - 1) * (columns - 1)
    needed = float(scipy.special.chndtrinc(scipy.special.chdtri(df, alpha / tests), df, 1 - power))
    return min(1.0, float(np.sqrt(needed / (n * width))))


def _noncentrality(dfn: int, dfd: int, alpha: float, power: float) -> float:
    critical = float(scipy.special.fdtri(dfn, dfd, 1 - alpha))
    return float(scipy.special.ncfdtrinc(dfn, dfd, 1 - power, critical))


def scale_detectable(n: int, alpha: float, alpha_new: float, *, power: float = POWER) -> float:
    """Return by what a change detectable at `alpha` is multiplied for it to be that at `alpha_new`: √(λ(α_new)/λ(α)), λ
    as in `detectable_change`."""
    if n < 2:
        return 1.0
    return math.sqrt(_noncentrality(1, n - 1, alpha_new, power) / _noncentrality(1, n - 1, alpha, power))


# --- one correction --------------------------------------------------------------------------------------------------


EXPLORATORY = 0.2
"""Share of α that all exploratory questions of a page hold together, beside the α that the primary ones share."""


def over_questions(
    p: pd.Series[float],
    question: pd.Series[str],
    *,
    given: Collection[str] = (),
    after: Mapping[str, str] | None = None,
    primary: Mapping[str, float] | None = None,
) -> pd.Series[float]:
    """Correct every test of a study once: each question enters a Holm procedure by its least p, for its share of α.

    Within a question p̃ holds over its rows: those of `given` do already (max-T), the others by Holm. A row's adjusted
    p is p̃/share, and not below those of questions that were answered before. The question whose least p̃ is smallest
    for its share is answered first; then its share goes to others. A row of a primary question in which nothing is to
    be found falls below α in at most α of studies, one of an exploratory question in at most `EXPLORATORY`·α of them
    (and in α once all primary questions are answered), whatever there is to be found in other questions.

    Args:
        p: By row, NaN where nothing was tested.
        question: The question of each row.
        given: Questions whose p are corrected over their rows already.
        after: Question → the one that has to be answered first. An exploratory one that waits for another exploratory
            one inherits its share; one that waits for a primary one has a share of its own. A primary one never waits.
        primary: Primary question → its part of α. Parts are divided by the sum of those that were tested. The share
            of an answered one goes to the other primary ones by their parts; that of the last to the exploratory ones.
            Where none of them was tested the others stay exploratory. Without a primary question all share α alike;
            with one row a question this is Holm.

    Raises:
        ValueError: for a p outside 0–1 or a part that is not above 0.

    Source: Holm 1979; Westfall & Young 1993 for max-T; Bretz, Maurer, Brannath & Posch 2009 for shares that are handed
    on.
    """
    by_question, shares = _begin(p, question, given, after or {}, primary or {})
    adjusted: pd.Series[float] = pd.Series(float("nan"), index=p.index, name="p_adjusted")
    reached = 0.0
    while asked := shares.open():
        name = _answered_next(by_question, asked)
        reached = max(reached, min(1.0, float(by_question[name].min()) / asked[name]))
        adjusted.loc[by_question[name].index] = (by_question[name] / asked[name]).clip(reached, 1.0).to_numpy()
        shares.hand_on(name)
    return adjusted


def shares_held(
    p: pd.Series[float],
    question: pd.Series[str],
    *,
    given: Collection[str] = (),
    after: Mapping[str, str] | None = None,
    primary: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Return the share of α at which each question of a page is tested, in the procedure of `over_questions`.

    A question that is answered (least p̃ below its share of α) was tested at the share that it held then. The others
    are tested at what they hold when no further one can be answered: had there been an effect in one of them, this is
    the level that it had to pass. One that waits for an unanswered question has the share that it would be given.
    Arguments as in `over_questions`.
    """
    by_question, shares = _begin(p, question, given, after or {}, primary or {})
    held: dict[str, float] = {}
    while asked := shares.open():
        name = _answered_next(by_question, asked)
        if float(by_question[name].min()) >= ALPHA * asked[name]:
            break
        held[name] = asked[name]
        shares.hand_on(name)
    unanswered = {name: shares.held_by(name) for name in by_question if name not in held}
    return held | unanswered


def _begin(
    p: pd.Series[float], question: pd.Series[str], given: Collection[str], after: Mapping[str, str],
    primary: Mapping[str, float],
) -> tuple[dict[str, pd.Series[float]], Shares]:  # fmt: skip
    """Return p of each tested question, corrected over its rows, and the shares that questions begin with."""
    outside = p[(p < 0) | (p > 1)]
    if len(outside):
        raise ValueError(f"a p-value lies between 0 and 1; {outside.iloc[0]} was given")
    tested = {str(name): rows.dropna() for name, rows in p.groupby(question, sort=False) if rows.notna().any()}
    by_question = {n: rows if n in given else pd.Series(holm(rows.tolist()), rows.index) for n, rows in tested.items()}
    return by_question, Shares.of(by_question, primary, after)


def _answered_next(by_question: Mapping[str, pd.Series[float]], asked: Mapping[str, float]) -> str:
    return min(asked, key=lambda name: float(by_question[name].min()) / asked[name])


@dataclass
class Shares:
    """Who holds which share of α while questions are answered one after the other (see `over_questions`)."""

    primary: dict[str, float]
    rest: dict[str, float]
    waits: dict[str, str]  # exploratory question → the one that has to be answered first

    @classmethod
    def of(cls, questions: Collection[str], parts: Mapping[str, float], after: Mapping[str, str]) -> Shares:
        """Return the shares that questions begin with. parts: of the primary ones, tested or not."""
        wrong = [f"{name} ({part:g})" for name, part in parts.items() if not part > 0]
        if wrong:
            raise ValueError(f"a primary question's part of α is above 0; given: {', '.join(wrong)}")
        named = {name: part for name, part in parts.items() if name in questions}
        primary = {name: part / sum(named.values()) for name, part in named.items()}
        others = [name for name in questions if name not in primary]
        waits = {name: after[name] for name in others if after.get(name) in questions}
        inherits = {name for name, first in waits.items() if first not in primary}
        holding = [name for name in others if name not in inherits]
        total = EXPLORATORY if parts else 1.0
        return cls(primary, {name: total / len(holding) if name in holding else 0.0 for name in others}, waits)

    def held_by(self, name: str) -> float:
        """Return the share that a question holds, or would inherit from the one that it waits for."""
        if name in self.primary:
            return self.primary[name]
        return self.rest[name] or self.held_by(self.waits[name])

    def open(self) -> dict[str, float]:
        """Return the shares of those that can be answered next."""
        return {**self.primary, **{name: share for name, share in self.rest.items() if name not in self.waits}}

    def hand_on(self, name: str) -> None:
        """Take an answered question out, and give its share to others."""
        waiting = [other for other, first in self.waits.items() if first == name]
        for other in waiting:
            del self.waits[other]
        if name in self.primary:
            share = self.primary.pop(name)
            left = sum(self.primary.values())
            self.primary = {other: held + share * held / left for other, held in self.primary.items()}
            heirs = [] if self.primary else [other for other in self.rest if self._holds_its_own(other)]
            share *= 1 - EXPLORATORY  # which those have already: together they never hold more than α
        else:
            share = self.rest.pop(name)
            heirs = waiting or [other for other in self.rest if self._holds_its_own(other)]
        for other in heirs:
            self.rest[other] += share / len(heirs)

    def _holds_its_own(self, name: str) -> bool:
        """Return whether it waits for no other exploratory question."""
        return self.waits.get(name) not in self.rest
