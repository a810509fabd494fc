"""Data with the covariance of the observed ones and no clusters: what views that differ by degree alone look like.

Columns permuted one by one have no relations at all, so that any gradient beats them. Here the relations stay: agents are
normally distributed along the observed principal components. Comparing clusters with one normal cloud is the idea of
SigClust (Liu, Hayes, Nobel & Marron 2008) and of Hennig & Lin (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enquete.analysis.typology.components import NEGLIGIBLE, Matrix, forced_places, ranked

CALIBRATED_ON = 1000  # simulated agents, at least
ROUNDS = 12
CLOSE = 0.01  # of each component's variance: calibrated
STEP = 2.0  # the most that one round changes a component's scale by


@dataclass(frozen=True)
class _Form:
    """What answers of a block may be: orders of `places`, whole numbers from `low` to `high`, or anything."""

    columns: slice
    places: Matrix | None
    whole: bool
    low: float
    high: float


@dataclass(frozen=True)
class Continuum:
    """mean: columns. axes: components × columns. scales: root sums of squares along the axes, before answers take form."""

    n: int
    mean: Matrix
    axes: Matrix
    scales: Matrix
    forms: tuple[_Form, ...]


def fitted(blocks: Sequence[Matrix], rng: np.random.Generator) -> Continuum:
    """The continuum whose answers, brought into form, have the observed mean and variance on each component.

    Ranking into a grid and rounding add noise, and ranking also pushes agents apart along a strong component. A continuum
    with the observed covariance *before* that would be flatter than the data afterwards and lose to every gradient. So mean
    and scales are adjusted until simulated answers have those observed. blocks: agents × columns each, without NaN.
    """
    observed = np.hstack(blocks)
    mean = observed.mean(axis=0)
    _, scales, axes = np.linalg.svd(observed - mean, full_matrices=False)
    kept = scales > NEGLIGIBLE * max(1.0, float(scales[0]))
    model = Continuum(len(observed), mean, axes[kept], scales[kept], _forms(blocks))
    return _calibrated(model, rng) if kept.any() else model


def _calibrated(model: Continuum, rng: np.random.Generator) -> Continuum:
    """By fixed-point iteration on the same simulated agents, many data sets of as many agents as were observed."""
    goal, mean, squares = model.mean, model.mean, model.scales**2
    positions = np.stack([_positions(model, rng) for _ in range(-(-CALIBRATED_ON // model.n))])
    for _ in range(ROUNDS):
        drawn = np.concatenate(_answers(model, positions, rng), axis=-1)
        centres = drawn.mean(axis=1, keepdims=True)
        found = (((drawn - centres) @ model.axes.T) ** 2).sum(axis=1).mean(axis=0)
        if np.abs(found / squares - 1).max() < CLOSE:
            break
        ratio = np.sqrt(squares / np.maximum(found, NEGLIGIBLE * squares))
        mean = mean + goal - centres.mean(axis=(0, 1))
        scales = model.scales * np.clip(ratio, 1 / STEP, STEP)
        model = Continuum(model.n, mean, model.axes, scales, model.forms)
    return model


def draw(model: Continuum, rng: np.random.Generator) -> list[Matrix]:
    """One data set of as many agents, in blocks like the observed ones."""
    return _answers(model, _positions(model, rng), rng)


def _positions(model: Continuum, rng: np.random.Generator) -> Matrix:
    """Agents × components, orthonormal and centred: normal draws given their covariance (a rotation, Langsrud 2005).

    Free draws would vary in covariance too, and the test would lose power over what it does not ask.
    """
    z = rng.normal(size=(model.n, len(model.scales)))
    q, r = np.linalg.qr(z - z.mean(axis=0))
    return np.asarray(q * np.sign(np.diag(r)))


def _forms(blocks: Sequence[Matrix]) -> tuple[_Form, ...]:
    ends = np.cumsum([block.shape[1] for block in blocks])
    return tuple(
        _Form(
            slice(int(end) - block.shape[1], int(end)),
            forced_places(block),
            bool((block == block.round()).all()),
            float(block.min()),
            float(block.max()),
        )
        for block, end in zip(blocks, ends, strict=True)
    )


def _answers(model: Continuum, positions: Matrix, rng: np.random.Generator) -> list[Matrix]:
    """By block: agents × columns, or data sets × agents × columns for the positions of several data sets."""
    latent = (positions * model.scales) @ model.axes + model.mean
    return [_in_form(latent[..., form.columns], form, rng) for form in model.forms]


def _in_form(latent: Matrix, form: _Form, rng: np.random.Generator) -> Matrix:
    if form.places is not None:
        return ranked(latent, form.places, rng)
    return np.clip(latent.round(), form.low, form.high) if form.whole else latent
