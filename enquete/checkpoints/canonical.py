"""latest.json: which run is the canonical one of each phase and methodology, and of the synthesis.

It can be rebuilt: every run's ledger says which stages are done, which have answers, and when the run ended.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from enquete.checkpoints.connection import connect
from enquete.checkpoints.stored import LEDGER, read_record, run_folders, set_aside, write_atomically
from enquete.state.errors import LedgerError

NAME = "latest.json"

ENDED = "SELECT at FROM stages WHERE methodology='' AND phase='' AND outcome IN ('completed', 'failed')"
SYNTHESISED = "SELECT 1 FROM stages WHERE methodology='' AND phase='synthesis'"
DONE = """
SELECT s.phase, s.methodology FROM stages s WHERE s.outcome='done' AND s.methodology<>'' AND EXISTS(
  SELECT 1 FROM occasions o JOIN answers a ON a.occasion=o.id
  WHERE o.methodology=s.methodology AND o.phase=s.phase AND a.status IN ('ok', 'repaired'))
"""


def latest(interviews: Path) -> dict[str, str]:
    """The canonical run of each "phase/methodology" and of "synthesis". Raises LedgerError where it cannot be read."""
    path = interviews / NAME
    if not path.is_file():
        return {}
    try:
        return _entries(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise LedgerError(
            f"{path}: not readable ({error}). `enquete export` of any run in that folder rebuilds it from the ledgers"
        ) from error


def _entries(text: str) -> dict[str, str]:
    if not text.strip():
        raise ValueError("the file is empty")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"an object is expected, not {type(found).__name__}")
    return {str(key): str(value) for key, value in found.items()}


def move_latest(interviews: Path, changes: dict[str, str]) -> None:
    """A file that cannot be read is rebuilt first: what other runs are canonical of must not be lost."""
    mend_latest(interviews)
    _write(interviews, latest(interviews) | changes)


def mend_latest(interviews: Path) -> str | None:
    """Rebuild latest.json where it cannot be read, and keep the old one beside it; what was wrong, or None."""
    try:
        latest(interviews)
        return None
    except LedgerError as error:
        kept = set_aside(interviews / NAME)
        _write(interviews, rebuilt(interviews))
        return f"{error.__cause__}: {interviews / NAME} was rebuilt from the ledgers; the old file is {kept.name}"


def rebuilt(interviews: Path) -> dict[str, str]:
    """What latest.json must say by the ledgers: of runs that came to their end, the last one to end wins.

    Runs whose ledger cannot be read count for nothing.
    """
    ended = []
    for folder in run_folders(interviews):
        try:
            ended.append((*_canonical(folder), folder.name))
        except (LedgerError, sqlite3.DatabaseError):
            continue
    found: dict[str, str] = {}
    for at, stages, run in sorted(ended):
        if at:
            found |= dict.fromkeys(stages, run) | {"synthesis": run}
    return found


def _canonical(folder: Path) -> tuple[str, list[str]]:
    """When the run ended ("" if it has not) and what it is canonical of; a T0 counts only if it was measured."""
    reconstructed = read_record(folder).baseline == "reconstructed"
    with closing(connect(folder / LEDGER, read_only=True)) as connection:
        ended = connection.execute(ENDED).fetchone()
        if ended is None or connection.execute(SYNTHESISED).fetchone() is None:
            return "", []
        stages = [f"{phase}/{name}" for phase, name in connection.execute(DONE) if phase != "T0" or not reconstructed]
        return str(ended[0]), stages


def _write(interviews: Path, entries: dict[str, str]) -> None:
    write_atomically(interviews / NAME, json.dumps(entries, indent=2) + "\n")
