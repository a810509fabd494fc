"""Oracles: the stated rule, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.replicates import judge_claim


@pytest.mark.parametrize(
    ("values", "threshold", "verdict", "share"),
    [
        ([0.3, 0.2, 0.5], None, "stable", 1),
        ([0.3, 0.2, -0.1], None, "fragile", 2 / 3),
        ([0.1] * 9 + [-0.1], None, "stable", 0.9),
        ([0.1] * 8 + [-0.1], None, "fragile", 8 / 9),
        ([0.15, 0.18, 0.25], 0.2, "fragile", 2 / 3),  # same sign, other side of the threshold
        ([0.2, 0.21, 0.3], 0.2, "stable", 1),  # the threshold itself counts as above
        ([0.3, 0.2, 0.0], None, "fragile", 2 / 3),  # 0 is neither above nor below
        ([0.0, 0.0, 0.0], None, "stable", 1),
        ([0.3, 0.2], None, "not judged", 1),
        ([0.3, 0.2, None, float("nan")], None, "not judged", 1),
        ([], None, "not judged", None),
    ],
)
def test_rule(values, threshold, verdict, share):
    found = judge_claim(values, threshold=threshold)
    assert (found.verdict, found.share_agreeing) == (verdict, share if share is None else pytest.approx(share))


def test_reason_range_and_missing():
    found = judge_claim([0.1, None, 0.4, 0.3], threshold=0.2)
    assert (found.n, found.n_missing, found.low, found.high) == (3, 1, 0.1, 0.4)
    assert found.reason == "same sign and same side of 0.2 in 2 of 3 replicates"
    assert judge_claim([1.0]).reason == "fewer than 3 replicates have the figure"
    with pytest.raises(ValueError, match=r"above \.5 and up to 1, not 0\.5"):
        judge_claim([1.0], stable_from=0.5)
    with pytest.raises(ValueError, match="infinite"):
        judge_claim([float("inf")])


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=20))
def test_verdict_ignores_order_and_direction(values):
    found = judge_claim(values)
    assert judge_claim(values[::-1]) == found
    assert judge_claim([-v for v in values]).verdict == found.verdict
