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
    """Return the components of a centred matrix; none where nothing varies (one or equal agents).

    By scikit-learn's PCA. Signs are fixed: the largest loading of each component is positive.
    """
    from sklearn.decomposition import PCA  # noqa: PLC0415 - takes a second, which most commands save

    if len(centred) < 2 or np.abs(centred).max(initial=0.0) <= NEGLIGIBLE:
        nothing = np.empty(0)
        return Components(nothing, np.empty((centred.shape[1], 0)), np.empty((len(centred), 0)))
    pca = PCA(svd_solver="full")
    scores = pca.fit_transform(centred)
    kept = int((pca.singular_values_ > NEGLIGIBLE * pca.singular_values_[0]).sum())
    scores, explained = scores[:, :kept], pca.explained_variance_ratio_[:kept]
    loadings = _correlations(centred, scores)
    largest = loadings[np.abs(loadings).argmax(axis=0), np.arange(kept)]
    signs = np.where(largest < 0, -1.0, 1.0)
    return Components(explained, loadings * signs, scores * signs)


def _correlations(columns: Matrix, scores: Matrix) -> Matrix:
    lengths = np.outer(np.linalg.norm(columns, axis=0), np.linalg.norm(scores, axis=0))
    products = columns.T @ scores
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > NEGLIGIBLE)


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
    # Lots below the least step part ties and nothing else.
    step = np.diff(np.unique(places)).min()
    return _dealt((dealt + step * rng.random(dealt.shape)).argsort(axis=-1), places)


def forced_places(block: Matrix) -> Matrix | None:
    """The values that all rows are orders of (the places of a forced sort), ascending; None where rows are free."""
    values = np.sort(block[0]) if len(block) else np.empty(0)
    if len(values) < 2 or values[0] == values[-1] or not (np.sort(block, axis=1) == values).all():
        return None
    return np.asarray(values)


def _dealt(order: npt.NDArray[np.int64], values: Matrix) -> Matrix:
    """The values in this order, row by row."""
    dealt = np.empty(order.shape)
    np.put_along_axis(dealt, order, np.broadcast_to(values, dealt.shape), axis=-1)
    return dealt
