"""What the waves give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.longitudinal import findings, health
from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.figures import figures
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.shown import GLOSSARY, shown
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Family, keying and scale of a closed item; the comment has none of them."""
    known = {item.item_id for item in instrument.items}
    if item_id not in known:
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
    kept = {key: found.get(key) for key in ("arms", "baseline", "kind", "partial")}
    items: list[JsonValue] = [
        {**item, "waves": {w: d for w, d in item["waves"].items() if w == phase}} for item in found["items"]
    ]
    waves = {wave: counts for wave, counts in found["waves"].items() if wave == phase}
    aggregate: dict[str, JsonValue] = {**kept, "waves": waves, "items": items}
    if phase == "T1":
        aggregate |= {key: found.get(key) for key in ("pairing", "drift", "experience_effect")}
    return {"responses.jsonl": lines(frame), "aggregate.json": aggregate}


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings.findings,
    section="enquete.graphs.longitudinal:section.md.j2",
    appendix="enquete.graphs.longitudinal:appendix.md.j2",
    shown=shown,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    figures=figures,
    health=health.health,
    probed=health.probed,
)
