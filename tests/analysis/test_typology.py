"""Types: found where they were planted, none in noise; stability and membership on clouds far apart and close by."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from enquete.analysis.components import Matrix, principal_components, weighted
from enquete.analysis.estimates import MOST_COMPARED
from enquete.analysis.qmethod import places
from enquete.analysis.typology import (
    UNSTABLE,
    agent_silhouettes,
    choose,
    clusters,
    memberships,
    stability,
    types,
)
from tests.analysis.planted_sorts import continuum, mixed, planted

PLACES = places({-3: 2, -2: 3, -1: 4, 0: 6, 1: 4, 2: 3, 3: 2})


def noise(agents: int, seed: int, popularity: float = 0.0) -> list[Matrix]:
    """Sorts around one common view of the statements (popularity: its SD in units of the agents' own), random axes."""
    rng = np.random.default_rng(seed)
    views = popularity * rng.normal(size=24) + rng.normal(size=(agents, 24))
    sorts = PLACES[views.argsort(axis=1).argsort(axis=1)]
    return [sorts, np.clip(np.round(4 + 1.3 * rng.normal(size=(agents, 6))), 1, 7)]


def clouds(agents: int, k: int, distance: float, seed: int = 0) -> tuple[list[Matrix], np.ndarray]:
    """Corners of a simplex, `distance` SDs from the centre, in both blocks."""
    rng = np.random.default_rng(seed)
    label = np.arange(agents) % k
    return [distance * np.eye(width)[label] + rng.normal(size=(agents, width)) for width in (10, 8)], label


def test_no_typology_in_noise() -> None:
    """The test's level is .01: more than one of 8 seeds is taken in with probability .003. Half of them share a view of
    the statements."""
    numbers = [choose(noise(50, seed, popularity=seed % 2), seed).k for seed in range(8)]
    assert sum(k > 1 for k in numbers) <= 1


@pytest.mark.parametrize("k", [2, 5, 8])
def test_types_far_apart_are_found(k: int) -> None:
    blocks, truth = clouds(48, k, 8.0)
    choice = choose(blocks, 0)
    assert (choice.k, choice.reason, choice.p) == (k, "typology", 1 / 2_000)  # the floor of 1,999 draws
    assert adjusted_rand_score(truth, clusters(weighted(blocks)[0], k, 0)) == 1


def test_few_or_equal_agents_have_no_typology() -> None:
    assert choose(noise(5, 0), 0).reason == "few"
    equal = choose([np.ones((20, 4)), np.ones((20, 2))], 0)
    assert (equal.k, equal.reason, equal.p, equal.null) == (1, "alike", None, ())
    assert choose([np.repeat(np.eye(2), 10, axis=0)], 0).reason == "alike"


@pytest.mark.parametrize(("sizes", "seed"), [((25, 25), 1), ((35, 15), 1), ((17, 17, 16), 1), ((9, 9, 8, 8, 8, 8), 0)])
def test_planted_types_are_counted(sizes: tuple[int, ...], seed: int) -> None:
    blocks, truth = mixed(sizes, seed)
    typology = types(blocks, seed)
    assert (typology.choice.k, typology.choice.reason) == (len(sizes), "typology")
    assert typology.labels is not None
    assert adjusted_rand_score(truth, typology.labels) >= 0.9


def test_a_gradient_can_be_divided_as_well() -> None:
    """Known and told: clusters of a continuum are clearer than unrelated answers, and come back. So nothing that is
    told of types may say that there are gaps between them."""
    assert types(continuum(50, 1, 0), 0).choice.reason == "typology"


def test_types_that_do_not_come_back_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit above what any type reaches, the four planted types have to be refused; with the real one they
    stand."""
    blocks = planted(48, 0)[0]
    stable = types(blocks, 0, draws=19, alpha=0.05)
    assert stable.stability is not None
    assert stable.choice.k == 4
    assert min(stable.stability.jaccard) >= UNSTABLE
    monkeypatch.setattr("enquete.analysis.typology.UNSTABLE", 1.01)
    kinds = types(blocks, 0, draws=19, alpha=0.05)
    assert (kinds.choice.k, kinds.choice.candidate, kinds.choice.reason, kinds.labels) == (1, 4, "unstable", None)
    assert kinds.stability == stable.stability


def test_the_largest_number_tried_is_an_edge() -> None:
    choice = choose(clouds(48, 8, 8.0)[0], 0, draws=19, alpha=0.05)
    assert (choice.k, choice.at_the_edge) == (8, True)
    assert not choose(clouds(48, 2, 8.0)[0], 0, draws=19, alpha=0.05).at_the_edge


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize(("agents", "seeds"), [(50, 200), (200, 40)])
def test_rates_over_many_seeds(agents: int, seeds: int) -> None:
    """Planted types, balanced and 7 : 3 in turn; pure noise is in test_qmethod_accuracy.py."""
    rates = {
        f"{k} types, {shares}": counted(agents, k, shares, seeds) for k in (2, 3, 4, 6) for shares in ((1, 1), (7, 3))
    }
    print(agents, rates)
    assert min(rates.values()) >= 0.9


def counted(agents: int, k: int, shares: tuple[int, int], seeds: int) -> float:
    weights = np.array([shares[view % 2] for view in range(k)], dtype=float)
    sizes = (agents * weights / weights.sum()).astype(int)
    hits = []
    for seed in range(seeds):
        blocks, truth = mixed(sizes.tolist(), seed)
        labels = types(blocks, seed).labels
        hits.append(labels is not None and adjusted_rand_score(truth, labels) >= 0.9)
    return float(np.mean(hits))


def test_the_same_seed_gives_the_same_choice() -> None:
    blocks = noise(30, 4)
    assert choose(blocks, 7) == choose(blocks, 7)


def test_a_large_population_is_compared_in_a_sample() -> None:
    blocks, _ = clouds(MOST_COMPARED * 2, 3, 6.0)
    choice = choose(blocks, 0, draws=19, alpha=0.05)
    assert (choice.k, choice.n_compared) == (3, MOST_COMPARED)
    columns = weighted(blocks)[0]
    fits = agent_silhouettes(columns, clusters(columns, 3, 0), 0)
    assert fits.shape == (MOST_COMPARED * 2,)
    assert fits.mean() == pytest.approx(choice.silhouettes[3], abs=0.03)


def test_labels_go_by_size() -> None:
    columns = np.array([[9.0]] * 2 + [[0.0]] * 5 + [[5.0]] * 2)
    assert clusters(columns, 3, 0).tolist() == [1, 1, 0, 0, 0, 0, 0, 2, 2]


def test_stability_tells_types_from_arbitrary_cuts() -> None:
    for distance, firm in ((6.0, True), (0.0, False)):
        columns = weighted(clouds(60, 3, distance)[0])[0]
        agreement = stability(columns, clusters(columns, 3, 0), 0)
        assert (agreement.ari > 0.9) == firm
        assert (min(agreement.jaccard) > 0.75) == firm


def test_memberships_are_probabilities_and_follow_the_types() -> None:
    blocks, _ = clouds(60, 3, 6.0)
    columns = weighted(blocks)[0]
    labels = clusters(columns, 3, 0)
    membership = memberships(columns, labels)
    assert membership.probabilities is not None
    assert membership.probabilities.sum(axis=1) == pytest.approx(np.ones(60))
    assert (membership.probabilities.argmax(axis=1) == labels).mean() > 0.95
    between = np.vstack([columns, (columns[labels == 0].mean(axis=0) + columns[labels == 1].mean(axis=0))[None] / 2])
    doubtful = memberships(between, np.append(labels, 0)).probabilities
    assert doubtful is not None
    assert doubtful[-1].max() < doubtful[:-1].max(axis=1).mean()


def test_memberships_are_those_of_scikit_learn() -> None:
    columns = weighted(clouds(60, 3, 2.5)[0])[0]
    labels = clusters(columns, 3, 0)
    scores = principal_components(columns).scores[:, :2]
    scores /= scores[:, 0].std()
    means = np.stack([scores[labels == label].mean(axis=0) for label in range(3)])
    deviations = scores - means[labels]
    begun = {
        "weights_init": np.bincount(labels) / 60,
        "means_init": means,
        "precisions_init": np.linalg.inv(deviations.T @ deviations / 60 + 1e-3 * np.eye(2)),
    }
    model = GaussianMixture(3, covariance_type="tied", max_iter=500, tol=1e-9, reg_covar=1e-3, **begun).fit(scores)
    probabilities = memberships(columns, labels).probabilities
    assert probabilities is not None
    assert probabilities.max(axis=1).min() < 0.9  # some are doubtful
    assert probabilities == pytest.approx(model.predict_proba(scores), abs=0.005)


def test_too_few_agents_get_a_reason_instead_of_probabilities() -> None:
    columns = weighted(clouds(9, 3, 3.0)[0])[0]
    membership = memberships(columns, clusters(columns, 3, 0))
    assert (membership.probabilities, membership.reason) == (None, "few")
    flat = memberships(np.zeros((20, 3)), np.arange(20) % 2)
    assert (flat.probabilities, flat.reason) == (None, "flat")
