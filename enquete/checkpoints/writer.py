"""Group commit: many small writes, one transaction.

Writes wait at most LINGER_S or for GROUP_SIZE of them, then go to the file in one BEGIN IMMEDIATE transaction on the
writer's own thread (a deferred transaction that reads before it writes fails "locked" at once, whatever the time-out).
Loss window: with WAL and synchronous=NORMAL a killed process loses only what was not yet committed, at most one group;
a power cut may lose the last commits, never the file. When the disk is full the ballast makes room for what was paid
for already, and writes that only begin something are refused from then on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from enquete.checkpoints.ballast import DISK_FULL, DiskFull, is_full
from enquete.checkpoints.connection import damaged, is_damage
from enquete.checkpoints.tally import Tally
from enquete.state.errors import LedgerError

LINGER_S = 0.005
GROUP_SIZE = 64

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]
Result = tuple[Any, Exception | None]


class Room(Protocol):
    """What makes room on a full disk; `ballast.Ballast` is one."""

    @property
    def notice(self) -> str:
        """Why room had to be made; "" before."""
        ...

    def release(self, why: str = "") -> bool:
        """Make room; False where there is no more to be had. Called on the writer's thread with the error's text."""
        ...

    def tell(self) -> None:
        """Pass the notice on, once. Called in the event loop, before any waiter learns of it."""
        ...


class Queued(NamedTuple, Generic[T]):
    """A write that waits for its group."""

    write: Write[T]
    done: asyncio.Future[T]
    what: str
    begins: bool


class GroupWriter:
    """Serialises writes to one SQLite connection. Each `submit` is atomic and fails alone."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        name: str = "the run's ledger",
        room: Room | None = None,
        tally: Tally | None = None,
    ):
        """`name`: the file, for error messages. `room`: where to find some when the disk is full. `tally`: counts writes."""
        self._connection = connection
        self._name = name
        self.room = room
        self._tally = tally
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="enquete-ledger")
        self._waiting: list[Queued[Any]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Future[None]] = set()
        self.commits = 0

    def submit(self, write: Write[T], what: str = "", *, begins: bool = False) -> asyncio.Future[T]:
        """Queue a write; the future ends when it is committed, with the write's result or error.

        what: names what is lost if it cannot be stored. begins: it only begins something that may cost money, so on a
        full disk it is refused with DiskFull and leaves the room to what is under way.
        """
        if self._closed:
            raise RuntimeError(f"{self._name}: written to after it was closed")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.append(Queued(write, done, what, begins))
        if len(self._waiting) >= GROUP_SIZE:
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(LINGER_S, self._flush)
        return done

    async def drain(self) -> None:
        """Wait until everything submitted so far is on disk."""
        self._flush()
        while self._flushes:
            # Not gather: were the caller cancelled, it would cancel the commits, and their waiters would never end.
            await asyncio.wait(self._flushes)

    async def close(self) -> None:
        self._closed = True
        await self.drain()
        self._thread.shutdown(wait=True)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        group, self._waiting = self._waiting, []
        flush = asyncio.ensure_future(self._commit(group))
        self._flushes.add(flush)
        flush.add_done_callback(self._flushes.discard)

    async def _commit(self, group: list[Queued[Any]]) -> None:
        loop = asyncio.get_running_loop()
        outcomes = await loop.run_in_executor(self._thread, self._write_group, group)
        if self.room is not None and self.room.notice:
            self.room.tell()
        for queued, (value, error) in zip(group, outcomes, strict=True):
            if queued.done.done():  # its waiter was cancelled; the write is on disk all the same
                continue
            if error is None:
                queued.done.set_result(value)
            else:
                queued.done.set_exception(error)

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
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:  # no write's fault: trying each alone would wait for the lock once more each
            if self._makes_room(error):
                return self._write_group(group)
            return [(None, self._as_ledger_error(error, queued)) for queued in group]
        try:
            return [(value, None) for value in self._transaction(group)]
        except Exception as error:
            if self._makes_room(error):
                return self._write_group(group)
            if len(group) == 1:
                return [(None, self._as_ledger_error(error, group[0]))]
            # One bad write must not take the others with it: each once more on its own.
            return [self._write_group([queued])[0] for queued in group]

    def _transaction(self, group: list[Queued[Any]]) -> list[Any]:
        try:
            values = [queued.write(self._connection) for queued in group]
            written = self._tally.add(self._connection, len(group)) if self._tally else 0
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self.commits += 1
        if self._tally:
            self._tally.tell(written)
        return values

    def _makes_room(self, error: Exception) -> bool:
        """The room is found once; from then on the log is written back early, so that it grows no further."""
        if self.room is None or not is_full(error) or not self.room.release(str(error)):
            return False
        self._connection.execute("PRAGMA wal_autocheckpoint=64")
        return True

    def _refusal(self) -> DiskFull:
        return DiskFull(self.room.notice if self.room is not None else DISK_FULL)

    def _as_ledger_error(self, error: Exception, queued: Queued[Any]) -> Exception:
        """SQLite's own complaints about the file become LedgerError; a broken constraint is a bug and stays one."""
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(
            error, sqlite3.IntegrityError | sqlite3.ProgrammingError
        ):
            return error
        if is_damage(error):
            return damaged(Path(self._name), error)
        text = f"{self._name} could not be written: {error}"
        if not is_full(error):
            return LedgerError(text)
        return DiskFull(f"{text}. Lost: {queued.what}" if queued.what else text)
