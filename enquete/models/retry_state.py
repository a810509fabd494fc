"""What one request has been through: how many attempts it has left, and how long it waits before the next.

a fault           uses up one attempt; back off, then again
no attempts left  others got answers meanwhile: it fails alone. Nobody did: it waits for the server
refused, waiting  the next probe is a canary. Answered: one more try, and after the second such canary it fails alone
the server back   its attempts start over
"later" (429)     uses up nothing
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from enquete.models.dialect import Rung
from enquete.models.faults import Away, NoRoom, Tally, Trouble
from enquete.models.outage import LONGEST_BACKOFF, Server, Silence, backoff
from enquete.state.interview_context import Prompt

MOST_RETURNS = 5
"""A request that fails after each of so many returns of its server is at fault itself, or will not get through."""
CONFIRMATIONS = 2
"""Times that others are served right after a request was refused, out of attempts: once may be a server just back."""
MOST_REFUSALS = 100
"""Times that one request is told "later" while others are accepted; at ten seconds each, a quarter of an hour."""
TRUSTED = 3
"""Times in a row that a server's own Retry-After is believed before back-off is added."""


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how it is to be answered, the same at every attempt. `room`: see Transport.send."""

    prompt: Prompt
    model: str
    temperature: float
    seed: int
    room: Callable[[], bool] | None = None


CANARY = Prompt(
    system="This is a test of the connection.",
    messages=({"role": "user", "content": "Are you there?"},),
    schema='{"type":"object","properties":{"there":{"type":"boolean"}},"required":["there"]}',
    max_output_tokens=32,  # an answer cut off by its length is an answer too
)


def health_probe(request: Request) -> Request:
    """A question that any working server answers, as `request` is sent: it tells a server's failure from a request's own.

    A request that is answered 500 each time may be too long for the server, or the server may answer everybody so. When
    nobody else happens to be served, this one is sent in between. It is short, so it costs next to nothing; the request for
    whose sake it was sent is charged for it, at its own reservation.
    """
    return Request(CANARY, request.model, request.temperature, request.seed)


@dataclass(slots=True)
class RetryState:
    """Mutable, one per Transport.send. Times are time.monotonic, in seconds."""

    attempts: int
    backoff_s: float
    longest_s: float = LONGEST_BACKOFF
    began: float = field(default_factory=time.monotonic)
    tally: Tally = field(default_factory=Tally)
    lowest: Rung = Rung.JSON_SCHEMA  # what this request had to step down to; the dialect may be lower still
    left: int = 0  # attempts until the next decision
    refusals: int = 0
    refusals_in_a_row: int = 0
    own_faults: int = 0  # those that may be its own, since the server was last back: not a closed door
    first_fault: float | None = None  # since the server was last back
    latest_fault: float = field(default_factory=time.monotonic)
    confirmed: int = 0  # times that others were served right after it was out of attempts
    returns: int = 0
    faulted_in: Silence | None = None
    lost_in: Silence | None = None
    probes: int = 0
    trouble: Trouble | None = None  # the latest

    def restart(self, lowest: Rung) -> None:
        """Attempts anew on this rung; only one at a time while the server is away."""
        self.lowest = lowest
        self.left = 1 if self.lost_in else self.attempts

    def note(self, trouble: Trouble) -> None:
        self.trouble = trouble
        if trouble.busy:
            self.refusals += 1
            self.refusals_in_a_row += 1
            return
        self.left -= 1
        self.own_faults += not trouble.unreachable
        self.refusals_in_a_row = 0
        self.latest_fault = time.monotonic()
        if self.first_fault is None:
            self.first_fault = self.latest_fault

    def wait(self) -> float:
        """Seconds before the next try; after a "later" never sooner than the server asked for."""
        if self.trouble is None or not self.trouble.busy:
            return backoff(self.attempts - self.left - 1 + 2 * self.returns, self.backoff_s, self.longest_s)
        asked = self.trouble.retry_after
        if asked is None:
            return backoff(self.refusals_in_a_row - 1, self.backoff_s, self.longest_s)
        patient = backoff(self.refusals_in_a_row - TRUSTED - 1, self.backoff_s, self.longest_s)
        return max(asked * random.uniform(1.0, 1.1), patient if self.refusals_in_a_row > TRUSTED else 0.0)

    @property
    def is_suspect(self) -> bool:
        """The latest answer may be about this request alone: whether the server works is for a canary to say."""
        return self.trouble is not None and self.trouble.answered

    def cover(self, room: Callable[[], bool] | None, more: int = 0) -> None:
        """A send after one that may have been billed, or after `more` that will be, needs a reservation of its own.
        Raises NoRoom."""
        if room is None or self.tally.unanswered + more <= self.tally.covered:
            return
        if not room():
            raise NoRoom
        self.tally.covered += 1

    def waits_for(self, server: Server, trouble: Trouble) -> bool:
        """Out of attempts: is it the server, so that this request waits and tries again? Else it fails alone."""
        if self._probed_too_soon():
            self._returned()
            return True
        if not trouble.unreachable and (self.returns >= MOST_RETURNS or self._is_to_blame(server)):
            return False  # a closed door is never one request's fault, whoever was let in before
        self.lost_in = server.lose(self.lost_in, unreachable=trouble.unreachable)
        self.restart(self.lowest if trouble.answered else Rung.JSON_SCHEMA)
        return True

    async def cleared(self, server: Server, patience_s: float) -> bool:
        """Wait while the server is away. True: it still is, and this request (or a canary) goes as a probe. Raises Away."""
        waited = self.lost_in
        while True:
            silence = server.silence(self.began, patience_s)
            if waited is not None and silence is not waited:
                await self._ended(waited, server)
                waited = None
                continue
            if silence is None or not (silence.away or silence is self.lost_in):
                return False
            waited = silence
            patience = silence.since + patience_s - time.monotonic()
            if patience <= 0 and self._has_waited(silence, patience_s):
                raise Away(outage=silence.certain)
            wait = silence.probe(self.probes, self.backoff_s, self.longest_s)
            if wait <= 0:
                self.probes += 1
                return True
            await silence.over.wait(min(wait, patience) if patience > 0 else wait)

    def _probed_too_soon(self) -> bool:
        """It went as a probe, and before it had its fault another one was answered: what kept all silent kept this one too."""
        silence = self.lost_in
        if silence is None or self.is_suspect or self.returns >= MOST_RETURNS:
            return False
        return silence.over.happened and silence.proven and not silence.given_up

    def _is_to_blame(self, server: Server) -> bool:
        """Every attempt got through and failed while others were answered, who are answered still. Three faults may
        also come from a server that went away twice."""
        served = self.first_fault is not None and server.accepted_since(self.first_fault)
        alone = self.faulted_in is None or not self.faulted_in.proven
        return served and alone and self.own_faults >= self.attempts

    def _has_waited(self, silence: Silence, patience_s: float) -> bool:
        """Nobody who was refused is given up before a canary was sent, unless there is no patience at all."""
        if self.is_suspect and patience_s > 0:
            return silence.probed
        return bool(self.tally.sends or silence.probed)

    async def _ended(self, silence: Silence, server: Server) -> None:
        """The silence in which this request was held back is over. Raises Away."""
        if silence.given_up:
            raise Away(outage=silence.certain)
        self.probes = 0
        if silence.is_outage or not self.is_suspect:
            self._returned()
        elif silence is self.lost_in:  # else it was only held back, and what it has used up stays so
            await self._doubted(server)

    def _returned(self) -> None:
        self.own_faults = self.confirmed = 0
        self.returns += 1
        self.lost_in = self.first_fault = None
        self.restart(Rung.JSON_SCHEMA)

    async def _doubted(self, server: Server) -> None:
        """There was no outage: one more try, to be refused while others are served. Raises Away after the second."""
        self.returns += 1
        self.lost_in = self.first_fault = None
        self.left = 1
        if not server.accepted_since(self.latest_fault):  # what ended the silence was under way before
            await asyncio.sleep(backoff(0, self.backoff_s, self.longest_s))
        self.confirmed += server.accepted_since(self.latest_fault)
        if self.confirmed >= CONFIRMATIONS:
            raise Away(outage=False)
