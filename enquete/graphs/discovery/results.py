"""What the interviews give: see reports/evaluation.py."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.discovery import health
from enquete.graphs.discovery.analysis import analyse
from enquete.graphs.discovery.figures import figures
from enquete.graphs.discovery.findings import findings
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.shown import shown
from enquete.graphs.discovery.talks import talks
from enquete.locale import N_
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines

HEAD = ("participant", "name", "stakeholder_type", "complete", "questions", "missing")
"""Columns of records.csv before those of the schema's fields."""


def item_facts(item_id: str, instrument: DiscoveryInstrument) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, the record table (CSV, a column a field), records with quotes, coverage by field."""
    found: Mapping[str, Any] = findings
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": found["turns"],
        "records.csv": record_table(
            found["records"], [str(one["path"]) for one in found["fields"] if one["type"] != "object"]
        ),
        "records.jsonl": found["records"],
        "coverage.json": {
            key: found[key] for key in ("ds", "complete_when", "interviews", "fields", "curve", "models", "problems")
        },
    }


def record_table(held: Sequence[Mapping[str, Any]], paths: Sequence[str]) -> pd.DataFrame:
    """A row an agent, a column a field by its path, and beside it the words that it rests on."""
    columns = [*HEAD, *(column for path in paths for column in (path, f"{path} (quote)"))]
    return pd.DataFrame([_row(one, paths) for one in held], columns=columns)


def _row(one: Mapping[str, Any], paths: Sequence[str]) -> list[object]:
    head = [
        one["participant"],
        one["name"],
        one["stakeholder_type"],
        one["complete"],
        one["questions"],
        "; ".join(one["missing"]),
    ]
    cells = [(_cell(one["record"], path.split(".")), _quotes(one["told"], path.split("."))) for path in paths]
    return [*head, *(part for cell in cells for part in cell)]


def _cell(record: Any, path: Sequence[str]) -> str:
    """Of a list's entries one after another, each after its key."""
    if record is None:
        return ""
    if isinstance(record, list) and record and isinstance(record[0], Mapping):
        keys = [str(next(iter(entry.values()))) for entry in record]
        if not path:
            return "; ".join(keys)
        parts = [(key, _cell(entry.get(path[0]), path[1:])) for key, entry in zip(keys, record, strict=True)]
        return "; ".join(f"{key}: {part}" for key, part in parts if part)
    if path:
        return _cell(record.get(path[0]), path[1:]) if isinstance(record, Mapping) else ""
    if isinstance(record, list):
        return "; ".join(map(str, record))
    return (
        json.dumps(record) if isinstance(record, bool) else f"{record:g}" if isinstance(record, float) else str(record)
    )


def _quotes(told: Sequence[Mapping[str, Any]], path: Sequence[str]) -> str:
    """Quotes of every value at a field: a path that has the keys of entries between the names."""
    quotes = [str(one["quote"]) for one in told if _is_at([str(step) for step in one["path"]], list(path))]
    return " | ".join(dict.fromkeys(quotes))


def _is_at(told: list[str], path: list[str]) -> bool:
    """Whether the names of `path` are those of `told`, apart from an entry's key after a list."""
    if not path or not told or told[0] != path[0]:
        return False
    rest = told[1:]
    if len(path) == 1:
        return len(rest) <= 1
    return _is_at(rest, path[1:]) or _is_at(rest[1:], path[1:])


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete.graphs.discovery:section.md.j2",
    appendix="enquete.graphs.discovery:appendix.md.j2",
    shown=shown,
    files=files,
    item_facts=item_facts,
    figures=figures,
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
