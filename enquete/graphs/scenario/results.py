"""What ratings of scenarios give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.health.plausibility import rated_alike
from enquete.graphs.scenario import findings
from enquete.graphs.scenario.analysis import analyse
from enquete.graphs.scenario.figures import figures
from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.graphs.scenario.open_answers import with_words
from enquete.graphs.scenario.shown import GLOSSARY, remembered, shown
from enquete.reports.context import Files, Found, ItemFacts, at
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Humans, Made, any_other, missing
from enquete.reports.health.occasions import answers, checkable, closed, occasion, phases
from enquete.reports.table.lines import lines


def item_facts(item_id: str, instrument: ScenarioInstrument) -> ItemFacts:
    """A rating's family is its scenario, its dimension and scale are the dimension's; the open question has neither."""
    scenario, _, dimension = item_id.rpartition("/")
    if scenario not in {s.scenario_id for s in instrument.scenarios}:
        return ItemFacts()
    if dimension == OPEN or dimension not in {d.dimension_id for d in instrument.dimensions}:
        return ItemFacts(family=scenario)
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=scenario, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """All rows; and the matrices, polarity, comparisons and themes, here with the words of all their answers."""
    found: Mapping[str, Any] = findings
    kept = ("arms", "partial", "unit_of_inference", "asked", "scenarios", "dimensions", "agents", "polarity",
            "polarity_tests", "ratings", "friedman", "pairwise", "group_tests", "alike")  # fmt: skip
    main = frame[frame["arm"].isin(found.get("arms", ()))]
    matrix = {key: found.get(key) for key in kept} | {"open": with_words(found["open"], main)}
    return {"responses.jsonl": lines(frame), "polarity_matrix.json": matrix}


def health(found: Found, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    rows = checkable(rows)
    wanted = at(found, "polarity", "desirability")
    for phase in phases(rows):
        own = closed(occasion(rows, phase))
        wishes = own[own["dimension"].eq(str(wanted))] if wanted else own.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(found, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings.findings,
    section="enquete.graphs.scenario:section.md.j2",
    appendix="enquete.graphs.scenario:appendix.md.j2",
    shown=shown,
    glossary=GLOSSARY,
    files=files,
    figures=figures,
    item_facts=item_facts,
    health=health,
    remembered=remembered,
)
