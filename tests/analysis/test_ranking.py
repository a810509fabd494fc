"""Oracles: rank_consensus, brute-force resampling with pandas, scipy.stats.kendalltau, hand derivations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enquete.analysis.panel import iqr, rank_consensus, rank_robustness


def _panel(n=30, themes=5, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    mean = np.linspace(2, 4, themes)
    x = np.clip(np.rint(rng.normal(mean, spread * 2, (n, themes))), 1, 5)
    x[rng.random(x.shape) < 0.1] = np.nan
    return pd.DataFrame(x, [f"p{i}" for i in range(n)], [f"t{i}" for i in range(themes)])


def test_clear_order_is_certain():
    # every panelist rates 5, 3, 1: no resample can change a rank
    robustness = rank_robustness(pd.DataFrame([[1, 5, 3]] * 4, columns=list("abc")), k=1)
    assert [(t.theme, t.rank, t.low, t.high, t.p_top) for t in robustness.themes] == [
        ("a", 3, 3, 3, 0), ("b", 1, 1, 1, 1), ("c", 2, 2, 2, 0),
    ]  # fmt: skip
    assert (robustness.tau_mean, robustness.tau_low) == (1, 1)


def test_ties_share_the_places():
    robustness = rank_robustness(pd.DataFrame([[4, 4, 4, 1]] * 3, columns=list("abcd")), k=2)
    assert [t.rank for t in robustness.themes] == [2, 2, 2, 4]  # mid-rank of 1, 2, 3
    assert [t.p_top for t in robustness.themes] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0])


def test_probabilities_and_intervals_are_those_of_resampled_panels():
    panel = _panel()
    robustness = rank_robustness(panel, k=2, draws=4000)
    rng, x = np.random.default_rng(9), panel.to_numpy()
    means = np.array([np.nanmean(x[rng.integers(0, 30, 30)], axis=0) for _ in range(10_000)]).round(9)
    ranks = stats.rankdata(-means, axis=1)
    best, worst = (stats.rankdata(-means, axis=1, method=how) for how in ("min", "max"))
    top = (
        (best <= 2).mean(axis=0) + (worst <= 2).mean(axis=0)
    ) / 2  # two themes tied across the second place: half each
    observed = panel.mean().rank(ascending=False)
    taus = [stats.kendalltau(observed, row).statistic for row in ranks[:1000]]
    assert robustness.tau_mean == pytest.approx(np.mean(taus), abs=0.03)
    for column, theme in enumerate(robustness.themes):
        assert theme.rank == observed[theme.theme]
        assert theme.p_top == pytest.approx(top[column], abs=0.03)
        assert theme.low == pytest.approx(np.quantile(ranks[:, column], 0.025), abs=0.5)
        assert theme.high == pytest.approx(np.quantile(ranks[:, column], 0.975), abs=0.5)


@pytest.mark.parametrize("seed", range(2))
def test_consensus_order_is_that_of_rank_consensus(seed):
    panel = _panel(n=12 + seed, seed=seed)
    frame = pd.DataFrame({"iqr": [iqr(panel[t]) for t in panel], "median": panel.median()}, index=panel.columns)
    expected = rank_consensus(frame, at_most=9)
    mid = expected[["rank", "rank_to"]].mean(axis=1)  # themes that tie share their places
    robustness = rank_robustness(panel, k=1, by="consensus", draws=200)
    assert {t.theme: t.rank for t in robustness.themes} == mid.to_dict()


@given(st.integers(0, 50), st.integers(1, 4), st.sampled_from(["mean", "consensus"]))
def test_probabilities_add_up_to_k_and_only_the_names_depend_on_the_order(seed, k, by):
    panel = _panel(n=8, themes=4, seed=seed)
    robustness = rank_robustness(panel, k=k, by=by, draws=100)
    assert sum(t.p_top for t in robustness.themes) == pytest.approx(k)
    turned = rank_robustness(panel[panel.columns[::-1]], k=k, by=by, draws=100)
    assert {t.theme: t for t in turned.themes} == {t.theme: t for t in robustness.themes}


def test_too_few_raters_unrated_themes_and_bad_input():
    two = rank_robustness(pd.DataFrame([[1, 2], [2, 3]], columns=list("ab")), k=1)
    assert (two.reason, two.tau_mean, two.themes[0].rank, two.themes[0].n) == ("fewer than 3 raters", None, None, 2)
    assert rank_robustness(pd.DataFrame({"a": []}), k=1).n_raters == 0
    unrated = pd.DataFrame({"a": [1.0, 2, 3], "b": [np.nan] * 3, "c": [4.0, 5, 5]})
    robustness = rank_robustness(unrated, k=1)
    assert [t.rank for t in robustness.themes] == [2, None, 1]
    with pytest.raises(ValueError, match="between 1 and the number of themes, 3, not 4"):
        rank_robustness(unrated, k=4)
