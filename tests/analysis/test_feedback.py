"""Expected values by hand, by the definition agent by agent, or rates over panels whose truth is planted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.feedback import Drawn, drawn_toward

SEED = 20261124
FIVE = (1, 5)


def drawn(x: np.ndarray, y: np.ndarray, draws: int = 499) -> Drawn:
    first, last = (pd.DataFrame(table).rename(columns=str) for table in (x, y))
    return drawn_toward(first, last, dict.fromkeys(first.columns, FIVE), draws=draws)


def by_definition(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """T, and what is specific of it, agent by agent and item by item."""
    own, elsewhere = [], []
    for i, j in product(*map(range, x.shape)):
        if np.isfinite(x[i, j] + y[i, j]):
            others = [
                np.nanmedian(np.delete(x[:, j], i)),
                *(np.nanmedian(x[:, k]) for k in range(x.shape[1]) if k != j),
            ]
            nearer = [abs(x[i, j] - m) - abs(y[i, j] - m) for m in others]
            own.append(nearer[0])
            elsewhere += [float(np.mean(nearer[1:]))] if nearer[1:] else []
    return float(np.mean(own)), float(np.mean(own) - np.mean(elsewhere))


def test_distances_by_hand() -> None:
    """Five agents, one item: 1 2 3 4 5 → 3 3 3 3 3. Medians of the others: 3.5, 3.5, 3, 2.5, 2.5. Before: (2.5 + 1.5 +
    0 + 1.5 + 2.5)/5 = 1.6, after (.5 + .5 + 0 + .5 + .5)/5 = .4."""
    pull = drawn(np.array([[1.0], [2], [3], [4], [5]]), np.full((5, 1), 3.0))
    assert (pull.before, pull.after, pull.estimate) == pytest.approx((1.6, 0.4, 1.2))
    assert (pull.n, pull.n_total, pull.n_changed, pull.specific) == (5, 5, 4, None)
    assert pull.movement == "untestable"


def test_estimate_is_the_definition() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(10):
        x, y = (rng.integers(2, 5, (7, 3)).astype(float) for _ in range(2))
        x[rng.random(x.shape) < 0.1] = np.nan
        y[rng.random(y.shape) < 0.1] = np.nan
        pull = drawn(x, y)
        assert (pull.estimate, pull.specific) == pytest.approx(by_definition(x, y))


def test_p_is_that_of_exchanged_rounds() -> None:
    """All 2⁸ exchanges of eight agents by the definition: the p drawn lies within 4 standard errors of the exact
    one."""
    rng = np.random.default_rng(SEED)
    x = rng.integers(1, 6, (8, 2)).astype(float)  # A of both rounds .41 and .34: both items count
    y = np.clip(np.rint(x + 0.5 * (np.median(x, axis=0) - x) + rng.normal(0, 0.5, x.shape)), 1, 5)
    every = [
        by_definition(np.where(kept, x, y), np.where(kept, y, x))[0]
        for kept in (np.array(bits)[:, None] for bits in product([True, False], repeat=8))
    ]
    exact = min(1.0, 2 * min(np.mean(np.array(every) >= every[0] - 1e-9), np.mean(np.array(every) <= every[0] + 1e-9)))
    p = drawn(x, y, draws=9_999).p
    assert p is not None
    assert abs(p - exact) <= 4 * 2 * np.sqrt(exact / 2 / 10_000) + 2e-4


def test_what_draws_all_answers_to_the_middle_of_the_scale_is_no_feedback() -> None:
    """Even spreads whose medians differ by chance; half of the ratings move halfway to 3, whatever the item's median
    is."""
    rng = np.random.default_rng(0)
    x = rng.integers(1, 6, (50, 36)).astype(float)
    pull = drawn(x, np.where(rng.random(x.shape) < 0.5, x, np.rint((x + 3) / 2)))
    assert pull.p is not None
    assert pull.p < 0.05
    assert pull.movement == "middle"


def test_nobody_changed_nobody_there_and_bad_ratings() -> None:
    still = drawn(np.full((6, 2), 3.0), np.full((6, 2), 3.0))
    assert (still.movement, still.p, still.estimate, still.n_changed) == ("unmoved", None, 0.0, 0)
    nobody = drawn(np.full((3, 1), np.nan), np.full((3, 1), 3.0))
    assert (nobody.n, nobody.n_total, nobody.movement) == (0, 3, "untestable")
    alone = drawn(np.array([[3.0]]), np.array([[4.0]]))
    assert (alone.n, alone.estimate, alone.movement) == (1, None, "untestable")
    with pytest.raises(ValueError, match="rating 6 is not a point of the scale 1–5"):
        drawn(np.array([[6.0]]), np.array([[4.0]]))
    with pytest.raises(ValueError, match="item 'a' has no scale"):
        drawn_toward(pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]}), {})


Second = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]


def anew(rng: np.random.Generator, opinions: np.ndarray, x: np.ndarray) -> np.ndarray:
    return opinions + rng.normal(0, 0.6, opinions.shape)


def with_noise(rng: np.random.Generator, opinions: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x + rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=x.shape)


def to_the_middle(rng: np.random.Generator, opinions: np.ndarray, x: np.ndarray) -> np.ndarray:
    return 3 + 0.8 * (x - 3) + rng.normal(0, 0.4, x.shape)


def halfway(rng: np.random.Generator, opinions: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x + 0.5 * (np.median(x, axis=0) - x) + rng.normal(0, 0.5, x.shape)


def a_third(rng: np.random.Generator, opinions: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x + 0.3 * (np.median(x, axis=0) - x) + rng.normal(0, 0.5, x.shape)


def share_closer(second: Second, n: int, panels: int) -> float:
    """12 items of five points, agents with a style of their own."""
    rng, closer = np.random.default_rng(SEED), 0
    for _ in range(panels):
        opinions = rng.uniform(2.5, 4.5, 12) + rng.normal(0, 0.4, (n, 1)) + rng.normal(0, 0.8, (n, 12))
        x = np.clip(np.rint(opinions + rng.normal(0, 0.6, opinions.shape)), 1, 5)
        y = np.clip(np.rint(second(rng, opinions, x)), 1, 5)
        closer += drawn(x, y, draws=299).movement == "closer"
    return closer / panels


@pytest.mark.parametrize("second", [anew, with_noise, to_the_middle])
def test_without_an_effect_none_is_claimed(second: Second) -> None:
    """12 panels: at a rate of .05 more than two are closer with probability .02."""
    assert share_closer(second, 20, 12) <= 2 / 12


def test_an_effect_is_found() -> None:
    assert share_closer(halfway, 20, 20) >= 0.95


@pytest.mark.soak
@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("second", [anew, with_noise, to_the_middle])
def test_without_an_effect_none_is_claimed_over_many_panels(second: Second, n: int) -> None:
    """60 panels: a rate of .05 exceeds .12 with probability .01."""
    assert share_closer(second, n, 60) <= 0.12


@pytest.mark.soak
@pytest.mark.parametrize(("second", "n", "least"), [(halfway, 10, 0.7), (halfway, 20, 0.95), (a_third, 20, 0.5)])
def test_an_effect_is_found_in_many_panels(second: Second, n: int, least: float) -> None:
    assert share_closer(second, n, 40) >= least
