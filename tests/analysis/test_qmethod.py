"""The whole Q analysis. Oracles: R's qmethod on Lipset's sorts, hand derivations, a slow implementation of the
formulas."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from statsmodels.multivariate.factor_rotation import rotate_factors

from enquete.analysis.components import Matrix
from enquete.analysis.qmethod import FlagEdits, QAnalysis, agreement, legal, q_analysis
from tests.analysis import lipset
from tests.analysis.planted_sorts import INSTRUMENT, PLACES, planted

WIDE = INSTRUMENT.distribution
GRID = {-1: 1, 0: 2, 1: 1}
A, B = [-1.0, 1, 0, 0], [0.0, 0, -1, 1]
OPPOSITE = [1.0, -1, 0, 0]


def scores(analysis: QAnalysis) -> Matrix:
    return np.array([factor.z for factor in analysis.factors])


def test_lipset_by_principal_components_as_in_qmethod() -> None:
    """Oracle: qmethod 1.8.4; see lipset.py."""
    analysis = q_analysis(lipset.SORTS, lipset.GRID, n_factors=3)
    assert analysis.loadings == pytest.approx(lipset.PCA_LOADINGS, abs=1e-4)
    assert tuple(factor.flagged for factor in analysis.factors) == lipset.PCA_FLAGGED
    assert [factor.negative for factor in analysis.factors] == [(4,), (), (8,)]
    assert [factor.bipolar for factor in analysis.factors] == [True, False, True]
    assert scores(analysis)[:, :8] == pytest.approx(lipset.PCA_Z, abs=1e-4)
    assert (np.array([factor.array for factor in analysis.factors]) == lipset.PCA_ARRAYS).all()
    assert [factor.eigenvalue for factor in analysis.factors] == pytest.approx(lipset.PCA_EIGENVALUES, abs=1e-4)
    assert {round(factor.reliability, 6) for factor in analysis.factors} == {lipset.PCA_RELIABILITY}
    assert {round(factor.se, 5) for factor in analysis.factors} == {lipset.PCA_SE}
    assert analysis.factors[0].explained == pytest.approx(lipset.PCA_EIGENVALUES[0] / 9, abs=1e-5)


def test_two_opposite_groups_are_one_bipolar_factor() -> None:
    """By hand: R is ±1, so λ = 5 of 5, l = 1 or −1, and z is the sort of the three over its SD √(2/3)."""
    analysis = q_analysis(np.array([A, A, A, OPPOSITE, OPPOSITE]), GRID, n_factors=1)
    (factor,) = analysis.factors
    assert analysis.loadings[:, 0] == pytest.approx([1, 1, 1, -1, -1])
    assert (factor.eigenvalue, factor.explained) == (pytest.approx(5), pytest.approx(1))
    assert (factor.flagged, factor.negative, factor.capped) == ((0, 1, 2, 3, 4), (3, 4), 5)
    assert factor.z == pytest.approx(np.array(A) / (2 / 3) ** 0.5)
    assert factor.array.tolist() == A
    assert factor.reliability == pytest.approx(4 / 4.2)  # .8 · 5 / (1 + .8 · 4)
    assert analysis.groups().tolist() == [0, 0, 0, 1, 1]
    assert (analysis.comparisons, analysis.consensus, factor.distinguishing) == ((), (), ())


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0]])
def test_the_sign_of_equal_poles_depends_on_the_statements_alone(order: list[int]) -> None:
    """By convention the first statement that the factor moves is positive, here the first: −A whoever comes first."""
    analysis = q_analysis(np.array([A, A, OPPOSITE, OPPOSITE])[order], GRID, n_factors=1)
    assert analysis.factors[0].array.tolist() == OPPOSITE


def test_uncorrelated_groups_are_a_factor_each() -> None:
    """By hand: A and B correlate 0; groups of 3 and 2 give λ = 3 and 2 and loadings 1 and 0."""
    analysis = q_analysis(np.array([A, A, B, A, B]), GRID, n_factors=2)
    assert analysis.loadings == pytest.approx(np.array([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]]), abs=1e-8)
    assert [f.eigenvalue for f in analysis.factors] == pytest.approx([3, 2])
    assert [f.explained for f in analysis.factors] == pytest.approx([0.6, 0.4])
    assert [f.array.tolist() for f in analysis.factors] == [A, B]
    assert analysis.correlations == pytest.approx(np.eye(2), abs=1e-9)
    assert analysis.sed[0, 1] == pytest.approx((1 - 2.4 / 2.6 + 1 - 1.6 / 1.8) ** 0.5)  # √(SE² + SE²), p = 3 and 2


def test_a_factor_without_flags_is_dropped_and_said() -> None:
    """By hand: three sorts with r = ½ each load √(2/3) = .816, below 1.96/√4 = .98: nobody defines the factor."""
    three = np.array([[-1.0, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]])
    analysis = q_analysis(three, GRID, n_factors=1)
    assert analysis.loadings[:, 0] == pytest.approx([(2 / 3) ** 0.5] * 3)
    assert (analysis.reason, analysis.factors, analysis.groups().tolist()) == ("undefined", (), [-1, -1, -1])
    (dropped,) = analysis.dropped
    assert (dropped.number, dropped.reason, dropped.eigenvalue) == (0, "unflagged", pytest.approx(2))


def test_flags_by_hand_define_it_after_all() -> None:
    """By hand: equal weights, mean sort (−1, ⅓, ⅓, ⅓), SD ⅔, z = (−1.5, .5, .5, .5); ties: the earlier statement
    lower."""
    three = np.array([[-1.0, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]])
    analysis = q_analysis(three, GRID, n_factors=1, flags=FlagEdits(add=[(0, 0), (1, 0), (2, 0)]))
    (factor,) = analysis.factors
    assert factor.z == pytest.approx([-1.5, 0.5, 0.5, 0.5])
    assert factor.array.tolist() == [-1, 0, 0, 1]
    fewer = q_analysis(lipset.SORTS, lipset.GRID, n_factors=3, flags=FlagEdits(remove=[(8, 2)]))
    assert fewer.factors[2].flagged == (5, 6)
    assert fewer.factors[2].reliability == pytest.approx(1.6 / 1.8)


def test_a_factor_of_two_opposite_sorts_beside_another() -> None:
    """By hand: λ = 3 for A and 2 for ±B; the poles are equal, so the first statement that ±B moves is positive."""
    analysis = q_analysis(np.array([A, A, A, B, [0.0, 0, 1, -1]]), GRID, n_factors=2)
    assert [factor.negative for factor in analysis.factors] == [(), (3,)]
    assert analysis.factors[1].array.tolist() == [0, 0, 1, -1]


def test_missing_and_illegal_sorts_are_left_out_and_counted() -> None:
    sorts = lipset.SORTS.copy()
    sorts[0, 0] = np.nan
    sorts[8, 0] = 0.0
    analysis = q_analysis(sorts, lipset.GRID, n_factors=2)
    assert (analysis.n_total, analysis.n_missing, analysis.n_illegal) == (9, 1, 1)
    assert analysis.rows == (1, 2, 3, 4, 5, 6, 7)
    whole = q_analysis(lipset.SORTS[1:8], lipset.GRID, n_factors=2)
    assert scores(analysis) == pytest.approx(scores(whole))
    assert {row for factor in analysis.factors for row in factor.flagged} <= set(analysis.rows)
    assert analysis.groups()[[0, 8]].tolist() == [-1, -1]
    with pytest.raises(ValueError, match="sort 8 is not among the 7 analysed"):
        q_analysis(sorts, lipset.GRID, n_factors=2, flags=FlagEdits(add=[(8, 0)]))


def test_few_and_equal_sorts() -> None:
    few = q_analysis(np.array([A, [np.nan] * 4]), GRID)
    assert (few.reason, few.number, few.rows, few.factors) == ("few", None, (0,), ())
    equal = q_analysis(np.tile(PLACES, (10, 1)), WIDE)
    assert (equal.reason, len(equal.factors)) == ("factors", 1)
    assert equal.factors[0].array.tolist() == PLACES.tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sorts": np.zeros(4)}, "table of agents × statements"),
        ({"grid": {-1: 1, 1: 1}}, "the grid takes 2 statements, the sorts have 4"),
        ({"grid": {0: 4, 1: 0}}, "fewer than two columns"),
        ({"n_factors": 0}, "n_factors is 0; give at least 1"),
        ({"n_factors": 3}, "n_factors is 3, but these 4 sorts have 2 principal components"),
        ({"n_factors": 1, "flags": FlagEdits(add=[(0, 1)])}, "flag \\(0, 1\\): factors are 0 … 0"),
    ],
)
def test_wrong_input_is_named(changes: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"sorts": np.array([A, A, B, B]), "grid": GRID, **changes}
    with pytest.raises(ValueError, match=message):
        q_analysis(**given)  # type: ignore[arg-type]


def test_nothing_is_nan() -> None:
    for analysis in (q_analysis(planted(30, 0)[0][0], WIDE), q_analysis(lipset.SORTS, lipset.GRID, n_factors=5)):
        for value in (analysis.loadings, analysis.correlations, analysis.sed, scores(analysis)):
            assert np.isfinite(value).all()
        for factor in analysis.factors:
            assert legal(factor.array[None], WIDE if len(factor.array) == 24 else lipset.GRID).all()


def _slow(sorts: Matrix, k: int) -> tuple[Matrix, Matrix, Matrix]:
    """Loadings, flags and z straight from the formulas: numpy's correlation and eigenvectors, statsmodels' varimax."""
    values, vectors = np.linalg.eigh(np.corrcoef(sorts))
    loadings = vectors[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])
    h = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    loadings = rotate_factors(loadings / h, "varimax", tol=1e-10)[0] * h
    loadings = loadings[:, np.argsort(-(loadings**2).sum(axis=0))]
    loadings = loadings * np.sign((loadings * np.abs(loadings)).sum(axis=0))
    flags, z = np.zeros(loadings.shape, dtype=bool), np.zeros((k, sorts.shape[1]))
    for f in range(k):
        total = np.zeros(sorts.shape[1])
        for i, row in enumerate(loadings):
            others = sum(value**2 for place, value in enumerate(row) if place != f)
            if abs(row[f]) > 1.96 / np.sqrt(sorts.shape[1]) and row[f] ** 2 > others:
                flags[i, f] = True
                total += row[f] / (1 - row[f] ** 2) * sorts[i]
        z[f] = (total - np.mean(total)) / np.std(total, ddof=1)
    return loadings, flags, z


@pytest.mark.parametrize("seed", range(2))
def test_agreement_with_a_slow_implementation(seed: int) -> None:
    sorts = planted(31, seed)[0][0]
    analysis = q_analysis(sorts, WIDE, n_factors=3)
    loadings, flags, z = _slow(sorts, 3)
    assert analysis.loadings == pytest.approx(loadings, abs=1e-5)
    assert (analysis.flags == flags).all()
    assert scores(analysis) == pytest.approx(z, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(18)))
def test_the_order_of_persons_does_not_matter(seed: int, order: list[int]) -> None:
    sorts = planted(18, seed)[0][0]
    one, other = (q_analysis(s, WIDE, n_factors=3) for s in (sorts, sorts[order]))
    assert other.loadings == pytest.approx(one.loadings[order], abs=1e-6)
    assert scores(other) == pytest.approx(scores(one), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(24)))
def test_relabelled_and_mirrored_statements(seed: int, order: list[int]) -> None:
    """The grid is symmetric: everybody's mirror image is legal and changes the sign of z and nothing else."""
    sorts = planted(18, seed)[0][0]
    one, relabelled, mirrored = (q_analysis(s, WIDE, n_factors=3) for s in (sorts, sorts[:, order], -sorts))
    assert scores(relabelled) == pytest.approx(scores(one)[:, order], abs=1e-6)
    assert mirrored.loadings == pytest.approx(one.loadings, abs=1e-6)
    assert scores(mirrored) == pytest.approx(-scores(one), abs=1e-6)


def test_same_seed_same_result() -> None:
    one, other = (dataclasses.asdict(q_analysis(planted(20, 3)[0][0], WIDE, seed=5)) for _ in range(2))
    assert repr(one) == repr(other)


def test_agreement_with_clusters_by_hand() -> None:
    """Oracle: scikit-learn's index over those that both place; equal partitions under other names are 1."""
    groups = np.array([0, 0, 1, 1, 4, -1, 4])
    assert agreement(groups, np.array([2, 2, 1, 1, 0, 0, -1])).ari == 1
    mixed = np.array([2, 1, 1, 1, 0, 0, 0])
    comparison = agreement(groups, mixed)
    assert (comparison.n_compared, comparison.n_unflagged) == (6, 1)
    assert comparison.ari == pytest.approx(adjusted_rand_score(groups[groups >= 0], mixed[groups >= 0]))
    assert agreement(np.array([0, -1]), np.array([0, 0])).ari is None
    assert agreement(np.zeros(5, dtype=int), np.zeros(5, dtype=int)).ari is None
    with pytest.raises(ValueError, match="2 sorts and 3 cluster labels"):
        agreement(np.zeros(2, dtype=int), np.zeros(3, dtype=int))
