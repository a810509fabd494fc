"""The one writer of a ledger, and the counter by which lost writes are found."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from enquete.ledger import queries
from enquete.ledger.checksums import seal_note
from enquete.ledger.connection import Connection, WriteConnection, is_damage, is_locked
from enquete.ledger.drives import DISK_FULL, DiskFull, is_full
from enquete.ledger.integrity import StoreUnreachable, damaged
from enquete.state.errors import LedgerError
from enquete.state.untrusted_input import read_regular, require_regular

# --- A count of a ledger's writes, kept in it, beside it, and with every checkpoint. Without its write-ahead log a
# ledger is whole, as it was some hundreds of writes ago: nothing in it can tell that answers were lost with the log.
# A file that is written after each commit can. So can checkpoints, and must: a position from after the lost writes
# leads past what they held. It costs one row and 20 bytes a commit.

COUNTER = "writes"  # the file beside the ledger, and the key in its table of remarks
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
            self._file = os.open(
                ledger.with_name(COUNTER), os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o644
            )

    def add(self, connection: Connection, writes: int) -> int:
        """Within the transaction; how many there are now."""
        row = connection.execute(queries.ADD_NOTED_RETURNING, seal_note(COUNTER, str(writes))).fetchone()
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
                self._ledger.with_name(COUNTER).unlink(missing_ok=True)


def counted(query: Callable[..., Any]) -> int:
    """Writes, as the ledger itself has them."""
    row = query(queries.NOTED, (COUNTER,)).fetchone()
    return int(row[0]) if row else 0


def told_beside(folder: Path) -> int:
    """Writes by the file. Read it before the ledger, which a driver may be writing to. 0 where there is none."""
    try:
        return int(read_regular(folder / COUNTER, LENGTH))
    except (OSError, ValueError):
        return 0


def told_by_checkpoints(path: Path) -> int:
    """Writes by the checkpoints in this file; likewise. More than any ledger has where positions stand without a count,
    0 where there are none or damaged ones. Raises sqlite3.DatabaseError where they cannot be read just now."""
    try:
        require_regular(path)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if "checkpoints" not in tables or not connection.execute("SELECT 1 FROM checkpoints LIMIT 1").fetchone():
                return 0
            if "write_counter" not in tables:
                return sys.maxsize
            row = connection.execute("SELECT value FROM write_counter").fetchone()
            return row[0] if row and isinstance(row[0], int) else sys.maxsize
    except (OSError, UnicodeDecodeError):
        return 0
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return 0  # the saver sets it aside


def missing(beside: int, query: Callable[..., Any]) -> tuple[int, int]:
    """Writes that are gone from the ledger and not yet noted there, and those that are."""
    lost = query(queries.NOTED, (LOST,)).fetchone()
    return max(0, beside - counted(query)), int(lost[0]) if lost else 0


def lost_text(fresh: int, noted: int) -> str:
    """What to say of them; "" where there are none."""
    if fresh:
        return (
            f"the last {fresh:,} writes to this run's ledger are missing, answers among them: its write-ahead log "
            "(ledger.sqlite-wal) was deleted, or not copied along. What they held is asked for again by the next resume"
        )
    return f"{noted:,} writes to this run's ledger had been lost with its write-ahead log" if noted else ""


# --- Group commit: many small writes, one transaction. What one turn of the event loop brings goes to the file in the
# next, in one BEGIN IMMEDIATE transaction (a deferred one that reads before it writes fails "locked" at once,
# whatever the time-out), and in the loop's own thread: nothing is flushed to the disk, so it takes a fraction of a
# millisecond, while a thread would wait for a busy loop before each of its statements. Of writes that begin a call a
# transaction takes only a few. On a machine that is too slow for its calls these queue here, where they cost nothing,
# and not as replies that were paid for and are not stored. Loss window: with WAL and synchronous=NORMAL a killed
# process loses only what was not yet committed, at most one group; a power cut may lose the last commits, never the
# file. When the disk is full the reserve makes room for what was paid for already, and writes that only begin
# something are refused from then on.

BEGUN_AT_ONCE, BEGUN_AT_ONCE_REMOTE = 4, 64
"""Replies come so few at a time, too, and a turn of the loop stays as short as reading and sending those takes."""
REMOTE_S = 0.01
"""How long a group gathers whose database is another process: it takes some round trips, in a thread."""
LOCK_WAIT_S = 0.02
"""For another process that writes to the file: so long in one turn of the loop, again and again for `patience_s`."""

T = TypeVar("T")
Write = Callable[[Any], T]
"""Called with the ledger's writing connection."""
Batch = Callable[[WriteConnection, Sequence[Any]], None]
"""Writes of one kind, all that a group holds of it."""
Result = tuple[Any, Exception | None]


class FolderGone(LedgerError):
    """The run's folder was deleted or moved while the run was driven."""


class FolderWatch:
    """The file by which a run's folder is known: the ledger, or the address of the store that has it.

    A deleted file that is still open can be written to, and everybody would be asked for nothing.
    """

    def __init__(self, file: Path):
        self._file = file
        self._known = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def require_there(self) -> None:
        """Raise FolderGone where it is not there any more, or another is in its place."""
        if self._identity() != self._known:
            raise FolderGone(
                f"{self._file.parent}: the run's folder was deleted or moved while the run went on: nothing more is "
                "asked. Put it back and resume the run, or begin another one with --new"
            )


class Room(Protocol):
    """What makes room on a full disk; `disk_reserve.DiskReserve` is one."""

    @property
    def notice(self) -> str:
        """Why room had to be made; "" before."""

    def release(self, why: str = "") -> bool:
        """Make room; False where there is no more to be had. Called with the error's text."""

    def tell(self) -> None:
        """Pass the notice on, once. Called in the event loop, before any waiter learns of it."""


class Queued(NamedTuple, Generic[T]):
    """A write that waits for its group: a function of its own, or a value among others of a batch."""

    write: Write[T] | None
    batch: Batch | None
    value: Any
    done: asyncio.Future[T]
    what: str
    begins: bool


class GroupWriter:
    """Serialises writes to one connection. Each `submit` is atomic and fails alone."""

    def __init__(
        self,
        connection: WriteConnection,
        name: str = "the run's ledger",
        room: Room | None = None,
        counter: WriteCounter | None = None,
        *,
        patience_s: float = 30.0,
    ):
        """`name`: the file, for messages. `room`: where to find some on a full disk. `counter`: counts writes."""
        self._connection = connection
        self._connection.wait_for_others(LOCK_WAIT_S)
        self._name = name
        self.room = room
        self._counter = counter
        self._patience_s = patience_s
        self.guard: Callable[[WriteConnection], None] | None = None  # asked first in every transaction
        self.require_folder: Callable[[], None] | None = None  # asked before each
        self._locked_since: float | None = None
        self._closed = False
        self._waiting: list[Queued[Any]] = []
        self._beginning: list[Queued[Any]] = []
        self._due: asyncio.Handle | None = None
        self._thread = ThreadPoolExecutor(1, "ledger") if connection.remote else None
        self._begun_at_once = BEGUN_AT_ONCE_REMOTE if connection.remote else BEGUN_AT_ONCE
        self.commits = 0

    def submit(self, write: Write[T], what: str = "", *, begins: bool = False) -> asyncio.Future[T]:
        """Queue a write; the future ends when it is committed, with the write's result or error.

        what: names what is lost if it cannot be stored. begins: it only begins something that may cost money, so it
        comes after what was paid for, and on a full disk it is refused with DiskFull and leaves the room to what is
        under way.
        """
        return self._queue(write, None, None, what, begins)

    def add(self, batch: Batch, value: object, what: str = "", *, begins: bool = False) -> asyncio.Future[None]:
        """Queue a value that is written with all others of its batch; likewise."""
        return self._queue(None, batch, value, what, begins)

    def _queue(
        self, write: Write[T] | None, batch: Batch | None, value: object, what: str, begins: bool
    ) -> asyncio.Future[T]:
        if self._closed:
            raise RuntimeError(f"{self._name}: written to after it was closed")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        (self._beginning if begins else self._waiting).append(Queued(write, batch, value, done, what, begins))
        self._due = self._due or self._soon()
        return done

    def _soon(self) -> asyncio.Handle:
        loop = asyncio.get_running_loop()
        return loop.call_later(REMOTE_S, self._flush) if self._thread else loop.call_soon(self._flush)

    async def drain(self) -> None:
        """Wait until everything submitted so far is on disk."""
        # Many futures, and some of them cancelled.
        while self._due or self._waiting or self._beginning:  # noqa: ASYNC110
            await asyncio.sleep(LOCK_WAIT_S if self._locked_since or self._thread else 0)

    async def close(self) -> None:
        self._closed = True
        await self.drain()
        if self._thread is not None:
            self._thread.shutdown()
        await asyncio.sleep(0)  # the turn that brought a last result may hold its cursor, and keep the connection open

    def _flush(self) -> None:
        group = [*self._waiting, *self._beginning[: self._begun_at_once]]
        self._waiting = []
        del self._beginning[: self._begun_at_once]
        if self._thread is None:
            self._deliver(group, self._write_group(group))
            return
        written = asyncio.get_running_loop().run_in_executor(self._thread, self._write_group, group)
        written.add_done_callback(lambda outcomes: self._deliver(group, outcomes.result()))

    def _deliver(self, group: list[Queued[Any]], outcomes: list[Result]) -> None:
        self._due = None
        if self.room is not None and self.room.notice:
            self.room.tell()
        for queued, (value, error) in zip(group, outcomes, strict=True):
            if error is not None and self._may_pass(error):
                self._waiting.append(queued)
            elif queued.done.done():  # its waiter was cancelled; the write is on disk all the same
                continue
            elif error is None:
                queued.done.set_result(value)
            else:
                queued.done.set_exception(self._as_ledger_error(error, queued))
        if self._waiting or self._beginning:
            loop = asyncio.get_running_loop()
            locked = self._waiting and self._locked_since and not self._thread
            self._due = loop.call_later(LOCK_WAIT_S, self._flush) if locked else self._soon()

    def _may_pass(self, error: Exception) -> bool:
        """Another process is writing, and has not been for long."""
        if not is_locked(error):
            return False
        now = time.monotonic()
        self._locked_since = self._locked_since or now
        return now < self._locked_since + self._patience_s

    def _write_group(self, group: list[Queued[Any]]) -> list[Result]:
        refused = self.room is not None and bool(self.room.notice)
        wanted = [queued for queued in group if not (refused and queued.begins)]
        results = iter(self._attempt(wanted))
        return [(None, self._refusal()) if refused and queued.begins else next(results) for queued in group]

    def _attempt(self, group: list[Queued[Any]]) -> list[Result]:
        """Once as a group; once more where room could be made; then each write on its own."""
        if not group:
            return []
        try:
            return [(value, None) for value in self._transaction(group)]
        except Exception as error:
            if self._makes_room(error):
                return self._write_group(group)
            # No write's fault: each alone would wait for the lock or the database once more.
            if len(group) == 1 or is_locked(error) or isinstance(error, StoreUnreachable | FolderGone):
                return [(None, error)] * len(group)
            # One bad write must not take the others with it: each once more on its own.
            return [self._write_group([queued])[0] for queued in group]

    def _transaction(self, group: list[Queued[Any]]) -> list[Any]:
        if self.require_folder is not None:
            self.require_folder()
        values, written = self._connection.transact(lambda: self._written(group))
        self.commits += 1
        if self._counter:
            self._counter.tell(written)
        return values

    def _written(self, group: list[Queued[Any]]) -> tuple[list[Any], int]:
        self._locked_since = None
        if self.guard is not None:
            self.guard(self._connection)
        values = [queued.write and queued.write(self._connection) for queued in group]
        for batch in dict.fromkeys(queued.batch for queued in group):
            if batch is not None:
                batch(self._connection, [queued.value for queued in group if queued.batch is batch])
        return values, self._counter.add(self._connection, len(group)) if self._counter else 0

    def _makes_room(self, error: Exception) -> bool:
        """Room is found once, and is for the log: written back to the ledger, that would need as much again."""
        if self.room is None or not is_full(error) or not self.room.release(str(error)):
            return False
        self._connection.execute("PRAGMA wal_autocheckpoint=0")
        return True

    def _refusal(self) -> DiskFull:
        return DiskFull(self.room.notice if self.room is not None else DISK_FULL)

    def _as_ledger_error(self, error: Exception, queued: Queued[Any]) -> Exception:
        """SQLite's own complaints about the file become LedgerError; a broken constraint is a bug and stays one."""
        is_bug = isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError)
        if is_bug or not isinstance(error, sqlite3.DatabaseError):
            return error
        if is_damage(error):
            return damaged(Path(self._name), error)
        text = f"{self._name} could not be written: {error}"
        if not is_full(error):
            return LedgerError(text)
        return DiskFull(f"{text}. Lost: {queued.what}" if queued.what else text)
