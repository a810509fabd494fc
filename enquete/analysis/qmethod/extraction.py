"""Factors of persons before rotation: principal components of the sorts or Brown's centroids, and how many there are.

Sorts standardised to mean 0 and length 1 are the rows of X (N persons × S statements), and R = XXᵀ holds Pearson's
correlations. Both extractions work on X, so that 5,000 persons cost a few matrices of N × S and never one of N × N.
How many, "none" included: parallel analysis decides, Kaiser's and Brown's rules stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from enquete.analysis.permutation import tail_p
from enquete.analysis.typology.components import NEGLIGIBLE, Matrix

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
    f_j = (t_j + f_j²) / √Σ(t_j + f_j²), where the communality f_j² on the diagonal is estimated until it stays; the residuals
    are R − ff′. Seven are extracted, as PQMethod does, and of them the k largest by Σf² returned, since a centroid is not
    always larger than the next. A loading may exceed 1 (Heywood case). Source: Brown 1980, pp. 208–224.
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

    Each reflection of a negative sum raises the total, so the loop ends. After a factor without reflections all sums are 0
    though the residuals are not; so the first to be reflected then is the person with the largest residuals.
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
    """Whose squared residual correlations with the others have the largest sum: the diagonal of (R − FF′)², less its own."""
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
    parallel: leading eigenvalues with p ≤ .01; 0 means no factors. kaiser: eigenvalues above 1, far too many with many sorts.
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
    """Parallel analysis (Horn 1965) of standardised sorts x (N × S), with each sort's places dealt anew over statements.

    The null is exact: every legal sort is equally likely for everyone. p = (1 + #{null ≥ observed}) / (1 + draws), each
    eigenvalue against those of its own rank. The level is .01, since at .05 one population of noise in twenty has a factor.
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
