"""Opening an OASIS database without leaving a trace beside it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from enquete.simulations.action_log import Platform
from enquete.state.regular_files import require_regular

SIDECARS = ("-wal", "-journal")
NO_ACTION = ("sign_up", "refresh", "trend", "interview")


def database_path(folder: Path, platform: Platform) -> Path:
    return folder / f"{platform}_simulation.db"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection that creates no file beside the database.

    immutable=1 keeps SQLite from making -wal, -shm and locks, but it also ignores what a killed run left in a journal:
    then a copy is opened instead, where SQLite may recover it. Raises sqlite3.Error or OSError.
    """
    for file in (path, *(journal(path, suffix) for suffix in SIDECARS if journal(path, suffix).exists())):
        require_regular(file)
    if any(journal(path, suffix).exists() for suffix in SIDECARS):
        with TemporaryDirectory(prefix="enquete-") as scratch, connected(copied(path, Path(scratch)), "rw") as copy:
            yield copy
    else:
        with connected(path, "ro&immutable=1") as connection:
            yield connection


@contextmanager
def connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield connection


def journal(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def copied(path: Path, scratch: Path) -> Path:
    copy = scratch / path.name
    shutil.copyfile(path, copy)
    for suffix in SIDECARS:
        if journal(path, suffix).exists():
            shutil.copyfile(journal(path, suffix), journal(copy, suffix))
    return copy


def count_trace(folder: Path, platform: Platform) -> int:
    """Actions in a platform's trace; 0 where there is no readable database."""
    path = database_path(folder, platform)
    if not path.is_file():
        return 0
    query = f"SELECT count(*) FROM trace WHERE action NOT IN ({', '.join('?' * len(NO_ACTION))})"
    try:
        with opened(path) as connection:
            return int(connection.execute(query, NO_ACTION).fetchone()[0])
    except (sqlite3.Error, OSError):
        return 0
