"""Several processes at one ledger: who was struck off stores nothing, blocks of the budget stay under the cap, turns
follow one another. Over a file and over PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from enquete.ledger.backup import BackupCopies, copies, writes_in
from enquete.ledger.entries import Usage
from enquete.ledger.folders import LEDGER, drop_ledger, make_run_folder
from enquete.ledger.ledger import Ledger
from enquete.ledger.shared_limits import SharedBudget
from enquete.ledger.workers import (
    Evicted,
    addresses,
    evict,
    evict_all,
    has_workers,
    leave_shard,
    make_tables,
    register,
    register_driver,
    take_shard,
    take_turns,
)
from enquete.state.interview_context import Completion
from enquete.state.request import remember
from tests.support.ledgers import RUN, call, opened, prompt
from tests.support.new_runs import begin_run
from tests.support.postgres import Server

pytestmark = pytest.mark.anyio

USED = Usage(10, 5)


@pytest.fixture(params=["sqlite", "postgresql"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "sqlite":
        yield tmp_path
        return
    server: Server = request.getfixturevalue("postgres")
    made = tmp_path / f"run_{tmp_path.name}"
    make_run_folder(made, remember(server.url))
    yield made
    drop_ledger(made)


@asynccontextmanager
async def driven(folder: Path) -> AsyncIterator[Ledger]:
    async with opened(folder) as ledger:
        await ledger.write(make_tables)
        await ledger.write(lambda connection: register_driver(connection, "driver", 0.0))
        yield ledger


@asynccontextmanager
async def worker(folder: Path, name: str, address: str = "") -> AsyncIterator[Ledger]:
    ledger = Ledger(folder / LEDGER, RUN, worker=name)
    try:
        await ledger.write(lambda connection: register(connection, name, address or name, "driver", RUN))
        ledger.guard()
        yield ledger
    finally:
        await ledger.close()


async def test_what_workers_write_is_copied_and_written_back_too(tmp_path: Path) -> None:
    """Their writes once were none to the driver, which made no copy then and let the log grow by gigabytes."""
    folder = await asyncio.to_thread(begin_run, tmp_path / RUN)
    async with driven(folder) as ledger, worker(folder, "a") as beside:
        made = BackupCopies(ledger)
        ledger.keep_log()
        await made.copy()
        await beside.store_digests("T1", {f"agent:{number}": "x" * 10_000 for number in range(50)})
        await made.copy()
        assert made.made == 2
        assert (folder / f"{LEDGER}-wal").stat().st_size == 0
        assert writes_in(copies(folder / LEDGER)[0]) == ledger.writes


async def test_who_was_struck_off_stores_nothing_and_its_calls_are_allowances(folder: Path) -> None:
    async with driven(folder) as ledger, worker(folder, "a") as gone, worker(folder, "b") as stays:
        for holder, subject in ((gone, "x"), (gone, "y"), (stays, "z")):
            await holder.reserve(call(subject), prompt(), "m", 100)
        await gone.settle(call("x"), Completion("paid"), USED)
        assert await ledger.write(lambda connection: evict(connection, "a", RUN)) == 1
        with pytest.raises(Evicted, match="taken to be lost"):
            await gone.settle(call("y"), Completion("late"), USED)
        with pytest.raises(Evicted):
            await gone.reserve(call("w"), prompt(), "m", 100)
        assert ledger.settled(call("y")) is None
        assert addresses(ledger._read) == {"b": "b"}
        await stays.reserve(call("y"), prompt(), "m", 100)  # who takes over asks it again
        for subject in ("y", "z"):
            await stays.settle(call(subject), Completion("in time"), USED)
        assert ledger.total("tokens") == 100 + 3 * 15
        assert ledger.total("lost") == 1
        assert await ledger.sweep() == 0


async def test_a_shard_that_another_worker_takes_strikes_off_the_first(folder: Path) -> None:
    async with driven(folder) as ledger, worker(folder, "a") as first, worker(folder, "b") as second:
        await first.write(lambda connection: take_shard(connection, "s1", "a", RUN))
        await first.write(lambda connection: leave_shard(connection, "s1", "a"))
        await second.write(lambda connection: take_shard(connection, "s1", "b", RUN))  # given back before
        assert len(addresses(ledger._read)) == 2
        await first.write(lambda connection: take_shard(connection, "s2", "a", RUN))
        await second.write(lambda connection: take_shard(connection, "s2", "b", RUN))
        assert list(addresses(ledger._read)) == ["b"]
        with pytest.raises(Evicted):
            await first.note("n", "v")


async def test_a_new_process_at_an_address_and_a_new_driver_take_over(folder: Path) -> None:
    async with driven(folder) as ledger, worker(folder, "a", "tcp://1") as old, worker(folder, "b", "tcp://1"):
        assert addresses(ledger._read) == {"b": "tcp://1"}
        with pytest.raises(Evicted):
            await old.note("n", "v")
        assert ledger.look(has_workers)
        await ledger.write(evict_all)
        with pytest.raises(Evicted):
            async with worker(folder, "c"):
                pass  # its driver is not there any more


def budget(ledger: Ledger, owner: str, cap: int) -> SharedBudget:
    return SharedBudget(ledger, owner, cap, 0, cap_usd=None, spent_usd=0.0, claims={}, draw=dict)


async def test_blocks_stay_under_the_cap_and_the_last_tokens_are_spent(folder: Path) -> None:
    """Two processes spend 100 tokens a call of a cap of 1,050: ten calls, whoever makes them."""

    async def spend(ledger: Ledger, mine: SharedBudget, name: str) -> int:
        made = 0
        while await mine.reserve(100):
            key = call(f"{name}{made}")
            await ledger.reserve(key, prompt(), "m", 100)
            await asyncio.sleep(0)
            await ledger.settle(key, Completion("."), Usage(60, 40))
            await mine.settle(100, 100)
            made += 1
        return made

    async with driven(folder) as ledger, worker(folder, "a") as first, worker(folder, "b") as second:
        both = budget(first, "a", 1050), budget(second, "b", 1050)
        made = await asyncio.gather(spend(first, both[0], "a"), spend(second, both[1], "b"))
        assert (sum(made), ledger.total("tokens")) == (10, 1000)
        assert all(made)
        assert [refusal.short_of for refusal in both] == ["tokens", "tokens"]


async def test_a_stop_is_heard_by_the_others(folder: Path) -> None:
    async with driven(folder), worker(folder, "a") as first, worker(folder, "b") as second:
        one, other = budget(first, "a", 1000), budget(second, "b", 1000)
        async with other.watched():
            await one.stop("a rejected key", failed=True)
            async with asyncio.timeout(240):
                while not other.stopped:  # noqa: ASYNC110 - it is the ledger that is watched
                    await asyncio.sleep(0.01)
        assert (other.stopped, other.failed) == ("a rejected key", True)
        assert not await other.reserve(1)


async def test_turns_follow_one_another_whoever_takes_them(folder: Path) -> None:
    async with driven(folder), worker(folder, "a") as first, worker(folder, "b") as second:
        waits = [
            await store.write(lambda connection: take_turns(connection, "m", 100.0, 50.0))
            for store in (first, second, first)
        ]
    requests, tokens = zip(*waits, strict=True)
    assert requests[0] == tokens[0] == pytest.approx(0, abs=0.01)
    assert [round(wait, -1) for wait in requests] == [0, 100, 200]  # less what went by meanwhile
    assert [round(wait, -1) for wait in tokens] == [0, 50, 100]
