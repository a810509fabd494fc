"""Drift, revision, scenarios and structure at their bounds, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.quality import direction_flips, rated_alike, two_components, unrevised, zero_drift
from tests.support.answer_frames import table

BEFORE = np.full((20, 6), 2.0)


def after(moved: int, value: float, items: int = 1) -> np.ndarray:
    """That many agents give `value` to their first items."""
    y = BEFORE.copy()
    y[:moved, :items] = value
    return y


@pytest.mark.parametrize(("moved", "verdict"), [(4, "fine"), (3, "caution"), (1, "caution"), (0, "bad")])
def test_zero_drift(moved: int, verdict: str) -> None:
    diagnostic = zero_drift(table(BEFORE), table(after(moved, 3)))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.n) == (1 - moved / 20, verdict, 20)


@pytest.mark.parametrize(("moved", "verdict"), [(2, "fine"), (1, "caution"), (0, "bad")])
def test_unrevised(moved: int, verdict: str) -> None:
    assert unrevised(table(BEFORE), table(after(moved, 3))).verdict == verdict


@pytest.mark.parametrize(
    ("moved", "items", "value", "verdict"),
    [(16, 3, 4, "fine"), (17, 3, 4, "caution"), (20, 3, 4, "bad"), (20, 2, 4, "fine"), (20, 6, 3, "fine")],
)
def test_crossing_the_midpoint_on_half_of_the_items(moved: int, items: int, value: float, verdict: str) -> None:
    """Three of six items are half; two are not; stopping on the midpoint is no crossing."""
    assert direction_flips(table(BEFORE), table(after(moved, value, items))).verdict == verdict


def test_no_pairs_is_no_verdict() -> None:
    gone = np.full((20, 6), np.nan)
    for check in (zero_drift, unrevised, direction_flips):
        assert check(table(BEFORE), table(gone)).reason_code == "no_pairs"


def test_one_agent_with_one_answer_is_enough_for_a_flag() -> None:
    one = table(BEFORE[:1, :1])
    assert (zero_drift(one, one).verdict, unrevised(one, one).verdict) == ("bad", "bad")


@pytest.mark.parametrize(("alike", "verdict"), [(5, "fine"), (9, "fine"), (10, "caution")])
def test_scenarios_rated_alike(alike: int, verdict: str) -> None:
    rows = [[3, 3, 3, 3] if a < alike else [1, 3, 3, 3] for a in range(10)]
    diagnostic = rated_alike(table([*rows, [1, np.nan, 1, 1]]))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.detail["n_incomplete"]) == (alike / 10, verdict, 1)


@pytest.mark.parametrize(
    ("share", "verdict", "code"), [(0.3, "fine", ""), (0.29, "caution", "below"), (0.5, "fine", "")]
)
def test_two_components(share: float, verdict: str, code: str) -> None:
    diagnostic = two_components(share, 20, 2)
    assert (diagnostic.verdict, diagnostic.reason_code) == (verdict, code)


def test_two_components_needs_a_share() -> None:
    assert two_components(None, 50, 0).reason_code == "undefined"
    with pytest.raises(ValueError, match="between 0 and 1; 31"):
        two_components(31, 50, 1)
