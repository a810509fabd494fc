"""Oracles: binomial tails by hand; rates of wrong verdicts over runs in which nothing differs, or nearly all do."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.probes import fewest, judge_claim, sign

CASES = 2000


@pytest.mark.parametrize(
    ("agreeing", "n", "verdict", "chance"),
    [
        (2, 2, "not decided", 1 / 4),
        (4, 4, "not decided", 1 / 16),
        (5, 5, "stable", 1 / 32),
        (6, 7, "not decided", (1 + 7) / 128),  # .0625
        (7, 8, "stable", (1 + 8) / 256),
        (0, 1, "not decided", 1),  # one of ten would contradict a claim that holds in 90 %
        (0, 2, "fragile", 1),  # .1² = .01
        (1, 2, "not decided", 3 / 4),  # 1 − .9² = .19
        (1, 3, "fragile", 7 / 8),  # .1³ + 3·.9·.1² = .028
        (2, 5, "fragile", 26 / 32),
        (3, 5, "not decided", 16 / 32),  # 1 − .9⁵ − 5·.9⁴·.1 = .081
        (
            15,
            20,
            "fragile",
            sum(comb(20, k) for k in range(15, 21)) / 2**20,
        ),  # beats a coin, not 90 %: P(X ≤ 15) = .043
    ],
)
def test_rule(agreeing, n, verdict, chance):
    judgement = judge_claim(True, [True] * agreeing + [False] * (n - agreeing))
    assert (judgement.n, judgement.n_agreeing, judgement.verdict) == (n, agreeing, verdict)
    assert judgement.chance == pytest.approx(chance)


def test_tails_and_missing_by_hand():
    judgement = judge_claim(1, [1, None, -1, 1, 0])
    assert (judgement.n, judgement.n_missing, judgement.n_agreeing) == (4, 1, 2)
    assert judgement.chance == pytest.approx(11 / 16)  # (6 + 4 + 1) / 16
    assert judgement.as_few == pytest.approx(0.0523)  # 1 − .9⁴ − 4·.9³·.1
    assert judgement.reason == "2 of 4 further runs agree; chance 0.69, as few where it holds in 90 %: 0.052"
    alone = judge_claim(1, [None])
    assert (alone.verdict, alone.n, alone.chance) == ("not judged", 0, None)
    with pytest.raises(ValueError, match="claimed must be what the main arm says"):
        judge_claim(None, [1])


def test_runs_that_share_measurements_decide_nothing():
    judgement = judge_claim(1, [1] * 20, independent=False)
    assert (judgement.verdict, judgement.n_agreeing, judgement.chance) == ("not decided", 20, None)


def test_signs():
    assert [sign(value) for value in (0.3, -2, 0.0, -0.0, None, float("nan"))] == [1, -1, 0, 0, None, None]
    with pytest.raises(ValueError, match="finite number, None or NaN, not inf"):
        sign(float("inf"))


def test_five_that_all_agree_are_the_fewest_that_rule_chance_out():
    assert fewest() == 5
    assert judge_claim(1, [1] * fewest()).verdict == "stable"
    assert judge_claim(1, [1] * (fewest() - 1)).verdict == "not decided"
    assert fewest(0.25) == 2


def verdicts(runs: int, truth: float, seed: int) -> list[str]:
    """Of four groups the main arm picks the two extreme ones; `truth`: how far they lie apart, in SDs of a run's
    mean."""
    rng = np.random.default_rng([seed, runs])
    outcomes = []
    for _ in range(CASES):
        groups = rng.normal(size=(runs, 4)) + np.array([truth, 0, 0, 0])
        high, low = (0, 3) if truth else (groups[0].argmax(), groups[0].argmin())
        apart = groups[:, high] - groups[:, low]
        claimed = 1 if truth else sign(apart[0])
        outcomes.append(judge_claim(claimed, [sign(difference) for difference in apart[1:]]).verdict)
    return outcomes


@pytest.mark.parametrize("runs", [4, 6, 8])
def test_where_nothing_differs_at_most_five_per_cent_are_stable(runs):
    """With the main arm counted among three that must agree, 25 % were. Exact: 2^−(R−1) from R = 6 on."""
    rate = verdicts(runs, 0.0, 1).count("stable") / CASES
    assert rate == pytest.approx(0.5 ** (runs - 1) if runs > 5 else 0, abs=0.01)
    assert rate <= 0.05


@pytest.mark.parametrize("runs", [4, 6, 8])
def test_where_a_run_agrees_nine_times_in_ten_at_most_five_per_cent_are_fragile(runs):
    """Contrast √2·z(.9) = 1.812 apart: a run agrees with probability .9."""
    rate = verdicts(runs, 1.8124, 2).count("fragile") / CASES
    assert rate <= 0.05  # exact: .004 (4 further runs) to .028 (3)


@given(st.lists(st.sampled_from([-1, 0, 1, None]), max_size=20), st.sampled_from([-1, 1]))
def test_verdict_ignores_order_and_direction(signs, claimed):
    judgement = judge_claim(claimed, signs)
    assert judge_claim(claimed, signs[::-1]) == judgement
    assert judge_claim(-claimed, [None if direction is None else -direction for direction in signs]) == judgement
