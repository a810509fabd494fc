"""A run's budget where several processes draw on it: in blocks, which the ledger holds for each (workers.py).

A call takes its reservation from its process's block without a look at the ledger; a process whose block is used up
takes another. Near the cap blocks shrink to what is in flight, and who finds no room waits until no process has
anything in flight, as in one process. So the cap holds as there, and a pause or a spent cap is known to all.

A model's requests and tokens a minute where several processes send: by turns, which the ledger gives out in blocks.

A block is a stretch of time that is one process's alone; within it requests go at the model's pace. What of a block is
not used is lost, so it is short.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress

from enquete.ledger.budget import NOTHING, Amount, Budget, Cap, Claim, CostKind
from enquete.ledger.ledger import Ledger
from enquete.ledger.workers import BlockRequest, Evicted, SharedBalance, ask_to_stop, look, take_block, take_turns
from enquete.state.methodology import alongside

# --- The pace --------------------------------------------------------------------------------------------------------

BLOCK_S = 1.0
"""Seconds of a model's pace that one process takes at once, unless one request needs more."""


class _Quota:
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
        self._requests, self._tokens = _Quota(requests), _Quota(tokens)
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


# --- The budget ------------------------------------------------------------------------------------------------------

BLOCK = 64
"""Calls that a block is taken for."""
LOOK_S = 0.25
"""Seconds between two looks for a pause, and between two tries to take a block that others leave no room for."""
CLAIMS_S = 1.0
"""Seconds for which what claims have spent is believed: it decides who goes first, never about the cap."""


class SharedBudget(Budget):
    """The budget of one process among several. `draw`: the claims, with what all processes have spent of them."""

    def __init__(
        self,
        ledger: Ledger,
        owner: str,
        cap: int,
        spent: int,
        *,
        cap_usd: float | None,
        spent_usd: float,
        claims: Mapping[str, Claim],
        draw: Callable[[], Mapping[str, Claim]],
    ):
        super().__init__(cap, spent, cap_usd=cap_usd, spent_usd=spent_usd, claims=claims)
        self.processes = 2
        self._ledger = ledger
        self._owner = owner
        self._draw = draw
        self._drawn_at = float("-inf")
        self._block = NOTHING  # in flight and in reserve, less what was settled since it was taken
        self._others = NOTHING
        self._paid_usd = 0.0  # since the ledger was told
        self._looking = asyncio.Lock()

    @property
    def _in_flight(self) -> Amount:
        excess = self.calibration.reserved_excess
        return Amount(self.reserved + excess.tokens, max(0.0, self.reserved_usd) + excess.usd)

    def _has_block(self, need: Amount) -> bool:
        used = self._in_flight
        money = self.cap_usd is None or used.usd + need.usd <= self._block.usd
        return money and used.tokens + need.tokens <= self._block.tokens

    async def _reserve(self, tokens: int, usd: float, claim: str, kind: CostKind | None) -> bool:
        while not self.stopped:
            need = self._needed(tokens, usd, kind)
            lacking = self._lacking(*need, self._held_before(claim))
            if not lacking and self._has_block(need):
                self._take(tokens, usd, claim, kind)
                return True
            was_lacking = lacking
            await self._look(NOTHING if lacking else need)
            if self.stopped:
                break
            need = self._needed(tokens, usd, kind)
            lacking = self._lacking(*need, self._held_before(claim))
            if not lacking and (was_lacking or self._has_block(need)):
                continue
            deferred = self._is_deferred(*need, claim)
            nobody = self.reserved == 0 and self._others.tokens == 0
            if nobody or deferred:
                self.ran_short = True
                self.deferred = self.deferred or (deferred and not nobody) or not self._lacking(*need)
                self._refuse(*need, lacking or "tokens")
                return False
            async with self._changed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), LOOK_S)
        return False

    def _needed_at_once(self, need: Amount) -> Amount:
        """What cannot wait is taken beyond the block if the cap, as last seen, has room for as many in each process."""
        return need if self._has_block(need) else need.times(self.processes)

    def _paid(self, tokens: int, usd: float) -> None:
        self._block = Amount(self._block.tokens - tokens, self._block.usd - usd)
        self._paid_usd += usd

    async def stop(self, reason: str, *, failed: bool = False) -> None:
        """Here and, told by the ledger, everywhere."""
        if not self.stopped:
            with suppress(Evicted):
                await self._ledger.write(
                    lambda connection: ask_to_stop(connection, self._owner, reason, failed and not self.stopped)
                )
        await super().stop(reason, failed=failed)

    async def _look(self, need: Amount) -> None:
        """Take a block for `need`, or (NOTHING) give back what is not in flight; see what the others have spent."""
        async with self._looking:
            if need != NOTHING and self._has_block(need):  # taken while this one waited
                return
            used, paid = self._in_flight, self._paid_usd
            spare = Amount((BLOCK - 1) * need.tokens, (BLOCK - 1) * need.usd)
            wanted = BlockRequest(used, need, spare, paid)
            before = self._block
            try:
                standing = await self._ledger.write(
                    lambda connection: take_block(connection, self._owner, wanted, self.cap, self.cap_usd)
                )
            except Evicted as gone:
                await super().stop(str(gone))
                return
            self._paid_usd -= paid
            settled = Amount(before.tokens - self._block.tokens, before.usd - self._block.usd)  # while it was written
            self._block = Amount(standing.tokens - settled.tokens, standing.usd - settled.usd)
            self._see(standing)

    def _see(self, standing: SharedBalance) -> None:
        self._others = Amount(standing.others, standing.others_usd)
        self.spent, self.spent_usd = standing.spent, standing.spent_usd + self._paid_usd
        self.processes = standing.processes
        self._redraw()

    def _redraw(self) -> None:
        """What all processes have spent of each claim."""
        now = asyncio.get_running_loop().time()
        if now >= self._drawn_at + CLAIMS_S:
            self._drawn_at = now
            for name, drawn in self._draw().items():
                mine = self.claims.get(name, drawn)
                drawn.reserved, drawn.reserved_usd = mine.reserved, mine.reserved_usd
                drawn.closed = drawn.closed or mine.closed
                self.claims[name] = drawn

    def _lacking(self, tokens: int, usd: float, held: Amount = NOTHING) -> Cap:
        """The others' blocks are as a rule for what is held before this claim, and not counted beside it."""
        return super()._lacking(tokens, usd, held.at_least(self._others))

    def _borne(self, tokens: int, usd: float) -> float:
        return super()._borne(tokens, usd) / self.processes

    def watched(self) -> AbstractAsyncContextManager[None]:
        """Within, a pause that any process asked for is heard, and what all have spent is seen."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(LOOK_S)
                looked = self._ledger.look(lambda connection: look(connection, self._owner))
                if looked.spent != self.spent:
                    self.spent = looked.spent
                    self._redraw()
                self.processes = max(1, looked.processes)
                if looked.stopped and not self.stopped:
                    await Budget.stop(self, looked.stopped, failed=looked.failed)
                elif not looked.registered and not self.stopped:
                    await Budget.stop(self, str(Evicted("another process does its work")))

        return alongside(watch())
