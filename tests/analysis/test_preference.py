"""Win rates with their intervals, Bradley–Terry strengths, position bias: by hand, and against other
implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from enquete.analysis.estimates import share_interval
from enquete.analysis.preference import bradley_terry, position_bias, wilson, win_rate


def test_answers_of_different_agents_have_wilsons_interval() -> None:
    wins = win_rate([1.0] * 7 + [0.0] * 3, [f"p{n}" for n in range(10)])
    # Clustered by agents of one pair each, the variance is n/(n − 1) times the binomial one: d = 10/9, n_e = 9.
    whole = share_interval(7, 10)
    assert (wins.n, wins.n_agents, wins.wins_b, wins.wins_a, wins.ties) == (10, 10, 7, 3, 0)
    assert wins.rate == pytest.approx(0.7)
    assert wins.low == pytest.approx(whole["low"], abs=0.02)
    assert wins.high == pytest.approx(whole["high"], abs=0.02)


def test_wilsons_interval() -> None:
    low, high = wilson(0.5, 10)  # statsmodels' proportion_confint(5, 10, method="wilson")
    assert (round(low, 4), round(high, 4)) == (0.2366, 0.7634)


def test_an_agents_own_answers_count_as_little_as_they_say() -> None:
    """Each of four agents answers five times alike: as much as four answers, d = 5·4/3, n_e = 20/(20/3) = 3."""
    y = np.repeat([1.0, 1.0, 0.0, 0.0], 5)
    wins = win_rate(y, list(np.repeat(["p", "q", "r", "s"], 5)))
    z2 = 1.959964**2
    half = math.sqrt(0.25 / 3 + z2 / 36) * math.sqrt(z2) / (1 + z2 / 3)
    assert wins.rate == 0.5
    assert (wins.low, wins.high) == (pytest.approx(0.5 - half, abs=1e-6), pytest.approx(0.5 + half, abs=1e-6))


def test_who_won_everything_has_an_interval_all_the_same() -> None:
    wins = win_rate([0.0] * 12, ["p", "q", "r"] * 4)
    assert (wins.rate, wins.low) == (0.0, pytest.approx(0.0, abs=1e-9))
    assert wins.high == pytest.approx(share_interval(0, 3)["high"])  # three agents say as much as three answers
    assert wins.strength == pytest.approx(math.log(0.5 / 12.5), abs=1e-4)


def test_ties_are_half_a_win_of_each() -> None:
    wins = win_rate([0.5] * 6, list("pqrstu"))
    assert (wins.ties, wins.rate, wins.strength) == (6, 0.5, pytest.approx(0.0, abs=1e-6))


def test_nothing_is_said_without_a_pair() -> None:
    wins = win_rate([], [])
    assert (wins.n, wins.rate, wins.low, wins.strength) == (0, None, None, None)
    with pytest.raises(ValueError, match="equal length"):
        win_rate([1.0], [])


def test_strengths_of_two_are_the_logit_of_their_wins() -> None:
    """With two contestants the maximum of the likelihood is closed: the difference of θ is the log of the odds."""
    theta = bradley_terry(np.array([[0.0, 10.5], [3.5, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(math.log(10.5 / 3.5), abs=1e-4)
    assert theta.sum() == pytest.approx(0.0, abs=1e-9)


def test_strengths_of_a_league_are_the_published_ones() -> None:
    """Agresti, Categorical Data Analysis, 10.6.1: wins (rows) of the American League East 1987, Baltimore = 0."""
    wins = np.array(
        [
            [0, 7, 9, 7, 7, 9, 11],  # Milwaukee
            [6, 0, 7, 5, 11, 9, 9],  # Detroit
            [4, 6, 0, 7, 7, 8, 12],  # Toronto
            [6, 8, 6, 0, 6, 7, 10],  # New York
            [6, 2, 6, 7, 0, 7, 12],  # Boston
            [4, 4, 5, 6, 6, 0, 6],  # Cleveland
            [2, 4, 1, 3, 1, 7, 0],  # Baltimore
        ]
    )
    theta = bradley_terry(wins)
    assert theta - theta[-1] == pytest.approx([1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0], abs=0.005)


def test_who_never_lost_gets_half_a_win_more_on_each_side() -> None:
    """The likelihood has no maximum: log((4 + ½) / ½)."""
    theta = bradley_terry(np.array([[0.0, 4.0], [0.0, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(math.log(9), abs=1e-4)


def test_three_are_ordered_through_whom_they_met() -> None:
    theta = bradley_terry(np.array([[0.0, 8, 0], [2, 0, 8], [0, 2, 0]]))
    assert theta[0] > theta[1] > theta[2]


def test_a_critic_that_always_prefers_the_first_place_is_unusable() -> None:
    bias = position_bias(["A"] * 20, ["B"] * 20)
    assert (bias.n, bias.splits, bias.first, bias.rate, bias.verdict) == (20, 20, 20, 1.0, "unusable")
    second = position_bias(["B"] * 20, ["A"] * 20)
    assert (second.splits, second.first, second.verdict) == (20, 0, "unusable")


def test_a_coin_is_unusable_a_steady_critic_usable_and_few_pairs_say_nothing() -> None:
    assert position_bias(["A", "A"] * 10, ["A", "B"] * 10).verdict == "unusable"
    assert position_bias(["A"] * 20, ["A"] * 18 + ["B"] * 2).verdict == "usable"
    assert position_bias(["A"] * 3, ["A"] * 3).verdict == "not decided"  # Wilson's upper end for 0 of 3 is 56 %
    assert position_bias(["A", ""], ["", "B"]).verdict == "not judged"
