"""Number of factors. Oracles: Lipset's eigenvalues by numpy, planted structures, the exact null."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.qmethod import number_of_factors, standardised
from tests.analysis import lipset
from tests.analysis.planted_sorts import PLACES, noise


def test_lipset() -> None:
    """Eigenvalues of numpy's correlation matrix; four exceed 1 (Kaiser), the first two what chance gives nine sorts."""
    number = number_of_factors(standardised(lipset.SORTS), 0)
    assert number.eigenvalues == pytest.approx(np.linalg.eigvalsh(np.corrcoef(lipset.SORTS))[::-1])
    assert (number.parallel, number.kaiser) == (2, 4)
    assert number.p[0] == 7 / 2_000  # six of 1,999 reach it


def test_two_loaders_by_hand() -> None:
    """Two groups of three equal sorts that correlate 0: two components with three loadings of 1, then none at all."""
    a, b = np.array([-1.0, 1, 0, 0] * 3), np.array([0.0, 0, -1, 1] * 3)
    number = number_of_factors(standardised(np.array([a, a, a, b, b, b])), 0)
    assert (number.two_loaders, number.kaiser) == (2, 2)


@pytest.mark.parametrize("k", [1, 2])
def test_as_many_as_planted(k: int) -> None:
    """Views without correlation: rows of a random order, sorted by 20 people each with some noise."""
    rng = np.random.default_rng(k)
    views = np.array([rng.permutation(PLACES) for _ in range(k)])
    sorts = views[np.arange(40) % k] + 0.8 * rng.normal(size=(40, 24))
    assert number_of_factors(standardised(sorts), 0).parallel == k


def test_the_null_keeps_every_sort_and_its_mean_is_where_the_marchenko_pastur_law_puts_it() -> None:
    """N = 400, S − 1 = 23: the largest root is near (1 + √(N/23))² = 26.8 and all 23 sum to N."""
    number = number_of_factors(standardised(noise(400, 0)[0]), 0)
    assert number.chance_mean.sum() == pytest.approx(400)
    assert number.chance_mean[0] == pytest.approx((1 + (400 / 23) ** 0.5) ** 2, rel=0.06)
    assert (number.chance_95 >= number.chance_mean - 1e-9).all()
    assert number.kaiser > 20  # the rule that finds factors in noise
