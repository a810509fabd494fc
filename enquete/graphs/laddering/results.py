"""What the interviews give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.laddering import health
from enquete.graphs.laddering.analysis import analyse
from enquete.graphs.laddering.export import (
    agents_graphml,
    codebook_yaml,
    implications_csv,
    pooled_graphml,
    transcripts_md,
)
from enquete.graphs.laddering.figures import figures
from enquete.graphs.laddering.findings import findings
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.network import Cell
from enquete.graphs.laddering.shown import GLOSSARY, shown
from enquete.graphs.laddering.talks import talks
from enquete.graphs.laddering.value_map import Box, ValueMap, mermaid
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines

KEPT = ("arms", "partial", "concept", "methodology", "interviews", "stops", "agents", "coverage", "strategies", "models",
        "dropped", "work", "reading", "coding", "strategy",
        "measures", "comparison", "pattern")  # fmt: skip
"""Findings in interviews.json."""


def item_facts(item_id: str, instrument: LadderingInstrument) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, turn log, graphs (JSON and GraphML), implication matrix, value map (JSON, Mermaid), saturation."""
    found: Mapping[str, Any] = findings
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": (
            {key: turn[key] for key in ("participant", "name", "turn", "question", "answer", "status")}
            for turn in found["turns"]
        ),
        "turn_log.jsonl": found["turns"],
        "interviews.json": {key: found.get(key) for key in KEPT},
        "knowledge_graphs.jsonl": found["graphs"],
        "knowledge_graphs.graphml": agents_graphml(found["graphs"]),
        "pooled_graph.json": {key: found[key] for key in ("concepts", "implications", "indices", "kinds", "relations")},
        "pooled_graph.graphml": pooled_graphml(found["concepts"], found["implications"]),
        "value_map.json": found["value_map"],
        "value_map.mmd": mermaid(_value_map(found), found["relations"]),
        "implications.csv": implications_csv(found["concepts"], found["implications"]),
        "codebook.yaml": codebook_yaml(found["concepts"], found["coding"]["definitions"]),
        "transcripts.md": transcripts_md(found["turns"], found["graphs"], found["concepts"]),
        "saturation.json": {"by_interview": found["saturation"], "by_turn": found["by_turn"]},
    }


def _value_map(found: Mapping[str, Any]) -> ValueMap:
    stored = found["value_map"]
    boxes = tuple(Box(**box) for box in stored["boxes"])
    return ValueMap(stored["cut_off"], boxes, tuple(Cell(**link) for link in stored["links"]), tuple(stored["levels"]))


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete.graphs.laddering:section.md.j2",
    appendix="enquete.graphs.laddering:appendix.md.j2",
    shown=shown,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    figures=figures,
    talks=talks,
    health=health.health,
    checks=health.CHECKS,
)
