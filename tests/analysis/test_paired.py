"""Oracles: R's documentation (wilcox.test, p.adjust), Benjamini & Hochberg 1995, scipy, brute force, hand
derivations."""

from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.change import (
    benjamini_hochberg,
    hodges_lehmann,
    holm,
    paired_by_item,
    smallest_p,
    wilcoxon,
)

# Hollander & Wolfe 1973, p. 29: Hamilton depression scale of nine patients at two visits (?wilcox.test)
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

LIKERT = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=40)


def test_depression_example_of_r():
    test = wilcoxon(SECOND, FIRST)
    assert test.w_plus == 40  # R: V = 40
    assert test.w_minus == 5
    assert test.p == pytest.approx(0.0390625)  # R: one-sided p-value = 0.01953
    assert test.method == "exact"
    assert test.rank_biserial == pytest.approx(35 / 45)
    assert test.hodges_lehmann == pytest.approx(0.46)  # R with conf.int = TRUE: (pseudo)median 0.46


def test_ties_and_zeros_by_hand():
    # d = 1, 1, -1, 2, 0: ranks of |d| without the zero 2, 2, 2, 4; W+ = 8, W− = 2.
    # Of 2⁴ sign patterns W+ ≥ 8 in: all (10), and all but one of the three twos (8): 4/16; two-sided 8/16.
    test = wilcoxon([2, 2, 2, 2, 2], [3, 3, 1, 4, 2])
    assert (test.n, test.n_zero, test.n_ties) == (5, 1, 3)
    assert (test.w_plus, test.w_minus) == (8, 2)
    assert test.p == pytest.approx(0.5)
    assert test.method == "exact permutation"
    assert test.rank_biserial == pytest.approx(0.6)
    assert test.mean_change == pytest.approx(0.6)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_permutation_p_equals_enumeration(d):
    test = wilcoxon(np.zeros(len(d)), d)
    moved = np.array([x for x in d if x], dtype=float)
    if not moved.size:
        assert test.p is None
        return
    rank = stats.rankdata(np.abs(moved))
    sums = np.array([rank @ signs for signs in product([0, 1], repeat=rank.size)])
    w = rank[moved > 0].sum()
    assert test.p == pytest.approx(min(1, 2 * min((sums <= w).mean(), (sums >= w).mean())))


def test_exact_and_approximate_p_against_scipy():
    rng = np.random.default_rng(4)
    few = rng.normal(0.3, 1, 30)
    assert wilcoxon(np.zeros(30), few).p == pytest.approx(stats.wilcoxon(few, method="exact").pvalue)
    many = rng.integers(-2, 4, 900).astype(float)
    test = wilcoxon(np.zeros(900), many)
    assert test.method == "normal approximation"
    assert test.p == pytest.approx(stats.wilcoxon(many, method="asymptotic", correction=False).pvalue)


def test_smallest_two_sided_p_is_two_over_two_to_the_n():
    assert wilcoxon([1] * 5, [2] * 5).p == pytest.approx(2 / 2**5)


def test_missing_pairs_are_dropped_and_counted():
    test = wilcoxon([1, np.nan, 3, 2], [2, 2, np.nan, 5])
    assert (test.n, test.n_missing) == (2, 2)
    assert test.p is not None


def test_no_variation_and_no_pairs_have_no_p():
    still = wilcoxon([3, 3, 3], [3, 3, 3])
    assert (still.p, still.note, still.rank_biserial, still.n_zero) == (None, "no variation", None, 3)
    assert still.hodges_lehmann == 0
    none = wilcoxon([np.nan], [1.0])
    assert (none.p, none.note, none.hodges_lehmann, none.mean_change) == (None, "no pairs", None, None)


def test_binary_noise_does_not_break_ties():
    # 0.3 − 0.1, 0.5 − 0.3 and 0.9 − 0.7 are all 0.2, but differ in the last bits.
    assert wilcoxon([0.1, 0.3, 0.7], [0.3, 0.5, 0.9]).n_ties == 3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"equal length, not \(2,\) and \(1,\)"):
        wilcoxon([1, 2], [1])
    with pytest.raises(ValueError, match="infinite"):
        wilcoxon([1, np.inf], [1, 2])
    with pytest.raises(ValueError, match=r"between 0 and 1; 1\.5"):
        holm([0.1, 1.5])


@given(LIKERT, st.randoms(use_true_random=False))
def test_bounds_symmetry_and_order_of_agents(pairs, random):
    x, y = zip(*pairs, strict=True)
    there, back = wilcoxon(x, y), wilcoxon(y, x)
    n = there.n - there.n_zero
    assert there.w_plus + there.w_minus == n * (n + 1) / 2
    assert (back.w_plus, back.p) == (there.w_minus, pytest.approx(there.p))
    assert there.p is None or 0 < there.p <= 1
    assert there.rank_biserial is None or -1 <= there.rank_biserial <= 1
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert wilcoxon(*zip(*shuffled, strict=True)) == there


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=25))
def test_hodges_lehmann_is_the_median_of_all_walsh_averages(d):
    walsh = [(a + b) / 2 for a, b in combinations_with_replacement(d, 2)]
    assert hodges_lehmann(d) == pytest.approx(np.median(walsh))


def test_smallest_p_is_that_of_all_changes_in_one_direction():
    for n in range(1, 9):
        assert smallest_p(n) == pytest.approx(wilcoxon([0] * n, range(1, n + 1)).p)
    assert smallest_p(5) > 0.05 >= smallest_p(6)
    assert smallest_p(0) == 1


def test_holm_and_bh_by_hand():
    p = [0.01, 0.02, 0.03, 0.04, 0.05]  # p.adjust: holm 5·.01, 4·.02, 3·.03, then held; BH all 5·.05/5
    assert holm(p) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert benjamini_hochberg(p) == pytest.approx([0.05] * 5)


def test_benjamini_hochberg_1995_example():
    # Section 3.2, 15 hypotheses (thrombolysis trial): BH rejects the first four at .05, Holm only three.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    p += [0.7590, 1.0]
    assert sum(q <= 0.05 for q in benjamini_hochberg(p)) == 4
    assert sum(q <= 0.05 for q in holm(p)) == 3


def test_corrections_skip_tests_without_p():
    assert holm([0.04, None, 0.01, float("nan")]) == [pytest.approx(0.04), None, pytest.approx(0.02), None]
    assert benjamini_hochberg([None, 0.04]) == [None, pytest.approx(0.04)]
    assert holm([]) == benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrected_p_never_smaller_and_bh_never_above_holm(ps):
    for raw, strict, loose in zip(ps, holm(ps), benjamini_hochberg(ps), strict=True):
        assert raw <= loose + 1e-12
        assert loose <= strict + 1e-12 <= 1 + 1e-9


def test_items_are_joined_by_participant_not_by_row():
    before = pd.DataFrame({"a": [1, 2, 3], "b": [3, 3, 3]}, index=["x", "y", "z"])
    after = pd.DataFrame({"a": [4, 3, 2], "b": [3, 3, 3]}, index=["z", "y", "x"])
    a, b = paired_by_item(before, after)
    assert (a.item, a.test.mean_change, a.test.n_ties) == ("a", 1.0, 3)
    assert (b.item, b.test.note, b.p_holm, b.p_bh) == ("b", "no variation", None, None)
    assert a.p_holm == a.test.p  # one test with a p: nothing to correct


def test_doubled_participant_is_refused():
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "x"])
    with pytest.raises(ValueError, match="before: participant 'x' occurs more than once"):
        paired_by_item(frame, frame)


def test_many_different_values_are_counted_not_listed():
    d = np.random.default_rng(1).normal(size=1200).round(9)  # above the 1,000 that are listed
    i, j = np.triu_indices(1200)
    assert hodges_lehmann(d) == pytest.approx(np.median((d[i] + d[j]) / 2), abs=1e-12)
