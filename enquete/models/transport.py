"""One request to an OpenAI-compatible server: in the form it understands, within limits, with retries.

    within its context? → server there? → its pause over → the model's window and pace → a slot of the process
    → send, at most `timeout_s` or as long as its server takes → let go → answer, back off, adapt, or wait for the server

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots.
Only `send` is public; what the text means is the business of `reading`.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace

from pydantic import SecretStr

from enquete.models import dialect as dialects
from enquete.models import error_messages
from enquete.models.dialect import Dialect, Rung
from enquete.models.faults import (
    GATEWAY,
    Away,
    Halted,
    NoRoom,
    Refused,
    Tally,
    Trouble,
    Unavailable,
    checked_url,
    mask,
    shown_url,
)
from enquete.models.limits import Limiter, Pause
from enquete.models.outage import longest_backoff, server_of
from enquete.models.response import Response, filtered, response_from
from enquete.models.retry_state import MOST_REFUSALS, Request, RetryState, health_probe
from enquete.models.serving import Facts, Speed, fitted, with_schema, within
from enquete.state.interview_context import Prompt
from enquete.state.request import DEFAULT_PATIENCE_S, ModelLimits

# --- How fast one model of one server may be asked: one `Lane` for each in this process, over all runs and event
# loops
#     pause      the server said when to come back (Retry-After)
#     window     requests in flight: at most the model's own cap and the server's slots, halved when the server says "later"
#                or takes long, growing again
#     pace       requests and tokens a minute, kept by spacing
#
# No library fits: aiolimiter belongs to one event loop and cannot be corrected by actual usage.

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


__all__ = ["Response", "Transport"]

MOST_TOKENS_PER_CHARACTER = 0.6
"""Of a small model in a language that it was hardly trained in."""


class Transport:
    """Requests to one server, through one shared client per model and one process-wide limit."""

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr | None,
        *,
        limiter: Limiter,
        timeout_s: float = 120.0,
        attempts: int = 3,
        backoff_s: float = 1.0,
        limits: Mapping[str, ModelLimits] | None = None,
        patience_s: float = DEFAULT_PATIENCE_S,
    ):
        """`backoff_s`: the first wait between attempts, doubled each time up to 10 s, plus up to half of jitter.

        `limits`: by model; a model's hold for the whole process, as last said. `patience_s`: how long the server may
        stay away, or accept nothing, before Unavailable is raised with `outage`. Raises SettingsError for a base URL
        that is none.
        """
        from enquete.models.clients import Clients  # noqa: PLC0415 - seconds of import, for runs that ask a model alone
        from enquete.models.exchange import Exchange  # noqa: PLC0415

        self.base_url = checked_url(base_url)
        self._key = api_key.get_secret_value() if api_key else ""
        self._shown = mask(shown_url(self.base_url), self._key)
        self._clients = Clients(self.base_url, api_key)
        self._exchange = Exchange(self._clients, self._key, patience_s)
        self._timeout_s = timeout_s
        self._limiter = limiter
        self._limits = dict(limits or {})
        self._lanes: dict[str, Lane] = {}
        self._server = server_of(self.base_url)
        self._attempts = attempts
        self._backoff_s = backoff_s
        self._patience_s = patience_s
        self._longest_s = longest_backoff(backoff_s, patience_s)
        self._halted = False
        self._waits: set[asyncio.Timeout] = set()

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool] | None = None
    ) -> Response:
        """The server's answer, whatever it says. Raises Unavailable (ModelUnavailable) or Rejected (ModelRejected).

        `room`: asked before a request is sent again that may already have been billed (time-out, cut connection);
        where it says no, Unavailable is raised with `short`; so it is for what waits when `halt` is called. An outage
        raises Unavailable with `outage`.
        """
        request = Request(prompt, model, temperature, seed, room)
        course = RetryState(self._attempts, self._backoff_s, self._longest_s)
        course.restart(Rung.JSON_SCHEMA)
        try:
            return await self._through(request, course)
        except NoRoom:
            raise error_messages.without_room(self._shown, course.tally) from None
        except Halted:
            raise error_messages.halted(self._shown, course.tally) from None
        except Away as away:
            raise self._unavailable(course, model, outage=away.outage) from None

    async def fit(self, prompt: Prompt, model: str) -> Prompt:
        """The prompt, in its short form where the context of this model is too small for the whole (docs/models.md)."""
        if not prompt.shortens:
            return prompt
        lane = self._lane(model)
        with contextlib.suppress(Halted):
            await self._learn(lane, model)
            context = lane.facts.context
            if context is not None and not lane.speed.is_counted and lane.facts.small:
                async with self._waiting():
                    await self._count(prompt, lane, context)
        return prompt if lane.facts.context is None else within(prompt, lane.facts.context, lane.speed)

    async def _count(self, prompt: Prompt, lane: Lane, context: int) -> None:
        """How many tokens text has here, asked once, where it could matter."""
        if MOST_TOKENS_PER_CHARACTER * with_schema(prompt) + prompt.max_output_tokens < context:
            return
        text = "\n".join([prompt.system, *(message["content"] for message in prompt.messages)])
        if tokens := await self._clients.count(text):
            lane.speed.count(prompt, tokens)

    async def _through(self, request: Request, course: RetryState) -> Response:
        dialect, lane = dialects.dialect_of(self.base_url, request.model), self._lane(request.model)
        tally = course.tally
        while True:
            try:
                response = await self._with_retries(request, dialect, lane, course)
                broken = tally.broken + tally.checks
                return replace(response, sends=tally.sends, timeouts=tally.timeouts, broken=broken)
            except Refused as refused:
                if "content_filter" in refused.code:
                    return filtered(refused.message, request.model, tally)
                lowest = dialects.adapt(dialect, refused.form, refused.about)
                if lowest is None:
                    raise error_messages.rejected(self._shown, refused, request.model, tally) from None
                course.restart(max(lowest, course.lowest))
            except Trouble as trouble:
                if trouble.busy:
                    alone = course.refusals >= MOST_REFUSALS and not self._is_shut(lane, course)
                    raise Away(outage=not alone) from None
                lowest = _rung_to_try(dialect, trouble)
                if lowest is not None:
                    course.restart(max(lowest, course.lowest))
                elif not course.waits_for(self._server, trouble):
                    raise self._unavailable(course, request.model) from None

    @property
    def waits_for(self) -> str:
        """Why nothing moves and for how much longer that is borne, while the server is away; else ""."""
        absence = self._server.absence()
        return "" if absence is None else error_messages.waiting(self._shown, *absence, self._patience_s)

    def halt(self) -> None:
        """Wait for nothing more: not for a server that is away, a turn, nor the next try. What is on its way is answered.
        From the event loop of those who wait."""
        if self._halted:  # those who waited are being told, and their time cannot be set any more
            return
        self._halted = True
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def _waiting(self) -> AsyncIterator[None]:
        """Around every wait that is not for an answer. Raises Halted."""
        if self._halted:
            raise Halted
        try:
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            raise Halted from None

    async def _sleep(self, seconds: float) -> None:
        async with self._waiting():
            await asyncio.sleep(seconds)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._clients.aclose()

    def _lane(self, model: str) -> Lane:
        if model not in self._lanes:
            self._lanes[model] = lane_of(self.base_url, model)
            self._lanes[model].limit(self._limits.get(model, ModelLimits()))
        return self._lanes[model]

    async def _with_retries(self, request: Request, dialect: Dialect, lane: Lane, course: RetryState) -> Response:
        while True:
            try:
                return await self._attempt(request, dialect, lane, course)
            except Trouble:
                if course.left <= 0 or course.refusals >= MOST_REFUSALS or self._is_shut(lane, course):
                    raise
            await self._sleep(course.wait())

    async def _attempt(self, request: Request, dialect: Dialect, lane: Lane, course: RetryState) -> Response:
        request = await self._fitted(request, lane, course)
        async with self._slot(request, lane, course) as counted:
            form = dialect.form(course.lowest)
            course.cover(request.room)
            course.tally.sends += 1
            with lane.flight() as sent:
                try:
                    completed = await self._exchange.once(
                        request, form, course.tally, lambda: lane.patience(request.prompt, self._timeout_s)
                    )
                except Refused:
                    self._accepted(lane, sent)
                    raise
                except Trouble as trouble:
                    trouble.form = form
                    course.note(trouble)
                    self._blame(trouble, lane, course, sent)
                    raise
                self._accepted(lane, sent)
                took = round(1000 * (time.monotonic() - sent))
        if request.prompt.schema:  # free text says nothing about how the server takes a form
            dialect.worked(form)
        response = response_from(completed, request.prompt, request.model, took, self._key)
        lane.timed(request.prompt, sent, response.input_tokens, self._timeout_s)
        if counted and response.input_tokens is not None and response.output_tokens is not None:
            lane.settled(request.prompt, counted, response.input_tokens + response.output_tokens)
        return response

    async def _learn(self, lane: Lane, model: str) -> None:
        """What the server says of this model. Raises Halted."""
        if model not in self._clients.known:
            async with self._waiting():
                await self._clients.facts(model)
        lane.learn(self._clients.known.get(model, lane.facts))

    async def _fitted(self, request: Request, lane: Lane, course: RetryState) -> Request:
        """The request within the model's context. Raises Rejected where no server needs to be asked to know that it is not."""
        await self._learn(lane, request.model)
        context = lane.facts.context
        if context is None:
            return request
        tokens = lane.speed.tokens(request.prompt)
        prompt = fitted(request.prompt, context, tokens)
        if prompt is None:
            raise error_messages.too_long(self._shown, request, context, tokens, course.tally)
        return replace(request, prompt=prompt)

    def _accepted(self, lane: Lane, sent: float) -> None:
        self._server.answered(sent)
        lane.accepted()

    def _blame(self, trouble: Trouble, lane: Lane, course: RetryState, sent: float) -> None:
        """A 429 comes from a working server; a 503 with Retry-After may come from what stands before a missing one."""
        if trouble.busy:
            lane.refused(sent, trouble.retry_after)
        if trouble.status == 429:
            self._server.answered(sent, accepted=False)
        elif not trouble.busy:
            course.faulted_in = self._server.failed(course.faulted_in, trouble.message)

    @asynccontextmanager
    async def _slot(self, request: Request, lane: Lane, course: RetryState) -> AsyncIterator[float]:
        """Leave to send, with the tokens that the model's pace counts for it. The state of things may change in a queue."""
        counted: float | None = None
        while True:
            async with AsyncExitStack() as held:
                async with self._waiting():
                    probing = await course.cleared(self._server, self._patience_s)
                    await lane.pause.over()
                    await held.enter_async_context(lane.window.limiter)
                    if counted is None:
                        counted = await lane.turn(request.prompt)
                    await held.enter_async_context(self._limiter)
                if self._is_shut(lane, course):
                    raise Away(outage=True)
                if lane.pause.remaining > 0:
                    continue
                if probing and course.is_suspect:
                    await self._check(request, lane, course)
                elif probing or not self._server.away:
                    yield counted
                    return

    async def _check(self, request: Request, lane: Lane, course: RetryState) -> None:
        """Is the server there for others? A canary instead of this request, charged to it. Raises NoRoom."""
        course.cover(request.room, more=1)
        form, tally = dialects.dialect_of(self.base_url, request.model).form(course.lowest), Tally()
        with lane.flight() as sent:
            try:
                await self._exchange.once(health_probe(request), form, tally, lambda: self._timeout_s)
                tally.checks = 1
            except Refused:
                pass
            except Trouble as trouble:
                self._blame_check(trouble, lane, sent)
                return
            finally:
                course.tally.checks += tally.unanswered
        self._accepted(lane, sent)

    def _blame_check(self, trouble: Trouble, lane: Lane, sent: float) -> None:
        if trouble.busy:
            lane.refused(sent, trouble.retry_after)
        if trouble.status == 429:
            self._server.answered(sent, accepted=False)
        else:
            self._server.check_failed(unreachable=trouble.unreachable)

    def _is_shut(self, lane: Lane, course: RetryState) -> bool:
        """The model's requests are all told "later", for longer than ordinary attempts take and than we are patient."""
        return lane.shut(course.began, max(self._patience_s, self._attempts * self._backoff_s))

    def _unavailable(self, course: RetryState, model: str, *, outage: bool = False) -> Unavailable:
        if outage:
            return error_messages.outage(self._shown, course.trouble, model, course.tally, self._patience_s)
        return error_messages.unavailable(self._shown, course.trouble, model, course.tally)


def _rung_to_try(dialect: Dialect, trouble: Trouble) -> Rung | None:
    """Some servers answer 500 to json_schema: the next rung, as long as this one has never worked there."""
    form = trouble.form
    if form is None or trouble.status is None or trouble.status < 500 or trouble.status in GATEWAY:
        return None
    return None if trouble.retry_after is not None or dialect.has_worked(form.rung) else form.rung.below
