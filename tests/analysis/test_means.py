"""Means with Student's interval against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from enquete.analysis.estimates import mean_of, share_interval


def test_interval_is_scipys_and_ends_at_the_scale() -> None:
    x = np.array([1.0, 2, 2, 5, np.nan])
    mean, expected = mean_of(x), stats.ttest_1samp(x[:4], 0).confidence_interval(0.95)
    assert (mean.n, mean.mean) == (4, 2.5)
    assert (mean.low, mean.high) == pytest.approx((expected.low, expected.high))
    assert mean_of(x, (1, 5)).low == 1
    assert (mean_of([3.0]).mean, mean_of([3.0]).low, mean_of([]).mean) == (3, None, None)


def test_a_share_has_wilsons_interval() -> None:
    """By hand for k of n = 0 of 10: low 0, high z²/(n + z²), z = 1.959964."""
    interval = share_interval(0, 10)
    assert (interval["share"], interval["low"]) == (0, 0)
    assert interval["high"] == pytest.approx(3.841459 / 13.841459)
