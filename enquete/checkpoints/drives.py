"""What kind of drive a folder is on, and whether a run can be kept there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from enquete.state.errors import SettingsError
from enquete.state.settings import Environment

NETWORK = frozenset({
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb", "smb2", "smb3", "smbfs", "sshfs", "vboxsf", "vmhgfs", "webdav",
})  # fmt: skip
"""File systems shared between machines, or by a host with its guests: their shared memory and locks are not one machine's.
As "fuse.…" too."""

FUSE = frozenset({
    "blobfuse", "blobfuse2", "davfs2", "gcsfuse", "goofys", "grpcfuse", "mfs", "mountpoint-s3", "rclone", "s3fs", "smbnetfs",
})  # fmt: skip
"""Remote stores behind FUSE."""


@dataclass(frozen=True)
class Drive:
    """Where a path is mounted. `remote`: WAL's shared memory does not work there, and two machines may write at once."""

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
    found = None
    for mount, kind, options in mounts:
        longer = found is None or len(mount) >= len(found.mount)  # of two on one point the later one hides the earlier
        if longer and Path(place).is_relative_to(os.path.normcase(mount)):
            flags = options.split(",")
            found = Drive(mount, kind, is_network(kind) or "remote" in flags, "ro" in flags)
    return found


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
        f"{path} is on a network drive ({drive.type}, mounted at {drive.mount}), where the ledger's write-ahead log can be "
        "corrupted. Name a folder on a local disk with out=DIR, or set ENQUETE_ALLOW_NETWORK_DRIVE=1 to use a slower "
        "journal there; then only one machine may use the folder at a time"
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
        why = (
            f"its drive {drive.mount} is mounted read-only"
            if drive and drive.read_only
            else error.strerror or str(error)
        )
        raise SettingsError(f"{folder}: results cannot be written there ({why}). {advice}") from error
