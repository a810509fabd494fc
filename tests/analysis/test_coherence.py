"""The floor: coherence, consistency of families and stability against answers dealt to other agents."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.coherence import (
    answer_stability,
    coherence,
    mean_squared_correlation,
    order_smoothness,
    profiles_alike,
)
from enquete.analysis.diagnostics import overall
from tests.support.answer_frames import table


def noise(n: int, m: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 6, (n, m)).astype(float)


def typed(n: int, m: int, share: float, seed: int = 0) -> np.ndarray:
    """Four types that explain `share` of the variance of every item, on 1–5."""
    rng = np.random.default_rng(seed)
    latent = np.sqrt(share) * rng.normal(size=(4, m))[np.arange(n) % 4] + np.sqrt(1 - share) * rng.normal(size=(n, m))
    return np.clip(np.rint(3 + 1.1 * latent), 1, 5)


def test_mean_squared_correlation_is_numpys_where_variances_are_equal() -> None:
    """Oracle: numpy.corrcoef; standardised columns have equal weights."""
    x = typed(60, 8, 0.4)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    r = np.corrcoef(x.T)[np.triu_indices(8, 1)]
    assert mean_squared_correlation(z) == pytest.approx((r**2).mean())


def test_pairs_are_weighted_by_their_variances() -> None:
    """By hand: variances 4, 4 and 1 (sums 16, 16, 4), r² of the first two 1, of the others 0:
    16·16/(16·16 + 2·16·4) = 2/3."""
    x = np.array([[2.0, 2, 1], [2, 2, -1], [-2, -2, 1], [-2, -2, -1]])
    assert mean_squared_correlation(x) == pytest.approx(2 / 3)


def test_chance_gives_one_over_n_minus_one() -> None:
    """The mean of r² by chance is 1/(n − 1), and that of 14 items without the agents' levels, r = −1/13, 1/169 more;
    a little less where agents are brought to one spread."""
    diagnostic = coherence(table(noise(50, 14)))
    assert diagnostic.detail["by_chance"] == pytest.approx(1 / 49 + 1 / 169, abs=0.002)


@pytest.mark.parametrize("n", [50, 200])
def test_random_answers_are_incoherent_and_typed_ones_are_not(n: int) -> None:
    """Of ten panels one may pass: p < .05 does by chance."""
    assert [coherence(table(noise(n, 14, seed))).verdict for seed in range(10)].count("bad") >= 9
    assert coherence(table(typed(n, 14, 0.5))).verdict == "fine"


def test_few_disputed_items_among_many_with_little_spread_are_coherent() -> None:
    """Three items divide the types, 20 hold noise about the midpoint."""
    rng = np.random.default_rng(3)
    x = np.clip(np.rint(3 + rng.normal(0, 0.5, (50, 23))), 1, 5)
    x[:, :3] = np.where(np.arange(50)[:, None] % 2, 1.0, 5.0)
    x[:5, :3] = 3
    assert coherence(table(x)).verdict == "fine"


def profile(n: int, m: int, seed: int) -> np.ndarray:
    """What all say, and noise."""
    rng = np.random.default_rng(seed)
    return np.clip(np.rint(rng.uniform(1.5, 4.5, m) + rng.normal(0, 0.7, (n, m))), 1, 5)


def test_one_profile_with_noise_is_no_coherence_and_of_few_agents_cannot_be_told_from_opinions() -> None:
    few, many = (coherence(table(profile(n, 14, 2))) for n in (10, 200))
    assert (few.verdict, few.reason_code) == ("not computed", "too_few_agents")
    assert (many.verdict, many.reason_code) == ("bad", "no_more_than_chance")


def test_profiles_alike_is_numpys_and_its_se_that_of_permuted_answers() -> None:
    """Oracles: numpy.corrcoef of agents; the SD over 2,000 panels whose agents' answers were put in random order."""
    x = profile(8, 14, 1)
    shared, error = profiles_alike(x)
    assert shared == pytest.approx(np.corrcoef(x)[np.triu_indices(8, 1)].mean())
    rng = np.random.default_rng(0)
    null = [profiles_alike(rng.permuted(x, axis=1))[0] for _ in range(2000)]
    assert error == pytest.approx(np.std(null), rel=0.06)


def test_random_sorts_are_incoherent_though_the_grid_ties_their_items() -> None:
    """Each of 60 agents puts 12 items into the grid at random."""
    grid = np.tile(np.repeat(np.arange(-3.0, 3), 2), (60, 1))
    diagnostic = coherence(table(np.random.default_rng(1).permuted(grid, axis=1), low=-3, high=3))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("bad", "no_more_than_chance")


def test_without_enough_nothing_is_computed() -> None:
    assert coherence(table(noise(4, 14))).reason_code == "too_few_agents"
    assert coherence(table(noise(50, 4))).reason_code == "too_few_items"
    few_vary = np.full((50, 14), 3.0)
    few_vary[:, :4] = noise(50, 4)
    assert coherence(table(few_vary)).reason_code == "no_variation"


@pytest.mark.parametrize("x", [np.full((30, 14), 4.0), np.tile(np.arange(14.0) % 5 + 1, (30, 1))])
def test_one_answer_of_all_to_each_item_is_bad(x: np.ndarray) -> None:
    diagnostic = coherence(table(x))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.reason_code) == (0.0, "bad", "one_answer")
    assert overall([diagnostic, order_smoothness(table(x))]).verdict == "not usable"


def test_levels_of_their_own_with_noise_are_no_coherence() -> None:
    """Of 20 panels one may pass: p < .05 does by chance."""
    rng = np.random.default_rng(0)
    panels = [np.clip(np.rint(3 + rng.normal(size=(40, 1)) + 0.7 * rng.normal(size=(40, 14))), 1, 5) for _ in range(20)]
    assert [coherence(table(x)).verdict for x in panels].count("bad") >= 18


def test_thousands_are_drawn_by_seed() -> None:
    x = table(typed(1500, 6, 0.3))
    diagnostics = [coherence(x, seed=seed) for seed in (0, 0, 1)]
    assert diagnostics[0] == diagnostics[1] != diagnostics[2]
    assert diagnostics[0].detail["agents_drawn"] == 1000
    assert {diagnostic.n for diagnostic in diagnostics} == {1500}


# --- families --------------------------------------------------------------------------------------------------------


def opinions(n: int = 40, seed: int = 0) -> np.ndarray:
    """Two families of four items, the last of each reversed."""
    rng = np.random.default_rng(seed)
    raw = np.repeat(rng.normal(size=(n, 2)), 4, axis=1) + 0.7 * rng.normal(size=(n, 8))
    raw[:, [3, 7]] *= -1
    return np.clip(np.rint(3 + raw), 1, 5)


# --- both directions -------------------------------------------------------------------------------------------------


# --- the same agents later -------------------------------------------------------------------------------------------


def test_stability_ignores_a_shift_of_all() -> None:
    """All move up one point: r of the deviations is 1, though hardly an answer is the same."""
    x = np.clip(typed(30, 10, 0.4), 1, 4)
    diagnostic = answer_stability(table(x), table(x + 1))
    assert (diagnostic.value, diagnostic.verdict) == (pytest.approx(1), "fine")


@pytest.mark.parametrize("seed", range(3))
def test_who_answers_at_random_is_not_stable(seed: int) -> None:
    diagnostic = answer_stability(table(noise(50, 14, seed)), table(noise(50, 14, seed + 100)))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("bad", "no_more_than_chance")


def test_stability_is_pearsons_r_of_deviations() -> None:
    """Oracle: numpy.corrcoef of the deviations from item means, less each agent's own."""
    x, y = ((panel - panel.mean(axis=0)) for panel in (typed(30, 10, 0.4), typed(30, 10, 0.4, 1)))
    r = np.corrcoef((x - x.mean(axis=1)[:, None]).ravel(), (y - y.mean(axis=1)[:, None]).ravel())[0, 1]
    x, y = typed(30, 10, 0.4), typed(30, 10, 0.4, 1)
    assert answer_stability(table(x), table(y)).value == pytest.approx(r)


def test_stability_that_cannot_be_computed() -> None:
    x = noise(30, 10)
    assert answer_stability(table(x), table(np.full_like(x, 3))).reason_code == "no_variation"
    assert answer_stability(table(x[:4]), table(x[:4])).reason_code == "too_few_agents"
    assert answer_stability(table(x[:, :1]), table(x[:, :1])).reason_code == "too_few_answers"
