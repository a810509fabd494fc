"""All that reports, health checks and comparisons need to know of rated scenarios."""

from __future__ import annotations

import pandas as pd

from enquete.locale import N_
from enquete.methods.scenario.findings import (
    FINDERS,
    QUESTIONS,
    choose_for_digest,
    remember_scenarios,
    settle_verdicts,
    sort_as_listed,
)
from enquete.methods.scenario.health import health
from enquete.methods.scenario.instrument import OPEN, ScenarioInstrument
from enquete.methods.scenario.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Chart, Presentation, WholeResults
from enquete.reports.evaluation import Evaluation
from enquete.reports.result_tables import ResultTables
from enquete.reports.writing import lines


def choose_placed_scenarios(tables: ResultTables) -> pd.DataFrame:
    """Return the scenarios that were rated on wish and expectation, the most wished for first."""
    return tables["scenarios"].dropna(subset=["expectation", "mean"])


def choose_ratings(tables: ResultTables) -> pd.DataFrame:
    """Return the ratings that anybody gave, dimension by dimension, in the order of the scenarios."""
    ratings = tables["ratings"]
    return sort_as_listed(tables, "ratings", ratings[ratings["n"] > 0], "dimension scenario")


def choose_main_ratings(tables: ResultTables) -> pd.DataFrame:
    """Return the ratings on the main dimension."""
    ratings = choose_ratings(tables)
    return ratings[ratings["dimension"].eq(tables.facts["main_dimension"])]


CHARTS = (
    Chart(
        name="quadrants", title=N_("Scenarios: wished for and expected"), needs=("scenarios",),
        draw="enquete.methods.scenario.charts:quadrants", rows=choose_placed_scenarios,
        alt=N_("Mean wish and expectation of {n_scenarios} scenarios; most wished for: “{label}”, {main_dimension} "
               "{mean}, {plausibility} {expectation}."),
    ),
    Chart(
        name="ratings", title=N_("Scenarios: mean ratings, all agents and groups"), needs=("ratings",),
        draw="enquete.methods.scenario.charts:ratings", rows=choose_main_ratings,
        alt=N_("Mean ratings of {n_scenarios} scenarios with 95% intervals; {dimension} of “{scenario}”: {mean}."),
    ),
)  # fmt: skip

TERMS = {
    N_("wish and expectation"): N_(
        "mean desirability and plausibility; a scenario is placed where both lie clear of the midpoint"
    ),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.scenario:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, finders=FINDERS, settle=settle_verdicts, digest=choose_for_digest, memories=remember_scenarios,
)  # fmt: skip


def item_facts(item_id: str, instrument: ScenarioInstrument) -> ItemFacts:
    """Return scenario (as family), dimension and scale of a rating; the open question has its scenario alone."""
    scenario, _, dimension = item_id.rpartition("/")
    if scenario not in {each.scenario_id for each in instrument.scenarios}:
        return ItemFacts()
    if dimension == OPEN or dimension not in {each.dimension_id for each in instrument.dimensions}:
        return ItemFacts(family=scenario)
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=scenario, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return all rows, and every table, those of single agents and of the words behind themes among them."""
    single = {name: results[name] for name, table in PRESENTATION.tables.items() if table.one_agent}
    return {"responses.jsonl": lines(frame), "polarity_matrix.json": {**results.without("flags"), **single}}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=TERMS,
    files=files,
    item_facts=item_facts,
    health=health,
)
