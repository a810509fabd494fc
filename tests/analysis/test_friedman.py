"""Oracles: R friedman.test(RoundingTimes), scipy.stats.friedmanchisquare, hand derivations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.agreement import friedman

# Hollander & Wolfe 1973, p. 140: three ways of rounding first base, 22 players (?friedman.test)
ROUNDING = """5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 5.45 5.55 5.60 5.40 5.40 5.35
5.45 5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 5.25 5.20 5.10 5.65 5.55 5.45 5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50 5.40
5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55 5.50 5.45 5.25 5.65 5.60 5.40 5.70 5.65 5.55 6.30 6.30 6.25"""


def test_rounding_times_example_of_r():
    test = friedman(np.array(ROUNDING.split(), dtype=float).reshape(22, 3))
    assert (test.n, test.k, test.df) == (22, 3, 2)
    assert test.chi2 == pytest.approx(11.1429, abs=1e-4)  # R: Friedman chi-squared = 11.143, df = 2
    assert test.p == pytest.approx(0.003805, abs=1e-6)  # R: p-value = 0.003805
    assert test.w == pytest.approx(11.142857 / 44)  # W = χ²/(n(k − 1))
    assert test.reason is None


def test_mean_ranks_use_mid_ranks_and_the_lowest_is_one():
    # ranks 1, 2.5, 2.5 and 1, 2, 3: means 1, 2.25, 2.75
    assert friedman([[1, 5, 5], [1, 2, 7]]).mean_ranks == (1, 2.25, 2.75)


def test_one_rater_or_none_is_too_few_and_equal_ratings_have_no_variation():
    assert friedman([[1, 2, 3]]).reason == "too_few_raters"
    nobody = friedman(np.full((3, 4), np.nan))
    assert (nobody.n, nobody.n_dropped, nobody.reason, nobody.mean_ranks) == (0, 3, "too_few_raters", ())
    alike = friedman([[4, 4], [2, 2], [1, np.nan]])
    assert (alike.n, alike.n_dropped, alike.chi2, alike.reason) == (2, 1, None, "no_variation")


def test_a_comparison_needs_two_things():
    for ratings in ([1, 2, 3], [[1], [2]]):
        with pytest.raises(ValueError, match="at least two things"):
            friedman(ratings)


@given(st.lists(st.tuples(*[st.integers(1, 7)] * 4), min_size=2, max_size=30))
def test_chi2_and_p_are_those_of_scipy(rows):
    x = np.array(rows, dtype=float)
    test = friedman(x)
    if test.reason == "no_variation":
        assert (np.ptp(x, axis=1) == 0).all()
        return
    chi2, p = stats.friedmanchisquare(*x.T)
    assert test.chi2 == pytest.approx(chi2, abs=1e-9)
    assert test.p == pytest.approx(p)
    assert 0 <= test.w <= 1 + 1e-12
