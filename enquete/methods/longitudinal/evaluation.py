"""All that reports, health checks and comparisons need to know of the waves."""

from __future__ import annotations

import pandas as pd

from enquete.locale import N_
from enquete.methods.longitudinal.findings import (
    FINDERS,
    QUESTIONS,
    choose_for_digest,
    settle_outcomes,
    warn_of_comparison,
)
from enquete.methods.longitudinal.health import health, probed
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.longitudinal.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Chart, Presentation, Row, WholeResults
from enquete.reports.evaluation import Evaluation
from enquete.reports.result_tables import ResultTables
from enquete.reports.writing import lines

OF_BOTH_WAVES = ("changes", "placebo", "family_changes", "change_groups", "change_group_tests")


def choose_changes(tables: ResultTables) -> pd.DataFrame:
    """Return the changes that were measured, scale by scale, the greatest rise first."""
    return _greatest_first(tables["changes"], "change")


def choose_changes_beyond(tables: ResultTables) -> pd.DataFrame:
    """Return the changes beyond a neutral memory, scale by scale, the greatest rise first."""
    return _greatest_first(tables["placebo"], "change")


def choose_answers(tables: ResultTables) -> pd.DataFrame:
    """Return the answers of the last wave, scale by scale, the highest mean first."""
    return _greatest_first(tables.select("answers", phase=tables.facts["last_phase"]), "mean")


def _greatest_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    return rows[rows["n"] > 0].sort_values(["scale_place", column], ascending=[True, False], kind="stable")


def choose_groups(tables: ResultTables) -> pd.DataFrame:
    """Return the means of groups in the order of the statements."""
    return _by_statement(tables, "groups")


def choose_change_groups(tables: ResultTables) -> pd.DataFrame:
    """Return the mean changes of groups in the order of the statements."""
    return _by_statement(tables, "change_groups")


def _by_statement(tables: ResultTables, name: str) -> pd.DataFrame:
    places = {item: place for place, item in enumerate(tables["items"]["item"])}
    return tables[name].sort_values("item", key=lambda items: items.map(places), kind="stable")


CHARTS = (
    Chart(
        name="drift", title=N_("Longitudinal: means before and after, and change with 95% interval"),
        needs=("changes",), draw="enquete.methods.longitudinal.charts:drift", rows=choose_changes,
        alt=N_("Change of {n_items} statements from T0 to T1; largest rise on {scale}: “{item}”, {change}."),
    ),
    Chart(
        name="placebo", title=N_("Longitudinal: change beyond a neutral memory, with 95% interval"),
        needs=("placebo",), draw="enquete.methods.longitudinal.charts:placebo", rows=choose_changes_beyond,
        alt=N_("Change of statements with the agents' own memories minus that with neutral ones; highest on {scale}: "
               "“{item}”, {change}."),
    ),
    Chart(
        name="answers", title=N_("Longitudinal: all answers by statement and wave"),
        needs=("answers", "distribution"), draw="enquete.methods.longitudinal.charts:answers", rows=choose_answers,
        alt=N_("Answers to {n_items} statements; highest mean on {scale}: “{item}”, {mean}, {agreeing} {above}."),
    ),
    Chart(
        name="groups", title=N_("Longitudinal: mean answer by statement and group, last wave"), needs=("groups",),
        draw="enquete.methods.longitudinal.charts:groups", rows=choose_groups,
        alt=N_("Means of {n_items} statements by group; first: “{item}” in {group}, {mean}."),
    ),
    Chart(
        name="change_groups", title=N_("Longitudinal: mean change by statement and group"), needs=("change_groups",),
        draw="enquete.methods.longitudinal.charts:change_groups", rows=choose_change_groups,
        alt=N_("Change of {n_items} statements by group; first: “{item}” in {group}, {mean}."),
    ),
)  # fmt: skip

TERMS = {
    N_("drift"): N_("change of the same agents' answers to a statement from T0 to T1"),
    N_("experience effect"): N_(
        "the same difference where T0 was asked of personas without any memory; it is not drift"
    ),
    N_("as worded, rekeyed"): N_(
        "the answer to the statement as it stands; turned round where it is keyed against its family"
    ),
    N_("family"): N_("statements on one subject, whose rekeyed answers are averaged"),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.longitudinal:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, finders=FINDERS, settle=settle_outcomes, digest=choose_for_digest, warnings=warn_of_comparison,
)  # fmt: skip


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Return family, keying and scale of a closed item; the comment has none of them."""
    if item_id not in {item.item_id for item in instrument.items}:
        return ItemFacts()
    scale = instrument.scale_of(item_id)
    family, reverse = instrument.family_of(item_id), instrument.reverse_coded(item_id)
    return ItemFacts(family=family, reverse_keyed=reverse, scale_min=scale.min, scale_max=scale.max)


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return the files of one phase: its rows, and what concerns it of the results. T1 holds the change."""
    aggregate: Row = {key: results[key] for key in ("arms", "partial", "kind", "items", "families")}
    for table in ("waves", "answers", "distribution"):
        aggregate[table] = [row for row in results.rows(table) if row["phase"] == phase]
    if phase == "T1":
        aggregate |= {name: results[name] for name in (*PRESENTATION.facts, *OF_BOTH_WAVES)}
    return {"responses.jsonl": lines(frame), "aggregate.json": aggregate}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=TERMS,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
)
