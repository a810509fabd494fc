"""Oracles: R's wilcox.test example, hand derivations, scipy's Mann–Whitney U, brute force over resampled agents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.change.effects import cliffs_delta, paired_effects, walsh_interval
from enquete.analysis.change.paired import hodges_lehmann, wilcoxon

# Hollander & Wolfe 1973, p. 29, nine patients at two visits (?wilcox.test)
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=30)


def test_cliffs_delta_by_hand():
    # pairs (x, y): y larger in 1<2, 1<4, 3<4; smaller in 3>2: (3 − 1)/4
    assert cliffs_delta([1, 3], [2, 4]) == pytest.approx(0.5)
    assert cliffs_delta([1, 2], [3, np.nan, 4]) == 1
    assert cliffs_delta([2, 2], [2]) == 0
    assert cliffs_delta([], [1]) is None


@given(PAIRS)
def test_cliffs_delta_is_rescaled_mann_whitney(pairs):
    x, y = zip(*pairs, strict=True)
    u = stats.mannwhitneyu(y, x).statistic
    assert cliffs_delta(x, y) == pytest.approx(2 * u / len(x) ** 2 - 1)
    assert cliffs_delta(y, x) == pytest.approx(-cliffs_delta(x, y))


def test_depression_example_of_r():
    found = paired_effects(SECOND, FIRST)
    assert found.rank_biserial.estimate == pytest.approx(35 / 45)  # V = 40, W− = 5
    assert found.hodges_lehmann.estimate == pytest.approx(0.46)  # R: (pseudo)median
    assert found.hodges_lehmann.low < 0.46 < found.hodges_lehmann.high
    assert found.cliff.estimate == pytest.approx(cliffs_delta(SECOND, FIRST))


@given(PAIRS)
def test_estimates_are_those_of_the_test(pairs):
    x, y = (np.array(wave, dtype=float) for wave in zip(*pairs, strict=True))
    found, test = paired_effects(x, y, draws=100), wilcoxon(x, y)
    assert found.rank_biserial.estimate == (None if test.rank_biserial is None else pytest.approx(test.rank_biserial))
    assert found.hodges_lehmann.estimate == pytest.approx(test.hodges_lehmann)
    assert found.mean_change.estimate == pytest.approx(test.mean_change)
    assert found.cliff.estimate == pytest.approx(cliffs_delta(x, y))


@given(PAIRS, st.floats(0.001, 10))
def test_effects_ignore_the_unit_and_the_direction_of_time_turns_them(pairs, unit):
    x, y = (np.array(wave, dtype=float) for wave in zip(*pairs, strict=True))
    one, scaled, back = (paired_effects(*waves, draws=100) for waves in ((x, y), (x * unit, y * unit), (y, x)))
    for name in ("rank_biserial", "cliff"):
        a, b, c = (getattr(found, name).estimate for found in (one, scaled, back))
        assert (a, a) == (None, None) if b is None else a == pytest.approx(b) and c == pytest.approx(-a)


def test_intervals_are_those_of_resampled_agents():
    # brute force: draw 60 agents with both their ratings, compute each figure anew, read plain percentiles
    rng = np.random.default_rng(3)
    x = rng.integers(1, 6, 60).astype(float)
    y = np.clip(x + rng.integers(-1, 3, 60), 1, 5)
    found = paired_effects(x, y, draws=4000)
    drawn = [rng.integers(0, 60, 60) for _ in range(2000)]
    tests = [wilcoxon(x[who], y[who]) for who in drawn[:400]]
    plain = {
        "rank_biserial": [test.rank_biserial for test in tests],
        "cliff": [cliffs_delta(x[who], y[who]) for who in drawn],
        "mean_change": [(y[who] - x[who]).mean() for who in drawn],
        "hodges_lehmann": [hodges_lehmann(y[who] - x[who]) for who in drawn],
    }
    for name, figures in plain.items():
        interval = getattr(found, name)
        if interval.low is None:  # every resample agrees, and so do the brute-force ones
            assert np.ptp(figures) == 0
        else:
            assert interval.low == pytest.approx(np.quantile(figures, 0.025), abs=0.08), name
            assert interval.high == pytest.approx(np.quantile(figures, 0.975), abs=0.08), name


def test_walsh_interval_by_hand_and_against_brute_force():
    # n = 7: P(W⁺ ≤ 2) = 3/128 < .025 ≤ P(W⁺ ≤ 3) = 5/128, C = 3: third smallest and largest of the averages of 1 … 7, which are
    # 1, 1.5, 2, 2, … and 7, 6.5, 6, 6, …
    assert walsh_interval([1, 2, 3, 4, 5, 6, 7]).low == 2
    assert walsh_interval([1, 2, 3, 4, 5, 6, 7, np.nan]).high == 6
    d = np.random.default_rng(0).normal(size=150)
    i, j = np.triu_indices(150)
    walsh = np.sort((d[i] + d[j]) / 2)
    c = int(walsh.size / 2 - stats.norm.ppf(0.975) * np.sqrt(150 * 151 * 301 / 24))
    found = paired_effects(np.zeros(150), d).hodges_lehmann
    assert found.method == "walsh"
    assert (found.low, found.estimate, found.high) == pytest.approx(
        (walsh[c - 1], np.median(walsh), walsh[-c]), abs=1e-8
    )
    assert walsh_interval([1, 2]).reason == "too few differences for the level"


def test_walsh_interval_of_the_depression_data_is_that_of_r():
    # R: wilcox.test(x, y, paired = TRUE, conf.int = TRUE), Hollander & Wolfe 1973: 0.010 to 0.786, estimate 0.46
    x = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    y = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    found = walsh_interval(x - y)
    assert (found.low, found.estimate, found.high) == pytest.approx((0.010, 0.46, 0.786))


def test_walsh_interval_needs_six_values():
    # 2·½⁵ = .0625: five values cannot exclude anything at 95 %; of six all averages count, C = 1
    assert walsh_interval([1, 2, 3, 4, 5]).low is None
    assert (walsh_interval([1, 2, 3, 4, 5, 6]).low, walsh_interval([1, 2, 3, 4, 5, 6]).high) == (1, 6)


def test_many_different_values_are_counted_not_listed():
    d = np.random.default_rng(1).normal(size=1200).round(9)  # above the 1,000 that are listed
    i, j = np.triu_indices(1200)
    assert hodges_lehmann(d) == pytest.approx(np.median((d[i] + d[j]) / 2), abs=1e-12)


def test_none_one_and_two_pairs_have_figures_but_no_interval():
    none = paired_effects([np.nan], [1])
    assert (none.n, none.n_missing, none.cliff.estimate, none.cliff.reason) == (0, 1, None, "no pairs")
    one = paired_effects([1], [3])
    assert (one.rank_biserial.estimate, one.cliff.estimate, one.mean_change.estimate) == (1, 1, 2)
    two = paired_effects([1, 2], [1, 2])
    assert (two.rank_biserial.estimate, two.hodges_lehmann.estimate, two.cliff.estimate) == (None, 0, 0)
    assert two.rank_biserial.reason == "fewer than 3 pairs"


def test_no_variation_has_no_interval_and_says_why():
    still = paired_effects([1, 2, 3, 4], [1, 2, 3, 4])
    assert (still.rank_biserial.estimate, still.rank_biserial.reason) == (None, "the figure is undefined")
    assert (still.mean_change.estimate, still.mean_change.reason) == (0, "every resample gives the same figure")
    # two of six move: (4/6)⁶ = 9 % of the resamples have nobody who did
    assert paired_effects([1] * 6, [1, 1, 1, 1, 2, 0]).rank_biserial.reason.startswith("undefined in ")


def test_changes_in_one_direction_have_no_interval_of_r_and_say_so():
    for after, r in (([2, 2, 3, 1], 1), ([0, 1, 1, -1], -1), ([1, 1, 1, 2], 1)):
        found = paired_effects([1] * 4, after).rank_biserial
        assert (found.estimate, found.low, found.reason) == (r, None, "all changes in one direction")
    both_ways = paired_effects([1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 3, 0]).rank_biserial
    assert both_ways.low < both_ways.estimate < 1


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"equally long lists of finite numbers or NaN, not \(2,\), \(1,\)"):
        paired_effects([1, 2], [1])
