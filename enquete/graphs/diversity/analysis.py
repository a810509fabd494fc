"""What types of view there are: components, types or none, what sets each apart in words, and who belongs to it how surely.

Measured by: types that were planted are found, none is found in noise, and every figure stands beside its n. An agent
without a complete legal sort and all axes is left out and counted. Draws are seeded: same rows, same findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.components import Components, Matrix, explained_by_chance, principal_components, weighted
from enquete.analysis.qsort import Contrast, common_sort, contrasts
from enquete.analysis.typology import (
    ALPHA,
    Choice,
    Labels,
    Memberships,
    agent_silhouettes,
    choose,
    clusters,
    memberships,
    stability,
)
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.sorting import Sorts, described, own_sorts, participation, read_sorts
from enquete.reports.context import AnalysisContext, jsonable
from enquete.state.seam import Language

SEED = 0
CHANCE_DRAWS = 100
COMPONENTS_LISTED = 8
SCORES_LISTED = 3
DISTINGUISHING = 0.5  # least difference from the rest, in SDs of the grid
STATEMENTS_LISTED = 6
MOVED_LIMIT = 0.05
FIRST_TWO_LIMIT = 0.30
DIGITS = 6  # beyond them, sums depend on the machine

_NAMING: Mapping[Language, Mapping[str, str]] = {
    "de": {"pro": "für „{}“", "con": "gegen „{}“", "mixed": "ohne eigenes Profil"},
    "en": {"pro": "for “{}”", "con": "against “{}”", "mixed": "without a profile of its own"},
}


def analyse(
    frame: pd.DataFrame, instrument: DiversityInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    sorts = read_sorts(frame, instrument)
    sort, axes = sorts.analysed()
    blocks = [sort.to_numpy(), axes.to_numpy()]
    choice = choose(blocks, SEED) if len(sort) else Choice(1, "few")
    columns, firsts = weighted(blocks)
    labels = clusters(columns, choice.k, SEED) if choice.k > 1 else None
    grid = own_sorts(frame, sorts, instrument)
    pca = _pca(columns, blocks, firsts, sort, axes)
    found = {
        "partial": context.partial,
        "outcomes": dict(context.outcomes),
        "participation": participation(frame, sorts, instrument),
        "grid": grid,
        **described(sorts, instrument, context.language),
        "pca": pca,
        **_typology(choice, columns, labels, sorts, instrument, context.language),
        "flags": _flags(grid, pca),
    }
    result = jsonable(_rounded(found))
    assert isinstance(result, dict)
    return result


def _rounded(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return round(float(value), DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(member) for key, member in value.items()}
    if isinstance(value, np.ndarray):
        return _rounded(value.tolist())
    return [_rounded(member) for member in value] if isinstance(value, list | tuple) else value


def _flags(grid: Mapping[str, Any], pca: Mapping[str, Any]) -> list[str]:
    flags = []
    if grid["share_moved"] is not None and grid["share_moved"] > MOVED_LIMIT:
        flags.append(
            f"diversity: {grid['moved']} of {grid['placements']} placements were moved to fit the grid "
            f"(above {MOVED_LIMIT:.0%})"
        )
    if pca["reason"] == "alike":
        flags.append("diversity: all agents answered alike")
    elif pca["first_two"] is not None and pca["first_two"] < FIRST_TWO_LIMIT:
        flags.append(
            f"diversity: the first two components explain {pca['first_two']:.1%} of the variance "
            f"(below {FIRST_TWO_LIMIT:.0%})"
        )
    return flags


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
        "weights": {"sort": firsts[0], "axes": firsts[1]},
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


# --- types -----------------------------------------------------------------------------------------------------------


def _typology(
    choice: Choice,
    columns: Matrix,
    labels: Labels | None,
    sorts: Sorts,
    instrument: DiversityInstrument,
    language: Language,
) -> dict[str, Any]:
    """The test, the archetypes if there are any, and every analysed agent with its archetype and probabilities."""
    typology = {
        "k": choice.k,
        "reason": choice.reason,
        "silhouettes": {str(k): value for k, value in choice.silhouettes.items()},
        "p": choice.p,
        "alpha": ALPHA,
        "draws": len(choice.null),
        "null_best": max(choice.null, default=None),
        "null_median": float(np.median(choice.null)) if choice.null else None,
        "n_compared": choice.n_compared,
        "stability": None,
        "memberships": None,
    }
    if labels is None:
        return {"typology": typology, "archetypes": [], "members": []}
    firm, sure = stability(columns, labels, SEED), memberships(columns, labels, SEED)
    typology["stability"] = {"ari": firm.ari, "resamples": firm.resamples}
    typology["memberships"] = {"reason": sure.reason, "components": sure.components}
    archetypes = [
        {**_archetype(label, labels, sorts, instrument, language), "jaccard": firm.jaccard[label]}
        for label in range(choice.k)
    ]
    return {
        "typology": typology,
        "archetypes": archetypes,
        "members": _members(columns, labels, sure, sorts),
    }


def _letter(label: int) -> str:
    return ascii_uppercase[label]


def _archetype(
    label: int, labels: Labels, sorts: Sorts, instrument: DiversityInstrument, language: Language
) -> dict[str, Any]:
    sort, axes = sorts.analysed()
    inside = labels == label
    apart = contrasts(sort.to_numpy(), inside, instrument.distribution)
    common = common_sort(sort.to_numpy()[inside].mean(axis=0), instrument.distribution)
    people = sorts.people.loc[sort.index]
    return {
        "archetype": _letter(label),
        "name": _name(apart, instrument, language),
        "n": int(inside.sum()),
        "n_total": len(labels),
        "by_type": _by_type(people["stakeholder_type"], inside),
        "distinguishing": [
            _quoted(contrast, common, instrument, language)
            for contrast in apart[:STATEMENTS_LISTED]
            if abs(contrast.difference) >= DISTINGUISHING
        ],
        "common_sort": {str(item): int(place) for item, place in zip(sort.columns, common, strict=True)},
        "axes": [
            {"item": str(item), "mean": float(axes.loc[inside, item].mean()), "mean_rest": float(axes.loc[~inside, item].mean())}
            for item in axes.columns
        ],
        "members": people[inside].rename_axis("participant").reset_index().to_dict("records"),
    }  # fmt: skip


def _name(apart: Sequence[Contrast], instrument: DiversityInstrument, language: Language) -> str:
    """From the statements that set it apart most: one it is for and one it is against."""
    words, statements = _NAMING[language], instrument.statements
    pro = next((c for c in apart if c.difference > 0 and c.z > 0), None)
    con = next((c for c in apart if c.difference < 0 and c.z < 0), None)
    parts = [
        words[side].format(statements[c.statement].brief(language)) for side, c in (("pro", pro), ("con", con)) if c
    ]
    return ", ".join(parts) or words["mixed"]


def _quoted(contrast: Contrast, common: Matrix, instrument: DiversityInstrument, language: Language) -> dict[str, Any]:
    statement = instrument.statements[contrast.statement]
    return {
        "item": statement.statement_id,
        "wording": statement.label.in_(language),
        "position": int(common[contrast.statement]),
        "mean": contrast.mean,
        "mean_rest": contrast.mean_rest,
        "z": contrast.z,
        "z_rest": contrast.z_rest,
        "difference": contrast.difference,
    }


def _by_type(types: pd.Series[str], inside: np.ndarray[Any, np.dtype[np.bool_]]) -> list[dict[str, Any]]:
    """How many of the archetype are of a stakeholder type, and how many of that type are in the archetype."""
    own, everybody = ({str(kind): int(n) for kind, n in some.value_counts().items()} for some in (types[inside], types))
    return [
        {
            "stakeholder_type": kind,
            "n": n,
            "n_of_type": everybody[kind],
            "share_of_archetype": float(n / inside.sum()),
            "share_of_type": float(n / everybody[kind]),
        }
        for kind, n in sorted(own.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _members(columns: Matrix, labels: Labels, sure: Memberships, sorts: Sorts) -> list[dict[str, Any]]:
    people = sorts.people.loc[sorts.analysed()[0].index]
    fits = agent_silhouettes(columns, labels, SEED)
    rows = people.rename_axis("participant").reset_index().to_dict("records")
    return [
        {
            **{str(key): value for key, value in row.items()},
            "archetype": _letter(int(labels[i])),
            "silhouette": fits[i],
            "probabilities": None
            if sure.probabilities is None
            else {_letter(k): float(p) for k, p in enumerate(sure.probabilities[i])},
        }
        for i, row in enumerate(rows)
    ]
