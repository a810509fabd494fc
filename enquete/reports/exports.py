"""The files of a run, written from its ledger and rebuildable from it at any time: same ledger, same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from enquete.checkpoints.folders import write_atomically
from enquete.nodes.planning import CRITIC
from enquete.reports.citations import rows as citation_rows
from enquete.reports.context import chosen, numbered
from enquete.reports.crossing import associations
from enquete.reports.crossing.narrative import METHODOLOGY as SYNTHESIS
from enquete.reports.crossing.sentences import sentence
from enquete.reports.episodes import episodes
from enquete.reports.evaluation import evaluation
from enquete.reports.findings import Findings
from enquete.reports.preference import found as preference
from enquete.reports.replicates import told as replicates_text
from enquete.reports.report import Material
from enquete.reports.run_reading import RunReading
from enquete.reports.table.codebook import codebook, markdown
from enquete.reports.table.row import ANSWER, ResponseRow
from enquete.reports.table.rows import PLAIN
from enquete.reports.writing import records, write_csv, write_files, write_json, write_jsonl
from enquete.state.asking import Language

VALIDATED = 20_000
"""Rows validated one by one; of a larger table an even sample. Keys are checked in all rows."""


def validate(frame: pd.DataFrame) -> None:
    """Raises ValueError naming the row and column where the table is not what ResponseRow says, or a key stands twice."""
    keys = ["run_id", "methodology", "phase", *ANSWER]
    doubled = pd.Series(numbered(frame, keys)).duplicated().to_numpy()
    if doubled.any():
        raise ValueError(f"all_responses.csv: {frame.loc[doubled, keys].iloc[0].to_dict()} stands twice")
    step = max(1, -(-len(frame) // VALIDATED))
    for number, row in enumerate(records(frame.iloc[::step])):
        try:
            ResponseRow.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            where = f"row {number * step + 1}, column {'.'.join(map(str, first['loc']))}"
            raise ValueError(f"all_responses.csv: {where}: {first['input']!r}: {first['msg']}") from error


def write_exports(folder: Path, reading: RunReading, material: Material, frame: pd.DataFrame) -> None:
    """exports/ (table, codebook, episodes, agents), and beside the report what it says across methods and about its health."""
    exports, language = folder / "exports", reading.language
    frame = frame.drop(columns=list(PLAIN))
    validate(frame)
    write_csv(exports / "all_responses.csv", frame)
    book = codebook(reading, frame, material.asked)
    write_json(exports / "codebook.json", book)
    write_atomically(exports / "codebook.md", markdown(book, language))
    if not reading.record.replay_of:  # which says nothing new
        said = episodes(reading, material.frame, material.asked, material.found.results)
        write_jsonl(exports / "episodes.jsonl", said)
    write_jsonl(exports / "citations.jsonl", citation_rows(material.citations))
    write_json(folder / "crossing.json", crossing_file(material, language))
    write_csv(exports / "agents.csv", material.agents.table.reset_index(names="participant"))
    write_json(folder / associations.FILE, associations.as_json(material.agents, material.associations, language))
    write_json(folder / "health.json", material.health.as_json())
    if material.replicates.arms:
        write_json(folder / replicates_text.FILE, material.replicates.as_json())
    if material.preference is not None:
        write_json(folder / preference.FILE, material.preference.as_json())
        write_csv(reading.folder / preference.PAIRS, preference.as_frame(material.preference.pairs))
    spoken = [call for name in (SYNTHESIS, CRITIC) for call in audit(reading, name, "")]
    if spoken:
        write_jsonl(folder / "audit.jsonl", spoken)


def crossing_file(material: Material, language: Language) -> dict[str, Any]:
    """Claims by id with their sentences, what is absent, and the summary with who wrote it."""
    claims = {
        claim.id: {
            **claim.as_json(language),
            "text": sentence(claim, language),
            "replicates": _held(material, claim.id),
        }
        for claim in material.crossing.claims
    }
    prose = material.prose
    paragraphs = [paragraph.model_dump(mode="json") for paragraph in prose.paragraphs]
    return {
        "claims": claims,
        "absent": [{"claim": absent.claim, "why": absent.why} for absent in material.crossing.absent],
        "summary": {"by": prose.by, "paragraphs": paragraphs, "problems": list(prose.problems)},
    }


def _held(material: Material, claim: str) -> dict[str, Any]:
    """Whether the claim holds when asked again; "not judged" too in a run without replicates."""
    found = material.replicates.claims.get(claim)
    return found.as_json() if found else {"n": 0, "verdict": "not judged"}


def stage_folder(reading: RunReading, methodology: str, phase: str) -> Path:
    return reading.interviews / phase / methodology / reading.run


def write_stage(reading: RunReading, frame: pd.DataFrame, methodology: str, phase: str, found: Findings) -> None:
    """The methodology's own files of this phase, of all its tables, and the audit of its calls. Rows of an earlier run are
    not repeated."""
    folder = stage_folder(reading, methodology, phase)
    own = evaluation(reading.methodology(methodology))
    findings = found.results.get(methodology)
    if findings is not None and own.presentation is not None:
        findings = {**findings, **found.analyses[methodology].as_json(own.presentation, one_agent=True)}
    if findings is not None:
        rows = chosen(
            frame, frame["methodology"].eq(methodology) & frame["phase"].eq(phase) & frame["run_id"].eq(reading.run)
        )
        write_files(folder, own.files(findings, rows.drop(columns=[*PLAIN]).reset_index(drop=True), phase))
    write_jsonl(folder / "audit.jsonl", audit(reading, methodology, phase))


def audit(reading: RunReading, methodology: str, phase: str) -> Iterator[dict[str, Any]]:
    """Every request: who was asked what by which model, what came back, what it cost. A system prompt is spelt out once."""
    spelt: set[str] = set()
    for call in reading.calls(methodology, phase):
        system = call.pop("system")
        if call["system_hash"] not in spelt:
            spelt.add(call["system_hash"])
            call["system"] = system
        call["messages"] = json.loads(call["messages"])
        yield call


def reached(reading: RunReading, methodology: str, phase: str, frame: pd.DataFrame) -> bool:
    """Whether there is anything to write about this stage. What was taken over has its files with the run that asked."""
    if methodology in reading.record.carried:
        return False
    own = frame["methodology"].eq(methodology) & frame["phase"].eq(phase) & frame["run_id"].eq(reading.run)
    return (methodology, phase) in reading.stages or bool((own & frame["status"].ne("not_reached")).any())
