"""Types among agents: k-means with the number of types chosen against chance, and "no typology" as a possible answer.

K-means finds its k clusters in pure noise too. So the silhouette (Rousseeuw 1987) is taken in the full space, the best one
over the numbers of types tried is compared with the best one in data whose columns were permuted within their blocks, and
only a silhouette that chance does not reach makes a typology.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances, silhouette_samples
from sklearn.mixture import GaussianMixture
from threadpoolctl import ThreadpoolController

from enquete.analysis.components import Matrix, permuted, principal_components, weighted

Labels: TypeAlias = "npt.NDArray[np.int64]"

CANDIDATES = (3, 4, 5)
AGENTS_PER_TYPE = 3  # with fewer agents a type, a cluster is a person
DRAWS = 99
EXCEEDANCES = 5  # draws that reach the observed value before the test is over (Besag & Clifford 1991)
ALPHA = 0.01
RESTARTS = 5
RESAMPLES = 50
# Threads cost more than they bring here. Made once, since looking for pools is slow, and after the import of scikit-learn,
# since only pools that are loaded by then are found.
ONE_THREAD = ThreadpoolController()
MOST_COMPARED = 600  # agents among whom k is chosen: the silhouette needs all pairs; of more, a seeded sample


@dataclass(frozen=True)
class Choice:
    """How many types: k (1: none), why in a word, silhouette by k, and the test against chance.

    reason: "typology", "chance" (no better than permuted data), "few" (too few agents), "alike" (too few different ones).
    null: the best silhouettes of the permuted data that were drawn. p is None where nothing was tested.
    """

    k: int
    reason: str
    silhouettes: dict[int, float] = field(default_factory=dict)
    p: float | None = None
    null: tuple[float, ...] = ()
    n_compared: int = 0


@dataclass(frozen=True)
class Stability:
    """Over bootstrap resamples: mean adjusted Rand index with the typology, and each type's mean best Jaccard index
    (Hennig 2007: ≥ .75 stable, < .60 not to be trusted)."""

    ari: float
    jaccard: tuple[float, ...]
    resamples: int


def choose(blocks: Sequence[Matrix], seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> Choice:
    """The number of types among the agents (rows) of `blocks` (agents × columns, without NaN).

    p = (1 + #{null ≥ observed}) / (1 + draws); where EXCEEDANCES null values reach the observed one first, drawing ends and
    p = EXCEEDANCES / draws made. A typology needs p ≤ alpha.
    """
    rng = np.random.default_rng(seed)
    n = len(blocks[0])
    blocks = sampled(blocks, rng)
    tried = [k for k in CANDIDATES if n >= AGENTS_PER_TYPE * k]
    if not tried:
        return Choice(1, "few")
    with ONE_THREAD.limit(limits=1):
        return _chosen(blocks, tried, seed, rng, draws, alpha)


def _chosen(
    blocks: Sequence[Matrix], tried: Sequence[int], seed: int, rng: np.random.Generator, draws: int, alpha: float
) -> Choice:
    found = _silhouettes(weighted(blocks)[0], tried, seed)
    compared = len(blocks[0])
    if not found:
        return Choice(1, "alike", n_compared=compared)
    best = max(found, key=lambda k: (found[k], -k))
    null, p = _tested(blocks, tried, found[best], rng, draws)
    typology = p <= alpha
    return Choice(best if typology else 1, "typology" if typology else "chance", found, p, tuple(null), compared)


def sampled(blocks: Sequence[Matrix], rng: np.random.Generator) -> Sequence[Matrix]:
    """The blocks of at most MOST_COMPARED agents, drawn without replacement and kept in order."""
    n = len(blocks[0])
    if n <= MOST_COMPARED:
        return blocks
    rows = np.sort(rng.choice(n, MOST_COMPARED, replace=False))
    return [block[rows] for block in blocks]


def _tested(
    blocks: Sequence[Matrix], tried: Sequence[int], observed: float, rng: np.random.Generator, draws: int
) -> tuple[list[float], float]:
    null: list[float] = []
    reached = 0
    for draw in range(draws):
        columns = weighted([permuted(block, rng) for block in blocks])[0]
        null.append(max(_silhouettes(columns, tried, draw).values(), default=-1.0))
        reached += null[-1] >= observed
        if reached == EXCEEDANCES:
            return null, reached / len(null)
    return null, (1 + reached) / (1 + draws)


def _silhouettes(columns: Matrix, tried: Sequence[int], seed: int) -> dict[int, float]:
    """Mean silhouette by number of clusters, over Euclidean distances; only for numbers below that of different agents."""
    different = len(np.unique(columns.round(9), axis=0))
    possible = [k for k in tried if k < different]
    if not possible:
        return {}
    distances = pairwise_distances(columns)
    np.fill_diagonal(distances, 0.0)
    return {
        k: float(silhouette_samples(distances, clusters(columns, k, seed), metric="precomputed").mean())
        for k in possible
    }


def clusters(columns: Matrix, k: int, seed: int) -> Labels:
    """k-means labels 0 … k − 1, the largest cluster first and of equal ones that of the earliest agent."""
    return _labelled(_fitted(columns, k, seed), columns)


def _fitted(columns: Matrix, k: int, seed: int) -> KMeans:
    with ONE_THREAD.limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # fewer different agents than clusters: caught by the callers
        return KMeans(k, n_init=RESTARTS, random_state=seed % 2**32).fit(columns)


def _labelled(model: KMeans, columns: Matrix) -> Labels:
    raw = np.asarray(model.labels_)
    order = sorted(set(raw.tolist()), key=lambda label: (-int((raw == label).sum()), int((raw == label).argmax())))
    places = {label: place for place, label in enumerate(order)}
    return np.array([places[label] for label in raw.tolist()], dtype=np.int64)


def agent_silhouettes(columns: Matrix, labels: Labels, seed: int) -> Matrix:
    """How well each agent sits in its type, −1 … 1; for agents beyond MOST_COMPARED against a seeded sample of others."""
    if len(columns) <= MOST_COMPARED:
        return np.asarray(silhouette_samples(columns, labels))
    rows = np.random.default_rng(seed).choice(len(columns), MOST_COMPARED, replace=False)
    distances = pairwise_distances(columns, columns[rows])
    means = np.stack([distances[:, labels[rows] == label].mean(axis=1) for label in range(labels.max() + 1)], axis=1)
    own = means[np.arange(len(columns)), labels]
    means[np.arange(len(columns)), labels] = np.inf
    other = means.min(axis=1)
    return np.asarray((other - own) / np.maximum(own, other))


def stability(columns: Matrix, labels: Labels, seed: int, resamples: int = RESAMPLES) -> Stability:
    """Refit on agents drawn with replacement, assign all agents, compare."""
    rng = np.random.default_rng(seed)
    k = int(labels.max()) + 1
    rands, jaccards = [], []
    for draw in range(resamples):
        rows = rng.integers(0, len(columns), len(columns))
        if len(np.unique(columns[rows].round(9), axis=0)) < k:
            continue
        again = np.asarray(_fitted(columns[rows], k, draw).predict(columns))
        rands.append(float(adjusted_rand_score(labels, again)))
        jaccards.append([max(_jaccard(labels == a, again == b) for b in range(k)) for a in range(k)])
    if not rands:
        return Stability(0.0, (0.0,) * k, 0)
    return Stability(float(np.mean(rands)), tuple(float(x) for x in np.mean(jaccards, axis=0)), len(rands))


def _jaccard(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> float:
    return float((a & b).sum() / max(1, (a | b).sum()))


@dataclass(frozen=True)
class Memberships:
    """probabilities: agents × types, or None with the reason: "few" agents for the parameters, "flat", "diverged"."""

    probabilities: Matrix | None
    reason: str = ""
    components: int = 0


def memberships(columns: Matrix, labels: Labels, seed: int) -> Memberships:
    """Probability of each type for each agent, by a Gaussian mixture with one covariance for all types (tied) on the
    first principal components: as many as there are types less one, for k means span no more.

    A full covariance by type would be singular with a handful of agents a type. The mixture starts at the means of the types
    and its components are matched to them afterwards (Kuhn 1955).
    """
    k = int(labels.max()) + 1
    scores = principal_components(columns).scores[:, : k - 1]
    size = scores.shape[1]
    parameters = k * size + size * (size + 1) // 2 + k - 1
    if size == 0:
        return Memberships(None, "flat")
    if scores.size < 2 * parameters:
        return Memberships(None, "few", size)
    scaled = scores / scores[:, 0].std()
    means = np.stack([scaled[labels == label].mean(axis=0) for label in range(k)])
    found = _mixture(scaled, means, seed)
    if found is None:
        return Memberships(None, "diverged", size)
    agreement = np.array([[(found.argmax(axis=1)[labels == a] == b).sum() for b in range(k)] for a in range(k)])
    return Memberships(found[:, linear_sum_assignment(-agreement)[1]], "", size)


def _mixture(scores: Matrix, means: Matrix, seed: int) -> Matrix | None:
    model = GaussianMixture(
        len(means), covariance_type="tied", means_init=means, random_state=seed % 2**32, max_iter=500, reg_covar=1e-3
    )
    with ONE_THREAD.limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return np.asarray(model.fit(scores).predict_proba(scores))
        except ConvergenceWarning:
            return None
