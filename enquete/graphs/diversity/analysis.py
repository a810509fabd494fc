"""What types of view there are: components, types or none, what sets each apart in words, and who belongs to it how surely.

Measured by: types that were planted are found, none is found in noise, and every figure stands beside its n. An agent
without a complete legal sort and all axes is left out and counted. Draws are seeded: same rows, same findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.typology.components import Components, Matrix, explained_by_chance, principal_components, weighted
from enquete.analysis.typology.tree import tree
from enquete.graphs.diversity.archetypes import typology
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.settings import DiversitySettings
from enquete.graphs.diversity.sorting import described, own_sorts, participation, read_sorts
from enquete.graphs.diversity.views import views
from enquete.locale import N_, in_language
from enquete.reports.context import UNIT, AnalysisContext, findings
from enquete.state.asking import Language

SEED = 0
CHANCE_DRAWS = 100
COMPONENTS_LISTED = 8
SCORES_LISTED = 3
MOVED_LIMIT = 0.05
DIGITS = 6  # beyond them, sums depend on the machine

FLAGS: Mapping[str, str] = {
    "moved": N_("Diversity of views: {moved} of {placements} placements had to be moved for the sort to fit the grid."),
    "alike": N_("Diversity of views: all agents answered alike."),
}


def analyse(
    frame: pd.DataFrame,
    instrument: DiversityInstrument,
    settings: DiversitySettings | None,
    context: AnalysisContext,
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    sorts = read_sorts(frame, instrument)
    sort, axes = sorts.analysed()
    blocks = [block.to_numpy() for block in (sort, axes) if block.shape[1]]
    columns, firsts = weighted(blocks)
    grid = own_sorts(frame, sorts, instrument)
    pca = _pca(columns, blocks, firsts, sort, axes)
    types = typology(blocks, columns, sorts, instrument, context.language, SEED)
    q = views(sorts, instrument, settings or DiversitySettings(), types["members"], SEED, context.language)
    found = {
        "unit_of_inference": UNIT,
        "participation": participation(frame, sorts, instrument),
        "grid": grid,
        **described(sorts, instrument, context.language),
        "pca": pca,
        **types,
        "tree": _tree(columns, sort, types["members"]),
        "q": q,
        "flags": _flags(grid, pca, q, context.language),
    }
    return findings(context, _rounded(found))


def _tree(columns: Matrix, sort: pd.DataFrame, members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Branches with the number of agents of each archetype in them ("": of none), and which join at what distance."""
    found = tree(columns, SEED)
    archetypes = {str(one["participant"]): str(one["archetype"]) for one in members}
    ends = [[str(sort.index[row]) for row in rows] for rows in found.ends]
    return {
        "n_agents": sum(map(len, ends)),
        "ends": [
            {
                "n": len(end),
                "archetypes": dict(sorted(Counter(archetypes.get(who, "") for who in end).items())),
                "participants": end,
            }
            for end in ends
        ],
        "joins": [list(join) for join in found.joins],
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return round(float(value), DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(member) for key, member in value.items()}
    if isinstance(value, np.ndarray):
        return _rounded(value.tolist())
    return [_rounded(member) for member in value] if isinstance(value, list | tuple) else value


def _flags(grid: Mapping[str, Any], pca: Mapping[str, Any], q: Mapping[str, Any], language: Language) -> list[str]:
    words = in_language(FLAGS, language)
    flags = [f"diversity: {refused}" for refused in q["refused"]]
    if grid["share_moved"] is not None and grid["share_moved"] > MOVED_LIMIT:
        flags.append(words["moved"].format(**grid))
    return [*flags, *([words["alike"]] if pca["reason"] == "alike" else [])]


# --- components ------------------------------------------------------------------------------------------------------


def _pca(
    columns: Matrix, blocks: Sequence[Matrix], firsts: Sequence[float], sort: pd.DataFrame, axes: pd.DataFrame
) -> dict[str, Any]:
    """Components with what chance explains, loadings by item, scores by agent; empty where agents do not differ."""
    names = [*map(str, sort.columns), *map(str, axes.columns)]
    found = principal_components(columns) if len(sort) > 1 else None
    kept = len(found.explained) if found else 0
    chance = explained_by_chance(blocks, CHANCE_DRAWS, SEED) if kept else np.empty(0)
    above = [bool(found.explained[i] > chance[i]) for i in range(kept)] if found else []
    return {
        "n_agents": len(sort),
        "n_columns": len(names),
        "reason": "" if kept else "few" if len(sort) < 2 else "alike",
        "weights": {"sort": firsts[0], "axes": firsts[1] if len(firsts) > 1 else None},
        "components": _components(found, chance, above, names) if found else [],
        "above_chance": next((i for i, one in enumerate(above) if not one), len(above)),
        "first_two": float(found.explained[:2].sum()) if found and kept else None,
        "scores": _scores(found, sort) if found and kept else [],
    }


def _components(found: Components, chance: Matrix, above: Sequence[bool], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "component": i + 1,
            "explained": found.explained[i],
            "by_chance": chance[i],
            "above_chance": above[i],
            "loadings": dict(zip(names, found.loadings[:, i].tolist(), strict=True)),
        }
        for i in range(min(COMPONENTS_LISTED, len(found.explained)))
    ]


def _scores(found: Components, sort: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"participant": who, "scores": scores}
        for who, scores in zip(sort.index, found.scores[:, :SCORES_LISTED].tolist(), strict=True)
    ]
