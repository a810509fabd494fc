"""Where a run lives on disk, which process may drive it, and which run is the canonical one of a simulation."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from enquete.checkpoints.ledger import connect
from enquete.checkpoints.record import RunRecord
from enquete.state.errors import LedgerError, RunLocked, RunNotFound

LEDGER = "ledger.sqlite"
CHECKPOINTS = "checkpoints.sqlite"
RECORD = "instruments_used.json"


def new_run_id() -> str:
    """Sorts by time; two runs of the same second differ by chance."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%S}_{secrets.token_hex(3)}"


def run_folder(interviews: Path, run_id: str) -> Path:
    return interviews / "runs" / run_id


def run_folders(interviews: Path) -> list[Path]:
    """Runs that have a ledger, oldest first. Looking creates nothing."""
    runs = interviews / "runs"
    return sorted(path for path in runs.iterdir() if (path / LEDGER).is_file()) if runs.is_dir() else []


def read_record(folder: Path) -> RunRecord:
    """The run's record from its ledger. Raises LedgerError where there is none that can be read."""
    try:
        connection = connect(folder / LEDGER, read_only=True)
        try:
            row = connection.execute("SELECT value FROM frozen WHERE methodology='' AND name='record'").fetchone()
        finally:
            connection.close()
        if row is None:
            raise LedgerError(f"{folder / LEDGER}: the run was never started")
        return RunRecord.model_validate_json(row[0])
    except (OSError, ValidationError) as error:
        raise LedgerError(f"{folder / LEDGER}: the run's record cannot be read ({error})") from error
    except Exception as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError(f"{folder / LEDGER}: not a readable ledger ({error})") from error


def find_run(interviews: Path, token: str) -> Path:
    """The folder of a run by its run_id or resume token. Raises RunNotFound listing the known ones."""
    run_id, _, fingerprint = token.partition(".")
    known = run_folders(interviews)
    for folder in known:
        if folder.name == run_id:
            if fingerprint and read_record(folder).fingerprint != fingerprint:
                raise RunNotFound(f"token {token!r}: run {run_id} has other settings than this token was given for")
            return folder
    names = ", ".join(folder.name for folder in known) or "none"
    raise RunNotFound(f"no run {run_id!r} in {interviews} (runs there: {names})")


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The run's lock. The system frees it when a process dies, so a killed run can be resumed at once."""
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunLocked(f"run {folder.name} is being driven by another process; wait for it or stop it") from None
    try:
        yield
    finally:
        lock.release()


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with draft.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def latest(interviews: Path) -> dict[str, str]:
    """The canonical run of each "phase/methodology" and of "synthesis"."""
    path = interviews / "latest.json"
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        return {str(key): str(value) for key, value in found.items()}
    except (ValueError, AttributeError, OSError) as error:
        raise LedgerError(
            f"{path}: not readable ({error}); delete it and run `enquete export` to rebuild it"
        ) from error


def move_latest(interviews: Path, changes: dict[str, str]) -> None:
    write_atomically(interviews / "latest.json", json.dumps(latest(interviews) | changes, indent=2) + "\n")
