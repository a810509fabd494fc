"""Expected values: by hand, from R-equivalent libraries (statsmodels), or a rate over panels whose truth is planted."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import GofChisquarePower, TTestPower
from statsmodels.stats.proportion import proportion_confint

from enquete.analysis.change import holm, wilcoxon
from enquete.analysis.inference import (
    detectable_association,
    detectable_change,
    detectable_difference,
    detectable_share,
    extreme,
    max_t,
    over_questions,
    selected_intervals,
    share_intervals,
)

SEED = 20261124


def panel(rng: np.random.Generator, n: int, items: int, noise: float, shift: float = 0.0) -> pd.DataFrame:
    """Changes on five points between two draws about stable positions; the first item rises by `shift`."""
    ratings = rng.normal(3, 1, (n, items))
    moved = np.eye(1, items) * shift
    before, after = (np.clip(np.rint(ratings + by + rng.normal(0, noise, (n, items))), 1, 5) for by in (0, moved))
    return pd.DataFrame(after - before)


# --- max-T -----------------------------------------------------------------------------------------------------------


def test_max_t_by_hand() -> None:
    """Three agents, all eight flips. Item a: 1, 1, 1 → |z| = √3 under +++ and −−−: p 2/8. Item b: 2, 0, −1 → z = 1/√5,
    reached by every flip (|±2 ± 1| ≥ 1): p 1. Jointly a is reached where either is: the same two flips, b's |z| ≤ 3/√5
    < √3."""
    tests = max_t(pd.DataFrame({"b": [2, 0, -1], "a": [1, 1, 1]}, index=["x", "y", "z"]))
    assert tests["p"].to_dict() == {"b": 1.0, "a": 0.25}
    assert tests["p_adjusted"].to_dict() == {"b": 1.0, "a": 0.25}
    assert tests.loc["a", "statistic"] == pytest.approx(np.sqrt(3))
    assert tests.loc["b", "statistic"] == pytest.approx(1 / np.sqrt(5))
    assert tests["n_changed"].to_dict() == {"b": 2, "a": 3}
    assert set(tests["test"]) == {"all sign flips"}


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_max_t_is_the_definition(seed: int, n: int, items: int) -> None:
    """Against the definition, flip by flip and step by step, with missing answers and items that did not change."""
    rng = np.random.default_rng(seed)
    d = rng.integers(-2, 3, (n, items)).astype(float)
    d[rng.random(d.shape) < 0.2] = np.nan
    tests, full = max_t(pd.DataFrame(d)), np.nan_to_num(d)
    kept = [j for j in range(items) if full[:, j].any()]
    assert tests["p"].isna().tolist() == [j not in kept for j in range(items)]
    z = {j: full[:, j].sum() / np.sqrt((full[:, j] ** 2).sum()) for j in kept}
    order, reached = sorted(kept, key=lambda j: -abs(z[j])), 0.0
    flips = [np.array(signs) for signs in product([1, -1], repeat=n)]
    for place, j in enumerate(order):
        drawn = [
            max(abs(flip @ full[:, i]) / np.sqrt((full[:, i] ** 2).sum()) for i in order[place:]) for flip in flips
        ]
        reached = max(reached, float(np.mean(np.array(drawn) >= abs(z[j]) - 1e-9)))
        assert tests.loc[j, "p_adjusted"] == pytest.approx(reached)


def test_max_t_of_one_item_of_signs_is_mcnemar() -> None:
    """Changes of ±1 alone: the sign-flip test is the binomial of McNemar's exact test (statsmodels)."""
    d = [1] * 8 + [-1] * 2 + [0] * 5
    assert max_t(pd.DataFrame({"a": d[:11]}))["p"]["a"] == pytest.approx(mcnemar([[0, 8], [2, 0]]).pvalue)


def test_max_t_leaves_out_what_cannot_be_tested() -> None:
    tests = max_t(pd.DataFrame({"still": [0.0, 0, 0], "missing": [np.nan] * 3, "one": [1.0, np.nan, 0]}))
    assert tests["test"].tolist() == ["none", "none", "all sign flips"]
    assert tests.loc["one", ["n", "n_missing", "n_changed", "p"]].tolist() == [2, 1, 1, 1.0]
    assert np.isnan(tests.loc["missing", "mean"])
    assert tests.loc["still", "mean"] == 0
    assert max_t(pd.DataFrame({"still": [0.0, 0, 0]}))["p"].isna().all()
    assert max_t(pd.DataFrame()).empty
    with pytest.raises(ValueError, match="infinite"):
        max_t(pd.DataFrame({"a": [np.inf, 1.0]}))


def test_max_t_draws_by_seed() -> None:
    d = panel(np.random.default_rng(SEED), 40, 5, 0.7, 0.6)
    first, again, other = (max_t(d, draws=4_999, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert np.abs(first["p_adjusted"] - other["p_adjusted"]).max() < 0.03


@pytest.mark.soak
@pytest.mark.parametrize(("n", "found_at_least", "of_wilcoxon"), [(10, 0.15, 0.1), (20, 0.7, 0.7)])
def test_max_t_finds_more_than_wilcoxon_at_the_same_level(n: int, found_at_least: float, of_wilcoxon: float) -> None:
    """One of 14 items rises by a point (facts/statistics.md: .23 and .82 at 10 and 20 agents, Wilcoxon with Holm .05
    and .65).
    120 panels: a rate of .05 exceeds .1 with probability .01."""
    rng = np.random.default_rng(SEED)
    panels = [panel(rng, n, 14, 0.7, 1.0) for _ in range(120)]
    joint = [max_t(d, draws=1_999) for d in panels]
    single = [holm([wilcoxon(np.zeros(n), d[j]).p for j in d]) for d in panels]
    power = np.mean([table.loc[0, "p_adjusted"] < 0.05 for table in joint])
    assert power >= found_at_least
    assert np.mean([p_values[0] is not None and p_values[0] < 0.05 for p_values in single]) <= min(of_wilcoxon, power)
    assert np.mean([(table["p_adjusted"].iloc[1:] < 0.05).any() for table in joint]) <= 0.1


# --- intervals of extremes -------------------------------------------------------------------------------------------


def test_selected_intervals_by_hand() -> None:
    """Two items of 10 with variances 1 and 3: s̃² = (9s² + 2·2)/11, t(9) at .9875 = 2.685011 and .975 = 2.262157 (R:
    qt)."""
    intervals = selected_intervals([10, 10], [4, 3], [1, np.sqrt(3)], selected="highest", ends=(1, 5))
    error = np.sqrt(13 / 11 / 10)
    assert intervals.loc[0, "low"] == pytest.approx(4 - 2.685011 * error, abs=1e-5)
    assert intervals.loc[0, "high"] == pytest.approx(4 + 2.262157 * error, abs=1e-5)
    lowest = selected_intervals([10, 10], [4, 3], [1, np.sqrt(3)], selected="lowest")
    assert lowest.loc[1, "high"] == pytest.approx(3 + 2.685011 * np.sqrt(31 / 110), abs=1e-5)
    assert extreme(intervals, "highest") == (0, [0])
    assert extreme(intervals, "lowest") == (1, [1])


def test_selected_intervals_of_agreement_and_of_nothing() -> None:
    agreed = selected_intervals([8, 8, 1], [5, 4, 2], [0, 1, np.nan], ends=(1, 5))
    assert agreed.loc[0, "low"] < 5 == agreed.loc[0, "high"]
    assert np.isnan(agreed.loc[2, "low"])
    assert agreed["tests"].tolist() == [2, 2, 2]
    assert selected_intervals([8, 8], [5, 5], [0, 0])["low"].isna().all()
    assert extreme(selected_intervals([8, 8, 8], [4, 4, 1], [1, 1, 1]), "highest") == (0, [0, 1])
    with pytest.raises(ValueError, match="no item has a mean"):
        extreme(selected_intervals([0], [np.nan], [np.nan]), "highest")


@pytest.mark.parametrize("n", [10, 50])
def test_selected_intervals_cover_the_highest_and_the_lowest(n: int) -> None:
    """15 items at the upper end of five points, where Student's own intervals cover .75 to .87. 600 intervals: .95
    falls below .93 with probability .01."""
    rng = np.random.default_rng(SEED)
    covered = []
    for _ in range(10):
        levels = rng.uniform(3.8, 4.7, 15)
        truth = answers(rng, levels, 40_000).mean(axis=0)
        for _ in range(30):
            x = answers(rng, levels, n)
            for side in ("highest", "lowest"):
                given = selected_intervals([n] * 15, x.mean(axis=0), x.std(axis=0, ddof=1), selected=side, ends=(1, 5))
                place, _ = extreme(given, side)
                covered.append(given.loc[place, "low"] <= truth[place] <= given.loc[place, "high"])
    assert np.mean(covered) >= 0.93


def answers(rng: np.random.Generator, levels: np.ndarray, n: int) -> np.ndarray:
    style = rng.normal(0, 0.4, (n, 1))
    return np.clip(np.rint(levels + style + rng.normal(0, 1, (n, levels.size))), 1, 5)


def test_share_intervals_are_wilsons() -> None:
    """Of one option statsmodels' Wilson interval; of four at 1 − .05/4 below the largest."""
    assert share_intervals([7], 20)[["low", "high"]].to_numpy()[0] == pytest.approx(
        proportion_confint(7, 20, 0.05, "wilson")
    )
    largest = share_intervals([9, 5, 4, 2], 20, selected="highest").loc[0]
    assert largest["low"] == pytest.approx(proportion_confint(9, 20, 0.05 / 4, "wilson")[0])
    assert largest["high"] == pytest.approx(proportion_confint(9, 20, 0.05, "wilson")[1])
    assert share_intervals([0, 0], 0)["estimate"].isna().all()
    with pytest.raises(ValueError, match="between 0 and n = 3"):
        share_intervals([4], 3)


# --- detectable effects ----------------------------------------------------------------------------------------------


def test_detectable_effects_are_statsmodels() -> None:
    """TTestPower and GofChisquarePower (Cohen's w, w² = λ/n)."""
    level = 0.05 / 14
    assert detectable_change(20, 1.2, tests=14) == pytest.approx(
        1.2 * TTestPower().solve_power(nobs=20, alpha=level, power=0.8), rel=1e-4
    )
    w = GofChisquarePower().solve_power(nobs=50, alpha=0.05, power=0.8, n_bins=3)  # df 2
    assert detectable_association(50, 2, 3) == pytest.approx(w, rel=1e-4)


def test_detectable_effects_of_too_little() -> None:
    assert detectable_change(2, 1.0) is None
    assert detectable_change(20, 0.0) is None
    assert detectable_difference([20], 3.0, 1.0) is None
    assert detectable_difference([1, 1], 3.0, 1.0) is None
    assert detectable_difference([8, 8], 3.0, 0.0) is None
    assert (
        detectable_difference([5, 5], 3.0, 1.0, alpha=0.001) is None
    )  # 2 of 252 relabellings lie farthest apart: .008
    assert detectable_share([20, 20], 0.0) is None
    assert detectable_share([5, 5], 0.5, alpha=0.01) is None
    assert detectable_association(10, 1, 3) is None


@pytest.mark.parametrize(
    ("sizes", "mean", "sd", "ends", "level"),
    [([10, 10], 3.0, 1.0, (1, 5), 0.05), ([8, 7, 5], 2.5, 1.0, (1, 5), 0.05 / 14),
     ([15, 15, 10, 10], 50.0, 8.0, None, 0.05), ([15, 15, 10, 10], 2.2, 1.0, (1, 5), 0.05 / 56)],
)  # fmt: skip
def test_detectable_difference_is_found_four_times_in_five(
    sizes: list[int], mean: float, sd: float, ends: tuple[float, float] | None, level: float
) -> None:
    """By Kruskal–Wallis (scipy's statistic, its critical value from 100,000 panels without a difference) on normal
    values, rounded and cut off at 1 and 5: 4,000 panels, .80 ± .05, of which .02 are 3.3 standard errors, the rest the
    approximation."""
    rng, n = np.random.default_rng(SEED), sum(sizes)
    size = detectable_difference(sizes, mean, sd, ends=ends, alpha=level)
    assert size is not None

    def answers(centre: float, shape: tuple[int, int], spread: float) -> np.ndarray:
        drawn = rng.normal(centre, spread, shape)
        return drawn if ends is None else np.clip(np.round(drawn), *ends)

    def mean_at(centre: float) -> float:
        if ends is None:
            return centre
        return float(np.clip(np.round(centre + spread * normal), *ends).mean())

    normal = scipy.special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    spread = sd
    if ends:  # so that answers have this sd after rounding and cutting off
        spread = scipy.optimize.brentq(
            lambda s: np.clip(np.round(mean + s * normal), *ends).std() - sd, sd / 3, 3 * sd, xtol=1e-3
        )
    by = scipy.optimize.brentq(lambda by: mean_at(mean + by) - mean_at(mean) - size, 0, 10 * sd, xtol=1e-3)
    label = np.repeat(np.arange(len(sizes)), sizes)
    critical = np.quantile(_kruskal(answers(mean, (100_000, n), spread), label), 1 - level)
    one = answers(mean, (1, n), spread)
    by_scipy = scipy.stats.kruskal(*(one[0, label == group] for group in range(len(sizes))))
    assert _kruskal(one, label)[0] == pytest.approx(by_scipy.statistic)
    found = []
    for group in range(len(sizes)):
        panels = answers(mean, (4_000 // len(sizes), n), spread)
        apart = label == group
        panels[:, apart] = answers(mean + by, (len(panels), int(apart.sum())), spread)
        found.append(np.mean(_kruskal(panels, label) > critical + 1e-9))
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def _kruskal(panels: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return Kruskal and Wallis's H of each row."""
    ranks = scipy.stats.rankdata(panels, axis=1)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    groups = range(int(label.max()) + 1)
    between = sum(centred[:, label == group].sum(axis=1) ** 2 / (label == group).sum() for group in groups)
    return (panels.shape[1] - 1) * between / (centred**2).sum(axis=1)


def test_detectable_change_is_found_four_times_in_five() -> None:
    """By max-T on normal changes of unrelated items, which its Bonferroni bound fits: 200 panels, .8 ± .09 with
    probability .999."""
    rng, n, items = np.random.default_rng(SEED), 20, 8
    shift = detectable_change(n, 1.0, tests=items)
    assert shift is not None
    adjusted = [
        max_t(pd.DataFrame(rng.normal(0, 1, (n, items)) + np.eye(1, items) * shift), draws=1_999).loc[0, "p_adjusted"]
        for _ in range(200)
    ]
    assert 0.71 <= np.mean(np.array(adjusted) < 0.05) <= 0.89


# --- one correction --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def _pinned() -> Iterator[None]:
    """statsmodels collects garbage at every call: what a session of tests has made until here is left alone."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_pinned")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_questions_of_one_test_each_are_holms(ps: list[float]) -> None:
    rows = pd.Series([np.nan, *ps], index=[f"r{k}" for k in range(len(ps) + 1)])
    holms = multipletests(ps, method="holm")[1].tolist()
    adjusted = over_questions(rows, pd.Series(rows.index, index=rows.index))
    assert adjusted.iloc[1:].tolist() == pytest.approx(holms)
    assert np.isnan(adjusted.iloc[0])
    assert over_questions(rows, rows.map(lambda _: "one")).iloc[1:].tolist() == pytest.approx(holms)


def test_questions_by_hand() -> None:
    """Two questions: "drift", corrected by max-T, least p̃ .02; "groups", by Holm .01·2 = .02 and .3. First drift
    (named first of two that are alike) at a half: .04 and .6, then groups at the whole: .02 and .3, but not below
    .04."""
    p, question = pd.Series([0.02, 0.3, 0.01, 0.3]), pd.Series(["drift", "drift", "groups", "groups"])
    assert over_questions(p, question, given={"drift"}).tolist() == pytest.approx([0.04, 0.6, 0.04, 0.3])
    with pytest.raises(ValueError, match="between 0 and 1"):
        over_questions(pd.Series([1.2]), pd.Series(["a"]))


def test_a_question_that_waits_inherits_the_share() -> None:
    """a and b have a half each, c waits for a. a: .01·2; its half goes to c alone: .02·2; then c's goes to b: .3·1.
    Where b is
    surer than a, it leaves its half to a: .2·1, which c inherits: .001, not below .2. Without a, c waits for nobody."""
    question, after = pd.Series(["a", "b", "c"]), {"c": "a"}
    assert over_questions(pd.Series([0.01, 0.3, 0.02]), question, after=after).tolist() == pytest.approx(
        [0.02, 0.3, 0.04]
    )
    assert over_questions(pd.Series([0.2, 0.01, 0.001]), question, after=after).tolist() == pytest.approx(
        [0.2, 0.02, 0.2]
    )
    assert over_questions(pd.Series([0.3, 0.02]), question[1:].reset_index(drop=True), after=after).tolist() == [
        0.3,
        0.04,
    ]


def test_primary_questions_hold_the_error_rate_in_parts_and_hand_it_to_one_another_first() -> None:
    """Parts 3 and 1: .03/.75 = .04 and .02/.25 = .08; once the first is answered the other has all of it: .02, not
    below .04. The three exploratory ones share a fifth: .001 · 15; then the other two have a tenth each and half of
    the four fifths that the last primary one leaves: .02 / .5, and the last of them 1."""
    p = pd.Series([0.03, 0.02, 0.001, 0.02, 0.9], index=list("abcde"))
    question = pd.Series(p.index, index=p.index)
    adjusted = over_questions(p, question, primary={"a": 3, "b": 1, "not tested": 5})
    assert adjusted.tolist() == pytest.approx([0.04, 0.04, 0.015, 0.04, 0.9])
    alone = over_questions(pd.Series([0.2, 0.03]), pd.Series(["a", "b"]), primary={"a": 1})
    assert alone.tolist() == pytest.approx([0.2, 0.15])  # .03 / .2 before .2 / 1
    with pytest.raises(ValueError, match=r"above 0; given: a \(0\)"):
        over_questions(p, question, primary={"a": 0})


def test_an_exploratory_question_waits_for_a_primary_one_with_a_share_of_its_own() -> None:
    """Two exploratory ones hold a tenth each; what waits is asked once the primary one is answered, and that one's
    share is then shared by both: .1 + .4, and 1 for the last."""
    question, after = pd.Series(["first", "waits", "other"]), {"waits": "first"}
    adjusted = over_questions(pd.Series([0.01, 0.012, 0.3]), question, after=after, primary={"first": 1})
    assert adjusted.tolist() == pytest.approx([0.01, 0.024, 0.3])
    adjusted = over_questions(pd.Series([0.4, 0.001, 1.0]), question, after=after, primary={"first": 1})
    assert adjusted.iloc[1] == pytest.approx(0.4)


@pytest.mark.soak
def test_the_correction_keeps_the_level_beside_what_is_there() -> None:
    """Two joint questions of five items that go together, one of four tests and one that waits; nothing to be found
    but, in every second study, in the first question's first item: 300 studies, any row below .05 in which nothing
    is."""
    rng, wrong = np.random.default_rng(SEED), 0
    for study in range(300):
        p, names = list(rng.uniform(size=4)), ["four"] * 4
        for family in ("a", "b", "waits"):
            d = rng.normal(0, 1, (15, 1)) + rng.normal(0, 0.5, (15, 5))
            d[:, 0] += 3 * (family == "a" and study % 2)
            p += max_t(pd.DataFrame(d), draws=999)["p_adjusted"].tolist()
            names += [family] * 5
        significant = (
            over_questions(pd.Series(p), pd.Series(names), given={"a", "b", "waits"}, after={"waits": "a"}) < 0.05
        )
        wrong += bool(significant.drop(4 if study % 2 else []).any())
    assert wrong / 300 <= 0.08
