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


@given(PAIRS)
def test_kappa_is_that_of_sklearn_and_symmetric(pairs):
    x, y = zip(*pairs, strict=True)
    agreement = weighted_kappa(x, y)
    if agreement.kappa is None:
        assert len({*x, *y}) == 1
        return
    assert agreement.kappa == pytest.approx(cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5]))
    assert weighted_kappa(y, x).kappa == pytest.approx(agreement.kappa)
    assert -1 <= agreement.kappa <= 1


def test_no_pairs_one_value_and_bad_input():
    assert weighted_kappa([np.nan], [1]).reason == "no pairs"
    alike = weighted_kappa([3, 3], [3, 3])
    assert (alike.kappa, alike.exact_share) == (None, 1.0)
    assert "chance alone agrees fully" in alike.reason
    with pytest.raises(ValueError, match=r"equal length, not \(1,\) and \(2,\)"):
        weighted_kappa([1], [1, 2])
