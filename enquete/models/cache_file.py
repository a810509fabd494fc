"""The file of the response cache: for its owner alone, and set aside instead of trusted once it is damaged."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from enquete.state.errors import SettingsError

APPLICATION = 0x456E7143  # "EnqC", in the file's header
VERSION = 1
LOCK_S = 5.0
BUSY_S = 5.0

_TABLE = """
CREATE TABLE responses(
  key TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL, finish TEXT NOT NULL, raw TEXT NOT NULL,
  fingerprint TEXT NOT NULL, model TEXT NOT NULL,
  input_tokens INTEGER, output_tokens INTEGER,  -- NULL: the server reported none
  stored_at REAL NOT NULL  -- seconds since 1970, UTC
) STRICT
"""
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _OtherVersion(Exception):
    """The file was written by another version of the cache."""


def prepare(path: Path) -> str:
    """Have a usable file at `path`. Returns a notice where another one was set aside for it, else "".

    Raises SettingsError where nothing can be written there, or where the file is a database of something else.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(path):
            return _prepare(path)
    except (OSError, Timeout, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"response cache {path}: {reason}; set ENQUETE_CACHE_DIR to a local folder that you may write to, "
            "or leave the cache off"
        ) from None


def connect(path: Path) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=NORMAL")  # a power cut may lose the last responses, not the file
    return connection


def is_damaged(error: BaseException) -> bool:
    """Whether SQLite says that the file is no longer a sound database."""
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _BROKEN


def identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def set_aside(path: Path, opened: tuple[int, int]) -> None:
    """Move a file out of the way, unless another process has put a fresh one there since it was `opened`."""
    with _lock(path):
        if path.exists() and identity(path) == opened:
            _move(path)


def _lock(path: Path) -> FileLock:
    return FileLock(path.with_name(f"{path.name}.lock"), timeout=LOCK_S, mode=0o600)


def _prepare(path: Path) -> str:
    try:
        _set_up(path)
        return ""
    except _OtherVersion as other:
        reason = str(other)
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        reason = f"damaged ({error})"
    aside = _move(path)
    _set_up(path)
    return f"The response cache was {reason}: set aside as {aside.name}, and a new one begun."


def _move(path: Path) -> Path:
    stem = f"{path.name}.aside-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    for ending in ("-wal", "-shm", ""):  # a log that stayed behind would be played into the next file
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(path.with_name(stem + ending))
    return path.with_name(stem)


def _set_up(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives -wal and -shm the same mode
    path.chmod(0o600)
    with closing(connect(path)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables:
            _check(path, connection)
        connection.execute("PRAGMA journal_mode=WAL")
        if not tables:
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")
            connection.execute(_TABLE)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise SettingsError(f"response cache {path}: the database of another program; set ENQUETE_CACHE_DIR elsewhere")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise _OtherVersion(f"written by another version of Enquete (schema {version}, here {VERSION})")
