"""What ratings of scenarios give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.health.plausibility import rated_alike
from enquete.graphs.scenario.analysis import analyse
from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.graphs.scenario.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Analysis
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
    """All rows; and every table, those of single agents and of the words behind themes among them."""
    found: Mapping[str, Any] = findings
    single = {name: found[name] for name, table in PRESENTATION.tables.items() if table.one_agent}
    matrix = {key: value for key, value in found.items() if key != "flags"} | single
    return {"responses.jsonl": lines(frame), "polarity_matrix.json": matrix}


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    rows = checkable(rows)
    wanted = analysis.facts.get("desirability")
    for phase in phases(rows):
        own = closed(occasion(rows, phase))
        wishes = own[own["dimension"].eq(str(wanted))] if wanted else own.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(analysis, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
)
