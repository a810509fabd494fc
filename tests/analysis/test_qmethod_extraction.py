"""Factors of persons before rotation. Oracles: KADE's correlations of Lipset's sorts, numpy, matrices with known
roots."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.qmethod import centroid, eigenvalues, principal, standardised
from tests.analysis import lipset
from tests.analysis.planted_sorts import noise, planted

THREE = np.array([[-1.0, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]])  # r = ½ between any two


def test_correlations_of_lipsets_sorts() -> None:
    """KADE rounds halves up (r is a multiple of 1/160 here), so half a hundredth is allowed."""
    x = standardised(lipset.SORTS)
    correlations = x @ x.T
    assert 100 * correlations[np.triu_indices(9, 1)] == pytest.approx(lipset.CORRELATIONS, abs=0.501)
    assert correlations == pytest.approx(np.corrcoef(lipset.SORTS))


def test_equal_correlations_by_hand() -> None:
    """R = ½ off the diagonal: λ = 1 + 2·½ = 2, then 1 − ½ twice; loadings √(2/3). Communality f² = (1 + f²)/3 = ½."""
    x = standardised(THREE)
    assert eigenvalues(x) == pytest.approx([2, 0.5, 0.5])
    assert np.abs(principal(x, 1)[:, 0]) == pytest.approx([(2 / 3) ** 0.5] * 3)
    assert np.abs(centroid(x, 1)[:, 0]) == pytest.approx([0.5**0.5] * 3)
    assert centroid(x, 3).shape == (3, 1)  # ½ − ½ leaves nothing to extract


@pytest.mark.parametrize("agents", [15, 40])
def test_components_rebuild_the_correlations(agents: int) -> None:
    sorts = planted(agents, 1)[0][0]
    x = standardised(sorts)
    loadings = principal(x, agents)
    assert loadings @ loadings.T == pytest.approx(np.corrcoef(sorts), abs=1e-9)
    assert (loadings**2).sum(axis=0) == pytest.approx(eigenvalues(x)[: loadings.shape[1]], abs=1e-9)
    assert eigenvalues(x).sum() == pytest.approx(agents)
    assert eigenvalues(x)[:10] == pytest.approx(np.linalg.eigvalsh(np.corrcoef(sorts))[::-1][:10])


@pytest.mark.parametrize("seed", range(3))
def test_centroids_from_sorts_are_those_from_the_correlation_matrix(seed: int) -> None:
    """Oracle: Brown's steps on the matrix itself, reflections and residuals spelt out."""
    sorts = planted(17, seed)[0][0]
    residual, loadings = np.corrcoef(sorts), []
    for _ in range(3):
        signs = np.ones(17)
        while True:
            reflected = residual * np.outer(signs, signs)
            np.fill_diagonal(reflected, 0)
            sums = reflected.sum(axis=0)
            if sums.min() >= -1e-8:
                break
            signs[sums.argmin()] *= -1
        h = sums / 16
        for _ in range(500):
            f = (sums + h) / np.sqrt((sums + h).sum())
            h = f**2
        loadings.append(signs * f)
        residual = residual - np.outer(signs * f, signs * f)
        assert (signs != 1).any(), "without a reflection the next factor starts where Brown leaves it to judgement"
    assert centroid(standardised(sorts), 7)[:, :3] == pytest.approx(np.array(loadings).T, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_centroids_go_on_after_a_factor_without_reflections(seed: int) -> None:
    """Four views with negative correlations between them reflect nobody at first; yet as much is found as components
    find."""
    x = standardised(planted(50, seed)[0][0])
    by_centroid, by_component = ((loadings(x, 3) ** 2).sum() for loadings in (centroid, principal))
    assert by_centroid > 0.9 * by_component


def test_flat_and_missing_sorts_are_named() -> None:
    with pytest.raises(ValueError, match=r"rows \[1\] put every statement in one place"):
        standardised(np.array([[1.0, 2], [3, 3]]))
    with pytest.raises(ValueError, match=r"rows \[0\] have missing values"):
        standardised(np.array([[np.nan, 2], [3, 1]]))


def test_noise_has_small_centroids() -> None:
    x = standardised(noise(60, 0)[0])
    assert (centroid(x, 1) ** 2).sum() < eigenvalues(x)[0]  # no factor explains more than the first component
