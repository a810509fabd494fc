"""Q method: factors of sorts, how many there are, and their rotation into shared points of view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from enquete.analysis.components import NEGLIGIBLE, Matrix
from enquete.analysis.permutation import tail_p
from enquete.analysis.qsort import (
    LARGEST_LOADING,
    Distinction,
    FlagEdits,
    Flags,
    StatementComparison,
    automatic_flags,
    comparisons,
    composites,
    consensus,
    distinguishing,
    edited,
    factor_array,
    is_flat,
    legal,
    places,
    reliability,
    standard_error,
    standard_errors_of_difference,
    weights,
    z_scores,
)
from enquete.analysis.typology import Labels, adjusted_rand

CENTROIDS = 7
COMMUNALITY_STEPS = 1000
COMMUNALITY_TOLERANCE = 1e-10


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


def centroid(x: Matrix, k: int) -> Matrix:
    """Loadings of k centroid factors, N × k; fewer where the residuals are used up.

    For each factor persons are reflected until nobody's sum of residual correlations t_j is negative; then
    f_j = (t_j + f_j²) / √Σ(t_j + f_j²), where the communality f_j² on the diagonal is estimated until it stays; the
    residuals are R − ff′. Seven are extracted, as PQMethod does, and of them the k largest by Σf² returned, since a
    centroid is not always larger than the next. A loading may exceed 1 (Heywood case). Source: Brown 1980, pp. 208–224.
    """
    found = np.empty((len(x), 0))
    while found.shape[1] < max(k, CENTROIDS):
        sums, signs = _reflected(x, found)
        if sums.sum() <= NEGLIGIBLE * len(x) ** 2:
            break
        found = np.column_stack([found, signs * _centroid_loadings(sums)])
    largest = np.sort(np.argsort(-(found**2).sum(axis=0), kind="stable")[:k])
    return np.asarray(found[:, largest])


def _reflected(x: Matrix, found: Matrix) -> tuple[Matrix, Matrix]:
    """Sums of residual correlations with the others after reflection, and the signs of reflection (±1).

    Each reflection of a negative sum raises the total, so the loop ends. After a factor without reflections all sums
    are 0 though the residuals are not; so the first to be reflected then is the person with the largest residuals.
    """
    diagonal = (x**2).sum(axis=1) - (found**2).sum(axis=1)
    sums = x @ x.sum(axis=0) - found @ found.sum(axis=0) - diagonal
    signs = np.ones(len(x))
    if np.abs(sums).max() <= NEGLIGIBLE * len(x):
        _reflect(_most_residual(x, found, diagonal), sums, signs, x, found)
    while sums[i := int(sums.argmin())] < -NEGLIGIBLE * len(x):
        _reflect(i, sums, signs, x, found)
    return sums, signs


def _reflect(i: int, sums: Matrix, signs: Matrix, x: Matrix, found: Matrix) -> None:
    """Changes person i's sign, in place."""
    residual = x @ x[i] - found @ found[i]
    residual[i] = 0.0
    sums -= 2 * signs[i] * signs * residual
    sums[i] *= -1
    signs[i] *= -1


def _most_residual(x: Matrix, found: Matrix, diagonal: Matrix) -> int:
    """Whose squared residual correlations with the others have the largest sum: the diagonal of (R − FF′)², less its
    own."""
    left, right = np.hstack([x, found]), np.hstack([x, -found])
    squares = np.einsum("ij,jk,ik->i", right, left.T @ left, right, optimize=True) - diagonal**2
    return int(squares.round(9).argmax())


def _centroid_loadings(sums: Matrix) -> Matrix:
    communality = sums / max(1, len(sums) - 1)
    for _ in range(COMMUNALITY_STEPS):
        totals = sums + communality
        loadings = totals / np.sqrt(totals.sum())
        if np.abs(loadings**2 - communality).max() < COMMUNALITY_TOLERANCE:
            break
        communality = loadings**2
    return np.asarray(loadings)


DRAWS = 199
ALPHA = 0.01
Z_01 = 2.58


@dataclass(frozen=True)
class NumberOfFactors:
    """eigenvalues of R, descending; beside each the mean and the 95th percentile by chance, and its p.

    tail: the same p where draws end, by the fitted tail of the draws (`permutation.tail_p`); it decides nothing here.
    parallel: leading eigenvalues with p ≤ .01; 0 means no factors. kaiser: eigenvalues above 1, far too many with many
    sorts.
    two_loaders: leading unrotated components with at least two loadings beyond 2.58/√S.
    """

    eigenvalues: Matrix
    chance_mean: Matrix
    chance_95: Matrix
    p: Matrix
    tail: Matrix
    draws: int
    parallel: int
    kaiser: int
    two_loaders: int


def number_of_factors(x: Matrix, seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> NumberOfFactors:
    """Parallel analysis (Horn 1965) of standardised sorts x (N × S), with each sort's places dealt anew over
    statements.

    The null is exact: every legal sort is equally likely for everyone. p = (1 + #{null ≥ observed}) / (1 + draws), each
    eigenvalue against those of its own rank. The level is .01, since at .05 one population of noise in twenty has a
    factor.
    """
    rng = np.random.default_rng(seed)
    observed = eigenvalues(x)
    null = spectrum(np.stack([product(rng.permuted(x, axis=1)) for _ in range(draws)]))
    p = (1 + (null >= observed - 1e-9).sum(axis=0)) / (1 + draws)
    loaders = (np.abs(principal(x, len(observed))) > Z_01 / np.sqrt(x.shape[1])).sum(axis=0)
    return NumberOfFactors(
        observed,
        null.mean(axis=0),
        np.quantile(null, 0.95, axis=0),
        p,
        np.array([tail_p(one, drawn) for one, drawn in zip(observed.tolist(), null.T, strict=True)]),
        draws,
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
    that
    the factor moves is positive: it depends on the instrument and not on the order of persons.
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


Extraction = Literal["pca", "centroid"]
Reason = Literal["factors", "chance", "few", "undefined"]

_EXTRACT = {"pca": principal, "centroid": centroid}
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
    extraction: Extraction
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
        """For each row of the sorts as given the pole it defines, 2·number (+ 1: negative pole); −1 for none or
        several."""
        found = np.full(self.n_total, -1, dtype=np.int64)
        single = self.flags.sum(axis=1) == 1
        if single.any():
            factor = self.flags.argmax(axis=1)
            negative = self.loadings[np.arange(len(factor)), factor] < 0
            found[np.array(self.rows)[single]] = (2 * factor + negative)[single]
        return found


def q_analysis(
    sorts: Matrix,
    grid: Mapping[int, int],
    *,
    extraction: Extraction = "pca",
    n_factors: int | None = None,
    flags: FlagEdits | None = None,
    number: NumberOfFactors | None = None,
    seed: int = 0,
) -> QAnalysis:
    """The whole analysis of sorts (agents × statements; a place of the grid each, NaN for missing).

    grid: how many statements each column takes. n_factors: None for as many as parallel analysis finds. flags: changes
    to the automatic ones. number: as another analysis of these sorts found it, so that it need not be drawn again.
    Factors come in the order of Σl², with the stronger pole positive. Same input and seed, same result. Raises
    ValueError for sorts that are no table, a grid that does not take the statements, more factors than there can be
    (fewer than 1 too), an unknown extraction, and flags that do not fit.
    """
    _checked(sorts, grid, extraction, n_factors)
    missing = ~np.isfinite(sorts).all(axis=1)
    fits = legal(sorts, grid)
    rows = np.flatnonzero(fits)
    nothing, loadings = np.empty((0, 0)), np.empty((len(rows), 0))
    begun = QAnalysis(
        "few", extraction, len(sorts), int(missing.sum()), int((~missing & ~fits).sum()), tuple(rows.tolist()), None,
        loadings, loadings.astype(bool), (), (), nothing, nothing, (), (),
    )  # fmt: skip
    if len(rows) < LEAST_SORTS:
        return begun
    return _analysed(begun, sorts[rows], grid, n_factors, flags, number, seed)


def _analysed(
    begun: QAnalysis,
    sorts: Matrix,
    grid: Mapping[int, int],
    n_factors: int | None,
    flags: FlagEdits | None,
    number: NumberOfFactors | None,
    seed: int,
) -> QAnalysis:
    """sorts: those analysed."""
    x = standardised(sorts)
    number = number or number_of_factors(x, seed)
    wanted = number.parallel if n_factors is None else n_factors
    if wanted == 0:
        return replace(begun, reason="chance", number=number)
    extracted = _EXTRACT[begun.extraction](x, wanted)
    if n_factors is not None and extracted.shape[1] < n_factors:
        raise ValueError(
            f"n_factors is {n_factors}, but {begun.extraction} extraction of these {len(sorts)} sorts ends at "
            f"{extracted.shape[1]}"
        )
    loadings = oriented(varimax(extracted), x)
    flagged = automatic_flags(loadings, x.shape[1])
    if flags is not None:
        flagged = edited(flagged, flags, begun.rows)
    return _scored(replace(begun, number=number, loadings=loadings, flags=flagged), sorts, grid, seed)


def _checked(sorts: Matrix, grid: Mapping[int, int], extraction: str, n_factors: int | None) -> None:
    if sorts.ndim != 2:
        raise ValueError(f"sorts must be a table of agents × statements, not an array of {sorts.ndim} dimension(s)")
    taken = len(places(grid))
    if taken != sorts.shape[1]:
        raise ValueError(f"the grid takes {taken} statements, the sorts have {sorts.shape[1]}")
    if sum(n > 0 for n in grid.values()) < 2:
        raise ValueError(f"the grid {dict(grid)} has fewer than two columns to tell statements apart")
    if extraction not in _EXTRACT:
        raise ValueError(f"extraction is {extraction!r}; known: {', '.join(_EXTRACT)}")
    if n_factors is not None and n_factors < 1:
        raise ValueError(f"n_factors is {n_factors}; give at least 1, or None for as many as parallel analysis finds")


def _scored(begun: QAnalysis, sorts: Matrix, grid: Mapping[int, int], seed: int) -> QAnalysis:
    """Scores of the factors that have any; the rest dropped with the reason."""
    weight = weights(begun.loadings, begun.flags)
    dropped = _dropped(sorts, weight, begun.loadings)
    kept = [f for f in range(begun.loadings.shape[1]) if f not in {one.number for one in dropped}]
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
    found = []
    for f, column in enumerate(weight.T):
        unflagged = not column.any()
        if unflagged or is_flat(composites(sorts, column[:, None])):
            found.append(DroppedFactor(f, float((loadings[:, f] ** 2).sum()), "unflagged" if unflagged else "flat"))
    return tuple(found)


def _factor(
    f: int, place: int, z: Matrix, grid: Mapping[int, int], begun: QAnalysis, compared: tuple[StatementComparison, ...]
) -> QFactor:
    own, marked, rows = begun.loadings[:, f], begun.flags[:, f], np.array(begun.rows)
    array = factor_array(z[place], grid)
    eigenvalue = float((own**2).sum())
    return QFactor(
        number=f,
        eigenvalue=eigenvalue,
        explained=eigenvalue / len(rows),
        flagged=tuple(rows[marked].tolist()),
        negative=tuple(rows[marked & (own < 0)].tolist()),
        capped=int((marked & (np.abs(own) > LARGEST_LOADING)).sum()),
        reliability=reliability(int(marked.sum())),
        se=standard_error(int(marked.sum())),
        z=z[place],
        array=array,
        distinguishing=distinguishing(place, z, array, compared),
    )


@dataclass(frozen=True)
class SortAgreement:
    """ari: adjusted Rand index, or None where there is nothing to compare. n_unflagged: of the sorts that have a
    cluster."""

    ari: float | None
    n_compared: int
    n_unflagged: int


def agreement(groups: Labels, clusters: Labels) -> SortAgreement:
    """How far Q factors and clusters sort people alike (Hubert & Arabie 1985), among those whom both place.

    groups: QAnalysis.groups(); the poles of a bipolar factor are two groups, as they are for any clustering. clusters:
    by the same rows, −1 for agents without one. None with fewer than two agents, or where both have but one group.
    """
    if len(groups) != len(clusters):
        raise ValueError(f"{len(groups)} sorts and {len(clusters)} cluster labels; both must list the same agents")
    both = (groups >= 0) & (clusters >= 0)
    unflagged = int(((groups < 0) & (clusters >= 0)).sum())
    told_apart = len(np.unique(groups[both])) > 1 or len(np.unique(clusters[both])) > 1
    ari = adjusted_rand(clusters[both], groups[both]) if both.sum() > 1 and told_apart else None
    return SortAgreement(ari, int(both.sum()), unflagged)
