"""A backup copy of a run's ledger, made while the run is driven, and put in place of a ledger that is damaged.

One copy is kept, made by SQLite's backup interface under a name of its own and renamed: a kill in the middle leaves the
older one. The log is written back to the ledger only when it is copied, so that what stands in the ledger's file stands
in the copy too, and what is younger has the log's checksums.
Measured by: a copy never takes the place of a sound one while the ledger is damaged; copies take a hundredth of a run's time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from enquete.checkpoints import write_counter
from enquete.checkpoints.connection import connect, damaged, explained
from enquete.checkpoints.disk_reserve import SIZE, disk_fault
from enquete.checkpoints.folders import CHECKPOINTS, LEDGER, draft_of, held, set_aside
from enquete.checkpoints.integrity import copies, difference, fault, is_sound, name_of, whole_copy, writes_in
from enquete.checkpoints.ledger import Ledger
from enquete.state.errors import LedgerError

SHARE = 0.01
"""Of a run's time that copies at barriers may take."""
FIRST_S = 0.05
"""What the first of them is taken to need."""
EVERY_S = 600.0
LONG_LOG = 16_000_000
"""Bytes of a write-ahead log, or as many as the ledger has where those are more: at that length the ledger is copied if copies
have time for it, at the fourfold the log is only written back."""
LOOKED_S = 1.0

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
        """Make one, unless nothing was written since the last. Raises LedgerError where the ledger is damaged: the older copy
        stays."""
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
        await asyncio.to_thread(self._ledger.write_back)
        writes = self._ledger.writes
        with closing(self._ledger.snapshot()) as snapshot:
            await asyncio.to_thread(make_copy, snapshot, self._ledger.path)
        self._copied = writes
        self.made += 1

    async def watch(self, stop: Callable[[str], None]) -> None:
        """Copy every ten minutes, and where the log grows long, until cancelled. stop: told why nothing more should be asked."""
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
    """Copies while the ledger is driven, and a last one when it is let go. Raises LedgerError where it is damaged by then."""
    made = BackupCopies(ledger)
    ledger.keep_log()
    if not copies(ledger.path):  # of what the run is and whom it asks
        await made.copy()
    watching = asyncio.create_task(made.watch(stop))
    try:
        yield made
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        if has_room():
            await ledger.drain()
            await made.copy()


def make_copy(source: sqlite3.Connection, path: Path) -> None:
    """Of the ledger at `path`, as `source` reads it. Raises LedgerError where that is damaged, OSError where there is no room
    beside what the run itself may need."""
    needed = path.stat().st_size + 2 * SIZE
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(f"{needed / 1e6:.0f} MB free would be needed")
    draft = path.with_name(f"{path.name}.backup.tmp")
    try:
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as target:
            target.execute("PRAGMA synchronous=OFF")  # it is flushed as a whole below
            source.backup(target)
        older = whole_copy(path)
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
    """What became of a damaged ledger. at: when the copy in its place was made, "" where nothing was wrong; kept: where it is
    now, None where it was missing; again: calls settled since, which are asked again, None where the damaged file
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
            else f"its {self.settled:,} paid calls are not asked again; those settled since are, the damaged file does not say "
            f"how many (it was written to {self.writes:,} times)"
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
                f"{path}: damaged, and there is no sound backup copy of it in {folder}; nothing was changed. Restore the ledger "
                "from a copy of your own, or start another run beside it with --new"
            )
        settled, found = settled_in(copy), settled_in(path)
        at = datetime.fromtimestamp(copy.stat().st_mtime, UTC).isoformat(timespec="seconds")
        writes = max(0, write_counter.told_beside(folder) - writes_in(copy))
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
        (folder / write_counter.NAME).unlink(missing_ok=True)  # what was lost is said here
        if (folder / CHECKPOINTS).exists():
            set_aside(folder / CHECKPOINTS)
    again = None if found is None else max(0, found - (settled or 0))
    return Restored(path, kept, at, settled or 0, again, writes)


def settled_in(path: Path) -> int | None:
    """Calls that were paid for, as far as a damaged file still says."""
    try:
        with explained(path), closing(connect(path, read_only=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM calls WHERE status='settled'").fetchone()[0])
    except LedgerError:
        return None
