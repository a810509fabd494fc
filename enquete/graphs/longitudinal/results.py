"""What the waves give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.longitudinal import health
from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines

OF_BOTH_WAVES = ("changes", "placebo", "family_changes", "reliable", "change_groups", "change_group_tests")


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Family, keying and scale of a closed item; the comment has none of them."""
    if item_id not in {item.item_id for item in instrument.items}:
        return ItemFacts()
    scale = instrument.scale_of(item_id)
    return ItemFacts(
        family=instrument.family_of(item_id),
        reverse_keyed=instrument.reverse_coded(item_id),
        scale_min=scale.min,
        scale_max=scale.max,
    )


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """The files of one phase: its rows, and what concerns it of the findings. T1 holds the change."""
    found: Mapping[str, Any] = findings
    aggregate: dict[str, JsonValue] = {key: found.get(key) for key in ("arms", "partial", "kind", "items", "families")}
    for table in ("waves", "answers", "distribution"):
        aggregate[table] = [row for row in found[table] if row["phase"] == phase]
    if phase == "T1":
        aggregate |= {name: found.get(name) for name in (*PRESENTATION.facts, *OF_BOTH_WAVES)}
    return {"responses.jsonl": lines(frame), "aggregate.json": aggregate}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health.health,
    probed=health.probed,
)
