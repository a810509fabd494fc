"""A shard's units fail alone, except where the ledger itself cannot be written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from enquete.runs.run_session import using
from enquete.runs.worker import RoundProgress, run_shard
from enquete.state.channels import ShardSpec
from enquete.state.errors import LedgerError
from enquete.state.settings import Machine
from tests.support import fickle
from tests.support.new_runs import begin_run
from tests.support.populations import participants
from tests.support.studies import rows

IDS = [who.id for who in participants(6)]


@pytest.fixture(autouse=True)
def _as_usual() -> Iterator[None]:
    fickle.behaviour.clear()
    fickle.finished.clear()
    yield
    fickle.behaviour.clear()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As outside of tests: a bug is recorded, not raised."""
    monkeypatch.delenv("ENQUETE_RAISE_BUGS")
    return begin_run(tmp_path / "run_test", agents=6)


def spec(run: Path, lo: int = 0, hi: int = 6) -> ShardSpec:
    return ShardSpec(run=str(run), methodology="fickle", phase="T1", arm="main", round=1, lo=lo, hi=hi)


def conducted(run: Path, lo: int = 0, hi: int = 6) -> tuple[dict[str, int], list[dict[str, Any]]]:
    events: list[dict[str, Any]] = []

    async def work() -> dict[str, int]:
        async with using(str(run), Machine(concurrency=2, shard_size=2)) as run_session:
            progress = RoundProgress(run_session, spec(run, lo, hi), events.append)
            return await run_shard(run_session, spec(run, lo, hi), progress.tick)

    return asyncio.run(work()), events


def answered(run: Path) -> list[str]:
    sql = "SELECT o.participant FROM answers a JOIN occasions o ON o.id=a.occasion ORDER BY o.participant"
    return [str(row[0]) for row in rows(run, sql)]


def test_a_shard_conducts_its_range_and_says_how_far_the_round_is(run: Path) -> None:
    counts, events = conducted(run, 2, 5)
    assert counts == {"done": 3}
    assert answered(run) == IDS[2:5]
    assert events[0]["total"] == 6
    assert conducted(run)[0] == {"done": 6}
    assert answered(run) == IDS
    assert rows(run, "SELECT count(*) FROM calls") == [(6,)]  # the three answered before were not asked again


def test_a_bug_is_recorded_with_its_traceback_and_the_others_go_on(run: Path) -> None:
    fickle.behaviour[IDS[1]] = "bug"
    assert conducted(run)[0] == {"done": 5, "failed": 1}
    assert answered(run) == [unit for unit in IDS if unit != IDS[1]]
    ((unit, error, traceback),) = rows(run, "SELECT unit, error, traceback FROM failures")
    assert (unit, error) == (IDS[1], f"ZeroDivisionError: planted in {IDS[1]}")
    assert "fickle.py" in str(traceback)
    assert "raise ZeroDivisionError" in str(traceback)


def test_a_bug_is_one_row_until_a_later_success_clears_it(run: Path) -> None:
    fickle.behaviour[IDS[1]] = "bug"
    conducted(run)
    conducted(run)
    assert rows(run, "SELECT count(*) FROM failures") == [(1,)]
    fickle.behaviour |= {IDS[1]: "bug", IDS[3]: "bug"}
    conducted(run)
    del fickle.behaviour[IDS[1]]
    assert conducted(run)[0] == {"done": 5, "failed": 1}
    assert rows(run, "SELECT unit FROM failures") == [(IDS[3],)]
    fickle.behaviour[IDS[3]] = "short"  # not done is no success
    assert conducted(run)[0] == {"done": 5, "short": 1}
    assert rows(run, "SELECT unit FROM failures") == [(IDS[3],)]


def test_in_tests_a_bug_is_raised(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENQUETE_RAISE_BUGS", "1")
    fickle.behaviour[IDS[1]] = "bug"
    with pytest.raises(ZeroDivisionError, match="planted"):
        conducted(run)


def test_a_ledger_that_cannot_be_written_stops_the_shard(run: Path) -> None:
    """And those still at work with it: they must not go on paying for what cannot be stored."""
    fickle.behaviour |= dict.fromkeys(IDS[1:], "slow")
    fickle.behaviour[IDS[0]] = "ledger"

    async def work() -> None:
        async with using(str(run)) as run_session:
            with pytest.raises(LedgerError, match="disk is full"):
                await run_shard(run_session, spec(run), lambda outcome: None)
            await asyncio.sleep(0.3)

    asyncio.run(work())
    assert fickle.finished == []
    assert answered(run) == []
    assert rows(run, "SELECT count(*) FROM failures") == [(0,)]


def test_cancelling_a_shard_cancels_its_units(run: Path) -> None:
    fickle.behaviour |= dict.fromkeys(IDS, "slow")

    async def work() -> None:
        async with using(str(run)) as run_session:
            before = asyncio.all_tasks()
            shard = asyncio.create_task(run_shard(run_session, spec(run), lambda outcome: None))
            await asyncio.sleep(0.05)
            shard.cancel()
            with pytest.raises(asyncio.CancelledError):
                await shard
            assert asyncio.all_tasks() == before

    asyncio.run(work())
    assert fickle.finished == []
