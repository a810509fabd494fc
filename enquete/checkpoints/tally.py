"""A count of a ledger's writes, kept in it and beside it.

Without its write-ahead log a ledger is whole, as it was some hundreds of writes ago: nothing in it can tell that answers
were lost with the log. A file that is written after each commit can. It costs one row and 20 bytes a commit.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from enquete.checkpoints.usage import NOTED
from enquete.state.regular_files import read_regular

NAME = "writes"  # the file beside the ledger, and the key in its table of remarks
LOST = "lost_writes"
LENGTH = 20


class Tally:
    """For the one who writes. The file may lag behind the ledger by the commit at which a process was killed, never run
    ahead of it; where it cannot be written, a loss goes unnoticed and nothing else."""

    def __init__(self, ledger: Path):
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


def told_beside(folder: Path) -> int:
    """Writes by the file. Read it before the ledger, which a driver may be writing to. 0 where there is none."""
    try:
        return int(read_regular(folder / NAME, LENGTH))
    except (OSError, ValueError):
        return 0


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
