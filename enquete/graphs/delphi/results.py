"""What the panel gives: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.delphi import across, health
from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.figures import figures
from enquete.graphs.delphi.findings import findings
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.shown import GLOSSARY, remembered, shown
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines

KEPT = ("arms", "partial", "unit_of_inference", "rounds", "thresholds", "dimensions", "coding", "second_coding", "ratings",
        "convergence", "drawn_together", "groups", "last_round", "ended", "unchanged", "concordance", "disagreements", "hold_outs",
        "medians_shown", "consensus", "ranking", "accord")  # fmt: skip
"""Findings in convergence.json."""


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1 with the answers that voice them, ratings of round 2, revisions after it, and what converged."""
    found: Mapping[str, Any] = findings
    return {
        "round1_themes.jsonl": found["themes"],
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": {key: found.get(key) for key in KEPT},
    }


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete.graphs.delphi:section.md.j2",
    appendix="enquete.graphs.delphi:appendix.md.j2",
    shown=shown,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    figures=figures,
    health=health.health,
    probed=health.probed,
    agents=across.agents,
    kinds=across.KINDS,
    measures=across.measures,
    groupings=across.groupings,
    remembered=remembered,
    headlines=across.headlines,
    sentences=across.SENTENCES,
)
