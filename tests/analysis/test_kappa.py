"""Oracles: hand derivations, sklearn.metrics.cohen_kappa_score(weights="quadratic")."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from enquete.analysis.agreement import weighted_kappa

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=40)


def test_kappa_by_hand():
    # (1,1) (2,2) (3,2): mean squared difference ⅓; variances ⅔ and 2/9, means ⅓ apart: ⅔ + 2/9 + 1/9 = 1; κ = 1 − ⅓
    agreement = weighted_kappa([1, 2, 3, np.nan], [1, 2, 2, 4])
    assert agreement.kappa == pytest.approx(2 / 3)
    assert (agreement.n, agreement.n_missing, agreement.exact_share) == (3, 1, pytest.approx(2 / 3))


def test_kappa_of_two_raters_one_of_whose_categories_nobody_chose():
    """R, irr: kappa2(anxiety[, 2:3], "squared"), and scikit-learn: .252. Nobody said 5; weights by the ratings
    themselves gave .230."""
    second = [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4]
    third = [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2]
    assert weighted_kappa(second, third).kappa == pytest.approx(0.252, abs=5e-4)


def test_ratings_between_points_are_categories():
    # places 0 1 2 | 0 1 1: as (1,1) (2,2) (3,2) above
    assert weighted_kappa([1, 1.5, 4], [1, 1.5, 1.5]).kappa == pytest.approx(2 / 3)


@given(PAIRS)
def test_kappa_is_that_of_sklearn_and_symmetric(pairs):
    x, y = zip(*pairs, strict=True)
    agreement = weighted_kappa(x, y)
    if agreement.kappa is None:
        assert len({*x, *y}) == 1
        return
    assert agreement.kappa == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
    assert weighted_kappa(y, x).kappa == pytest.approx(agreement.kappa)
    assert -1 <= agreement.kappa <= 1


def test_no_pairs_one_value_and_bad_input():
    assert weighted_kappa([np.nan], [1]).reason == "no pairs"
    alike = weighted_kappa([3, 3], [3, 3])
    assert (alike.kappa, alike.exact_share) == (None, 1.0)
    assert "chance alone agrees fully" in alike.reason
    with pytest.raises(ValueError, match=r"equal length, not \(1,\) and \(2,\)"):
        weighted_kappa([1], [1, 2])
