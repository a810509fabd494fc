"""A hundred clients that poll a run's status are served, and cost the run next to nothing (bench_polls.py measures it)."""

from __future__ import annotations

import asyncio
import threading

import pytest

from enquete.interfaces.http.snapshots import Snapshots
from enquete.state.errors import RunNotFound
from tests.http.bench_polls import ratio


def test_a_hundred_clients_polling_hardly_slow_a_run() -> None:
    """The CPU of the server, because seconds depend on what else the machine does; 5 % is measured on a quiet one."""
    measured = ratio(agents=40, rounds=1, latency_s=0.2)
    assert measured["polls"] >= 50
    assert measured["ratio_cpu"] < 3, measured


def test_who_asks_at_once_is_answered_by_one_reading() -> None:
    readings: list[int] = []
    release = threading.Event()

    def read() -> int:
        release.wait(10)
        readings.append(1)
        return len(readings)

    async def ask() -> list[int]:
        snapshots: Snapshots[int] = Snapshots()
        asking = [asyncio.create_task(snapshots.get("run", read)) for _ in range(100)]
        await asyncio.sleep(0)
        asking.pop().cancel()  # who leaves does not take it from the others
        release.set()
        first = await asyncio.gather(*asking)
        snapshots.forget()
        return [*first, await snapshots.get("run", read)]

    assert asyncio.run(ask()) == [1] * 99 + [2]


def test_an_error_is_told_and_not_kept() -> None:
    found = [RunNotFound("none yet")]

    def read() -> str:
        if found:
            raise found.pop()
        return "there"

    async def ask() -> str:
        snapshots: Snapshots[str] = Snapshots()
        with pytest.raises(RunNotFound):
            await snapshots.get("run", read)
        return await snapshots.get("run", read)

    assert asyncio.run(ask()) == "there"
