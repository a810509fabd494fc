"""Async work from sync code, in a script and inside a running loop alike (notebooks): one daemon thread with a loop.
asyncio.run fails in a running loop, and sync invoke on async nodes raises; this is what works in both. And work in
threads, for servers.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

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


# --- Work in a thread of its own, for servers: whoever hangs (a drive that went away, a file that never ends) takes no
# place from others, is given up after a while, and keeps no process from ending


LONGEST_S = 120.0
MOST_HANGING = 64
"""Threads that were given up and still hang: with more of them nothing else is begun, or they would fill the memory."""

_hanging: set[threading.Thread] = set()


class NotInTime(EnqueteError):
    """Files did not answer in time: a network drive that is away, or a disk that is overloaded."""


async def run_in_thread(work: Callable[[], T], *, within_s: float | None = LONGEST_S) -> T:
    """As asyncio.to_thread. Raises NotInTime; None waits as long as it takes."""
    _hanging.intersection_update(threading.enumerate())
    if len(_hanging) >= MOST_HANGING:
        raise NotInTime(f"{len(_hanging)} earlier requests still wait for files that do not answer")
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def tell(how: Callable[..., None], what: object) -> None:
        def settle() -> None:
            if not done.done():
                how(what)

        with suppress(RuntimeError):  # nobody waits any more: the loop has been closed
            loop.call_soon_threadsafe(settle)

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:
            tell(done.set_exception, error)
        else:
            tell(done.set_result, result)

    thread = threading.Thread(target=run, name="enquete-apart", daemon=True)
    thread.start()
    try:
        async with asyncio.timeout(within_s):
            return await done
    except TimeoutError:
        if done.done() and not done.cancelled():  # the work's own
            raise
        _hanging.add(thread)
        raise NotInTime(f"files did not answer within {within_s:g} s") from None
