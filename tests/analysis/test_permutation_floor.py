"""A p that draws give is never below 1/(draws + 1), on page one as in the appendix."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.qmethod import MOST_DRAWS, number_of_factors, standardised
from enquete.analysis.typology import DRAWS, types

GRID = np.repeat([-2, -1, 0, 1, 2], [2, 3, 4, 3, 2]).astype(float)


def test_the_p_of_shared_views_ends_where_draws_end() -> None:
    """Twenty agents of whom each half sorts alike, but for one exchange: no random sorts share as much, so p is the
    floor; a fitted tail gave 1e-5."""
    rng = np.random.default_rng(0)
    views = [rng.permutation(GRID) for _ in range(2)]
    sorts = np.array([exchanged(views[agent % 2], rng) for agent in range(20)])
    number = number_of_factors(standardised(sorts), 0)
    assert number.parallel == 2
    assert number.draws == MOST_DRAWS
    assert number.p[0] == pytest.approx(1 / (MOST_DRAWS + 1))
    noise = np.array([rng.permutation(GRID) for _ in range(20)])
    assert number_of_factors(standardised(noise), 0).draws == 199  # nothing to be told more exactly


def test_the_p_of_types_ends_where_draws_end() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 3, (2, 12))
    columns = centres[np.arange(30) % 2] + rng.normal(0, 0.6, (30, 12))
    choice = types([columns], 0).choice
    assert (choice.k, choice.reason) == (2, "typology")
    assert choice.p == pytest.approx(1 / (len(choice.null) + 1))
    assert len(choice.null) > DRAWS


def exchanged(sort: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    one, other = rng.choice(len(sort), 2, replace=False)
    moved = sort.copy()
    moved[[one, other]] = sort[[other, one]]
    return moved
