"""Items alike, variance, profiles and human anchors by hand and against numpy and pandas."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.quality import (
    human_anchor,
    likeness_jsd,
    likeness_w1,
    variance_ratio,
)
from tests.support.answer_frames import table

EVEN = np.tile([1.0, 2, 3, 4, 5], 6)
TWO = np.tile([1.0, 5], 15)


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1, "fine"), (0.6, "fine"), (0.599, "caution"), (0.3, "caution"), (0.29, "caution")]
)
def test_variance_ratio_at_its_bounds(ratio: float, verdict: str) -> None:
    sd = float(EVEN.std(ddof=1))
    diagnostic = variance_ratio(table(EVEN[:, None]), {"i00": sd / ratio})
    assert (diagnostic.value, diagnostic.verdict) == (pytest.approx(ratio), verdict)


def test_without_human_sds_they_are_only_shown() -> None:
    diagnostic = variance_ratio(table(np.column_stack([EVEN, TWO])))
    assert (diagnostic.value, diagnostic.reason_code) == (None, "no_human_sd")
    assert diagnostic.detail["sd"] == {"i00": pytest.approx(EVEN.std(ddof=1)), "i01": pytest.approx(TWO.std(ddof=1))}
    assert variance_ratio(table(EVEN[:19, None]), {"i00": 1}).reason_code == "too_few_items"


def test_wrong_human_figures_are_named() -> None:
    answers = table(EVEN[:, None])
    with pytest.raises(ValueError, match="human_sd names item 'x'; the answers hold i00"):
        variance_ratio(answers, {"x": 1})
    with pytest.raises(ValueError, match="'i00' is 0; a standard deviation above 0"):
        variance_ratio(answers, {"i00": 0})
    for shares, message in (
        ({6: 1.0}, "6 is not a point of its scale 1–5"),
        ({1: -1.0, 2: 3.0}, "0 or more"),
        ({}, "sum to 0"),
    ):
        with pytest.raises(ValueError, match=message):
            human_anchor(answers, {"i00": shares})


def typed(spread: float, noise: float, apart: float, n: int = 40, m: int = 16) -> np.ndarray:
    """Item means of SD `spread`, four types apart by `apart`, agents of their own by `noise`, in points of 1–5."""
    rng = np.random.default_rng(7)
    means, types = rng.normal(0, spread, m), rng.normal(0, apart, (4, m))
    return np.clip(np.rint(3 + means + types[np.arange(n) % 4] + rng.normal(0, noise, (n, m))), 1, 5)


def test_likeness_by_hand() -> None:
    """JSD of (1, 0) and (½, ½): m = (¾, ¼), ½·log₂(4/3) + ½(½·log₂(2/3) + ½·log₂ 2) = .3113. W₁ of all on 1 to an even
    spread over 1–5 is the mean distance 2."""
    sure, even = np.array([1.0, 0]), np.array([1.0, 1])
    assert likeness_jsd(sure, even) == pytest.approx(1 - 0.31128, abs=1e-5)
    assert (likeness_jsd(sure, sure), likeness_jsd(sure, sure[::-1])) == (pytest.approx(1), pytest.approx(0))
    assert likeness_w1(np.array([1.0, 0, 0, 0, 0]), np.ones(5)) == pytest.approx(1 - 2 / 4)
    assert likeness_w1(sure, sure[::-1]) == pytest.approx(0)


def test_an_anchor_must_beat_an_even_spread() -> None:
    simulated = table(np.repeat([2.0, 3, 4], 10)[:, None])
    near = human_anchor(simulated, {"i00": {2: 0.3, 3: 0.4, 4: 0.3}})
    assert [diagnostic.verdict for diagnostic in near] == ["fine", "fine"]
    far = human_anchor(simulated, {"i00": {1: 50, 5: 50}})
    assert [(diagnostic.verdict, diagnostic.reason_code) for diagnostic in far] == [
        ("caution", "no_nearer_than_even")
    ] * 2
    even = human_anchor(table(EVEN[:, None]), {"i00": {2: 1.0}})
    assert [diagnostic.value == pytest.approx(diagnostic.benchmark) for diagnostic in even] == [True, True]
    assert [diagnostic.verdict for diagnostic in even] == ["caution", "caution"]  # no nearer than even: it is even


def test_no_anchor_without_people() -> None:
    assert {diagnostic.reason_code for diagnostic in human_anchor(table(EVEN[:, None]))} == {"no_human_marginals"}
    assert {diagnostic.reason_code for diagnostic in human_anchor(table(EVEN[:9, None]), {"i00": {1: 1.0}})} == {
        "too_few_items"
    }
