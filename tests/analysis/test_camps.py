"""Camps: expected values by hand, or rates over panels whose truth is planted, and over people's
(tests/data/humans)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.panel import agreement, agreements, camps_p, frequencies, has_camps, is_split, opinions
from tests.support.people import groups

SEED = 20261124


@given(st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=1, max_size=8))
def test_agreements_of_rows_are_those_of_each(rows: list[list[int]]) -> None:
    together = agreements(np.array(rows, dtype=float)).tolist()
    alone = [agreement(row) for row in rows]
    assert together == pytest.approx([np.nan if a is None else a for a in alone], nan_ok=True)


def test_p_of_an_even_spread_by_hand() -> None:
    """Three ratings on three points, two at one end against one at the other: of all 27 panels six are split and vary
    as much, those without a rating in the middle and with one at either end; the drawn p lies within 4 standard errors
    of it."""
    every = list(product(range(3), repeat=3))
    exact = np.mean([set(chosen) == {0, 2} for chosen in every])
    assert camps_p([2, 0, 1]) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 50_000))
    assert camps_p([1, 1, 1]) == camps_p([3, 3]) == 1
    assert camps_p([0, 0, 0]) is None


@given(st.lists(st.lists(st.integers(0, 9), min_size=7, max_size=7), min_size=1, max_size=8))
def test_splits_are_those_of_the_best_cut(rows: list[list[int]]) -> None:
    """Of each row by the variance on either side of every cut."""
    for row in rows:
        x, sides = np.repeat(np.arange(7), row), []
        for cut in range(6):
            low, high = x[x <= cut], x[x > cut]
            if low.size and high.size:
                sides.append((1 - (low.size * low.var() + high.size * high.var()) / (x.size * x.var()), low, high))
        best = max(sides, key=lambda side: round(side[0], 9), default=None)
        expected = best is not None and best[0] >= 0.85 - 1e-9 and min(map(len, best[1:])) >= x.size / 3
        assert is_split(row) == (expected and best is not None and best[2].mean() - best[1].mean() >= 2)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([10, 0, 0, 0, 10], "camps"),
        ([9, 1, 0, 1, 9], "camps"),
        ([0, 10, 0, 10, 0], "spread"),  # IQR 2, A ⅙: apart, but not at two ends
        ([4, 4, 4, 4, 4], "spread"),
        ([0, 1, 12, 7, 0], "consensus"),
        ([1, 0, 0, 0, 1], "spread"),  # but two who are spread evenly look so in 2 of 25 panels
        ([0, 0, 0, 0, 0], None),
    ],
)
def test_opinions(counts: list[int], expected: str | None) -> None:
    assert opinions(counts) == expected


def share(panels: list[np.ndarray]) -> float:
    return float(np.mean([has_camps(panel) for panel in panels]))


@pytest.mark.parametrize("n", [10, 50])
def test_camps_are_claimed_of_no_even_spread_and_no_bell(n: int) -> None:
    """400 panels: a rate of .05 exceeds .08 with probability .01."""
    rng = np.random.default_rng(SEED)
    assert share([rng.multinomial(n, np.full(points, 1 / points)) for points in (5, 7) for _ in range(400)]) <= 0.08
    assert share([on_five(rng.normal(3, 1, n)) for _ in range(200)]) == 0


@pytest.mark.parametrize(("n", "least"), [(10, 0.2), (50, 0.6)])
def test_two_camps_are_found(n: int, least: float) -> None:
    rng = np.random.default_rng(SEED)
    panels = [on_five(np.where(rng.random(n) < 0.5, 1.3, 4.7) + rng.normal(0, 0.6, n)) for _ in range(200)]
    assert share(panels) >= least


def on_five(x: np.ndarray) -> np.ndarray:
    return frequencies(np.clip(np.rint(x), 1, 5), 1, 5)


def test_peoples_items_have_no_camps() -> None:
    """Agreement with the considerations of every panel of this file, both waves: ten of 853 items have camps at .05
    each."""
    panels = [panel for group in groups() for panel in group if not panel.sort]
    counted = [frequencies(x[~np.isnan(x)], panel.low, panel.high) for panel in panels for x in panel.x.T]
    assert len(counted) > 100
    assert share(counted) <= 0.015
    assert np.mean([is_split(counts) for counts in counted]) > share(counted)
