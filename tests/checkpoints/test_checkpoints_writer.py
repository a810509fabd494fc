"""Group commit on a real file: what is committed together, what fails alone, what happens at the end."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from enquete.checkpoints.connection import connect
from enquete.checkpoints.writer import GROUP_SIZE, GroupWriter
from enquete.state.errors import LedgerError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "w.sqlite"
    with closing(connect(file)) as connection:
        connection.execute("CREATE TABLE t(n INTEGER NOT NULL UNIQUE, by TEXT NOT NULL) STRICT")
    return file


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as opened:
        yield opened


def insert(n: object, by: str = "w") -> Callable[[sqlite3.Connection], object]:
    def write(connection: sqlite3.Connection) -> object:
        connection.execute("INSERT INTO t VALUES(?, ?)", (n, by))
        return n

    return write


def stored(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT n FROM t ORDER BY rowid")]


def test_writes_of_one_linger_share_a_commit(path: Path, connection: sqlite3.Connection) -> None:
    async def work() -> tuple[list[object], int]:
        writer = GroupWriter(connection)
        results = await asyncio.gather(*(writer.submit(insert(n)) for n in range(10)))
        await writer.close()
        return results, writer.commits

    results, commits = asyncio.run(work())
    assert results == list(range(10))
    assert commits == 1
    assert stored(path) == list(range(10))


def test_a_full_group_does_not_wait_for_the_linger(connection: sqlite3.Connection) -> None:
    """3 × GROUP_SIZE writes submitted at once are three commits, in the order they came."""

    async def work() -> int:
        writer = GroupWriter(connection)
        await asyncio.gather(*(writer.submit(insert(n)) for n in range(3 * GROUP_SIZE)))
        await writer.close()
        return writer.commits

    assert asyncio.run(work()) == 3
    assert [n for (n,) in connection.execute("SELECT n FROM t ORDER BY rowid")] == list(range(3 * GROUP_SIZE))


def test_one_bad_write_fails_alone(path: Path, connection: sqlite3.Connection) -> None:
    async def work() -> list[object]:
        writer = GroupWriter(connection)
        writes = [insert(1), insert(None), insert(2), insert(1, "again"), insert("three"), insert(3)]
        results = await asyncio.gather(*(writer.submit(write) for write in writes), return_exceptions=True)
        await writer.close()
        return list(results)

    results = asyncio.run(work())
    assert [results[i] for i in (0, 2, 5)] == [1, 2, 3]
    assert all(isinstance(results[i], sqlite3.IntegrityError) for i in (1, 3, 4))  # NULL, UNIQUE, STRICT type
    assert stored(path) == [1, 2, 3]


def test_a_write_that_fails_half_way_leaves_nothing(path: Path, connection: sqlite3.Connection) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES(7, 'half')")
        raise ValueError("a bug")

    async def work() -> list[object]:
        writer = GroupWriter(connection)
        results = await asyncio.gather(writer.submit(half), writer.submit(insert(8)), return_exceptions=True)
        await writer.close()
        return list(results)

    bug, good = asyncio.run(work())
    assert isinstance(bug, ValueError)
    assert good == 8
    assert stored(path) == [8]


def test_a_disk_that_is_full_is_a_ledger_error_that_names_the_file(path: Path, connection: sqlite3.Connection) -> None:
    """max_page_count makes SQLite itself say "database or disk is full"."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")

    async def work() -> list[object]:
        writer = GroupWriter(connection, str(path))
        results = await asyncio.gather(
            writer.submit(insert(1, "x" * 100_000)), writer.submit(insert(2)), return_exceptions=True
        )
        await writer.close()
        return list(results)

    full, small = asyncio.run(work())
    assert isinstance(full, LedgerError)
    assert "full" in str(full)
    assert str(path) in str(full)
    assert small == 2


def test_a_lock_that_is_not_let_go_fails_the_group_at_once(path: Path) -> None:
    """Waiting for the lock once more for each write of a group would take 64 times as long."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other, closing(connect(path)) as connection:
        connection.execute("PRAGMA busy_timeout=100")
        other.execute("BEGIN IMMEDIATE")

        async def work() -> tuple[list[object], float]:
            loop = asyncio.get_running_loop()
            writer, start = GroupWriter(connection), loop.time()
            writes = [writer.submit(insert(n)) for n in range(20)]
            results = await asyncio.gather(*writes, return_exceptions=True)
            await writer.close()
            return list(results), loop.time() - start

        results, seconds = asyncio.run(work())
        other.execute("ROLLBACK")
    assert all(isinstance(result, LedgerError) and "locked" in str(result) for result in results)
    assert seconds < 1.5
    assert stored(path) == []


def test_two_writers_on_one_file_wait_for_each_other(path: Path) -> None:
    """Reads before it writes: as a deferred transaction this failed "locked" at once."""

    def next_number(connection: sqlite3.Connection) -> None:
        (last,) = connection.execute("SELECT coalesce(max(n), -1) FROM t").fetchone()
        connection.execute("INSERT INTO t VALUES(?, ?)", (last + 1, threading.current_thread().name))

    async def work(connection: sqlite3.Connection) -> None:
        writer = GroupWriter(connection)
        for _ in range(20):
            await asyncio.gather(*(writer.submit(next_number) for _ in range(3)))
        await writer.close()

    with closing(connect(path)) as one, closing(connect(path)) as two:
        threads = [threading.Thread(target=lambda c=c: asyncio.run(work(c))) for c in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert stored(path) == list(range(120))


def test_a_cancelled_waiter_loses_its_answer_and_nothing_else(path: Path, connection: sqlite3.Connection) -> None:
    async def work() -> object:
        writer = GroupWriter(connection)
        waiter = asyncio.ensure_future(asyncio.wait_for(writer.submit(insert(1)), 10))
        other = writer.submit(insert(2))
        await asyncio.sleep(0)
        waiter.cancel()
        result = await other
        await writer.close()
        assert waiter.cancelled()
        return result

    assert asyncio.run(work()) == 2
    assert stored(path) == [1, 2]


def test_cancelling_a_drain_cancels_no_commit(path: Path, connection: sqlite3.Connection) -> None:
    async def work() -> list[object]:
        writer = GroupWriter(connection)
        writes = [writer.submit(insert(n)) for n in range(5)]
        drain = asyncio.ensure_future(writer.drain())
        await asyncio.sleep(0)
        drain.cancel()
        results = await asyncio.wait_for(asyncio.gather(*writes), 5)
        await writer.close()
        return list(results)

    assert asyncio.run(work()) == list(range(5))
    assert stored(path) == list(range(5))


def test_drain_and_close_wait_for_everything_submitted(path: Path, connection: sqlite3.Connection) -> None:
    async def work() -> None:
        writer = GroupWriter(connection)
        first = writer.submit(insert(1))
        await writer.drain()
        assert first.done()
        last = writer.submit(insert(2))
        await writer.close()
        assert last.done()
        with pytest.raises(RuntimeError, match="after it was closed"):
            writer.submit(insert(3))

    asyncio.run(work())
    assert stored(path) == [1, 2]
