"""Oracles: R irr::kendall(anxiety), hand derivations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.agreement import kendall_w

# irr: "anxiety", 20 subjects rated by three raters
ANXIETY = [
    [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
    [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
    [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
]


def test_anxiety_example_of_irr():
    concordance = kendall_w(ANXIETY)
    assert concordance.w == pytest.approx(0.540, abs=5e-4)  # irr: Wt = 0.54
    assert concordance.chi2 == pytest.approx(30.8, abs=0.05)  # Chisq(19) = 30.8
    assert concordance.p == pytest.approx(0.0429, abs=5e-4)


def test_identical_and_opposed_rankings():
    assert kendall_w([[1, 2, 3, 4]] * 3).w == pytest.approx(1)
    assert kendall_w([[1, 1, 2, 2]] * 3).w == pytest.approx(1)  # ties do not hide agreement
    assert kendall_w([[1, 2, 3], [3, 2, 1]]).w == pytest.approx(0)


def test_incomplete_raters_are_dropped_and_counted():
    concordance = kendall_w([[1, 2, 3], [1, 2, 3], [3, np.nan, 1]])
    assert (concordance.n_raters, concordance.n_dropped, concordance.w) == (2, 1, pytest.approx(1))


@pytest.mark.parametrize("ratings", [[[1, 2, 3]], [[2, 2], [2, 2]], [[1], [2]], [[np.nan, 1], [1, np.nan]]])
def test_undefined_cases_have_no_w(ratings):
    concordance = kendall_w(ratings)
    assert (concordance.w, concordance.chi2, concordance.p) == (None, None, None)


def test_a_flat_list_is_refused():
    with pytest.raises(ValueError, match="raters × items"):
        kendall_w([1, 2, 3])


@given(st.lists(st.lists(st.integers(1, 5), min_size=4, max_size=4), min_size=2, max_size=10))
def test_bounds_and_order_of_raters(ratings):
    concordance = kendall_w(ratings)
    assert concordance.w is None or -1e-9 <= concordance.w <= 1 + 1e-9
    assert kendall_w(ratings[::-1]).w == pytest.approx(concordance.w)
