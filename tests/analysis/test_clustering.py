"""K-means and silhouettes against scikit-learn's, which take longer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_samples

from enquete.analysis.components import weighted
from enquete.analysis.typology import clusters, pairs_of, partitions, separation, silhouettes
from tests.analysis.planted_sorts import mixed


def test_silhouettes_are_those_of_scikit_learn() -> None:
    columns = np.random.default_rng(0).normal(size=(30, 4))
    labels = np.array([0] * 15 + [1] * 14 + [2])  # one agent alone: 0
    widths = silhouettes(squareform(pdist(columns)), labels)
    assert widths == pytest.approx(silhouette_samples(columns, labels))
    assert widths[-1] == 0


def test_clusters_are_as_compact_as_those_of_many_random_starts() -> None:
    """Oracle: the inertia of scikit-learn's KMeans with 20 starts."""
    columns = weighted(mixed((17, 17, 16), 3)[0])[0]
    for k in (2, 3, 5):
        labels = clusters(columns, k, 0)
        within = sum(((columns[labels == j] - columns[labels == j].mean(axis=0)) ** 2).sum() for j in range(k))
        assert within <= 1.03 * KMeans(k, n_init=20, random_state=0).fit(columns).inertia_


def test_separation_is_the_mean_silhouette_of_each_division() -> None:
    columns = weighted(mixed((20, 20, 20), 0)[0])[0]
    parted = partitions(columns[None], pairs_of(columns[None]), [2, 3])
    expected = [silhouette_samples(columns, labels).mean() for (labels,) in parted]
    assert separation(columns[None], [2, 3])[0] == pytest.approx(expected)


def test_data_sets_of_a_stack_do_not_touch_each_other() -> None:
    sets = np.stack([weighted(mixed((12, 12, 6), seed)[0])[0] for seed in range(3)])
    together, alone = separation(sets, [2, 3, 4]), [separation(block[None], [2, 3, 4]) for block in sets]
    assert together == pytest.approx(np.concatenate(alone))


def test_ties_and_more_clusters_than_agents() -> None:
    """Four agents equally far from each other: whatever is cut, there are as many clusters as asked for."""
    assert sorted(set(clusters(np.eye(4), 3, 0).tolist())) == [0, 1, 2]
    assert (separation(np.repeat(np.eye(2), 3, axis=0)[None], [2, 3]) == -1).all()
