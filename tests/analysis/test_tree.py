"""Ward's tree, cut: joins and distances derived by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.typology.tree import tree


def test_pairs_join_first_and_then_the_pairs() -> None:
    """0 and 2 join at √(2·1·1/2)·2 = 2, 10 and 12 likewise; then 1 and 11 at √(2·2·2/4)·10 = 14.142."""
    found = tree(np.array([[0.0], [10.0], [2.0], [12.0]]), 0)
    assert sorted(found.ends) == [(0,), (1,), (2,), (3,)]
    distances = sorted(distance for _, _, distance in found.joins)
    assert distances == pytest.approx([2.0, 2.0, 14.142], abs=1e-3)
    assert {frozenset(found.ends[side][0] for side in join[:2]) for join in found.joins[:2]} == {
        frozenset({0, 2}),
        frozenset({1, 3}),
    }
    assert found.joins[-1][:2] == (4, 5)


def test_a_cut_tree_keeps_its_last_joins_and_all_agents() -> None:
    found = tree(np.array([[0.0], [10.0], [2.0], [12.0]]), 0, most=2)
    assert {frozenset(end) for end in found.ends} == {frozenset({0, 2}), frozenset({1, 3})}
    assert len(found.joins) == 1
    assert found.joins[0][:2] == (0, 1)


def test_of_many_agents_a_sample_is_compared() -> None:
    columns = np.random.default_rng(1).normal(size=(500, 3))
    found = tree(columns, 0)
    assert (len(found.ends), len(found.joins), sum(map(len, found.ends))) == (30, 29, 300)
    assert tree(columns[:1], 0).joins == ()
