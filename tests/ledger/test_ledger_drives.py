"""Network drives are recognised by the longest mount point; folders that cannot be written are refused beforehand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.ledger.connection import connect
from enquete.ledger.drives import drive_of, is_network, require_local, require_writable
from enquete.state.errors import SettingsError

MOUNTS = [
    ("/", "ext4", "rw,relatime"),
    ("/home", "nfs4", "rw,vers=4.2"),
    ("/home/ada/local", "xfs", "rw"),
    ("/media", "fuse.sshfs", "ro,nosuid"),
    ("/media", "ext4", "rw"),  # mounted over the one before, which is hidden
    ("/share", "cifs", "rw"),
]


@pytest.mark.parametrize(
    ("path", "mount", "remote"),
    [
        ("/srv/x", "/", False),
        ("/home/ada/runs", "/home", True),
        ("/homeless/x", "/", False),  # a prefix of letters is no parent
        ("/home/ada/local/x", "/home/ada/local", False),
        ("/media/stick", "/media", False),
        ("/share", "/share", True),
    ],
)
def test_the_longest_mount_point_that_contains_the_path_counts(path: str, mount: str, remote: bool) -> None:
    drive = drive_of(Path(path), MOUNTS)
    assert drive is not None
    assert (drive.mount, drive.remote) == (mount, remote)


def test_network_file_systems_and_local_ones() -> None:
    """Windows says remote among the options."""
    for kind in ("nfs", "NFS4", "cifs", "smb3", "fuse.sshfs", "9p", "fuse.rclone", "fuse.glusterfs"):
        assert is_network(kind), kind
    for kind in ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "NTFS", "fuseblk", "fuse.encfs"):
        assert not is_network(kind), kind
    drive = drive_of(Path("/z/x"), [("/z", "NTFS", "rw,remote")])
    assert drive is not None
    assert drive.remote


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "c"]), max_size=4), st.sets(st.sampled_from(["a", "a/b", "ab", "c/a"]))
)
def test_the_mount_point_is_always_a_parent_and_none_is_longer(parts: list[str], mounts: set[str]) -> None:
    path = Path("/", *parts)
    drive = drive_of(path, [("/", "ext4", ""), *((f"/{mount}", "nfs", "") for mount in mounts)])
    assert drive is not None
    assert path.is_relative_to(drive.mount)
    parents = [mount for mount in mounts if path.is_relative_to(f"/{mount}")]
    assert all(len(mount) < len(drive.mount) for mount in parents)


def test_a_folder_is_writable_if_it_can_be_made_and_a_network_drive_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nfs4, mounted at /home\).*out=DIR.*ENQUETE_ALLOW_NETWORK_DRIVE=1"):
        require_local(Path("/home/ada/runs"), allow=False, mounts=MOUNTS)
    assert not require_local(Path("/home/ada/runs"), allow=True, mounts=MOUNTS)
    assert require_local(Path("/srv"), allow=False, mounts=MOUNTS)
    drive = drive_of(tmp_path / "not" / "yet")
    assert drive is not None
    assert tmp_path.is_relative_to(drive.mount)
    require_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"results cannot be written there \(Not a directory\).*out=DIR"):
        require_writable(tmp_path / "file" / "out")


def test_a_rollback_journal_as_on_a_network_drive_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Without -wal such a file must not be taken for one that nobody writes."""
    path = tmp_path / "l.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("CREATE TABLE t(n)")
        with closing(connect(path, read_only=True)) as reader:
            writer.execute("INSERT INTO t VALUES(1)")
            assert reader.execute("SELECT n FROM t").fetchall() == [(1,)]
            assert [p.name for p in tmp_path.iterdir()] == ["l.sqlite"]
