"""Oracles: R kruskal.test(airquality) and aov by hand, scipy.stats.kruskal and f_oneway, brute-force permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.association import kruskal_wallis

# R: airquality$Ozone, May to September, New York 1973 (Chambers et al. 1983)
OZONE = {
    "May": "41 36 12 18 28 23 19 8 7 16 11 14 18 14 34 6 30 11 1 11 4 32 23 45 115 37",
    "June": "29 71 39 23 21 37 20 12 13",
    "July": "135 49 32 64 40 77 97 97 85 10 27 7 48 35 61 79 63 16 80 108 20 52 82 50 64 59",
    "August": "39 9 16 78 35 66 122 89 110 44 28 65 22 59 23 31 44 21 9 45 168 73 76 118 84 85",
    "September": "96 78 73 91 47 32 20 23 21 24 44 21 28 9 13 46 18 13 24 16 13 23 36 7 14 30 14 18 20",
}
SMALL_SAMPLE = st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abc")), min_size=3, max_size=6)


def _joined(pairs):
    index = [f"a{i}" for i in range(len(pairs))]
    return pd.Series([float(v) for v, _ in pairs], index), pd.Series([g for _, g in pairs], index)


def test_airquality_example_of_r():
    values, groups = _joined([(v, month) for month, row in OZONE.items() for v in row.split()])
    test = kruskal_wallis(values, groups)
    assert test.statistic == pytest.approx(29.267, abs=5e-4)  # R: Kruskal-Wallis chi-squared = 29.267, df = 4
    assert test.df == (4,)
    assert stats.chi2.sf(test.statistic, 4) == pytest.approx(6.901e-06, abs=5e-10)  # R: p-value = 6.901e-06
    assert test.effect == pytest.approx(29.267 / 115, abs=1e-5)  # ε² = H/(n − 1), n = 116
    assert (test.n, test.method) == (116, "random permutation")
    assert test.p == pytest.approx(1 / 20_000)  # none of 19,999 random relabellings comes near: 1/(m + 1)


def test_epsilon_by_hand():
    # 1 2 | 3 4: ranks sum 3 and 7: H = 12/20·(9/2 + 49/2) − 15 = 2.4, ε² = .8
    # of the 6 splits 2 are as extreme
    values, groups = _joined([(1, "a"), (2, "a"), (3, "b"), (4, "b")])
    rank = kruskal_wallis(values, groups)
    assert (rank.statistic, rank.effect) == (pytest.approx(2.4), pytest.approx(0.8))
    assert rank.p == pytest.approx(1 / 3)
    assert rank.groups == {"a": 2, "b": 2}


@settings(max_examples=30)
@given(SMALL_SAMPLE)
def test_small_groups_are_permuted_exactly(pairs):
    values, groups = _joined(pairs)
    test = kruskal_wallis(values, groups)
    if test.reason:
        assert groups.nunique() < 2 or values.nunique() < 2
        return
    figures = np.array([_statistic(values, labels) for labels in set(permutations(groups))])
    assert test.p == pytest.approx((figures >= _statistic(values, groups) - 1e-9).mean())
    assert -1e-12 <= test.effect <= 1


def _statistic(values, labels):
    x, g = values.to_numpy(), np.array(labels)
    return stats.kruskal(*[x[g == name] for name in sorted(set(labels))]).statistic


def test_large_samples_use_the_approximations_of_scipy():
    rng = np.random.default_rng(0)
    groups = pd.Series(rng.choice(list("abcd"), 400))
    values = pd.Series(rng.integers(1, 8, 400) + groups.eq("a") * 1.0)
    samples = [values[groups.eq(name)] for name in "abcd"]
    rank = kruskal_wallis(values, groups)
    assert (rank.statistic, rank.p) == pytest.approx(tuple(stats.kruskal(*samples)))
    assert rank.method == "chi-squared"


def test_reasons_missing_values_and_bad_input():
    values, groups = _joined([(1, "a"), (2, "a"), (3, "b")])
    assert kruskal_wallis(values.iloc[:2], groups).reason == "fewer than 3 values"
    assert kruskal_wallis(values.iloc[:2], groups).n_missing == 1
    assert kruskal_wallis(values, groups.where(groups.eq("a"))).reason == "fewer than 3 values"
    assert kruskal_wallis(values, groups.replace("b", "a")).reason == "fewer than 2 groups"
    still = kruskal_wallis(values * 0, groups)
    assert (still.effect, still.p, still.reason, still.groups) == (None, None, "no variation", {"a": 2, "b": 1})
    with pytest.raises(ValueError, match="groups: participant 'a' occurs more than once"):
        kruskal_wallis(values, pd.Series(["x", "y"], ["a", "a"]))
