"""Factors of persons before rotation. Oracles: KADE's correlations of Lipset's sorts, numpy, matrices with known
roots."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.qmethod import eigenvalues, principal, standardised
from tests.analysis import lipset
from tests.analysis.planted_sorts import planted

THREE = np.array([[-1.0, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]])  # r = ½ between any two


def test_correlations_of_lipsets_sorts() -> None:
    """KADE rounds halves up (r is a multiple of 1/160 here), so half a hundredth is allowed."""
    x = standardised(lipset.SORTS)
    correlations = x @ x.T
    assert 100 * correlations[np.triu_indices(9, 1)] == pytest.approx(lipset.CORRELATIONS, abs=0.501)
    assert correlations == pytest.approx(np.corrcoef(lipset.SORTS))


def test_equal_correlations_by_hand() -> None:
    """R = ½ off the diagonal: λ = 1 + 2·½ = 2, then 1 − ½ twice; loadings √(2/3)."""
    x = standardised(THREE)
    assert eigenvalues(x) == pytest.approx([2, 0.5, 0.5])
    assert np.abs(principal(x, 1)[:, 0]) == pytest.approx([(2 / 3) ** 0.5] * 3)


@pytest.mark.parametrize("agents", [15, 40])
def test_components_rebuild_the_correlations(agents: int) -> None:
    sorts = planted(agents, 1)[0][0]
    x = standardised(sorts)
    loadings = principal(x, agents)
    assert loadings @ loadings.T == pytest.approx(np.corrcoef(sorts), abs=1e-9)
    assert (loadings**2).sum(axis=0) == pytest.approx(eigenvalues(x)[: loadings.shape[1]], abs=1e-9)
    assert eigenvalues(x).sum() == pytest.approx(agents)
    assert eigenvalues(x)[:10] == pytest.approx(np.linalg.eigvalsh(np.corrcoef(sorts))[::-1][:10])


def test_flat_and_missing_sorts_are_named() -> None:
    with pytest.raises(ValueError, match=r"rows \[1\] put every statement in one place"):
        standardised(np.array([[1.0, 2], [3, 3]]))
    with pytest.raises(ValueError, match=r"rows \[0\] have missing values"):
        standardised(np.array([[np.nan, 2], [3, 1]]))
