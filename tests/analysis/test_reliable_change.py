"""Oracles: hand derivations after Jacobson & Truax 1991, numpy's correlation, tables of t and z, planted noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.change import Reliability, beyond, reliable_change, retest_reliability


def _given(r):
    """Known so well that Student's t is the normal distribution."""
    return Reliability(r, "retest", 10**9, 0)


def _scores(values, prefix="a"):
    return pd.Series(values, [f"{prefix}{i}" for i in range(len(values))], dtype=float)


def test_index_by_hand():
    # SD of 40, 50, 60 is 10; r .8: S_diff = 10·√(2·.2) = 6.3246; +15 is 2.3717, −12 is −1.8974, −20 is −3.1623
    change = reliable_change(_scores([40, 50, 60]), _scores([55, 38, 40]), _given(0.8))
    assert change.sd == pytest.approx(10)
    assert change.standard_error == pytest.approx(6.324555)
    assert change.rci.tolist() == pytest.approx([2.371708, -1.897367, -3.162278])
    assert (change.n_up, change.n_down, change.n_within) == (1, 1, 1)


def test_retest_is_pearsons_r_over_the_same_agents():
    first, repeat = _scores([1, 2, 3, 4, np.nan]), _scores([2, 1, 4, 3, 5])
    reliability = retest_reliability(first, repeat.sample(frac=1, random_state=0))
    assert reliability.r == pytest.approx(0.6)  # gaps −1.5 −.5 .5 1.5 × −.5 −1.5 1.5 .5: Σ = 3, over Σ of squares 5
    assert (reliability.source, reliability.n, reliability.n_missing) == ("retest", 4, 1)


def test_interval_of_the_reliability_by_fishers_z():
    # r = .6, n = 28: artanh .6 = .693147, 1.96/√25 = .391993; tanh .301154 = .29237, tanh 1.085140 = .79512
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 28))
    a -= a.mean()
    a /= np.linalg.norm(a)
    b -= b.mean() + a * (a @ b)
    b -= b.mean()
    b /= np.linalg.norm(b)
    reliability = retest_reliability(_scores(a), _scores(0.6 * a + 0.8 * b))
    assert reliability.r == pytest.approx(0.6)
    assert (reliability.low, reliability.high) == (pytest.approx(0.29237, abs=1e-4), pytest.approx(0.79512, abs=1e-4))
    three = retest_reliability(_scores([1, 2, 3]), _scores([1, 3, 2]))
    assert (three.r, three.low, three.high) == (pytest.approx(0.5), None, None)


def test_the_limit_is_that_of_t_where_a_retest_estimated_the_error():
    # t tables: .975 quantile at 4 degrees of freedom 2.776; z 1.960
    known = Reliability(0.8, "retest", 5, 0, "", 0.6, 0.95)
    before, after = _scores([40, 50, 60]), _scores([55, 38, 40])
    change = reliable_change(before, after, known)
    assert change.limit == pytest.approx(2.776, abs=5e-4)
    assert (change.n_up, change.n_down, change.n_within) == (0, 1, 2)  # RCI 2.37, −1.90, −3.16
    # r_tt .6: noise has √(.4/.2) = √2 the SD taken for it, 2.776/√2 = 1.963: 5 %; r_tt .95: half, 5.55: none
    assert change.chance_high == pytest.approx(0.0496, abs=5e-4)
    assert change.chance_low == pytest.approx(0, abs=1e-6)
    given = reliable_change(before, after, _given(0.8))
    assert (given.limit, given.chance_low, given.chance_high) == (pytest.approx(1.96, abs=5e-5), None, None)


def test_another_arm_by_the_same_limits():
    # standard error 6.3246, limit 1.96: beyond from a change of 12.396 on
    change = reliable_change(_scores([40, 50, 60]), _scores([55, 38, 40]), _given(0.8))
    arm = beyond(_scores([40, 50, 60, 40]), _scores([52, 63, 47, np.nan]), change)
    assert arm.tolist()[:3] == [0, 1, 1]
    assert np.isnan(arm.iloc[3])
    assert beyond(_scores([1.0]), _scores([9.0]), reliable_change(_scores([1]), _scores([2]), None)).isna().all()


def test_noise_exceeds_the_limit_in_one_of_twenty():
    # truth constant, error variance ¼ of the total: r_tt = .75, and Δ is pure noise
    rng = np.random.default_rng(5)
    truth, noise = rng.normal(size=20_000) * np.sqrt(3), rng.normal(size=(4, 20_000))
    waves = [_scores(truth + error) for error in noise]
    r = retest_reliability(waves[2], waves[3])
    assert r.r == pytest.approx(0.75, abs=0.01)
    change = reliable_change(waves[0], waves[1], r)
    assert (change.n_up + change.n_down) / change.n == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(
    ("before", "after", "reliability", "reason"),
    [
        ([1, 2, 3], [2, 3, 4], None, "no retest arm and no reliability given"),
        ([1, 2, 3], [2, 3, 4], _given(1.0), "answers never differ between askings"),
        ([1, 2, 3], [2, 3, 4], Reliability(-0.2, "retest", 5, 0), "the scores are noise"),
        ([2, 2, 2], [2, 3, 4], _given(0.5), "no variation between agents before"),
        ([1], [2], _given(0.5), "fewer than 2 agents"),
        ([1, 2], [np.nan, np.nan], _given(0.5), "no agent has both scores"),
        ([], [], _given(0.5), "no agent has both scores"),
    ],
)
def test_no_index_but_a_reason(before, after, reliability, reason):
    change = reliable_change(_scores(before), _scores(after), reliability)
    assert (change.rci, change.n_up, change.standard_error) == (None, None, None)
    assert reason in change.reason


def test_missing_agents_are_counted_and_bad_input_named():
    change = reliable_change(_scores([1, 2, np.nan]), _scores([2, np.nan, 3]), _given(0.5))
    assert (change.n, change.n_missing) == (1, 2)
    assert change.rci.isna().tolist() == [False, True, True]
    assert retest_reliability(_scores([1, 2]), _scores([1, 2])).reason == "fewer than 3 agents were asked twice"
    assert retest_reliability(_scores([1, 1, 1]), _scores([1, 2, 3])).reason == "no variation between agents"
    with pytest.raises(ValueError, match="first scores: participant 'a' occurs more than once"):
        retest_reliability(pd.Series([1.0, 2], ["a", "a"]), _scores([1]))
