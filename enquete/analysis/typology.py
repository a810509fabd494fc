"""Types of agents: clusters, how many there are, and whether they are clearer than unrelated answers would give."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from enquete.analysis.components import (
    Matrix,
    permutations,
    portions,
    principal_components,
    weighted,
    weighted_sets,
)
from enquete.analysis.estimates import MOST_COMPARED

Labels: TypeAlias = "npt.NDArray[np.int64]"

STEPS = 10  # of k-means after its start; among some hundred agents it rests sooner
HELD = 500_000  # distances that are held at a time


def sampled(blocks: Sequence[Matrix], rng: np.random.Generator) -> Sequence[Matrix]:
    """The blocks of at most MOST_COMPARED agents, drawn without replacement and kept in order."""
    n = len(blocks[0])
    if n <= MOST_COMPARED:
        return blocks
    rows = np.sort(rng.choice(n, MOST_COMPARED, replace=False))
    return [block[rows] for block in blocks]


def different(columns: Matrix) -> int:
    """How many agents differ from each other."""
    same = np.ascontiguousarray(columns.round(9) + 0.0)  # without −0, so that equal rows are equal bytes
    return len({row.tobytes() for row in same})


def clusters(columns: Matrix, k: int, seed: int) -> Labels:
    """k-means labels 0 … k − 1, the largest cluster first and of equal ones that of the earliest agent."""
    return by_size(nearest(columns[None], centres(columns[None], [k], [seed])[0])[0])


def partitions(sets: Matrix, pairs: Matrix, numbers: Sequence[int]) -> list[Labels]:
    """Labels (data sets × agents) for each number of clusters; a cluster may have lost all its agents."""
    return [nearest(sets, centre) for centre in _centres(sets, sets, pairs, numbers)]


def pairs_of(sets: Matrix) -> Matrix:
    """Distances between agents, each pair once: data sets × pairs."""
    return np.stack([scipy.spatial.distance.pdist(columns) for columns in sets])


def centres(sets: Matrix, numbers: Sequence[int], seeds: Sequence[int]) -> list[Matrix]:
    """Centres (data sets × clusters × columns) for each number of clusters. Beyond MOST_COMPARED agents a tree is one
    of a sample by the data set's own seed."""
    starts = np.stack([sampled([columns], np.random.default_rng(s))[0] for columns, s in zip(sets, seeds, strict=True)])
    return _centres(sets, starts, pairs_of(starts), numbers)


def _centres(sets: Matrix, starts: Matrix, pairs: Matrix, numbers: Sequence[int]) -> list[Matrix]:
    trees = np.stack([scipy.cluster.hierarchy.linkage(row, "ward")[:, :2] for row in pairs]).astype(np.int64)
    return [_k_means(sets, _means(starts, _cut(trees, k), np.zeros((len(sets), k, sets.shape[2])))) for k in numbers]


def _cut(trees: Labels, k: int) -> Labels:
    """k clusters: each agent follows its merges upwards, up to the last one but k − 1."""
    sets, merges = trees.shape[:2]
    n = merges + 1
    above = np.tile(np.arange(2 * n - 1), (sets, 1))
    made = np.arange(n, 2 * n - 1)
    for side in (0, 1):
        np.put_along_axis(above, trees[:, :, side], np.broadcast_to(made, (sets, merges)), axis=1)
    above = np.where(above < 2 * n - k, above, np.arange(2 * n - 1))
    for _ in range(n.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    top = np.zeros_like(above, dtype=bool)
    np.put_along_axis(top, above[:, :n], True, axis=1)
    return np.take_along_axis(top.cumsum(axis=1) - 1, above[:, :n], axis=1)


def _k_means(sets: Matrix, start: Matrix) -> Matrix:
    """Lloyd's steps from `start`; a cluster that loses all its agents keeps its centre."""
    centre = start
    before: Labels | None = None
    for _ in range(STEPS):
        labels = nearest(sets, centre)
        if before is not None and np.array_equal(labels, before):
            break
        centre, before = _means(sets, labels, centre), labels
    return centre


def nearest(sets: Matrix, centre: Matrix) -> Labels:
    """The cluster whose centre is nearest to each agent."""
    gap = (centre**2).sum(axis=-1)[:, None, :] - 2 * (sets @ centre.swapaxes(-1, -2))
    return np.asarray(gap.argmin(axis=-1), dtype=np.int64)


def _means(sets: Matrix, labels: Labels, empty: Matrix) -> Matrix:
    """Means by cluster; that of a cluster without agents is `empty`."""
    member = memberships_of(labels, empty.shape[1])
    size = member.sum(axis=1)[..., None]
    return np.asarray(np.where(size > 0, member.swapaxes(-1, -2) @ sets / np.maximum(size, 1), empty))


def memberships_of(labels: Labels, k: int) -> Matrix:
    """1 where an agent is in a cluster: … × agents × clusters."""
    return np.asarray(labels[..., None] == np.arange(k), dtype=np.float64)


def by_size(raw: Labels) -> Labels:
    """The same groups, numbered by size and then by their first agent."""
    order = sorted(set(raw.tolist()), key=lambda label: (-int((raw == label).sum()), int((raw == label).argmax())))
    places = {label: place for place, label in enumerate(order)}
    return np.array([places[label] for label in raw.tolist()], dtype=np.int64)


def separation(sets: Matrix, numbers: Sequence[int]) -> Matrix:
    """Return mean silhouettes of k-means, data sets × numbers of clusters.

    A cell is −1 where no more than that number of agents differ from each other.
    """
    portions_of_sets = _portions(len(sets), sets.shape[1] ** 2)
    return np.concatenate([_separation(sets[rows], numbers) for rows in portions_of_sets])


def _portions(n: int, size: int) -> Iterator[slice]:
    step = max(1, HELD // max(size, 1))
    return (slice(start, start + step) for start in range(0, n, step))


def _separation(sets: Matrix, numbers: Sequence[int]) -> Matrix:
    pairs = pairs_of(sets)
    distances = np.stack([scipy.spatial.distance.squareform(row) for row in pairs.astype(np.float32)])
    possible = np.array([different(columns) for columns in sets])[:, None] > np.array(numbers)
    means = [silhouettes(distances, labels).mean(axis=1) for labels in partitions(sets, pairs, numbers)]
    return np.where(possible, np.stack(means, axis=1), -1.0)


def silhouettes(distances: npt.NDArray[np.floating], labels: Labels) -> Matrix:
    """Return each agent's silhouette from distances of all to all; 0 for an agent alone in its cluster (Rousseeuw).

    Of one data set, or of a stack of them: the null of `choose` has 14,000 partitions, of which each would take
    scikit-learn's silhouette_samples, and its KMeans, some milliseconds for checks alone. Both agree with these
    (tests/analysis/test_clustering.py).
    """
    member = memberships_of(labels, int(labels.max()) + 1).astype(distances.dtype, copy=False)
    sizes = member.sum(axis=-2, keepdims=True)
    sums = distances @ member
    size = (member @ sizes.swapaxes(-1, -2))[..., 0]
    a = (sums * member).sum(axis=-1) / np.maximum(size - 1, 1)
    means = np.where((member > 0) | (sizes == 0), np.inf, sums / np.maximum(sizes, 1))
    b = means.min(axis=-1)
    largest = np.maximum(a, b)
    usable = (size > 1) & np.isfinite(b) & (largest > 0)
    return np.asarray(np.divide(b - a, largest, out=np.zeros(labels.shape), where=usable))


def agent_silhouettes(columns: Matrix, labels: Labels, seed: int) -> Matrix:
    """How well each agent sits in its type, −1 … 1; beyond MOST_COMPARED agents against a seeded sample."""
    if len(columns) <= MOST_COMPARED:
        from sklearn.metrics import silhouette_samples  # noqa: PLC0415 - takes a second, which most commands save

        return np.asarray(silhouette_samples(columns, labels))
    rows = np.random.default_rng(seed).choice(len(columns), MOST_COMPARED, replace=False)
    distances = scipy.spatial.distance.cdist(columns, columns[rows])
    means = np.stack([distances[:, labels[rows] == label].mean(axis=1) for label in range(labels.max() + 1)], axis=1)
    a = means[np.arange(len(columns)), labels]
    means[np.arange(len(columns)), labels] = np.inf
    b = means.min(axis=1)
    return np.asarray((b - a) / np.maximum(a, b))


# --- Types among agents: how many, tested against chance, with "no types" as a possible answer
# K-means finds its k clusters in pure noise, too. So there are types only where the clusters are clearer than in data
# whose columns were permuted within their blocks, and come back in bootstrap samples (Hennig 2007). Both hold of a
# gradient as well, which k-means cuts into stretches: what is told of types must not say that there are gaps between
# them.

CANDIDATES = tuple(range(2, 9))
AGENTS_PER_TYPE = 3  # with fewer agents a type, a cluster is a person
# Types are nowhere near the level: what is there at all is far beyond permuted columns. The smallest p is ALPHA, and
# with 99 draws the test has that level exactly (Barnard 1963).
DRAWS = 99
# Of what passes, as many more as make a p that can pass a correction over the tests of a page.
MOST_DRAWS = 1_999
VALUES_DRAWN = 10_000_000  # draws × agents × columns at most
EXCEEDANCES = 5  # draws that reach the observed value before the test is over (Besag & Clifford 1991)
AT_A_TIME = 10  # null data sets that are clustered together at first; then twice as many each time
ALPHA = 0.01
RESAMPLES = 50
MOST_STEPS, TOLERANCE = 500, 1e-6  # of the mixture; mean log-likelihood
RIDGE = 1e-3  # of the variance of the first component, added to each
UNSTABLE = 0.60  # mean Jaccard index of a type below which it is not to be trusted (Hennig 2007)


@dataclass(frozen=True)
class TypeChoice:
    """How many types: k (1: none), why in a word, mean silhouette by k, and the test.

    reason: "typology", "chance" (no better than permuted data), "unstable" (clusters that bootstrap samples do not
    find again), "few" (too few agents), "alike" (too few different ones).
    null: the best silhouettes of the permuted data that were drawn. p is None where nothing was tested. candidate: the
    k that was tested for stability, None before that.
    """

    k: int
    reason: str
    silhouettes: dict[int, float] = field(default_factory=dict)
    p: float | None = None
    null: tuple[float, ...] = ()
    n_compared: int = 0
    candidate: int | None = None

    @property
    def at_the_edge(self) -> bool:
        """Whether k is the largest number tried, so that there may be more. At 2 there is no edge: 1 was tested."""
        return self.k > 1 and self.k == max(self.silhouettes)


@dataclass(frozen=True)
class TypeStability:
    """Over bootstrap resamples: mean adjusted Rand index with the typology, and each type's mean best Jaccard index
    (Hennig 2007: ≥ .75 stable, < .60 not to be trusted)."""

    ari: float
    jaccard: tuple[float, ...]
    resamples: int


@dataclass(frozen=True)
class Types:
    """labels: the type of each agent, None without types. stability: None where clusters did not get so far."""

    choice: TypeChoice
    labels: Labels | None = None
    stability: TypeStability | None = None


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


def choose(blocks: Sequence[Matrix], seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> TypeChoice:
    """Return the number of types among the agents (rows) of `blocks` (agents × columns, no NaN), stability aside.

    The number is the one with the largest mean silhouette (Rousseeuw 1987). It is tested against independence:
    p = (1 + #{null ≥ observed}) / (1 + draws) of the largest silhouette. Where EXCEEDANCES null values reach the
    observed one first, drawing ends and p = EXCEEDANCES / draws made. Where p ≤ alpha, up to MOST_DRAWS are drawn, so
    that p can pass a correction over the tests of a page.
    """
    rng = np.random.default_rng(seed)
    n = len(blocks[0])
    blocks = sampled(blocks, rng)
    tried = [k for k in CANDIDATES if n >= AGENTS_PER_TYPE * k]
    if not tried:
        return TypeChoice(1, "few")
    columns, compared = weighted(blocks)[0], len(blocks[0])
    tried = [k for k in tried if k < different(columns)]
    if not tried:
        return TypeChoice(1, "alike", n_compared=compared)

    observed = separation(columns[None], tried)[0]
    largest = float(observed.max())
    null, p = _against_chance(blocks, tried, largest, rng, draws)
    choice = TypeChoice(1, "chance", dict(zip(tried, observed.tolist(), strict=True)), p, tuple(null), compared)
    if p > alpha:
        return choice

    more = min(MOST_DRAWS, VALUES_DRAWN // columns.size) - draws
    if draws == DRAWS and more > 0:
        further, _ = _against_chance(blocks, tried, largest, rng, more)
        null += further
    p = (1 + sum(value >= largest for value in null)) / (1 + len(null))
    best = tried[int(observed.argmax())]
    return replace(choice, k=best, reason="typology", candidate=best, p=p, null=tuple(null))


def _against_chance(
    blocks: Sequence[Matrix], tried: Sequence[int], observed: float, rng: np.random.Generator, draws: int
) -> tuple[list[float], float]:
    null: list[float] = []
    while len(null) < draws:
        drawn = permutations(blocks, min(draws - len(null), AT_A_TIME + len(null)), rng)
        null += separation(weighted_sets(drawn), tried).max(axis=1).tolist()
        reached = np.flatnonzero(np.array(null) >= observed) + 1
        if len(reached) >= EXCEEDANCES:
            enough = int(reached[EXCEEDANCES - 1])
            return null[:enough], EXCEEDANCES / enough
    return null, (1 + len(reached)) / (1 + draws)


def stability(columns: Matrix, labels: Labels, seed: int, resamples: int = RESAMPLES) -> TypeStability:
    """Refit on agents drawn with replacement, assign all agents, compare."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415 - likewise

    rng = np.random.default_rng(seed)
    k, n = int(labels.max()) + 1, len(columns)
    before, sizes, shared, rand = memberships_of(labels, k), [], [], []
    made = 0
    for some in portions(resamples, columns.size):
        drawn = rng.integers(0, n, (some, n))
        usable = [place for place, rows in enumerate(drawn) if different(columns[rows]) >= k]
        if usable:
            (again_at,) = centres(columns[drawn[usable]], [k], [made + place for place in usable])
            again = nearest(columns[None], again_at)
            after = memberships_of(again, k)
            shared.append(before.T @ after)
            sizes.append(after.sum(axis=1))
            rand += [adjusted_rand_score(labels, relabelled) for relabelled in again]
        made += some
    if not rand:
        return TypeStability(0.0, (0.0,) * k, 0)
    both = np.concatenate(shared)
    jaccard = both / np.maximum(before.sum(axis=0)[:, None] + np.concatenate(sizes)[:, None, :] - both, 1)
    return TypeStability(float(np.mean(rand)), tuple(jaccard.max(axis=2).mean(axis=0).tolist()), len(rand))


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
    probabilities = _mixture(scores / scores[:, 0].std(), labels)
    if probabilities is None:
        return Memberships(None, "diverged", size)
    agreement = np.array([[(probabilities.argmax(axis=1)[labels == a] == b).sum() for b in range(k)] for a in range(k)])
    return Memberships(probabilities[:, scipy.optimize.linear_sum_assignment(-agreement)[1]], "", size)


def _mixture(scores: Matrix, labels: Labels) -> Matrix | None:
    """Return posterior probabilities by scikit-learn's GaussianMixture, begun at the types.

    RIDGE keeps the covariance regular. None where the likelihood does not come to rest within MOST_STEPS.
    """
    from sklearn.mixture import GaussianMixture  # noqa: PLC0415 - likewise

    inside = memberships_of(labels, int(labels.max()) + 1)
    sizes = inside.sum(axis=0)
    means = inside.T @ scores / sizes[:, None]
    deviations = scores - means[labels]
    covariance = deviations.T @ deviations / len(scores) + RIDGE * np.eye(scores.shape[1])
    mixture = GaussianMixture(
        len(sizes), covariance_type="tied", reg_covar=RIDGE, tol=TOLERANCE, max_iter=MOST_STEPS,
        weights_init=sizes / len(scores), means_init=means, precisions_init=np.linalg.inv(covariance),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not come to rest is told by `converged_`
        mixture.fit(scores)
    return np.asarray(mixture.predict_proba(scores)) if mixture.converged_ else None
