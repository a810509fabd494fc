"""A count of a ledger's writes, kept in it, beside it, and with every checkpoint.

Without its write-ahead log a ledger is whole, as it was some hundreds of writes ago: nothing in it can tell that answers
were lost with the log. A file that is written after each commit can. So can checkpoints, and must: a position from after
the lost writes leads past what they held. It costs one row and 20 bytes a commit.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from enquete.checkpoints.connection import is_damage
from enquete.checkpoints.usage import NOTED
from enquete.state.regular_files import read_regular, require_regular

NAME = "writes"  # the file beside the ledger, and the key in its table of remarks
LOST = "lost_writes"
LENGTH = 20

MADE = "CREATE TABLE IF NOT EXISTS write_counter(id INTEGER PRIMARY KEY CHECK(id = 1), value INTEGER NOT NULL) STRICT"
REPEATED = "INSERT INTO write_counter VALUES(1, ?) ON CONFLICT(id) DO UPDATE SET value=excluded.value"
"""In the checkpoints' own file: what the ledger's counter was when the latest of them was stored."""


class WriteCounter:
    """For the one who writes. The file may lag behind the ledger by the commit at which a process was killed, never run
    ahead of it; where it cannot be written, a loss is only told by the checkpoints."""

    def __init__(self, ledger: Path, value: int = 0):
        """value: of the ledger as it was opened."""
        self.value = value
        self._ledger = ledger
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(ledger.with_name(NAME), os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o644)

    def add(self, connection: sqlite3.Connection, writes: int) -> int:
        """Within the transaction; how many there are now."""
        row = connection.execute(f"{NOTED} RETURNING value", (NAME, str(writes))).fetchone()
        return int(row[0])

    def tell(self, writes: int) -> None:
        """After the commit."""
        self.value = writes
        if self._file is not None:
            with suppress(OSError):
                os.pwrite(self._file, f"{writes:>{LENGTH}}".encode(), 0)

    def close(self) -> None:
        """After the ledger: what is in no log any more cannot be lost with it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if not self._ledger.with_name(f"{self._ledger.name}-wal").exists():
            with suppress(OSError):
                self._ledger.with_name(NAME).unlink(missing_ok=True)


def counted(query: Callable[[str], sqlite3.Cursor]) -> int:
    """Writes, as the ledger itself has them."""
    row = query(f"SELECT value FROM meta WHERE key='{NAME}'").fetchone()
    return int(row[0]) if row else 0


def told_beside(folder: Path) -> int:
    """Writes by the file. Read it before the ledger, which a driver may be writing to. 0 where there is none."""
    try:
        return int(read_regular(folder / NAME, LENGTH))
    except (OSError, ValueError):
        return 0


def told_by_checkpoints(path: Path) -> int:
    """Writes by the checkpoints in this file; likewise. More than any ledger has where positions stand there without a count,
    0 where there are none, or they are damaged. Raises sqlite3.DatabaseError where they cannot be read just now."""
    try:
        require_regular(path)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if "checkpoints" not in tables or not connection.execute("SELECT 1 FROM checkpoints LIMIT 1").fetchone():
                return 0
            row = (
                connection.execute("SELECT value FROM write_counter").fetchone() if "write_counter" in tables else None
            )
            return row[0] if row and isinstance(row[0], int) else sys.maxsize
    except (OSError, UnicodeDecodeError):
        return 0
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return 0  # the saver sets it aside


def missing(beside: int, query: Callable[[str], sqlite3.Cursor]) -> tuple[int, int]:
    """Writes that are gone from the ledger and not yet noted there, and those that are."""
    noted = dict(query(f"SELECT key, value FROM meta WHERE key IN ('{NAME}', '{LOST}')").fetchall())
    return max(0, beside - int(noted.get(NAME, 0))), int(noted.get(LOST, 0))


def lost_text(fresh: int, noted: int) -> str:
    """What to say of them; "" where there are none."""
    if fresh:
        return (
            f"the last {fresh:,} writes to this run's ledger are missing, answers among them: its write-ahead log "
            "(ledger.sqlite-wal) was deleted, or not copied along. What they held is asked for again by the next resume"
        )
    return f"{noted:,} writes to this run's ledger had been lost with its write-ahead log" if noted else ""
