"""Wish and expectation: every agent's matrix and polarity, and the quadrants of groups, raw and agent-centred."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.relations.polarity import Floats, agent_centred, centred, group_polarity, polarity
from enquete.graphs.scenario.instrument import ScenarioInstrument
from enquete.reports.context import shallow

NO_DIMENSION = "no_dimension"


@dataclass(frozen=True)
class Points:
    """By scenario: wish and expectation of every participant, on the scales' midpoints and on the agent's own means."""

    raw: Mapping[str, pd.DataFrame]
    own: Mapping[str, pd.DataFrame]


def points(ratings: pd.DataFrame, instrument: ScenarioInstrument) -> Points | None:
    """None where the instrument asks only one of desirability and plausibility."""
    wished, expected = (instrument.dimension_for(role) for role in ("desirability", "plausibility"))
    if wished is None or expected is None:
        return None
    names = {"wish": wished, "expectation": expected}
    return Points(
        *(
            _by_scenario({name: _rescaled(ratings, instrument, d, how) for name, d in names.items()}, instrument)
            for how in (centred, agent_centred)
        )
    )


def _rescaled(
    ratings: pd.DataFrame, instrument: ScenarioInstrument, dimension: str, how: Callable[[Floats, float, float], Floats]
) -> pd.DataFrame:
    """One dimension of all scenarios, centred: participants × scenario ids."""
    scale = instrument.scale_of(dimension)
    scenarios = [scenario.scenario_id for scenario in instrument.scenarios]
    table = ratings[[f"{scenario}/{dimension}" for scenario in scenarios]].to_numpy()
    return pd.DataFrame(how(table, scale.min, scale.max), index=ratings.index, columns=scenarios)


def _by_scenario(tables: Mapping[str, pd.DataFrame], instrument: ScenarioInstrument) -> dict[str, pd.DataFrame]:
    return {
        scenario.scenario_id: pd.DataFrame({name: table[scenario.scenario_id] for name, table in tables.items()})
        for scenario in instrument.scenarios
    }


def agents(
    ratings: pd.DataFrame,
    wished: Points | None,
    people: pd.DataFrame,
    instrument: ScenarioInstrument,
) -> dict[str, Any]:
    """Each agent's matrix, scenarios × dimensions on raw values, and its polarity by scenario."""
    shape = (len(ratings), len(instrument.scenarios), len(instrument.dimensions))
    matrices = ratings.to_numpy().reshape(shape)
    own = (
        None
        if wished is None
        else np.column_stack([polarity(p["wish"], p["expectation"]) for p in wished.raw.values()])
    )
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


def polarities(points: Points | None, types: pd.Series[str], instrument: ScenarioInstrument) -> dict[str, Any]:
    """Polarity of every scenario, over all agents and by stakeholder type; agent-centred points beside the raw ones."""
    wished, expected = (instrument.dimension_for(role) for role in ("desirability", "plausibility"))
    found: dict[str, Any] = {"desirability": wished, "plausibility": expected}
    if points is None:
        return {**found, "scenarios": [], "reason": NO_DIMENSION}
    entries = [
        {"scenario": name, **_by_type(raw, types), "agent_centred": _by_type(points.own[name], types)}
        for name, raw in points.raw.items()
    ]
    return {**found, "scenarios": entries, "reason": None}


def _by_type(point: pd.DataFrame, types: pd.Series[str]) -> dict[str, Any]:
    wish, expectation, kinds = point["wish"].to_numpy(), point["expectation"].to_numpy(), types.to_numpy(dtype=object)
    by_type = [
        {"stakeholder_type": kind, **_group(wish[kinds == kind], expectation[kinds == kind])}
        for kind in sorted(set(kinds.tolist()))
    ]
    return {**_group(wish, expectation), "by_type": by_type}


def _group(wish: Floats, expectation: Floats) -> dict[str, Any]:
    figures = shallow(group_polarity(wish, expectation))
    n = figures.pop("n")
    del figures["n_missing"]
    return {"n_responded": n, "n_total": len(wish), **figures}
