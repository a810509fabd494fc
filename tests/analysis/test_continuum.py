"""The null without clusters: legal answers, the observed mean and covariance, and nothing that clusters."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.components import Matrix, draw_continuum, fitted_continuum, weighted
from tests.analysis.planted_sorts import PLACES, continuum, planted


def drawn(blocks: list[Matrix], sets: int, seed: int = 0) -> list[list[Matrix]]:
    rng = np.random.default_rng(seed)
    model = fitted_continuum(blocks, rng)
    return [draw_continuum(model, rng) for _ in range(sets)]


def test_answers_are_legal() -> None:
    for sorts, axes in drawn(continuum(40, 2, 0), 3):
        assert (np.sort(sorts, axis=1) == np.sort(PLACES)).all()
        assert set(axes.ravel().tolist()) <= set(map(float, range(1, 8)))


@pytest.mark.parametrize("blocks", [planted(50, 0)[0], continuum(50, 1, 0, spread=0.3)])
def test_mean_and_variances_are_those_observed(blocks: list[Matrix]) -> None:
    """Along the observed components, over 100 data sets; before calibration the first is short by a fifth and more."""
    observed = np.hstack(blocks)
    _, s, axes = np.linalg.svd(observed - observed.mean(axis=0), full_matrices=False)
    sets = [np.hstack(drawing) for drawing in drawn(blocks, 100)]
    squares = np.mean([(((drawing - drawing.mean(axis=0)) @ axes[:3].T) ** 2).sum(axis=0) for drawing in sets], axis=0)
    assert squares == pytest.approx(s[:3] ** 2, rel=0.08)
    assert np.mean([drawing.mean(axis=0) for drawing in sets], axis=0) == pytest.approx(observed.mean(axis=0), abs=0.12)


def test_free_blocks_keep_their_covariance_exactly() -> None:
    """Without grid and rounding a draw is a rotation of the observed data: same mean, same products."""
    block = np.random.default_rng(1).normal(size=(20, 4)) @ np.diag([4.0, 2.0, 1.0, 0.5])
    ((sample,),) = drawn([block], 1)
    assert sample.mean(axis=0) == pytest.approx(block.mean(axis=0))
    assert np.cov(sample.T) == pytest.approx(np.cov(block.T))
    assert not np.allclose(sample, block)


def test_few_or_equal_agents() -> None:
    ((sample,),) = drawn([np.ones((6, 3))], 1)
    assert (sample == 1).all()
    short = continuum(6, 1, 0)
    assert all(np.isfinite(weighted(draw)[0]).all() for draw in drawn(short, 5))
