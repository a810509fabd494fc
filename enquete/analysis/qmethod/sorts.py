"""Forced sorts: whether one is legal, what a group's common sort is, and what sets a group apart from the rest.

All figures use positions on the grid (columns), so they can be read off the sorts; z-scores are in units of the grid's
own SD, which is the same for every legal sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from enquete.analysis.typology.components import Matrix


@dataclass(frozen=True)
class Contrast:
    """One statement in a group and in everybody else.

    mean, mean_rest: mean position. z, z_rest: (mean − mean of the grid) / SD of the grid. difference: z − z_rest.
    """

    statement: int  # its place among the columns
    mean: float
    mean_rest: float
    z: float
    z_rest: float

    @property
    def difference(self) -> float:
        return self.z - self.z_rest


def legal(sorts: Matrix, grid: Mapping[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows (agents × statements) fill the grid exactly; NaN never does."""
    filled = np.sort(sorts, axis=1)
    wanted = places(grid)
    if filled.shape[1] != len(wanted):
        return np.zeros(len(sorts), dtype=bool)
    return np.asarray((filled == wanted).all(axis=1))


def places(grid: Mapping[int, int]) -> Matrix:
    """The grid as the ascending list of its places: {-1: 1, 0: 2, 1: 1} → −1, 0, 0, 1."""
    return np.array([column for column, n in sorted(grid.items()) for _ in range(n)], dtype=float)


def grid_moments(grid: Mapping[int, int]) -> tuple[float, float]:
    """Mean and SD (n − 1) of the grid's places."""
    filled = places(grid)
    return float(filled.mean()), float(filled.std(ddof=1))


def common_sort(means: Matrix, grid: Mapping[int, int]) -> Matrix:
    """The legal sort nearest to a group's mean positions: places filled in the order of the means, ties by column."""
    order = np.argsort(means, kind="stable")
    found = np.empty(len(means))
    found[order] = places(grid)
    return found


def contrasts(
    sorts: Matrix, members: np.ndarray[tuple[int], np.dtype[np.bool_]], grid: Mapping[int, int]
) -> list[Contrast]:
    """Every statement, the one that sets the group apart most first.

    sorts: agents × statements, legal. members: which agents are in the group. A description, not a test: where the group
    was formed from the same sorts, a test on them would be circular. Without members, or without a rest: [].
    """
    if not members.any() or members.all():
        return []
    centre, sd = grid_moments(grid)
    inside, rest = sorts[members].mean(axis=0), sorts[~members].mean(axis=0)
    found = [
        Contrast(i, float(a), float(b), float((a - centre) / sd), float((b - centre) / sd))
        for i, (a, b) in enumerate(zip(inside, rest, strict=True))
    ]
    return sorted(found, key=lambda contrast: (-abs(contrast.difference), contrast.statement))
