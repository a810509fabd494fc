"""Varimax rotation of factor loadings, and the order and signs that make two solutions comparable.

Rotation by planes rather than by gradient: statsmodels' varimax forms an N × N matrix (20 s for 5,000 persons) and stays
where it starts when the unrotated factors are an exact saddle point, as with two groups of equal size.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from enquete.analysis.typology.components import NEGLIGIBLE, Matrix

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

    x: standardised sorts. Where both poles are equally strong (two opposite groups of one size), the first statement that
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
