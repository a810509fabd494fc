"""Q method: factors of sorts, how many there are, and their rotation into shared points of view."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from enquete.analysis.components import NEGLIGIBLE, Matrix
from enquete.analysis.typology import Labels

# --- Sorts of statements: the grid that they fill, which of them define a factor, its scores, and which statements
# tell views apart.


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
    sort = np.empty(len(means))
    sort[order] = places(grid)
    return sort


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
    statements = [
        Contrast(i, float(a), float(b), float((a - centre) / sd), float((b - centre) / sd))
        for i, (a, b) in enumerate(zip(inside, rest, strict=True))
    ]
    return sorted(statements, key=lambda contrast: (-abs(contrast.difference), contrast.statement))


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
    changed = flags.copy()
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
            changed[places[row], factor] = wanted
    return changed


LARGEST_LOADING = 0.999  # beyond it, a weight l/(1 − l²) would make one sort the factor
SORT_RELIABILITY = 0.8  # r of a person's sort with the same person's later sort (Brown 1980, p. 245)
TIE = 9  # digits of z beyond which two statements are tied, so that ties do not depend on the machine


def weights(loadings: Matrix, flags: Flags) -> Matrix:
    """w = l/(1 − l²) of flagged sorts, 0 elsewhere, N × k. Source: Spearman 1927, Brown 1980, p. 241.

    |l| above .999 counts as .999 (w = ±499.75): at 1 the weight is infinite, and above 1 (Heywood) its sign is wrong.
    """
    bounded = np.clip(loadings, -LARGEST_LOADING, LARGEST_LOADING)
    return np.where(flags, bounded / (1 - bounded**2), 0.0)


def composites(sorts: Matrix, weight: Matrix) -> Matrix:
    """Weighted mean sort of each factor, Σwx / Σ|w|, less its mean: factors × statements. Each needs a weight."""
    sums = weight.T @ sorts / np.abs(weight).sum(axis=0)[:, None]
    return np.asarray(sums - sums.mean(axis=1, keepdims=True))


def is_flat(composite: Matrix) -> bool:
    """Whether the weighted sorts cancel one another, so that no statement stands out."""
    return bool(np.abs(composite).max(initial=0.0) <= NEGLIGIBLE)


def z_scores(composite: Matrix) -> Matrix:
    """Composites divided by their own SD (n − 1) over statements: mean 0, SD 1."""
    return np.asarray(composite / composite.std(axis=-1, ddof=1, keepdims=True))


def factor_array(z: Matrix, grid: Mapping[int, int]) -> Matrix:
    """The forced grid filled in the order of z; of tied ones (equal to 9 digits) the earlier gets the lower place."""
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
    level = tuple(_level(gap / sed) for gap in size.tolist())
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
    pairs = [pair for pair in compared if factor in (pair.first, pair.second)]
    ranks = (-z[factor]).argsort(kind="stable").argsort() + 1
    others = np.delete(z, factor, axis=0)
    statements = []
    for s, score in enumerate(z[factor].tolist()):
        levels = [pair.level[s] for pair in pairs]
        reached = [level for level in levels if level is not None]
        if not reached or len(reached) < len(levels):
            continue
        p = max(float(pair.p[s]) for pair in pairs)
        statements.append(
            Distinction(s, score, int(array[s]), int(ranks[s]), _direction(score, others[:, s]), max(reached), p)
        )
    return tuple(sorted(statements, key=lambda distinction: (-abs(distinction.z), distinction.statement)))


def _direction(score: float, others: Matrix) -> Direction:
    return "above" if score > others.max() else "below" if score < others.min() else "between"


def consensus(compared: Sequence[StatementComparison]) -> tuple[int, ...]:
    """Statements on which no two factors differ at .05 by SED; () with fewer than two factors."""
    if not compared:
        return ()
    return tuple(s for s in range(len(compared[0].level)) if all(pair.level[s] is None for pair in compared))


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
    by_label = {
        label: distinguishing(place, z, factor_array(z[place], grid), compared) for place, label in enumerate(kept)
    }
    return tuple(by_label.get(label, ()) for label in range(weight.shape[1]))


def standardised(sorts: Matrix) -> Matrix:
    """X: every row of `sorts` (persons × statements) less its mean and divided by its length.

    Raises ValueError naming the rows for missing values and for sorts that put everything in one place.
    """
    missing = np.flatnonzero(~np.isfinite(sorts).all(axis=1))
    if len(missing):
        raise ValueError(f"sorts in rows {missing[:5].tolist()} have missing values; leave incomplete sorts out first")
    centred = sorts - sorts.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    flat = np.flatnonzero(lengths[:, 0] <= NEGLIGIBLE * np.maximum(1.0, np.abs(sorts).max(axis=1, initial=0.0)))
    if len(flat):
        raise ValueError(
            f"sorts in rows {flat[:5].tolist()} put every statement in one place and correlate with nothing"
        )
    return np.asarray(centred / lengths)


def eigenvalues(x: Matrix) -> Matrix:
    """Eigenvalues of R, descending: as many as there are persons or statements, whichever is fewer. Their sum is N."""
    return spectrum(product(x))


def product(x: Matrix) -> Matrix:
    """XXᵀ or XᵀX, whichever is smaller: they share their eigenvalues but for zeros."""
    return x @ x.T if len(x) < x.shape[1] else x.T @ x


def spectrum(products: Matrix) -> Matrix:
    """Eigenvalues of a product or of each in a stack, descending."""
    return np.asarray(np.maximum(np.linalg.eigvalsh(products)[..., ::-1], 0.0))


def principal(x: Matrix, k: int) -> Matrix:
    """Loadings of the first k principal components: eigenvectors of R times the root of their eigenvalues, N × k.

    With X = UDVᵀ these are the first columns of UD. Fewer columns where R has a lower rank.
    """
    u, d, _ = np.linalg.svd(x, full_matrices=False)
    kept = min(k, int((d > NEGLIGIBLE * d[0]).sum()))
    return np.asarray(u[:, :kept] * d[:kept])


ALPHA = 0.01
Z_01 = 2.58
MOST_DRAWS = 1_999
VALUES_DRAWN = 60_000_000
"""Draws × sorts × statements of a parallel analysis at most."""


@dataclass(frozen=True)
class NumberOfFactors:
    """eigenvalues of R, descending; beside each the mean and the 95th percentile by chance, and its p.

    parallel: leading eigenvalues with p ≤ .01; 0 means no factors. kaiser: eigenvalues above 1, far too many with many
    sorts.
    two_loaders: leading unrotated components with at least two loadings beyond 2.58/√S.
    """

    eigenvalues: Matrix
    chance_mean: Matrix
    chance_95: Matrix
    p: Matrix
    draws: int
    parallel: int
    kaiser: int
    two_loaders: int


def number_of_factors(x: Matrix, seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> NumberOfFactors:
    """Parallel analysis (Horn 1965) of standardised sorts x (N × S), with each sort's places dealt anew.

    The null is exact: every legal sort is equally likely for everyone. p = (1 + #{null ≥ observed}) / (1 + draws), each
    eigenvalue against those of its own rank. The level is .01, since at .05 one population of noise in twenty has a
    factor. Where the first one is below it, more are drawn, up to 1,999 (fewer of many sorts): no p lies below 1 / (1 +
    draws), and one of 1/200 could not pass a correction over the tests of a page.
    """
    rng = np.random.default_rng(seed)
    observed = eigenvalues(x)

    def draw(count: int) -> Matrix:
        return spectrum(np.stack([product(rng.permuted(x, axis=1)) for _ in range(count)]))

    def p_against(drawn: Matrix) -> Matrix:
        return np.asarray((1 + (drawn >= observed - 1e-9).sum(axis=0)) / (1 + len(drawn)))

    null = draw(draws)
    more = min(MOST_DRAWS, VALUES_DRAWN // x.size) - draws
    if more > 0 and p_against(null)[0] <= alpha:
        null = np.concatenate([null, draw(more)])
    p = p_against(null)
    loaders = (np.abs(principal(x, len(observed))) > Z_01 / np.sqrt(x.shape[1])).sum(axis=0)
    return NumberOfFactors(
        observed,
        null.mean(axis=0),
        np.quantile(null, 0.95, axis=0),
        p,
        len(null),
        parallel=_leading(p <= alpha),
        kaiser=int((observed > 1 + 1e-9).sum()),
        two_loaders=_leading(loaders >= 2),
    )


def _leading(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    """How many hold before the first that does not."""
    return int(np.logical_and.accumulate(holds).sum())


# --- Q methodology: shared points of view among people who sorted the same statements into the same grid --------------
# Persons are correlated, factored, rotated; sorts that define a factor are flagged and weighted into one sort for it.
# Measured by: the figures of R's qmethod for Lipset's sorts, planted views recovered, and no factors in noise.

# --- Varimax rotation of factor loadings, and the order and signs that make two solutions comparable -----------------
# Rotation by planes rather than by gradient: statsmodels' varimax forms an N × N matrix (20 s for 5,000 persons) and
# stays where it starts when the unrotated factors are an exact saddle point, as with two groups of equal size.

SWEEPS = 200
ANGLE = 1e-10  # radians; a sweep without a larger one is the last


def varimax(loadings: Matrix) -> Matrix:
    """Orthogonal rotation of loadings (N × k) to the largest variance of squared loadings, Kaiser-normalised.

    Rows are divided by the root of their communality h² = Σl², rotated and multiplied back, so that each person counts
    alike; a person without communality is left out. Each pair of factors x, y is turned by φ = ¼·atan2(D − 2AB/n,
    C − (A² − B²)/n) with u = x² − y², v = 2xy, A = Σu, B = Σv, C = Σ(u² − v²), D = 2Σuv, until no φ is left.
    Source: Kaiser 1958, Psychometrika 23, 187–200.
    """
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    present = lengths[:, 0] > NEGLIGIBLE
    rotated = loadings.copy()
    normal = np.asfortranarray(loadings[present] / lengths[present])
    for _ in range(SWEEPS):
        if max((_turned(normal, a, b) for a, b in combinations(range(normal.shape[1]), 2)), default=0.0) < ANGLE:
            break
    rotated[present] = normal * lengths[present]
    return rotated


def _turned(normal: Matrix, a: int, b: int) -> float:
    """Turns columns a and b in place; returns the angle's size."""
    if not len(normal):
        return 0.0
    x, y, n = normal[:, a], normal[:, b], len(normal)
    u, v = x**2 - y**2, 2 * x * y
    numerator = 2 * (u @ v) - 2 * u.sum() * v.sum() / n
    denominator = u @ u - v @ v - (u.sum() ** 2 - v.sum() ** 2) / n
    if np.hypot(numerator, denominator) < NEGLIGIBLE * n:
        return 0.0  # every angle is as good: atan2 of rounding errors would turn for ever
    angle = float(np.arctan2(numerator, denominator)) / 4
    normal[:, a], normal[:, b] = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    return abs(angle)


def oriented(loadings: Matrix, x: Matrix) -> Matrix:
    """Factors in the order of Σl², each with its stronger pole positive: Σ l·|l| ≥ 0.

    x: standardised sorts. Where both poles are equally strong (two opposite groups of one size), the first statement
    that the factor moves is positive: it depends on the instrument and not on the order of persons.
    """
    order = np.argsort(-(loadings**2).sum(axis=0).round(9), kind="stable")
    ordered = loadings[:, order]
    return np.asarray(ordered * np.array([_sign(factor, x) for factor in ordered.T]))


def _sign(factor: Matrix, x: Matrix) -> float:
    balance = float((factor * np.abs(factor)).sum())
    if abs(balance) > 1e-6 * float((factor**2).sum()):
        return 1.0 if balance > 0 else -1.0
    composite = factor @ x
    moved = composite[np.abs(composite) > 1e-6 * max(np.abs(composite).max(), NEGLIGIBLE)]
    return -1.0 if len(moved) and moved[0] < 0 else 1.0


Reason = Literal["factors", "chance", "few", "undefined"]

LEAST_SORTS = 2


@dataclass(frozen=True)
class QFactor:
    """One shared view. number: its place among the rotated factors, dropped ones included, from 0.

    eigenvalue: Σl² after rotation; explained: its share of N. flagged: rows of the sorts as given; negative: those of
    them at the other pole, who hold the mirror image of this view. capped: flagged loadings beyond .999. se: of z.
    z and array (columns of the grid) by statement.
    """

    number: int
    eigenvalue: float
    explained: float
    flagged: tuple[int, ...]
    negative: tuple[int, ...]
    capped: int
    reliability: float
    se: float
    z: Matrix
    array: Matrix
    distinguishing: tuple[Distinction, ...]

    @property
    def bipolar(self) -> bool:
        return 0 < len(self.negative) < len(self.flagged)


@dataclass(frozen=True)
class DroppedFactor:
    """A rotated factor without scores: "unflagged" (no sort defines it) or "flat" (its sorts cancel one another)."""

    number: int
    eigenvalue: float
    reason: Literal["unflagged", "flat"]


@dataclass(frozen=True)
class QAnalysis:
    """reason: "factors"; else why there are none: "chance" (no eigenvalue beyond permuted sorts), "few" (fewer than two
    usable sorts), "undefined" (every factor was dropped).

    rows: of the sorts as given, those analysed. n_missing: sorts left out for a missing place; n_illegal: for breaking
    the grid. loadings: len(rows) × rotated factors; flags alike. correlations and sed: between the z-scores of
    `factors`. comparisons count places in `factors`, not numbers. number is None where nothing was computed.
    """

    reason: Reason
    n_total: int
    n_missing: int
    n_illegal: int
    rows: tuple[int, ...]
    number: NumberOfFactors | None
    loadings: Matrix
    flags: Flags
    factors: tuple[QFactor, ...]
    dropped: tuple[DroppedFactor, ...]
    correlations: Matrix
    sed: Matrix
    comparisons: tuple[StatementComparison, ...]
    consensus: tuple[int, ...]

    def groups(self) -> Labels:
        """For each row of the sorts as given the pole it defines, 2·number (+ 1: negative); −1: none or several."""
        groups = np.full(self.n_total, -1, dtype=np.int64)
        single = self.flags.sum(axis=1) == 1
        if single.any():
            factor = self.flags.argmax(axis=1)
            negative = self.loadings[np.arange(len(factor)), factor] < 0
            groups[np.array(self.rows)[single]] = (2 * factor + negative)[single]
        return groups


def q_analysis(
    sorts: Matrix,
    grid: Mapping[int, int],
    *,
    n_factors: int | None = None,
    flags: FlagEdits | None = None,
    seed: int = 0,
) -> QAnalysis:
    """The whole analysis of sorts (agents × statements; a place of the grid each, NaN for missing).

    grid: how many statements each column takes. n_factors: None for as many as parallel analysis finds. flags: changes
    to the automatic ones.
    Factors come in the order of Σl², with the stronger pole positive. Same input and seed, same result. Raises
    ValueError for sorts that are no table, a grid that does not take the statements, more factors than there can be
    (fewer than 1 too), and flags that do not fit.
    """
    _checked(sorts, grid, n_factors)
    missing = ~np.isfinite(sorts).all(axis=1)
    fits = legal(sorts, grid)
    rows = np.flatnonzero(fits)
    nothing, none = np.empty((0, 0)), np.empty((len(rows), 0))
    begun = QAnalysis(
        "few", len(sorts), int(missing.sum()), int((~missing & ~fits).sum()), tuple(rows.tolist()), None,
        none, none.astype(bool), (), (), nothing, nothing, (), (),
    )  # fmt: skip
    if len(rows) < LEAST_SORTS:
        return begun
    x = standardised(sorts[rows])
    number = number_of_factors(x, seed)
    wanted = number.parallel if n_factors is None else n_factors
    if wanted == 0:
        return replace(begun, reason="chance", number=number)
    extracted = principal(x, wanted)
    most = extracted.shape[1]
    if n_factors is not None and most < n_factors:
        raise ValueError(f"n_factors is {n_factors}, but these {len(rows)} sorts have {most} principal components")
    loadings = oriented(varimax(extracted), x)
    flagged = automatic_flags(loadings, x.shape[1])
    if flags is not None:
        flagged = edited(flagged, flags, begun.rows)
    return _scored(replace(begun, number=number, loadings=loadings, flags=flagged), sorts[rows], grid, seed)


def _checked(sorts: Matrix, grid: Mapping[int, int], n_factors: int | None) -> None:
    if sorts.ndim != 2:
        raise ValueError(f"sorts must be a table of agents × statements, not an array of {sorts.ndim} dimension(s)")
    taken = len(places(grid))
    if taken != sorts.shape[1]:
        raise ValueError(f"the grid takes {taken} statements, the sorts have {sorts.shape[1]}")
    if sum(n > 0 for n in grid.values()) < 2:
        raise ValueError(f"the grid {dict(grid)} has fewer than two columns to tell statements apart")
    if n_factors is not None and n_factors < 1:
        raise ValueError(f"n_factors is {n_factors}; give at least 1, or None for as many as parallel analysis finds")


def _scored(begun: QAnalysis, sorts: Matrix, grid: Mapping[int, int], seed: int) -> QAnalysis:
    """Scores of the factors that have any; the rest dropped with the reason."""
    weight = weights(begun.loadings, begun.flags)
    dropped = _dropped(sorts, weight, begun.loadings)
    kept = [f for f in range(begun.loadings.shape[1]) if f not in {factor.number for factor in dropped}]
    if not kept:
        return replace(begun, reason="undefined", dropped=dropped)
    n_flagged = begun.flags[:, kept].sum(axis=0).tolist()
    z = z_scores(composites(sorts, weight[:, kept]))
    compared = comparisons(sorts, weight[:, kept], np.random.default_rng(seed))
    return replace(
        begun,
        reason="factors",
        factors=tuple(_factor(f, place, z, grid, begun, compared) for place, f in enumerate(kept)),
        dropped=dropped,
        correlations=np.atleast_2d(np.corrcoef(z)),
        sed=standard_errors_of_difference(np.array([standard_error(n) for n in n_flagged])),
        comparisons=compared,
        consensus=consensus(compared),
    )


def _dropped(sorts: Matrix, weight: Matrix, loadings: Matrix) -> tuple[DroppedFactor, ...]:
    dropped = []
    for f, column in enumerate(weight.T):
        unflagged = not column.any()
        if unflagged or is_flat(composites(sorts, column[:, None])):
            dropped.append(DroppedFactor(f, float((loadings[:, f] ** 2).sum()), "unflagged" if unflagged else "flat"))
    return tuple(dropped)


def _factor(
    f: int, place: int, z: Matrix, grid: Mapping[int, int], begun: QAnalysis, compared: tuple[StatementComparison, ...]
) -> QFactor:
    loadings, marked, rows = begun.loadings[:, f], begun.flags[:, f], np.array(begun.rows)
    array = factor_array(z[place], grid)
    eigenvalue = float((loadings**2).sum())
    return QFactor(
        number=f,
        eigenvalue=eigenvalue,
        explained=eigenvalue / len(rows),
        flagged=tuple(rows[marked].tolist()),
        negative=tuple(rows[marked & (loadings < 0)].tolist()),
        capped=int((marked & (np.abs(loadings) > LARGEST_LOADING)).sum()),
        reliability=reliability(int(marked.sum())),
        se=standard_error(int(marked.sum())),
        z=z[place],
        array=array,
        distinguishing=distinguishing(place, z, array, compared),
    )


@dataclass(frozen=True)
class SortAgreement:
    """ari: adjusted Rand index, or None with nothing to compare. n_unflagged: of the sorts in a cluster."""

    ari: float | None
    n_compared: int
    n_unflagged: int


def agreement(groups: Labels, clusters: Labels) -> SortAgreement:
    """How far Q factors and clusters sort people alike (Hubert & Arabie 1985), among those whom both place.

    groups: QAnalysis.groups(); the poles of a bipolar factor are two groups, as they are for any clustering. clusters:
    by the same rows, −1 for agents without one. None with fewer than two agents, or where both have but one group.
    """
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415 - takes a second, which most commands save

    if len(groups) != len(clusters):
        raise ValueError(f"{len(groups)} sorts and {len(clusters)} cluster labels; both must list the same agents")
    both = (groups >= 0) & (clusters >= 0)
    unflagged = int(((groups < 0) & (clusters >= 0)).sum())
    told_apart = len(np.unique(groups[both])) > 1 or len(np.unique(clusters[both])) > 1
    ari = float(adjusted_rand_score(clusters[both], groups[both])) if both.sum() > 1 and told_apart else None
    return SortAgreement(ari, int(both.sum()), unflagged)
