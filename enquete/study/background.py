"""Async work from sync code, in a script and inside a running loop alike (notebooks): one daemon thread with a loop.

asyncio.run fails in a running loop, and sync invoke on async nodes raises; this is what works in both.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="enquete", daemon=True).start()
    return loop


async def awaited(work: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> T:
    """Run `work` in this loop. The first cancellation calls `on_cancel`, lets the work come to its end and is raised then;
    the second cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            on_cancel()
            await task
        raise


def wait(work: Coroutine[Any, Any, T], on_interrupt: Callable[[], None] | None = None) -> T:
    """Run `work` to its end. The first KeyboardInterrupt calls `on_interrupt` and goes on waiting, the second cancels; the
    first one does where nothing is to be finished."""
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
