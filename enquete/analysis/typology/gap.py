"""Gap statistic: how much more compact k clusters are than in data without any, "one cluster" being a possible answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enquete.analysis.typology.clustering import Labels, different, memberships_of, pairs_of, partitions, sampled
from enquete.analysis.typology.components import Matrix, permutations, weighted, weighted_sets

MOST = 9  # one more than the largest number of types tried, since the rule looks one ahead
DRAWS = 20


@dataclass(frozen=True)
class Gap:
    """gaps and errors by k = 1, 2, …; k: the number of clusters by the one-standard-error rule, 1 for none.

    k is None with fewer than three different agents. n_compared: agents, at most 300.
    """

    gaps: tuple[float, ...]
    errors: tuple[float, ...]
    k: int | None
    n_compared: int


def gap(blocks: Sequence[Matrix], seed: int, *, draws: int = DRAWS) -> Gap:
    """Gap(k) = E*[log W_k] − log W_k, W_k the sum of squares within k clusters; E* over data whose columns were permuted.

    s_k = SD(log W*_k)·√(1 + 1/draws); k is the smallest with Gap(k) ≥ Gap(m) − s_m, m the k of the largest gap (Dudoit &
    Fridlyand 2002; the first rule, against k + 1 alone, stops at 1 before four clouds). The reference keeps each column's
    distribution and the grid of forced sorts (a box, as usual, would hold no legal sort). blocks: agents × columns each,
    without NaN; of more than 300 agents a seeded sample. Source: Tibshirani, Walther & Hastie 2001.
    """
    rng = np.random.default_rng(seed)
    blocks = sampled(blocks, rng)
    columns = weighted(blocks)[0]
    most = min(MOST, different(columns) - 1)
    if most < 2:
        return Gap((), (), None, len(columns))
    (observed,) = _log_within(columns[None], most)
    null = _log_within(weighted_sets(permutations(blocks, draws, rng)), most)
    gaps, errors = null.mean(axis=0) - observed, null.std(axis=0) * np.sqrt(1 + 1 / draws)
    largest = int(gaps.argmax())
    k = int(np.flatnonzero(gaps >= gaps[largest] - errors[largest])[0]) + 1
    return Gap(tuple(gaps.tolist()), tuple(errors.tolist()), k, len(columns))


def _log_within(sets: Matrix, most: int) -> Matrix:
    """log W_k of each data set: sets × k."""
    parted = partitions(sets, pairs_of(sets), range(1, most + 1))
    found = [_within(sets, labels, k) for k, labels in enumerate(parted, 1)]
    return np.asarray(np.log(np.maximum(np.stack(found, axis=1), np.finfo(float).tiny)))


def _within(sets: Matrix, labels: Labels, k: int) -> Matrix:
    member = memberships_of(labels, k)
    sums, sizes = member.swapaxes(-1, -2) @ sets, member.sum(axis=1)
    centre = sums / np.maximum(sizes, 1)[..., None]
    return np.asarray(((sets - member @ centre) ** 2).sum(axis=(1, 2)))
