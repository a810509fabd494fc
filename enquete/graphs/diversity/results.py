"""What the sorts give: see reports/evaluation.py."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from enquete.analysis.health.coherence import coherence
from enquete.analysis.health.order import order_smoothness
from enquete.analysis.health.plausibility import two_components
from enquete.analysis.health.quality import persona_flattening
from enquete.analysis.qmethod.sorts import legal, places
from enquete.graphs.diversity.analysis import alike, analyse
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import Files, Found, ItemFacts, wide
from enquete.reports.declarations import Analysis
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Humans, Made, each, gaps, scales
from enquete.reports.health.occasions import answers, checkable, occasion, phases
from enquete.reports.table.lines import lines

# --- The sorts for other Q software: PQMethod's .dat and a plain table of statements × sorts -------------------------

MOST_SORTS = 999  # PQMethod keeps their number in three characters
TITLE = 60


def complete_sorts(frame: pd.DataFrame, grid: Mapping[int, int], statements: list[str]) -> pd.DataFrame:
    """Participants × statements: the complete legal sorts among rows of one arm, in their order."""
    sort = wide(frame, statements)
    return sort[legal(sort.to_numpy(), grid)].astype(int)


def sorts_csv(sort: pd.DataFrame) -> str:
    """Statements in lines, sorts in columns, named by participant: what KADE and R's qmethod read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["statement", *sort.index])
    writer.writerows([item, *column] for item, column in zip(sort.columns, sort.T.to_numpy().tolist(), strict=True))
    return text.getvalue()


def pqmethod_dat(sort: pd.DataFrame, grid: Mapping[int, int], title: str) -> str | None:
    """PQMethod's fixed columns, or None for more than 999 sorts.

    First line: three characters each for 0, the number of sorts, the number of statements, and a title. Second: lowest and
    highest column and how many statements each column takes. Then a line a sort: ten characters of name (its number, in
    the order of `sorts_csv`), two characters a statement. A column that no statement may take counts 0.
    """
    if len(sort) > MOST_SORTS:
        return None
    low, high = int(places(grid)[0]), int(places(grid)[-1])
    counts = [grid.get(column, 0) for column in range(low, high + 1)]
    plain = " ".join(title.encode("ascii", "replace").decode("ascii").split())[:TITLE]
    lines = [f"{0:3d}{len(sort):3d}{sort.shape[1]:3d} {plain}", "".join(f"{n:3d}" for n in (low, high, *counts))]
    rows = sort.to_numpy().tolist()
    lines += [f"{f'sort{i:03d}':<10}" + "".join(f"{place:2d}" for place in row) for i, row in enumerate(rows, 1)]
    return "\n".join(lines) + "\n"


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


OF_SORTS = (coherence, order_smoothness, persona_flattening)
"""Checks that a grid leaves open."""


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Structure; coherence, order and profiles of the sorts, whose grid settles style and entropy; the ratings beside them as anywhere."""
    rows = checkable(rows)
    n, beyond = (analysis.count(key) for key in ("n", "n_components"))
    yield "", two_components(analysis.figure("first_two"), n, beyond)
    for phase in phases(rows):
        own = occasion(rows, phase)
        sorts, ratings = own[forced(own)], own[~forced(own)]
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in OF_SORTS))
        own_checks = [check.__name__ for check in OF_SORTS] if len(sorts) else ()
        yield from each(phase, (one for one in scales(ratings, humans) if one.name not in own_checks))
    yield from gaps(rows)


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """A statement belongs to the sort and has the grid's columns; an axis has its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        columns = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=columns[0], scale_max=columns[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


TYPOLOGY = (
    "arms", "partial", "participation", "left_out", "grid", "items", "distribution", "types_tried", "type_items",
    "type_groups", "agents", "membership",
)  # fmt: skip
Q = (
    "arms", "items", "parallel", "views", "scores", "poles", "holders", "differences", "correlations",
    "other_extraction", "not_done",
)  # fmt: skip
PCA = ("arms", "components", "component_loadings")
"""What is in typology.json, qmethod.json and pca.json beside the facts."""


def files(findings: Found, frame: pd.DataFrame, phase: str) -> Files:
    """The rows, the typology with everything it rests on, the components, and the Q analysis."""
    found: Mapping[str, Any] = findings
    facts = {name: found[name] for name in PRESENTATION.facts}
    agents = {one["participant"]: one for one in found["agents"]}
    coordinates = [
        {name: one[name] for name in ("participant", "pc1", "pc2", "pc3")}
        for one in agents.values()
        if one["pc1"] is not None
    ]
    kept = {
        "typology": {**facts, **{name: found[name] for name in TYPOLOGY}, "archetypes": found["types"]},
        "pca": {**facts, **{name: found[name] for name in PCA}, "scores": coordinates},
        "qmethod": {**facts, **{name: found[name] for name in Q}, "members": list(_members(found["loadings"], agents))},
    }
    tables: Files = {f"{name}.json": own for name, own in kept.items()}
    return {"responses.jsonl": lines(frame), **_for_other_software(found, frame), **tables}


def _members(
    loadings: Sequence[Mapping[str, Any]], agents: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """A row a sort: loadings in the order of the views, the views that it defines, and what the agent is beside."""
    for who, own in groupby(loadings, key=itemgetter("participant")):
        rows, agent = list(own), agents[who]
        yield {
            "participant": who, "factor": agent["q_factor"], "flagged": [one["view"] for one in rows if one["defines"]],
            "loadings": [one["loading"] for one in rows], "archetype": agent["archetype"],
            "membership": agent["probability"],
        }  # fmt: skip


def _for_other_software(found: Mapping[str, Any], frame: pd.DataFrame) -> dict[str, str]:
    """The sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(one["place"]): int(one["n"]) for one in found["grid"]}
    main = frame[frame["arm"].isin(found["arms"])] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, [str(one["item"]) for one in found["items"] if one["part"] == "sort"])
    if sorts.empty:
        return {}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return {"sorts.csv": sorts_csv(sorts), **({"pqmethod.dat": dat} if dat else {})}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    alike=alike,
)
