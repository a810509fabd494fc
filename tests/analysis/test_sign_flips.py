"""One method for the test of a mean change and for its interval."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.sign_flips import mean_change


def test_ten_pairs_alike_and_six_that_rise_by_hand() -> None:
    """Of 2¹⁶ sign patterns those as extreme flip none of the six, or all: 2 of 64. Drawn: within 3 SE of it."""
    exact = mean_change([0] * 8 + [1] * 6)
    assert (exact.method, exact.p) == ("all sign flips", 1 / 32)
    assert exact.low is not None
    assert exact.high is not None
    assert 0 < exact.low < exact.mean == 6 / 14 < exact.high
    drawn = mean_change([0] * 10 + [1] * 6)
    assert drawn.method == "random sign flips"
    assert drawn.p == pytest.approx(1 / 32, abs=3 * 2 * np.sqrt(1 / 64 / 9_999))


def test_six_differences_of_one_sign_by_hand() -> None:
    """1 … 6: p = 2/64, and the interval goes from the least to the greatest subset mean; five differences reach .0625
    and give none."""
    assert (mean_change([1, 2, 3, 4, 5, 6]).low, mean_change([1, 2, 3, 4, 5, 6]).high) == (1, 6)
    five = mean_change([1, 2, 3, 4, 5, np.nan])
    assert (five.n, five.p, five.low, five.high) == (5, 2 / 32, None, None)


def test_without_a_change_or_a_pair_there_is_nothing_to_test() -> None:
    assert (mean_change([0, 0, 0]).mean, mean_change([0, 0, 0]).p, mean_change([0, 0, 0]).low) == (0, None, None)
    assert (mean_change([np.nan]).n, mean_change([]).mean) == (0, None)


@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_interval_leaves_0_out_exactly_where_the_test_is_significant(n: int) -> None:
    """Five-point changes, 300 panels a size: Wilcoxon's test beside the interval of the Hodges–Lehmann estimate
    contradicted each other in 303 of 448 significant cases of 20 pairs, with intervals of no width among them."""
    rng = np.random.default_rng(n)
    for _ in range(300):
        shift = rng.uniform(0, 0.8)
        d = np.clip(np.round(rng.normal(shift, 1, n)), -4, 4)
        found = mean_change(d)
        if found.p is None or found.low is None or found.high is None:
            continue
        assert (found.low > 0 or found.high < 0) == (found.p < 0.05)
        assert found.low < found.high or np.ptp(d) == 0


@pytest.mark.soak
@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_interval_covers_the_mean_change(n: int) -> None:
    """1,000 panels: .95, within 3 standard errors, or more where there are few sign patterns."""
    rng = np.random.default_rng(n)
    intervals = [mean_change(rng.normal(0.3, 1, n)) for _ in range(1_000)]
    covered = np.mean([found.low <= 0.3 <= found.high for found in intervals])  # type: ignore[operator]
    assert 0.93 <= covered <= 0.975
