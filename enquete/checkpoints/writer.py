"""Group commit: many small writes, one transaction.

Writes wait at most LINGER_S or for GROUP_SIZE of them, then go to the file in one BEGIN IMMEDIATE transaction on the
writer's own thread (a deferred transaction that reads before it writes fails "locked" at once, whatever the time-out).
Loss window: with WAL and synchronous=NORMAL a killed process loses only what was not yet committed, at most one group;
a power cut may lose the last commits, never the file.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from enquete.state.errors import LedgerError

LINGER_S = 0.005
GROUP_SIZE = 64

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]


class GroupWriter:
    """Serialises writes to one SQLite connection. Each `submit` is atomic and fails alone."""

    def __init__(self, connection: sqlite3.Connection, name: str = "the run's ledger"):
        """`name`: the file, for error messages."""
        self._connection = connection
        self._name = name
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="enquete-ledger")
        self._waiting: list[tuple[Write[Any], asyncio.Future[Any]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Future[None]] = set()
        self.commits = 0

    def submit(self, write: Write[T]) -> asyncio.Future[T]:
        """Queue a write; the future ends when it is committed, with the write's result or error."""
        if self._closed:
            raise RuntimeError(f"{self._name}: written to after it was closed")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.append((write, done))
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

    async def _commit(self, group: list[tuple[Write[Any], asyncio.Future[Any]]]) -> None:
        loop = asyncio.get_running_loop()
        outcomes = await loop.run_in_executor(self._thread, self._write_group, [write for write, _ in group])
        for (_, done), (value, error) in zip(group, outcomes, strict=True):
            if done.done():  # its waiter was cancelled; the write is on disk all the same
                continue
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)

    def _write_group(self, writes: list[Write[Any]]) -> list[tuple[Any, Exception | None]]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:  # no write's fault: trying each alone would wait for the lock once more each
            return [(None, self._as_ledger_error(error))] * len(writes)
        try:
            return [(value, None) for value in self._transaction(writes)]
        except Exception as error:
            if len(writes) == 1:
                return [(None, self._as_ledger_error(error))]
            # One bad write must not take the others with it: each once more on its own.
            return [self._write_group([write])[0] for write in writes]

    def _transaction(self, writes: list[Write[Any]]) -> list[Any]:
        try:
            values = [write(self._connection) for write in writes]
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self.commits += 1
        return values

    def _as_ledger_error(self, error: Exception) -> Exception:
        """SQLite's own complaints about the file become LedgerError; a broken constraint is a bug and stays one."""
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.IntegrityError | sqlite3.ProgrammingError
        ):
            return LedgerError(f"{self._name} could not be written: {error}")
        return error
