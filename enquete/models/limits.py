"""How much may be in flight at once, and when a server wants everybody to wait.

`Limiter` is one limit for the whole process: it counts over every event loop, because the façade, a notebook
and a server may each drive a loop of their own while the user set one number (ENQUETE_CONCURRENCY).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from types import TracebackType


class Limiter:
    """At most `size` holders at a time, first come first served; `async with limiter:` holds one slot."""

    def __init__(self, size: int):
        self._lock = threading.Lock()
        self._size = _at_least_one(size)
        self._held = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    @property
    def size(self) -> int:
        return self._size

    @property
    def held(self) -> int:
        """Slots in use now."""
        return self._held

    def resize(self, size: int) -> None:
        """Takes effect at once for those who wait; holders above a smaller size finish first. Raises ValueError."""
        with self._lock:
            self._size = _at_least_one(size)
            self._hand_out()

    async def __aenter__(self) -> Limiter:
        with self._lock:
            if self._held < self._size and not self._waiting:
                self._held += 1
                return self
            loop = asyncio.get_running_loop()
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except asyncio.CancelledError:
            self._abandon(loop, turn)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        with self._lock:
            self._held -= 1
            self._hand_out()

    def _hand_out(self) -> None:
        """Give free slots to those who wait. The caller holds the lock."""
        here = asyncio._get_running_loop()
        while self._waiting and self._held < self._size:
            loop, turn = self._waiting.popleft()
            try:
                # To wake the loop that one is in, by a byte through a socket, would take a call's time to no end.
                (loop.call_soon if loop is here else loop.call_soon_threadsafe)(self._hand_over, turn)
            except RuntimeError:  # that loop was closed while it waited: its turn goes to the next
                continue
            self._held += 1

    def _hand_over(self, turn: asyncio.Future[None]) -> None:
        if turn.done():  # cancelled between being chosen and being told
            self._release()
        else:
            turn.set_result(None)

    def _abandon(self, loop: asyncio.AbstractEventLoop, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():  # the slot was already given
            self._release()
            return
        with self._lock:
            if (loop, turn) in self._waiting:
                self._waiting.remove((loop, turn))


class Pause:
    """A server's rate limit, for every request to it: first attempts, retries and repairs alike."""

    def __init__(self) -> None:
        self._until = 0.0

    def extend(self, seconds: float) -> None:
        self._until = max(self._until, time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds still to wait; 0 or less when the server may be asked."""
        return self._until - time.monotonic()

    async def over(self) -> None:
        while (left := self.remaining) > 0:  # noqa: ASYNC110 - may be extended meanwhile
            await asyncio.sleep(left)


def _at_least_one(size: int) -> int:
    if size < 1:
        raise ValueError(f"The number of requests in flight must be at least 1, got {size} (ENQUETE_CONCURRENCY).")
    return size
