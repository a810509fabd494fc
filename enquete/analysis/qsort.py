"""Sorts of statements: the grid that they fill, which of them define a factor, its scores, and which statements tell
views apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from enquete.analysis.components import NEGLIGIBLE, Matrix
from enquete.analysis.typology import Labels


@dataclass(frozen=True)
class Contrast:
    """One statement in a group and in everybody else.

    mean, mean_rest: mean position. z, z_rest: (mean − mean of the grid) / SD of the grid. difference: z − z_rest.
    """

    statement: int  # its place among the columns
    mean: float
    mean_rest: float
    z: float
    z_rest: float

    @property
    def difference(self) -> float:
        return self.z - self.z_rest


def legal(sorts: Matrix, grid: Mapping[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows (agents × statements) fill the grid exactly; NaN never does."""
    filled = np.sort(sorts, axis=1)
    wanted = places(grid)
    if filled.shape[1] != len(wanted):
        return np.zeros(len(sorts), dtype=bool)
    return np.asarray((filled == wanted).all(axis=1))


def places(grid: Mapping[int, int]) -> Matrix:
    """The grid as the ascending list of its places: {-1: 1, 0: 2, 1: 1} → −1, 0, 0, 1."""
    return np.array([column for column, n in sorted(grid.items()) for _ in range(n)], dtype=float)


def grid_moments(grid: Mapping[int, int]) -> tuple[float, float]:
    """Mean and SD (n − 1) of the grid's places."""
    filled = places(grid)
    return float(filled.mean()), float(filled.std(ddof=1))


def common_sort(means: Matrix, grid: Mapping[int, int]) -> Matrix:
    """The legal sort nearest to a group's mean positions: places filled in the order of the means, ties by column."""
    order = np.argsort(means, kind="stable")
    found = np.empty(len(means))
    found[order] = places(grid)
    return found


def contrasts(
    sorts: Matrix, members: np.ndarray[tuple[int], np.dtype[np.bool_]], grid: Mapping[int, int]
) -> list[Contrast]:
    """Every statement, the one that sets the group apart most first.

    sorts: agents × statements, legal. members: which agents are in the group. A description, not a test: where the
    group was formed from the same sorts, a test on them would be circular. Without members, or without a rest: [].
    """
    if not members.any() or members.all():
        return []
    centre, sd = grid_moments(grid)
    inside, rest = sorts[members].mean(axis=0), sorts[~members].mean(axis=0)
    found = [
        Contrast(i, float(a), float(b), float((a - centre) / sd), float((b - centre) / sd))
        for i, (a, b) in enumerate(zip(inside, rest, strict=True))
    ]
    return sorted(found, key=lambda contrast: (-abs(contrast.difference), contrast.statement))


# --- Which sorts define a factor, by rule or by hand, and its scores from them: weights, z, factor array,
# reliability, error

Flags: TypeAlias = "npt.NDArray[np.bool_]"

Z_05 = 1.96


@dataclass(frozen=True)
class FlagEdits:
    """Changes by hand: pairs of (row of the sorts as given, factor), both from 0; factors as numbered before any is
    dropped."""

    add: Collection[tuple[int, int]] = ()
    remove: Collection[tuple[int, int]] = ()


def threshold(statements: int) -> float:
    """Least |l| that differs from 0 at .05: 1.96/√S, S statements (24: .400)."""
    return float(Z_05 / np.sqrt(statements))


def automatic_flags(loadings: Matrix, statements: int) -> Flags:
    """Flagged: |l| > 1.96/√S and l² > Σ of the person's other l². N × k; negative loadings are flagged too.

    At most one flag a person. Source: Brown 1980; van Exel & de Graaf 2005 (PQMethod's pre-flagging).
    """
    squares = loadings**2
    return np.asarray((np.abs(loadings) > threshold(statements)) & (2 * squares > squares.sum(axis=1, keepdims=True)))


def edited(flags: Flags, edits: FlagEdits, rows: Sequence[int]) -> Flags:
    """`flags` with the changes. rows: for each row of `flags`, its row in the sorts as given.

    Raises ValueError for a sort or factor that is not there, for a pair to add that is flagged already, for one to
    remove
    that is not, and for a pair in both: a researcher's note about another solution must not pass for one about this.
    """
    both = set(edits.add) & set(edits.remove)
    if both:
        raise ValueError(f"flags {sorted(both)} are to be added and removed; name each (sort, factor) once")
    places = {row: place for place, row in enumerate(rows)}
    found = flags.copy()
    for pairs, wanted in ((edits.add, True), (edits.remove, False)):
        for row, factor in pairs:
            if row not in places:
                raise ValueError(f"flag ({row}, {factor}): sort {row} is not among the {len(rows)} analysed sorts")
            if not 0 <= factor < flags.shape[1]:
                raise ValueError(f"flag ({row}, {factor}): factors are 0 … {flags.shape[1] - 1}")
            if flags[places[row], factor] == wanted:
                raise ValueError(
                    f"flag ({row}, {factor}) is {'already set' if wanted else 'not set'}; nothing to change"
                )
            found[places[row], factor] = wanted
    return found


LARGEST_LOADING = 0.999  # beyond it, a weight l/(1 − l²) would make one sort the factor
SORT_RELIABILITY = 0.8  # r of a person's sort with the same person's later sort (Brown 1980, p. 245)
TIE = 9  # digits of z beyond which two statements are tied, so that ties do not depend on the machine


def weights(loadings: Matrix, flags: Flags) -> Matrix:
    """w = l/(1 − l²) of flagged sorts, 0 elsewhere, N × k. Source: Spearman 1927, Brown 1980, p. 241.

    |l| above .999 counts as .999 (w = ±499.75): at 1 the weight is infinite, and above 1 (Heywood) it has the wrong
    sign.
    """
    bounded = np.clip(loadings, -LARGEST_LOADING, LARGEST_LOADING)
    return np.where(flags, bounded / (1 - bounded**2), 0.0)


def composites(sorts: Matrix, weight: Matrix) -> Matrix:
    """Weighted mean sort of each factor, Σwx / Σ|w|, less its mean: factors × statements. Each factor needs a
    weight."""
    sums = weight.T @ sorts / np.abs(weight).sum(axis=0)[:, None]
    return np.asarray(sums - sums.mean(axis=1, keepdims=True))


def is_flat(composite: Matrix) -> bool:
    """Whether the weighted sorts cancel one another, so that no statement stands out."""
    return bool(np.abs(composite).max(initial=0.0) <= NEGLIGIBLE)


def z_scores(composite: Matrix) -> Matrix:
    """Composites divided by their own SD (n − 1) over statements: mean 0, SD 1."""
    return np.asarray(composite / composite.std(axis=-1, ddof=1, keepdims=True))


def factor_array(z: Matrix, grid: Mapping[int, int]) -> Matrix:
    """The forced grid filled in the order of z; of tied statements (equal to 9 digits) the earlier gets the lower
    place."""
    return common_sort(z.round(TIE), grid)


def reliability(flagged: int) -> float:
    """Composite reliability 0.8p / (1 + 0.8(p − 1)) of p flagged sorts (Spearman–Brown). Source: Brown 1980, p. 244."""
    if flagged < 1:
        raise ValueError(f"a factor without a flagged sort has no reliability (got p = {flagged})")
    return SORT_RELIABILITY * flagged / (1 + SORT_RELIABILITY * (flagged - 1))


def standard_error(flagged: int) -> float:
    """SE = s·√(1 − r) of a factor's z-scores, s = 1. It knows the number of sorts and not how far they agree."""
    return float(np.sqrt(1 - reliability(flagged)))


def standard_errors_of_difference(se: Matrix) -> Matrix:
    """SED = √(SE₁² + SE₂²) for every two factors, k × k."""
    return np.asarray(np.sqrt(se[:, None] ** 2 + se[None, :] ** 2))


# --- What sets factors apart: differences between their z-scores against two yardsticks, distinguishing and consensus
# statements
# The usual yardstick, SED, knows only how many sorts define a factor: with many sorts every difference passes it. So
# each difference stands beside a permutation null, which asks how far apart two groups of the same people would be by
# lot.

Direction = Literal["above", "below", "between"]

CRITICAL = {0.01: 2.576, 0.05: 1.96}  # by level of a two-sided test
DRAWS = 199


@dataclass(frozen=True)
class StatementComparison:
    """Two factors, statement by statement.

    first, second: places among the factors. difference: z of the first less z of the second. sed: standard error of it.
    level: .01 or .05 where |difference| exceeds 2.576 or 1.96 SED, else None. p: permutation p of each difference.
    chance: 95th percentile of |difference| when sorts are dealt to the two factors by lot.
    """

    first: int
    second: int
    difference: Matrix
    sed: float
    level: tuple[float | None, ...]
    p: Matrix
    chance: Matrix


@dataclass(frozen=True)
class Distinction:
    """A statement that sets a factor apart from every other.

    place: its column in the factor array. rank: 1 for the highest z. direction: above all others, below all, or
    between.
    level: by SED. p: the largest permutation p among the comparisons with the others.
    """

    statement: int
    z: float
    place: int
    rank: int
    direction: Direction
    level: float
    p: float


def comparisons(
    sorts: Matrix, weight: Matrix, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[StatementComparison, ...]:
    """Every two factors. sorts: N × S; weight: N × k, 0 for sorts that do not define the factor, no factor flat."""
    composite = composites(sorts, weight)
    z, sds = z_scores(composite), composite.std(axis=1, ddof=1)
    sed = standard_errors_of_difference(np.array([standard_error(n) for n in (weight != 0).sum(axis=0).tolist()]))
    return tuple(
        _compared(a, b, z, float(sed[a, b]), _differences(sorts, weight, sds, a, b, rng, draws))
        for a, b in combinations(range(len(z)), 2)
    )


def _compared(a: int, b: int, z: Matrix, sed: float, null: Matrix) -> StatementComparison:
    difference = z[a] - z[b]
    size = np.abs(difference)
    reached = (np.abs(null) >= size - 1e-12).sum(axis=0)
    level = tuple(_level(one / sed) for one in size.tolist())
    p, chance = (1 + reached) / (1 + len(null)), np.quantile(np.abs(null), 0.95, axis=0)
    return StatementComparison(a, b, difference, sed, level, p, chance)


def _level(ratio: float) -> float | None:
    return 0.01 if ratio > CRITICAL[0.01] else 0.05 if ratio > CRITICAL[0.05] else None


def _differences(
    sorts: Matrix, weight: Matrix, sds: Matrix, a: int, b: int, rng: np.random.Generator, draws: int
) -> Matrix:
    """draws × S: differences between two groups of the same sizes dealt from the sorts that define either factor.

    Each sort keeps its |w| and enters with the sign of its loading in units of its own factor's SD, so that the undealt
    difference is that of the z-scores and a factor's strength of agreement cannot pass for a difference of view.
    """
    members = [np.flatnonzero(weight[:, f]) for f in (a, b)]
    centred = [sorts[rows] - sorts[rows].mean(axis=1, keepdims=True) for rows in members]
    units = [np.sign(weight[rows, f])[:, None] / sds[f] for rows, f in zip(members, (a, b), strict=True)]
    y = np.vstack([unit * rows for unit, rows in zip(units, centred, strict=True)])
    w = np.abs(np.concatenate([weight[rows, f] for rows, f in zip(members, (a, b), strict=True)]))
    first = np.arange(len(w)) < len(members[0])
    dealt = rng.permuted(np.tile(first, (draws, 1)), axis=1) * w
    inside, mass = dealt @ y, dealt.sum(axis=1, keepdims=True)
    return np.asarray(inside / mass - (w @ y - inside) / (w.sum() - mass))


def distinguishing(
    factor: int, z: Matrix, array: Matrix, compared: Sequence[StatementComparison]
) -> tuple[Distinction, ...]:
    """Statements whose z differs from that of every other factor by more than 1.96 SED, the largest |z| first.

    z: factors × statements. array: the factor's own. With one factor there is nothing to differ from: ().
    """
    own = [one for one in compared if factor in (one.first, one.second)]
    ranks = (-z[factor]).argsort(kind="stable").argsort() + 1
    others = np.delete(z, factor, axis=0)
    found = []
    for s, score in enumerate(z[factor].tolist()):
        levels = [one.level[s] for one in own]
        reached = [level for level in levels if level is not None]
        if not reached or len(reached) < len(levels):
            continue
        p = max(float(one.p[s]) for one in own)
        found.append(
            Distinction(s, score, int(array[s]), int(ranks[s]), _direction(score, others[:, s]), max(reached), p)
        )
    return tuple(sorted(found, key=lambda one: (-abs(one.z), one.statement)))


def _direction(score: float, others: Matrix) -> Direction:
    return "above" if score > others.max() else "below" if score < others.min() else "between"


def consensus(compared: Sequence[StatementComparison]) -> tuple[int, ...]:
    """Statements on which no two factors differ at .05 by SED; () with fewer than two factors."""
    if not compared:
        return ()
    return tuple(s for s in range(len(compared[0].level)) if all(one.level[s] is None for one in compared))


def group_distinctions(
    sorts: Matrix, labels: Labels, grid: Mapping[int, int], seed: int, draws: int = DRAWS
) -> tuple[tuple[Distinction, ...], ...]:
    """Distinguishing statements of groups of people (0 … k − 1), as if each were a factor whose members weigh 1.

    A description: groups formed from the same sorts differ by construction. A group whose sorts cancel one another has
    none, and the others are compared without it.
    """
    weight = (labels[:, None] == np.arange(int(labels.max(initial=-1)) + 1)).astype(np.float64)
    kept = [
        f for f, members in enumerate(weight.T) if members.any() and not is_flat(composites(sorts, members[:, None]))
    ]
    compared = comparisons(sorts, weight[:, kept], np.random.default_rng(seed), draws)
    z = z_scores(composites(sorts, weight[:, kept]))
    found = {
        label: distinguishing(place, z, factor_array(z[place], grid), compared) for place, label in enumerate(kept)
    }
    return tuple(found.get(label, ()) for label in range(weight.shape[1]))
