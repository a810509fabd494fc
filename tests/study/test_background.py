"""Waiting for work that must not be torn off: the first cancellation asks it to end, the second tears."""

from __future__ import annotations

import asyncio

import pytest

from enquete.study.background import awaited


async def work(asked_to_end: asyncio.Event, log: list[str]) -> str:
    try:
        await asked_to_end.wait()
        await asyncio.sleep(0.05)  # what was in flight
    except asyncio.CancelledError:
        log.append("torn off")
        raise
    log.append("filed")
    return "done"


async def cancelled(times: int) -> list[str]:
    log: list[str] = []
    end = asyncio.Event()
    waiting = asyncio.create_task(awaited(work(end, log), end.set))
    for _ in range(times):
        await asyncio.sleep(0.01)
        waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    return log


def test_the_first_cancellation_lets_the_work_end_and_the_second_does_not() -> None:
    assert asyncio.run(cancelled(1)) == ["filed"]
    assert asyncio.run(cancelled(2)) == ["torn off"]


def test_a_time_out_is_one() -> None:
    async def timed(log: list[str]) -> None:
        end = asyncio.Event()
        async with asyncio.timeout(0.01):
            await awaited(work(end, log), end.set)

    log: list[str] = []
    with pytest.raises(TimeoutError):
        asyncio.run(timed(log))
    assert log == ["filed"]


def test_what_ends_by_itself_is_returned_or_raised() -> None:
    async def right() -> int:
        return 7

    async def wrong() -> int:
        raise ValueError("no")

    assert asyncio.run(awaited(right(), lambda: None)) == 7
    with pytest.raises(ValueError, match="no"):
        asyncio.run(awaited(wrong(), lambda: None))
