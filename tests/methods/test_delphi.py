"""Delphi on panels small enough to work out by hand: tables, what is read of them, and sentences that follow from the
answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.instruments.load import load_shipped
from enquete.methods.delphi.evaluation import PRESENTATION, files, item_facts
from enquete.methods.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.methods.delphi.results import analyse
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, WholeResults
from enquete.reports.findings import FEWEST, MOST_WORDS
from tests.support.tables import findings, results, row, rows

INSTRUMENT = load_shipped(DelphiInstrument, "delphi")
THEMES = [
    {"id": "aa", "label": "Camps | two", "description": "d", "statements": ["p0|drivers", "p1|risks", "p0|risks"]},
    {"id": "bb", "label": "Agreed", "description": "", "statements": ["p1|drivers"]},
]
CODED = {"themes": THEMES, "uncoded": ["p2|drivers"], "unknown_ids": 0}

CAMPS = [1, 1, 1, 5, 5, 5]  # IQR 4 and A −1: half and half at the ends
CLOSER = [1, 1, 2, 4, 5, 5]
AGREED = [4, 4, 4, 4, 5, 4]


def answer(round_: int, who: int, item: str, value: float | None, text: str = "") -> dict:
    status = "ok" if value is not None or text else "not_reached"
    return {"phase": "T1", "round": round_, "run_id": "run_1", "participant": f"p{who}", "agent_name": f"P{who}",
            "stakeholder_type": "fisher" if who < 3 else "ngo", "item_id": item, "status": status, "value": value,
            "text": text, "arm": "main"}  # fmt: skip


def panel(second: dict[str, list], third: dict[str, list] | None = None) -> pd.DataFrame:
    """Round 1 answered by all, importance of the themes as given, plausibility always 3."""
    made = [
        answer(1, who, question, None, f"{question} of {who}") for who in range(6) for question in ("drivers", "risks")
    ]
    for number, ratings in ((2, second), (3, third)):
        for theme, values in (ratings or {}).items():
            for who, value in enumerate(values):
                reason = f"why {who}" if number == 3 and value is not None else ""
                made.append(answer(number, who, f"theme:{theme}/importance", value, reason))
                made.append(answer(number, who, f"theme:{theme}/plausibility", 3.0, reason))
    return pd.DataFrame(made).astype({"value": float})


def find(table: pd.DataFrame, settings: DelphiSettings | None = None, **pinned: object) -> Analysis:
    context = AnalysisContext(language="en", pinned={"themes": CODED, **pinned})
    return analyse(table, INSTRUMENT, settings, context)


def text_of(analysis: Analysis, place: str = "appendix", language: str = "en") -> str:
    return results(PRESENTATION, analysis, language).at(place)


def rating(analysis: Analysis, theme: str, round_: int) -> dict:
    return row(analysis, "ratings", theme=theme, round=round_, dimension="importance")


WHOLE = panel({"aa": CAMPS, "bb": AGREED}, {"aa": CLOSER, "bb": AGREED})


@cache
def whole() -> Analysis:
    return find(WHOLE)


def test_themes_trace_back_to_answers_and_two_camps_are_a_disagreement():
    analysis = whole()
    first = row(analysis, "themes", theme="aa")
    assert (first["n_statements"], first["n_agents"], analysis.facts["uncoded"]) == (3, 2, 1)
    assert rows(analysis, "statements", theme="aa")[0] == {
        "theme": "aa", "participant": "p0", "item": "drivers", "place": 1, "text": "drivers of 0"
    }  # fmt: skip
    analysis = whole()
    camps, agreed = rating(analysis, "aa", 2), rating(analysis, "bb", 2)
    assert (camps["iqr"], camps["agreement"], camps["label"], camps["rank"]) == (4, -1, "disagreement", None)
    assert (agreed["iqr"], agreed["median"], agreed["label"], agreed["rank"]) == (0, 4, "consensus", 1)
    assert (camps["n"], camps["n_total"]) == (6, 6)
    assert [entry["n"] for entry in rows(analysis, "distribution", theme="aa", round=2, dimension="importance")] == [
        3, 0, 0, 0, 3,
    ]  # fmt: skip
    # 1, 1, 2, 4, 5, 5: layers 11011 (w 4/6) and 10001 (w 2/6, −1); the section reads
    # the table's cells: theme, median, IQR, A and verdict of both dimensions
    assert "| Camps \\| two | 3.0 | 3.50 | −0.43 | disputed | 3.0 | 0.00 | 1.00 | consensus |" in text_of(
        analysis, "section"
    )


def test_a_panel_split_on_two_and_four_is_no_consensus_although_its_iqr_is_two():
    split = rating(find(panel({"aa": [2, 2, 2, 4, 4, 4], "bb": AGREED})), "aa", 2)
    assert (split["iqr"], split["label"]) == (2, "disagreement")
    assert split["agreement"] == pytest.approx(1 / 6)  # see tests/analysis/test_dispersion.py


def test_convergence_is_paired_and_measured_against_the_median_that_was_shown():
    missing = [None, *CLOSER[1:]]
    analysis = find(panel({"aa": CAMPS}, {"aa": missing}), **{"feedback/2": {"theme:aa/importance": {"median": 3.0}}})
    entry = row(analysis, "convergence", item="theme:aa/importance")
    # p1…p5 are in both: 1,1,5,5,5 (IQR 4) → 1,2,4,5,5 (IQR 3); two moved, both closer to 3
    assert (entry["n_paired"], entry["iqr_first"], entry["iqr_second"], entry["delta_iqr"]) == (5, 4, 3, -1)
    assert (entry["n_toward"], entry["n_off_median"], entry["share_toward"]) == (2, 5, 0.4)


def test_two_camps_are_named_with_their_reasons_in_their_words():
    analysis = find(
        panel({"aa": [1, 1, 2, 5, 5, 5], "bb": AGREED}, {"aa": CAMPS, "bb": AGREED}),
        **{"feedback/2": {"theme:aa/importance": {"median": 3.0}}},
    )
    dispute = row(analysis, "dissent", theme="aa", dimension="importance")
    # half of the six stand at either end, as of even spreads of six less than one in a hundred do
    assert (dispute["kind"], dispute["distance"], dispute["median_shown"]) == ("camps", 2, 3)
    counted = ("n_below", "n_above", "n_between", "n_holding_out", "n_stayed")
    assert [dispute[name] for name in counted] == [3, 3, 0, 0, 5]
    people = rows(analysis, "standing", theme="aa", side="below")
    # p2 came from 2: last
    assert [person["participant"] for person in people] == ["p0", "p1", "p2"]
    assert (people[0]["value"], people[0]["before"], people[0]["stayed"], people[0]["reason"]) == (1, 1, True, "why 0")
    assert rows(analysis, "dissent_by_group", theme="aa") == [
        {"theme": "aa", "dimension": "importance", "group": "fisher", "n_below": 3, "n_above": 0, "n": 3},
        {"theme": "aa", "dimension": "importance", "group": "ngo", "n_below": 0, "n_above": 3, "n": 3},
    ]
    assert "- p0, fisher, 1: “why 0”" in text_of(analysis)


def test_who_stands_where_is_told_by_what_agents_are_compared_by() -> None:
    """p0 to p2 rate low, p3 to p5 high."""
    regions = pd.Series(["north", "north", "south", "south", "south", "south"], [f"p{n}" for n in range(6)])
    context = AnalysisContext(language="en", pinned={"themes": CODED}, groups=regions)
    counted = rows(analyse(WHOLE, INSTRUMENT, None, context), "dissent_by_group", theme="aa")
    assert [(row["group"], row["n_below"], row["n_above"], row["n"]) for row in counted] == [
        ("north", 2, 0, 2), ("south", 1, 3, 4),
    ]  # fmt: skip


def test_a_minority_that_stays_holds_out_where_nothing_is_disputed():
    ratings = [4, 4, 4, 4, 4, 2]
    analysis = find(panel({"bb": ratings}, {"bb": ratings}))
    held = row(analysis, "dissent", theme="bb")
    assert (held["kind"], held["label"], held["n_holding_out"], held["n_paired"]) == ("hold_outs", "consensus", 1, 6)
    assert [entry["participant"] for entry in rows(analysis, "standing")] == ["p5"]
    assert "„why 5“" in text_of(analysis, language="de")
    agents = {entry["participant"]: entry["delphi_held_out"] for entry in rows(analysis, "agents")}
    assert agents == {**dict.fromkeys((f"p{n}" for n in range(5)), 0.0), "p5": 0.5}  # on one of two dimensions
    assert rows(find(panel({"bb": ratings}, {"bb": [4, 4, 4, 4, 4, 3]})), "dissent") == []


def test_who_came_to_a_camp_late_is_told_from_who_stood_there():
    analysis = find(panel({"aa": [1, 1, 3, 5, 5, 5]}, {"aa": [1, 1, 1, 5, 5, 5]}))
    assert row(analysis, "dissent", item="theme:aa/importance")["kind"] == "camps"
    assert [(entry["participant"], entry["stayed"]) for entry in rows(analysis, "standing", side="below")] == [
        ("p0", True), ("p1", True), ("p2", False),
    ]  # fmt: skip


def test_consensus_stability_and_polarisation_are_three_answers():
    analysis = find(panel({"aa": CAMPS, "bb": [3, 3, 3, 4, 4, 4]}, {"aa": CAMPS, "bb": [4, 4, 4, 3, 3, 3]}))
    camps, swapped = rating(analysis, "aa", 3), rating(analysis, "bb", 3)
    stood, turned = (row(analysis, "stability", theme=theme, dimension="importance") for theme in ("aa", "bb"))
    # the camps never moved: stable, polarised, not agreed
    assert (camps["agreed"], camps["polarised"], stood["stable"], stood["kappa"]) == (False, True, True, 1)
    # all six swapped between 3 and 4: the histogram stands still, κ = 1 − 1/(¼ + ¼) = −1
    assert (swapped["agreed"], swapped["polarised"], turned["stable"], turned["share_changed"]) == (
        True, False, True, 1,
    )  # fmt: skip
    assert turned["kappa"] == pytest.approx(-1)


def test_concordance_is_one_where_all_rank_alike():
    ratings = {"aa": [2] * 6, "bb": [5] * 6}
    analysis = find(panel(ratings, ratings))
    assert [entry["w"] for entry in rows(analysis, "concordance", dimension="importance")] == [1, 1]


SECOND = {"statements": {"p0|drivers": ["aa"], "p1|drivers": ["bb"], "p1|risks": ["bb"], "p2|drivers": []},
          "n_sampled": 5, "n_statements": 12, "uncoded": ["p0|risks"], "unknown_ids": 0}  # fmt: skip


def test_a_second_coding_is_compared_over_the_statements_that_both_have():
    analysis = find(WHOLE, second_coding=SECOND)
    facts = [analysis.facts[name] for name in ("second_coding_state", "coded_twice", "not_coded_again", "coded_alike")]
    assert facts == ["done", 4, 1, 0.75]
    # First coding {a}, {b}, {a}, {}; second {a}, {b}, {b}, {}. Sets: a 3, b 3, none 2, all disjoint (δ 1), so that
    # D_o = 1/4 and D_e = (8·7 − 3·2 − 3·2 − 2·1)/(8·7) = 42/56: α = 1 − (1/4)/(3/4) = 2/3.
    assert analysis.facts["alpha"] == pytest.approx(2 / 3)
    assert [tuple(t.values())[:4] for t in rows(analysis, "second_coding")] == [("aa", 2, 1, 1), ("bb", 1, 2, 1)]
    assert "α = 0.67" in text_of(analysis)


@pytest.mark.parametrize(("stored", "settings", "state"), [
    (None, None, "missing"), ({"statements": 3}, None, "missing"), (SECOND, DelphiSettings(second_coding=False), "off"),
])  # fmt: skip
def test_without_a_second_coding_the_report_says_so(stored, settings, state):
    analysis = find(WHOLE, settings, second_coding=stored)
    assert analysis.facts["second_coding_state"] == state
    assert "how reliable the themes are was not measured" in text_of(analysis)


def test_consensus_is_ranked_by_iqr_then_by_median():
    themes = {**CODED, "themes": [*THEMES, {"id": "cc", "label": "Higher", "description": "", "statements": []}]}
    ratings = {"aa": CAMPS, "bb": AGREED, "cc": [5] * 6}
    analysis = find(panel(ratings, ratings), themes=themes)
    assert {entry["theme"]: entry["rank"] for entry in rows(analysis, "themes")} == {"aa": None, "bb": 2, "cc": 1}


def test_before_the_revision_nothing_is_said_about_convergence():
    analysis = find(panel({"aa": CAMPS, "bb": AGREED}))
    assert analysis.facts["last_round"] == 2
    assert all(analysis.tables[name].empty for name in ("convergence", "dissent", "revision", "stability"))


def test_one_panelist_is_neither_consensus_nor_dissent():
    assert rating(find(WHOLE[WHOLE["participant"].eq("p0")]), "bb", 2)["label"] is None


@pytest.mark.parametrize(
    ("table", "pinned"),
    [(WHOLE, {}), (panel({}), {"themes": None}),
        (panel({"aa": [None] * 6, "bb": [None] * 6}, {"aa": [None] * 6, "bb": [None] * 6}), {}),
        (WHOLE[WHOLE["participant"].eq("p0")], {}), (WHOLE[WHOLE["round"].eq(1)], {}),
        (panel({"aa": CAMPS}, {"aa": [None, None, 3, None, None, None]}), {})],
    ids=["whole", "no themes", "nobody rated", "one agent", "round 1 only", "one revision"],
)  # fmt: skip
def test_whatever_is_missing_gives_null_and_counts_never_nan(table, pinned):
    analysis = find(table.reset_index(drop=True), **pinned)
    as_json = analysis.as_json(PRESENTATION)
    json.dumps(as_json, allow_nan=False)
    text = "".join(text_of(analysis, part, language) for language in ("de", "en") for part in ("section", "appendix"))
    assert not re.search(r"\b(nan|None)\b", text)
    assert "| two" not in text.replace("\\| two", "")  # labels found by a model are escaped
    written = files(WholeResults(as_json, analysis.tables), table, "T1")
    assert set(written) == {"round1_themes.jsonl", "round2_ratings.jsonl", "round3_revisions.jsonl", "convergence.json"}


def test_item_facts_know_theme_dimension_and_scale():
    facts = item_facts("theme:aa/importance", INSTRUMENT)
    assert (facts.family, facts.dimension, facts.scale_min, facts.scale_max) == ("theme:aa", "importance", 1, 5)
    assert item_facts("drivers", INSTRUMENT).scale_max is None


# --- findings ---------------------------------------------------------------------------------------------------------

LABELS = {"quota": "The large ones have nearly all the quotas, which is not how it should be any longer.",
    "sales": "Sales",
          "rest": "Rest"}  # fmt: skip
LABELLED = {
    "themes": [{"id": key, "label": label, "description": "", "statements": []} for key, label in LABELS.items()]
}
FISHERS, NGOS = 6, 8
# Theme → ratings in rounds 2 and 3, fishers first. Quotas split the groups; sales are agreed upon once revised.
RATINGS = {
    "quota": ([5] * 5 + [4] + [1] * 7 + [2], [5] * 6 + [1] * 7 + [2]),
    "sales": ([4, 5, 3, 4, 5, 3, 4, 4, 5, 3, 4, 5, 2, 4], [4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 5, 3, 4]),
    "rest": ([3, 2, 4, 3, 3, 1, 5, 3, 3, 2, 4, 3, 3, 3], [3, 3, 3, 3, 3, 2, 4, 3, 3, 3, 3, 3, 3, 3]),
}


def larger(ratings: dict[str, Sequence[Sequence[float]]], agents: int = FISHERS + NGOS) -> pd.DataFrame:
    made = [
        {**answer(number, who, f"theme:{theme}/{dimension}", float(value) if dimension == "importance" else 3.0),
         "stakeholder_type": "SmallScaleFisher" if who < FISHERS else "EnvironmentalNGO"}
        for theme, given in ratings.items()
        for number, values in enumerate(given, start=2)
        for who, value in enumerate(values[:agents])
        for dimension in ("importance", "plausibility")
    ]  # fmt: skip
    return pd.DataFrame(made)


def findings_of(frame: pd.DataFrame) -> dict:
    told = findings(PRESENTATION, find(frame, themes=LABELLED))
    assert all(len(finding.text.split()) <= MOST_WORDS for finding in told.values())
    return told


FRAME = larger(RATINGS)


@cache
def stated() -> dict:
    return findings_of(FRAME)


def last(theme: str) -> pd.Series:
    ratings = FRAME[FRAME["round"].eq(3) & FRAME["item_id"].eq(f"theme:{theme}/importance")]
    return ratings.set_index("participant")["value"]


def test_findings_are_of_what_was_tested_and_counted():
    finding, x = stated()["groups"], last("quota")
    fishers, ngos = x[:FISHERS], x[FISHERS:]
    effect = stats.kruskal(fishers, ngos).statistic / 13
    assert {k: finding.numbers[k] for k in ("mean_highest", "mean_lowest", "effect")} == pytest.approx(
        {"mean_highest": fishers.mean(), "mean_lowest": ngos.mean(), "effect": effect}
    )
    assert (finding.kind, finding.items, finding.n) == ("difference", ("theme:quota/importance",), 14)
    assert finding.p < 0.01
    assert "5.00 among small scale fisher, 1.12 among environmental NGO" in finding.text
    finding, x = stated()["camps"], last("quota")
    low, high = stats.binomtest(6, 14).proportion_ci(method="wilson")
    assert {k: finding.numbers[k] for k in ("low_at", "high_at", "n_below", "n_above")} == {
        "low_at": 2, "high_at": 5, "n_below": (x <= 2).sum(), "n_above": (x >= 5).sum()
    }  # fmt: skip
    assert (finding.estimate, finding.low, finding.high) == pytest.approx((6 / 14, low, high))
    finding, x = stated()["highest"], last("sales")
    narrow = stats.t.ppf(0.975, 13) * x.std() / 14**0.5
    assert finding.estimate == pytest.approx(x.mean())
    assert finding.low <= x.mean() - narrow
    assert "“Sales”, median 4.0" in finding.text
    assert findings_of(larger({**RATINGS, "rest": RATINGS["sales"]}))["highest"].numbers["tied"] == 2
    finding = stated()["agreed"]
    assert (finding.numbers["n_consensus"], finding.numbers["n_disputed"], finding.numbers["n_judged"]) == (2, 1, 3)


def test_feedback_that_moves_nobody_is_told_as_that():
    still = find(larger({theme: (given[0], given[0]) for theme, given in RATINGS.items()}), themes=LABELLED)
    moved = row(still, "revision")
    assert (moved["n_toward"], moved["n_away"], moved["nearer"], moved["direction"]) == (0, 0, 0, "neither")
    assert still.tables["feedback_effect"].empty
    assert not re.search("drew|drove|effect", findings(PRESENTATION, still)["moved"].text)


def test_movement_is_counted_without_a_cause():
    """One theme, medians shown 3: 1 1 2 4 5 5 → 1 2 3 4 4 1. Nearer: 1 to 2, 2 to 3, 5 to 4; 5 to 1 is as far; of six
    more ratings of plausibility none moves."""
    first, last = [1, 1, 2, 4, 5, 5], [1, 2, 3, 4, 4, 1]
    moved = row(find(panel({"aa": first}, {"aa": last})), "revision")
    assert (moved["n_toward"], moved["n_away"], moved["n_ratings"], moved["n_ratings_same"]) == (3, 0, 12, 8)
    assert moved["nearer"] == pytest.approx(3 / 12)


def controlled(first: np.ndarray, with_feedback: np.ndarray, without: np.ndarray) -> Analysis:
    """A panel on one theme's importance, and the same agents without feedback."""
    rounds = [(1 + number, ratings, "main") for number, ratings in ((1, first), (2, with_feedback))]
    rows = [
        {**answer(number, who, "theme:aa/importance", float(value)), "arm": arm, "arm_role": role}
        for number, ratings, arm, role in (
            *((n, r, a, "main") for n, r, a in rounds), (3, without, "delphi_no_feedback", "variant"),
        )
        for who, value in enumerate(ratings)
    ]  # fmt: skip
    questions = [{**answer(1, who, "drivers", None, "words"), "arm_role": "main"} for who in range(len(first))]
    return find(pd.DataFrame([*questions, *rows]).astype({"value": float}))


def test_an_effect_of_feedback_is_told_against_those_who_rated_again_without_it():
    """1 2 3 4 5 1 2 3 4 5: with feedback all rate 3, without all rate as before. Medians of the others are 3 but for
    the 3s, where the middle of the others is 3, too: mean distances 0 and 1.2."""
    first = np.array([1, 2, 3, 4, 5] * 2)
    drawn = controlled(first, np.full(10, 3), first)
    effect = row(drawn, "feedback_effect")
    assert (effect["with_feedback"], effect["without"], effect["difference"]) == pytest.approx((0, 1.2, 1.2))
    assert (effect["verdict"], effect["n"], effect["p"]) == ("closer", 10, 2 / 2**8)
    assert "without it" in findings(PRESENTATION, drawn)["revision"].text
    assert len(drawn.tables["ratings"]) == 2  # the control is in no other table


@pytest.mark.parametrize("n", [20, 50])
def test_answers_that_are_merely_less_noisy_the_second_time_are_no_effect(n: int):
    """60 panels whose second ratings have half the noise of the first, with feedback as without: 25 of 60 were said to
    have been drawn together at 50 agents. The test against the control is wrong in at most 8 of 60 (p = .999 of
    binomial .05)."""
    rng = np.random.default_rng(n)
    wrong = 0
    for _ in range(60):
        positions = rng.normal(3, 0.8, n)
        first, again, control = (
            np.clip(np.round(positions + rng.normal(0, noise, n)), 1, 5) for noise in (0.8, 0.4, 0.4)
        )
        p = row(controlled(first, again, control), "feedback_effect")["p"]
        wrong += p is not None and p < 0.05
    assert wrong <= 8


def test_too_few_agents_carry_no_difference():
    assert not any(finding.kind == "difference" for finding in findings_of(larger(RATINGS, FEWEST - 1)).values())
