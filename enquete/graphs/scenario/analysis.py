"""What the agents make of possible futures: ratings by stakeholder type, each agent's matrix, polarity, themes.

Figures are on raw values of the instrument's scales unless called centred. Measured by: every figure stands beside its n,
missing data is None with a count or a reason, every theme names the answers that voice it. Tests describe this run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement.concordance import friedman
from enquete.analysis.answers import Floats
from enquete.analysis.panel.dispersion import describe, frequencies
from enquete.analysis.relations.polarity import rated_alike
from enquete.graphs.scenario.comparisons import group_tests, pairwise, polarity_tests
from enquete.graphs.scenario.instrument import ScenarioInstrument
from enquete.graphs.scenario.open_answers import open_answers
from enquete.graphs.scenario.wishes import agents, points, polarities
from enquete.reports.context import UNIT, AnalysisContext, answering, findings, shallow, wide
from enquete.state.asking import Language

READ = ["participant", "agent_name", "stakeholder_type", "item_id", "status", "value", "text"]
"""The columns that are analysed: rows of a narrow table are chosen at a fraction of the cost."""


def analyse(
    frame: pd.DataFrame, instrument: ScenarioInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    frame = frame[READ]
    people = frame.drop_duplicates("participant").set_index("participant")[["agent_name", "stakeholder_type"]]
    ratings = _ratings(frame, instrument, people.index)
    wished = points(ratings, instrument)
    kinds = people["stakeholder_type"]
    found = {
        "unit_of_inference": UNIT,
        "asked": answering(frame),
        "scenarios": [
            {"scenario": s.scenario_id, "label": s.label.in_(context.language)} for s in instrument.scenarios
        ],
        "dimensions": _dimensions(instrument, context.language),
        "ratings": _described(frame, instrument),
        "agents": agents(ratings, wished, people, instrument),
        "polarity": polarities(wished, kinds, instrument),
        "polarity_tests": polarity_tests(wished, kinds),
        "friedman": [_compared(ratings, instrument, d.dimension_id) for d in instrument.dimensions],
        "pairwise": [
            entry
            for d in instrument.dimensions
            for entry in pairwise(_of_dimension(ratings, instrument, d.dimension_id))
        ],
        "group_tests": group_tests(ratings, kinds),
        "alike": [_alike(ratings, instrument, d.dimension_id) for d in instrument.dimensions],
        "open": open_answers(frame, instrument, context),
    }
    return findings(context, found)


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
    return wide(frame, items, people=people)


def _described(frame: pd.DataFrame, instrument: ScenarioInstrument) -> list[dict[str, Any]]:
    """Every scenario on every dimension: over all agents, and by stakeholder type."""
    values, kinds = frame["value"].to_numpy(dtype=float), frame["stakeholder_type"].to_numpy(dtype=object)
    places = frame.groupby("item_id").indices
    found = []
    for scenario in instrument.scenarios:
        for dimension in instrument.dimensions:
            item = f"{scenario.scenario_id}/{dimension.dimension_id}"
            rows = places.get(item, np.empty(0, dtype=np.intp))
            own, kind_of, scale = values[rows], kinds[rows], instrument.scale_of(dimension.dimension_id)
            by_type = [
                {"stakeholder_type": str(kind), **_figures(own[kind_of == kind], scale.min, scale.max)}
                for kind in sorted(set(kind_of.tolist()))
            ]
            known = {"scenario": scenario.scenario_id, "dimension": dimension.dimension_id, "item": item}
            found.append({**known, **_figures(own, scale.min, scale.max), "by_type": by_type})
    return found


def _figures(values: Floats, low: int, high: int) -> dict[str, Any]:
    """n, mean, median, SD (n − 1), IQR (type 7), van der Eijk's A, the bimodality coefficient, and the distribution."""
    measured = shallow(describe(values, low, high))
    counts = frequencies(values, low, high).tolist()
    return {
        "n_responded": measured["n"],
        "n_total": len(values),
        **{key: measured[key] for key in ("mean", "median", "sd", "iqr", "agreement", "bimodality")},
        "distribution": {str(low + step): n for step, n in enumerate(counts)},
    }


def _of_dimension(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> pd.DataFrame:
    return ratings[[f"{scenario.scenario_id}/{dimension}" for scenario in instrument.scenarios]]


def _compared(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> dict[str, Any]:
    """Friedman's test over the scenarios on one dimension, with Kendall's W; mean ranks by scenario, 1 the lowest."""
    figures = shallow(friedman(_of_dimension(ratings, instrument, dimension).to_numpy()))
    ranks = figures.pop("mean_ranks")
    names = [scenario.scenario_id for scenario in instrument.scenarios]
    by_scenario = dict(zip(names, ranks, strict=True)) if ranks else {}
    return {"dimension": dimension, **figures, "n_total": len(ratings), "mean_ranks": by_scenario}


def _alike(ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str) -> dict[str, Any]:
    figures = shallow(rated_alike(_of_dimension(ratings, instrument, dimension).to_numpy()))
    return {"dimension": dimension, **figures, "n_total": len(ratings)}
