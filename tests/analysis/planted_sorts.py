"""Sorts and axes for tests of accuracy: planted views with the synthetic respondents' noise, continua, and pure
noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from enquete.analysis.components import Matrix
from enquete.analysis.qmethod import places
from enquete.instruments.load import load_shipped
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.diversity.procedure import AXIS_NOISE, NOISE
from enquete.methods.diversity.procedure import planted as planted_in

INSTRUMENT = load_shipped(DiversityInstrument, "diversity")
TRUTH = planted_in(INSTRUMENT).truth
GRID = INSTRUMENT.distribution
PLACES = places(GRID)
VIEWS = np.array(list(TRUTH.sort.values()), dtype=float).T
AXES = np.array(list(TRUTH.axes.values())).T


def planted(agents: int, seed: int) -> tuple[list[Matrix], np.ndarray]:
    """Sorts, axes and the planted view of each agent, in turn."""
    rng = np.random.default_rng([agents, seed])
    view = np.arange(agents) % len(VIEWS)
    opinions = VIEWS[view] + NOISE * rng.normal(size=(agents, VIEWS.shape[1]))
    axes = np.clip(AXES[view] + AXIS_NOISE * rng.normal(size=(agents, AXES.shape[1])), -1, 1)
    return [PLACES[opinions.argsort(axis=1).argsort(axis=1)], np.round(4 + 3 * axes)], view


def noise(agents: int, seed: int) -> list[Matrix]:
    """Every legal sort equally likely, every place on an axis too."""
    rng = np.random.default_rng([agents, seed])
    return [rng.permuted(np.tile(PLACES, (agents, 1)), axis=1), rng.integers(1, 8, (agents, 6)).astype(float)]


def mixed(sizes: Sequence[int], seed: int) -> tuple[list[Matrix], np.ndarray]:
    """As many random views as sizes, and the view of each agent; persons spread as the synthetic respondents do.

    A view of a statement has SD 1 before ranking, which fills a grid of SD 1.68; NOISE is in columns of the grid.
    """
    rng = np.random.default_rng([len(sizes), seed])
    view = np.repeat(np.arange(len(sizes)), sizes)
    views, axes = rng.normal(size=(len(sizes), len(PLACES))), rng.uniform(1.5, 6.5, (len(sizes), 6))
    opinions = views[view] + NOISE / PLACES.std() * rng.normal(size=(len(view), len(PLACES)))
    placed = axes[view] + 3 * AXIS_NOISE * rng.normal(size=(len(view), 6))
    return [_ranked(opinions), np.clip(np.round(placed), 1, 7)], view


def continuum(agents: int, dimensions: int, seed: int, *, uniform: bool = False, spread: float = 0.6) -> list[Matrix]:
    """Agents anywhere along latent gradients (normal or uniform, of SD 1) plus their own spread: no types."""
    rng = np.random.default_rng([agents, dimensions, seed])
    shape = (agents, dimensions)
    at = rng.uniform(-np.sqrt(3), np.sqrt(3), shape) if uniform else rng.normal(size=shape)
    opinions = at @ rng.normal(size=(dimensions, len(PLACES))) + spread * rng.normal(size=(agents, len(PLACES)))
    axes = 4 + at @ rng.normal(size=(dimensions, 6)) + spread * rng.normal(size=(agents, 6))
    return [_ranked(opinions), np.clip(np.round(axes), 1, 7)]


def _ranked(opinions: Matrix) -> Matrix:
    return np.asarray(PLACES[opinions.argsort(axis=1).argsort(axis=1)])
