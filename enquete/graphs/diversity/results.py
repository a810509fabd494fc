"""What the sorts give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.health.coherence import coherence
from enquete.analysis.health.order import order_smoothness
from enquete.analysis.health.plausibility import two_components
from enquete.analysis.health.quality import persona_flattening
from enquete.graphs.diversity.analysis import analyse
from enquete.graphs.diversity.exchange import complete_sorts, pqmethod_dat, sorts_csv
from enquete.graphs.diversity.figures import figures
from enquete.graphs.diversity.findings import findings
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.shown import GLOSSARY, remembered, shown
from enquete.reports.context import Files, Found, ItemFacts, at, figure, listed
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Humans, Made, each, gaps, scales
from enquete.reports.health.occasions import answers, checkable, occasion, phases
from enquete.reports.table.lines import lines


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


OF_SORTS = (coherence, order_smoothness, persona_flattening)
"""Checks that a grid leaves open."""


def health(found: Found, rows: pd.DataFrame, humans: Humans) -> Made:
    """Structure; coherence, order and profiles of the sorts, whose grid settles style and entropy; the ratings beside them as anywhere."""
    rows = checkable(rows)
    n, beyond = (int(at(found, "pca", key) or 0) for key in ("n_agents", "above_chance"))
    yield "", two_components(figure(found, "pca", "first_two"), n, beyond)
    for phase in phases(rows):
        own = occasion(rows, phase)
        sorts, ratings = own[forced(own)], own[~forced(own)]
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in OF_SORTS))
        own_checks = [check.__name__ for check in OF_SORTS] if len(sorts) else ()
        yield from each(phase, (one for one in scales(ratings, humans) if one.name not in own_checks))
    yield from gaps(rows)


KEPT = (
    "arms",
    "partial",
    "unit_of_inference",
    "participation",
    "grid",
    "statements",
    "axes",
    "typology",
    "archetypes",
    "members",
)
"""Findings in typology.json."""


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """A statement belongs to the sort and has the grid's columns; an axis has its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        columns = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=columns[0], scale_max=columns[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """The rows, the typology with everything it rests on, the components, and the Q analysis."""
    pca, q, statements = findings["pca"], findings["q"], findings["statements"]
    assert isinstance(pca, dict)
    assert isinstance(q, dict)
    head = {key: findings.get(key) for key in ("arms", "unit_of_inference")}
    return {
        "responses.jsonl": lines(frame),
        **_for_other_software(findings, frame),
        "typology.json": {key: findings.get(key) for key in KEPT},
        "pca.json": {**head, **pca},
        "qmethod.json": {**head, "statements": statements, **q},
    }


def _for_other_software(findings: Found, frame: pd.DataFrame) -> dict[str, str]:
    """The sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(column): int(n) for column, n in at(findings, "grid", "distribution").items()}
    main = frame[frame["arm"].isin(at(findings, "arms"))] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, [str(one["item"]) for one in listed(findings, "statements")])
    if sorts.empty:
        return {}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return {"sorts.csv": sorts_csv(sorts), **({"pqmethod.dat": dat} if dat else {})}


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete.graphs.diversity:section.md.j2",
    appendix="enquete.graphs.diversity:appendix.md.j2",
    shown=shown,
    glossary=GLOSSARY,
    files=files,
    figures=figures,
    item_facts=item_facts,
    health=health,
    remembered=remembered,
)
