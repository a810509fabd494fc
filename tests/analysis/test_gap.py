"""Gap statistic: clouds of known number, noise, and its formula computed by hand from k-means' own inertia."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from enquete.analysis.components import permuted, weighted
from enquete.analysis.typology import GAP_DRAWS, gap
from tests.analysis.planted_sorts import noise, planted


@pytest.mark.parametrize("k", [2, 3, 4])
def test_clouds_far_apart_are_counted(k: int) -> None:
    """Corners of a simplex, ten SDs apart."""
    rng = np.random.default_rng(k)
    statistic = gap([10 * np.eye(8)[np.arange(48) % k] + rng.normal(size=(48, 8))], 0)
    assert statistic.k == k


@pytest.mark.parametrize("agents", [20, 50])
def test_one_cluster_in_noise_and_four_where_planted(agents: int) -> None:
    assert [gap(noise(agents, seed), seed).k for seed in range(3)] == [1] * 3
    assert gap(planted(agents, 0)[0], 0).k == 4


def test_formula_for_one_cluster_and_for_two() -> None:
    """Oracle: W₁ is the total sum of squares, which permuting leaves alone for a single block; W₂ is
    KMeans.inertia_."""
    rng = np.random.default_rng(0)
    block = rng.normal(size=(30, 1)) + 8 * (np.arange(30)[:, None] % 2)
    statistic = gap([block], 0)
    assert statistic.gaps[0] == pytest.approx(0, abs=1e-12)
    assert statistic.gaps[1] == pytest.approx(0, abs=1e-6)  # one column has nothing to permute against
    two = np.hstack([block, block])
    draws = np.random.default_rng(0)
    columns = weighted([two])[0]
    null = [weighted([permuted(two, draws)])[0] for _ in range(GAP_DRAWS)]
    log_w = [np.log(KMeans(2, n_init=5, random_state=0).fit(x).inertia_) for x in (columns, *null)]
    assert gap([two], 0).gaps[1] == pytest.approx(np.mean(log_w[1:]) - log_w[0], abs=0.01)
    assert gap([two], 0).errors[1] == pytest.approx(np.std(log_w[1:]) * (1 + 1 / GAP_DRAWS) ** 0.5, abs=0.01)


def test_equal_agents_have_no_gap() -> None:
    statistic = gap([np.ones((9, 3))], 0)
    assert (statistic.k, statistic.gaps, statistic.n_compared) == (None, (), 9)
    assert gap([np.repeat(np.eye(2), 5, axis=0)], 0).k is None


def test_a_large_population_is_sampled() -> None:
    statistic = gap(planted(900, 0)[0], 0, draws=5)
    assert (statistic.n_compared, statistic.k) == (300, 4)
    assert statistic == gap(planted(900, 0)[0], 0, draws=5)
