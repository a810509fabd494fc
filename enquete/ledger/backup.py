"""Whether a ledger is sound, and its backup.

Taking methodologies over from one run into another: rows are copied, so that a run's ledger stays whole by itself.

What was spent on them was spent by the run that asked: counters of calls and tokens are copied under other names, so
that no cap counts them again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shlex
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import file_digest
from itertools import chain, islice
from pathlib import Path
from typing import Any

from enquete.ledger import queries
from enquete.ledger.connection import Connection, ReadableConnection, WriteConnection, connect, damaged, explained
from enquete.ledger.drives import SIZE, disk_fault, is_remote, store_of
from enquete.ledger.folders import CHECKPOINTS, LEDGER, draft_of, held, set_aside
from enquete.ledger.ledger import Ledger
from enquete.ledger.tables import VERSION_TABLE, NewerLedger
from enquete.ledger.writer import COUNTER, counted, told_beside
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
                renamed = ((*row[:4], SPENT.get(str(row[4]), row[4]), row[5]) for row in rows)
                copy_rows(connection, table, renamed if table == "counters" else rows)
            connection.renumber()

    await target.write(write)


def chosen_rows(origin: ReadableConnection, methodologies: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Rows of these methodologies, by table; a table's before those that refer to it."""
    for table, where in queries.OF_METHODOLOGIES.items():
        values = (json.dumps(methodologies),) * where.count("?")
        yield table, origin.stream(f"SELECT {names_of(table)} FROM {table} WHERE {where}", values)


def names_of(table: str) -> str:
    from enquete.ledger.tables import columns  # noqa: PLC0415 - who reads a ledger needs no SQLAlchemy

    return ", ".join(columns(table))


def copy_rows(connection: Connection | sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """A block at a time."""
    names, rest = names_of(table), iter(rows)
    while block := list(islice(rest, BLOCK)):
        marks = ",".join("?" * len(block[0]))
        connection.executemany(f"INSERT INTO {table}({names}) VALUES({marks})", block)


# --- Whether a ledger is as it was written. SQLite checks its pages, but keeps no checksum of what stands on them: a
# letter that was changed within a text is sound to it. A ledger's own backup copy tells that, since what was settled
# once never changes; rows younger than the copy stand in the write-ahead log, whose frames do have checksums
# (backup.py). Measured by: of hundreds of damaged ledgers (tests/ledger/test_ledger_damage.py) none is gone on with to
# other answers than an undamaged one's.

COPIES = ".backup-"
"""What follows the ledger's name in that of a copy, before the beginning of its SHA-256."""
DIGITS = 16

SETTLED = {
    "participants": "1", "digests": "1", "occasions": "1", "texts": "1", "frozen": "1", "answers": "status <> 'failed'",
    "calls": "status = 'settled'", "forms": "state <> 'open'",
}  # fmt: skip
"""Rows that are never changed again, by table."""
CHANGING = ("meta", "counters", "stages", "failures")

JSON = {"answers": ("data", "notes", "options_shown"), "frozen": ("value",), "forms": ("block", "draft")}
"""Columns that hold JSON, or nothing."""


def require_sound(folder: Path) -> None:
    """Reads the whole ledger of the run in this folder. Raises LedgerError naming what is wrong, NewerLedger."""
    path = folder / LEDGER
    with explained(path):
        copy = None if is_remote(path) else whole_copy(path)
        wrong = fault(path) or (difference(path, copy) if copy else "")
    if wrong:
        raise damaged(path, LookupError(wrong))


def is_sound(folder: Path) -> bool:
    """Whether the run's ledger can be gone on with. Raises NewerLedger."""
    try:
        require_sound(folder)
    except NewerLedger:
        raise
    except LedgerError:
        return False
    return True


def fault(path: Path) -> str:
    """The first thing that is wrong with a ledger's file by itself; "" where nothing is.

    Raises sqlite3.DatabaseError, LedgerError where it cannot even be opened.
    """
    with closing(connect(path, read_only=True)) as connection:
        of_file = () if is_remote(path) else _file_faults(connection)
        return next(chain(of_file, _row_faults(connection)), "")


def difference(path: Path, copy: Path) -> str:
    """What of an earlier copy is not in the ledger, as it was; "" where all of it is. Raises likewise."""
    with closing(connect(path, read_only=True)) as connection:
        connection.execute("ATTACH ? AS copy", (f"{copy.absolute().as_uri()}?mode=ro&immutable=1",))
        return next(_differences(connection), "")


def _file_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What a database of a server's sees for itself."""
    if _structure(connection) != _made_structure():
        yield "its tables are not those that a ledger is made with"
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        yield verdict.replace("\n", " ")
    if (row := connection.execute("PRAGMA foreign_key_check").fetchone()) is not None:
        yield f"a row of {row[0]} belongs to a row of {row[2]} that is missing"
    for table, columns in JSON.items():
        for column in columns:
            where = f"{column} <> '' AND NOT json_valid({column})"
            if (row := connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()) != (0,):
                yield f"{table}.{column}: no JSON in {row[0]} of its rows"


def _row_faults(connection: Connection) -> Iterator[str]:
    if (row := connection.execute(queries.MISCOUNTED).fetchone()) is not None:
        yield f"{abs(row[1]):,} {row[0]} {'more' if row[1] > 0 else 'fewer'} were counted than there are"
    if connection.execute(queries.RECORD).fetchone() is None:
        yield "the run's record is not in it"


TABLES = """
SELECT t.name, t.strict, t.wr, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk
FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND t.name <> 'sqlite_schema'
"""
INDEXES = """
SELECT m.name, l."unique", l.origin, l.partial, x.seqno, x.name, x."desc", x.coll, x.key
FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x WHERE m.type = 'table'
"""
REFERENCES = "SELECT m.name, f.* FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
WRITTEN = "SELECT type, name, sql FROM sqlite_master"
CHECKED = re.compile(r"CHECK\s*(\((?:[^()]|\([^()]*\))*\))")


def _structure(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    """What tables, keys and conditions there are, in whatever words they were declared: earlier versions had others.
    Without the table of versions, which Alembic makes or `tables`, and those of a run that workers work on."""
    asked = (row for sql in (TABLES, INDEXES, REFERENCES) for row in connection.execute(sql))
    written = connection.execute(WRITTEN).fetchall()
    checks = ((name, "".join(check.split())) for _, name, sql in written for check in CHECKED.findall(sql or ""))
    return {row for row in (*asked, *checks) if row[0] not in (VERSION_TABLE, *queries.WORKER_TABLES)}


@lru_cache(maxsize=1)
def _made_structure() -> set[tuple[object, ...]]:
    from enquete.ledger.tables import statements  # noqa: PLC0415 - who only reads needs no SQLAlchemy

    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements("sqlite"):
            connection.execute(statement)
        return _structure(connection)


def _differences(connection: sqlite3.Connection) -> Iterator[str]:
    """From the copy: settled rows that are gone or changed, and any row at all where nothing was written since."""
    for table, settled in SETTLED.items():
        if n := _unlike(connection, table, "copy", "main", settled):
            yield f"{table}: {n:,} rows that its backup copy has are missing or changed"
    of_copy = counted(lambda sql, values: connection.execute(sql.replace("meta", "copy.meta"), values))
    if counted(connection.execute) != of_copy:
        return
    for table in (*SETTLED, *CHANGING):
        if n := _unlike(connection, table, "main", "copy") or _unlike(connection, table, "copy", "main"):
            yield f"{table}: {n:,} rows are not as they were written"


def _unlike(connection: sqlite3.Connection, table: str, rows: str, among: str, where: str = "1") -> int:
    """How many rows of a table are not in the other, as they are."""
    columns = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
    keys = [name for _, name, _, _, _, key in columns if key]
    same = " AND ".join(f"b.{name} IS a.{name}" for name in [*keys, *(c[1] for c in columns if not c[5])])
    sql = (
        f"SELECT count(*) FROM {rows}.{table} a WHERE ({where}) AND NOT EXISTS (SELECT 1 FROM {among}.{table} b WHERE "
        f"{same})"
    )
    return int(connection.execute(sql).fetchone()[0])


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
    _put_copy(path, path.stat().st_size, source.backup, whole_copy(path))


def copy_of_store(path: Path) -> bool:
    """A ledger that is in a store, as a file in the run's folder; False for one too large for that, of which whoever
    runs the database keeps copies. Raises as `make_copy`."""
    with closing(connect(path, read_only=True)) as source:
        size = source.execute(queries.SIZE_IN_STORE).fetchone()[0]
        if size > LARGEST_COPY:
            return False
        _put_copy(path, size, lambda target: _fill(target, "sqlite", source), None)
    return True


def _fill(target: Connection | sqlite3.Connection, dialect: str, source: ReadableConnection) -> None:
    from enquete.ledger.tables import METADATA, statements  # noqa: PLC0415 - who only reads needs no SQLAlchemy

    for statement in statements(dialect):
        target.execute(statement)
    for table in METADATA.sorted_tables:
        copy_rows(target, table.name, source.stream(f"SELECT {names_of(table.name)} FROM {table.name}"))


def _put_copy(path: Path, size: int, fill: Callable[[sqlite3.Connection], None], older: Path | None) -> None:
    needed = size + 2 * SIZE
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(f"{needed / 1e6:.0f} MB free would be needed")
    draft = path.with_name(f"{path.name}.backup.tmp")
    try:
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as target:
            target.execute("PRAGMA synchronous=OFF")  # it is flushed as a whole below
            fill(target)
            target.commit()
        if wrong := fault(draft) or (difference(draft, older) if older else ""):
            raise damaged(path, LookupError(wrong))
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        made = path.with_name(name_of(path, draft))
        draft.replace(made)
        for copy in copies(path):
            if copy != made:
                copy.unlink()
    finally:
        draft.unlink(missing_ok=True)


@dataclass(frozen=True)
class Restored:
    """What became of a damaged ledger. at: when the copy in its place was made, "" where nothing was wrong; kept: where
    it is now, None where it was missing; again: calls settled since, which are asked again, None where the damaged file
    does not say; writes: to it since."""

    ledger: Path
    kept: Path | None = None
    at: str = ""
    settled: int = 0
    again: int | None = 0
    writes: int = 0

    def lines(self) -> list[str]:
        """For people: what was put in place, what is asked again, what to do next."""
        run, interviews = self.ledger.parent.name, self.ledger.absolute().parents[2]
        if not self.at:
            return [f"{self.ledger}: nothing is wrong with it, nothing was changed"]
        again = (
            f"its {self.settled:,} paid calls are not asked again; {self.again:,} settled since are"
            if self.again is not None
            else f"its {self.settled:,} paid calls are not asked again; those settled since are, the damaged file does "
            f"not say how many (it was written to {self.writes:,} times)"
        )
        return [
            f"{self.ledger}: its backup copy of {self.at} was put in place: {again}",
            *([f"the damaged file is kept as {self.kept.name}"] if self.kept else []),
            f"go on with it: {shlex.join(['enquete', 'resume', run, '--out', str(interviews)])}",
        ]


def restore(folder: Path) -> Restored:
    """Put the newest sound copy in place of a run's damaged ledger. Takes the run's lock.

    Raises RunLocked, DiskFull, NewerLedger, and LedgerError where there is no such copy; then nothing was changed.
    """
    path = folder / LEDGER
    with held(folder):
        if is_sound(folder):
            return Restored(path)
        copy = whole_copy(path)
        if copy is None:
            raise LedgerError(
                f"{path}: damaged, and there is no sound backup copy of it in {folder}; nothing was changed. Restore "
                "the ledger from a copy of your own, or start another run beside it with --new"
            )
        settled, in_damaged = settled_in(copy), settled_in(path)
        at = datetime.fromtimestamp(copy.stat().st_mtime, UTC).isoformat(timespec="seconds")
        writes = max(0, told_beside(folder) - writes_in(copy))
        if is_remote(path):
            kept_as = _restore_in_store(path, copy)
            return Restored(path, Path(kept_as), at, settled or 0, again_of(in_damaged, settled))
        draft = draft_of(path)
        try:
            shutil.copyfile(copy, draft)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise disk_fault(error, path) or error from error
        kept = set_aside(path) if path.exists() else None
        draft.replace(path)
        (folder / COUNTER).unlink(missing_ok=True)  # what was lost is said here
        if (folder / CHECKPOINTS).exists():
            set_aside(folder / CHECKPOINTS)
    return Restored(path, kept, at, settled or 0, again_of(in_damaged, settled), writes)


def again_of(in_damaged: int | None, settled: int | None) -> int | None:
    return None if in_damaged is None else max(0, in_damaged - (settled or 0))


def _restore_in_store(path: Path, copy: Path) -> str:
    """The name under which what was there is kept. All of it or nothing."""
    from enquete.ledger.postgres import PostgresConnection  # noqa: PLC0415 - an extra brings what it needs

    with (
        closing(PostgresConnection(store_of(path.parent), path.parent.name)) as target,
        closing(connect(copy, read_only=True)) as source,
    ):

        def write() -> str:
            kept = target.set_schema_aside()
            target.make_schema()
            _fill(target, target.dialect, source)
            target.renumber()
            return kept

        return target.transact(write)


def settled_in(path: Path) -> int | None:
    """Calls that were paid for, as far as a damaged file still says."""
    try:
        with explained(path), closing(connect(path, read_only=True)) as connection:
            return int(connection.execute(queries.SETTLED_CALLS).fetchone()[0])
    except LedgerError:
        return None
