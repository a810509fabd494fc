"""Stratified κ and variance components against published values, scikit-learn and hand derivations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score

from enquete.analysis.agreement import components, stratified_kappa

RATINGS = hnp.arrays(np.float64, (12, 3), elements=st.integers(1, 5).map(float))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40))
def test_one_item_is_cohens_kappa(pairs: list[tuple[int, int]]) -> None:
    """Oracle: sklearn.metrics.cohen_kappa_score(weights="quadratic")."""
    x, y = np.array(pairs, dtype=float).T
    kappa = stratified_kappa(x[:, None], y[:, None])
    if np.unique(np.concatenate([x, y])).size < 2:
        assert kappa is None
    else:
        assert kappa == pytest.approx(cohen_kappa_score(x, y, weights="quadratic", labels=range(1, 6)))


def test_the_items_own_differences_are_no_agreement() -> None:
    """By hand: item one is 1 or 2, item two 4 or 5, and each pair disagrees at random: within items Σ(x − y)² = 4 and
    by chance 4 · (¼ + ¼) · 2 = 4, so κ = 0, while one table over both items would give 1 − .5/(2 · 2.5) = .9."""
    x = np.array([[1, 4], [1, 4], [2, 5], [2, 5]], dtype=float)
    y = np.array([[1, 4], [2, 5], [1, 4], [2, 5]], dtype=float)
    assert stratified_kappa(x, y) == pytest.approx(0)
    assert cohen_kappa_score(x.ravel(), y.ravel(), weights="quadratic", labels=range(1, 6)) == pytest.approx(0.9)


def test_shrout_and_fleiss() -> None:
    """Shrout & Fleiss 1979, table 2: six targets, four judges; BMS 11.24, JMS 32.49, EMS 1.02, ICC(2,1) = .29."""
    ratings = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
    )
    parts = components([judge[:, None] for judge in ratings.T])
    assert parts is not None
    assert parts.icc == pytest.approx(0.29, abs=0.005)
    assert 4 * parts.between_agents + parts.error == pytest.approx(11.24, abs=0.01)
    assert 6 * parts.between_arms + parts.error == pytest.approx(32.49, abs=0.01)
    assert parts.error == pytest.approx(1.02, abs=0.005)


@given(RATINGS, RATINGS)
def test_equal_items_change_nothing_and_means_of_items_do_not_count(x: np.ndarray, y: np.ndarray) -> None:
    """An item asked twice doubles every sum; moving a whole item up in both arms moves no difference."""
    once, twice = components([x, y]), components([np.hstack([x, x + 7]), np.hstack([y, y + 7])])
    assert once is not None
    assert twice is not None
    assert twice.error == pytest.approx(once.error, abs=1e-9)
    assert twice.between_arms == pytest.approx(once.between_arms, abs=1e-9)
    assert twice.between_agents == pytest.approx(once.between_agents, abs=1e-9)


def test_gaps_take_an_agent_out_of_the_item_only() -> None:
    x = np.array([[1.0, 1], [3, 2], [5, np.nan]])
    parts = components([x, x])
    assert parts is not None
    assert (parts.n_items, parts.error, parts.icc) == (2, 0, 1)


def test_too_little() -> None:
    assert components([np.ones((1, 3)), np.ones((1, 3))]) is None
    flat = components([np.ones((4, 2)), np.ones((4, 2))])
    assert flat is not None
    assert (flat.icc, flat.share_of_arms) == (None, None)
    assert stratified_kappa(np.ones((4, 2)), np.ones((4, 2))) is None
    with pytest.raises(ValueError, match="at least two arms; 1 was given"):
        components([np.ones((4, 2))])
