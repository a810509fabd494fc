"""Factors of persons before rotation: the correlation of sorts, its principal components, Brown's centroids.

Sorts standardised to mean 0 and length 1 are the rows of X (N persons × S statements), and R = XXᵀ holds Pearson's
correlations. Both extractions work on X, so that 5,000 persons cost a few matrices of N × S and never one of N × N.
"""

from __future__ import annotations

import numpy as np

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


def by_person_correlation(sorts: Matrix) -> Matrix:
    """R: Pearson's r between persons over statements, N × N (5,000 persons: 200 MB). For tables and figures only."""
    x = standardised(sorts)
    found: Matrix = np.clip(x @ x.T, -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


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
