"""Connections to a run's ledger file."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in WAL mode; read-only ones never create a file.

    A reader of a WAL file creates `-wal` and `-shm` beside it, and fails on read-only media. Where there is no `-wal`
    nobody drives the run, so it is read as the unchanging file it is.
    """
    mode = "rwc"
    if read_only:
        mode = "ro" if path.with_name(f"{path.name}-wal").exists() else "ro&immutable=1"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30, isolation_level=None, check_same_thread=False
    )
    try:
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
