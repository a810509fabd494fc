"""Backup copies of a ledger.

Taking methodologies over from one run into another: rows are copied, so that a run's ledger stays whole by itself.

What was spent on them was spent by the run that asked: counters of calls and tokens are copied under other names, so
that no cap counts them again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import Any

from enquete.ledger import queries
from enquete.ledger.checksums import Row, seal_count
from enquete.ledger.connection import Connection, ReadableConnection, WriteConnection, connect, explained
from enquete.ledger.damage import damage_of
from enquete.ledger.drives import SIZE
from enquete.ledger.integrity import damaged
from enquete.ledger.ledger import Ledger
from enquete.ledger.writer import counted
from enquete.state.errors import LedgerError
from enquete.state.methodology import alongside

# --- Methodologies taken over from another run -----------------------------------------------------------------------

BLOCK = 1000
SPENT = {"tokens": "carried_tokens", "calls": "carried_calls", "lost": "carried_lost"}


async def carry(source: Path, target: Ledger, methodologies: Collection[str]) -> None:
    """Copy all rows of these methodologies from the ledger file `source` into a ledger that has none of them."""
    names = sorted(methodologies)

    def write(connection: WriteConnection) -> None:
        with closing(connect(source, read_only=True)) as origin:
            for table, rows in chosen_rows(origin, names):
                copy_rows(connection, table, map(_as_carried, rows) if table == "counters" else rows)
            connection.renumber()

    await target.write(write)


def _as_carried(row: Sequence[Any]) -> Row:
    """Return a row of `counters` under the name that no cap counts."""
    arm, methodology, phase, number, name, value, _ = row
    return seal_count((arm, methodology, phase, number, SPENT.get(name, name)), value)


def chosen_rows(origin: ReadableConnection, methodologies: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Rows of these methodologies, by table; a table's before those that refer to it."""
    for table, where in queries.OF_METHODOLOGIES.items():
        values = (json.dumps(methodologies),) * where.count("?")
        yield table, origin.stream(select_rows(table, where), values)


def select_rows(table: str, where: str = "") -> str:
    """Return the statement for whole rows of a table, in the order of its key: what is copied lies in that order."""
    from enquete.ledger.tables import key_columns  # noqa: PLC0415 - who reads a ledger needs no SQLAlchemy

    condition = f" WHERE {where}" if where else ""
    return f"SELECT {names_of(table)} FROM {table}{condition} ORDER BY {', '.join(key_columns(table))}"


def names_of(table: str) -> str:
    from enquete.ledger.tables import columns  # noqa: PLC0415 - who reads a ledger needs no SQLAlchemy

    return ", ".join(columns(table))


def copy_rows(connection: Connection | sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """A block at a time."""
    names, rest = names_of(table), iter(rows)
    while block := list(islice(rest, BLOCK)):
        marks = ",".join("?" * len(block[0]))
        connection.executemany(f"INSERT INTO {table}({names}) VALUES({marks})", block)


# --- Copies ----------------------------------------------------------------------------------------------------------

COPIES = ".backup-"
"""What follows the ledger's name in that of a copy, before the beginning of its SHA-256."""
DIGITS = 16


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}{COPIES}*"))


def name_of(path: Path, draft: Path) -> str:
    """Of a copy of `path` with the draft's content: its own checksum, so that copy and checksum are replaced as one."""
    with draft.open("rb") as file:
        return f"{path.name}{COPIES}{file_digest(file, 'sha256').hexdigest()[:DIGITS]}"


def whole_copy(path: Path) -> Path | None:
    """The newest copy of this ledger that is as it was written; None where there is none."""
    whole = [copy for copy in copies(path) if name_of(path, copy) == copy.name]
    return max(whole, key=writes_in, default=None)


def writes_in(copy: Path) -> int:
    """How many writes the ledger had when it was copied."""
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        return counted(connection.execute)


# --- A backup copy of a run's ledger, made while the run is driven, and put in place of a ledger that is damaged. One
# copy is kept, made by SQLite's backup interface under a name of its own and renamed: a kill in the middle leaves the
# older one. The log is written back to the ledger only when it is copied, so that what stands in the ledger's file
# stands in the copy too, and what is younger has the log's checksums. Measured by: a copy never takes the place of a
# sound one while the ledger is damaged; copies take a hundredth of a run's time.

SHARE = 0.01
"""Of a run's time that copies at barriers may take."""
FIRST_S = 0.05
"""What the first of them is taken to need."""
EVERY_S = 600.0
LONG_LOG = 16_000_000
"""Bytes of a write-ahead log, or as many as the ledger has where those are more: at that length the ledger is copied if
copies have time for it, at the fourfold the log is only written back."""
LOOKED_S = 1.0
LARGEST_COPY = 200_000_000
"""Bytes in a store of what is copied into a run's folder."""

log = logging.getLogger("enquete")


class BackupCopies:
    """Copies of one ledger while it is driven."""

    def __init__(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic):
        self._ledger = ledger
        self._clock = clock
        self._began = self._latest = clock()
        self._spent, self._takes = 0.0, FIRST_S
        self._copied = -1  # the ledger's writes in the latest copy
        self._one = asyncio.Lock()
        self.made = 0

    @property
    def spent_s(self) -> float:
        """Seconds that they took so far."""
        return self._spent

    async def at_barrier(self) -> None:
        """Where the last copies leave time for one. Raises as `copy` does."""
        if self._has_time():
            await self.copy()

    def _has_time(self) -> bool:
        return self._spent + self._takes <= SHARE * (self._clock() - self._began)

    async def copy(self) -> None:
        """Make one, unless nothing was written since the last. Raises LedgerError where the ledger is damaged: the
        older copy stays."""
        async with self._one:
            if self._ledger.writes == self._copied:
                return
            began = self._clock()
            try:
                await self._copy()
            except (OSError, sqlite3.OperationalError) as error:
                log.warning("%s: no backup copy could be made (%s); the run goes on", self._ledger.path, error)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # of a message that quotes what is damaged
                raise damaged(self._ledger.path, error) from error
            finally:
                self._latest = self._clock()
                self._takes = self._latest - began
                self._spent += self._takes

    async def _copy(self) -> None:
        if self._ledger.remote:
            self.made += await asyncio.to_thread(copy_of_store, self._ledger.path)
            return
        await asyncio.to_thread(self._ledger.write_back)
        writes = self._ledger.writes
        with closing(self._ledger.snapshot()) as snapshot:
            await asyncio.to_thread(make_copy, snapshot, self._ledger.path)
        self._copied = writes
        self.made += 1

    async def watch(self, stop: Callable[[str], None]) -> None:
        """Copy every ten minutes, and where the log grows long, until cancelled. stop: told why to ask nothing more."""
        while True:
            await asyncio.sleep(LOOKED_S)
            length = self._log_length()
            try:
                if self._clock() - self._latest >= EVERY_S or (length > 1 and self._has_time()):
                    await self.copy()
                elif length > 4:
                    await self._write_back()
            except LedgerError as error:
                stop(str(error))
                return

    def _log_length(self) -> float:
        """1: long enough for a copy."""
        path = self._ledger.path
        with suppress(OSError):
            return path.with_name(f"{path.name}-wal").stat().st_size / max(LONG_LOG, path.stat().st_size)
        return 0.0

    async def _write_back(self) -> None:
        async with self._one:
            with explained(self._ledger.path):
                await asyncio.to_thread(self._ledger.write_back)
                self._ledger.snapshot().close()


@asynccontextmanager
async def backed_up(
    ledger: Ledger, stop: Callable[[str], None], has_room: Callable[[], bool]
) -> AsyncIterator[BackupCopies]:
    """Copies while the ledger is driven, and a last one when it is let go. Raises LedgerError if it is damaged then."""
    made = BackupCopies(ledger)
    ledger.keep_log()
    if not copies(ledger.path):  # of what the run is and whom it asks
        await made.copy()
    try:
        async with alongside(made.watch(stop)):
            yield made
    finally:
        if has_room():
            await ledger.drain()
            await made.copy()


def make_copy(source: sqlite3.Connection, path: Path) -> None:
    """Of the ledger at `path`, as `source` reads it. Raises LedgerError where that is damaged, OSError where there is
    no room beside what the run itself may need."""
    _put_copy(path, path.stat().st_size, source.backup)


def copy_of_store(path: Path) -> bool:
    """A ledger that is in a store, as a file in the run's folder; False for one too large for that, of which whoever
    runs the database keeps copies. Raises as `make_copy`."""
    with closing(connect(path, read_only=True)) as source:
        size = source.execute(queries.SIZE_IN_STORE).fetchone()[0]
        if size > LARGEST_COPY:
            return False
        _put_copy(path, size, lambda target: fill(target, "sqlite", source))
    return True


def fill(target: Connection | sqlite3.Connection, dialect: str, source: ReadableConnection) -> None:
    from enquete.ledger.tables import METADATA, statements  # noqa: PLC0415 - who only reads needs no SQLAlchemy

    for statement in statements(dialect):
        target.execute(statement)
    for table in METADATA.sorted_tables:
        copy_rows(target, table.name, source.stream(select_rows(table.name)))


def _put_copy(path: Path, size: int, fill_draft: Callable[[sqlite3.Connection], None]) -> None:
    needed = size + 2 * SIZE
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(f"{needed / 1e6:.0f} MB free would be needed")
    draft = path.with_name(f"{path.name}.backup.tmp")
    try:
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as target:
            target.execute("PRAGMA synchronous=OFF")  # it is flushed as a whole below
            fill_draft(target)
            target.commit()
        if damage := damage_of(draft):
            raise damaged(path, LookupError(str(damage)))
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        made = path.with_name(name_of(path, draft))
        draft.replace(made)
        for copy in copies(path):
            if copy != made:
                copy.unlink()
    finally:
        draft.unlink(missing_ok=True)
