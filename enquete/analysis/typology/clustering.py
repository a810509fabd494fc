"""K-means among agents, and how far apart the clusters of each number are (silhouette, Rousseeuw 1987).

K-means starts from the clusters of Ward's method (Ward 1963) and not from random agents: hundreds of null data sets are
clustered for one answer, and one good start costs less than many poor ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from scipy.cluster.vq import kmeans2, vq
from scipy.spatial.distance import cdist, pdist, squareform
from threadpoolctl import ThreadpoolController

from enquete.analysis.typology.components import Matrix, principal_components

Labels: TypeAlias = "npt.NDArray[np.int64]"

STEPS = 10  # of k-means after its start; among some hundred agents it rests sooner
# Threads cost more than they bring here. Made once, since looking for pools is slow, and after the import of scipy, since
# only pools that are loaded by then are found.
ONE_THREAD = ThreadpoolController()
MOST_COMPARED = 300  # agents among whom k is chosen: the silhouette needs all pairs; of more, a seeded sample


@dataclass(frozen=True)
class Separation:
    """Mean silhouettes by number of clusters. full: over all columns. reduced: of the same clusters, over the first k − 1
    principal components, which is all that the means of k clusters can span."""

    full: dict[int, float]
    reduced: dict[int, float]


def sampled(blocks: Sequence[Matrix], rng: np.random.Generator) -> Sequence[Matrix]:
    """The blocks of at most MOST_COMPARED agents, drawn without replacement and kept in order."""
    n = len(blocks[0])
    if n <= MOST_COMPARED:
        return blocks
    rows = np.sort(rng.choice(n, MOST_COMPARED, replace=False))
    return [block[rows] for block in blocks]


def different(columns: Matrix) -> int:
    """How many agents differ from each other."""
    return len(np.unique(columns.round(9), axis=0))


def clusters(columns: Matrix, k: int, seed: int) -> Labels:
    """k-means labels 0 … k − 1, the largest cluster first and of equal ones that of the earliest agent."""
    (labels,) = partitions(columns, [k], seed)
    return labels


def partitions(columns: Matrix, numbers: Sequence[int], seed: int) -> list[Labels]:
    """`clusters` for each of several numbers of clusters, from one tree."""
    return [by_size(vq(columns, found)[0].astype(np.int64)) for found in centres(columns, numbers, seed)]


def centres(columns: Matrix, numbers: Sequence[int], seed: int) -> list[Matrix]:
    """Centres (clusters × columns) for each number of clusters; beyond MOST_COMPARED agents the tree is one of a sample."""
    (start,) = sampled([columns], np.random.default_rng(seed))
    tree = linkage(start, "ward")
    with ONE_THREAD.limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an emptied cluster, among agents that hardly differ
        return [
            np.asarray(kmeans2(columns, _means(start, _cut(tree, k)), iter=STEPS, minit="matrix")[0]) for k in numbers
        ]


def _cut(tree: Matrix, k: int) -> Labels:
    """k clusters; cut_tree, which is slow, only where equal heights leave fcluster with fewer."""
    found = fcluster(tree, k, "maxclust")
    return np.asarray(found if found.max() == k else cut_tree(tree, n_clusters=[k])[:, 0], dtype=np.int64)


def _means(columns: Matrix, labels: Labels) -> Matrix:
    return np.stack([columns[labels == label].mean(axis=0) for label in np.unique(labels)])


def by_size(raw: Labels) -> Labels:
    """The same groups, numbered by size and then by their first agent."""
    order = sorted(set(raw.tolist()), key=lambda label: (-int((raw == label).sum()), int((raw == label).argmax())))
    places = {label: place for place, label in enumerate(order)}
    return np.array([places[label] for label in raw.tolist()], dtype=np.int64)


def separation(columns: Matrix, numbers: Sequence[int], seed: int) -> Separation:
    """Silhouettes of k-means for each number of clusters below that of different agents."""
    most = different(columns)
    possible = [k for k in numbers if k < most]
    if not possible:
        return Separation({}, {})
    scores = principal_components(columns).scores
    full, labels = squareform(pdist(columns)), partitions(columns, possible, seed)
    found = dict(zip(possible, labels, strict=True))
    return Separation(
        {k: float(silhouettes(full, own).mean()) for k, own in found.items()},
        {k: float(silhouettes(squareform(pdist(scores[:, : k - 1])), own).mean()) for k, own in found.items()},
    )


def silhouettes(distances: Matrix, labels: Labels) -> Matrix:
    """Each agent's silhouette from distances of all to all; 0 for an agent alone in its cluster, as Rousseeuw has it.

    As silhouette_samples of scikit-learn, whose checks take longer than this takes for a whole null data set.
    """
    member = np.eye(labels.max() + 1)[labels]
    sizes, rows = member.sum(axis=0), np.arange(len(labels))
    sums = distances @ member
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[rows, labels] = np.inf
    other = means.min(axis=1)
    largest = np.maximum(own, other)
    usable = (sizes[labels] > 1) & np.isfinite(other) & (largest > 0)
    return np.asarray(np.divide(other - own, largest, out=np.zeros(len(labels)), where=usable))


def agent_silhouettes(columns: Matrix, labels: Labels, seed: int) -> Matrix:
    """How well each agent sits in its type, −1 … 1; for agents beyond MOST_COMPARED against a seeded sample of others."""
    if len(columns) <= MOST_COMPARED:
        return silhouettes(squareform(pdist(columns)), labels)
    rows = np.random.default_rng(seed).choice(len(columns), MOST_COMPARED, replace=False)
    distances = cdist(columns, columns[rows])
    means = np.stack([distances[:, labels[rows] == label].mean(axis=1) for label in range(labels.max() + 1)], axis=1)
    own = means[np.arange(len(columns)), labels]
    means[np.arange(len(columns)), labels] = np.inf
    other = means.min(axis=1)
    return np.asarray((other - own) / np.maximum(own, other))
