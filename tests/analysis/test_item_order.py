"""Whether answers follow the order in which items are shown, against the same answers under other orders."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from enquete.analysis.answers import read_answers
from enquete.analysis.coherence import coherence, order_smoothness
from tests.support.answer_frames import answer_frame, table


def opinions(n: int = 30, m: int = 16, seed: int = 0) -> np.ndarray:
    """Four types that explain half of the variance, items in no order."""
    rng = np.random.default_rng(seed)
    return np.clip(np.rint(3 + 0.8 * rng.normal(size=(4, m))[np.arange(n) % 4] + 0.8 * rng.normal(size=(n, m))), 1, 5)


def own_orders(n: int, m: int, seed: int = 1) -> np.ndarray:
    """1-based positions, drawn for each agent."""
    return np.argsort(np.random.default_rng(seed).random((n, m)), axis=1) + 1


def sticking(x: np.ndarray, positions: np.ndarray, share: float = 0.4, seed: int = 2) -> np.ndarray:
    """Each answer repeats, with this probability, that to the item shown before."""
    rng, x = np.random.default_rng(seed), x.copy()
    for who, order in enumerate(np.argsort(positions, axis=1)):
        for before, item in pairwise(order):
            if rng.random() < share:
                x[who, item] = x[who, before]
    return x


def alike(n: int, m: int) -> np.ndarray:
    return np.tile(np.arange(1, m + 1), (n, 1))


@pytest.mark.parametrize("orders", [alike, own_orders])
def test_answers_that_repeat_the_one_before_are_found_and_opinions_are_not(orders) -> None:
    at = orders(30, 16)
    assert order_smoothness(table(opinions(), positions=at)).verdict == "fine"
    diagnostic = order_smoothness(table(sticking(opinions(), at), positions=at))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("bad", "follows_the_order")
    assert (
        float(diagnostic.value or 0) > 0.25
    )  # .4 of the neighbours are equal, less what clipping and the others' means take


def test_the_value_is_that_of_neighbours_less_that_of_all_pairs() -> None:
    """By hand: two halves of the agents, +1 and −1 on the first four items and the reverse on the last four, so that
    agents and items have mean 0. Of 7 neighbours 6 have the product 1 and one −1: 5/7. Of the 28 pairs 12 have 1 and 16
    −1, so that random orders give −4/28 = −1/7 in the mean: 6/7 (the mean over 199 orders lies within .05)."""
    side = np.where(np.arange(20) % 2, 1.0, -1.0)[:, None]
    x = 3 + side * np.repeat([1.0, -1.0], 4)
    assert order_smoothness(table(x)).value == pytest.approx(6 / 7, abs=0.05)


def test_families_that_stand_together_are_no_smoothness() -> None:
    """Four families of four, each an opinion of its own: as written alike neighbours are those of one family."""
    rng = np.random.default_rng(3)
    x = np.clip(np.rint(3 + np.repeat(rng.normal(size=(40, 4)), 4, axis=1) + 0.6 * rng.normal(size=(40, 16))), 1, 5)
    diagnostic = order_smoothness(table(x, families=list("aaaabbbbccccdddd")))
    assert diagnostic.verdict == "fine"
    assert order_smoothness(table(x, families=[""] * 16)).verdict == "bad"  # where nothing says what belongs together


def test_orders_of_their_own_take_from_coherence_what_sticks() -> None:
    """Answers at random of which four in ten repeat the one before: in one order for all they pass for a structure."""
    x = np.random.default_rng(4).integers(1, 6, (40, 16)).astype(float)
    for orders, verdict in ((alike, "fine"), (own_orders, "bad")):
        at = orders(40, 16)
        assert coherence(table(sticking(x, at), positions=at)).verdict == verdict


def test_what_cannot_be_computed() -> None:
    x = opinions()
    assert order_smoothness(table(x[:9])).reason_code == "too_few_agents"
    assert order_smoothness(table(x[:, :7])).reason_code == "too_few_items"
    few = x[:, :7]
    assert order_smoothness(table(few, positions=own_orders(30, 7))).reason_code == "own_orders"
    assert order_smoothness(table(x, positions=np.zeros_like(x))).reason_code == "position_unclear"
    assert order_smoothness(table(np.full((30, 16), 4.0))).reason_code == "no_variation"
    apart = answer_frame(x, positions=np.ones_like(x))
    assert order_smoothness(read_answers(apart.assign(block=apart["item"]))).reason_code == "asked_one_by_one"


def test_of_fewer_than_twenty_agents_what_looks_sticky_is_left_open() -> None:
    x = sticking(opinions(12, 24), alike(12, 24), share=0.7)
    diagnostic = order_smoothness(table(x))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("not computed", "too_few_agents")
    assert order_smoothness(table(np.vstack([x, x]))).verdict == "bad"


def test_blocks_are_apart_and_gaps_are_filled() -> None:
    """Neighbours are counted within a block alone: two blocks of eight, the second reversed, with a tenth of gaps."""
    at = np.hstack([alike(30, 8), alike(30, 8)[:, ::-1]])
    x = sticking(opinions(), np.hstack([at[:, :8], at[:, 8:] + 8]))
    x[np.random.default_rng(5).random(x.shape) < 0.1] = np.nan
    frame = answer_frame(x, positions=at)
    frame["block"] = np.where(frame["item"] < "i08", "first", "second")
    assert order_smoothness(read_answers(frame)).verdict == "bad"
