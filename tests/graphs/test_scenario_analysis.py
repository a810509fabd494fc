"""Scenario findings on tables small enough to work out by hand, and what the report makes of them."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from enquete.graphs.scenario.analysis import analyse
from enquete.graphs.scenario.instrument import ScenarioInstrument
from enquete.graphs.scenario.results import EVALUATION
from enquete.instruments.load import load_shipped
from enquete.reports.context import AnalysisContext
from tests.support.texts import prose, row, texts

INSTRUMENT = load_shipped(ScenarioInstrument, "scenario")
SCENARIOS = [s.scenario_id for s in INSTRUMENT.scenarios]
DIMENSIONS = [d.dimension_id for d in INSTRUMENT.dimensions]

Matrix = dict[str, list[float | None]]

# desirability, plausibility, impact, fairness
A: Matrix = {
    "erholung": [7, 2, 7, 5],
    "kollaps": [1, 6, 1, 2],
    "festung_europa": [4, 4, 4, 4],
    "privatisierung": [1, 5, 1, 1],
}
B: Matrix = {
    "erholung": [5, 6, 5, 4],
    "kollaps": [2, 2, 2, 3],
    "festung_europa": [3, 4, 3, 3],
    "privatisierung": [6, 5, 6, 4],
}
C: Matrix = {"erholung": [6, None, 5, 5]}
TYPES = {"a": "fisher | small", "b": "industry", "c": "fisher | small", "d": "industry"}
THEMES = {
    "themes": [
        {"id": "t1", "label": "Go | fishing", "description": "d", "statements": ["a|erholung/open", "b|erholung/open"]},
        {"id": "t2", "label": "Wait", "description": "", "statements": ["c|erholung/open", "x|erholung/open"]},
    ],
    "uncoded": [],
}


def table(answers: dict[str, Matrix], instrument: ScenarioInstrument = INSTRUMENT) -> pd.DataFrame:
    """A row for every item of the instrument; what is not given is not reached. Whoever rated a scenario also spoke."""
    made = []
    for who, matrix in answers.items():
        for scenario in (s.scenario_id for s in instrument.scenarios):
            ratings = dict(zip((d.dimension_id for d in instrument.dimensions), matrix.get(scenario, []), strict=False))
            for item in instrument.scenario_items(scenario, "en"):
                name = item.id.rpartition("/")[2]
                value = ratings.get(name)
                text = f"{who} on {scenario}" if name == "open" and ratings else ""
                made.append(
                    {"phase": "T1", "round": 0, "run_id": "run_1", "arm": "main", "participant": who,
                     "agent_name": who.upper(), "stakeholder_type": TYPES[who], "item_id": item.id,
                     "status": "ok" if value is not None or text else "not_reached", "value": value, "text": text}
                )  # fmt: skip
    return pd.DataFrame(made).astype({"value": float})


def find(answers: dict[str, Matrix], instrument: ScenarioInstrument = INSTRUMENT, **frozen: object) -> dict:
    context = AnalysisContext(language="en", frozen=frozen)  # type: ignore[arg-type]
    return {"arms": ["main"], **analyse(table(answers, instrument), instrument, None, context)}


ALL = {"a": A, "b": B, "c": C, "d": {}}


def rating(found: dict, scenario: str, dimension: str) -> dict:
    return next(r for r in found["ratings"] if r["item"] == f"{scenario}/{dimension}")


def test_ratings_stand_beside_their_n_over_all_and_by_type():
    entry = rating(find(ALL), "erholung", "desirability")
    # 7, 5, 6, –: mean 6, median 6, sd 1
    assert (entry["n_responded"], entry["n_total"]) == (3, 4)
    assert (entry["mean"], entry["median"], entry["sd"]) == (6, 6, 1)
    assert entry["distribution"] == {"1": 0, "2": 0, "3": 0, "4": 0, "5": 1, "6": 1, "7": 1}
    fishers, industry = entry["by_type"]
    assert (fishers["stakeholder_type"], fishers["n_responded"], fishers["n_total"], fishers["mean"]) == (
        "fisher | small", 2, 2, 6.5,
    )  # fmt: skip
    assert (industry["n_responded"], industry["n_total"], industry["sd"]) == (1, 2, None)


def test_every_agent_has_its_matrix():
    agents = find(ALL)["agents"]
    assert (agents["scenarios"], agents["dimensions"]) == (SCENARIOS, DIMENSIONS)
    first, _, third, nobody = agents["rows"]
    assert first["matrix"] == [A[scenario] for scenario in SCENARIOS]
    assert (third["n_rated"], third["n_total"]) == (3, 16)
    assert third["matrix"][0] == [6, None, 5, 5]
    assert nobody["matrix"] == [[None] * 4] * 4


def test_polarity_by_scenario_agent_and_type():
    found = find(ALL)
    polarity = found["polarity"]
    assert (polarity["desirability"], polarity["plausibility"], polarity["reason"]) == (
        "desirability",
        "plausibility",
        None,
    )
    entry = polarity["scenarios"][0]
    # a: (7, 2) → 1 · −2/3; b: (5, 6) → 1/3 · 2/3; c has no plausibility, d nothing: mean (−2/3 + 2/9)/2 = −2/9
    assert (entry["n_responded"], entry["n_total"]) == (2, 4)
    assert entry["polarity"] == pytest.approx(-2 / 9)
    assert (entry["wish"], entry["expectation"]) == (pytest.approx(2 / 3), 0)
    assert entry["quadrants"]["wished_unexpected"] == entry["quadrants"]["wished_expected"] == 1
    assert [row["polarity"][0] for row in found["agents"]["rows"]] == [
        pytest.approx(-2 / 3),
        pytest.approx(2 / 9),
        None,
        None,
    ]
    fishers = entry["by_type"][0]
    assert (fishers["quadrant"], fishers["n_responded"], fishers["n_total"]) == ("wished_unexpected", 1, 2)


def test_scenarios_are_compared_over_agents_who_rated_them_all():
    found = next(f for f in find(ALL)["friedman"] if f["dimension"] == "desirability")
    # ranks of a: 4, 1.5, 3, 1.5; of b: 3, 1, 2, 4. Rank sums 7, 2.5, 5, 5.5, mean 5: S = 4 + 6.25 + 0 + .25 = 10.5;
    # ΣT = 2³ − 2 = 6; W = 12·10.5/(4·60 − 2·6) = 126/228
    assert (found["n"], found["n_dropped"], found["n_total"], found["df"]) == (2, 2, 4, 3)
    assert found["w"] == pytest.approx(126 / 228)
    assert found["chi2"] == pytest.approx(6 * 126 / 228)
    assert found["mean_ranks"] == {"erholung": 3.5, "kollaps": 1.25, "festung_europa": 2.5, "privatisierung": 2.75}


def test_one_complete_agent_is_not_compared_and_equal_ratings_are_counted():
    flat = {scenario: [4, 5, 4, 4] for scenario in SCENARIOS}
    found = find({"a": flat, "c": C})
    assert {f["reason"] for f in found["friedman"]} == {"too_few_raters"}
    alike = found["alike"][0]
    assert (alike["n_alike"], alike["n_complete"], alike["share"], alike["n_total"]) == (1, 1, 1.0, 2)
    assert find({"a": flat, "b": flat})["friedman"][0]["reason"] == "no_variation"
    assert find({"c": C})["alike"][0]["share"] is None


def test_themes_carry_the_ids_and_words_of_their_answers():
    found = find(ALL, **{"themes/erholung": THEMES})
    first, second = found["open"]["scenarios"][:2]
    assert (first["coded"], first["n_uncoded"], first["n_responded"], first["n_total"]) == (True, 0, 3, 4)
    theme = first["themes"][0]
    assert theme["statements"] == ["a|erholung/open", "b|erholung/open"]
    assert theme["quoted"][0] == {
        "id": "a|erholung/open", "name": "A", "stakeholder_type": "fisher | small", "text": "a on erholung",
    }  # fmt: skip
    assert theme["by_type"] == {"fisher | small": 1, "industry": 1}
    assert [one["id"] for one in first["themes"][1]["quoted"]] == ["c|erholung/open"]  # x is not in the table
    assert (second["coded"], second["themes"]) == (False, [])
    fewer = find(ALL, **{"themes/erholung": {"themes": THEMES["themes"][:1]}})["open"]["scenarios"][0]
    assert (len(fewer["themes"]), fewer["n_uncoded"]) == (1, 1)  # c voices no theme
    written = EVALUATION.files(found, table(ALL), "T1")
    assert set(written) == {"responses.jsonl", "polarity_matrix.json"}
    matrix = json.loads(json.dumps(written["polarity_matrix.json"], allow_nan=False))
    assert [a["text"] for a in matrix["open"]["scenarios"][0]["themes"][0]["answers"]] == [
        "a on erholung",
        "b on erholung",
    ]
    assert {"agents", "polarity", "ratings", "friedman", "alike", "arms"} <= matrix.keys()


def of_ones_own() -> ScenarioInstrument:
    values = INSTRUMENT.model_dump(mode="json", exclude_none=True)
    del values["open_question"]
    values["scenarios"] = values["scenarios"][:2]
    values["dimensions"] = [{"dimension_id": "cost", "label": {"de": "Kosten", "en": "Cost"}, "scale": 5}]
    return ScenarioInstrument.model_validate(values)


def test_an_instrument_without_the_two_dimensions_has_no_polarity_and_says_so():
    own = of_ones_own()
    found = find({"a": {"erholung": [5], "kollaps": [2]}, "b": {"erholung": [1], "kollaps": [3]}}, own)
    assert (found["polarity"]["reason"], found["polarity"]["scenarios"], found["open"]) == ("no_dimension", [], None)
    assert found["agents"]["rows"][0]["polarity"] is None
    assert list(rating(found, "kollaps", "cost")["distribution"]) == ["1", "2", "3", "4", "5"]
    section, appendix = texts(EVALUATION, found)
    assert "polarity is not defined" in appendix
    assert row(section, "Scenario") == ["Scenario", "n / N", "Cost"]
    assert "Means on 1–5" in section
    assert "what they would do" not in section


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize(
    "answers",
    [ALL, {"a": A}, {"a": {}, "b": {}}, {"c": C}, {"a": {s: [4, 4, 4, 4] for s in SCENARIOS}}],
    ids=["partial", "one agent", "all failed", "one scenario", "all alike"],
)
@pytest.mark.parametrize("coded", [True, False])
def test_whatever_is_missing_gives_null_and_counts_never_nan(answers, language, coded):
    found = find(
        answers, **({"themes/erholung": THEMES, "themes/kollaps": {"themes": [], "uncoded": []}} if coded else {})
    )
    json.dumps(found, allow_nan=False)
    section, appendix = texts(EVALUATION, found, language)
    assert prose(section) <= 150
    for part in ("| small", "| fishing"):  # types and labels come from others and are escaped
        assert part not in (section + appendix).replace("\\" + part, "")


def test_the_section_has_means_with_intervals_and_the_groups_that_are_large_enough():
    """Five fishers wish for recovery with 7, five of the industry with 1: mean 4, s² = 90/9, ± 2.262·s/√10 = 2.26."""
    kinds = {"fisher | small": 7, "industry": 1, "angler": 4}
    TYPES.update({f"x{kind[0]}{i}": kind for kind in kinds for i in range(5 if kind != "angler" else 2)})
    people = {who: {"erholung": [kinds[kind], 2, 5, 5]} for who, kind in TYPES.items() if who.startswith("x")}
    section, _ = texts(EVALUATION, find({who: given for who, given in people.items() if who[1] != "a"}))
    assert row(section, "Recovery")[1:4] == ["10 / 10", "4.00 [1.74; 6.26]", "2.00 [2.00; 2.00]"]
    assert row(section, "Recovery")[-1] == "not clear of the midpoint"
    section, _ = texts(EVALUATION, find(people))
    assert row(section, "fisher \\| small")[1:3] == ["7.00 (n = 5)", "–"]
    assert row(section, "p")[1:3] == ["0.008", "–"]  # 2/252; the other ratings do not vary, so Holm has one test
    assert "angler" not in section


def test_item_facts_know_scenario_dimension_and_scale():
    facts = EVALUATION.item_facts("kollaps/impact", INSTRUMENT)
    assert (facts.family, facts.dimension, facts.scale_min, facts.scale_max) == ("kollaps", "impact", 1, 7)
    assert EVALUATION.item_facts("kollaps/open", INSTRUMENT).family == "kollaps"
    assert EVALUATION.item_facts("kollaps/open", INSTRUMENT).scale_max is None
    assert EVALUATION.item_facts("gone/impact", INSTRUMENT).family == ""
