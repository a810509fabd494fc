"""Which files of a run Enquete wrote: a line each in its folder, so that deleting the run takes nobody else's.

latest.json: which run is the canonical one of each phase and methodology, and of the synthesis.

It can be rebuilt: every run's ledger says which stages are done, which have answers, and when the run ended.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout
from pydantic import ValidationError

from enquete.ledger import drives, queries
from enquete.ledger.checksums import is_intact, select_sealed
from enquete.ledger.connection import Connection, connect, explained
from enquete.ledger.drives import STORE, disk_fault, has_ledger, keep_in, require_local, require_writable, store_of
from enquete.ledger.integrity import damaged
from enquete.ledger.record import RunRecord
from enquete.ledger.tables import NoSuchRun
from enquete.ledger.writer import lost_text, missing, told_beside
from enquete.state.errors import LedgerError, RunLocked
from enquete.state.untrusted_input import Stamp, parse_json, read_regular, stamp_of

OWN_FILES = "files"
MOST_BYTES = 10_000_000
BESIDE_LEDGER = ("ledger.sqlite*", "checkpoints.sqlite*", "writes", "reserve", "lock", STORE, OWN_FILES)
"""Made in a run's folder by other means than replacing a file as a whole: databases with their journals, locks."""
_PHASES = ("T0", "T1")


def interviews_around(path: Path) -> tuple[Path, str] | None:
    """(interviews folder, run_id) of a file that belongs to one run: in runs/, synthesis/ or T0|T1/methodology/."""
    folder = next((parent for parent in path.parents if parent.name.startswith("run_")), None)
    if folder is None:
        return None
    up = folder.parent.parent
    return (up.parent if up.name in _PHASES else up), folder.name


@lru_cache(maxsize=10_000)
def note(path: Path) -> None:
    """Once for each file of a process. Where it cannot be noted, deleting leaves the file where it is."""
    place = interviews_around(path)
    if place is None or not (run := place[0] / "runs" / place[1]).is_dir():
        return
    with suppress(OSError, ValueError), (run / OWN_FILES).open("a", encoding="utf-8") as file:
        file.write(f"{path.relative_to(place[0]).as_posix()}\n")


def own_files(run: Path) -> Iterator[Path]:
    """Those that are there. A line that leads out of the interviews folder, by .. or through a link, is passed over."""
    interviews = run.parent.parent
    for pattern in BESIDE_LEDGER:
        yield from (file for file in run.glob(pattern) if file.is_file())
    with suppress(OSError):
        inside = interviews.resolve()
        for line in dict.fromkeys(read_regular(run / OWN_FILES, MOST_BYTES).decode("utf-8", "replace").splitlines()):
            file = interviews / line
            if (file.is_file() or file.is_symlink()) and file.parent.resolve().is_relative_to(inside):
                yield file


def result_folders(run: Path) -> list[Path]:
    """Every folder that is this run's alone, its own last."""
    interviews = run.parent.parent
    phases = [folder for phase in _PHASES for folder in sorted((interviews / phase).glob(f"*/{run.name}"))]
    return [folder for folder in (*phases, interviews / "synthesis" / run.name, run) if folder.is_dir()]


# --- A run's folder: found by name, read, locked by whoever drives it, its files replaced as a whole or set aside.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LEDGER = drives.LEDGER
CHECKPOINTS = "checkpoints.sqlite"
RECORD = "instruments_used.json"
LOCK = "lock"  # on Windows alone


def new_run_id() -> str:
    """Sorts by time; two runs of the same second differ by chance."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%S}_{secrets.token_hex(3)}"


def run_folder(interviews: Path, run_id: str) -> Path:
    return interviews / "runs" / run_id


PROBED_S = 0.3
"""Seconds. Who looks whether a run is driven takes its lock for an instant: whoever wants to drive it outlasts that."""


@contextmanager
def held(folder: Path, *, wait_s: float = PROBED_S) -> Iterator[None]:
    """The run's lock. It lies on the folder that holds the ledger, so that no file can be removed to get round it; the
    system frees it when a process dies, so a killed run can be resumed at once.

    Raises RunLocked, and LedgerError where the folder cannot be written.
    """
    try:
        release = _locked(folder, wait_s)
    except (Timeout, BlockingIOError):
        raise RunLocked(f"run {folder.name} is being driven by another process; wait for it or stop it") from None
    except OSError as error:
        raise disk_fault(error, folder) or LedgerError(f"{folder}: cannot be locked ({error.strerror})") from error
    try:
        with _held_in_store(folder, wait_s):
            yield
    finally:
        release()


@contextmanager
def _held_in_store(folder: Path, wait_s: float) -> Iterator[None]:
    """The run's lock for every machine that reaches its store."""
    if not (shown := store_of(folder)):
        yield
        return
    from enquete.ledger.postgres import RunLock  # noqa: PLC0415 - an extra brings what it needs

    lock = RunLock(shown, folder.name)
    lock.take(wait_s)
    try:
        yield
    finally:
        lock.release()


def drop_ledger(folder: Path) -> None:
    """Delete the run's rows in its store; a file goes with the folder. Raises LedgerError."""
    if shown := store_of(folder):
        from enquete.ledger.postgres import PostgresConnection  # noqa: PLC0415 - likewise

        with closing(PostgresConnection(shown, folder.name)) as connection:
            connection.drop_schema()


def _locked(folder: Path, wait_s: float) -> Callable[[], object]:
    """Gives what lets go of it. Not the ledger's own file: closing that would take SQLite's locks from every connection
    of this process (https://sqlite.org/howtocorrupt.html, 2.2)."""
    if fcntl is None:  # a folder cannot be locked, but a file that is open cannot be removed
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=wait_s, poll_interval=PROBED_S / 10)
        return lock.release
    if not os.access(folder, os.W_OK):
        read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        number = errno.EROFS if read_only else errno.EACCES
        raise OSError(number, os.strerror(number))
    opened, until = os.open(folder, os.O_RDONLY), time.monotonic() + wait_s
    try:
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lambda: os.close(opened)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise
            time.sleep(PROBED_S / 10)
    except BaseException:
        os.close(opened)
        raise


def make_run_folder(folder: Path, address: str = "") -> None:
    """Make a new run's folder; `address`: of the store that is to hold its ledger. Raises SettingsError or LedgerError,
    before anything is made, where a run cannot be kept there."""
    require_writable(folder)
    if address:
        from enquete.ledger.postgres import PostgresConnection  # noqa: PLC0415 - an extra brings what it needs

        PostgresConnection(address, folder.name).close()
    else:
        require_local(folder)
    folder.mkdir(parents=True)
    if address:
        keep_in(folder, address)


def is_held(folder: Path) -> bool:
    """Whether a process drives this run right now. Looking creates nothing, takes nothing away, and needs no right to
    write; False where the system has no answer."""
    if (shown := store_of(folder)) and not _is_held_here(folder):
        from enquete.ledger.postgres import is_locked  # noqa: PLC0415 - an extra brings what it needs

        return is_locked(shown, folder.name)
    return _is_held_here(folder)


def _is_held_here(folder: Path) -> bool:
    if fcntl is None:
        return _is_file_held(folder / LOCK)
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(opened)


def _is_file_held(lock: Path) -> bool:
    if not lock.exists():
        return False
    try:
        with held(lock.parent, wait_s=0):
            return False
    except RunLocked:
        return True
    except LedgerError:
        return False


class NeverStarted(LedgerError):
    """Killed before its first question: the ledger holds no record yet, and nothing was paid for."""


def run_folders(interviews: Path) -> list[Path]:
    """Runs by name, also one that lost its ledger: its other files say it was begun. Looking creates nothing."""
    runs = interviews / "runs"
    return sorted(path for path in runs.iterdir() if has_ledger(path) or was_begun(path)) if runs.is_dir() else []


def was_begun(folder: Path) -> bool:
    """Whether files that are made after the ledger tell of questions."""
    return (folder / RECORD).is_file() or (folder / CHECKPOINTS).is_file()


@contextmanager
def reading(folder: Path) -> Iterator[Connection]:
    """A run's ledger, to read only. Raises LedgerError where it is damaged or missing, NewerLedger, NeverStarted."""
    path = folder / LEDGER
    with explained(path):
        try:
            with closing(connect(path, read_only=True)) as connection:
                yield connection
        except (sqlite3.DatabaseError, NoSuchRun) as error:
            if (isinstance(error, NoSuchRun) or "no such table" in str(error)) and not was_begun(folder):
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


def ledger_stamp(folder: Path) -> Stamp:
    """Another one after every write to the run's ledger. Raises LedgerError."""
    if not store_of(folder):
        return stamp_of(folder / name for name in (LEDGER, f"{LEDGER}-wal"))
    with reading(folder) as connection:
        counted, *others = connection.execute(queries.WRITTEN).fetchone()
    return ((folder / LEDGER, int(counted), hash(tuple(others))),)


def read_sealed(query: Callable[..., Any], table: str, where: str, values: Sequence[object], path: Path) -> Any:
    """Return a row's own columns, or None where there is none. Raises DamagedLedger where it is not as it was written:
    also who only lists runs is not told of another than there was."""
    row = query(select_sealed(table, where), values).fetchone()
    if row is None:
        return None
    if not is_intact(table, tuple(row[:-1]), row[-1]):
        raise damaged(path, LookupError(f"a row of {table} is not as it was written"))
    return row[:-1]


def read_run(folder: Path) -> StoredRun:
    """The run as its ledger has it. Raises LedgerError where it cannot be read, NeverStarted."""
    beside = told_beside(folder)
    with reading(folder) as connection:
        record = record_in(connection.execute, folder)
        row = read_sealed(connection.execute, "stages", "methodology='' AND phase=''", (), folder / LEDGER)
        lost = lost_text(*missing(beside, connection.execute))
    status, note = (str(row[2]), str(row[3])) if row else ("started", "")
    return StoredRun(folder, record, status, "; ".join(part for part in (note, lost) if part))


def read_record(folder: Path) -> RunRecord:
    """The run's record alone. Raises as `read_run` does."""
    return read_run(folder).record


def record_in(query: Callable[..., Any], folder: Path) -> RunRecord:
    """The record in a ledger that is open. Raises LedgerError where there is none that can be read."""
    path = folder / LEDGER
    row = read_sealed(query, "frozen", queries.RECORD_KEY, (), path)
    if row is None and was_begun(folder):
        raise damaged(path, LookupError("the run's record is not in it"))
    if row is None:
        raise NeverStarted(f"{path}: the run was never started")
    try:
        return RunRecord.model_validate_json(str(row[4]))
    except ValidationError as error:
        raise damaged(path, error) from error


def name_aside(path: Path) -> Path:
    """Return a name beside a damaged file under which nothing is kept yet."""
    numbers = (f".damaged{n or ''}" for n in count())
    return next(name for name in (path.with_name(path.name + end) for end in numbers) if not name.exists())


def set_aside(path: Path) -> Path:
    """Rename a damaged file (or what is in its place) and the journals beside it; nothing earlier is overwritten."""
    target = name_aside(path)
    for suffix in ("-wal", "-shm", "-journal"):
        journal = path.with_name(path.name + suffix)
        if journal.exists():
            journal.replace(target.with_name(target.name + suffix))
    path.replace(target)
    return target


def draft_of(path: Path) -> Path:
    """Where a file is written that will replace `path`. What processes that were killed left there is removed."""
    note(path)
    for old in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        process = old.name.split(".")[-2]
        if not (process.isdecimal() and psutil.pid_exists(int(process))):
            with suppress(OSError):
                old.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Readers see the old file or the new one, never a half. text: or its parts, in their order. Raises DiskFull where
    there is no room."""
    draft = draft_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.writelines((text,) if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise disk_fault(error, path) or error from error


# --- latest.json: the canonical runs ---------------------------------------------------------------------------------

NAME = "latest.json"


def latest(interviews: Path) -> dict[str, str]:
    """The canonical run of each "phase/methodology" and of "synthesis". Raises LedgerError where it cannot be read."""
    path = interviews / NAME
    if not path.is_file():
        return {}
    try:
        return _entries(read_regular(path).decode())
    except (ValueError, OSError) as error:
        raise LedgerError(
            f"{path}: not readable ({error}). `enquete export` of any run in that folder rebuilds it from the ledgers"
        ) from error


def _entries(text: str) -> dict[str, str]:
    if not text.strip():
        raise ValueError("the file is empty")
    entries = parse_json(text)
    if not isinstance(entries, dict):
        raise ValueError(f"an object is expected, not {type(entries).__name__}")
    return {str(key): str(value) for key, value in entries.items()}


def move_latest(interviews: Path, changes: dict[str, str]) -> None:
    """A file that cannot be read is rebuilt first: what other runs are canonical of must not be lost."""
    mend_latest(interviews)
    _write(interviews, latest(interviews) | changes)


def rebuild_latest(interviews: Path) -> None:
    """After runs were deleted: what the ledgers that are left say, no file where they say nothing."""
    if entries := rebuilt(interviews):
        _write(interviews, entries)
    else:
        (interviews / NAME).unlink(missing_ok=True)


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

    A run whose ledger cannot be read counts only for what a re-run has taken over from it.
    """
    ended = []
    for folder in run_folders(interviews):
        try:
            ended.append((*_canonical(folder), folder.name))
        except LedgerError:
            continue
    entries: dict[str, str] = {}
    for at, asked, carried, run in sorted(ended, key=lambda run: (run[0], run[-1])):
        if at:
            entries = carried | entries | dict.fromkeys(asked, run) | {"synthesis": run}
    return entries


def _canonical(folder: Path) -> tuple[str, list[str], dict[str, str]]:
    """When the run ended ("" if it has not), the stages it asked itself, and those it took over with who asked them.

    A T0 counts only if it was measured, a replay not at all: it is a check of a run, not another one.
    """
    record = read_record(folder)
    with reading(folder) as connection:
        ended = connection.execute(queries.ENDED).fetchone()
        if record.replay_of or ended is None or connection.execute(queries.SYNTHESISED).fetchone() is None:
            return "", [], {}
        done = [
            (phase, name)
            for phase, name in connection.execute(queries.DONE)
            if phase != "T0" or record.baseline != "reconstructed"
        ]
    asked = [f"{phase}/{name}" for phase, name in done if name not in record.carried]
    there = {name: run for name, run in record.carried.items() if (folder.parent / run).is_dir()}
    return str(ended[0]), asked, {f"{phase}/{name}": there[name] for phase, name in done if name in there}


def _write(interviews: Path, entries: dict[str, str]) -> None:
    write_atomically(interviews / NAME, json.dumps(entries, indent=2) + "\n")
