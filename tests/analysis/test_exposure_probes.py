"""Negative control, placebo and false median by hand and at their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from enquete.analysis.probes import false_median, negative_control, placebo_exposure, pull, student
from tests.support.answer_frames import table

BEFORE = np.full((20, 3), 2.0)


def moved(n: int, by: float = 1.0) -> np.ndarray:
    """n agents change their answer to the first item."""
    y = BEFORE.copy()
    y[:n, 0] += by
    return y


@pytest.mark.parametrize(("n", "count", "verdict"), [(0, 0, "fine"), (5, 0, "fine"), (6, 1, "caution"), (7, 1, "bad")])
def test_a_control_item_that_drifts(n: int, count: int, verdict: str) -> None:
    """By hand: p = 2/2ⁿ, .0625 for five and .03125 for six; the mean moves by n/20, .3 for six, .35 for seven."""
    diagnostic = negative_control(table(BEFORE), table(moved(n)), ["i00"])
    assert (diagnostic.value, diagnostic.verdict, diagnostic.n) == (count, verdict, 20)
    assert diagnostic.detail["drifted"] == ["i00"] * count


def test_more_controls_are_corrected_for() -> None:
    """Two items with six movers each: Holm 2·.03125 = .0625."""
    y = moved(6)
    y[:6, 1] += 1
    assert negative_control(table(BEFORE), table(y), ["i00", "i01"]).verdict == "fine"


def test_controls_must_be_there() -> None:
    for items, message in ((["x"], "items of both waves, not 'x'"), ([], "needs items")):
        with pytest.raises(ValueError, match=message):
            negative_control(table(BEFORE), table(BEFORE), items)
    diagnostic = negative_control(table(BEFORE[:19]), table(BEFORE[:19]), ["i00"])
    assert (diagnostic.reason_code, diagnostic.detail["too_few_pairs"]) == ("too_few_agents", ["i00"])


def half(by: float) -> np.ndarray:
    """Ten of twenty agents change all answers."""
    return BEFORE + np.where(np.arange(20)[:, None] < 10, by, 0)


def test_one_run_is_information() -> None:
    """By hand: effects are ten of 1 and ten of 0, mean ½, s = √(5/19), ± 2.093·s/√20 = .24."""
    diagnostic = placebo_exposure(*map(table, (BEFORE, half(1), BEFORE, BEFORE)))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.reason_code) == (0.5, "information", "one_run")
    assert diagnostic.detail["low"] == pytest.approx(0.5 - 2.093 * (5 / 19) ** 0.5 / 20**0.5, abs=1e-4)
    assert diagnostic.detail["directed"] == 0.5


def test_student_is_scipys() -> None:
    x = np.array([0.1, 0.5, 0.4, 0.9, -0.2])
    oracle = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert student(x) == pytest.approx((x.mean(), oracle.low, oracle.high))
    assert student(x[:1]) == (pytest.approx(0.1), None, None)


ONES = np.ones((10, 10))
TRUE, BOGUS = {f"i{i:02}": 3.0 for i in range(10)}, {f"i{i:02}": 5.0 for i in range(10)}


def toward(n: int, by: float = 1.0) -> np.ndarray:
    return (ONES.ravel() + by * (np.arange(100) % 10 * 10 + np.arange(100) // 10 < n)).reshape(10, 10)


@pytest.mark.parametrize(
    ("bogus", "value", "verdict"),
    [(toward(99), 0.2475, "fine"), (toward(100), 0.25, "caution"), (toward(100, 2), 0.5, "caution")],
)
def test_following_a_median_that_nobody_gave(bogus: np.ndarray, value: float, verdict: str) -> None:
    """By hand: all at 1; toward the true 3 all move 1 of 2 (pull ½); toward the bogus 5 they move so much of 4. Half of
    the true pull, .25, already is caution; more is no worse, since that bound is a proposal."""
    check = false_median(table(ONES), table(toward(100)), table(bogus), true_median=TRUE, bogus_median=BOGUS)
    assert (check.value, check.verdict, check.benchmark) == (pytest.approx(value), verdict, pytest.approx(0.5))
    assert check.threshold == (None, pytest.approx(0.25))


def test_where_nobody_follows_the_true_median_a_twentieth_is_too_much() -> None:
    """The true pull is 0. 19 of 100 one point of 4 is .0475, 20 is .05, 40 is .1."""
    verdicts = [
        false_median(table(ONES), table(ONES), table(toward(n)), true_median=TRUE, bogus_median=BOGUS).verdict
        for n in (0, 19, 20, 40)
    ]
    assert verdicts == ["fine", "fine", "caution", "caution"]


def test_pull_counts_only_those_with_a_gap() -> None:
    """By hand: gaps 2, 0, −1; revisions +1, +1, +1: (1 − 1)/3 = 0 over two ratings."""
    assert pull(np.array([[1.0], [3], [4]]), np.array([[2.0], [4], [5]]), np.array([3.0])) == (0, 2)
    assert pull(np.array([[3.0]]), np.array([[4.0]]), np.array([3.0])) == (None, 0)


def test_equal_medians_are_no_probe() -> None:
    diagnostic = false_median(table(ONES), table(ONES), table(ONES), true_median=TRUE, bogus_median=TRUE)
    assert (diagnostic.value, diagnostic.reason_code) == (None, "no_bogus_median")
