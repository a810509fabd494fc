"""Oracles: R's chisq.test and cor.test examples, Bergsma's formula by hand, scipy, brute-force permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.association import _epsilon_each, cramers_v, epsilon_squared, kruskal_wallis, spearman

NUMBERS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=6)


def _pair(first, second):
    index = [f"a{i}" for i in range(len(first))]
    return pd.Series(list(first), index), pd.Series(list(second), index)


def _from_table(table):
    cells = [(f"r{i}", f"c{j}") for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return _pair(*zip(*cells, strict=True))


def test_party_example_of_r():
    # ?chisq.test, Agresti 2007: gender × party; X-squared = 30.07, df = 2, p = 2.954e-07
    association = cramers_v(*_from_table([[762, 327, 468], [484, 239, 477]]))
    assert association.statistic == pytest.approx(30.07, abs=5e-3)
    # Bergsma: φ̃² = 30.0701/2757 − 2/2756, r̃ − 1 = 2 − 1/2756 − 1
    assert association.effect == pytest.approx(np.sqrt((30.070149 / 2757 - 2 / 2756) / (1 - 1 / 2756)), abs=1e-6)
    assert association.p == pytest.approx(1 / 20_000)  # none of 19,999 random tables comes near


def test_correlation_example_of_r():
    # ?cor.test, Hollander & Wolfe 1973, p. 187: Hunter L of tuna; Spearman S = 48, p = 0.0968, rho 0.6
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    association = spearman(*_pair(lightness, quality))
    assert association.effect == pytest.approx(0.6)
    assert association.p == pytest.approx(0.0968, abs=0.01)
    # artanh .6 = .6931, half-width 1.96·√(1.18/6) = .8692: tanh(−.1760), tanh(1.5623)
    assert (association.low, association.high) == pytest.approx((-0.1742, 0.9158), abs=1e-3)


def test_perfect_and_absent_association_of_categories():
    # 2 × 2, five each: χ² = 10, φ̃² = 1 − 1/9 = 8/9, width 2 − 1/9 − 1 = 8/9: V = 1; 2 of 252 relabellings are so
    # extreme
    same = cramers_v(*_pair("aaaaabbbbb", "xxxxxyyyyy"))
    assert (same.effect, same.p, same.method) == (pytest.approx(1), pytest.approx(2 / 252), "exact permutation")
    even = cramers_v(*_pair("aabb", "xyxy"))
    assert (even.effect, even.statistic, even.p) == (0, 0, 1)


@pytest.mark.parametrize("panels", [40, pytest.param(200, marks=pytest.mark.soak)])
def test_bias_correction_takes_noise_to_zero(panels):
    rng = np.random.default_rng(0)
    noise = [
        cramers_v(*_pair(rng.choice(list("abcd"), 50), rng.choice(list("xyz"), 50)), draws=99) for _ in range(panels)
    ]
    raw = [np.sqrt(association.statistic / 50 / 2) for association in noise]
    assert np.mean([association.effect for association in noise]) < 0.1 < np.mean(raw)
    # .05 + 2.6 standard errors
    assert np.mean([association.p <= 0.05 for association in noise]) <= (0.09 if panels == 200 else 0.14)


@given(NUMBERS)
def test_spearman_is_that_of_scipy_and_p_is_every_order(pairs):
    x, y = _pair(*zip(*pairs, strict=True))
    association = spearman(x, y)
    if association.reason:
        assert x.nunique() == 1 or y.nunique() == 1
        return
    assert association.effect == pytest.approx(stats.spearmanr(x, y).statistic)
    a, b = stats.rankdata(x), stats.rankdata(y)
    every = [abs(np.corrcoef(a, order)[0, 1]) for order in permutations(b)]
    assert association.p == pytest.approx(np.mean(np.array(every) >= abs(association.effect) - 1e-9))
    assert spearman(-x, y).effect == pytest.approx(-association.effect)


def test_large_samples_use_the_t_approximation():
    x, y = _pair(*np.random.default_rng(0).integers(1, 6, (2, 300)).astype(float))
    association = spearman(x, y)
    assert (association.p, association.method) == (pytest.approx(stats.spearmanr(x, y).pvalue), "t approximation")


def test_epsilon_squared_is_kruskal_wallis():
    x, g = _pair([1.0, 2, 3, 4], "aabb")
    epsilon, test = epsilon_squared(x, g), kruskal_wallis(x, g)
    assert (epsilon.effect, epsilon.p, epsilon.statistic, epsilon.n) == (test.effect, test.p, test.statistic, 4)


def _leaning(rng, n):
    group = rng.choice(list("abcd"), n)
    return _pair(rng.normal(size=n) + 1.5 * (group == "a"), group)


def _echo(rng, n):
    first = rng.choice(list("abc"), n)
    return _pair(first, np.where(rng.random(n) < 0.5, first, rng.choice(list("abc"), n)))


@pytest.mark.parametrize(
    ("measure", "draw", "planted"),
    [
        (cramers_v, _echo, 0.5),  # half of the agents repeat the first answer: V of the population is 1/2
        (epsilon_squared, _leaning, 0.286),  # of 200,000 agents drawn so, by scipy.stats.kruskal
    ],
)
@pytest.mark.parametrize("panels", [12, pytest.param(60, marks=pytest.mark.soak)])
def test_intervals_cover_the_planted_effect(measure, draw, planted, panels):
    associations = [measure(*draw(np.random.default_rng(seed), 50)) for seed in range(panels)]
    assert all(association.low <= association.effect <= association.high for association in associations)
    # 95 % less 2.5 standard errors of 60; of 12, more than two miss it with probability .02
    covered = sum(association.low <= planted <= association.high for association in associations)
    assert covered >= (10 if panels == 12 else 0.88 * panels)


@pytest.mark.parametrize("measure", [cramers_v, epsilon_squared])
def test_intervals_of_noise_hold_the_effect_and_reach_down(measure):
    """Resampling adds noise to the effect that it surrounds; uncorrected, V = .12 got an interval of .01 to .05."""
    associations = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first = rng.choice(list("ABCD"), 50) if measure is cramers_v else rng.normal(size=50)
        associations.append(measure(*_pair(first, rng.choice(list("abcdefghi"), 50))))
    assert all(association.low <= association.effect <= association.high for association in associations)
    assert np.mean([association.low < 0.03 for association in associations]) >= 0.85


def test_epsilon_of_a_resample_is_that_of_its_agents():
    values, groups = _pair([1.0, 1, 2, 3, 3, 5, 4, 4], "aabbccab")
    cells = pd.DataFrame({"value": values, "group": groups}).value_counts(sort=False).sort_index()
    value, _ = pd.factorize(cells.index.get_level_values("value"))
    group, _ = pd.factorize(cells.index.get_level_values("group"))
    drawn = np.random.default_rng(1).multinomial(20, cells / 8, size=5).astype(float)
    effects = _epsilon_each(drawn, value, np.flatnonzero(np.diff(value, prepend=-1)), np.eye(3)[group])
    for counts, effect in zip(drawn.astype(int), effects, strict=True):
        who = np.repeat(np.arange(len(cells)), counts)
        again = (
            pd.Series(cells.index.get_level_values("value")[who]),
            pd.Series(cells.index.get_level_values("group")[who]),
        )
        assert effect == pytest.approx(kruskal_wallis(*again).effect)


def test_no_interval_where_every_resample_agrees():
    same = cramers_v(*_pair("aaaaabbbbb", "xxxxxyyyyy"))
    assert (same.effect, same.low, same.high) == (pytest.approx(1), None, None)


def test_reasons_missing_and_doubled_agents():
    assert cramers_v(*_pair("aab", ["x", None, "y"])).reason == "fewer than 3 agents"
    assert cramers_v(*_pair("aab", ["x", None, "y"])).n_missing == 1
    assert cramers_v(*_pair("aaa", "xyz")).reason == "one category only"
    assert spearman(*_pair([1.0, 1, 1], [1.0, 2, 3])).reason == "no variation"
    three = spearman(*_pair([1.0, 2, 3], [1.0, 3, 2]))
    assert (three.effect, three.low) == (pytest.approx(0.5), None)  # no interval below four agents
    with pytest.raises(ValueError, match="second finding: participant 'a' occurs more than once"):
        spearman(pd.Series([1.0]), pd.Series([1.0, 2], ["a", "a"]))
