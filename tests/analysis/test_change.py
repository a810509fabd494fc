"""Oracles: the functions it puts together, on slices made by hand; false positives on planted noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.change.by_item import change_by_family, change_by_item
from enquete.analysis.change.paired import benjamini_hochberg, holm, wilcoxon


def _waves(n=40, items=4, seed=0):
    rng = np.random.default_rng(seed)
    index = [f"a{i}" for i in range(n)]
    names = [f"i{i}" for i in range(items)]
    before = pd.DataFrame(rng.integers(1, 6, (n, items)), index, names).astype(float)
    after = (before + rng.integers(-1, 2, (n, items))).clip(1, 5)
    return before, after, pd.Series(np.where(np.arange(n) % 4 == 0, "ngo", "firm"), index)


def test_rows_are_the_tests_of_their_slices_and_corrected_in_two_families():
    before, after, types = _waves(n=120)  # 30 of the rarer type: some ten of them change
    found = change_by_item(before, after, types, draws=100)
    overall, by_type = found[:4], found[4:]
    assert [(one.name, one.stakeholder_type) for one in overall] == [(f"i{k}", None) for k in range(4)]
    assert [one.stakeholder_type for one in by_type] == ["firm", "ngo"] * 4
    ngo = types.eq("ngo")
    assert by_type[1].test == wilcoxon(before["i0"][ngo], after["i0"][ngo])
    for table in (overall, by_type):
        p = [one.test.p for one in table]
        assert [one.p_holm for one in table] == holm(p)
        assert [one.p_bh for one in table] == benjamini_hochberg(p)


def test_rows_by_type_that_could_not_be_significant_are_not_tested_and_dilute_nothing():
    index = [f"a{i}" for i in range(16)]
    types = pd.Series(["small"] * 5 + ["just"] * 6 + ["still"] * 5, index)
    before = pd.DataFrame({"x": 1.0}, index)
    after = before + types.ne("still").astype(float).to_frame("x")
    found = {one.stakeholder_type: one for one in change_by_item(before, after, types, draws=100)}
    # five of one sign: 2/2⁵ = .0625, never below .05; six: 2/2⁶ = .03125, the only test of its family
    small, just = found["small"], found["just"]
    assert (small.test.p, small.test.method, small.p_holm, small.p_bh) == (None, "none", None, None)
    assert small.test.note.startswith("untestable")
    assert (small.test.mean_change, small.test.n, small.effects.mean_change.estimate) == (1, 5, 1)
    assert (just.test.p, just.p_bh) == (pytest.approx(0.03125), pytest.approx(0.03125))
    assert found["still"].test.note == "no variation"
    alone = change_by_item(before[:3], after[:3], draws=100)[0]
    assert alone.test.p == pytest.approx(0.25)  # rows over all agents keep theirs


def test_order_of_rows_does_not_matter_and_an_agent_without_a_type_is_in_the_overall_rows_only():
    before, after, types = _waves()
    shuffled = change_by_item(before, after.sample(frac=1, random_state=1), types.drop("a0"), draws=100)
    assert shuffled[0] == change_by_item(before, after, types, draws=100)[0]
    assert sum(one.test.n for one in shuffled if one.name == "i0" and one.stakeholder_type) == 39


def test_family_score_is_the_mean_over_items_answered_twice():
    before = pd.DataFrame({"a": [1.0, 2, 3], "b": [5.0, np.nan, 1]}, index=["x", "y", "z"])
    after = pd.DataFrame({"a": [2.0, 4, 3], "b": [5.0, 1, np.nan]}, index=["x", "y", "z"])
    # x: (1 + 5)/2 → (2 + 5)/2, change ½; y: a only, 2; z: a only, 0
    (found,) = change_by_family(before, after, {"f": ["a", "b"]})
    assert (found.name, found.test.n, found.test.n_zero) == ("f", 3, 1)
    assert found.test.mean_change == pytest.approx(2.5 / 3)


def test_noise_gives_no_more_than_five_percent_findings():
    # 200 seeds × a family of 4 items: Holm keeps the share of seeds with any finding at .05 (± 2.3 standard errors)
    hits = 0
    for seed in range(200):
        before, after, _ = _waves(seed=seed)
        adjusted = holm([wilcoxon(before[item], after[item]).p for item in before])
        # clip at the ends drags extreme answers inwards; it does so alike in both directions
        hits += any(p is not None and p < 0.05 for p in adjusted)
    assert hits / 200 <= 0.085


def test_no_agents_and_unknown_items():
    empty = pd.DataFrame({"a": []}, dtype=float)
    (found,) = change_by_item(empty, empty)
    assert (found.test.n, found.test.note, found.p_holm, found.effects.cliff.reason) == (
        0,
        "no pairs",
        None,
        "no pairs",
    )
    with pytest.raises(ValueError, match="family 'f': item 'q' is in neither wave; known: 'a'"):
        change_by_family(empty, empty, {"f": ["q"]})
