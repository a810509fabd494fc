"""What the sorts give: see reports/evaluation.py."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.health.coherence import coherence
from enquete.analysis.health.plausibility import two_components
from enquete.analysis.health.quality import persona_flattening
from enquete.graphs.diversity import across, present
from enquete.graphs.diversity.analysis import analyse
from enquete.graphs.diversity.figures import figures
from enquete.graphs.diversity.findings import findings
from enquete.reports.context import Found, at, figure
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Humans, Made, each, gaps, scales
from enquete.reports.health.occasions import answers, checkable, occasion, phases


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


def health(found: Found, rows: pd.DataFrame, humans: Humans) -> Made:
    """Structure; coherence and profiles of the sorts, whose grid settles style and entropy; the ratings beside them as anywhere."""
    rows = checkable(rows)
    n, beyond = (int(at(found, "pca", key) or 0) for key in ("n_agents", "above_chance"))
    yield "", two_components(figure(found, "pca", "first_two"), n, beyond)
    for phase in phases(rows):
        own = occasion(rows, phase)
        sorts, ratings = own[forced(own)], own[~forced(own)]
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in (coherence, persona_flattening)))
        own_checks = ("coherence", "persona_flattening") if len(sorts) else ()
        yield from each(phase, (one for one in scales(ratings, humans) if one.name not in own_checks))
    yield from gaps(rows)


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    figures=figures,
    item_facts=present.item_facts,
    health=health,
    agents=across.agents,
    kinds=across.KINDS,
    pairs=across.PAIRS,
    groupings=across.groupings,
    claims=across.claims,
    headlines=across.headlines,
    sentences=across.SENTENCES,
    alike=across.named_alike,
)
