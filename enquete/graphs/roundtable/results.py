"""What the discussions give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.roundtable import health
from enquete.graphs.roundtable.analysis import analyse
from enquete.graphs.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.graphs.roundtable.presentation import GLOSSARY, PRESENTATION
from enquete.graphs.roundtable.transcripts import talks
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines


def item_facts(item_id: str, instrument: RoundtableInstrument) -> ItemFacts:
    """A consideration belongs to its family and has the scale; what is said has none."""
    family, _, name = item_id.rpartition("/")
    if family != CONSIDERATION:
        return ItemFacts(dimension=name)
    scale = instrument.scales[str(instrument.scale)]
    return ItemFacts(family=family, dimension=name, scale_min=scale.min, scale_max=scale.max)


TABLES = ("positions", "moves", "persuasion", "rounds", "arguments")
"""Written as CSV beside the transcript."""


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, tables, the decision in four layers by group, and what all discussions gave."""
    found: Mapping[str, Any] = findings
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    turns = [
        {**turn["response"], **turn, "name": names.get(turn["participant"], turn["participant"])}
        for turn in found["turns"]
    ]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [{key: value for key, value in turn.items() if key != "response"} for turn in turns],
        **{f"{name}.csv": _table(found[name]) for name in TABLES},
        "decisions.json": found["layers"],
        "roundtable.json": {
            key: value for key, value in found.items() if key not in (*TABLES, "turns", "layers", "flags")
        },
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        [{key: "; ".join(map(str, one)) if isinstance(one, list) else one for key, one in row.items()} for row in rows]
    )


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=item_facts,
    talks=talks,
    health=health.health,
    checks=health.CHECKS,
    glossary=GLOSSARY,
)
