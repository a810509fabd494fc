"""Block-weighted principal components against hand derivations."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.components import explained_by_chance, permuted, principal_components, weighted


def test_each_block_is_divided_by_its_first_singular_value() -> None:
    """By hand: (−1, 1) and (−10, 10) are centred; their only singular values are √2 and 10√2."""
    columns, firsts = weighted([np.array([[0.0], [2.0]]), np.array([[0.0], [20.0]])])
    assert firsts == pytest.approx([2**0.5, 10 * 2**0.5])
    assert columns == pytest.approx(np.array([[-1, -1], [1, 1]]) / 2**0.5)


def test_a_block_of_many_columns_does_not_outweigh_one_column() -> None:
    rng = np.random.default_rng(1)
    column = rng.normal(size=(40, 1))
    columns, _ = weighted([np.repeat(rng.normal(size=(40, 1)), 24, axis=1), column])
    first = [np.linalg.svd(part, compute_uv=False)[0] for part in (columns[:, :24], columns[:, 24:])]
    assert first == pytest.approx([1, 1])


def test_components_by_hand() -> None:
    """Two uncorrelated columns of variance 4 : 1 are their own components, with shares 4/5 and 1/5 and loadings 1."""
    centred = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    components = principal_components(centred)
    assert components.explained == pytest.approx([0.8, 0.2])
    assert components.loadings == pytest.approx(np.eye(2))
    assert np.abs(components.scores) == pytest.approx(np.abs(centred))


@pytest.mark.parametrize("block", [np.zeros((1, 3)), np.full((5, 3), 2.0), np.full((2, 3), 1 / 3)])
def test_one_agent_or_equal_agents_give_no_component_and_no_nan(block: np.ndarray) -> None:
    columns, firsts = weighted([block, block])
    assert firsts == [0.0, 0.0]
    pca = principal_components(columns)
    assert (len(pca.explained), pca.loadings.shape, pca.scores.shape) == (0, (6, 0), (len(block), 0))
    assert not columns.any()


def test_a_column_that_does_not_vary_loads_nothing() -> None:
    components = principal_components(weighted([np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])])[0])
    assert components.loadings.tolist() == [[pytest.approx(1.0)], [0.0]]


def test_missing_values_are_refused() -> None:
    with pytest.raises(ValueError, match="missing"):
        weighted([np.array([[1.0], [np.nan]])])


def test_permuting_keeps_columns_and_forced_sorts() -> None:
    rng = np.random.default_rng(0)
    free = rng.normal(size=(9, 4))
    assert (np.sort(permuted(free, rng), axis=0) == np.sort(free, axis=0)).all()
    sorts = np.stack([rng.permutation([-1.0, 0.0, 0.0, 1.0]) for _ in range(9)])
    assert (np.sort(permuted(sorts, rng), axis=1) == [-1, 0, 0, 1]).all()


def test_chance_explains_noise_and_not_a_common_factor() -> None:
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(60, 1)) @ np.ones((1, 8)) + 0.5 * rng.normal(size=(60, 8))
    noise = rng.normal(size=(60, 8))
    shares = [principal_components(weighted([block])[0]).explained[0] for block in (factor, noise)]
    limits = [explained_by_chance([block], 60, 0)[0] for block in (factor, noise)]
    assert shares[0] > 2 * limits[0]
    assert shares[1] < limits[1] * 1.15


def test_chance_is_that_of_whole_components() -> None:
    """Oracle: the components themselves, draw by draw, of the same permuted data."""
    blocks = [np.random.default_rng(5).normal(size=(20, 4)), np.random.default_rng(6).normal(size=(20, 2))]
    rng = np.random.default_rng(0)
    drawn = [principal_components(weighted([permuted(block, rng) for block in blocks])[0]).explained for _ in range(9)]
    assert explained_by_chance(blocks, 9, 0) == pytest.approx(np.quantile(drawn, 0.95, axis=0))
    assert not explained_by_chance([np.ones((5, 3))], 3, 0).any()
