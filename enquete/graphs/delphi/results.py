"""What the panel gives: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.delphi import health
from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1, ratings of round 2, revisions after it, and what converged."""
    found: Mapping[str, Any] = findings
    return {
        "round1_themes.jsonl": found["themes"],
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": {key: value for key, value in found.items() if key not in ("themes", "flags")},
    }


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health.health,
    probed=health.probed,
)
