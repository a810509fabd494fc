"""Versions of the ledger's tables: which this program writes, which it reads, and what it says of another."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from enquete.state.errors import LedgerError

VERSION, VERSION_TABLE = "0004", "alembic_version"
"""Of the tables, where Alembic keeps it (migrations/)."""
READABLE = ("3", VERSION)
"""3 has the same tables, and its number in `meta`: it is read as it is, and migrated when it is written to."""


class NoSuchRun(LedgerError):
    """Its store holds no tables of it."""


class NewerLedger(LedgerError):
    """A newer version of Enquete wrote it: nothing is wrong with it, and nothing is to be repaired."""


def require_readable(stored: str, path: Path) -> None:
    """Raises LedgerError naming the version, sqlite3.DatabaseError where it is none."""
    if stored in READABLE:
        return
    fact = f"{path}: ledger schema {stored!r}, this version of Enquete reads {int(VERSION)}"
    if not stored.isdecimal():
        raise sqlite3.DatabaseError(f"{fact.removeprefix(f'{path}: ')}: the version stored in the file is damaged")
    if int(stored) > int(VERSION):
        fact = f"{fact}: a newer version wrote it"
        raise NewerLedger(f"{fact}. Update Enquete to go on with or read this run", fact=fact)
    raise LedgerError(f"{fact}: an older version wrote it, and only that version reads it")
