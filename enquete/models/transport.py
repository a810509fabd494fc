"""One request to an OpenAI-compatible server: in the form it understands, within limits, with retries.

    within its context? → server there? → its pause over → the model's window and pace → a slot of the process
    → send, at most `timeout_s` or as long as its server takes → let go → answer, back off, adapt, or wait for the server

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots.
Only `send` is public; what the text means is the business of `reading`.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
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
from enquete.models.limits import Limiter
from enquete.models.outage import longest_backoff, server_of
from enquete.models.pacing import Lane, lane_of
from enquete.models.response import Response, filtered, response_from
from enquete.models.retry_state import MOST_REFUSALS, Request, RetryState, health_probe
from enquete.models.serving import fitted, with_schema, within
from enquete.state.interview_context import Prompt
from enquete.state.request import DEFAULT_PATIENCE_S, ModelLimits

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
