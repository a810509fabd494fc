"""Permutation tests: every relabelling where there are few, else seeded random ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from enquete.analysis.estimates import Floats

Labels = NDArray[np.int64]

EXACT_UP_TO = 20_000  # relabellings that are enumerated
HELD = 4_000_000  # relabellings × observations that an enumeration may hold
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
    return count <= exact_up_to and count * np.size(labels) <= HELD


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


# --- beyond all draws -------------------------------------------------------------------------------------------------

SMALLEST_TAIL = 1e-5
"""p that is told of a fitted tail at least: farther out the fit knows nothing."""


def tail_p(observed: float, null: ArrayLike) -> float:
    """p of a figure against m draws where more draws would cost too much.

    (b + 1)/(m + 1) where b draws reach it; where none does, the tail of the Pearson III distribution (a shifted gamma)
    with mean, standard deviation and skewness γ of the draws, which is not larger than 1/(m + 1): with z the
    standardised figure and a = 4/γ², Q(a, a + z√a) for γ > 0, else the normal tail. A Monte Carlo p ends at 1/(m + 1),
    so that no correction over many tests could be passed. Source: Winkler, Ridgway, Douaud, Nichols & Smith 2016 (tail
    and gamma approximations).
    """
    drawn = np.asarray(null, dtype=np.float64)
    reached, m = int((drawn >= observed - 1e-9).sum()), drawn.size
    least = (1 + reached) / (1 + m)
    spread = float(drawn.std(ddof=1)) if m > 1 else 0.0
    if reached or spread <= 0:
        return least
    z, skew = (observed - drawn.mean()) / spread, float((((drawn - drawn.mean()) / spread) ** 3).mean())
    a = 4 / skew**2 if skew > 1e-3 else 0.0
    tail = special.gammaincc(a, a + z * math.sqrt(a)) if a else special.ndtr(-z)
    return min(least, max(SMALLEST_TAIL, float(tail)))
