"""Delphi findings on panels small enough to work out by hand."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.present import files, item_facts, section
from enquete.instruments.load import load_shipped
from enquete.reports.context import AnalysisContext

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


def test_hold_outs_are_named_with_their_reasons_in_their_words():
    found = find(WHOLE, **{"feedback/2": {"theme:aa/importance": {"median": 3.0}}})
    (dispute,) = [d for d in found["disagreements"] if d["theme"] == "aa"]
    # the third panelist (1→2) and the fourth (5→4) came closer to 3; the other four stayed
    assert dispute["n_holding_out"] == 4
    assert [one["participant"] for one in dispute["below"]["quoted"]] == ["p0", "p1"]
    assert dispute["above"]["by_type"] == {"ngo": 2}
    assert dispute["below"]["quoted"][0]["reason"] == "why 0"


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
    assert "no round of revision" in section(found, "en")
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
    text = section(found, language)
    assert not re.search(r"\b(nan|None)\b", text)
    assert "| two" not in text.replace("\\| two", "")  # labels found by a model are escaped
    written = files(found, table, "T1")
    assert set(written) == {"round1_themes.jsonl", "round2_ratings.jsonl", "round3_revisions.jsonl", "convergence.json"}


def test_item_facts_know_theme_dimension_and_scale():
    facts = item_facts("theme:aa/importance", INSTRUMENT)
    assert (facts.family, facts.dimension, facts.scale_min, facts.scale_max) == ("theme:aa", "importance", 1, 5)
    assert item_facts("drivers", INSTRUMENT).scale_max is None
