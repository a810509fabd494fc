"""Varimax, order and signs. Oracles: known simple structures, statsmodels' varimax, hand derivations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from statsmodels.multivariate.factor_rotation import rotate_factors

from enquete.analysis.qmethod import oriented, varimax


def _criterion(loadings: np.ndarray) -> float:
    normal = loadings / np.linalg.norm(loadings, axis=1, keepdims=True)
    return float((normal**2).var(axis=0).sum())


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_a_simple_structure_is_recovered_from_any_rotation(k: int, seed: int) -> None:
    """Each person on one factor: the criterion is at its maximum there, so varimax must return to it."""
    rng = np.random.default_rng(seed)
    simple = np.zeros((6 * k, k))
    simple[np.arange(6 * k), np.arange(6 * k) % k] = rng.uniform(0.3, 0.95, 6 * k)
    rotated = varimax(simple @ ortho_group.rvs(k, random_state=seed))
    assert np.sort(np.abs(rotated), axis=1) == pytest.approx(np.sort(simple, axis=1), abs=1e-7)


def test_an_exact_saddle_point_is_left() -> None:
    """By hand: rows (1, ±1)/√2 have no gradient where they are; 45° on, each person loads on one factor."""
    rotated = varimax(np.array([[1.0, 1], [1, -1], [1, 1], [1, -1]]) / 2**0.5)
    assert np.sort(np.abs(rotated), axis=1) == pytest.approx(np.array([[0.0, 1]] * 4), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_agreement_with_statsmodels(seed: int) -> None:
    """statsmodels does not normalise: so it gets rows of length 1. Columns are compared by size, up to sign."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(40, 3)) * 0.3 + np.eye(3)[np.arange(40) % 3]
    h = np.linalg.norm(loadings, axis=1, keepdims=True)
    theirs = rotate_factors(loadings / h, "varimax", tol=1e-10)[0] * h
    ours = varimax(loadings)
    assert _criterion(ours) >= _criterion(theirs) - 1e-9
    assert np.sort((ours**2).sum(axis=0)) == pytest.approx(np.sort((theirs**2).sum(axis=0)), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_rotation_keeps_communalities_and_raises_the_criterion(k: int, seed: int) -> None:
    loadings = np.random.default_rng(seed).normal(size=(20, k)) * 0.4
    rotated = varimax(loadings)
    assert (rotated**2).sum(axis=1) == pytest.approx((loadings**2).sum(axis=1))
    assert rotated @ rotated.T == pytest.approx(loadings @ loadings.T, abs=1e-9)
    assert _criterion(rotated) >= _criterion(loadings) - 1e-12


def test_a_person_without_communality_stays_at_nothing() -> None:
    rotated = varimax(np.array([[0.8, 0.1], [0.0, 0.0], [0.1, 0.8]]))
    assert rotated[1].tolist() == [0, 0]
    assert np.isfinite(rotated).all()


def test_order_and_sign_by_hand() -> None:
    """Σl² is .5 and 1.45; the second factor's stronger pole is negative (.9² + .6² against .53²)."""
    x = np.array([[1.0, -1], [1, -1], [1, -1]])
    loadings = np.array([[0.5, -0.9], [0.5, -0.6], [0.0, 0.53]])
    assert oriented(loadings, x) == pytest.approx(np.array([[0.9, 0.5], [0.6, 0.5], [-0.53, 0.0]]))
