"""Distinguishing and consensus statements by hand; the permutation null against all deals and against its own level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from enquete.analysis.qmethod import comparisons, consensus, contrasts, distinguishing, group_distinctions, q_analysis
from tests.analysis.planted_sorts import GRID, PLACES, planted

THREE = np.repeat(np.array([[-1.0, 1, 0, 0], [0.0, 0, -1, 1]]), 3, axis=0)
WEIGHT = np.repeat(np.eye(2), 3, axis=0)


def test_levels_by_hand() -> None:
    """z = ±1/SD = ±1.2247 and 0; three sorts each: SED = √(2/13) = .392; 1.2247/.392 = 3.12 > 2.576 for all
    statements."""
    (comparison,) = comparisons(THREE, WEIGHT, np.random.default_rng(0))
    assert comparison.sed == pytest.approx((2 / 13) ** 0.5)
    assert comparison.difference == pytest.approx(np.array([-1, 1, 1, -1]) * 1.5**0.5)
    assert comparison.level == (0.01,) * 4
    assert consensus([comparison]) == ()


def test_one_sort_each_sets_nothing_apart() -> None:
    """SED = √.4 = .632; 1.2247/.632 = 1.94 < 1.96: all consensus. Two deals only, so p is about 1."""
    (comparison,) = comparisons(THREE[[0, 3]], np.eye(2), np.random.default_rng(0))
    assert comparison.level == (None,) * 4
    assert consensus([comparison]) == (0, 1, 2, 3)
    assert comparison.p.tolist() == [1.0] * 4


def test_distinctions_by_hand() -> None:
    """Of the two, statement 1 is highest in the first factor and statement 3 in the second."""
    compared = comparisons(THREE, WEIGHT, np.random.default_rng(0))
    z = np.array([[-1, 1, 0, 0], [0, 0, -1, 1]]) * 1.5**0.5
    statements = distinguishing(0, z, np.array([-1.0, 1, 0, 0]), compared)
    assert [(d.statement, d.rank, d.place, d.direction) for d in statements] == [
        (0, 4, -1, "below"), (1, 1, 1, "above"), (2, 2, 0, "above"), (3, 3, 0, "below"),
    ]  # fmt: skip
    assert statements[1].z == pytest.approx(1.5**0.5)
    assert distinguishing(0, z[:1], np.array([-1.0, 1, 0, 0]), ()) == ()


def test_p_against_all_deals() -> None:
    """Oracle: all 20 deals of six sorts to two factors of three, for the difference of mean z-units."""
    rng = np.random.default_rng(4)
    sorts = np.array([rng.permutation([-1.0, -1, 0, 0, 1, 1]) for _ in range(6)])
    (comparison,) = comparisons(sorts, WEIGHT, np.random.default_rng(0), draws=4999)
    sds = [sorts[:3].mean(axis=0).std(ddof=1), sorts[3:].mean(axis=0).std(ddof=1)]
    y = sorts / np.repeat(sds, 3)[:, None]
    deals = [
        y[list(a)].mean(axis=0) - y[[i for i in range(6) if i not in a]].mean(axis=0) for a in combinations(range(6), 3)
    ]
    exact = np.mean(np.abs(deals) >= np.abs(comparison.difference) - 1e-9, axis=0)
    assert comparison.p == pytest.approx(exact, abs=0.03)


def test_many_sorts_of_one_view_are_apart_by_sed_and_not_by_lot() -> None:
    """One view dealt to two groups of 400: the level of p holds at .05, that of SED does not (facts:
    anticonservative)."""
    apart, by_lot = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sorts = PLACES[(PLACES + 1.5 * rng.normal(size=(800, 24))).argsort(axis=1).argsort(axis=1)]
        (comparison,) = comparisons(sorts, np.repeat(np.eye(2), 400, axis=0), rng)
        apart.append(np.mean([level is not None for level in comparison.level]))
        by_lot.append((comparison.p <= 0.05).mean())
    assert np.mean(by_lot) < 0.08
    assert np.mean(apart) > np.mean(by_lot) + 0.1


def test_real_differences_pass_both() -> None:
    analysis = q_analysis(planted(40, 0)[0][0], GRID)
    for factor in analysis.factors:
        assert factor.distinguishing
        assert np.median([d.p for d in factor.distinguishing]) <= 0.01
    assert not {d.statement for factor in analysis.factors for d in factor.distinguishing} & set(analysis.consensus)


def test_groups_are_told_apart_by_what_they_sorted() -> None:
    """Oracle: the contrast of each group with the rest has the direction that the distinction has."""
    (sorts, _), view = planted(40, 2)
    distinctions = group_distinctions(sorts, view, GRID, 0)
    assert len(distinctions) == 4
    for label, group in enumerate(distinctions):
        differences = {c.statement: c.difference for c in contrasts(sorts, view == label, GRID)}
        assert group
        assert all(
            (differences[d.statement] > 0) == (d.direction == "above") for d in group if d.direction != "between"
        )


def test_a_group_whose_sorts_cancel_has_no_distinctions() -> None:
    sorts = np.vstack([THREE, [[1.0, -1, 0, 0], [-1, 1, 0, 0]]])
    distinctions = group_distinctions(sorts, np.array([0, 0, 0, 1, 1, 1, 2, 2]), {-1: 1, 0: 2, 1: 1}, 0)
    assert [len(group) for group in distinctions] == [4, 4, 0]
