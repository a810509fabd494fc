"""Sorts and axes for tests of accuracy: four planted views with the synthetic respondents' noise, and pure noise."""

from __future__ import annotations

import numpy as np

from enquete.analysis.components import Matrix
from enquete.analysis.qsort import places
from enquete.graphs.diversity.truth import GRID, TRUTH

PLACES = places(GRID)
VIEWS = np.array([list(TRUTH.sort[archetype].values()) for archetype in TRUTH.archetypes], dtype=float)
AXES = np.array([list(TRUTH.axes[archetype].values()) for archetype in TRUTH.archetypes])


def planted(agents: int, seed: int) -> tuple[list[Matrix], np.ndarray]:
    """Sorts, axes and the planted view of each agent, in turn."""
    rng = np.random.default_rng([agents, seed])
    view = np.arange(agents) % len(VIEWS)
    opinions = VIEWS[view] + TRUTH.noise * rng.normal(size=(agents, VIEWS.shape[1]))
    axes = np.clip(AXES[view] + TRUTH.axis_noise * rng.normal(size=(agents, AXES.shape[1])), -1, 1)
    return [PLACES[opinions.argsort(axis=1).argsort(axis=1)], np.round(4 + 3 * axes)], view


def noise(agents: int, seed: int) -> list[Matrix]:
    """Every legal sort equally likely, every place on an axis too."""
    rng = np.random.default_rng([agents, seed])
    return [rng.permuted(np.tile(PLACES, (agents, 1)), axis=1), rng.integers(1, 8, (agents, 6)).astype(float)]
