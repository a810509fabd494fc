"""The tree of agents by Ward's method, cut to what can be drawn: which branches join, and how unlike they are.

Measured by: joins of a handful of agents whose distances are derived by hand (tests/analysis).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from enquete.analysis.typology.clustering import sampled
from enquete.analysis.typology.components import ONE_THREAD, Matrix

BRANCHES = 30  # ends of the drawn tree


@dataclass(frozen=True)
class Tree:
    """ends: agents (rows) of each branch, from left to right. joins: two branches and the distance at which they become one;
    numbers from len(ends) on are earlier joins, in their order."""

    ends: tuple[tuple[int, ...], ...]
    joins: tuple[tuple[int, int, float], ...]


def tree(columns: Matrix, seed: int, most: int = BRANCHES) -> Tree:
    """Ward's tree of the agents (rows), its last `most` − 1 joins. Of more than `clustering.MOST_COMPARED` agents a sample.

    The distance of a join is √(2·|A||B|/(|A| + |B|))·‖centre A − centre B‖ (Ward 1963; scipy's linkage). Empty below 2 agents.
    """
    if len(columns) < 2:
        return Tree((), ())
    kept, rows = sampled([columns, np.arange(len(columns), dtype=float)[:, None]], np.random.default_rng(seed))
    with ONE_THREAD.limit(limits=1):
        made = scipy.cluster.hierarchy.linkage(kept, "ward")
    n, first = len(kept), max(0, len(made) - (most - 1))
    members = {agent: [int(rows[agent, 0])] for agent in range(n)}
    sides = {n + row: (int(left), int(right)) for row, (left, right) in enumerate(made[:, :2])}
    for node, (left, right) in sides.items():
        members[node] = members[left] + members[right]
    ends = _from_left(n + len(made) - 1, sides, n + first)
    place = {end: number for number, end in enumerate(ends)}
    at = {**place, **{n + row: len(ends) + row - first for row in range(first, len(made))}}
    joins = []
    for row in range(first, len(made)):
        left, right = sides[n + row]
        joins.append((at[left], at[right], float(made[row, 2])))
    return Tree(tuple(tuple(members[end]) for end in ends), tuple(joins))


def _from_left(node: int, sides: Mapping[int, tuple[int, int]], first: int) -> list[int]:
    """Branches below a join: nodes before `first`, which are not drawn apart."""
    if node < first:
        return [node]
    left, right = sides[node]
    return [*_from_left(left, sides, first), *_from_left(right, sides, first)]
