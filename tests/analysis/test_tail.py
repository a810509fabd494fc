"""p beyond all draws: the fitted tail against distributions whose tail is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from enquete.analysis.inference import SMALLEST_TAIL, tail_p


def test_within_the_draws_it_is_their_share() -> None:
    """(b + 1)/(m + 1), by hand: 2 of 9 draws reach 8."""
    assert tail_p(8, np.arange(1, 10)) == pytest.approx(3 / 10)


@pytest.mark.parametrize("law", [stats.gamma(3), stats.norm(), stats.gumbel_r()], ids=["gamma", "normal", "Gumbel"])
@pytest.mark.parametrize("p", [1e-3, 1e-4])
def test_beyond_them_it_is_near_the_true_tail(law: stats.distributions.rv_pinned, p: float) -> None:
    """Over 200 sets of 199 draws the median lies within a factor of four of the true p, which scipy knows."""
    rng = np.random.default_rng(0)
    p_values = [tail_p(float(law.isf(p)), law.rvs(199, random_state=rng)) for _ in range(200)]
    assert p / 4 < np.median(p_values) < p * 4


def test_it_ends_where_the_fit_knows_nothing_and_without_spread() -> None:
    draws = np.random.default_rng(1).normal(size=199)
    assert tail_p(50, draws) == SMALLEST_TAIL
    assert tail_p(2, np.ones(19)) == 1 / 20
