"""Oracles: R agrmt's documentation, numpy's type-7 quartiles, hand derivations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.panel import agreement, bimodality, consensus, describe, frequencies, iqr

COUNTS = st.lists(st.integers(0, 30), min_size=3, max_size=9).filter(any)


def test_agreement_example_of_agrmt():
    assert agreement([30, 40, 210, 130, 530, 50, 10]) == pytest.approx(0.6113333, abs=1e-7)  # agrmt::agreement


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([0, 0, 40, 0, 0], 1),  # unanimous
        ([8, 8, 8, 8, 8], 0),  # uniform
        ([20, 0, 0, 0, 20], -1),  # half and half at the ends
        ([0, 20, 0, 20, 0], 1 / 6),  # 2 and 4: TU 2, TDU 1, U = (3·2 − 4·1)/9 = 2/9, times 1 − 1/4
        ([0, 10, 10, 0, 0], 0.75),  # two neighbours: no bimodal triple, U = 1, times 1 − 1/4
        ([0, 10, 0, 0, 30], 0.5 * 0.75 * (3 * 1 - 4 * 2) / 9 + 0.5 * 1),  # layers 01001 (TU 1, TDU 2) and 00001
    ],
)
def test_agreement_by_hand(counts, expected):
    assert agreement(counts) == pytest.approx(expected)


def test_agreement_is_undefined_without_ratings_or_on_two_points():
    assert agreement([0, 0, 0]) is None
    assert agreement([3, 4]) is None


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([0, 0, 9, 0, 0], 1),
        ([5, 0, 0, 0, 5], 0),
        ([0, 5, 0, 5, 0], 1 + math.log2(1 - 1 / 4)),  # μ = 3, both one point away on a width of 4
        ([1, 1, 1], 1 + 2 / 3 * math.log2(1 - 1 / 2)),  # μ = 2, two of three half the width away
    ],
)
def test_consensus_by_hand(counts, expected):
    assert consensus(counts) == pytest.approx(expected)


def test_bimodality_by_hand():
    # 1, 1, 5, 5: skew 0; biased kurtosis m4/m2² − 3 = 16/16 − 3 = −2; corrected
    # (n−1)/((n−2)(n−3))·((n+1)·(−2) + 6) = 3/2·(−10 + 6) = −6; BC = 1/(−6 + 3·9/2) = 1/7.5
    assert bimodality([1, 1, 5, 5]) == pytest.approx(1 / 7.5)
    assert bimodality([1, 2, 3]) is None
    assert bimodality([4, 4, 4, 4]) is None
    assert bimodality(np.tile(np.arange(1, 1001), 50)) == pytest.approx(5 / 9, abs=1e-3)  # uniform


def test_describe_by_hand():
    description = describe([1, 2, 4, 5, np.nan], 1, 5)
    assert (description.n, description.n_missing) == (4, 1)
    # type 7: position 1 + (n−1)q: Q1 at 1.75 → 1.75, Q3 at 3.25 → 4.25
    assert (description.q1, description.median, description.q3, description.iqr) == (1.75, 3, 4.25, 2.5)
    assert (description.mean, description.top_share) == (3, 0.5)
    assert description.sd == pytest.approx(math.sqrt(10 / 3))
    assert describe([1, 2, 4, 5], 1, 5, top=1).top_share == 0.25


def test_one_and_no_rating():
    only = describe([4], 1, 5)
    assert (only.median, only.iqr, only.sd, only.agreement, only.consensus, only.bimodality) == (4, 0, None, 1, 1, None)
    none = describe([np.nan, np.nan], 1, 5)
    assert (none.n, none.n_missing) == (0, 2)
    assert {none.median, none.iqr, none.mean, none.sd, none.top_share, none.agreement, none.consensus} == {None}
    assert iqr([]) is None


def test_seven_points_and_scales_below_zero():
    assert frequencies([-2, 0, 2, 2], -2, 2).tolist() == [1, 0, 1, 0, 2]
    assert describe([1, 7], 1, 7).agreement == -1


@pytest.mark.parametrize(("rating", "shown"), [(6, "6"), (0, "0"), (2.5, "2.5")])
def test_ratings_off_the_scale_are_refused(rating, shown):
    with pytest.raises(ValueError, match=f"rating {shown} is not a point of the scale 1–5"):
        describe([3, rating], 1, 5)


def test_bad_frequencies_are_refused():
    with pytest.raises(ValueError, match="at least two points; 3 to 3"):
        frequencies([3], 3, 3)
    with pytest.raises(ValueError, match="≥ 0"):
        agreement([1, -1, 2])


@given(COUNTS)
def test_bounds_mirror_image_and_size(counts):
    for measure, least in ((agreement, -1), (consensus, 0)):
        value = measure(counts)
        assert least <= value <= 1
        assert measure(counts[::-1]) == pytest.approx(value)
        assert measure([3 * c for c in counts]) == pytest.approx(value)  # shares count, not numbers


@given(st.lists(st.integers(1, 5), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_order_of_agents_does_not_matter(ratings, random):
    shuffled = list(ratings)
    random.shuffle(shuffled)
    first, second = describe(ratings, 1, 5), describe(shuffled, 1, 5)
    assert (first.median, first.iqr, first.agreement) == (second.median, second.iqr, second.agreement)
    assert first.mean == pytest.approx(second.mean)
