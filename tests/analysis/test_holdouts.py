"""Oracles: hand-made panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.feedback import camps, hold_outs
from enquete.analysis.panel import describe, is_polarised

RATINGS = st.lists(st.one_of(st.integers(1, 5), st.none()), min_size=1, max_size=20)


def _round(values):
    return pd.Series(values, [f"p{i}" for i in range(len(values))], dtype=float)


def _known(values):
    return _round([np.nan if v is None else v for v in values])


def test_who_stayed_off_the_median_and_came_no_closer():
    # median of the round before: 4. p3 stood at 2 and moved to 1; p4 came from the median; p5 was not there before
    held_out = hold_outs(_round([4, 4, 4, 1, 2, 1, 5]), _round([4, 4, 4, 2, 4, np.nan, 4]))
    assert (held_out.median, held_out.n_rated, held_out.n_missing, held_out.n_paired) == (4, 7, 0, 6)
    assert (held_out.below, held_out.above) == (("p3",), ())
    # |gap| 0 0 0 3 2 3 1
    assert (held_out.share, held_out.mean_gap) == (pytest.approx(1 / 6), pytest.approx(9 / 7))


@pytest.mark.parametrize(
    ("before", "final", "holds"),
    [
        (1, 1, True),
        (2, 1, True),  # away from the median
        (1, 2, False),  # closer to it, though still two points off
        (1, 5, False),  # on the other side
        (3, 2, False),  # one point off before: went there, did not stay
        (3, 3, False),  # the neighbour of the median agrees with it
    ],
)
def test_staying_is_on_the_same_side_and_no_closer(before, final, holds):
    held_out = hold_outs(_round([final, 4, 4, 4]), _round([before, 4, 4, 4]), median=4)
    assert (held_out.below == ("p0",)) == holds


def test_half_of_the_panel_are_no_hold_outs():
    # shown a median that nobody gave, 5: the three at 1 are half of six and the panel, not a minority in it
    half, fewer = _round([1, 1, 1, 5, 5, 5]), _round([1, 1, 5, 5, 5, 5])
    assert hold_outs(half, half, median=5).below == ()
    assert hold_outs(fewer, fewer, median=5).below == ("p0", "p1")


def test_the_median_shown_and_the_scale_count():
    x = _round([5, 3, 3, 1])
    assert (hold_outs(x, x).below, hold_outs(x, x).above) == (("p3",), ("p0",))
    assert hold_outs(x, x, median=4).above == ()
    assert hold_outs(x, x, distance=3).below == ()  # half of 1 to 7


@given(RATINGS)
def test_the_scale_turned_round_turns_the_sides(values):
    ratings = _known(values)
    held_out, turned = hold_outs(ratings, ratings), hold_outs(6 - ratings, 6 - ratings)
    assert (held_out.below, held_out.above) == (turned.above, turned.below)
    assert len(held_out.below) < len(values) / 2 or not held_out.below
    split, other = camps(ratings, polarised=True), camps(6 - ratings, polarised=True)
    assert (split is None) == (other is None)
    if split and other:
        assert (split.below, split.above, split.n_between) == (other.above, other.below, other.n_between)


def test_camps_part_where_the_ratings_do():
    # n1·n2·(difference of means)²: after 1 2·4·9 = 72, after 2 3·3·(14/3 − 4/3)² = 100, after 4 4·2·9 = 72
    sides = camps(_round([1, 1, 2, 4, 5, 5]), polarised=True)
    assert (sides.low, sides.high) == (2, 4)
    assert (sides.below, sides.above, sides.n_between) == (("p0", "p1", "p2"), ("p3", "p4", "p5"), 0)


def test_who_could_belong_to_either_camp_belongs_to_none():
    sides = camps(_round([1, 1, 3, 5, 5]), polarised=True)
    assert (sides.below, sides.above, sides.n_between) == (("p0", "p1"), ("p3", "p4"), 1)


@pytest.mark.parametrize(("ones", "fives", "split"), [(25, 25, True), (38, 12, False), (37, 13, True), (20, 30, True)])
def test_a_quarter_of_the_panel_is_a_camp_and_fewer_hold_out(ones, fives, split):
    """At both ends A = 1 − 2·2·(share of the smaller): .04 for 12 of 50, .52 would be agreed; only the quarter
    decides."""
    ratings = _round([1] * ones + [5] * fives)
    agreement = describe(ratings.to_numpy(), 1, 5).agreement
    assert agreement < 0.2
    assert (camps(ratings, polarised=agreement < 0.2) is not None) == split
    assert bool(hold_outs(ratings, ratings).above) == (fives < 25 and ones > 25)


def test_a_panel_that_is_not_polarised_has_no_camps():
    assert camps(_round([2, 2, 4, 4]), polarised=False) is None
    assert camps(_round([2, 2, 2]), polarised=True) is None


def test_even_splits_leave_no_hold_outs_where_the_half_iqr_made_nearly_everybody_one():
    """The defect: with IQR 2 a distance of 1 off the median made every other rating hold out, 41 to 44 of 50."""
    even = _round([1] * 10 + [2] * 10 + [3] * 10 + [4] * 10 + [5] * 10)
    held = hold_outs(even, even)
    assert (len(held.below), len(held.above)) == (10, 10)  # 1 and 5 about the median 3; before: all but the ten at 3
    ends = _round([1] * 25 + [5] * 25)
    assert camps(ends, polarised=bool(is_polarised(describe(ends.to_numpy(), 1, 5)))) is not None


def test_nobody_and_bad_input():
    nobody = hold_outs(_round([np.nan]), _round([3]))
    assert (nobody.median, nobody.share, nobody.mean_gap, nobody.n_missing) == (3, None, None, 1)
    first = hold_outs(_round([1, 5]), _round([np.nan, np.nan]))
    assert (first.median, first.n_paired, first.below, first.share) == (None, 0, (), None)
    with pytest.raises(ValueError, match="above 0 scale points, not 0"):
        hold_outs(_round([1]), _round([1]), distance=0)
    with pytest.raises(ValueError, match="before ratings: participant 'p' occurs more than once"):
        hold_outs(_round([1]), pd.Series([1.0, 2], ["p", "p"]))
    with pytest.raises(ValueError, match="final ratings: participant 'p' occurs more than once"):
        camps(pd.Series([1.0, 2], ["p", "p"]), polarised=True)
