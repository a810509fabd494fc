"""Polarity: hand derivations, and invariants of the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.association import (
    QUADRANTS,
    agent_centred,
    alike_ratings,
    centred,
    group_polarity,
    polarity,
    quadrant,
)

POINTS = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), max_size=20)


def test_scales_of_any_length_are_centred_to_the_same_range():
    assert centred([1, 4, 7], 1, 7).tolist() == [-1, 0, 1]
    assert centred([0, 5, 10], 0, 10).tolist() == [-1, 0, 1]
    assert centred([1, 2, 3, 4], 1, 4).tolist() == pytest.approx([-1, -1 / 3, 1 / 3, 1])
    assert math.isnan(centred([np.nan], 1, 7)[0])
    with pytest.raises(ValueError, match="3 to 3"):
        centred([3], 3, 3)


def test_polarity_by_hand():
    # On 1–7: (7, 2) is d′ = 1, p′ = −2/3, so −2/3; (1, 2) is −1 · −2/3 = 2/3; (4, 7) lies on the midpoint: 0
    wish, expectation = centred([7, 1, 4], 1, 7), centred([2, 2, 7], 1, 7)
    assert polarity(wish, expectation).tolist() == pytest.approx([-2 / 3, 2 / 3, 0])


def test_quadrants():
    assert quadrant(0.1, 0.1) == "wished_expected"
    assert quadrant(0.1, -0.1) == "wished_unexpected"
    assert quadrant(-0.1, 0.1) == "feared_expected"
    assert quadrant(-0.1, -0.1) == "feared_unexpected"
    assert quadrant(0, 1) == quadrant(1, 0) == "undecided"


def test_two_camps_have_a_polarity_although_their_mean_point_is_the_middle():
    group = group_polarity([1, -1, np.nan], [1, -1, 1])
    assert (group.n, group.n_missing, group.polarity) == (2, 1, 1)
    assert (group.wish, group.expectation, group.quadrant) == (0, 0, "undecided")
    assert group.quadrants == {**dict.fromkeys(QUADRANTS, 0), "wished_expected": 1, "feared_unexpected": 1}


def test_a_mean_of_nothing_but_rounding_error_is_the_midpoint():
    thirds = [1 / 3, 1 / 3, -2 / 3]  # their mean in binary is not exactly 0
    assert group_polarity(thirds, [1, 1, 1]).quadrant == "undecided"


def test_nobody_has_no_polarity():
    group = group_polarity([np.nan, 1], [1, np.nan])
    assert (group.n, group.n_missing, group.polarity, group.wish, group.quadrant) == (0, 2, None, None, None)
    assert group_polarity([], []).polarity is None
    with pytest.raises(ValueError, match="equally long"):
        group_polarity([1], [1, 2])


@given(POINTS)
def test_range_mirror_and_counts(points):
    d, p = (centred([point[i] for point in points], 1, 7) for i in (0, 1))
    group = group_polarity(d, p)
    assert sum(group.quadrants.values()) == group.n == len(points)
    if points:
        assert -1 <= group.polarity <= 1
        # turning both scales round changes nothing, turning one turns the sign
        assert group_polarity(-d, -p).polarity == pytest.approx(group.polarity)
        assert group_polarity(-d, p).polarity == pytest.approx(-group.polarity)


def test_raters_who_rate_everything_alike():
    alike = alike_ratings([[4, 4, 4], [1, 1, 2], [7, 7, np.nan]])
    assert (alike.n_alike, alike.n_complete, alike.n_dropped, alike.share) == (1, 2, 1, 0.5)
    assert alike_ratings([[np.nan, 1]]).share is None
    with pytest.raises(ValueError, match="raters × things"):
        alike_ratings([1, 2])


def test_agent_centred_points_leave_out_an_agents_level():
    # on 1–5, half-width 2: 5 and 4 are ±½ around 4.5; alone or missing, there is nothing to compare
    rescaled = agent_centred([[5, 4], [3, np.nan], [2, 2]], 1, 5)
    assert rescaled[0].tolist() == [0.25, -0.25]
    assert np.isnan(rescaled[1]).all()
    assert rescaled[2].tolist() == [0, 0]
    # both ratings lie above the midpoint; against its other future this one is wished for less and expected more
    wish, expectation = ([[5, 4]], [[4, 5]])
    raw = group_polarity(centred([4], 1, 5), centred([5], 1, 5))
    centred_polarity = group_polarity(agent_centred(wish, 1, 5)[:, 1], agent_centred(expectation, 1, 5)[:, 1])
    assert (raw.quadrant, centred_polarity.quadrant) == ("wished_expected", "feared_expected")
    with pytest.raises(ValueError, match="3 to 3"):
        agent_centred([[3]], 3, 3)
    with pytest.raises(ValueError, match=r"not an array of 1 dimension"):
        agent_centred([3], 1, 5)


@given(st.lists(st.tuples(*[st.integers(1, 7)] * 4), min_size=1, max_size=10), st.integers(-3, 3))
def test_agent_centred_points_sum_to_zero_and_ignore_a_constant(rows, shift):
    rescaled = agent_centred(rows, 1, 7)
    assert rescaled.sum(axis=1) == pytest.approx(np.zeros(len(rows)), abs=1e-9)
    assert agent_centred(np.array(rows) + shift, 1, 7).tolist() == rescaled.tolist()
