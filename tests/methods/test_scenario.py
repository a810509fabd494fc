"""Scenarios on ratings small enough to work out by hand: tables, what is read of them, sentences that follow from the
answers."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.instruments.load import load_shipped
from enquete.methods.scenario.evaluation import EVALUATION, PRESENTATION, item_facts
from enquete.methods.scenario.findings import settle_verdicts
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.methods.scenario.results import analyse
from enquete.reports.analyses import agent_columns
from enquete.reports.charts import drawn
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, WholeResults, shaped
from enquete.reports.findings import MOST_WORDS, KeyFinding, stated_of
from enquete.reports.result_tables import LEVEL, ResultTables
from enquete.state.asking import Language
from tests.support.charts import illegible
from tests.support.tables import findings, results, row, rows
from tests.support.texts import row as cells

INSTRUMENT = load_shipped(ScenarioInstrument, "scenario")
SCENARIOS = [s.scenario_id for s in INSTRUMENT.scenarios]
Matrix = dict[str, list[float | None]]

# desirability, plausibility, impact, fairness
A: Matrix = {
    "erholung": [7, 2, 7, 5], "kollaps": [1, 6, 1, 2], "festung_europa": [4, 4, 4, 4], "privatisierung": [1, 5, 1, 1],
}  # fmt: skip
B: Matrix = {
    "erholung": [5, 6, 5, 4], "kollaps": [2, 2, 2, 3], "festung_europa": [3, 4, 3, 3], "privatisierung": [6, 5, 6, 4],
}  # fmt: skip
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


def find(answers: dict[str, Matrix], instrument: ScenarioInstrument = INSTRUMENT, **pinned: object) -> Analysis:
    context = AnalysisContext(language="en", pinned=pinned)
    return analyse(table(answers, instrument), instrument, None, context)


def text_of(analysis: Analysis, place: str = "appendix", language: Language = "en") -> str:
    return results(PRESENTATION, analysis, language).at(place)


ALL = {"a": A, "b": B, "c": C, "d": {}}


@cache
def of_all() -> Analysis:
    return find(ALL)


CODED = {"themes/erholung": THEMES}
GROUPS = (("fisher", 7, 5), ("industry", 1, 5), ("angler", 4, 3))
TYPES.update({f"{kind[0]}{i}": kind for kind, _, n in GROUPS for i in range(n)})
APART: dict[str, Matrix] = {f"{kind[0]}{i}": {"erholung": [value] * 4} for kind, value, n in GROUPS for i in range(n)}


# --- ratings ----------------------------------------------------------------------------------------------------------


def test_ratings_with_their_n_and_intervals_of_all_scenarios_at_once() -> None:
    entry = row(of_all(), "ratings", item="erholung/desirability")
    # 7, 5, 6, –: mean 6, median 6, sd 1; three raters, too few for the small-sample kurtosis of the bimodality
    # coefficient
    assert (entry["n"], entry["n_total"], entry["mean"], entry["median"], entry["sd"]) == (3, 4, 6, 6, 1)
    assert (entry["bimodality"], entry["side"]) == (None, "unclear")  # three raters are clear of nothing
    # Ten agents, two scenarios, 7 or 1 and 5 or 3: t at 1 − .05/4 with 9 degrees of freedom, over s̃² = (9s² +
    # 2s̄²)/11.
    people = {
        f"{kind}{i}": {"erholung": [x], "kollaps": [y]} for kind, x, y in (("f", 7, 5), ("i", 1, 3)) for i in range(5)
    }
    analysis = find(people, of_ones_own(scale="7"))
    wide, narrow = 90 / 9, 10 / 9
    for scenario, s2 in (("erholung", wide), ("kollaps", narrow)):
        reach = stats.t.ppf(1 - 0.05 / 4, 9) * np.sqrt((9 * s2 + wide + narrow) / 11 / 10)
        entry = row(analysis, "ratings", scenario=scenario)
        assert (entry["mean_low"], entry["mean_high"]) == pytest.approx((max(1, 4 - reach), min(7, 4 + reach)))


def test_pairs_of_scenarios_are_compared_within_agents() -> None:
    """a: 7 → 1, b: 5 → 2, so d = −6, −3: both signs fall in 2 of 4 sign patterns; Walsh averages −6, −4.5, −3."""
    entry = row(of_all(), "pairs", dimension="desirability", first="erholung", second="kollaps")
    assert (entry["n"], entry["n_total"], entry["p"], entry["rank_biserial"]) == (2, 4, 0.5, -1)
    assert (entry["hodges_lehmann"], entry["p_holm"], entry["verdict"]) == (
        -4.5,
        1,
        "neither",
    )  # six pairs: 6 · 0.5 > 1
    assert len(rows(of_all(), "pairs")) == 4 * 6
    assert rows(find({"c": C}), "pairs")[0]["p"] is None


def test_scenarios_are_told_apart_over_agents_who_rated_them_all() -> None:
    analysis = of_all()
    entry = row(analysis, "dimensions", dimension="desirability")
    # ranks of a: 4, 1.5, 3, 1.5; of b: 3, 1, 2, 4. Rank sums 7, 2.5, 5, 5.5, mean 5: S = 4 + 6.25 + 0 + .25 = 10.5;
    # ΣT = 2³ − 2 = 6; W = 12·10.5/(4·60 − 2·6) = 126/228
    assert (entry["n_complete"], entry["n_total"], entry["df"]) == (2, 4, 3)
    assert (entry["w"], entry["chi2"]) == pytest.approx((126 / 228, 6 * 126 / 228))
    ranks = {record["scenario"]: record["mean_rank"] for record in rows(analysis, "ratings", dimension="desirability")}
    assert ranks == {"erholung": 3.5, "kollaps": 1.25, "festung_europa": 2.5, "privatisierung": 2.75}
    flat = {scenario: [4, 5, 4, 4] for scenario in SCENARIOS}
    alike = row(find({"a": flat, "c": C}), "dimensions", dimension="desirability")
    assert (alike["n_alike"], alike["n_complete"], alike["w"]) == (1, 1, None)


# --- wish and expectation ---------------------------------------------------------------------------------------------


def test_polarity_by_scenario_and_agent_who_has_its_columns() -> None:
    analysis = of_all()
    entry = row(analysis, "scenarios", scenario="erholung")
    # a: (7, 2) → 1 · −2/3; b: (5, 6) → 1/3 · 2/3; c has no plausibility, d nothing: mean (−2/3 + 2/9)/2 = −2/9
    assert (entry["n_both"], entry["polarity"], entry["quadrant"]) == (2, pytest.approx(-2 / 9), "unclear")
    assert (entry["n_wished_unexpected"], entry["n_wished_expected"]) == (1, 1)
    agents = [record["polarity"] for record in rows(analysis, "agents", scenario="erholung")]
    assert agents == [pytest.approx(-2 / 3), pytest.approx(2 / 9), None, None]
    # On their own means: a wishes 7, 1, 4, 1 (3.25) and expects 2, 6, 4, 5 (4.25): (3.75/3, −2.25/3); b wishes 5, 2, 3,
    # 6 (4) and expects 6, 2, 4, 5 (4.25): (1/3, 1.75/3); c rated one scenario and has no mean to compare with.
    assert (entry["own_wish"], entry["own_expectation"]) == pytest.approx(((1.25 + 1 / 3) / 2, (-0.75 + 1.75 / 3) / 2))
    made = {column.column: column for column in agent_columns(PRESENTATION, of_all(), "scenario", {})}
    names = ("recovery", "collapse", "fortress_europe", "privatisation")  # as the report calls them, not their ids
    assert sorted(made) == sorted([*(f"desirability_{name}" for name in names), "desirability_range"])
    assert made["desirability_recovery"].values.dropna().to_dict() == {"a": 7, "b": 5, "c": 6}
    assert made["desirability_range"].values.to_dict() == {"a": 6, "b": 4}  # who rated all


def of_ones_own(scale: Any = 5) -> ScenarioInstrument:
    values = INSTRUMENT.model_dump(mode="json", exclude_none=True)
    del values["open_question"]
    values["scenarios"] = values["scenarios"][:2]
    values["dimensions"] = [{"dimension_id": "cost", "label": {"de": "Kosten", "en": "Cost"}, "scale": scale}]
    return ScenarioInstrument.model_validate(values)


def test_an_instrument_without_the_two_dimensions_places_nothing() -> None:
    analysis = find({"a": {"erholung": [5], "kollaps": [2]}, "b": {"erholung": [1], "kollaps": [3]}}, of_ones_own())
    assert [(entry["quadrant"], entry["polarity"]) for entry in rows(analysis, "scenarios")] == [(None, None)] * 2
    assert (analysis.facts["desirability"], rows(analysis, "agents"), rows(analysis, "open")) == (None, [], [])
    section = text_of(analysis, "section")
    assert cells(section, "Scenario") == ["Scenario", "Cost (1–5): mean", "Cost (1–5): 95%"]
    assert "what they would do" not in section


# --- groups and open answers ------------------------------------------------------------------------------------------


def test_groups_with_enough_ratings_are_compared_and_smaller_ones_are_in_no_effect() -> None:
    """Recovery: five fishers wish 7, five of the industry 1, and three anglers 4, who are too few to speak for a group.
    Ranks 8 and 3: H = 12/110·(40²/5 + 15²/5) − 33 = 6.818, over its ties 1 − 240/990 = 9; ε² = 9/9. Two of C(10, 5) =
    252 relabellings part the ten as far; so do they on the other three ratings of recovery, which count once
    (max-T)."""
    final = results(PRESENTATION, find(APART)).analysis
    entry = row(final, "group_tests", item="erholung/desirability")
    assert (entry["n"], entry["n_total"], entry["n_small"], entry["highest"], entry["lowest"]) == (
        10, 13, 3, ["fisher"], ["industry"],
    )  # fmt: skip
    assert (entry["effect"], entry["p"], entry["p_adjusted"]) == pytest.approx((1, 2 / 252, 2 / 252))
    assert row(final, "group_tests", item="kollaps/fairness")["p"] is None
    means = {
        record["group"]: record["mean"]
        for record in rows(final, "groups", scenario="erholung", dimension="desirability")
    }
    assert means == {"fisher": 7, "industry": 1}


def test_themes_trace_back_to_answers_and_are_counted_against_those_of_each_group() -> None:
    analysis = find(ALL, **CODED)
    assert row(analysis, "open", scenario="erholung") == {
        "scenario": "erholung", "n": 3, "n_total": 4, "is_coded": True, "n_uncoded": 0
    }  # fmt: skip
    assert row(analysis, "open", scenario="kollaps")["is_coded"] is False
    voices = [(entry["participant"], entry["text"]) for entry in rows(analysis, "voices", theme="erholung/t1")]
    assert voices == [("a", "a on erholung"), ("b", "b on erholung")]
    assert row(analysis, "themes", theme="erholung/t2")["n"] == 1  # x is not in the table
    assert rows(find(ALL, **{"themes/erholung": {"themes": THEMES["themes"][:1]}}), "open")[0]["n_uncoded"] == 1
    assert "- a, fisher | small: “a on erholung”" in text_of(analysis).replace("\\|", "|")
    # Of thirteen answers two; of five fishers one; three anglers are too few for a column.
    theme = {"id": "t", "label": "Go | on", "statements": ["f0|erholung/open", "a0|erholung/open"]}
    analysis = find(APART, **{"themes/erholung": {"themes": [theme]}})
    assert (row(analysis, "themes")["n"], row(analysis, "themes")["n_answers"]) == (2, 13)
    counted = {each["group"]: (each["n"], each["n_answers"]) for each in rows(analysis, "themes_by_group")}
    assert counted == {"fisher": (1, 5), "industry": (0, 5)}


# --- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "coded"),
    [(ALL, True), ({"a": A}, True), ({"a": {}, "b": {}}, True), ({"c": C}, True),
     ({"a": {s: [4, 4, 4, 4] for s in SCENARIOS}}, True), (ALL, False)],
    ids=["partial", "one agent", "all failed", "one scenario", "all alike", "not coded"],
)  # fmt: skip
def test_whatever_is_missing_gives_null_and_counts_never_nan(answers: Any, coded: bool) -> None:
    analysis = find(answers, **({**CODED, "themes/kollaps": {"themes": [], "uncoded": []}} if coded else {}))
    text = "".join(text_of(analysis, part, language) for language in ("de", "en") for part in ("section", "appendix"))
    assert not re.search(r"\b(nan|None)\b", text)
    for part in ("| small", "| fishing"):  # groups and labels come from others and are escaped
        assert part not in text.replace("\\" + part, "")
    whole = WholeResults({"arms": ["main"], **analysis.as_json(PRESENTATION)}, analysis.tables)
    written = EVALUATION.files(whole, table(answers), "T1")
    matrix = json.loads(json.dumps(written["polarity_matrix.json"], allow_nan=False, default=list))
    assert {"arms", "agents", "voices", *PRESENTATION.tables} <= matrix.keys()


def test_item_facts_know_scenario_dimension_and_scale() -> None:
    facts = item_facts("kollaps/impact", INSTRUMENT)
    assert (facts.family, facts.dimension, facts.scale_min, facts.scale_max) == ("kollaps", "impact", 1, 7)
    assert (item_facts("kollaps/open", INSTRUMENT).family, item_facts("kollaps/open", INSTRUMENT).scale_max) == (
        "kollaps", None)  # fmt: skip
    assert item_facts("gone/impact", INSTRUMENT).family == ""


# --- findings and charts ----------------------------------------------------------------------------------------------

MEANT = {"erholung": (6, 3), "kollaps": (2, 5), "festung_europa": (4, 4), "privatisierung": (4, 4)}


def ratings(n: int, apart: bool = True) -> dict[str, Matrix]:
    """n agents, by turns of two types, who rate around what is `MEANT`; the types part on “Privatisation”."""
    rng = np.random.default_rng(5)
    made: dict[str, Matrix] = {}
    for i in range(n):
        TYPES[f"s{i}"] = ("fisher", "industry")[i % 2]
        side = (-2, 2)[i % 2]
        made[f"s{i}"] = {
            name: [
                float(np.clip(center + (side if apart and name == "privatisierung" else 0) + rng.integers(-1, 2), 1, 7))
                for center in ((*MEANT[name], *MEANT[name]) if apart else (4, 4, 4, 4))
            ]
            for name in SCENARIOS
        }
    return made


def findings_of(answers: dict[str, Matrix] | Analysis, language: Language = "en") -> dict[str, KeyFinding]:
    told = findings(PRESENTATION, find(answers) if isinstance(answers, dict) else answers, language)
    assert all(len(finding.text.split()) <= MOST_WORDS for finding in told.values())
    return told


def test_every_number_of_a_sentence_is_one_of_the_answers() -> None:
    wide = table(ratings(12)).pivot(index="participant", columns="item_id", values="value")
    analysis = find(ratings(12))
    told = findings_of(analysis)
    highest, wished, groups = (told[name] for name in ("highest", "place", "groups"))
    best, worst = highest.items
    assert (best, worst) == ("erholung/desirability", "kollaps/desirability")
    friedman = stats.friedmanchisquare(*(wide[f"{scenario}/desirability"] for scenario in SCENARIOS)).pvalue
    p = max(2 / 2**12, friedman)  # all twelve rate the best above the worst
    assert row(analysis, "dimensions", dimension="desirability")["p"] == pytest.approx(p)
    assert highest.numbers["change"] == pytest.approx((wide[best] - wide[worst]).mean())
    assert highest.p >= p  # corrected over the page besides
    assert (highest.numbers["mean_highest"], highest.numbers["mean_lowest"]) == pytest.approx(
        (wide[best].mean(), wide[worst].mean())
    )
    assert wished.items == ("erholung/desirability", "erholung/plausibility")
    assert wished.numbers["expectation"] == pytest.approx(wide["erholung/plausibility"].mean())
    assert wished.text.startswith("“Recovery” is wished for, not expected: Desirability (1–7) ")
    samples = [wide.loc[[f"s{i}" for i in range(side, 12, 2)], groups.items[0]] for side in (0, 1)]
    assert groups.numbers["effect"] == pytest.approx(stats.kruskal(*samples).statistic / 11)
    assert [groups.numbers[f"mean_{end}"] for end in ("lowest", "highest")] == pytest.approx(
        [sample.mean() for sample in samples]
    )
    assert "(fisher) to" in groups.text


def test_ties_are_named_as_ties() -> None:
    """All twelve wish for recovery and privatisation alike and for the other two alike; p is that of the pair least
    sure."""
    people = {
        f"s{i}": {s: [6 - 3 * (s in ("kollaps", "festung_europa")) - i % 2] * 4 for s in SCENARIOS} for i in range(12)
    }
    TYPES.update(dict.fromkeys(people, "fisher"))
    entry = row(find(people), "dimensions", dimension="desirability")
    assert (entry["highest"], entry["lowest"]) == (["erholung", "privatisierung"], ["kollaps", "festung_europa"])
    assert (
        "shared by 2: Recovery and Privatisation; lowest 2.50, shared by 2: Collapse and Fortress Europe"
        in findings_of(people)["highest"].text
    )


def test_where_agents_agree_on_every_scenario_the_sentence_says_why_it_has_no_interval() -> None:
    """Twelve agents, all alike: 7, 1, 4 and 5. No standard deviation is above 0, and all twelve differences of highest
    and lowest have one sign; “interval – to –” stood there."""
    levels = dict(zip(SCENARIOS, (7, 1, 4, 5), strict=True))
    people = {f"s{i}": {scenario: [level] * 4 for scenario, level in levels.items()} for i in range(12)}
    TYPES.update(dict.fromkeys(people, "fisher"))
    highest = findings_of(people)["highest"]
    assert "(mean 7.00) and lowest for “Collapse” (1.00): 6.00 apart" in highest.text
    assert highest.text.endswith("n = 12/12; no interval, since the agents agree on every scenario.")


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("run", ["empty", "partial", "small", "with themes", "of its own"])
def test_all_that_is_read_of_a_run_can_be_told(run: str, language: Language) -> None:
    """Templates are strict: a name that is not there is an error. A finding names only values that it has."""
    runs = {
        "empty": lambda: shaped(PRESENTATION, {}, {}),
        "partial": lambda: find({"a": A, "b": {}, "c": C}),
        "small": lambda: find(ratings(12)),
        "with themes": lambda: find(ALL, **CODED),
        "of its own": lambda: find({"a": {"erholung": [5], "kollaps": [2]}}, of_ones_own()),
    }
    read = results(PRESENTATION, runs[run](), language)
    told = list(stated_of(read))
    texts = [read.at("section"), read.at("appendix"), *(text for _, text in read.remembered())]
    texts += [finding.text for finding in told]
    for text in texts:
        assert "{" not in text
        assert not {"None", "nan", "<NA>"} & set(text.replace("|", " ").split()), text
    assert set(read.digest()["tables"]) == {"scenarios", "ratings", "group_tests", "dimensions", "themes"}
    assert len({finding.id for finding in told}) == len(told)
    if run == "empty":
        assert not "".join(texts)


def test_a_pair_is_told_apart_only_where_the_corrected_test_of_its_dimension_is_sure() -> None:
    sure = results(PRESENTATION, find(ratings(12)))
    tables = ResultTables(PRESENTATION, sure.analysis)
    assert set(tables["pairs"]["verdict"]) > {"neither"}
    settled = settle_verdicts(tables)["pairs"]
    adjusted = dict(zip(tables["dimensions"]["dimension"], tables["dimensions"]["p_adjusted"], strict=True))
    for before, after, dimension in zip(
        tables["pairs"]["verdict"], settled["verdict"], settled["dimension"], strict=True
    ):
        assert after == ("neither" if adjusted[dimension] >= LEVEL else before)


def test_what_was_not_found_is_said_with_what_would_have_been_and_little_is_said_of_few() -> None:
    told = findings_of(ratings(14, apart=False))
    assert {name for name, finding in told.items() if finding.kind == "difference"} == set()
    assert re.search(r"not told apart .*; a difference of \d\.\d\d points would have been found", told["highest"].text)
    assert "No scenario is rated differently by the groups (16 ratings tested," in told["groups"].text
    # 5 agents: 2/2⁵ = .06; types of 3 and 2 agents are not compared
    few = findings_of(ratings(5))
    assert few["too_few"].text == (
        "Desirability (1–7): 5 agents are too few to tell scenarios apart; had all agreed, p would still be 0.062."
    )
    assert not {"highest", "further", "groups"} & few.keys()
    assert list(findings_of(ratings(3))) == ["too_few"]


@pytest.mark.parametrize("n", [7, 14])
def test_charts_show_scenarios_and_groups_that_are_large_enough(n: int) -> None:
    shown = results(PRESENTATION, find(ratings(n)))
    pictures = {picture.name: picture for picture in drawn(shown, footer="n")}
    assert list(pictures) == ["own/quadrants", "own/ratings"]
    assert all(illegible(picture.svg()) == [] for picture in pictures.values())
    marks = [len(dataset) for dataset in pictures["own/quadrants"].spec["datasets"].values()]
    corners = [1, 1, 1, 1]
    assert marks == [
        1,
        1,
        4,
        *([8] if n == 14 else []),
        *corners,
    ]  # midpoints, scenarios; four scenarios of two groups of seven
    assert pictures["own/quadrants"].alt.startswith(
        "Mean wish and expectation of 4 scenarios; most wished for: “Recovery”"
    )
