"""What sets factors apart: differences between their z-scores against two yardsticks, distinguishing and consensus statements.

The usual yardstick, SED, knows only how many sorts define a factor: with many sorts every difference passes it. So each
difference stands beside a permutation null, which asks how far apart two groups of the same people would be by lot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from enquete.analysis.qmethod.scores import (
    composites,
    factor_array,
    is_flat,
    standard_error,
    standard_errors_of_difference,
    z_scores,
)
from enquete.analysis.typology.clustering import Labels
from enquete.analysis.typology.components import Matrix

Direction = Literal["above", "below", "between"]

CRITICAL = {0.01: 2.576, 0.05: 1.96}  # by level of a two-sided test
DRAWS = 199


@dataclass(frozen=True)
class Comparison:
    """Two factors, statement by statement.

    first, second: places among the factors. difference: z of the first less z of the second. sed: standard error of it.
    level: .01 or .05 where |difference| exceeds 2.576 or 1.96 SED, else None. p: permutation p of each difference.
    chance: 95th percentile of |difference| when sorts are dealt to the two factors by lot.
    """

    first: int
    second: int
    difference: Matrix
    sed: float
    level: tuple[float | None, ...]
    p: Matrix
    chance: Matrix


@dataclass(frozen=True)
class Distinction:
    """A statement that sets a factor apart from every other.

    place: its column in the factor array. rank: 1 for the highest z. direction: above all others, below all, or between.
    level: by SED. p: the largest permutation p among the comparisons with the others.
    """

    statement: int
    z: float
    place: int
    rank: int
    direction: Direction
    level: float
    p: float


def comparisons(sorts: Matrix, weight: Matrix, rng: np.random.Generator, draws: int = DRAWS) -> tuple[Comparison, ...]:
    """Every two factors. sorts: N × S; weight: N × k, 0 for sorts that do not define the factor, no factor flat."""
    composite = composites(sorts, weight)
    z, sds = z_scores(composite), composite.std(axis=1, ddof=1)
    sed = standard_errors_of_difference(np.array([standard_error(n) for n in (weight != 0).sum(axis=0).tolist()]))
    return tuple(
        _compared(a, b, z, float(sed[a, b]), _differences(sorts, weight, sds, a, b, rng, draws))
        for a, b in combinations(range(len(z)), 2)
    )


def _compared(a: int, b: int, z: Matrix, sed: float, null: Matrix) -> Comparison:
    difference = z[a] - z[b]
    size = np.abs(difference)
    reached = (np.abs(null) >= size - 1e-12).sum(axis=0)
    level = tuple(_level(one / sed) for one in size.tolist())
    p, chance = (1 + reached) / (1 + len(null)), np.quantile(np.abs(null), 0.95, axis=0)
    return Comparison(a, b, difference, sed, level, p, chance)


def _level(ratio: float) -> float | None:
    return 0.01 if ratio > CRITICAL[0.01] else 0.05 if ratio > CRITICAL[0.05] else None


def _differences(
    sorts: Matrix, weight: Matrix, sds: Matrix, a: int, b: int, rng: np.random.Generator, draws: int
) -> Matrix:
    """draws × S: differences between two groups of the same sizes dealt from the sorts that define either factor.

    Each sort keeps its |w| and enters with the sign of its loading in units of its own factor's SD, so that the undealt
    difference is that of the z-scores and a factor's strength of agreement cannot pass for a difference of view.
    """
    members = [np.flatnonzero(weight[:, f]) for f in (a, b)]
    centred = [sorts[rows] - sorts[rows].mean(axis=1, keepdims=True) for rows in members]
    units = [np.sign(weight[rows, f])[:, None] / sds[f] for rows, f in zip(members, (a, b), strict=True)]
    y = np.vstack([unit * rows for unit, rows in zip(units, centred, strict=True)])
    w = np.abs(np.concatenate([weight[rows, f] for rows, f in zip(members, (a, b), strict=True)]))
    first = np.arange(len(w)) < len(members[0])
    dealt = rng.permuted(np.tile(first, (draws, 1)), axis=1) * w
    inside, mass = dealt @ y, dealt.sum(axis=1, keepdims=True)
    return np.asarray(inside / mass - (w @ y - inside) / (w.sum() - mass))


def distinguishing(factor: int, z: Matrix, array: Matrix, compared: Sequence[Comparison]) -> tuple[Distinction, ...]:
    """Statements whose z differs from that of every other factor by more than 1.96 SED, the largest |z| first.

    z: factors × statements. array: the factor's own. With one factor there is nothing to differ from: ().
    """
    own = [one for one in compared if factor in (one.first, one.second)]
    ranks = (-z[factor]).argsort(kind="stable").argsort() + 1
    others = np.delete(z, factor, axis=0)
    found = []
    for s, score in enumerate(z[factor].tolist()):
        levels = [one.level[s] for one in own]
        reached = [level for level in levels if level is not None]
        if not reached or len(reached) < len(levels):
            continue
        p = max(float(one.p[s]) for one in own)
        found.append(
            Distinction(s, score, int(array[s]), int(ranks[s]), _direction(score, others[:, s]), max(reached), p)
        )
    return tuple(sorted(found, key=lambda one: (-abs(one.z), one.statement)))


def _direction(score: float, others: Matrix) -> Direction:
    return "above" if score > others.max() else "below" if score < others.min() else "between"


def consensus(compared: Sequence[Comparison]) -> tuple[int, ...]:
    """Statements on which no two factors differ at .05 by SED; () with fewer than two factors."""
    if not compared:
        return ()
    return tuple(s for s in range(len(compared[0].level)) if all(one.level[s] is None for one in compared))


def group_distinctions(
    sorts: Matrix, labels: Labels, grid: Mapping[int, int], seed: int, draws: int = DRAWS
) -> tuple[tuple[Distinction, ...], ...]:
    """Distinguishing statements of groups of people (0 … k − 1), as if each were a factor whose members weigh 1.

    A description: groups formed from the same sorts differ by construction. A group whose sorts cancel one another has
    none, and the others are compared without it.
    """
    weight = (labels[:, None] == np.arange(int(labels.max(initial=-1)) + 1)).astype(np.float64)
    kept = [
        f for f, members in enumerate(weight.T) if members.any() and not is_flat(composites(sorts, members[:, None]))
    ]
    compared = comparisons(sorts, weight[:, kept], np.random.default_rng(seed), draws)
    z = z_scores(composites(sorts, weight[:, kept]))
    found = {
        label: distinguishing(place, z, factor_array(z[place], grid), compared) for place, label in enumerate(kept)
    }
    return tuple(found.get(label, ()) for label in range(weight.shape[1]))
