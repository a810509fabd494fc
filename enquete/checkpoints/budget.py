"""The cap on tokens, with calls in flight counted.

Every request reserves an upper bound before it is sent and settles what was really used. A request that does not fit
waits while others are in flight (they usually use less than they reserved) and is short only when nothing is.
"""

from __future__ import annotations

import asyncio


class Budget:
    """Tokens of one run. `spent` includes allowances for calls whose usage is unknown (time-outs, crashes)."""

    def __init__(self, cap: int, spent: int = 0):
        self.cap = cap
        self.spent = spent
        self.reserved = 0
        self.stopped = ""  # why no further call may start: "interrupted", a rejected key, …
        self.ran_short = False
        self.refused = 0  # the largest reservation that did not fit
        self._changed = asyncio.Condition()

    async def reserve(self, tokens: int) -> bool:
        """True when `tokens` are reserved; False when the run must stop launching calls."""
        async with self._changed:
            while not self.stopped:
                if self.spent + self.reserved + tokens <= self.cap:
                    self.reserved += tokens
                    return True
                if self.reserved == 0:
                    self.ran_short = True
                    self.refused = max(self.refused, tokens)
                    return False
                await self._changed.wait()
            return False

    def try_reserve(self, tokens: int) -> bool:
        """Reserve at once or not at all: for who already holds a reservation, and must not wait for others like it."""
        if self.stopped or self.spent + self.reserved + tokens > self.cap:
            self.refused = max(self.refused, tokens)
            return False
        self.reserved += tokens
        return True

    async def settle(self, reserved: int, used: int) -> None:
        """Replace a reservation by what was used."""
        async with self._changed:
            self.reserved -= reserved
            self.spent += used
            self._changed.notify_all()

    async def stop(self, reason: str) -> None:
        """Launch nothing more; calls in flight may finish."""
        async with self._changed:
            self.stopped = self.stopped or reason
            self._changed.notify_all()
