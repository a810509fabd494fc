"""The disk that a run is on: what kind of drive, its reserve, and the lock under which runs start.

Where a run's ledger is: in the run's folder, or in a PostgreSQL database whose address stands there instead.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shlex
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from enquete.state.errors import Busy, LedgerError, SettingsError
from enquete.state.request import masked
from enquete.state.settings import Environment
from enquete.state.untrusted_input import read_regular

LEDGER = "ledger.sqlite"
STORE = "store"
"""In a run's folder: the address, without a password."""
LONGEST = 4096


def store_of(folder: Path) -> str:
    """The address in a run's folder, "" where its ledger is a file there. Raises SettingsError for one that is none."""
    try:
        return masked(read_regular(folder / STORE, LONGEST).decode().strip())
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise SettingsError(f"{folder / STORE}: holds no address of a store ({error})") from error


def keep_in(folder: Path, url: str) -> None:
    """The ledger of the run in this new folder is to be made in this store."""
    (folder / STORE).write_text(f"{masked(url)}\n", encoding="utf-8")


def has_ledger(folder: Path) -> bool:
    """Whether the folder is a run's. Asks no database."""
    return (folder / LEDGER).is_file() or (folder / STORE).is_file()


def is_remote(path: Path) -> bool:
    """Whether the ledger that would be at `path` is in a store."""
    return path.name == LEDGER and path.with_name(STORE).is_file()


# --- What kind of drive a folder is on, and whether a run can be kept there.

NETWORK = frozenset({
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb", "smb2", "smb3", "smbfs", "sshfs", "vboxsf",
    "vmhgfs", "webdav",
})  # fmt: skip
"""File systems shared between machines, or host and guests: memory and locks are not one machine's. Also "fuse.…"."""

FUSE = frozenset({
    "blobfuse", "blobfuse2", "davfs2", "gcsfuse", "goofys", "grpcfuse", "mfs", "mountpoint-s3", "rclone", "s3fs",
    "smbnetfs",
})  # fmt: skip
"""Remote stores behind FUSE."""


@dataclass(frozen=True)
class Drive:
    """Where a path is mounted. `remote`: WAL's shared memory fails there, and two machines may write at once."""

    mount: str
    type: str
    remote: bool
    read_only: bool


def drive_of(path: Path, mounts: Iterable[tuple[str, str, str]] | None = None) -> Drive | None:
    """The drive that holds `path`, which need not exist yet; None where the system does not say.

    mounts: (mount point, file system type, options), in the order mounted; those of this machine unless given.
    """
    if mounts is None:
        mounts = [(part.mountpoint, part.fstype, part.opts) for part in psutil.disk_partitions(all=True)]
    place = os.path.normcase(path.expanduser().resolve())
    if place.startswith("\\\\"):  # \\server\share is mounted nowhere
        return Drive(str(path.anchor), "UNC path", remote=True, read_only=False)
    drive = None
    for mount, kind, options in mounts:
        longer = drive is None or len(mount) >= len(drive.mount)  # of two on one point the later one hides the earlier
        if longer and Path(place).is_relative_to(os.path.normcase(mount)):
            flags = options.split(",")
            drive = Drive(mount, kind, is_network(kind) or "remote" in flags, "ro" in flags)
    return drive


def is_network(kind: str) -> bool:
    name = kind.lower()
    return name in NETWORK or (name.startswith("fuse.") and name.removeprefix("fuse.") in NETWORK | FUSE)


def require_local(
    path: Path, *, allow: bool | None = None, mounts: Iterable[tuple[str, str, str]] | None = None
) -> bool:
    """Whether `path` is on a local drive; False on a network drive that is allowed (by the environment, unless said).

    Raises SettingsError where it is not: SQLite's write-ahead log is corrupted there.
    """
    drive = drive_of(path, mounts)
    if drive is None or not drive.remote:
        return True
    if Environment.read().allow_network_drive if allow is None else allow:
        return False
    raise SettingsError(
        f"{path} is on a network drive ({drive.type}, mounted at {drive.mount}), where the ledger's write-ahead log "
        "can be corrupted. Name a folder on a local disk with out=DIR, or set ENQUETE_ALLOW_NETWORK_DRIVE=1 to use a "
        "slower journal there; then only one machine may use the folder at a time"
    )


ELSEWHERE = "Name a folder that can be written to with out=DIR"


def require_writable(folder: Path, advice: str = ELSEWHERE) -> None:
    """Raises SettingsError unless files can be made in `folder` (or, before it exists, where it would be made)."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    probe = place / f".enquete-{secrets.token_hex(4)}.tmp"
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        drive = drive_of(place)
        why = error.strerror or str(error)
        if drive and drive.read_only:
            why = f"its drive {drive.mount} is mounted read-only"
        raise SettingsError(f"{folder}: results cannot be written there ({why}). {advice}") from error


# --- A disk reserve: room on the disk that is held back while a run is driven, so that what was paid for can still be
# stored. A full disk is noticed by a write that fails, and by then answers are under way. The reserve is given back
# at that moment: calls in flight settle in its place, and nothing new is begun. Measured by: no paid answer is lost
# on a disk that fills up while up to 256 calls are in flight.

RESERVE = "reserve"
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
        self.path = folder / RESERVE
        self.size = size
        self.notice = ""
        self.on_full: Callable[[str], None] | None = None
        self._told = False

    @contextmanager
    def held(self) -> Iterator[DiskReserve]:
        """Hold it while a run is driven. Raises DiskFull where there is no room: nothing has been asked yet."""
        if not self.fill():
            fact = (
                f"{self.path.parent}: {free_text(self.path.parent)}, and a run needs {2 * self.size / 1e6:.0f} MB to "
                "store what it pays for; nothing was asked. Free space there"
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
            f"{DISK_FULL}: {folder} has {free_text(folder)}{f' ({why})' if why else ''}. What was under way is being "
            f"stored, nothing new is asked. Free space there, then: {resume_command(folder)}"
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


# --- Who looks which run there is and then begins one does so alone, among tasks, threads and processes: two that
# decide from the same state would begin two runs, and pay for both.

START_LOCK = "start.lock"
"""In a folder of results: held while a run is being begun there."""
LONGEST_S = 300.0
"""Beginning may ask a model whether the questions fit, and wait for it."""
LOOKED_S = 0.02


@asynccontextmanager
async def alone(file: Path, *, longest_s: float = LONGEST_S) -> AsyncIterator[None]:
    """Within, nobody else is within who names the same file, in this process or another; who comes waits without
    blocking the loop. The system frees it when a process dies.

    Raises SettingsError where nothing can be kept beside the file, Busy after `longest_s`, DiskFull.
    """
    require_local(file.parent)
    require_writable(file.parent)
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    try:
        async with asyncio.timeout(longest_s):
            while not _acquired(lock):  # noqa: ASYNC110 - no event reaches another process
                await asyncio.sleep(LOOKED_S)
    except TimeoutError:
        raise Busy(
            f"{file.parent.name}: another request has been beginning something there for {longest_s:g} s, and has not "
            "come to an end; ask again later"
        ) from None
    except OSError as error:
        raise disk_fault(error, file) or error from error
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: FileLock) -> bool:
    with suppress(Timeout):
        lock.acquire(blocking=False)
        return True
    return False
