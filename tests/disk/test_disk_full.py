"""A disk that is full: what was paid for is stored, nothing new begins, and it is said what to do."""

from __future__ import annotations

import asyncio
import errno
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from enquete.ledger.connection import connect
from enquete.ledger.drives import RESERVE, SIZE, DiskFull, DiskReserve, disk_fault, is_full
from enquete.ledger.folders import write_atomically
from enquete.ledger.writer import GroupWriter
from enquete.state.errors import LedgerError
from tests.support.mounts import ROOT, in_namespace, python


def insert(n: int, size: int = 100) -> Callable[[sqlite3.Connection], int]:
    def write(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES(?, ?)", (n, "x" * size))
        return n

    return write


class PagesReserve(DiskReserve):
    """A reserve of pages: SQLite itself says "database or disk is full" until it is given back. Portable, unlike
    mounts."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, pages: int):
        super().__init__(folder, 4096)
        self._connection, self._pages = connection, pages

    def release(self, why: str = "") -> bool:
        released = super().release(why)
        if released:
            (count,) = self._connection.execute("PRAGMA page_count").fetchone()
            self._connection.execute(f"PRAGMA max_page_count={count + self._pages}")
        return released


def opened(folder: Path) -> sqlite3.Connection:
    connection = connect(folder / "w.sqlite")
    connection.execute("CREATE TABLE t(n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages + 4}")
    return connection


def stored(folder: Path) -> set[int]:
    with closing(sqlite3.connect(folder / "w.sqlite")) as connection:
        return {n for (n,) in connection.execute("SELECT n FROM t")}


def test_what_is_under_way_is_stored_in_the_reserves_place_and_nothing_new_begins(tmp_path: Path) -> None:
    told: list[str] = []

    async def work(connection: sqlite3.Connection) -> tuple[list[object], list[object]]:
        disk_reserve = PagesReserve(tmp_path, connection, 100)
        disk_reserve.on_full = told.append
        with disk_reserve.held():
            writer = GroupWriter(connection, "w", disk_reserve)
            settles = [writer.submit(insert(n, 5000), f"answer {n}") for n in range(20)]
            begins = [writer.submit(insert(100 + n), begins=True) for n in range(20)]
            first = await asyncio.gather(*settles, *begins, return_exceptions=True)
            late = await asyncio.gather(
                writer.submit(insert(200), begins=True), writer.submit(insert(201)), return_exceptions=True
            )
            await writer.close()
            assert not (tmp_path / RESERVE).exists()
        return list(first), list(late)

    with closing(opened(tmp_path)) as connection:
        first, late = asyncio.run(work(connection))
    assert first[:20] == list(range(20))
    assert all(isinstance(error, DiskFull) for error in first[20:])
    assert isinstance(late[0], DiskFull)
    assert late[1] == 201
    assert stored(tmp_path) == {*range(20), 201}
    assert len(told) == 1
    assert f"disk full: {tmp_path}" in told[0]
    assert "MB free" in told[0]
    assert f"enquete resume {tmp_path.name}" in told[0]


def test_what_even_the_reserve_has_no_room_for_is_named(tmp_path: Path) -> None:
    async def work(connection: sqlite3.Connection) -> list[object]:
        disk_reserve = PagesReserve(tmp_path, connection, 3)
        with disk_reserve.held():
            writer = GroupWriter(connection, "w", disk_reserve)
            writes = [writer.submit(insert(1, 200_000), "the answer of agent:a"), writer.submit(insert(2), "another")]
            results = await asyncio.gather(*writes, return_exceptions=True)
            await writer.close()
        return list(results)

    with closing(opened(tmp_path)) as connection:
        big, small = asyncio.run(work(connection))
    assert isinstance(big, DiskFull)
    assert "Lost: the answer of agent:a" in str(big)
    assert small == 2
    assert stored(tmp_path) == {2}


def test_the_reserve_is_made_really_and_goes_when_the_run_is_let_go(tmp_path: Path) -> None:
    disk_reserve = DiskReserve(tmp_path, 1_000_000)
    (tmp_path / RESERVE).write_bytes(b"left by a run that was killed")
    with disk_reserve.held():
        status = (tmp_path / RESERVE).stat()
        assert status.st_size == 1_000_000
        assert status.st_blocks * 512 >= 1_000_000
    assert list(tmp_path.iterdir()) == []
    assert not disk_reserve.release()


def test_a_folder_without_room_begins_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(DiskFull, match=r"MB free, and a run needs .*nothing was asked.*enquete resume .* --out "),
        DiskReserve(tmp_path, 10**17).held(),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_errors_that_mean_full(code: int) -> None:
    assert is_full(OSError(code, "x"))
    assert isinstance(disk_fault(OSError(code, "x"), Path("/x/y")), DiskFull)


def test_errors_that_mean_something_else_and_stop_a_run() -> None:
    assert not is_full(OSError(errno.ENOENT, "x"))
    assert not is_full(ValueError())
    assert disk_fault(ValueError(), Path("/x")) is None
    assert "out=DIR" in str(disk_fault(OSError(errno.EROFS, "Read-only file system"), Path("/x")))
    assert issubclass(DiskFull, LedgerError)


@pytest.mark.parametrize(("in_flight", "disk_reserve", "disk"), [(64, 2 << 20, "7m"), (256, SIZE, "32m")])
def test_no_answer_is_lost_on_a_real_disk_that_fills_up(
    tmp_path: Path, in_flight: int, disk_reserve: int, disk: str
) -> None:
    """A small tmpfs, and as much reserve as 256 answers need (see SIZE; with half of it some were lost on a busy
    machine); reading the ledger works while it is full, and another run is refused before it begins."""
    script = (
        f"mount -t tmpfs -o size={disk} none {tmp_path}; "
        f"{python('-m', 'tests.support.small_disk', tmp_path, in_flight, disk_reserve)}"
    )
    done = in_namespace(script)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["sent"] > in_flight
    assert (data["missing"], data["lost"]) == (0, [])
    assert not data["reserve_left"]
    assert len(data["told"]) == 1
    assert "0.0 MB free" in data["told"][0]
    assert "nothing was asked" in data["refused"]


LIMITED = """
import sys, resource
from pathlib import Path
from enquete.ledger.folders import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_atomically(Path(sys.argv[1]), "x" * 100_000)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_file_that_may_not_grow_is_a_clear_error_and_leaves_the_old_one(tmp_path: Path) -> None:
    """RLIMIT_FSIZE: the system says "File too large", as a quota would."""
    path = tmp_path / "latest.json"
    write_atomically(path, "old")
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, cwd=ROOT, timeout=240)
    assert done.stdout.startswith(f"DiskFull {path}: disk full"), done.stderr
    assert "run the command again" in done.stdout
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["latest.json"]
