"""The files of a run, written from its ledger and rebuildable from it at any time: same ledger, same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from enquete.checkpoints.folders import write_atomically
from enquete.locale import tell
from enquete.nodes.planning import CRITIC
from enquete.reports import narrative
from enquete.reports.associations import ACROSS
from enquete.reports.associations import PRESENTATION as BETWEEN
from enquete.reports.citations import rows as citation_rows
from enquete.reports.context import chosen, numbered
from enquete.reports.episodes import episodes
from enquete.reports.evaluation import evaluation, evaluations
from enquete.reports.file_formats import write_package, write_standing
from enquete.reports.files import data_files
from enquete.reports.findings import Findings, find
from enquete.reports.preference import found as preference
from enquete.reports.replicates import told as replicates_text
from enquete.reports.report import Material
from enquete.reports.results import WholeResults, names_of, results_of
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.table.codebook import markdown
from enquete.reports.table.items import Asked, items
from enquete.reports.table.row import ANSWER, ResponseRow
from enquete.reports.table.rows import PLAIN, responses
from enquete.reports.views import Results
from enquete.reports.writing import records, write_csv, write_files, write_json, write_jsonl
from enquete.state.asking import Language
from enquete.state.data_formats import FileFormat, Layout

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
    """exports/ (answers, agents, items, declared tables, codebook, episodes), and beside the report what it says across methods and
    about its health."""
    exports, language = folder / "exports", reading.language
    frame = frame.drop(columns=list(PLAIN))
    validate(frame)
    files = data_files(
        reading, frame, material.asked, material.found.agents, declared(reading, material.asked, material.found), "long"
    )
    book = write_standing(exports, reading, material.asked, files)
    write_atomically(exports / "codebook.md", markdown(book, language))
    if not reading.record.replay_of:  # which says nothing new
        said = episodes(reading, material.frame, material.asked, material.found.results)
        write_jsonl(exports / "episodes.jsonl", said)
    write_jsonl(exports / "citations.jsonl", citation_rows(material.citations))
    write_json(folder / narrative.FILE, material.prose.as_json())
    write_json(folder / "associations.json", material.found.analyses[ACROSS].as_json(BETWEEN))
    write_json(folder / "health.json", material.health.as_json())
    if material.replicates.arms:
        write_json(folder / replicates_text.FILE, material.replicates.as_json())
    if material.preference is not None:
        write_json(folder / preference.FILE, material.preference.as_json())
        write_csv(reading.folder / preference.PAIRS, preference.as_frame(material.preference.pairs))
    spoken = [call for name in (narrative.METHODOLOGY, CRITIC) for call in audit(reading, name, "")]
    if spoken:
        write_jsonl(folder / "audit.jsonl", spoken)


def declared(reading: RunReading, asked: Sequence[Asked], found: Findings) -> Mapping[str, Results]:
    """Results of methodologies that declare their tables."""
    titles = {name: tell(reading.methodology(name).title, reading.language) for name in reading.record.methods}
    names = names_of(reading, tuple(asked), titles)
    return results_of(evaluations(reading.record.methods), found.analyses, names, reading.language)


def export_files(
    folder: Path, formats: Iterable[FileFormat], to: Path, *,
    layout: Layout = "both", bom: bool = False, partial: bool = False, language: Language = "",
    by: str = "",
) -> list[Path]:  # fmt: skip
    """The data of the run in `folder` in these formats, made anew from its ledger, below `to`: a folder a format, with its codebook.

    layout: see `data_files`; by: `open_run`. Raises LedgerError where the ledger cannot be read, InputError where a format cannot
    hold a file.
    """
    with open_run(folder, language, by=by) as reading:
        frame = responses(reading, plain=True)
        found = find(reading, frame, partial=partial)
        frame = frame.drop(columns=list(PLAIN))
        validate(frame)
        asked = items(reading, frame)
        files = data_files(reading, frame, asked, found.agents, declared(reading, asked, found), layout)
        return write_package(to, reading, asked, files, formats, bom=bom)


def stage_folder(reading: RunReading, methodology: str, phase: str) -> Path:
    return reading.interviews / phase / methodology / reading.run


def write_stage(reading: RunReading, frame: pd.DataFrame, methodology: str, phase: str, found: Findings) -> None:
    """The methodology's own files of this phase, and the audit of its calls. Rows of an earlier run are not repeated."""
    folder, findings = stage_folder(reading, methodology, phase), found.results.get(methodology)
    if findings is not None:
        if methodology in found.analyses:
            findings = WholeResults(findings, found.analyses[methodology].tables)
        own = chosen(
            frame, frame["methodology"].eq(methodology) & frame["phase"].eq(phase) & frame["run_id"].eq(reading.run)
        )
        files = evaluation(reading.methodology(methodology)).files
        write_files(folder, files(findings, own.drop(columns=[*PLAIN]).reset_index(drop=True), phase))
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
