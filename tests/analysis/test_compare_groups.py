"""Expected values by hand, or rates over panels whose truth is planted; the tests themselves have their oracles in
test_groups.py and test_association.py."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.analysis.association import cramers_v, kruskal_wallis
from enquete.analysis.groups import Kind, compare_groups
from enquete.analysis.inference import detectable_difference

SEED = 20261124
WHO = pd.Index([f"a{k:02}" for k in range(16)])
GROUP = pd.Series([*"xxxxxx", *"yyyyyy", *"zzz", None], index=WHO)


def test_ratings_by_hand_and_small_groups_without_figures() -> None:
    """x: 1 … 6, mean 3.5; y: 2 … 6 and none, mean 4; z has three agents, one agent has no group. W of the lots by
    Kruskal–Wallis over the eleven, whose p is that of all relabellings."""
    values = pd.DataFrame({"q": [1.0, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, np.nan, 6, 6, 6, 1]}, index=WHO)
    comparison = compare_groups(values, GROUP, "rating", ends=(1, 6))
    by_group = comparison.by_group.set_index("group")
    assert by_group["estimate"].round(9).to_dict() == pytest.approx({"x": 3.5, "y": 4.0, "z": np.nan}, nan_ok=True)
    assert by_group[["n", "n_total", "small"]].to_numpy().tolist() == [[6, 6, False], [5, 6, False], [3, 3, True]]
    assert by_group.loc["y", "high"] <= 6
    (row,) = comparison.tests.to_dict("records")
    large = GROUP.isin(["x", "y"])
    test = kruskal_wallis(values["q"][large], GROUP[large])
    assert (row["p"], row["statistic"], row["effect"]) == (test.p, test.statistic, test.effect)
    assert (row["n"], row["n_total"], row["n_ungrouped"]) == (11, 16, 1)
    assert (row["groups"], row["small_groups"], row["n_small"]) == (2, 1, 3)
    assert (row["highest"], row["estimate_highest"], row["lowest"]) == ("y", 4.0, "x")
    assert (row["test"], row["method"], row["reason"]) == ("kruskal_wallis", "exact permutation", "")
    sd = np.sqrt((17.5 + 10) / 9)  # sums of squares within x and y over n − g
    assert (row["mean"], row["sd"], row["sizes"], row["tests"]) == (41 / 11, pytest.approx(sd), "6, 5", 1.0)
    assert row["detectable"] == pytest.approx(detectable_difference([6, 5], 41 / 11, sd, ends=(1, 6)), rel=1e-3)


def test_shares_and_categories() -> None:
    """Shares: 5 of 6 against 1 of 6, the lady's margins: χ² permuted is Fisher's exact test. Categories say the same of
    the table."""
    yes = pd.DataFrame({"q": [1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]}, index=WHO)
    shares = compare_groups(yes, GROUP, "share")
    words = compare_groups(yes.replace({0: "no", 1: "yes"}), GROUP, "category")
    assert shares.by_group["estimate"].tolist() == pytest.approx([5 / 6, 1 / 6, np.nan], nan_ok=True)
    fisher = scipy.stats.fisher_exact([[5, 1], [1, 5]]).pvalue
    assert shares.tests["p"][0] == words.tests["p"][0] == pytest.approx(fisher)
    assert shares.tests["effect"][0] == cramers_v(yes["q"][:12].astype(str), GROUP[:12]).effect
    rows = words.by_group.set_index(["group", "category"])["estimate"]
    assert rows["x", "yes"] == pytest.approx(5 / 6)
    assert rows["y", "no"] == pytest.approx(5 / 6)
    assert words.by_group["small"].tolist() == [False] * 4 + [True]
    assert words.tests["highest"].isna().all()


def test_what_cannot_be_compared_says_why() -> None:
    values = pd.DataFrame({"alike": [3.0] * 16, "missing": [np.nan] * 16}, index=WHO)
    tests = compare_groups(values, GROUP, "rating").tests.set_index("variable")
    assert tests["reason"].to_dict() == {"alike": "no variation", "missing": "fewer than two groups of 5 agents"}
    assert tests[["p", "p_adjusted", "effect", "detectable"]].isna().all(axis=None)
    alone = pd.Series([f"g{k}" for k in range(16)], index=WHO)
    assert compare_groups(values, alone, "rating").tests["small_groups"].tolist() == [16, 16]
    empty = compare_groups(values[[]], GROUP, "category")
    assert empty.tests.empty
    assert empty.by_group.empty
    with pytest.raises(ValueError, match="'q' is said to be a rating but holds no numbers"):
        compare_groups(pd.DataFrame({"q": ["often"]}), pd.Series(["x"]), "rating")
    with pytest.raises(ValueError, match="'q': a share is counted over 0 and 1; 2 was given"):
        compare_groups(pd.DataFrame({"q": [2]}), pd.Series(["x"]), "share")
    with pytest.raises(ValueError, match="more than once"):
        compare_groups(values, pd.concat([GROUP, GROUP]), "rating")


def planted(rng: np.random.Generator, n: int, kind: Kind, shift: float) -> tuple[pd.DataFrame, pd.Series]:
    """Five variables, the first of which group "a" rates higher; three groups and a few agents beside them."""
    group = pd.Series(rng.permutation(np.resize(["a", "a", "b", "b", "c"], n)))
    ratings = rng.normal(3.3, 1, (n, 5)) + rng.normal(0, 0.5, (n, 1)) + np.outer(group.eq("a"), np.eye(1, 5)) * shift
    rated = pd.DataFrame(np.clip(np.rint(ratings), 1, 5))
    return (rated if kind != "share" else rated.ge(4).astype(int)), group


SOAK = [pytest.param(kind, n, marks=pytest.mark.soak) for kind, n in (("rating", 20), ("rating", 50), ("share", 20))]


@pytest.mark.parametrize(("kind", "n"), [("rating", 10), ("category", 15), *SOAK])
def test_the_level_holds(kind: Kind, n: int) -> None:
    """40 panels of five variables: p < .05 in .05 of 200, .09 with probability .01; after Holm in .05 of 40, .15
    likewise."""
    rng = np.random.default_rng(SEED)
    tests = [compare_groups(*planted(rng, n, kind, 0.0), kind, draws=499).tests for _ in range(40)]
    assert np.mean([test["p"] < 0.05 for test in tests]) <= 0.09
    assert np.mean([(test["p_adjusted"] < 0.05).any() for test in tests]) <= 0.15


@settings(max_examples=4)
@given(st.integers(0, 10**6), st.booleans())
def test_what_variables_have_in_common_counts_once(seed: int, is_share: bool) -> None:
    """Against the definition: Kruskal–Wallis of every variable under all 252 relabellings of ten agents, step by
    step."""
    rng = np.random.default_rng(seed)
    values = pd.DataFrame(
        rng.integers(0, 2 if is_share else 4, (10, 3)) + rng.integers(0, 2, (10, 1)) * (not is_share)
    ).astype(float)
    group = pd.Series(rng.permutation(["a"] * 5 + ["b"] * 5))
    tests = compare_groups(values, group, "share" if is_share else "rating").tests

    tested = [j for j in values if values[j].nunique() > 1]

    def h(inside: list[int]) -> dict[int, float]:
        """12/(n(n + 1)) Σ R²/nₖ − 3(n + 1), over what ties leave of it: the same for every relabelling."""
        sums = ranks.loc[inside].sum()
        return ((12 / 110 * (sums**2 + (55 - sums) ** 2) / 5 - 33) / untied).round(9).to_dict()

    ranks = values[tested].rank()
    untied = pd.Series({j: scipy.stats.tiecorrect(ranks[j].to_numpy()) for j in tested})
    observed = h(group.index[group.eq("a")].tolist())
    for j in tested:
        by_scipy = scipy.stats.kruskal(values[j][group.eq("a")], values[j][group.eq("b")])
        assert observed[j] == pytest.approx(by_scipy.statistic)
    drawn = pd.DataFrame([h(list(combination)) for combination in combinations(range(10), 5)])
    order, reached = sorted(tested, key=lambda j: -observed[j]), 0.0
    for place, j in enumerate(order):
        reached = max(reached, float((drawn[order[place:]].max(axis=1) >= observed[j]).mean()))
        assert tests["p_adjusted"][j] == pytest.approx(reached)


@pytest.mark.soak
def test_what_is_detectable_is_found_four_times_in_five() -> None:
    """By Kruskal–Wallis on five points, whose efficiency is near that of F: 60 panels, .8 ± .15."""
    rng, p_values = np.random.default_rng(SEED), []
    group = pd.Series(np.repeat(["a", "b", "c"], 16))
    shift = detectable_difference([16] * 3, 4.0, np.sqrt(1 + 1 / 12))  # rounding adds 1/12 to the variance
    assert shift is not None
    for _ in range(60):
        rated = np.rint(rng.normal(4, 1, 48) + shift * group.eq("a"))
        p_values.append(compare_groups(pd.DataFrame({"q": rated}), group, "rating", draws=999).tests["p"][0] < 0.05)
    assert 0.65 <= np.mean(p_values) <= 0.95
