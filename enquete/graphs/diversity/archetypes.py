"""Archetypes: whether there are types among the agents, what each is for and against, and who belongs to it how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from string import ascii_uppercase
from typing import Any

import numpy as np

from enquete.analysis.qmethod.sorts import Contrast, common_sort, contrasts
from enquete.analysis.qmethod.statements import Distinction, group_distinctions
from enquete.analysis.typology.clustering import Labels, agent_silhouettes
from enquete.analysis.typology.components import Matrix
from enquete.analysis.typology.gap import gap
from enquete.analysis.typology.types import (
    ALPHA,
    LEAST_EXCESS,
    UNSTABLE,
    Choice,
    Memberships,
    Stability,
    Types,
    memberships,
    types,
)
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.sorting import Sorts, by_type
from enquete.locale import N_, in_language
from enquete.state.asking import Language

NOBODY = Types(Choice(1, "few"))
DISTINGUISHING = 0.5  # least difference from the rest, in SDs of the grid

_NAMING: Mapping[str, str] = {
    "pro": N_("for “{}”"),
    "con": N_("against “{}”"),
    "mixed": N_("without a profile of its own"),
}


def typology(
    blocks: Sequence[Matrix],
    columns: Matrix,
    sorts: Sorts,
    instrument: DiversityInstrument,
    language: Language,
    seed: int,
) -> dict[str, Any]:
    """typology (the tests), archetypes (none where there is no typology) and members, each with archetype and probabilities.

    blocks: sort and axes of the analysed agents; columns: the same, weighted, side by side.
    """
    found = types(blocks, seed) if len(columns) else NOBODY
    labels, firm = found.labels, found.stability
    tested = {**_test(found, _gap(blocks, seed)), "memberships": None}
    if labels is None or firm is None:
        return {"typology": tested, "archetypes": [], "members": []}
    sure = memberships(columns, labels)
    return {
        "typology": {**tested, "memberships": {"reason": sure.reason, "components": sure.components}},
        "archetypes": _archetypes(labels, firm, sorts, instrument, language, seed),
        "members": _members(agent_silhouettes(columns, labels, seed), labels, sure, sorts),
    }


def _test(found: Types, gap_found: dict[str, Any]) -> dict[str, Any]:
    """The choice with both tests. candidate: the number of clusters before bootstrap samples spoke."""
    choice = found.choice
    return {
        "k": choice.k,
        "reason": choice.reason,
        "candidate": choice.candidate,
        "silhouettes": {str(k): value for k, value in choice.silhouettes.items()},
        "p": choice.p,
        "alpha": ALPHA,
        "draws": len(choice.null),
        "null_best": max(choice.null, default=None),
        "null_median": float(np.median(choice.null)) if choice.null else None,
        "n_compared": choice.n_compared,
        "continuum": _continuum(choice),
        "gap": gap_found,
        "warnings": _warnings(choice, gap_found["k"]),
        "stability": _stability(found.stability),
    }


def _continuum(choice: Choice) -> dict[str, Any] | None:
    """The test against a continuum, with the mean silhouette expected there by number of clusters; None without one."""
    told = choice.continuity
    if told is None:
        return None
    by_k = {name: {str(k): v for k, v in getattr(told, name).items()} for name in ("expected", "excess")}
    return {"p": told.p, "draws": told.draws, **by_k, "least_excess": LEAST_EXCESS}


def _warnings(choice: Choice, by_gap: int | None) -> list[str]:
    """What makes the number of types doubtful: "gap" (another number by the gap statistic), "edge" (the largest tried)."""
    if choice.k == 1:
        return []
    doubts = {"gap": by_gap != choice.k, "edge": choice.at_the_edge}
    return [name for name, applies in doubts.items() if applies]


def _stability(firm: Stability | None) -> dict[str, Any] | None:
    if firm is None:
        return None
    return {**asdict(firm), "least_jaccard": UNSTABLE}


def _gap(blocks: Sequence[Matrix], seed: int) -> dict[str, Any]:
    """The gap statistic by number of clusters, and its own choice: shown beside the tests, which decide."""
    if len(blocks[0]) < 2:
        return {"k": None, "gaps": {}, "errors": {}, "n_compared": len(blocks[0])}
    found = gap(blocks, seed)
    by_k = {name: {str(k + 1): v for k, v in enumerate(getattr(found, name))} for name in ("gaps", "errors")}
    return {"k": found.k, **by_k, "n_compared": found.n_compared}


def letter(label: int) -> str:
    """The archetype's id: A for the largest."""
    return ascii_uppercase[label]


def _archetypes(
    labels: Labels, firm: Stability, sorts: Sorts, instrument: DiversityInstrument, language: Language, seed: int
) -> list[dict[str, Any]]:
    apart = group_distinctions(sorts.analysed()[0].to_numpy(), labels, instrument.distribution, seed)
    return [
        {**_archetype(label, labels, own, sorts, instrument, language), "jaccard": firm.jaccard[label]}
        for label, own in enumerate(apart)
    ]


def _archetype(
    label: int,
    labels: Labels,
    distinctions: Sequence[Distinction],
    sorts: Sorts,
    instrument: DiversityInstrument,
    language: Language,
) -> dict[str, Any]:
    sort, axes = sorts.analysed()
    inside = labels == label
    apart = contrasts(sort.to_numpy(), inside, instrument.distribution)
    common = common_sort(sort.to_numpy()[inside].mean(axis=0), instrument.distribution)
    people = sorts.people.loc[sort.index]
    by_statement = {one.statement: one for one in distinctions}
    told = [c for c in apart if c.statement in by_statement and abs(c.difference) >= DISTINGUISHING]
    return {
        "archetype": letter(label),
        "name": _name([*told, *(c for c in apart if c not in told)], instrument, language),
        "n": int(inside.sum()),
        "n_total": len(labels),
        "by_type": by_type(people["stakeholder_type"], inside, "archetype"),
        "distinguishing": [_quoted(c, by_statement[c.statement], common, instrument, language) for c in told],
        "common_sort": {str(item): int(place) for item, place in zip(sort.columns, common, strict=True)},
        "axes": [
            {"item": str(item), "mean": float(axes.loc[inside, item].mean()), "mean_rest": float(axes.loc[~inside, item].mean())}
            for item in axes.columns
        ],
        "members": people[inside].rename_axis("participant").reset_index().to_dict("records"),
    }  # fmt: skip


def _name(apart: Sequence[Contrast], instrument: DiversityInstrument, language: Language) -> str:
    """From the statements that set it apart most: one it is for and one it is against."""
    words, statements = in_language(_NAMING, language), instrument.statements
    pro = next((c for c in apart if c.difference > 0 and c.z > 0), None)
    con = next((c for c in apart if c.difference < 0 and c.z < 0), None)
    parts = [
        words[side].format(statements[c.statement].brief(language)) for side, c in (("pro", pro), ("con", con)) if c
    ]
    return ", ".join(parts) or words["mixed"]


def _quoted(
    contrast: Contrast, apart: Distinction, common: Matrix, instrument: DiversityInstrument, language: Language
) -> dict[str, Any]:
    """Means and z against all other agents together; direction, level and p against each other archetype."""
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
        "direction": apart.direction,
        "level": apart.level,
        "p": apart.p,
    }


def _members(fits: Matrix, labels: Labels, sure: Memberships, sorts: Sorts) -> list[dict[str, Any]]:
    people = sorts.people.loc[sorts.analysed()[0].index]
    rows = people.rename_axis("participant").reset_index().to_dict("records")
    return [
        {
            **{str(key): value for key, value in row.items()},
            "archetype": letter(int(labels[i])),
            "silhouette": fits[i],
            "probabilities": None
            if sure.probabilities is None
            else {letter(k): float(p) for k, p in enumerate(sure.probabilities[i])},
        }
        for i, row in enumerate(rows)
    ]
