"""A run's files: found, read, replaced as a whole, restored from the ledger, set aside when damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from enquete.checkpoints.ballast import disk_fault
from enquete.checkpoints.connection import connect, damaged, explained
from enquete.checkpoints.record import RunRecord
from enquete.state.errors import LedgerError

LEDGER = "ledger.sqlite"
CHECKPOINTS = "checkpoints.sqlite"
RECORD = "instruments_used.json"


class NeverStarted(LedgerError):
    """Killed before its first question: the ledger holds no record yet, and nothing was paid for."""


def run_folders(interviews: Path) -> list[Path]:
    """Runs by name, one whose ledger was lost among them: its other files say that it was begun. Looking creates nothing."""
    runs = interviews / "runs"
    return (
        sorted(path for path in runs.iterdir() if (path / LEDGER).is_file() or was_begun(path)) if runs.is_dir() else []
    )


def was_begun(folder: Path) -> bool:
    """Whether files that are made after the ledger tell of questions."""
    return (folder / RECORD).is_file() or (folder / CHECKPOINTS).is_file()


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """A run's ledger, to read only. Raises LedgerError where it is damaged or missing, NewerLedger, NeverStarted."""
    path = folder / LEDGER
    with explained(path):
        try:
            with closing(connect(path, read_only=True)) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if "no such table" in str(error) and not was_begun(folder):
                raise NeverStarted(f"{path}: the run was never started") from error
            raise


@dataclass(frozen=True)
class StoredRun:
    """A run that can be read, with its (status, note) as last filed: started, completed, awaiting_simulation, waiting,
    paused or failed."""

    folder: Path
    record: RunRecord
    status: str
    note: str

    @property
    def created_at(self) -> str:
        return self.record.created_at

    @property
    def is_finished(self) -> bool:
        return self.status == "completed"


def read_run(folder: Path) -> StoredRun:
    """The run as its ledger has it. Raises LedgerError where it cannot be read, NeverStarted."""
    with reading(folder) as connection:
        record = record_in(connection.execute, folder)
        row = connection.execute("SELECT outcome, note FROM stages WHERE methodology='' AND phase=''").fetchone()
    return StoredRun(folder, record, *(map(str, row) if row else ("started", "")))


def read_record(folder: Path) -> RunRecord:
    """The run's record alone. Raises as `read_run` does."""
    return read_run(folder).record


def record_in(query: Callable[[str], sqlite3.Cursor], folder: Path) -> RunRecord:
    """The record in a ledger that is open. Raises LedgerError where there is none that can be read."""
    path = folder / LEDGER
    row = query("SELECT value FROM frozen WHERE methodology='' AND name='record'").fetchone()
    if row is None and was_begun(folder):
        raise damaged(path, LookupError("the run's record is not in it"))
    if row is None:
        raise NeverStarted(f"{path}: the run was never started")
    try:
        return RunRecord.model_validate_json(row[0])
    except ValidationError as error:
        raise LedgerError(f"{path}: the run's record cannot be read ({error})") from error


def set_aside(path: Path) -> Path:
    """Rename a damaged file (or what is in its place) and the journals beside it; nothing earlier is overwritten."""
    numbers = (f".damaged{n or ''}" for n in count())
    target = next(name for name in (path.with_name(path.name + end) for end in numbers) if not name.exists())
    for suffix in ("-wal", "-shm", "-journal"):
        journal = path.with_name(path.name + suffix)
        if journal.exists():
            journal.replace(target.with_name(target.name + suffix))
    path.replace(target)
    return target


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a half. Raises DiskFull where there is no room."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise disk_fault(error, path) or error from error
