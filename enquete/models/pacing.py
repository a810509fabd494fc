"""How fast one model of one server may be asked: one `Lane` for each in this process, over all runs and event loops.

    pause      the server said when to come back (Retry-After)
    window     requests in flight: at most the model's own cap and the server's slots, halved when the server says "later"
               or takes long, growing again
    pace       requests and tokens a minute, kept by spacing

No library fits: aiolimiter belongs to one event loop and cannot be corrected by actual usage.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from enquete.models.limits import Limiter, Pause
from enquete.models.serving import Facts, Speed
from enquete.state.interview_context import Prompt
from enquete.state.request import ModelLimits

UNLIMITED = 4096
"""Requests in flight of a model without a cap of its own: what settings allow at most for the whole process."""
STEP = 8
"""Answers for one more request in flight; in a window smaller than this, as many as the window is wide."""
LEARNING = 0.1
"""Weight of the latest request in the learnt ratio of actual to highest possible tokens."""


class Window:
    """Requests allowed in flight: additive increase, multiplicative decrease (Chiu & Jain 1989).

    Halved from what was really in flight, as RFC 5681 does, and once per round trip: a "later" to a request that was
    sent before the last cut says nothing new.
    """

    def __init__(self) -> None:
        self.limiter = Limiter(UNLIMITED)
        self._lock = threading.Lock()
        self._cap = UNLIMITED
        self._cut = float("-inf")
        self._answers = 0

    @property
    def size(self) -> int:
        return self.limiter.size

    def cap(self, cap: int) -> None:
        """The model's own limit. A window that was cut stays so and grows up to it."""
        with self._lock:
            if cap != self._cap:
                full = self.size == self._cap
                self._cap = cap
                self.limiter.resize(cap if full else min(self.size, cap))

    def grow(self) -> None:
        """One answer."""
        if self.size >= self._cap:
            return
        with self._lock:
            self._answers += 1
            if self._answers >= min(self.size, STEP) and self.size < self._cap:
                self._answers = 0
                self.limiter.resize(self.size + 1)

    def shrink(self, sent: float, in_flight: int) -> None:
        """One "later" to a request sent at `sent` (time.monotonic), with so many in flight, itself included."""
        with self._lock:
            if sent > self._cut:
                self._cut = time.monotonic()
                self._answers = 0
                self.limiter.resize(max(1, min(self.size, in_flight) // 2))


class Pace:
    """Requests and tokens a minute, by spacing: no burst, as servers count in shorter times than a minute.

    Within any minute at most `requests` are sent, and at most `tokens` and the tokens of one request.
    """

    def __init__(self, requests: int | None, tokens: int | None):
        self._lock = threading.Lock()
        self._request_s = 60 / requests if requests else 0.0
        self._token_s = 60 / tokens if tokens else 0.0
        self._requests_free = self._tokens_free = 0.0  # from when on the next may go (time.monotonic)

    async def turn(self, tokens: float) -> None:
        """Wait for one's turn, first come first served. Who is cancelled gives it back."""
        wait = self._take(tokens)
        if wait <= 0:
            return
        try:
            await asyncio.sleep(wait)
        except asyncio.CancelledError:
            self.correct(tokens, requests=1)
            raise

    def correct(self, tokens: float, requests: int = 0) -> None:
        """So many were taken but not used; negative: used but not taken."""
        with self._lock:
            self._tokens_free -= tokens * self._token_s
            self._requests_free -= requests * self._request_s

    def _take(self, tokens: float) -> float:
        with self._lock:
            now = time.monotonic()
            start = max(now, self._requests_free, self._tokens_free)
            self._requests_free = start + self._request_s
            self._tokens_free = start + tokens * self._token_s
            return start - now


class Lane:
    """All requests of one model to one server."""

    def __init__(self) -> None:
        self.pause = Pause()
        self.window = Window()
        self.speed = Speed()
        self.facts = Facts()
        self._lock = threading.Lock()
        self._limits = ModelLimits()
        self._pace: Pace | None = None
        self._in_flight = 0
        self._refused_since: float | None = None  # the first "later" since a request was accepted
        self._ratio = 1.0

    def limit(self, limits: ModelLimits) -> None:
        """Whoever says it last; the same again changes nothing."""
        with self._lock:
            if limits != self._limits:
                paced = limits.requests_per_minute or limits.tokens_per_minute
                self._pace = Pace(limits.requests_per_minute, limits.tokens_per_minute) if paced else None
                self._limits = limits
        self._cap()

    def learn(self, facts: Facts) -> None:
        """What the server says of itself: what it does not work on waits here, not there."""
        if facts != self.facts:
            self.facts = facts
            self._cap()

    def _cap(self) -> None:
        self.window.cap(min(self._limits.concurrency or UNLIMITED, self.facts.slots or UNLIMITED))

    def patience(self, prompt: Prompt, least_s: float) -> float:
        """Seconds to wait for the answer to a request under way, by what is known now."""
        return self.speed.patience(prompt, least_s, small=self.facts.small)

    def timed(self, prompt: Prompt, sent: float, read: int | None, least_s: float) -> None:
        """A request sent at `sent` was answered. Where that took half of the time it had, and nobody said how many the server
        works on at once, the next ones wait here."""
        took = time.monotonic() - sent
        self.speed.note(prompt, took, read if self.facts.context else None)
        if took > least_s / 2 and not (self._limits.concurrency or self.facts.slots):
            self.window.shrink(sent, self._in_flight)

    async def turn(self, prompt: Prompt) -> float:
        """Wait for the model's pace; the tokens this request was counted as, to be `settled` (0.0: none are counted)."""
        if (pace := self._pace) is None:
            return 0.0
        tokens = self._ratio * most_tokens(prompt) if self._limits.tokens_per_minute else 0.0
        await pace.turn(tokens)
        return tokens

    @contextmanager
    def flight(self) -> Iterator[float]:
        """A request under way; gives the moment it was sent (time.monotonic)."""
        with self._lock:
            self._in_flight += 1
        try:
            yield time.monotonic()
        finally:
            with self._lock:
                self._in_flight -= 1

    def accepted(self) -> None:
        """The server answered with more than "later"."""
        self._refused_since = None
        self.window.grow()

    def settled(self, prompt: Prompt, counted: float, used: int | None) -> None:
        """Tokens as the server reported them (None: it did not), for a request counted as `counted`."""
        if not counted or used is None or (pace := self._pace) is None:
            return
        pace.correct(counted - used)
        self._ratio += LEARNING * (used / most_tokens(prompt) - self._ratio)

    def refused(self, sent: float, retry_after: float | None) -> None:
        """The server said "later" to a request sent at `sent`: fewer at once, and nobody before it wants."""
        with self._lock:
            self._refused_since = self._refused_since or time.monotonic()
        self.window.shrink(sent, self._in_flight)
        if retry_after:
            self.pause.extend(retry_after)

    def shut(self, began: float, patience_s: float) -> bool:
        """Whether a request that began at `began` has waited for so long while none was accepted or is under way."""
        since = self._refused_since
        return since is not None and not self._in_flight and time.monotonic() >= max(since, began) + patience_s


def most_tokens(prompt: Prompt) -> float:
    """Tokens of prompt and schema by their bytes (four each), and the longest reply."""
    texts = [prompt.system, *(message["content"] for message in prompt.messages), prompt.schema]
    return sum(len(text) for text in texts) / 4 + prompt.max_output_tokens


_LANES: dict[tuple[str, str], Lane] = {}
_LANES_LOCK = threading.Lock()


def lane_of(base_url: str, model: str) -> Lane:
    """The one lane of this server and model in this process."""
    with _LANES_LOCK:
        return _LANES.setdefault((base_url, model), Lane())
