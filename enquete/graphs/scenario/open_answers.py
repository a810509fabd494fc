"""The open question by scenario: who answered, the themes in the answers, and which stakeholder types voice them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.reports.context import AnalysisContext, counted, responded, tally

QUOTED = 8  # answers quoted a theme; all are named, and polarity_matrix.json has the words of all


def open_answers(
    frame: pd.DataFrame, instrument: ScenarioInstrument, context: AnalysisContext
) -> dict[str, Any] | None:
    """The open question by scenario: who answered, and the themes in the answers. None where nothing open is asked."""
    if instrument.open_question is None:
        return None
    rows = dict(list(frame[frame["item_id"].str.endswith(f"/{OPEN}")].groupby("item_id")))
    scenarios = []
    for scenario in (s.scenario_id for s in instrument.scenarios):
        asked = rows.get(f"{scenario}/{OPEN}", frame.iloc[:0])
        coded = context.frozen.get(f"themes/{scenario}")
        scenarios.append(
            {
                "scenario": scenario,
                "item": f"{scenario}/{OPEN}",
                **counted(asked),
                "by_type": _answered_by_type(asked),
                **_themes(coded, asked),
            }
        )
    return {"wording": instrument.open_question.in_(context.language), "scenarios": scenarios}


def _answered_by_type(asked: pd.DataFrame) -> list[dict[str, Any]]:
    """What a type's count of voices of a theme is a share of."""
    answered = responded(asked)["stakeholder_type"].value_counts()
    return [
        {"stakeholder_type": str(kind), "n_responded": int(answered.get(kind, 0)), "n_total": int(n)}
        for kind, n in sorted(asked["stakeholder_type"].value_counts().items(), key=lambda pair: str(pair[0]))
    ]


def _themes(stored: JsonValue, asked: pd.DataFrame) -> dict[str, Any]:
    """The frozen themes of one scenario, each with the ids of all its answers and the words of the first few."""
    if not isinstance(stored, dict):
        return {"coded": False, "n_uncoded": None, "themes": []}
    listed = stored.get("themes")
    answers = answers_by_id(asked)
    found = [
        _theme(theme, answers) for theme in (listed if isinstance(listed, list) else []) if isinstance(theme, dict)
    ]
    themes = [theme for theme in found if theme["n_statements"]]
    coded = {one for theme in themes for one in theme["statements"]}
    return {"coded": True, "n_uncoded": len(answers.keys() - coded), "themes": themes}


def _theme(theme: Mapping[str, JsonValue], answers: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    named = theme.get("statements")
    said = [answers[str(one)] for one in named if str(one) in answers] if isinstance(named, list) else []
    return {
        "id": theme.get("id"),
        "label": theme.get("label"),
        "description": theme.get("description") or "",
        "n_statements": len(said),
        "by_type": tally(one["stakeholder_type"] for one in said),
        "statements": [one["id"] for one in said],
        "quoted": said[:QUOTED],
    }


def answers_by_id(rows: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What was said, by the id under which themes name it: '<participant>|<item>'."""
    columns = ["participant", "item_id", "agent_name", "stakeholder_type", "text"]
    return {
        f"{who}|{item}": {"id": f"{who}|{item}", "name": name, "stakeholder_type": kind, "text": text}
        for who, item, name, kind, text in responded(rows)[columns].itertuples(index=False)
    }


def with_words(said: Mapping[str, Any] | None, frame: pd.DataFrame) -> JsonValue:
    """What `open_answers` found with the words of all answers of a theme, for the file. frame: the main arm's rows."""
    if said is None:
        return None
    answers = answers_by_id(frame[frame["item_id"].str.endswith(f"/{OPEN}")])
    scenarios = [
        {**entry, "themes": [_in_full(theme, answers) for theme in entry["themes"]]} for entry in said["scenarios"]
    ]
    return {**said, "scenarios": scenarios}


def _in_full(theme: Mapping[str, Any], answers: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    own = {key: value for key, value in theme.items() if key != "quoted"}
    return {**own, "answers": [dict(answers[one]) for one in theme["statements"] if one in answers]}
