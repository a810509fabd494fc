"""What the agents make of possible futures: ratings by stakeholder type, each agent's matrix, polarity, themes.

Figures are on raw values of the instrument's scales unless called centred. Measured by: every figure stands beside its n,
missing data is None with a count or a reason, every theme names the answers that voice it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.dispersion import describe, frequencies
from enquete.analysis.friedman import friedman
from enquete.analysis.polarity import centred, group_polarity, polarity, rated_alike
from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.reports.context import AnalysisContext, counted, jsonable, responded
from enquete.state.seam import Language

QUOTED = 8  # answers quoted a theme; all are named, and polarity_matrix.json has the words of all
NO_DIMENSION = "no_dimension"


def analyse(
    frame: pd.DataFrame, instrument: ScenarioInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    people = frame.drop_duplicates("participant").set_index("participant")[["agent_name", "stakeholder_type"]]
    ratings = _ratings(frame, instrument, people.index)
    points = _points(ratings, instrument)
    found = {
        "partial": context.partial,
        "outcomes": dict(context.outcomes),
        "asked": _asked(frame),
        "scenarios": [
            {"scenario": s.scenario_id, "label": s.label.in_(context.language)} for s in instrument.scenarios
        ],
        "dimensions": _dimensions(instrument, context.language),
        "ratings": _described(frame, instrument),
        "agents": _agents(ratings, points, people, instrument),
        "polarity": _polarity(points, people["stakeholder_type"], instrument),
        "friedman": [_compared(ratings, instrument, d.dimension_id) for d in instrument.dimensions],
        "alike": [_alike(ratings, instrument, d.dimension_id) for d in instrument.dimensions],
        "open": _open(frame, instrument, context),
        "flags": [],
    }
    result = jsonable(found)
    assert isinstance(result, dict)
    return result


def _asked(frame: pd.DataFrame) -> dict[str, Any]:
    answered = responded(frame)["participant"]
    return {
        **counted(frame),
        "agents_responded": int(answered.nunique()),
        "agents_total": int(frame["participant"].nunique()),
    }


def _dimensions(instrument: ScenarioInstrument, language: Language) -> list[dict[str, Any]]:
    return [
        {
            "dimension": d.dimension_id,
            "label": d.label.in_(language),
            "wording": (d.description or d.label).in_(language),
            "scale_min": instrument.scale_of(d.dimension_id).min,
            "scale_max": instrument.scale_of(d.dimension_id).max,
        }
        for d in instrument.dimensions
    ]


# --- ratings ---------------------------------------------------------------------------------------------------------


def _ratings(frame: pd.DataFrame, instrument: ScenarioInstrument, people: pd.Index[Any]) -> pd.DataFrame:
    """Participants in the population's order × '<scenario>/<dimension>' in the file's; NaN where there is no rating."""
    items = [f"{s.scenario_id}/{d.dimension_id}" for s in instrument.scenarios for d in instrument.dimensions]
    closed = frame[frame["item_id"].isin(items)]
    wide = closed.pivot(index="participant", columns="item_id", values="value").astype(float)
    return wide.reindex(index=people, columns=items)


def _described(frame: pd.DataFrame, instrument: ScenarioInstrument) -> list[dict[str, Any]]:
    """Every scenario on every dimension: over all agents, and by stakeholder type."""
    by_item = dict(list(frame.groupby("item_id")))
    found = []
    for scenario in instrument.scenarios:
        for dimension in instrument.dimensions:
            item = f"{scenario.scenario_id}/{dimension.dimension_id}"
            rows = by_item.get(item, frame.iloc[:0])
            scale = instrument.scale_of(dimension.dimension_id)
            by_type = [
                {"stakeholder_type": str(kind), **_figures(group, scale.min, scale.max)}
                for kind, group in rows.groupby("stakeholder_type")
            ]
            known = {"scenario": scenario.scenario_id, "dimension": dimension.dimension_id, "item": item}
            found.append({**known, **_figures(rows, scale.min, scale.max), "by_type": by_type})
    return found


def _figures(rows: pd.DataFrame, low: int, high: int) -> dict[str, Any]:
    """n, mean, median, SD (n − 1), IQR (type 7), van der Eijk's A, and the distribution over the scale's own points."""
    values = rows["value"].to_numpy(dtype=float)
    measured = asdict(describe(values, low, high))
    counts = frequencies(values, low, high).tolist()
    return {
        "n_responded": measured["n"],
        "n_total": len(rows),
        **{key: measured[key] for key in ("mean", "median", "sd", "iqr", "agreement")},
        "distribution": {str(low + step): n for step, n in enumerate(counts)},
    }


def _of_dimension(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> pd.DataFrame:
    return ratings[[f"{scenario.scenario_id}/{dimension}" for scenario in instrument.scenarios]]


def _compared(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> dict[str, Any]:
    """Friedman's test over the scenarios on one dimension, with Kendall's W; mean ranks by scenario, 1 the lowest."""
    figures = asdict(friedman(_of_dimension(ratings, instrument, dimension).to_numpy()))
    ranks = figures.pop("mean_ranks")
    names = [scenario.scenario_id for scenario in instrument.scenarios]
    by_scenario = dict(zip(names, ranks, strict=True)) if ranks else {}
    return {"dimension": dimension, **figures, "n_total": len(ratings), "mean_ranks": by_scenario}


def _alike(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> dict[str, Any]:
    figures = asdict(rated_alike(_of_dimension(ratings, instrument, dimension).to_numpy()))
    return {"dimension": dimension, **figures, "n_total": len(ratings)}


# --- agents and polarity ---------------------------------------------------------------------------------------------


def _points(ratings: pd.DataFrame, instrument: ScenarioInstrument) -> dict[str, pd.DataFrame] | None:
    """By scenario: centred wish and expectation of every participant. None where the instrument asks only one of them."""
    wished, expected = (instrument.dimension_for(role) for role in ("desirability", "plausibility"))
    if wished is None or expected is None:
        return None
    columns = {"wish": wished, "expectation": expected}
    return {
        scenario.scenario_id: pd.DataFrame(
            {name: _centred(ratings, instrument, scenario.scenario_id, d) for name, d in columns.items()},
            index=ratings.index,
        )
        for scenario in instrument.scenarios
    }


def _centred(ratings: pd.DataFrame, instrument: ScenarioInstrument, scenario: str, dimension: str) -> np.ndarray:
    scale = instrument.scale_of(dimension)
    return centred(ratings[f"{scenario}/{dimension}"].to_numpy(), scale.min, scale.max)


def _agents(
    ratings: pd.DataFrame,
    points: Mapping[str, pd.DataFrame] | None,
    people: pd.DataFrame,
    instrument: ScenarioInstrument,
) -> dict[str, Any]:
    """Each agent's matrix, scenarios × dimensions on raw values, and its polarity by scenario."""
    shape = (len(ratings), len(instrument.scenarios), len(instrument.dimensions))
    matrices = ratings.to_numpy().reshape(shape)
    own = None if points is None else np.column_stack([polarity(p["wish"], p["expectation"]) for p in points.values()])
    rows = []
    for position, (participant, who) in enumerate(people.iterrows()):
        matrix = matrices[position]
        rows.append(
            {
                "participant": participant,
                "name": who["agent_name"],
                "stakeholder_type": who["stakeholder_type"],
                "n_rated": int((~np.isnan(matrix)).sum()),
                "n_total": int(matrix.size),
                "matrix": matrix.tolist(),
                "polarity": own[position].tolist() if own is not None else None,
            }
        )
    return {
        "scenarios": [scenario.scenario_id for scenario in instrument.scenarios],
        "dimensions": [dimension.dimension_id for dimension in instrument.dimensions],
        "rows": rows,
    }


def _polarity(
    points: Mapping[str, pd.DataFrame] | None, types: pd.Series[str], instrument: ScenarioInstrument
) -> dict[str, Any]:
    """Polarity of every scenario, over all agents and by stakeholder type."""
    wished, expected = (instrument.dimension_for(role) for role in ("desirability", "plausibility"))
    found: dict[str, Any] = {"desirability": wished, "plausibility": expected}
    if points is None:
        return {**found, "scenarios": [], "reason": NO_DIMENSION}
    entries = []
    for scenario, point in points.items():
        by_type = [
            {"stakeholder_type": kind, **_group(point[types.eq(kind)])} for kind in sorted(types.unique().tolist())
        ]
        entries.append({"scenario": scenario, **_group(point), "by_type": by_type})
    return {**found, "scenarios": entries, "reason": None}


def _group(point: pd.DataFrame) -> dict[str, Any]:
    figures = asdict(group_polarity(point["wish"].to_numpy(), point["expectation"].to_numpy()))
    n = figures.pop("n")
    del figures["n_missing"]
    return {"n_responded": n, "n_total": len(point), **figures}


# --- open answers ----------------------------------------------------------------------------------------------------


def _open(frame: pd.DataFrame, instrument: ScenarioInstrument, context: AnalysisContext) -> dict[str, Any] | None:
    """The open question by scenario: who answered, and the themes in the answers. None where nothing open is asked."""
    if instrument.open_question is None:
        return None
    rows = dict(list(frame[frame["item_id"].str.endswith(f"/{OPEN}")].groupby("item_id")))
    scenarios = []
    for scenario in (s.scenario_id for s in instrument.scenarios):
        asked = rows.get(f"{scenario}/{OPEN}", frame.iloc[:0])
        coded = context.frozen.get(f"themes/{scenario}")
        scenarios.append(
            {"scenario": scenario, "item": f"{scenario}/{OPEN}", **counted(asked), **_themes(coded, asked)}
        )
    return {"wording": instrument.open_question.in_(context.language), "scenarios": scenarios}


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
    types = pd.Series([one["stakeholder_type"] for one in said], dtype="str").value_counts()
    return {
        "id": theme.get("id"),
        "label": theme.get("label"),
        "description": theme.get("description") or "",
        "n_statements": len(said),
        "by_type": {k: int(n) for k, n in sorted(types.items(), key=lambda pair: (-int(pair[1]), str(pair[0])))},
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
