"""Types among agents: how many, tested against chance and against a continuum, with "no types" as a possible answer.

K-means finds its k clusters in pure noise and along any gradient too. So two null hypotheses have to fall before there are
types. Independence: columns permuted within their blocks; only what beats it has any structure. Continuum: agents normally
distributed along the observed components; only what beats that too comes in clusters. And types have to come back in
bootstrap samples (Hennig 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from enquete.analysis.permutation import tail_p
from enquete.analysis.typology import continuum
from enquete.analysis.typology.clustering import (
    Labels,
    Separation,
    adjusted_rand,
    centres,
    clusters,
    different,
    memberships_of,
    nearest,
    sampled,
    separation,
)
from enquete.analysis.typology.components import (
    Matrix,
    permutations,
    principal_components,
    weighted,
    weighted_sets,
)

CANDIDATES = tuple(range(2, 9))
AGENTS_PER_TYPE = 3  # with fewer agents a type, a cluster is a person
# Against a continuum: the smallest p, .005, lies below ALPHA, so that one draw may reach the observed value.
DRAWS = 199
# Against independence, where types are nowhere near the level: what beats a continuum is far beyond permuted columns. The
# smallest p is ALPHA, and with 99 draws the test has that level exactly (Barnard 1963).
CHANCE_DRAWS = 99
EXCEEDANCES = 5  # draws that reach the observed value before the test is over (Besag & Clifford 1991)
AT_A_TIME = 10  # null data sets that are clustered together at first; then twice as many each time
FIRST_DRAWS = 19  # against a continuum: enough to see that there is no hope
ALPHA = 0.01
# Of the silhouette over a continuum's: with many agents a test also finds out that a gradient is not quite normal.
LEAST_EXCESS = 0.07
RESAMPLES = 50
MOST_STEPS, TOLERANCE = 500, 1e-6  # of the mixture; mean log-likelihood
RIDGE = 1e-3  # of the variance of the first component, added to each
UNSTABLE = 0.60  # mean Jaccard index of a type below which it is not to be trusted (Hennig 2007)


@dataclass(frozen=True)
class Continuity:
    """The test against a continuum. expected: mean silhouette there, by number of clusters. excess: by how much the observed
    silhouette exceeds it, mean of the full space and the reduced one (see `clustering.Separation`)."""

    p: float
    tail: float  # the same where draws end, by the fitted tail of the draws; it decides nothing here
    draws: int
    expected: dict[int, float]
    excess: dict[int, float]


@dataclass(frozen=True)
class Choice:
    """How many types: k (1: none), why in a word, mean silhouette by k, and the tests.

    reason: "typology", "chance" (no better than permuted data), "continuum" (better, but no clusters), "unstable" (clusters
    that bootstrap samples do not find again), "few" (too few agents), "alike" (too few different ones).
    null: the best silhouettes of the permuted data that were drawn. p is None where nothing was tested. candidate: the k that
    was tested for stability, None before that.
    """

    k: int
    reason: str
    silhouettes: dict[int, float] = field(default_factory=dict)
    p: float | None = None
    null: tuple[float, ...] = ()
    n_compared: int = 0
    continuity: Continuity | None = None
    candidate: int | None = None

    @property
    def at_the_edge(self) -> bool:
        """Whether k is the largest number tried, so that there may be more types. At 2 there is no edge: 1 was tested."""
        return self.k > 1 and self.k == max(self.silhouettes)


@dataclass(frozen=True)
class Stability:
    """Over bootstrap resamples: mean adjusted Rand index with the typology, and each type's mean best Jaccard index
    (Hennig 2007: ≥ .75 stable, < .60 not to be trusted)."""

    ari: float
    jaccard: tuple[float, ...]
    resamples: int


@dataclass(frozen=True)
class Types:
    """labels: the type of each agent, None without types. stability: None where clusters did not get so far."""

    choice: Choice
    labels: Labels | None = None
    stability: Stability | None = None


def types(blocks: Sequence[Matrix], seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> Types:
    """The types among the agents (rows) of `blocks`, as `choose` finds them and only if each of them is stable."""
    choice = choose(blocks, seed, draws=draws, alpha=alpha)
    if choice.k == 1:
        return Types(choice)
    columns = weighted(blocks)[0]
    labels = clusters(columns, choice.k, seed)
    firm = stability(columns, labels, seed)
    if min(firm.jaccard) < UNSTABLE:
        return Types(replace(choice, k=1, reason="unstable"), None, firm)
    return Types(choice, labels, firm)


def choose(blocks: Sequence[Matrix], seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> Choice:
    """The number of types among the agents (rows) of `blocks` (agents × columns, without NaN), stability aside.

    Against independence: p = (1 + #{null ≥ observed}) / (1 + draws) of the largest silhouette; where EXCEEDANCES null values
    reach the observed one first, drawing ends and p = EXCEEDANCES / draws made. Against a continuum: see `_against_continuum`.
    A typology needs p ≤ alpha in both. k is the number whose silhouette exceeds that of the continuum most, by LEAST_EXCESS
    at least: the silhouette alone prefers two where two of three types are close (compare Hennig & Lin 2015).
    """
    rng = np.random.default_rng(seed)
    n = len(blocks[0])
    blocks = sampled(blocks, rng)
    tried = [k for k in CANDIDATES if n >= AGENTS_PER_TYPE * k]
    if not tried:
        return Choice(1, "few")
    return _chosen(blocks, tried, rng, draws, alpha)


def _chosen(
    blocks: Sequence[Matrix], tried: Sequence[int], rng: np.random.Generator, draws: int, alpha: float
) -> Choice:
    columns, compared = weighted(blocks)[0], len(blocks[0])
    tried = [k for k in tried if k < different(columns)]
    if not tried:
        return Choice(1, "alike", n_compared=compared)
    found = separation(columns[None], tried)
    null, p = _against_chance(blocks, tried, float(found.full.max()), rng, min(draws, CHANCE_DRAWS))
    choice = Choice(1, "chance", dict(zip(tried, found.full[0].tolist(), strict=True)), p, tuple(null), compared)
    if p > alpha:
        return choice
    continuity = _against_continuum(blocks, tried, found, rng, draws)
    choice = replace(choice, reason="continuum", continuity=continuity)
    best = max(tried, key=lambda k: (continuity.excess[k], -k))
    if continuity.p > alpha or continuity.excess[best] < LEAST_EXCESS:
        return choice
    return replace(choice, k=best, reason="typology", candidate=best)


def _against_chance(
    blocks: Sequence[Matrix], tried: Sequence[int], observed: float, rng: np.random.Generator, draws: int
) -> tuple[list[float], float]:
    null: list[float] = []
    while len(null) < draws:
        drawn = permutations(blocks, min(draws - len(null), AT_A_TIME + len(null)), rng)
        null += separation(weighted_sets(drawn), tried, reduced=False).full.max(axis=1).tolist()
        reached = np.flatnonzero(np.array(null) >= observed) + 1
        if len(reached) >= EXCEEDANCES:
            enough = int(reached[EXCEEDANCES - 1])
            return null[:enough], EXCEEDANCES / enough
    return null, (1 + len(reached)) / (1 + draws)


def _against_continuum(
    blocks: Sequence[Matrix], tried: Sequence[int], found: Separation, rng: np.random.Generator, draws: int
) -> Continuity:
    """p = (1 + #{null ≥ observed}) / (1 + draws) of the largest standardised silhouette over the numbers of clusters.

    Silhouettes over the first k − 1 components, where a gap between types is not drowned by the columns that all share; each
    standardised over all data sets, the observed one among them, so that they stay exchangeable and the p-value exact for a
    continuum of this kind (Westfall & Young 1993). Where EXCEEDANCES of the first draws reach the observed one, it ends there:
    that can only keep a p-value above alpha.
    """
    model = continuum.fitted(blocks, rng)
    full, together = np.empty((0, len(tried))), found.reduced
    for upto in (min(FIRST_DRAWS, draws), draws):
        drawn = [continuum.draw(model, rng) for _ in range(len(full), upto)]
        if drawn:
            null = separation(weighted_sets(drawn), tried)
            full, together = np.vstack([full, null.full]), np.vstack([together, null.reduced])
        largest = _largest(together)
        reached = int((largest[1:] >= largest[0]).sum())
        if reached >= EXCEEDANCES:
            break
    expected = full.mean(axis=0)
    excess = (found.full[0] - expected + together[0] - together[1:].mean(axis=0)) / 2
    by_k = [dict(zip(tried, values.tolist(), strict=True)) for values in (expected, excess)]
    tail = tail_p(float(largest[0]), largest[1:])
    return Continuity((1 + reached) / (1 + len(full)), tail, len(full), *by_k)


def _largest(together: Matrix) -> Matrix:
    """The largest standardised value of each row."""
    spread = together.std(axis=0)
    return np.asarray(((together - together.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1))


def stability(columns: Matrix, labels: Labels, seed: int, resamples: int = RESAMPLES) -> Stability:
    """Refit on agents drawn with replacement, assign all agents, compare."""
    rng = np.random.default_rng(seed)
    k = int(labels.max()) + 1
    drawn = rng.integers(0, len(columns), (resamples, len(columns)))
    usable = [made for made, rows in enumerate(drawn) if different(columns[rows]) >= k]
    if not usable:
        return Stability(0.0, (0.0,) * k, 0)
    (again_at,) = centres(columns[drawn[usable]], [k], usable)
    again = nearest(columns[None], again_at)
    own, found = memberships_of(labels, k), memberships_of(again, k)
    shared = own.T @ found
    jaccard = shared / np.maximum(own.sum(axis=0)[:, None] + found.sum(axis=1)[:, None, :] - shared, 1)
    rand = float(np.mean([adjusted_rand(labels, one) for one in again]))
    return Stability(rand, tuple(jaccard.max(axis=2).mean(axis=0).tolist()), len(usable))


@dataclass(frozen=True)
class Memberships:
    """probabilities: agents × types, or None with the reason: "few" agents for the parameters, "flat", "diverged"."""

    probabilities: Matrix | None
    reason: str = ""
    components: int = 0


def memberships(columns: Matrix, labels: Labels) -> Memberships:
    """Probability of each type for each agent, by a Gaussian mixture with one covariance for all types (tied) on the
    first principal components: as many as there are types less one, for k means span no more.

    A full covariance by type would be singular with a handful of agents a type. The mixture starts at the types,
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
    found = _mixture(scaled, labels)
    if found is None:
        return Memberships(None, "diverged", size)
    agreement = np.array([[(found.argmax(axis=1)[labels == a] == b).sum() for b in range(k)] for a in range(k)])
    return Memberships(found[:, scipy.optimize.linear_sum_assignment(-agreement)[1]], "", size)


def _mixture(scores: Matrix, labels: Labels) -> Matrix | None:
    """Posterior probabilities by expectation–maximisation, begun at the types; None where it does not come to rest.

    π_k φ(x; μ_k, Σ) / Σ_j π_j φ(x; μ_j, Σ), at rest when the mean log-likelihood changes by less than TOLERANCE; RIDGE keeps Σ
    regular (Hastie, Tibshirani & Friedman 2009, 8.5). As scikit-learn's GaussianMixture, whose import alone takes longer.
    """
    inside, likelihood = memberships_of(labels, int(labels.max()) + 1), -np.inf
    for _ in range(MOST_STEPS):
        sizes = np.maximum(inside.sum(axis=0), np.finfo(float).tiny)
        means = inside.T @ scores / sizes[:, None]
        covariance = (scores.T @ scores - (means.T * sizes) @ means) / len(scores) + RIDGE * np.eye(scores.shape[1])
        root = np.linalg.cholesky(np.linalg.inv(covariance))
        apart = ((scores @ root)[:, None, :] - means @ root) ** 2
        logs = np.log(sizes / len(scores)) - apart.sum(axis=2) / 2 + np.log(np.diag(root)).sum()
        together = np.logaddexp.reduce(logs, axis=1)
        inside, before, likelihood = np.exp(logs - together[:, None]), likelihood, float(together.mean())
        if abs(likelihood - before) < TOLERANCE:
            return np.asarray(inside)
    return None
