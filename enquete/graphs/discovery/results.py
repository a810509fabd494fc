"""What the interviews give: see reports/evaluation.py."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.discovery import health
from enquete.graphs.discovery.analysis import analyse
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.tables import PRESENTATION
from enquete.graphs.discovery.transcripts import talks
from enquete.locale import N_
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines


def item_facts(item_id: str, instrument: DiscoveryInstrument) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, records as they are and as a table (CSV, a column a field), coverage by field."""
    found: Mapping[str, Any] = findings
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    paths = [str(one["path"]) for one in found["fields"] if one["type"] != "object"]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [{**one, "name": names.get(one["participant"])} for one in found["turns"]],
        "records.csv": record_table(found["records"], names, paths),
        "records.jsonl": found["records"],
        "coverage.json": {key: value for key, value in found.items() if key not in ("records", "turns", "flags")},
    }


def record_table(held: Sequence[Mapping[str, Any]], names: Mapping[str, str], paths: Sequence[str]) -> pd.DataFrame:
    """A row an agent, a column a field by its path; words behind values are in tables/said.csv."""
    rows = [
        {"participant": one["participant"], "name": names.get(one["participant"]),
            "stakeholder_type": one["stakeholder_type"],
         "complete": one["complete"], "questions": one["questions"], "missing": "; ".join(one["missing"]),
         **{path: _cell(one["record"], path.split(".")) for path in paths}}
        for one in held
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _cell(record: Any, path: Sequence[str]) -> str:
    """Of a list's entries one after another, each after its key."""
    if record is None:
        return ""
    if isinstance(record, list) and record and isinstance(record[0], Mapping):
        keys = [str(next(iter(entry.values()))) for entry in record]
        parts = (
            [(key, _cell(entry.get(path[0]), path[1:])) for key, entry in zip(keys, record, strict=True)]
            if path
            else []
        )
        return "; ".join(f"{key}: {part}" for key, part in parts if part) if path else "; ".join(keys)
    if path:
        return _cell(record.get(path[0]), path[1:]) if isinstance(record, Mapping) else ""
    if isinstance(record, list):
        return "; ".join(map(str, record))
    return (
        json.dumps(record) if isinstance(record, bool) else f"{record:g}" if isinstance(record, float) else str(record)
    )


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=item_facts,
    talks=talks,
    health=health.health,
    checks=health.CHECKS,
    glossary={
        N_("record"): N_(
            "What an interview has found out about one agent, field by field, each with the words it rests on."
        ),
        N_("discovery schema"): N_("What an interview is to find out: fields, and when a record of them is complete."),
    },
)
