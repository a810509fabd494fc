"""What stands in the files of discovery interviews: answers, transcripts, and the records as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from enquete.methods.discovery.record import as_said
from enquete.methods.discovery.results import say_value
from enquete.reports.context import Files
from enquete.reports.declarations import WholeResults
from enquete.reports.evaluation import Transcript, dialogue, lines_of
from enquete.reports.writing import lines
from enquete.state.asking import Language


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return answers, transcript, records as they are and as a table (a column a field), coverage by field."""
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    paths = [str(row["path"]) for row in results.rows("fields") if row["type"] != "object"]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [{**row, "name": names.get(row["participant"])} for row in results.rows("turns")],
        "records.csv": record_table(results.rows("records"), names, paths),
        "records.jsonl": results.rows("records"),
        "coverage.json": results.without("records", "turns", "flags"),
    }


def record_table(rows: Iterable[Mapping[str, Any]], names: Mapping[str, str], paths: Sequence[str]) -> pd.DataFrame:
    """Return a row an agent, a column a field by its path; words behind values are in tables/said.csv."""
    return pd.DataFrame([
        {"participant": row["participant"], "name": names.get(row["participant"]),
         "stakeholder_type": row["stakeholder_type"], "complete": row["complete"], "questions": row["questions"],
         "missing": "; ".join(row["missing"]), **{path: _cell(row["record"], path.split(".")) for path in paths}}
        for row in rows
    ])  # fmt: skip


def _cell(record: Any, path: Sequence[str]) -> str:
    """Return what a record has at a path; of a list's entries one after another, each after its key."""
    if record is None:
        return ""
    if isinstance(record, list) and record and isinstance(record[0], Mapping):
        keys = [str(next(iter(entry.values()))) for entry in record]
        if not path:
            return "; ".join(keys)
        cells = [_cell(entry.get(path[0]), path[1:]) for entry in record]
        return "; ".join(f"{key}: {cell}" for key, cell in zip(keys, cells, strict=True) if cell)
    if path:
        return _cell(record.get(path[0]), path[1:]) if isinstance(record, Mapping) else ""
    if isinstance(record, list):
        return "; ".join(map(say_value, record))
    if isinstance(record, bool | Mapping):
        return as_said(record) if isinstance(record, Mapping) else json.dumps(record)
    return f"{record:g}" if isinstance(record, float) else str(record)


def read_transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    """Yield an agent's interview as it is read: questions and answers, and beside each answer what was found in it."""
    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if turns:
        read = [[f"{name}: {_in_a_line(value)}" for name, value in (turn.get("found") or {}).items()] for turn in turns]
        yield Transcript(str(turns[0]["name"]), dialogue(turns, read, language))


def _in_a_line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
