"""One order at a Batch API, from the first byte to its last reply: noted before each step, so that a kill between two of them is
no second order, and looked at ever more rarely until it has ended.

    noted → uploaded → noted → ordered → noted → looked at, after half a second, later once a minute → its replies

A server that is away is waited for: as long as the run is patient before anything is ordered, for ever afterwards.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from secrets import token_hex
from typing import TypeVar

from enquete.checkpoints.batch_jobs import Noted, close, note, orders_placed
from enquete.checkpoints.ledger import Ledger
from enquete.models import error_messages
from enquete.models.batches import Away, Denied, Order, Provider, Reply
from enquete.models.dialect import Form, Rung
from enquete.models.faults import Halted, Refused, Rejected, Standing, Tally, Unavailable

FIRST_POLL_S, GROWTH, LONGEST_POLL_S = 0.5, 1.5, 60.0
LOOKS = 3
"""Times that the list of batches is searched for an order that may have arrived: it may be listed a moment later."""

T = TypeVar("T")
Report = Callable[[Noted, int, str], None]
"""Told how far an order is, how many the run has placed, and what is wrong with the server ("" while it answers)."""


class Ordering:
    """Places orders of one run and follows them. For one event loop."""

    def __init__(self, provider: Provider, ledger: Ledger, shown: str, patience_s: float):
        """`shown`: the server, for people."""
        self._provider = provider
        self._ledger = ledger
        self._shown = shown
        self._patience_s = patience_s
        self.report: Report = lambda order, placed, fault: None
        self._halted = asyncio.Event()
        self._placed = orders_placed(ledger)

    def halt(self) -> None:
        """Wait for nothing more."""
        self._halted.set()

    @property
    def is_halted(self) -> bool:
        return self._halted.is_set()

    async def place(self, model: str, asked: Mapping[str, int], content: bytes) -> Noted:
        """`asked`: see checkpoints/orders.py. Raises Standing where it may have been placed; after Halted, Unavailable and Rejected
        it was not."""
        self._placed += 1
        order = await note(self._ledger, Noted(token_hex(8), self._placed, model, len(asked)), asked)
        try:
            file = await self._patiently(lambda: self._provider.upload(order.mark, content))
            order = await note(self._ledger, replace(order, file=file))
            made = await self._patiently(lambda: self._ordered(order))
        except Denied as denied:
            await close(self._ledger, order)
            raise self._refusal(denied, model) from None
        except (Halted, Unavailable):
            await close(self._ledger, order)
            raise
        return await note(self._ledger, replace(order, id=made.id))

    async def _ordered(self, order: Noted) -> Order:
        """Raises Away where it was certainly not taken, Standing where nobody can tell."""
        try:
            return await self._provider.order(order.file, run=self._ledger.run, mark=order.mark)
        except Away as away:
            if not away.perhaps:
                raise
            found = await self.searched(order)
            if found is not None:
                return found
            if away.status is not None:  # it answered, and nothing has come of it
                raise
            raise Standing(
                f"The model server {self._shown} {away}, and whether batch {order.number} was taken cannot be told yet: resume to "
                "look again."
            ) from None

    async def searched(self, order: Noted) -> Order | None:
        """The order by its mark. Raises Standing where the run pauses before that is known."""
        for wait in _growing(1.0):
            try:
                found = await self._provider.find(self._ledger.run, order.mark)
            except Away as away:
                self.report(order, self._placed, str(away))
            except Denied as denied:
                raise Standing(self._unknown(order, denied)) from None
            else:
                if found is not None or wait >= GROWTH**LOOKS:
                    return found
            await self._sleep(wait)
        raise AssertionError  # it grows for ever

    async def followed(self, order: Noted) -> Order:
        """The order once it has ended. Raises Standing."""
        for wait in _growing(FIRST_POLL_S):
            self.report(order, self._placed, "")
            await self._sleep(wait)
            try:
                seen = await self._provider.look(order.id)
            except Away as away:
                self.report(order, self._placed, str(away))
                continue
            except Denied as denied:
                raise Standing(self._unknown(order, denied)) from None
            if (seen.done, seen.failed) != (order.done, order.failed):
                order = await note(self._ledger, replace(order, done=seen.done, failed=seen.failed))
            if seen.stage != "under way":
                self.report(order, self._placed, "")
                return seen
        raise AssertionError

    async def fetched(self, order: Noted, ended: Order, deliver: Callable[[Reply], Awaitable[None]]) -> None:
        """Every reply delivered, some of them twice where the connection broke. Raises Standing."""
        for wait in _growing(FIRST_POLL_S):
            try:
                async for reply in self._provider.fetch(ended):
                    await deliver(reply)
                return
            except Away as away:
                self.report(order, self._placed, str(away))
            except Denied as denied:
                if denied.status != 404:
                    raise Standing(self._unknown(order, denied)) from None
                return  # kept for thirty days, and gone
            await self._sleep(wait)

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Before anything is ordered. Raises Halted, Unavailable with `outage`."""
        began = time.monotonic()
        for wait in _growing(FIRST_POLL_S):
            if self.is_halted:
                raise Halted
            try:
                return await work()
            except Away as away:
                if time.monotonic() - began >= self._patience_s:
                    raise error_messages.unordered(self._shown, str(away), self._patience_s) from None
            await self._waited(min(wait, self._patience_s))
        raise AssertionError

    async def _sleep(self, seconds: float) -> None:
        """Raises Standing where the run pauses."""
        if not await self._waited(seconds):
            raise Standing

    async def _waited(self, seconds: float) -> bool:
        """False where the run pauses."""
        try:
            await asyncio.wait_for(self._halted.wait(), seconds)
        except TimeoutError:
            return True
        return False

    def _refusal(self, denied: Denied, model: str) -> Exception:
        if denied.status in (404, 405, 501):
            words = f"The model server {self._shown} has no Batch API: it {denied}. Begin the study anew without batch."
            return Rejected(words, Tally(), denied.status, "LLM_BASE_URL")
        code = f"{denied.said.code} {denied.said.param}"
        refused = Refused(denied.status, denied.said.message, "", code, form=Form(Rung.JSON_SCHEMA, frozenset()))
        return error_messages.rejected(self._shown, refused, model, Tally())

    def _unknown(self, order: Noted, denied: Denied) -> str:
        return (
            f"The model server {self._shown} {denied} when it was asked for batch {order.number} ({order.id or order.mark}), which is "
            "paid for: resume with the key and the server it was ordered with."
        )


def _growing(first: float) -> Iterator[float]:
    wait = first
    while True:
        yield wait
        wait = min(wait * GROWTH, LONGEST_POLL_S)
