"""Group commit on a real file: what is committed together, what fails alone, what happens at the end."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from enquete.ledger.connection import connect
from enquete.ledger.writer import BEGUN_AT_ONCE, GroupWriter
from enquete.state.errors import LedgerError

pytestmark = pytest.mark.anyio


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


async def test_writes_of_one_turn_share_a_commit(path: Path, connection: sqlite3.Connection) -> None:
    writer = GroupWriter(connection)
    assert await asyncio.gather(*(writer.submit(insert(n)) for n in range(10))) == list(range(10))
    await writer.close()
    assert writer.commits == 1
    assert stored(path) == list(range(10))


async def test_what_only_begins_something_comes_after_the_rest_and_a_few_at_a_time(
    path: Path, connection: sqlite3.Connection
) -> None:
    """3 × BEGUN_AT_ONCE that begin, submitted before one that does not: three commits, that one in the first."""
    writer = GroupWriter(connection)
    begun = [writer.submit(insert(n), begins=True) for n in range(3 * BEGUN_AT_ONCE)]
    await asyncio.gather(*begun, writer.submit(insert(99)))
    await writer.close()
    assert writer.commits == 3
    assert stored(path) == [99, *range(3 * BEGUN_AT_ONCE)]


async def test_one_bad_write_fails_alone(path: Path, connection: sqlite3.Connection) -> None:
    writer = GroupWriter(connection)
    writes = [insert(1), insert(None), insert(2), insert(1, "again"), insert("three"), insert(3)]
    results = await asyncio.gather(*(writer.submit(write) for write in writes), return_exceptions=True)
    await writer.close()
    assert [results[i] for i in (0, 2, 5)] == [1, 2, 3]
    assert all(isinstance(results[i], sqlite3.IntegrityError) for i in (1, 3, 4))  # NULL, UNIQUE, STRICT type
    assert stored(path) == [1, 2, 3]


async def test_a_write_that_fails_half_way_leaves_nothing(path: Path, connection: sqlite3.Connection) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES(7, 'half')")
        raise ValueError("a bug")

    writer = GroupWriter(connection)
    bug, good = await asyncio.gather(writer.submit(half), writer.submit(insert(8)), return_exceptions=True)
    await writer.close()
    assert isinstance(bug, ValueError)
    assert good == 8
    assert stored(path) == [8]


async def test_a_disk_that_is_full_is_a_ledger_error_that_names_the_file(
    path: Path, connection: sqlite3.Connection
) -> None:
    """max_page_count makes SQLite itself say "database or disk is full"."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")
    writer = GroupWriter(connection, str(path))
    writes = (writer.submit(insert(1, "x" * 100_000)), writer.submit(insert(2)))
    full, small = await asyncio.gather(*writes, return_exceptions=True)
    await writer.close()
    assert isinstance(full, LedgerError)
    assert "full" in str(full)
    assert str(path) in str(full)
    assert small == 2


async def test_a_lock_holds_up_the_writes_and_not_the_loop(path: Path, connection: sqlite3.Connection) -> None:
    """Held for ten turns of the loop at least, each of which waits for it no longer than LOCK_WAIT_S."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = GroupWriter(connection)
        writes = [writer.submit(insert(n), begins=n % 2 == 0) for n in range(20)]
        for _ in range(10):
            await asyncio.sleep(0)
        assert not any(write.done() for write in writes)
        other.execute("ROLLBACK")
        assert list(await asyncio.gather(*writes)) == list(range(20))
    assert sorted(stored(path)) == list(range(20))


async def test_a_lock_that_is_not_let_go_fails_all_that_wait_at_once(
    path: Path, connection: sqlite3.Connection
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = GroupWriter(connection, patience_s=0)
        results = await asyncio.gather(*(writer.submit(insert(n)) for n in range(20)), return_exceptions=True)
        await writer.close()
        assert writer.commits == 0
        other.execute("ROLLBACK")
    assert all(isinstance(result, LedgerError) and "locked" in str(result) for result in results)
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


async def test_a_cancelled_waiter_loses_its_answer_and_nothing_else(path: Path, connection: sqlite3.Connection) -> None:
    writer = GroupWriter(connection)
    waiter, other = writer.submit(insert(1)), writer.submit(insert(2))
    waiter.cancel()
    assert await other == 2
    await writer.close()
    assert waiter.cancelled()
    assert stored(path) == [1, 2]


async def test_drain_and_close_wait_for_everything_submitted(path: Path, connection: sqlite3.Connection) -> None:
    writer = GroupWriter(connection)
    first = writer.submit(insert(1))
    await writer.drain()
    assert first.done()
    last = writer.submit(insert(2))
    await writer.close()
    assert last.done()
    with pytest.raises(RuntimeError, match="after it was closed"):
        writer.submit(insert(3))
    assert stored(path) == [1, 2]
