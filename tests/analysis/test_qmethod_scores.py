"""Weights, scores, reliability and errors by hand; reliabilities as tabled by Brown 1980 for .80 a sort."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.qmethod import (
    composites,
    factor_array,
    is_flat,
    reliability,
    standard_error,
    standard_errors_of_difference,
    weights,
    z_scores,
)


def test_weights_by_hand() -> None:
    """l/(1 − l²): .5/.75, .8/.36; at 1 and beyond as at .999: .999/(1 − .998001)."""
    loadings = np.array([[0.5, 0.8], [-0.8, 0.0], [1.0, -1.04]])
    weighting = weights(loadings, np.array([[True, False], [True, False], [True, True]]))
    limit = 0.999 / 0.001999
    assert weighting == pytest.approx(np.array([[0.5 / 0.75, 0], [-0.8 / 0.36, 0], [limit, -limit]]))


def test_scores_by_hand() -> None:
    """(2·(−1, 0, 1) − 1·(1, 0, −1)) / 3 = (−1, 0, 1): SD 1, so z is the same. The negative sort counts in reverse."""
    scores = composites(np.array([[-1.0, 0, 1], [1, 0, -1]]), np.array([[2.0], [-1.0]]))
    assert scores == pytest.approx(np.array([[-1, 0, 1]]))
    assert z_scores(scores) == pytest.approx(np.array([[-1, 0, 1]]))
    assert z_scores(np.array([[-2.0, 2, 0, 0]])) == pytest.approx(np.array([[-2, 2, 0, 0]]) / (8 / 3) ** 0.5)


def test_sorts_that_cancel_are_flat() -> None:
    sorts = np.array([[-1.0, 0, 1], [1, 0, -1]])
    assert is_flat(composites(sorts, np.ones((2, 1))))
    assert not is_flat(composites(sorts, np.array([[1.0], [0.5]])))


def test_array_and_its_rule_for_ties() -> None:
    assert factor_array(np.array([0.3, -1.2, 0.3, 0.6]), {-1: 1, 0: 2, 1: 1}).tolist() == [0, -1, 0, 1]
    tied = np.array([0.1 + 0.2, 0.3, -1.0, 0.4])  # 0.30000000000000004 is no more than 0.3
    assert factor_array(tied, {-1: 1, 0: 1, 1: 2}).tolist() == [0, 1, -1, 1]


@pytest.mark.parametrize(("flagged", "expected"), [(1, 0.8), (2, 0.889), (3, 0.923), (4, 0.941), (10, 0.976)])
def test_reliability(flagged: int, expected: float) -> None:
    assert reliability(flagged) == pytest.approx(expected, abs=5e-4)
    assert standard_error(flagged) == pytest.approx((1 - reliability(flagged)) ** 0.5)


def test_errors_by_hand() -> None:
    """One sort: √.2 = .447; three: √(1/13) = .277; the difference of both: √(.2 + 1/13)."""
    assert (standard_error(1), standard_error(3)) == (pytest.approx(0.4472, abs=1e-4), pytest.approx((1 / 13) ** 0.5))
    errors = standard_errors_of_difference(np.array([standard_error(1), standard_error(3)]))
    assert errors[0, 1] == errors[1, 0] == pytest.approx((0.2 + 1 / 13) ** 0.5)
    with pytest.raises(ValueError, match="p = 0"):
        reliability(0)
