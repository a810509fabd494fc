"""K-means among agents, and how far apart the clusters of each number are (silhouette, Rousseeuw 1987).

K-means starts from the clusters of Ward's method (Ward 1963) and not from random agents: hundreds of null data sets are
clustered for one answer, and one good start costs less than many poor ones. They are clustered together, as stacks of
data sets × agents × columns: a data set alone is so small that calling for it costs more than computing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from enquete.analysis.typology.components import Matrix, component_scores

Labels: TypeAlias = "npt.NDArray[np.int64]"

STEPS = 10  # of k-means after its start; among some hundred agents it rests sooner
MOST_COMPARED = 300  # agents among whom k is chosen: the silhouette needs all pairs; of more, a seeded sample
HELD = 500_000  # distances that are held at a time


@dataclass(frozen=True)
class Separation:
    """Mean silhouettes, data sets × numbers of clusters; −1 where fewer agents than that differ from each other.

    full: over all columns. reduced: of the same clusters, over the first k − 1 principal components, which is all that the
    means of k clusters can span.
    """

    full: Matrix
    reduced: Matrix


def sampled(blocks: Sequence[Matrix], rng: np.random.Generator) -> Sequence[Matrix]:
    """The blocks of at most MOST_COMPARED agents, drawn without replacement and kept in order."""
    n = len(blocks[0])
    if n <= MOST_COMPARED:
        return blocks
    rows = np.sort(rng.choice(n, MOST_COMPARED, replace=False))
    return [block[rows] for block in blocks]


def different(columns: Matrix) -> int:
    """How many agents differ from each other."""
    same = np.ascontiguousarray(columns.round(9) + 0.0)  # without −0, so that equal rows are equal bytes
    return len({row.tobytes() for row in same})


def clusters(columns: Matrix, k: int, seed: int) -> Labels:
    """k-means labels 0 … k − 1, the largest cluster first and of equal ones that of the earliest agent."""
    return by_size(nearest(columns[None], centres(columns[None], [k], [seed])[0])[0])


def partitions(sets: Matrix, pairs: Matrix, numbers: Sequence[int]) -> list[Labels]:
    """Labels (data sets × agents) for each number of clusters; a cluster may have lost all its agents."""
    return [nearest(sets, one) for one in _centres(sets, sets, pairs, numbers)]


def pairs_of(sets: Matrix) -> Matrix:
    """Distances between agents, each pair once: data sets × pairs."""
    return np.stack([scipy.spatial.distance.pdist(one) for one in sets])


def centres(sets: Matrix, numbers: Sequence[int], seeds: Sequence[int]) -> list[Matrix]:
    """Centres (data sets × clusters × columns) for each number of clusters. Beyond MOST_COMPARED agents a tree is one of a
    sample by the data set's own seed."""
    starts = np.stack([sampled([one], np.random.default_rng(s))[0] for one, s in zip(sets, seeds, strict=True)])
    return _centres(sets, starts, pairs_of(starts), numbers)


def _centres(sets: Matrix, starts: Matrix, pairs: Matrix, numbers: Sequence[int]) -> list[Matrix]:
    trees = np.stack([scipy.cluster.hierarchy.linkage(one, "ward")[:, :2] for one in pairs]).astype(np.int64)
    return [_k_means(sets, _means(starts, _cut(trees, k), np.zeros((len(sets), k, sets.shape[2])))) for k in numbers]


def _cut(trees: Labels, k: int) -> Labels:
    """k clusters: each agent follows its merges upwards, up to the last one but k − 1."""
    sets, merges = trees.shape[:2]
    n = merges + 1
    above = np.tile(np.arange(2 * n - 1), (sets, 1))
    made = np.arange(n, 2 * n - 1)
    for side in (0, 1):
        np.put_along_axis(above, trees[:, :, side], np.broadcast_to(made, (sets, merges)), axis=1)
    above = np.where(above < 2 * n - k, above, np.arange(2 * n - 1))
    for _ in range(n.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    top = np.zeros_like(above, dtype=bool)
    np.put_along_axis(top, above[:, :n], True, axis=1)
    return np.take_along_axis(top.cumsum(axis=1) - 1, above[:, :n], axis=1)


def _k_means(sets: Matrix, start: Matrix) -> Matrix:
    """Lloyd's steps from `start`; a cluster that loses all its agents keeps its centre."""
    centre = start
    before: Labels | None = None
    for _ in range(STEPS):
        labels = nearest(sets, centre)
        if before is not None and np.array_equal(labels, before):
            break
        centre, before = _means(sets, labels, centre), labels
    return centre


def nearest(sets: Matrix, centre: Matrix) -> Labels:
    """The cluster whose centre is nearest to each agent."""
    gap = (centre**2).sum(axis=-1)[:, None, :] - 2 * (sets @ centre.swapaxes(-1, -2))
    return np.asarray(gap.argmin(axis=-1), dtype=np.int64)


def _means(sets: Matrix, labels: Labels, empty: Matrix) -> Matrix:
    """Means by cluster; that of a cluster without agents is `empty`."""
    member = memberships_of(labels, empty.shape[1])
    size = member.sum(axis=1)[..., None]
    return np.asarray(np.where(size > 0, member.swapaxes(-1, -2) @ sets / np.maximum(size, 1), empty))


def memberships_of(labels: Labels, k: int) -> Matrix:
    """1 where an agent is in a cluster: … × agents × clusters."""
    return np.asarray(labels[..., None] == np.arange(k), dtype=np.float64)


def by_size(raw: Labels) -> Labels:
    """The same groups, numbered by size and then by their first agent."""
    order = sorted(set(raw.tolist()), key=lambda label: (-int((raw == label).sum()), int((raw == label).argmax())))
    places = {label: place for place, label in enumerate(order)}
    return np.array([places[label] for label in raw.tolist()], dtype=np.int64)


def separation(sets: Matrix, numbers: Sequence[int], *, reduced: bool = True) -> Separation:
    """Silhouettes of k-means in each data set for each number of clusters below that of different agents.

    reduced: whether those over the principal components are wanted too; else they are NaN.
    """
    parts = [_separation(sets[rows], numbers, reduced) for rows in _portions(len(sets), sets.shape[1] ** 2)]
    return Separation(np.concatenate([one.full for one in parts]), np.concatenate([one.reduced for one in parts]))


def _portions(n: int, size: int) -> Iterator[slice]:
    step = max(1, HELD // max(size, 1))
    return (slice(start, start + step) for start in range(0, n, step))


def _separation(sets: Matrix, numbers: Sequence[int], reduced: bool) -> Separation:
    pairs = pairs_of(sets)
    distances = np.stack([scipy.spatial.distance.squareform(one) for one in pairs.astype(np.float32)])
    possible = np.array([different(one) for one in sets])[:, None] > np.array(numbers)
    scores = component_scores(sets, max(numbers) - 1).astype(np.float32) if reduced else np.empty(0)
    full, small = np.full((2, len(sets), len(numbers)), -1.0)
    squares, upto = np.zeros_like(distances), 0
    for place, (k, labels) in enumerate(zip(numbers, partitions(sets, pairs, numbers), strict=True)):
        full[:, place] = silhouettes(distances, labels).mean(axis=1)
        if reduced:
            while upto < min(k - 1, scores.shape[2]):
                squares += (scores[:, :, None, upto] - scores[:, None, :, upto]) ** 2
                upto += 1
            small[:, place] = silhouettes(np.sqrt(squares), labels).mean(axis=1)
    return Separation(np.where(possible, full, -1.0), np.where(possible, small, -1.0 if reduced else np.nan))


def silhouettes(distances: npt.NDArray[np.floating], labels: Labels) -> Matrix:
    """Each agent's silhouette from distances of all to all; 0 for an agent alone in its cluster, as Rousseeuw has it.

    Of one data set, or of a stack of them. As silhouette_samples of scikit-learn, whose checks take longer than this takes.
    """
    member = memberships_of(labels, int(labels.max()) + 1).astype(distances.dtype, copy=False)
    sizes = member.sum(axis=-2, keepdims=True)
    sums = distances @ member
    size = (member @ sizes.swapaxes(-1, -2))[..., 0]
    own = (sums * member).sum(axis=-1) / np.maximum(size - 1, 1)
    means = np.where((member > 0) | (sizes == 0), np.inf, sums / np.maximum(sizes, 1))
    other = means.min(axis=-1)
    largest = np.maximum(own, other)
    usable = (size > 1) & np.isfinite(other) & (largest > 0)
    return np.asarray(np.divide(other - own, largest, out=np.zeros(labels.shape), where=usable))


def agent_silhouettes(columns: Matrix, labels: Labels, seed: int) -> Matrix:
    """How well each agent sits in its type, −1 … 1; for agents beyond MOST_COMPARED against a seeded sample of others."""
    if len(columns) <= MOST_COMPARED:
        return silhouettes(scipy.spatial.distance.cdist(columns, columns), labels)
    rows = np.random.default_rng(seed).choice(len(columns), MOST_COMPARED, replace=False)
    distances = scipy.spatial.distance.cdist(columns, columns[rows])
    means = np.stack([distances[:, labels[rows] == label].mean(axis=1) for label in range(labels.max() + 1)], axis=1)
    own = means[np.arange(len(columns)), labels]
    means[np.arange(len(columns)), labels] = np.inf
    other = means.min(axis=1)
    return np.asarray((other - own) / np.maximum(own, other))


def adjusted_rand(first: Labels, second: Labels) -> float:
    """How far two groupings sort the same agents alike: 1 fully, 0 as by chance (Hubert & Arabie 1985).

    (tp·tn − fn·fp) / ½((tp + fn)(fn + tn) + (tp + fp)(fp + tn)) over pairs of agents; 1 where they are the same grouping.
    As adjusted_rand_score of scikit-learn, whose import takes longer than all that is computed here.
    """
    a, b = (np.unique(one, return_inverse=True)[1] for one in (first, second))
    table = np.bincount(a * (int(b.max(initial=0)) + 1) + b).astype(float)
    both, own, other = (float((np.asarray(n) ** 2).sum()) for n in (table, np.bincount(a), np.bincount(b)))
    tp, fn, fp = both - len(a), own - both, other - both
    tn = float(len(a)) ** 2 - tp - fn - fp - len(a)
    if fn == fp == 0:
        return 1.0
    return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))
