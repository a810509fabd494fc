"""Older ledgers: brought to today's schema, one version at a time.

A new version adds a function to STEPS, under the version that it starts from, and raises schema.SCHEMA_VERSION. A step
changes tables through the connection it is given, without executescript, COMMIT or BEGIN: all steps are one transaction,
and before it a copy of the file is put beside it (`ledger.sqlite.v1`). A ledger that is only read is brought up to date
in a private copy. Measured by: a stored run of every released version opens, and its export is the one stored with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from enquete.checkpoints.ballast import disk_fault
from enquete.checkpoints.schema import SCHEMA_VERSION
from enquete.state.errors import LedgerError

Step = Callable[[sqlite3.Connection], None]


class NewerLedger(LedgerError):
    """A newer version of Enquete wrote it: nothing is wrong with it, and nothing is to be repaired."""


STEPS: Mapping[int, Step] = {}
"""Version n → the step from n to n + 1."""


@dataclass(frozen=True)
class Schema:
    """A schema version and the way to it from each older one."""

    version: int = SCHEMA_VERSION
    steps: Mapping[int, Step] = field(default_factory=lambda: STEPS)


CURRENT = Schema()


def stored_version(connection: sqlite3.Connection) -> str | None:
    """What the file says; None where it holds no ledger. Raises sqlite3.DatabaseError where it is damaged."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name='meta' AND type='table'").fetchone() is None:
        return None
    row = connection.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone()
    return None if row is None else str(row[0])


def outdated(connection: sqlite3.Connection, path: Path, schema: Schema = CURRENT) -> bool:
    """Whether steps are to be taken. Raises LedgerError for a newer version, or one that no step leads from."""
    stored = stored_version(connection)
    if stored is None or stored == str(schema.version):
        return False
    where = f"{path}: ledger schema {stored!r}, this version of Enquete reads {schema.version}"
    if not stored.isdecimal() or int(stored) < 1:
        raise LedgerError(f"{where}: the version stored in the file is damaged")
    if int(stored) > schema.version:
        fact = f"{where}: a newer version wrote it"
        raise NewerLedger(f"{fact}. Update Enquete to go on with or read this run", fact=fact)
    missing = [version for version in range(int(stored), schema.version) if version not in schema.steps]
    if missing:
        raise LedgerError(f"{where}: there is no way from version {missing[0]} to {missing[0] + 1}")
    return True


def migrate(connection: sqlite3.Connection, path: Path, schema: Schema = CURRENT) -> Path | None:
    """Bring an open ledger up to date, all or nothing; the copy of the file as it was, or None if it was up to date.

    Only the holder of the run's lock may call it. Raises LedgerError, and then the ledger is as it was.
    """
    if not outdated(connection, path, schema):
        return None
    stored = stored_version(connection)
    copy = path.with_name(f"{path.name}.v{stored}")
    _copy(connection, copy)
    try:
        take_steps(connection, schema)
    except sqlite3.Error as error:
        raise LedgerError(
            f"{path}: could not be brought from schema {stored} to {schema.version} ({error}); it is unchanged"
        ) from error
    return copy


def take_steps(connection: sqlite3.Connection, schema: Schema = CURRENT) -> None:
    """All steps from the stored version on, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for version in range(int(stored_version(connection) or 0), schema.version):
            schema.steps[version](connection)
        connection.execute("UPDATE meta SET value=? WHERE key='schema_version'", (str(schema.version),))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def brought_up(connection: sqlite3.Connection, schema: Schema = CURRENT) -> sqlite3.Connection:
    """A private copy of an older ledger with all steps taken; SQLite keeps it in memory or a nameless temporary file."""
    copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    try:
        connection.backup(copy)
        take_steps(copy, schema)
        copy.execute("PRAGMA query_only=ON")
    except BaseException:
        copy.close()
        raise
    return copy


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    """A whole copy or none: half of one would look like a safe way back."""
    draft = target.with_name(f".{target.name}.tmp")
    try:
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as copy:
            connection.backup(copy)
        draft.replace(target)
    except (sqlite3.Error, OSError) as error:
        draft.unlink(missing_ok=True)
        raise disk_fault(error, target) or LedgerError(
            f"{target}: the copy that is made before an older ledger is changed could not be written ({error})"
        ) from error
