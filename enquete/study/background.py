"""Async work from sync code, in a script and inside a running loop alike (notebooks): one daemon thread with a loop.
asyncio.run fails in a running loop, and sync invoke on async nodes raises; this is what works in both. And work in
threads, for servers.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from enquete.state.errors import EnqueteError

T = TypeVar("T")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="enquete", daemon=True).start()
    return loop


async def awaited(work: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> T:
    """Run `work` in this loop. The first cancellation calls `on_cancel`, lets the work come to its end and is raised
    then; the second cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            on_cancel()
            await task
        raise


def wait(work: Coroutine[Any, Any, T], on_interrupt: Callable[[], None] | None = None) -> T:
    """Run `work` to its end. The first KeyboardInterrupt calls `on_interrupt` and goes on waiting, the second cancels;
    the first one does where nothing is to be finished."""
    loop = _loop()
    if threading.current_thread().name == "enquete":
        work.close()
        raise RuntimeError("called from Enquete's own thread: use the async form there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        if on_interrupt is None:
            future.cancel()
            raise
        loop.call_soon_threadsafe(on_interrupt)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


# Work in a thread of its own, for servers. Whoever hangs (a drive that went away, a file that never ends) takes no
# place from others and is given up after a while. A server whose threads hang is ended by its signals' grace.

LONGEST_S = 120.0
MOST_HANGING = 64
"""Threads that were given up and still hang: with more of them nothing else is begun, or they would fill the memory."""


class NotInTime(EnqueteError):
    """Files did not answer in time: a network drive that is away, or a disk that is overloaded."""


@dataclass(eq=False)
class _ThreadWork:
    finished: bool = False


_given_up: list[_ThreadWork] = []


async def run_in_thread(work: Callable[[], T], *, within_s: float | None = LONGEST_S) -> T:
    """Run `work` in a thread of anyio's, of which there are as many as are needed.

    Args:
        work: A function that waits for files.
        within_s: Seconds until it is given up; None waits as long as it takes.

    Raises:
        NotInTime: The files did not answer, or too many earlier requests still wait for theirs.
    """
    _given_up[:] = [thread for thread in _given_up if not thread.finished]
    if len(_given_up) >= MOST_HANGING:
        raise NotInTime(f"{len(_given_up)} earlier requests still wait for files that do not answer")

    thread = _ThreadWork()

    def run() -> T:
        try:
            return work()
        finally:
            thread.finished = True

    unlimited = anyio.CapacityLimiter(math.inf)
    with anyio.move_on_after(within_s):
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=unlimited)
    _given_up.append(thread)
    raise NotInTime(f"files did not answer within {within_s:g} s")
