"""Where a run lives on disk, which process may drive it, and by which name it is found."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from enquete.checkpoints.ballast import disk_fault
from enquete.checkpoints.canonical import latest, mend_latest, move_latest
from enquete.checkpoints.drives import require_local, require_writable
from enquete.checkpoints.stored import (
    CHECKPOINTS,
    LEDGER,
    RECORD,
    NeverStarted,
    StoredRun,
    read_record,
    read_run,
    reading,
    run_folders,
    set_aside,
    write_atomically,
)
from enquete.state.errors import LedgerError, RunLocked, RunNotFound

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "CHECKPOINTS",
    "LEDGER",
    "RECORD",
    "NeverStarted",
    "StoredRun",
    "find_run",
    "held",
    "latest",
    "make_run_folder",
    "mend_latest",
    "move_latest",
    "new_run_id",
    "read_record",
    "read_run",
    "reading",
    "run_folder",
    "run_folders",
    "set_aside",
    "write_atomically",
]


def new_run_id() -> str:
    """Sorts by time; two runs of the same second differ by chance."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%S}_{secrets.token_hex(3)}"


def run_folder(interviews: Path, run_id: str) -> Path:
    return interviews / "runs" / run_id


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


PROBED_S = 0.3
"""Seconds. Who looks whether a run is driven takes its lock for an instant: whoever wants to drive it outlasts that."""


@contextmanager
def held(folder: Path, *, wait_s: float = PROBED_S) -> Iterator[None]:
    """The run's lock. The system frees it when a process dies, so a killed run can be resumed at once.

    Raises RunLocked, and LedgerError where the folder cannot be written.
    """
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=wait_s, poll_interval=PROBED_S / 10)
    except Timeout:
        raise RunLocked(f"run {folder.name} is being driven by another process; wait for it or stop it") from None
    except OSError as error:
        raise disk_fault(error, folder) or error from error
    try:
        yield
    finally:
        lock.release()


def make_run_folder(folder: Path, *, allow_network_drive: bool = False) -> None:
    """Make a new run's folder. Raises SettingsError, before anything is made, where a run cannot be kept there."""
    require_local(folder, allow=allow_network_drive)
    require_writable(folder)
    folder.mkdir(parents=True)


def is_held(folder: Path) -> bool:
    """Whether a process drives this run right now. Looking creates nothing, takes nothing away, and needs no right to write."""
    lock = folder / "lock"
    if not lock.exists():
        return False
    try:
        with held(folder, wait_s=0):
            return False
    except RunLocked:
        return True
    except LedgerError:  # nobody can drive it from here, but by another mount of the same disk or as another user
        return _is_locked(lock)


def _is_locked(lock: Path) -> bool:
    """The same question to a file that may only be read; False where the system has no answer."""
    if fcntl is None:
        return False
    try:
        file = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
