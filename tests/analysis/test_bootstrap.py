"""Oracles: quantiles of the binomial distribution (hand derivation), scipy.stats.bootstrap, coverage on planted
noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.estimates import bca, draws_within, left_out, resampled_counts


def _mean_of(values):
    return lambda counts: counts @ np.asarray(values, dtype=float) / counts.sum(axis=1)


def bootstrap_counts(counts, statistic, *, draws=1000, seed=0):
    """As the statistics use the pieces: agents by cell, resampled as a whole."""
    c = np.asarray(counts, dtype=np.float64)
    drawn = resampled_counts(c, draws_within(c.size, draws), np.random.default_rng(seed))
    return bca(float(statistic(c[None, :])[0]), statistic(drawn), statistic(left_out(c)), weight=c)


def test_interval_of_a_share_by_hand():
    # 5 of 10 agents say 1: the resampled number is binomial(10, ½). P(≤ 1) = .0107 < .025 < P(≤ 2) = .0547, so .2 and
    # .8; by symmetry z₀ = a = 0, so BCa reads the same quantiles.
    interval = bootstrap_counts([5, 5], _mean_of([0, 1]), draws=4000)
    assert (interval.estimate, interval.low, interval.high, interval.method) == (0.5, 0.2, 0.8, "bca")


def test_bca_is_that_of_scipy():
    x = np.random.default_rng(2).exponential(size=40)  # skew, so that both corrections matter
    interval = bootstrap_counts(np.ones(40), _mean_of(x), draws=20_000)
    other = stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=1).confidence_interval
    assert (interval.low, interval.high) == pytest.approx((other.low, other.high), abs=0.02)
    plain = np.quantile([x[np.random.default_rng(s).integers(0, 40, 40)].mean() for s in range(4000)], 0.975)
    assert interval.high > plain + 0.02  # the correction is there: a skewed sample stretches the upper end


def test_counts_of_agents_and_multinomial_counts_have_the_same_distribution():
    few = resampled_counts([60, 40], 4000, np.random.default_rng(0))  # multinomial
    many = resampled_counts([1] * 60 + [1] * 40, 4000, np.random.default_rng(0))  # agent by agent
    assert (few.sum(axis=1) == 100).all()
    assert (many.sum(axis=1) == 100).all()
    assert few[:, 0].std() == pytest.approx(np.sqrt(100 * 0.6 * 0.4), rel=0.05)  # binomial SD
    assert many[:, :60].sum(axis=1).std() == pytest.approx(np.sqrt(100 * 0.6 * 0.4), rel=0.05)


def test_coverage_of_a_95_percent_interval():
    rng = np.random.default_rng(7)
    hits = 0
    for seed in range(200):
        counts = rng.multinomial(60, [0.2, 0.3, 0.5])
        interval = bootstrap_counts(counts[counts > 0], _mean_of(np.flatnonzero(counts)), draws=400, seed=seed)
        hits += interval.low <= 1.3 <= interval.high
    assert 0.90 <= hits / 200 <= 0.99  # ± 3 standard errors of 200 draws at .95


def test_degenerate_data_have_a_reason_instead():
    alike = bootstrap_counts([9], _mean_of([3]))
    assert (alike.estimate, alike.low, alike.method) == (3.0, None, "none")
    assert alike.reason == "every resample gives the same figure"
    assert bca(np.nan, [1.0, 2.0], [1.0]).reason == "the figure is undefined"
    assert bca(1.0, [1.0, np.nan, 2.0, 3.0], [1.0, 2.0]).reason == "undefined in 1 of 4 resamples"


def test_without_a_usable_correction_the_method_says_so():
    ends = np.linspace(0, 1, 101)
    assert bca(0.5, ends, np.ones(4)).method == "percentile"  # a jackknife without spread
    assert bca(-1, ends, [1.0, 2.0]).method == "percentile"  # z₀ is infinite: every resample is larger
    plain = bca(0.5, ends, np.empty(0))
    assert (plain.method, plain.low, plain.high) == ("bc", pytest.approx(0.025), pytest.approx(0.975))


def test_draws_are_bounded_by_the_cells_and_bad_ones_named():
    assert draws_within(25) == 1000
    assert draws_within(100_000) == 200
    with pytest.raises(ValueError, match="at least 100 resamples are needed for an interval, not 5"):
        draws_within(25, 5)
    with pytest.raises(ValueError, match="between 0 and 1, not 95"):
        bca(0.0, [1.0], [1.0], level=95)


def test_jackknife_leaves_one_agent_out_and_gives_up_on_large_tables():
    assert left_out([2, 1]).tolist() == [[1, 1], [2, 0]]
    assert left_out(np.ones(1001)).shape == (0, 1001)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 99))
def test_same_seed_same_interval_and_the_ends_lie_within_the_data(counts, seed):
    one, other = (bootstrap_counts(counts, _mean_of(range(len(counts))), draws=200, seed=seed) for _ in range(2))
    assert one == other
    if one.low is not None:
        assert 0 <= one.low <= one.high <= len(counts) - 1
