"""Gap statistic: how much more compact k clusters are than in data without any, "one cluster" being a possible answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enquete.analysis.typology.clustering import Labels, partitions, sampled
from enquete.analysis.typology.components import Matrix, permuted, weighted

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
    most = min(MOST, len(np.unique(columns.round(9), axis=0)) - 1)
    if most < 2:
        return Gap((), (), None, len(columns))
    observed = _log_within(columns, most, seed)
    null = np.array(
        [_log_within(weighted([permuted(block, rng) for block in blocks])[0], most, draw) for draw in range(draws)]
    )
    gaps, errors = null.mean(axis=0) - observed, null.std(axis=0) * np.sqrt(1 + 1 / draws)
    largest = int(gaps.argmax())
    k = int(np.flatnonzero(gaps >= gaps[largest] - errors[largest])[0]) + 1
    return Gap(tuple(gaps.tolist()), tuple(errors.tolist()), k, len(columns))


def _log_within(columns: Matrix, most: int, seed: int) -> Matrix:
    labels = partitions(columns, range(1, most + 1), seed)
    return np.log([max(_within(columns, one), np.finfo(float).tiny) for one in labels])


def _within(columns: Matrix, labels: Labels) -> float:
    parts = [columns[labels == k] for k in np.unique(labels)]
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))
