"""Headlines: what each run measures, which the main arm leads with, and when a further run says the same."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.reports.replicates.again import headlines, judged_headlines
from tests.graphs.test_diversity_analysis import findings, table
from tests.graphs.test_longitudinal_analysis import both
from tests.reports.test_reports_crossing import EVALUATIONS


def drift(low: float, high: float, p: float) -> dict[str, Any]:
    change = {"estimate": (low + high) / 2, "low": low, "high": high}
    return {"item": "trust", "p_holm": p, "effects": {"mean_change": change}}


def found(**changes: Any) -> dict[str, Any]:
    """Findings with one headline of every kind; `changes` by methodology."""
    rated = {"theme": "x", "dimension": "importance", "item": "theme:x/importance", "polarised": True, "agreement": 0.1,
             "label": "disagreement", "iqr": 3.0}  # fmt: skip
    agreed = {**rated, "theme": "y", "item": "theme:y/importance", "polarised": False, "agreement": 0.8,
              "label": "consensus", "iqr": 1.0}  # fmt: skip
    whole: dict[str, Any] = {
        "longitudinal": {"items": [{"item": "trust", "wording": "I trust."}], "drift": {"items": [drift(0.2, 0.6, 0.01)]}},
        "diversity": {"typology": {"k": 2, "reason": "typology"}, "archetypes": [{"archetype": "A"}, {"archetype": "B"}],
                      "q": {"n_analysed": 9, "number": {"used": 3, "asked": None}}},
        "delphi": {"last_round": 3, "themes": [{"id": "x", "label": "Nets"}, {"id": "y", "label": "Ports"}],
                   "dimensions": [{"dimension": "urgency"}, {"dimension": "importance"}],
                   "thresholds": {"polarised_below": 0.2},
                   "ratings": [{**rated, "round": 2}, {**rated, "round": 3}, {**agreed, "round": 3},
                               {**agreed, "round": 3, "dimension": "urgency", "item": "theme:y/urgency"}],
                   "concordance": [{"round": 2, "dimension": "importance", "w": 0.9},
                                   {"round": 3, "dimension": "importance", "w": 0.6}]},
        "scenario": {"scenarios": [{"scenario": "a", "label": "Aaa"}, {"scenario": "b", "label": "Bbb"},
                                   {"scenario": "c", "label": "Ccc"}],
                     "ratings": [{"scenario": s, "dimension": "wish", "mean": m} for s, m in (("a", 3.0), ("b", 5.0), ("c", 5.001))],
                     "polarity": {"desirability": "wish", "scenarios": [{"scenario": "a", "quadrant": "feared_expected"}]}},
    }  # fmt: skip
    return {name: {**result, **changes.get(name, {})} for name, result in whole.items()}


def agreeing(**changes: Any) -> dict[str, tuple[int, int]]:
    """By headline of the main arm: how many of two further runs, one like it and one with `changes`, agree, of how many."""
    main, other = headlines(EVALUATIONS, found(), "en"), headlines(EVALUATIONS, found(**changes), "en")
    return {one.id: (held.held.n_agreeing, held.held.n) for one, held in judged_headlines(main, [main, other])}


def test_the_main_arm_leads_with_what_is_significant_divided_agreed_or_apart():
    leads = {one.id: one.shown for one in headlines(EVALUATIONS, found(), "en").values() if one.leads}
    assert leads == {
        "longitudinal.drift.trust": pytest.approx(0.4), "diversity.types": 2, "diversity.factors": 3,
        "delphi.polarised.theme:x/importance": 0.1, "delphi.consensus.theme:y/importance": 1.0, "delphi.w.importance": 0.6,
        "scenario.order.b/a": 2.0, "scenario.quadrant.a": "feared_expected",  # b and c print alike, and c/a is no neighbour
    }  # fmt: skip


def test_every_kind_is_said():
    for one in headlines(EVALUATIONS, found(), "de").values():
        said = EVALUATIONS[one.methodology].sentences[one.kind].format(*one.about)
        assert all(name in said for name in one.about)


def test_real_findings_are_measured(whole):
    """Of a run of 7 agents whose T0 is reconstructed: the analysis names its figures as they are read here."""
    measured = headlines(EVALUATIONS, whole.results(), "en")
    assert {one.id.split(".")[1] for one in measured.values()} == {"polarised", "consensus", "w"}
    assert all(one.about and one.about[0] for one in measured.values())
    assert any(one.said is not None for one in measured.values() if one.methodology == "delphi")


def test_items_of_a_real_longitudinal_analysis_are_measured():
    found = both()
    measured = headlines(EVALUATIONS, {"longitudinal": found}, "de").values()
    assert [one.id.removeprefix("longitudinal.drift.") for one in measured] == [one["item"] for one in found["items"]]
    assert {one.said for one in measured} <= {-1, 0, 1, None}
    assert any(one.said in (-1, 1) for one in measured)
    assert all(one.about[0] not in one.id for one in measured)  # worded, not named


def test_types_and_factors_of_real_findings():
    made = findings(table(24))
    measured = headlines(EVALUATIONS, {"diversity": made}, "en")
    assert measured["diversity.types"].said == len(made["archetypes"])
    assert measured["diversity.factors"].said == made["q"]["number"]["used"]


@pytest.mark.parametrize(
    ("change", "agrees"),
    [
        (drift(0.1, 0.9, 0.30), True),  # the interval leaves out 0; Holm only chooses the main arm's headlines
        (drift(-0.1, 0.9, 0.30), False),
        (drift(-0.6, -0.2, 0.01), False),
        (
            {"item": "trust", "p_holm": 0.01, "effects": {"mean_change": {"estimate": 1.0, "low": None, "high": None}}},
            True,
        ),
    ],
)
def test_a_drift_agrees_by_direction_and_interval(change, agrees):
    made = agreeing(longitudinal={"drift": {"items": [change]}})
    assert made["longitudinal.drift.trust"] == (2 if agrees else 1, 2)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"diversity": {"archetypes": []}}, "diversity.types"),
        ({"diversity": {"q": {"n_analysed": 9, "number": {"used": 2, "asked": None}}}}, "diversity.factors"),
        ({"delphi": {"concordance": [{"round": 3, "dimension": "importance", "w": 0.49}]}}, "delphi.w.importance"),
        ({"scenario": {"polarity": {"desirability": "wish", "scenarios": [{"scenario": "a", "quadrant": "undecided"}]}}},
         "scenario.quadrant.a"),
        ({"scenario": {"ratings": [{"scenario": s, "dimension": "wish", "mean": m} for s, m in (("a", 5), ("b", 4))]}},
         "scenario.order.b/a"),
    ],
)  # fmt: skip
def test_another_number_side_quadrant_or_order_does_not_agree(changes, name):
    made = agreeing(**changes)
    assert made.pop(name) == (1, 2)
    assert all(agree == n for agree, n in made.values())


def test_themes_agree_by_the_instruments_limits():
    other = [{**one, "agreement": 0.25, "polarised": False, "label": "open"} for one in found()["delphi"]["ratings"]]
    made = agreeing(delphi={"ratings": other})
    assert made["delphi.polarised.theme:x/importance"] == made["delphi.consensus.theme:y/importance"] == (1, 2)


@pytest.mark.parametrize("missing", ["longitudinal", "diversity", "delphi", "scenario"])
def test_a_run_without_a_methodology_says_nothing_of_it(missing):
    main, other = (
        headlines(EVALUATIONS, found(), "en"),
        headlines(EVALUATIONS, {n: r for n, r in found().items() if n != missing}, "en"),
    )
    for one, held in judged_headlines(main, [other]):
        assert held.held.n_missing == (one.methodology == missing)


@pytest.mark.parametrize(
    "changes",
    [
        {"longitudinal": {"drift": {"items": [{k: v for k, v in drift(0.2, 0.6, 0.01).items() if k != "p_holm"}]}}},
        {"longitudinal": {"drift": {"items": [drift(0.2, 0.6, 0.20)]}}},
        {"longitudinal": {"drift": None}},
    ],
)
def test_what_is_not_tested_or_not_significant_is_no_headline(changes):
    assert not any(
        one.methodology == "longitudinal" and one.leads
        for one in headlines(EVALUATIONS, found(**changes), "en").values()
    )


def test_numbers_set_by_hand_and_too_few_agents_are_no_findings():
    q = {"n_analysed": 9, "number": {"used": 3, "asked": 3}}
    changes = {"diversity": {"typology": {"k": 1, "reason": "few"}, "archetypes": [], "q": q}}
    assert not any(one.methodology == "diversity" for one in headlines(EVALUATIONS, found(**changes), "en").values())
