"""Is a server there at all? One `Server` per base URL in this process, told of every answer and every fault.

A fault after an answer begins a silence, the next answer ends it. Within a silence a request that has used up its
attempts is lost; the server counts as away once one could not even connect or two are lost. From then on requests
are held back and let through one by one, as probes, until one is answered. One lost request alone proves nothing
about the server: it probes on its own account and holds nobody back. Whoever was refused over HTTP sends a canary in its
place (see canary.py): a server that does not answer that either is `broken`.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time

LONGEST_BACKOFF = 10.0
"""Seconds between tries: a server that is back is found within these."""
MOST_AT_FAULT = 4
"""So many requests may be left over that a healthy server always leaves without an answer, and no canary was sent."""
TRIES_WITHIN_PATIENCE = 16


def backoff(step: int, first_s: float, longest_s: float = LONGEST_BACKOFF) -> float:
    """Seconds before try number `step` + 2: doubled each time from `first_s`, bounded, plus up to half of jitter."""
    return min(longest_s, first_s * 2.0 ** min(step, 60)) * random.uniform(1.0, 1.5)


def longest_backoff(first_s: float, patience_s: float) -> float:
    """At most ten seconds, and so short that a server is given up on many tries, not on two or three in a bad moment."""
    return max(first_s, min(LONGEST_BACKOFF, patience_s / TRIES_WITHIN_PATIENCE))


class Signal:
    """Happens once; wakes everybody who waits for it, whichever event loop they run in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.happened = False
        self._waiting: set[asyncio.Future[None]] = set()

    async def wait(self, seconds: float) -> None:
        """Until it happens or the time is over."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            if self.happened:
                return
            self._waiting.add(turn)
        try:
            await asyncio.wait([turn], timeout=seconds)
        finally:
            with self._lock:
                self._waiting.discard(turn)

    def happen(self) -> None:
        with self._lock:
            self.happened = True
            waiting, self._waiting = self._waiting, set()
        for turn in waiting:
            try:
                turn.get_loop().call_soon_threadsafe(_wake, turn)
            except RuntimeError:  # that loop was closed while it waited
                continue


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


class Silence:
    """A time without an answer. `over`: it ended, by an answer or (`given_up`) because nobody waited any longer."""

    def __init__(self, failing: int = 0, lost: int = 0, unreachable: bool = False, broken: bool = False):
        self.since = time.monotonic()
        self.failing = failing  # requests that had a fault
        self.lost = lost  # those that used up their attempts
        self.unreachable = unreachable  # one of them could not even connect
        self.broken = broken  # not even a canary was answered
        self.given_up = False
        self.did = ""  # what the latest fault was
        self.over = Signal()
        self._lock = threading.Lock()
        self._probes = 0
        self._next_probe = self.since if lost else None

    @property
    def away(self) -> bool:
        """Everybody is held back, not only who is lost."""
        return self.lost > 1 or (self.lost > 0 and self.is_outage)

    @property
    def proven(self) -> bool:
        """It is hardly one request's own fault."""
        return self.failing > 1 or self.is_outage

    @property
    def is_outage(self) -> bool:
        """It is certainly nobody's: no connection, or what any working server answers went unanswered."""
        return self.unreachable or self.broken

    @property
    def certain(self) -> bool:
        """Nor is it that of a few left over that this server never answers: the run pauses for it."""
        return self.failing > MOST_AT_FAULT or self.is_outage

    @property
    def probed(self) -> bool:
        return self._probes > 0

    def probe(self, made: int, backoff_s: float, longest_s: float = LONGEST_BACKOFF) -> float:
        """0.0: go now, as the next probe; else seconds to wait. Who has `made` probes gives way to who has made fewer,
        so that one request that always fails does not stand in the way of others."""
        with self._lock:
            now = time.monotonic()
            if self._next_probe is None:  # whoever is lost has only just been refused
                self._next_probe = now + backoff(0, backoff_s, longest_s)
            due = self._next_probe + 0.02 * min(made, 5)
            if now < due:
                return due - now
            self._probes += 1
            self._next_probe = now + backoff(self._probes, backoff_s, longest_s)
            return 0.0


class Server:
    """What is known about one server. Safe to use from several event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silence: Silence | None = None
        self._accepted = float("-inf")  # when the latest request was sent that got more than "later"

    @property
    def away(self) -> bool:
        return self._silence is not None and self._silence.away

    def absence(self) -> tuple[float, str] | None:
        """Seconds since the last answer before it went away, and what its latest fault was; None while it is there."""
        silence = self._silence
        return (time.monotonic() - silence.since, silence.did) if silence is not None and silence.away else None

    def answered(self, sent: float, *, accepted: bool = True) -> None:
        """A request sent at `sent` (time.monotonic) got any answer of a working server; "try later" is not `accepted`."""
        if accepted:
            self._accepted = max(self._accepted, sent)
        silence = self._silence
        if silence is None or (silence.unreachable and sent < silence.since):  # a closed door, and work still going on
            return
        with self._lock:
            if self._silence is silence:
                self._silence = None
        silence.over.happen()

    def failed(self, mine: Silence | None, did: str = "") -> Silence:
        """A request got no answer; `mine` is the silence in which it had its last fault. The silence it is in now."""
        with self._lock:
            silence = self._silence = self._silence or Silence()
            silence.did = did
            silence.failing += silence is not mine
        return silence

    def accepted_since(self, moment: float) -> bool:
        """Was a request answered that was sent after `moment`?"""
        return self._accepted > moment

    def lose(self, mine: Silence | None, *, unreachable: bool) -> Silence:
        """The silence in which a request has now used up its attempts; `mine` is the one it was lost in before."""
        with self._lock:
            silence = self._silence = self._silence or Silence()
            silence.lost += silence is not mine
            silence.unreachable |= unreachable
        return silence

    def check_failed(self, *, unreachable: bool) -> None:
        """A canary got no answer."""
        with self._lock:
            silence = self._silence = self._silence or Silence()
            silence.broken = True
            silence.unreachable |= unreachable

    def silence(self, began: float, patience_s: float) -> Silence | None:
        """The present silence, if any. Who began after it was given up waits anew: what is known is kept, the clock is not."""
        old = self._silence
        if old is None or began <= old.since + patience_s:
            return old
        with self._lock:
            if self._silence is old:
                self._silence = Silence(old.failing, old.lost, old.unreachable, old.broken)
                self._silence.did = old.did
                old.given_up = True
        old.over.happen()
        return self._silence


_SERVERS: dict[str, Server] = {}
_SERVERS_LOCK = threading.Lock()


def server_of(base_url: str) -> Server:
    """The one record of this server in this process."""
    with _SERVERS_LOCK:
        return _SERVERS.setdefault(base_url, Server())
