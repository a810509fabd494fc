"""A disk reserve: room on the disk that is held back while a run is driven, so that what was paid for can still be stored.

A full disk is noticed by a write that fails, and by then answers are under way. The reserve is given back at that
moment: calls in flight settle in its place, and nothing new is begun. Measured by: no paid answer is lost on a disk
that fills up while up to 256 calls are in flight.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from enquete.state.errors import LedgerError

NAME = "reserve"
SIZE = 8_000_000
"""Bytes. 256 answers of 8 kB take 3 to 5 MB of write-ahead log, whose pages are written whole."""

DISK_FULL = "disk full"
"""How the reason begins for which a run with a full disk stops."""

SQLITE_IOERR, SQLITE_FULL = 10, 13
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DiskFull(LedgerError):
    """There is no room for what was to be written."""


def is_full(error: BaseException) -> bool:
    """No room: ENOSPC, a quota, a limit on the size of files. SQLite reports some of these as a plain I/O error."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in (SQLITE_IOERR, SQLITE_FULL)
    return isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in FULL)


def free_text(folder: Path) -> str:
    """What is free at this moment, for messages."""
    try:
        return f"{shutil.disk_usage(folder).free / 1e6:.1f} MB free"
    except OSError as error:
        return f"free space unknown ({error.strerror})"


def resume_command(folder: Path) -> str:
    """How to go on with the run in this folder (…/runs/{run_id}): its results may lie anywhere."""
    return shlex.join(["enquete", "resume", folder.name, "--out", str(folder.parent.parent)])


class DiskReserve:
    """The reserve of one run's folder, shared by whoever writes there. `notice`: why it was given back, "" before."""

    def __init__(self, folder: Path, size: int = SIZE):
        self.path = folder / NAME
        self.size = size
        self.notice = ""
        self.on_full: Callable[[str], None] | None = None
        self._told = False

    @contextmanager
    def held(self) -> Iterator[DiskReserve]:
        """Hold it while a run is driven. Raises DiskFull where there is no room: nothing has been asked yet."""
        if not self.fill():
            fact = (
                f"{self.path.parent}: {free_text(self.path.parent)}, and a run needs {2 * self.size / 1e6:.0f} MB to store "
                "what it pays for; nothing was asked. Free space there"
            )
            raise DiskFull(f"{fact}, then: {resume_command(self.path.parent)}", fact=fact)
        try:
            yield self
        finally:
            with suppress(OSError):  # a folder that has become read-only keeps it; the next run takes it over
                self.path.unlink(missing_ok=True)

    def fill(self) -> bool:
        """Make it if as much again stays free, else leave it; False where there is none."""
        try:
            if self.path.is_file() and self.path.stat().st_size == self.size:
                return True
            self.path.unlink(missing_ok=True)  # a part of one: the process that made it was killed
            if shutil.disk_usage(self.path.parent).free < 2 * self.size:
                return False
            self._write()
        except OSError:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            return False
        return True

    def _write(self) -> None:
        """Really allocated: a sparse or compressible file would hold no room back."""
        with self.path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, self.size)
            else:
                file.write(os.urandom(self.size))
            file.flush()

    def release(self, why: str = "") -> bool:
        """Give the room back; False where there was none (any more). From any thread: unlinking succeeds once.

        why: the error that asked for it, for the notice (a failing disk says "disk I/O error").
        """
        folder = self.path.parent
        self.notice = self.notice or (
            f"{DISK_FULL}: {folder} has {free_text(folder)}{f' ({why})' if why else ''}. What was under way is being stored, "
            f"nothing new is asked. Free space there, then: {resume_command(folder)}"
        )
        try:
            self.path.unlink()
        except OSError:
            return False
        return True

    def tell(self) -> None:
        """Say it once, in the event loop, to whoever stops the run."""
        if self.notice and not self._told:
            self._told = True
            if self.on_full is not None:
                self.on_full(self.notice)


def disk_fault(error: BaseException, path: Path) -> LedgerError | None:
    """A full or read-only disk as an error that says what to do; None for anything else."""
    if is_full(error):
        folder = path if path.is_dir() else path.parent
        return DiskFull(f"{path}: {DISK_FULL} ({free_text(folder)}). Free space there and run the command again")
    if isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return LedgerError(f"{path}: cannot be written ({error.strerror}). Name a folder for the results with out=DIR")
    return None
