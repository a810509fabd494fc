"""Comparisons in the scenario findings against figures by hand, and what the report makes of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from enquete.graphs.scenario.present import appendix, files, section
from enquete.state.asking import Language
from tests.graphs.test_scenario_analysis import ALL, INSTRUMENT, SCENARIOS, THEMES, A, C, find, of_ones_own, table


def one(entries: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    (found,) = [entry for entry in entries if all(entry[key] == value for key, value in wanted.items())]
    return found


def test_pairs_of_scenarios_are_compared_within_agents() -> None:
    """a: 7 → 1, b: 5 → 2, so d = −6, −3: both signs fall in 2 of 4 sign patterns; Walsh averages −6, −4.5, −3."""
    entry = one(find(ALL)["pairwise"], dimension="desirability", first="erholung", second="kollaps")
    assert (entry["n"], entry["n_missing"], entry["n_total"]) == (2, 2, 4)
    assert (entry["p"], entry["rank_biserial"], entry["hodges_lehmann"]) == (0.5, -1, -4.5)
    assert entry["p_holm"] == 1  # six pairs: 6 · 0.5 > 1
    assert len(find(ALL)["pairwise"]) == 4 * 6


def test_types_are_compared_exactly_where_they_are_few() -> None:
    """Desirability of recovery: fishers 7 and 6, industry 5. Ranks 3, 2 and 1: H = 12/12·(25/2 + 1) − 12 = 1.5, ε² = H/2;
    of three relabellings two (industry lowest, industry highest) part the groups as far. η²: SS_between = 1.5 of 2, on
    centred ratings as on raw ones."""
    entry = one(find(ALL)["group_tests"], item="erholung/desirability")
    wished = one(find(ALL)["polarity_tests"], scenario="erholung", measure="desirability")
    assert (entry["n"], entry["n_total"], entry["groups"]) == (3, 4, {"fisher | small": 2, "industry": 1})
    assert entry["h"] == pytest.approx(1.5)
    assert entry["epsilon_squared"] == pytest.approx(0.75)
    assert (entry["p"], entry["method"]) == (pytest.approx(2 / 3), "exact permutation")
    assert wished["eta_squared"] == pytest.approx(0.75)
    assert entry["p_holm"] == 1


def test_nothing_to_compare_gives_a_reason_and_none() -> None:
    entry = one(find({"a": A})["group_tests"], item="kollaps/fairness")
    assert (entry["reason"], entry["p"], entry["p_holm"]) == ("fewer than 3 values", None, None)
    assert find({"c": C})["pairwise"][0]["p"] is None


def test_quadrants_stand_on_the_midpoint_and_on_the_agents_own_means() -> None:
    """a wishes 7, 1, 4, 1 (mean 3.25) and expects 2, 6, 4, 5 (4.25): (3.75/3, −2.25/3). b wishes 5, 2, 3, 6 (4) and expects
    6, 2, 4, 5 (4.25): (1/3, 1.75/3). c rated one scenario and has no mean to compare with."""
    entry = one(find(ALL)["polarity"]["scenarios"], scenario="erholung")
    own = entry["agent_centred"]
    assert (own["n_responded"], own["n_total"]) == (2, 4)
    assert own["wish"] == pytest.approx((1.25 + 1 / 3) / 2)
    assert own["expectation"] == pytest.approx((-0.75 + 1.75 / 3) / 2)
    assert (own["quadrant"], entry["quadrant"]) == ("wished_unexpected", "undecided")
    assert {kind["stakeholder_type"] for kind in own["by_type"]} == {"fisher | small", "industry"}


def test_polarity_has_its_share_between_types() -> None:
    """Four agents of two types; recovery: a (7, 2) → −2/3, c (1, 6) → −2/3 and b (5, 6) → 2/9, d (6, 5) → 2/9: all between."""
    like_b = {"erholung": [6.0, 5.0, 5.0, 4.0]}
    opposite = {"erholung": [1.0, 6.0, 1.0, 1.0]}
    found = find({**ALL, "c": opposite, "d": like_b})
    entry = one(found["polarity_tests"], scenario="erholung", measure="polarity")
    assert entry["eta_squared"] == pytest.approx(1)
    assert entry["n"] == 4
    # 4!/(2!2!) = 6 relabellings, of which this one and its mirror image part the types completely
    assert entry["p"] == pytest.approx(2 / 6)
    assert find({"a": {"erholung": [5]}}, of_ones_own())["polarity_tests"] == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_shares_between_types_are_printed_with_holm_over_both_measures(language: Language) -> None:
    found = find({**ALL, "c": {"erholung": [1.0, 6.0, 1.0, 1.0]}, "d": {"erholung": [6.0, 5.0, 5.0, 4.0]}})
    entry = one(found["polarity_tests"], scenario="erholung", measure="polarity")
    assert entry["p"] == pytest.approx(2 / 6)
    assert entry["p_holm"] > entry["p"]
    shown = f"{entry['p_holm']:.3f}".replace(".", "," if language == "de" else ".")
    eta = f"{entry['eta_squared']:.2f}".replace(".", "," if language == "de" else ".")
    assert f"{eta}, p (Holm) {shown}" in section(found, language)


def test_spread_has_agreement_and_bimodality() -> None:
    rating = one(find(ALL)["ratings"], item="erholung/desirability")
    # 7, 5, 6: three raters, too few for the small-sample kurtosis of the coefficient
    assert rating["agreement"] is not None
    assert rating["bimodality"] is None


def test_themes_are_counted_against_the_answers_of_each_type() -> None:
    found = find(ALL, **{"themes/erholung": THEMES})
    entry = found["open"]["scenarios"][0]
    assert entry["by_type"] == [
        {"stakeholder_type": "fisher | small", "n_responded": 2, "n_total": 2},
        {"stakeholder_type": "industry", "n_responded": 1, "n_total": 2},
    ]
    text = appendix(found, "en")
    assert "| Go \\| fishing | 1 / 2 (50%) | 1 / 1 (100%) |" in text
    assert "| Wait | 1 / 2 (50%) | 0 / 1 (0%) |" in text


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("answers", [ALL, {"a": A}, {"a": {}, "b": {}}], ids=["partial", "one agent", "all failed"])
def test_section_and_appendix_are_plain_text_whatever_is_missing(answers: Any, language: Any) -> None:
    found = find(answers)
    json.dumps(found, allow_nan=False)
    for text in (section(found, language), appendix(found, language)):
        assert not re.search(r"\b(nan|None)\b|\{\w*\}|\n\n\n", text)
        widths = [
            (len(re.findall(r"(?<!\\)\|", head)), len(re.findall(r"(?<!\\)\|", ruler)))
            for head, ruler in zip(text.splitlines(), text.splitlines()[1:], strict=False)
            if ruler.startswith("| ---")
        ]
        assert all(head == ruler for head, ruler in widths)
    assert ("Einheit des Schlusses" if language == "de" else "unit of inference") in section(found, language)


def test_the_file_holds_every_comparison() -> None:
    matrix = files(find(ALL), table(ALL), "T1")["polarity_matrix.json"]
    assert isinstance(matrix, dict)
    assert {"pairwise", "group_tests", "polarity_tests", "unit_of_inference"} <= matrix.keys()
    assert len(matrix["group_tests"]) == len(SCENARIOS) * len(INSTRUMENT.dimensions)
