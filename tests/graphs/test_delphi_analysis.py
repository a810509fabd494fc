"""Delphi findings on panels small enough to work out by hand."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from enquete.graphs.delphi.accord import ITEMS
from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.results import EVALUATION, files, item_facts
from enquete.graphs.delphi.settings import DelphiSettings
from enquete.instruments.load import load_shipped
from enquete.reports.context import AnalysisContext
from enquete.state.asking import Language
from tests.support.texts import texts

INSTRUMENT = load_shipped(DelphiInstrument, "delphi")
THEMES = [
    {"id": "aa", "label": "Camps | two", "description": "d", "statements": ["p0|drivers", "p1|risks", "p0|risks"]},
    {"id": "bb", "label": "Agreed", "description": "", "statements": ["p1|drivers"]},
]
CODED = {"themes": THEMES, "uncoded": ["p2|drivers"], "unknown_ids": 0}
DIMENSIONS = [dimension.dimension_id for dimension in INSTRUMENT.dimensions]

CAMPS = [1, 1, 1, 5, 5, 5]  # IQR 4 and A −1: half and half at the ends
CLOSER = [1, 1, 2, 4, 5, 5]
AGREED = [4, 4, 4, 4, 5, 4]


def row(round_: int, who: int, item: str, value: float | None, text: str = "") -> dict:
    status = "ok" if value is not None or text else "not_reached"
    return {"phase": "T1", "round": round_, "run_id": "run_1", "participant": f"p{who}", "agent_name": f"P{who}",
            "stakeholder_type": "fisher" if who < 3 else "ngo", "item_id": item, "status": status, "value": value,
            "text": text, "arm": "main"}  # fmt: skip


def panel(second: dict[str, list], third: dict[str, list] | None = None) -> pd.DataFrame:
    """Round 1 answered by all, importance of the themes as given, plausibility always 3."""
    made = [
        row(1, who, question, None, f"{question} of {who}") for who in range(6) for question in ("drivers", "risks")
    ]
    for number, ratings in ((2, second), (3, third)):
        for theme, values in (ratings or {}).items():
            for who, value in enumerate(values):
                reason = f"why {who}" if number == 3 and value is not None else ""
                made.append(row(number, who, f"theme:{theme}/importance", value, reason))
                made.append(row(number, who, f"theme:{theme}/plausibility", 3.0, reason))
    return pd.DataFrame(made).astype({"value": float})


def context(**frozen: object) -> AnalysisContext:
    return AnalysisContext(language="en", frozen={"themes": CODED, **frozen})  # type: ignore[dict-item]


def find(table: pd.DataFrame, **frozen: object) -> dict:
    return dict(analyse(table, INSTRUMENT, None, context(**frozen)))


def section(found: dict, language: Language = "en") -> str:
    return texts(EVALUATION, found, language)[0]


def appendix(found: dict, language: Language = "en") -> str:
    return texts(EVALUATION, found, language)[1]


def rating(found: dict, theme: str, round_: int, dimension: str = "importance") -> dict:
    return next(r for r in found["ratings"] if (r["theme"], r["round"], r["dimension"]) == (theme, round_, dimension))


WHOLE = panel({"aa": CAMPS, "bb": AGREED}, {"aa": CLOSER, "bb": AGREED})


def test_themes_trace_back_to_the_answers_that_voice_them():
    first = find(WHOLE)["themes"][0]
    assert (first["n_statements"], first["n_agents"]) == (3, 2)
    assert first["quoted"][0] == {"id": "p0|drivers", "name": "P0", "text": "drivers of 0"}
    assert find(WHOLE)["coding"]["uncoded"] == 1


def test_two_camps_are_a_disagreement_and_one_mind_is_a_consensus():
    found = find(WHOLE)
    camps, agreed = rating(found, "aa", 2), rating(found, "bb", 2)
    assert (camps["iqr"], camps["agreement"], camps["label"]) == (4, -1, "disagreement")
    assert (agreed["iqr"], agreed["median"], agreed["label"]) == (0, 4, "consensus")
    assert (camps["n_responded"], camps["n_total"]) == (6, 6)


def test_a_panel_split_on_two_and_four_is_no_consensus_although_its_iqr_is_two():
    found = find(panel({"aa": [2, 2, 2, 4, 4, 4], "bb": AGREED}))
    split = rating(found, "aa", 2)
    assert split["iqr"] == 2
    assert split["agreement"] == pytest.approx(1 / 6)  # see tests/analysis/test_dispersion.py
    below = INSTRUMENT.disagreement.polarised_below
    assert split["label"] == ("disagreement" if below > 1 / 6 else "open")


def test_convergence_is_paired_and_measured_against_the_median_that_was_shown():
    missing = [None, *CLOSER[1:]]
    found = find(panel({"aa": CAMPS}, {"aa": missing}), **{"feedback/2": {"theme:aa/importance": {"median": 3.0}}})
    entry = next(c for c in found["convergence"] if c["item"] == "theme:aa/importance")
    # p1…p5 are in both: 1,1,5,5,5 (IQR 4) → 1,2,4,5,5 (IQR 3); two moved, both closer to 3
    assert (entry["n_paired"], entry["n_first_only"]) == (5, 1)
    assert (entry["iqr_first"], entry["iqr_second"], entry["delta_iqr"]) == (4, 3, -1)
    assert (entry["n_toward"], entry["n_off_median"], entry["share_toward"]) == (2, 5, 0.4)


def test_two_camps_are_named_with_their_reasons_in_their_words():
    found = find(WHOLE, **{"feedback/2": {"theme:aa/importance": {"median": 3.0}}})
    (dispute,) = [d for d in found["disagreements"] if d["theme"] == "aa"]
    # 1, 1, 2 | 4, 5, 5: A of 1, 1, 2, 4, 5, 5 is below 0, and half of the six stand on either side
    assert (dispute["kind"], dispute["distance"], dispute["median_shown"]) == ("camps", 2, 3)
    assert (dispute["below"]["n"], dispute["above"]["n"], dispute["n_between"]) == (3, 3, 0)
    assert (dispute["n_holding_out"], dispute["below"]["n_stayed"]) == (0, 3)
    # p2 went from 1 to 2, closer to the 3 that was shown: quoted last
    assert [one["participant"] for one in dispute["below"]["quoted"]] == ["p0", "p1", "p2"]
    assert dispute["above"]["by_type"] == {"ngo": 3}
    assert dispute["below"]["quoted"][0] == {
        "participant": "p0", "name": "P0", "stakeholder_type": "fisher", "value": 1, "before": 1, "stayed": True,
        "reason": "why 0",
    }  # fmt: skip
    assert dispute["by_type"] == [
        {"stakeholder_type": "fisher", "n_rated": 3, "n_below": 3, "n_above": 0},
        {"stakeholder_type": "ngo", "n_rated": 3, "n_below": 0, "n_above": 3},
    ]
    text = appendix(found)
    assert "two camps: 3 of 6 agents low, 3 high, 0 between; 6 stood in their camp in the round before" in text
    assert "“why 0”" in text
    assert "Lower camp (3; fisher 3):" in text
    assert "Nobody holds out on undisputed themes." in text
    assert "| ≤ 2: 3 · ≥ 4: 3 | 3.50 |" in section(found)  # no median where nobody stands


def test_a_minority_that_stays_holds_out_where_nothing_is_disputed():
    ratings = [4, 4, 4, 4, 4, 2]
    found = find(panel({"aa": CAMPS, "bb": ratings}, {"aa": CAMPS, "bb": ratings}))
    (held,) = found["hold_outs"]
    assert (held["theme"], held["kind"], held["label"], held["n_holding_out"], held["n_paired"]) == (
        "bb", "hold_outs", "consensus", 1, 6
    )  # fmt: skip
    assert held["below"]["participants"] == ["p5"]
    text = appendix(found, "de")
    assert (
        "1 von 6 Agenten, die beide Male bewertet haben, beharren ab 2,0 Punkte vom Median 4,0 entfernt (1 darunter"
        in text
    )
    assert "„why 5“" in text
    moved = find(panel({"bb": ratings}, {"bb": [4, 4, 4, 4, 4, 3]}))
    assert moved["hold_outs"] == []
    assert moved["medians_shown"]["theme:bb/importance"] == 4


def test_who_came_to_a_camp_late_is_told_from_who_stood_there():
    found = find(panel({"aa": [1, 1, 3, 5, 5, 5]}, {"aa": [1, 1, 1, 5, 5, 5]}))
    (dispute,) = [d for d in found["disagreements"] if d["item"] == "theme:aa/importance"]
    assert (dispute["kind"], dispute["below"]["n"], dispute["below"]["n_stayed"]) == ("camps", 3, 2)
    assert [(one["participant"], one["stayed"]) for one in dispute["below"]["quoted"]] == [
        ("p0", True), ("p1", True), ("p2", False),
    ]  # fmt: skip


def test_half_and_half_on_two_and_four_are_camps():
    split = [2, 2, 2, 4, 4, 4]  # median 3: nobody is two points off, and nobody holds out
    found = find(panel({"aa": split}, {"aa": split}))
    (dispute,) = [d for d in found["disagreements"] if d["item"] == "theme:aa/importance"]
    assert (dispute["kind"], dispute["below"]["n"], dispute["above"]["n"]) == ("camps", 3, 3)


def test_consensus_stability_and_polarisation_are_three_answers():
    found = find(panel({"aa": CAMPS, "bb": [3, 3, 3, 4, 4, 4]}, {"aa": CAMPS, "bb": [4, 4, 4, 3, 3, 3]}))
    camps, swapped = rating(found, "aa", 3), rating(found, "bb", 3)
    # the camps never moved: stable, polarised, not agreed
    assert (camps["agreed"], camps["polarised"], camps["stability"]["stable"]) == (False, True, True)
    assert camps["stability"]["kappa"]["kappa"] == 1
    # all six swapped between 3 and 4: the histogram stands still, κ = 1 − 1/(¼ + ¼) = −1
    assert (swapped["agreed"], swapped["polarised"], swapped["stability"]["stable"]) == (True, False, True)
    assert swapped["stability"]["share_changed"] == 1
    assert swapped["stability"]["kappa"]["kappa"] == pytest.approx(-1)
    assert rating(found, "aa", 2)["stability"] is None
    assert "Stability between rounds" in appendix(found)


def test_the_ranking_says_how_firm_it_is():
    ratings = {"aa": [2] * 6, "bb": [5] * 6}
    found = find(panel(ratings, ratings))
    by_mean = next(r for r in found["ranking"] if (r["dimension"], r["by"]) == ("importance", "mean"))
    # bb is above aa in every resample
    assert [(t["theme"], t["rank"], t["low"], t["high"]) for t in by_mean["themes"]] == [
        ("aa", 2, 2, 2),
        ("bb", 1, 1, 1),
    ]
    assert by_mean["tau_mean"] == 1
    tied = next(r for r in found["ranking"] if (r["dimension"], r["by"]) == ("plausibility", "mean"))
    assert [t["rank"] for t in tied["themes"]] == [1.5, 1.5]  # always 3
    assert "How firm the ranking is" in appendix(found)


SECOND = {"statements": {"p0|drivers": ["aa"], "p1|drivers": ["bb"], "p1|risks": ["bb"], "p2|drivers": []},
          "n_sampled": 5, "n_statements": 12, "uncoded": ["p0|risks"], "unknown_ids": 0}  # fmt: skip


def test_a_second_coding_is_compared_over_the_statements_that_both_have():
    again = find(WHOLE, second_coding=SECOND)["second_coding"]
    assert (again["state"], again["n"], again["n_uncoded"], again["identical_share"]) == ("done", 4, 1, 0.75)
    # First coding {a}, {b}, {a}, {}; second {a}, {b}, {b}, {}. Sets: a 3, b 3, none 2, all disjoint (δ 1), so that
    # D_o = 1/4 and D_e = (8·7 − 3·2 − 3·2 − 2·1)/(8·7) = 42/56: α = 1 − (1/4)/(3/4) = 2/3.
    assert again["alpha"] == pytest.approx(2 / 3)
    assert [(t["theme"], t["n_first"], t["n_second"], t["n_both"]) for t in again["themes"]] == [
        ("aa", 2, 1, 1),
        ("bb", 1, 2, 1),
    ]
    text = appendix(find(WHOLE, second_coding=SECOND))
    assert "4 of 12 answers were given to the themes a second time" in text
    assert "α = 0.67" in text


@pytest.mark.parametrize(("stored", "settings", "state"), [
    (None, None, "missing"), ({"statements": 3}, None, "missing"), (SECOND, DelphiSettings(second_coding=False), "off"),
])  # fmt: skip
def test_without_a_second_coding_the_report_says_so(stored, settings, state):
    found = dict(analyse(WHOLE, INSTRUMENT, settings, context(second_coding=stored)))
    assert found["second_coding"] == {"state": state}
    for language, words in (("en", "how reliable the themes are was not measured"), ("de", "ist nicht gemessen")):
        assert words in appendix(found, language)


def test_the_checklist_has_all_thirty_five_items_and_leaves_to_people_what_is_theirs():
    # Gattrell et al. 2024: title 1, introduction 3, methods 21, results 5, discussion 2, other information 3
    assert [sum(item[0] == letter for item in ITEMS) for letter in "TIMRDO"] == [1, 3, 21, 5, 2, 3]
    found = find(WHOLE)
    states = {one["item"]: one["state"] for one in found["accord"]["items"]}
    assert {item for item, state in states.items() if state == "open"} == {
        "T1", "I1", "I3", "M2", "M7", "M16", "R2", "D2", "O1", "O2", "O3"
    }  # fmt: skip
    text = appendix(found)
    rows = re.findall(r"^\| ([TIMRDO]\d+) \| .+ \| .+ \| (.+) \|$", text, re.MULTILINE)
    assert [item for item, _ in rows] == list(ITEMS)
    assert {item for item, answer in rows if answer == "–"} == {i for i, state in states.items() if state == "open"}
    # aa and bb on importance and plausibility: one rating of four is disputed
    assert "In the end 3 of 4 ratings in consensus, 1 disputed, 0 open" in text
    assert "Round 1: 6 of 6; Round 2: 6 of 6" in text
    assert "fisher 3, ngo 3" in text


def test_before_any_rating_the_checklist_leaves_the_outcome_open():
    found = find(WHOLE[WHOLE["round"].eq(1)])
    assert {one["item"]: one["state"] for one in found["accord"]["items"]}["R4"] == "open"


def test_consensus_is_ranked_by_iqr_then_by_median():
    themes = {**CODED, "themes": [*THEMES, {"id": "cc", "label": "Higher", "description": "", "statements": []}]}
    ratings = {"aa": CAMPS, "bb": AGREED, "cc": [5, 5, 5, 5, 5, 5]}
    found = dict(analyse(panel(ratings, ratings), INSTRUMENT, None, context(themes=themes)))
    assert [(c["rank"], c["theme"]) for c in found["consensus"]] == [(1, "cc"), (2, "bb")]


def test_unchanged_panelists_and_ratings_are_counted():
    same = find(WHOLE)["unchanged"]
    # importance of aa changed for p2 and p3 alone; 6 panelists × 2 themes × 2 dimensions = 24 pairs
    assert (same["n_agents"], same["n_agents_paired"]) == (4, 6)
    assert (same["n_ratings"], same["n_ratings_paired"]) == (22, 24)


def test_kendalls_w_is_one_when_all_rank_alike():
    found = find(panel({"aa": [1] * 6, "bb": [5] * 6}))
    entry = next(c for c in found["concordance"] if c["dimension"] == "importance")
    assert (entry["n_raters"], entry["n_items"], entry["w"]) == (6, 2, 1)


def test_before_the_revision_nothing_is_said_about_convergence():
    found = find(panel({"aa": CAMPS, "bb": AGREED}))
    assert (found["last_round"], found["convergence"], found["disagreements"], found["unchanged"]) == (2, [], [], None)
    assert "no round of revision" in appendix(found)
    assert [c["theme"] for c in found["consensus"]] == ["bb"]


def test_one_panelist_is_neither_consensus_nor_dissent():
    table = WHOLE[WHOLE["participant"].eq("p0")]
    found = find(table)
    assert rating(found, "bb", 2)["label"] is None
    assert found["consensus"] == []


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize(
    ("table", "frozen"),
    [
        (WHOLE, {}),
        (panel({}), {"themes": None}),
        (panel({"aa": [None] * 6, "bb": [None] * 6}, {"aa": [None] * 6, "bb": [None] * 6}), {}),
        (WHOLE[WHOLE["participant"].eq("p0")], {}),
        (WHOLE[WHOLE["round"].eq(1)], {}),
        (panel({"aa": CAMPS}, {"aa": [None, None, 3, None, None, None]}), {}),
    ],
    ids=["whole", "no themes", "nobody rated", "one agent", "round 1 only", "one revision"],
)
def test_whatever_is_missing_gives_null_and_counts_never_nan(table, frozen, language):
    found = find(table.reset_index(drop=True), **frozen)
    json.dumps(found, allow_nan=False)
    text = section(found, language) + appendix(found, language)
    assert not re.search(r"\b(nan|None)\b", text)
    assert "| two" not in text.replace("\\| two", "")  # labels found by a model are escaped
    written = files(found, table, "T1")
    assert set(written) == {"round1_themes.jsonl", "round2_ratings.jsonl", "round3_revisions.jsonl", "convergence.json"}


def test_item_facts_know_theme_dimension_and_scale():
    facts = item_facts("theme:aa/importance", INSTRUMENT)
    assert (facts.family, facts.dimension, facts.scale_min, facts.scale_max) == ("theme:aa", "importance", 1, 5)
    assert item_facts("drivers", INSTRUMENT).scale_max is None
