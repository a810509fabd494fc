"""Forced sorts: figures worked out by hand on a grid of four places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from enquete.analysis.qmethod import common_sort, contrasts, grid_moments, legal, places

GRID = {-1: 1, 0: 2, 1: 1}
SORTS = np.array([[-1.0, 0, 0, 1], [-1, 0, 1, 0], [1, 0, 0, -1], [1, 0, -1, 0]])


def test_legal() -> None:
    mask = legal(np.vstack([SORTS, [[0, 0, 0, 1], [np.nan, 0, 0, 1], [-1, 0, 0, 2]]]), GRID)
    assert mask.tolist() == [True] * 4 + [False] * 3
    assert not legal(np.zeros((2, 3)), GRID).any()


def test_moments_of_the_grid() -> None:
    """Places −1, 0, 0, 1: mean 0, squares 2, SD √(2/3)."""
    assert grid_moments(GRID) == (0.0, pytest.approx((2 / 3) ** 0.5))


def test_contrasts_by_hand() -> None:
    """The first two against the others: statement 0 at −1 against 1, 2 and 3 at 0.5 against −0.5, 1 at 0 against 0."""
    table = contrasts(SORTS, np.array([True, True, False, False]), GRID)
    assert [c.statement for c in table] == [0, 2, 3, 1]
    sd = (2 / 3) ** 0.5
    assert table[0].difference == pytest.approx(-2 / sd)
    assert (table[0].mean, table[0].mean_rest) == (-1, 1)
    assert [c.difference for c in table[1:]] == pytest.approx([1 / sd, 1 / sd, 0])


def test_without_a_rest_nothing_is_apart() -> None:
    assert contrasts(SORTS, np.ones(4, dtype=bool), GRID) == []
    assert contrasts(SORTS, np.zeros(4, dtype=bool), GRID) == []


def test_common_sort_by_hand() -> None:
    assert common_sort(np.array([0.2, -0.4, 0.9, 0.2]), GRID).tolist() == [0, -1, 1, 0]


@given(arrays(float, 4, elements=st.floats(-3, 3)))
def test_a_common_sort_is_legal_and_keeps_the_order(means: np.ndarray) -> None:
    sort = common_sort(means, GRID)
    assert legal(sort[None], GRID).all()
    assert all(sort[a] <= sort[b] for a in range(4) for b in range(4) if means[a] < means[b])
    assert sorted(sort) == places(GRID).tolist()
