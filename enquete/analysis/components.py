"""Principal components of agents × columns that come in blocks of different kind, such as a sort and axes.

A block with more or livelier columns would rule the components; so each block is centred and divided by its first
singular value, as in multiple factor analysis (Escofier & Pagès 1994). Within a block the columns keep their common
unit: forced sorts share mean and SD, so the squared Euclidean distance between two of them is 2·SS·(1 − r) and
clustering centred sorts is already Q clustering; scaling each column to SD 1 would inflate statements on which all
agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Matrix: TypeAlias = "npt.NDArray[np.float64]"

HELD = 3_000_000  # numbers of drawn data sets that are held at a time, in each of a few copies
NEGLIGIBLE = 1e-9  # singular values below this share of the first are numerical dust


@dataclass(frozen=True)
class Components:
    """explained: share of the variance by component, descending. loadings: columns × components, the correlation of a
    column with a component's scores (0 where the column does not vary). scores: agents × components."""

    explained: Matrix
    loadings: Matrix
    scores: Matrix


def weighted(blocks: Sequence[Matrix]) -> tuple[Matrix, list[float]]:
    """The blocks side by side, each centred and divided by its first singular value; and those values.

    blocks: agents × columns each, without NaN. A block that does not vary stays at 0 and has the value 0.
    Raises ValueError for NaN.
    """
    columns, firsts = _weighted([block[None] for block in blocks])
    return columns[0], firsts[:, 0].tolist()


def weighted_sets(drawn: Iterable[Sequence[Matrix]]) -> Matrix:
    """The columns of `weighted` for each of several data sets: sets × agents × columns."""
    return _weighted([np.stack(block) for block in zip(*drawn, strict=True)])[0]


def _weighted(blocks: Sequence[Matrix]) -> tuple[Matrix, Matrix]:
    """blocks: sets × agents × columns each. The first singular values: blocks × sets."""
    parts, firsts = [], []
    for block in blocks:
        if not np.isfinite(block).all():
            raise ValueError("a block with missing values has no singular values; leave incomplete agents out first")
        centred = block - block.mean(axis=1, keepdims=True) if block.shape[1] else block
        first = np.linalg.svd(centred, compute_uv=False)[:, 0] if centred.size else np.zeros(len(block))
        largest = np.abs(block).max(axis=(1, 2), initial=0.0)
        firsts.append(np.where(first > NEGLIGIBLE * np.maximum(1.0, largest), first, 0.0))
        divisor = firsts[-1][:, None, None]
        parts.append(np.divide(centred, divisor, out=np.zeros_like(centred), where=divisor > 0))
    return np.concatenate(parts, axis=2), np.array(firsts)


def _squares(sets: Matrix) -> Matrix:
    """Squared singular values of each data set, descending: eigenvalues of the smaller of its two products."""
    other = sets.swapaxes(-1, -2)
    products = sets @ other if sets.shape[-2] < sets.shape[-1] else other @ sets
    return np.asarray(np.maximum(np.linalg.eigvalsh(products)[:, ::-1], 0.0))


def principal_components(centred: Matrix) -> Components:
    """Components of a centred matrix by singular value decomposition; none where nothing varies (one or equal agents).

    Signs are fixed: the largest loading of each component is positive.
    """
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    kept = int((s > NEGLIGIBLE * s[0]).sum()) if len(s) and s[0] > NEGLIGIBLE else 0
    scores = u[:, :kept] * s[:kept]
    loadings = _correlations(centred, scores)
    largest = loadings[np.abs(loadings).argmax(axis=0), np.arange(kept)] if kept else np.ones(0)
    signs = np.where(largest < 0, -1.0, 1.0)
    squares = s[:kept] ** 2
    return Components(squares / squares.sum() if kept else squares, loadings * signs, scores * signs)


def _correlations(columns: Matrix, scores: Matrix) -> Matrix:
    lengths = np.outer(np.linalg.norm(columns, axis=0), np.linalg.norm(scores, axis=0))
    products = columns.T @ scores
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > NEGLIGIBLE)


def component_scores(sets: Matrix, most: int) -> Matrix:
    """Scores on the first components of each centred data set, signs as they come: sets × agents × at most `most`."""
    axes = np.linalg.eigh(sets.swapaxes(-1, -2) @ sets).eigenvectors[:, :, ::-1]
    return np.asarray(sets @ axes[:, :, :most])


def explained_by_chance(blocks: Sequence[Matrix], draws: int, seed: int) -> Matrix:
    """Parallel analysis (Horn 1965): the 95th percentile of each component's share when columns are permuted.

    Length: as many components as there may be. Each column is permuted on its own, so its distribution stays and every
    relation between columns goes.
    """
    rng = np.random.default_rng(seed)
    squares = np.concatenate([
        _squares(weighted_sets(permutations(blocks, some, rng))) for some in portions(draws, sum(map(np.size, blocks)))
    ])  # fmt: skip
    total = squares.sum(axis=1, keepdims=True)
    shares = np.divide(squares, total, out=np.zeros_like(squares), where=total > NEGLIGIBLE**2)
    return np.asarray(np.quantile(shares, 0.95, axis=0))


def portions(n: int, size: int) -> list[int]:
    """How many of n data sets of `size` numbers are made at a time, so that HELD numbers are in memory at once."""
    step = max(1, HELD // max(size, 1))
    return [min(step, n - start) for start in range(0, n, step)]


def permutations(blocks: Sequence[Matrix], draws: int, rng: np.random.Generator) -> list[list[Matrix]]:
    """As many data sets with every block `permuted`."""
    return [[permuted(block, rng) for block in blocks] for _ in range(draws)]


def permuted(block: Matrix, rng: np.random.Generator) -> Matrix:
    """Every column in an order of its own: the columns' distributions stay, every relation between columns goes.

    Where all rows are orders of the same values (a forced sort), each row is ranked into those values again, ties at
    random: else the null data would lack what the forcing alone does to distances, and noise would pass for types.
    """
    dealt, places = rng.permuted(block, axis=0), forced_places(block)
    if places is None:
        return dealt
    # Lots below the least step part ties and nothing else, in a third of the time of `ranked`.
    step = np.diff(np.unique(places)).min()
    return _dealt((dealt + step * rng.random(dealt.shape)).argsort(axis=-1), places)


def forced_places(block: Matrix) -> Matrix | None:
    """The values that all rows are orders of (the places of a forced sort), ascending; None where rows are free."""
    values = np.sort(block[0]) if len(block) else np.empty(0)
    if len(values) < 2 or values[0] == values[-1] or not (np.sort(block, axis=1) == values).all():
        return None
    return np.asarray(values)


def ranked(rows: Matrix, values: Matrix, rng: np.random.Generator) -> Matrix:
    """Each row ranked into `values` (ascending), ties at random. Rows may come in stacks."""
    lots, order = rng.random(rows.shape), rows.argsort(axis=-1)
    ascending = np.take_along_axis(rows, order, axis=-1)
    if (ascending[..., 1:] == ascending[..., :-1]).any():
        order = np.lexsort((lots, rows), axis=-1)
    return _dealt(order, values)


def _dealt(order: npt.NDArray[np.int64], values: Matrix) -> Matrix:
    """The values in this order, row by row."""
    dealt = np.empty(order.shape)
    np.put_along_axis(dealt, order, np.broadcast_to(values, dealt.shape), axis=-1)
    return dealt


# --- Data with the covariance of the observed ones and no clusters: what views that differ by degree alone look like
# Columns permuted one by one have no relations at all, so that any gradient beats them. Here the relations stay: agents
# are normally distributed along the observed principal components. Comparing clusters with one normal cloud is the idea
# of SigClust (Liu, Hayes, Nobel & Marron 2008) and of Hennig & Lin (2015).

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
    """mean: columns. axes: components × columns. scales: root sums of squares along them, before answers take form."""

    n: int
    mean: Matrix
    axes: Matrix
    scales: Matrix
    forms: tuple[_Form, ...]


def fitted_continuum(blocks: Sequence[Matrix], rng: np.random.Generator) -> Continuum:
    """The continuum whose answers, brought into form, have the observed mean and variance on each component.

    Ranking into a grid and rounding add noise, and ranking also pushes agents apart along a strong component. A
    continuum with the observed covariance *before* that would be flatter than the data afterwards and lose to every
    gradient. So mean and scales are adjusted until simulated answers have those observed. blocks: agents × columns
    each, without NaN.
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
        simulated = (((drawn - centres) @ model.axes.T) ** 2).sum(axis=1).mean(axis=0)
        if np.abs(simulated / squares - 1).max() < CLOSE:
            break
        ratio = np.sqrt(squares / np.maximum(simulated, NEGLIGIBLE * squares))
        mean = mean + goal - centres.mean(axis=(0, 1))
        scales = model.scales * np.clip(ratio, 1 / STEP, STEP)
        model = Continuum(model.n, mean, model.axes, scales, model.forms)
    return model


def draw_continuum(model: Continuum, rng: np.random.Generator) -> list[Matrix]:
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
