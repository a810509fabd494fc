"""A model's requests and tokens a minute where several processes send: by turns, which the ledger gives out in blocks.

A block is a stretch of time that is one process's alone; within it requests go at the model's pace. What of a block is
not used is lost, so it is short.
"""

from __future__ import annotations

import asyncio
import time

from enquete.ledger.ledger import Ledger
from enquete.ledger.workers import take_turns

BLOCK_S = 1.0
"""Seconds of a model's pace that one process takes at once, unless one request needs more."""


class _Lane:
    """Requests, or tokens. Times are time.monotonic."""

    def __init__(self, a_minute: int | None):
        self.each_s = 60 / a_minute if a_minute else 0.0
        self.free = self.end = 0.0

    def lacks(self, amount: float, now: float) -> float:
        """Seconds of the block that is to be taken; 0 where the present one has room."""
        needed = amount * self.each_s
        return max(needed, min(BLOCK_S, 64 * self.each_s)) if max(now, self.free) + needed > self.end else 0.0

    def begin(self, wait_s: float, seconds: float) -> None:
        if seconds:
            self.free = time.monotonic() + wait_s
            self.end = self.free + seconds

    def take(self, amount: float, now: float) -> float:
        start = max(now, self.free)
        self.free = start + amount * self.each_s
        return start


class SharedPace:
    """The pace of one model in one process (`servers.Pace` is that of a process that is alone)."""

    def __init__(self, ledger: Ledger, model: str, requests: int | None, tokens: int | None):
        self._ledger = ledger
        self._model = model
        self._requests, self._tokens = _Lane(requests), _Lane(tokens)
        self._queue = asyncio.Lock()

    async def turn(self, tokens: float) -> None:
        """Wait for one's turn, first come first served. Who is cancelled gives it back."""
        async with self._queue:
            now = time.monotonic()
            wanted = self._requests.lacks(1, now), self._tokens.lacks(tokens, now)
            if any(wanted):
                waits = await self._ledger.write(lambda connection: take_turns(connection, self._model, *wanted))
                self._requests.begin(waits[0], wanted[0])
                self._tokens.begin(waits[1], wanted[1])
            now = time.monotonic()
            start = max(self._requests.take(1, now), self._tokens.take(tokens, now))
        try:
            await asyncio.sleep(max(0.0, start - time.monotonic()))
        except asyncio.CancelledError:
            self.correct(tokens, requests=1)
            raise

    def correct(self, tokens: float, requests: int = 0) -> None:
        """So many were taken but not used; negative: used but not taken."""
        self._tokens.free -= tokens * self._tokens.each_s
        self._requests.free -= requests * self._requests.each_s
