"""One request to an OpenAI-compatible server: in the form it understands, within limits, with retries.

    within its context? → server there? → its pause over → the model's window and pace → a slot of the process
    → send, at most `timeout_s` or as long as its server takes → let go → answer, back off, adapt, or wait for the
    server

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots.

    a fault           uses up one attempt; back off, then again
    no attempts left  others were served between its faults: it fails alone. Else a health probe, a question of a few
    words,
                      tells whose fault it is
    probe answered    one more try, and after the second such probe it fails alone
    probe unanswered  everybody waits for the server; once it is back, attempts start over
    "later" (429)     uses up nothing
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from enquete.models.chat_completions import (
    ChatCompletion,
    FormatFallback,
    ModelResponse,
    RequestForm,
    ResponseFormat,
    fallback_of,
    filtered,
    next_format,
    response_from,
)
from enquete.models.faults import (
    GATEWAY,
    Refused,
    Rejected,
    SendCounts,
    Setting,
    Trouble,
    Unavailable,
    checked_url,
    halted,
    mask,
    rejected,
    shown_url,
    unavailable,
    without_room,
)
from enquete.models.servers import (
    LONGEST_BACKOFF,
    Limiter,
    Paced,
    RateLimiter,
    ServerHealth,
    backoff,
    fitted,
    health_of,
    longest_backoff,
    rate_limiter_of,
    with_schema,
    within,
)
from enquete.state.interview_context import Prompt
from enquete.state.request import DEFAULT_PATIENCE_S, ModelLimits

MOST_TOKENS_PER_CHARACTER = 0.6
"""Of a small model in a language that it was hardly trained in."""
MOST_RETURNS = 5
"""A request that fails after each of so many returns of its server is at fault itself, or will not get through."""
CONFIRMATIONS = 2
"""Times that others are served right after a request was refused, out of attempts: once may be a server just back."""
MOST_REFUSALS = 100
"""Times that one request is told "later" while others are accepted; at ten seconds each, a quarter of an hour."""
TRUSTED = 3
"""Times in a row that a server's own Retry-After is believed before back-off is added."""
LOOK_S = 0.25
"""Who waits for a server looks so often whether it is back."""

HEALTH_PROBE = Prompt(
    system="This is a test of the connection.",
    messages=({"role": "user", "content": "Are you there?"},),
    schema='{"type":"object","properties":{"there":{"type":"boolean"}},"required":["there"]}',
    max_output_tokens=32,  # an answer cut off by its length is an answer too
)
"""What any working server answers: it tells a server's failure from a request's own. It costs next to nothing; the
request for whose sake it is sent is charged for it, at its own reservation."""


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how it is to be answered, the same at every attempt. `room`: see Transport.send."""

    prompt: Prompt
    model: str
    temperature: float
    seed: int
    room: Callable[[], bool] | None = None


@dataclass(slots=True)
class RetryState:
    """What one request has been through. Times are time.monotonic, in seconds."""

    attempts: int
    backoff_s: float
    longest_s: float = LONGEST_BACKOFF
    began: float = field(default_factory=time.monotonic)
    counts: SendCounts = field(default_factory=SendCounts)
    lowest: ResponseFormat = ResponseFormat.JSON_SCHEMA  # what it had to step down to; others may be lower still
    form: RequestForm | None = None  # in which it was last sent
    left: int = 0  # attempts until the next decision
    refusals: int = 0
    refusals_in_a_row: int = 0
    latest_fault: float | None = None  # since the server was last back
    served: int = 0  # pairs of its faults between which others were served
    is_lost: bool = False  # out of attempts, and whose fault that is will be told
    confirmed: int = 0  # times that others were served right after it was lost
    returns: int = 0
    trouble: Trouble | None = None  # the latest

    def restart(self, lowest: ResponseFormat) -> None:
        """Attempts anew in this format."""
        self.lowest, self.left = lowest, self.attempts

    def note(self, trouble: Trouble, health: ServerHealth) -> None:
        self.trouble = trouble
        if trouble.busy:
            self.refusals += 1
            self.refusals_in_a_row += 1
            return
        self.left -= 1
        self.refusals_in_a_row = 0
        self.served += self.latest_fault is not None and health.accepted > self.latest_fault
        self.latest_fault = time.monotonic()

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
    def is_at_fault(self) -> bool:
        """Whether it got through and failed each time while others were served, or however often the server came back.
        A closed door is never one request's fault."""
        if self.trouble is None or self.trouble.unreachable:
            return False
        return self.served >= max(1, self.attempts - 1) or self.returns >= MOST_RETURNS

    def is_decided(self, health: ServerHealth) -> bool:
        """Whether its latest fault is behind it: the server was away since, or serves others."""
        return not self.is_lost or max(health.accepted, health.returned) > (self.latest_fault or 0.0)

    def go_on(self, health: ServerHealth) -> bool:
        """Once that `is_decided`. False where it is to fail alone."""
        was_away = self.latest_fault is not None and health.returned > self.latest_fault
        if not (self.is_lost or was_away):
            return True
        self.is_lost, self.latest_fault, self.served = False, None, 0
        if was_away:
            self.returns += 1
            self.confirmed = 0
            self.restart(ResponseFormat.JSON_SCHEMA)
            return True
        self.confirmed += 1
        self.left = 1
        return self.confirmed < CONFIRMATIONS


class Transport:
    """Requests to one server, through one shared client and one process-wide limit."""

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
        shared_pace: Callable[[str, ModelLimits], Paced | None] = lambda model, limits: None,
    ):
        """`backoff_s`: the first wait between attempts, doubled each time up to 10 s, plus up to half of jitter.

        `limits`: by model; a model's hold for the whole process, as last said. `patience_s`: how long the server may
        stay away, or accept nothing, before Unavailable is raised with `outage`. `shared_pace`: of a model, where other
        processes ask it too. Raises SettingsError for a base URL
        that is none.
        """
        from enquete.models.http_client import ServerClient  # noqa: PLC0415 - half a second, for runs that ask a model alone

        self.base_url = checked_url(base_url)
        self._key = api_key.get_secret_value() if api_key else ""
        self._shown = mask(shown_url(self.base_url), self._key)
        self._client = ServerClient(self.base_url, api_key, patience_s)
        self._timeout_s = timeout_s
        self._limiter = limiter
        self._limits = dict(limits or {})
        self._shared_pace = shared_pace
        self._rate_limiters: dict[str, RateLimiter] = {}
        self._health = health_of(self.base_url)
        self._attempts = attempts
        self._backoff_s = backoff_s
        self._patience_s = patience_s
        self._longest_s = longest_backoff(backoff_s, patience_s)
        self._halted = False
        self._waits: set[asyncio.Timeout] = set()

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool] | None = None
    ) -> ModelResponse:
        """The server's answer, whatever it says. Raises Unavailable (ModelUnavailable) or Rejected (ModelRejected).

        `room`: asked before a request is sent again that may already have been billed (time-out, cut connection);
        where it says no, Unavailable is raised with `short`; so it is for what waits when `halt` is called. An outage
        raises Unavailable with `outage`.
        """
        request = Request(prompt, model, temperature, seed, room)
        state = RetryState(self._attempts, self._backoff_s, self._longest_s)
        state.restart(ResponseFormat.JSON_SCHEMA)
        fallback, limiter = fallback_of(self.base_url, model), self._rate_limiter(model)
        while True:
            try:
                response = await self._attempt(request, fallback, limiter, state)
            except Refused as refused:
                if "content_filter" in refused.code:
                    return filtered(refused.message, model, state.counts)
                assert state.form is not None
                lowest = next_format(fallback, state.form, refused.about)
                if lowest is None:
                    raise rejected(self._shown, refused, model, state.counts) from None
                state.restart(max(lowest, state.lowest))
            except Trouble as trouble:
                if self._goes_on_at_once(trouble, fallback, limiter, state, model):
                    continue
                async with self._waiting(state.counts):
                    await asyncio.sleep(state.wait())
            else:
                counts = state.counts
                return replace(
                    response, sends=counts.sends, timeouts=counts.timeouts, broken=counts.broken + counts.probes
                )

    def _goes_on_at_once(
        self, trouble: Trouble, fallback: FormatFallback, limiter: RateLimiter, state: RetryState, model: str
    ) -> bool:
        """Without backing off: in another format, or to wait for the server. Raises Unavailable."""
        if trouble.busy:
            if self._is_shut(limiter, state):
                raise self._outage(state, model)
            if state.refusals >= MOST_REFUSALS:
                raise unavailable(self._shown, trouble, model, state.counts)
            return False
        if state.left > 0:
            return False
        lowest = _looser_format(fallback, trouble, state.form)
        if lowest is not None:
            state.restart(max(lowest, state.lowest))
            return True
        if state.is_at_fault or (self._patience_s <= 0 and not trouble.unreachable):
            raise unavailable(self._shown, trouble, model, state.counts)
        state.is_lost = True
        if trouble.unreachable:
            self._health.left(unreachable=True)
        return True

    async def fit(self, prompt: Prompt, model: str) -> Prompt:
        """The prompt, in its short form where the context of this model is too small for the whole (docs/models.md)."""
        if not prompt.shortens:
            return prompt
        limiter = self._rate_limiter(model)
        with suppress(Unavailable):  # halted: what is sent next will say so
            await self._learn(limiter, model, SendCounts())
            context, speed = limiter.facts.context, limiter.speed
            most = MOST_TOKENS_PER_CHARACTER * with_schema(prompt) + prompt.max_output_tokens
            if context is not None and limiter.facts.small and not speed.is_counted and most >= context:
                async with self._waiting(SendCounts()):
                    text = "\n".join([prompt.system, *(message["content"] for message in prompt.messages)])
                    if tokens := await self._client.count(text):
                        speed.count(prompt, tokens)
        return prompt if limiter.facts.context is None else within(prompt, limiter.facts.context, limiter.speed)

    @property
    def waits_for(self) -> str:
        """Why nothing moves and for how much longer that is borne, while the server is away; else ""."""
        absence = self._health.absence()
        if absence is None:
            return ""
        away_s, did = absence
        why, left = f": it {did}" if did else "", max(0.0, self._patience_s - away_s)
        words = f"the model server {self._shown} has not answered for {away_s:.0f} s{why}"
        return f"{words}; it is waited for, {left:.0f} s left"

    def halt(self) -> None:
        """Wait for nothing more: not for a server that is away, a turn, nor the next try. What is on its way is
        answered. From the event loop of those who wait."""
        if self._halted:  # those who waited are being told, and their time cannot be set any more
            return
        self._halted = True
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @asynccontextmanager
    async def _waiting(self, counts: SendCounts) -> AsyncIterator[None]:
        """Around every wait that is not for an answer. Raises Unavailable with `short` where the run is paused."""
        if self._halted:
            raise halted(self._shown, counts)
        try:
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            raise halted(self._shown, counts) from None

    def _rate_limiter(self, model: str) -> RateLimiter:
        if model not in self._rate_limiters:
            self._rate_limiters[model] = rate_limiter_of(self.base_url, model)
            limits = self._limits.get(model, ModelLimits())
            self._rate_limiters[model].limit(limits, self._shared_pace(model, limits))
        return self._rate_limiters[model]

    async def _attempt(
        self, request: Request, fallback: FormatFallback, limiter: RateLimiter, state: RetryState
    ) -> ModelResponse:
        request = await self._fitted(request, limiter, state)
        async with self._slot(request, fallback, limiter, state) as counted:
            form = state.form = fallback.form(state.lowest)
            self._cover(request, state)
            state.counts.sends += 1
            with limiter.flight() as sent:
                try:
                    completion = await self._once(
                        request, form, state.counts, lambda: limiter.patience(request.prompt, self._timeout_s)
                    )
                except Refused:
                    self._accepted(limiter, sent)
                    raise
                except Trouble as trouble:
                    state.note(trouble, self._health)
                    if trouble.busy:
                        limiter.refused(sent, trouble.retry_after)
                    if trouble.status == 429:
                        self._health.answered(sent, accepted=False)
                    elif not trouble.busy:  # a 503 with Retry-After may come from what stands before a missing server
                        self._health.failed(trouble.message)
                    raise
                self._accepted(limiter, sent)
                took = round(1000 * (time.monotonic() - sent))
        if request.prompt.schema:  # free text says nothing about how the server takes a form
            fallback.worked(form)
        response = response_from(completion, request.prompt, request.model, took, self._key)
        limiter.timed(request.prompt, sent, response.input_tokens, self._timeout_s)
        if counted and response.input_tokens is not None and response.output_tokens is not None:
            limiter.settled(request.prompt, counted, response.input_tokens + response.output_tokens)
        return response

    async def _once(
        self, request: Request, form: RequestForm, counts: SendCounts, patience: Callable[[], float]
    ) -> ChatCompletion:
        body = form.body(request.prompt, temperature=request.temperature, seed=request.seed)
        return await self._client.complete(request.prompt, request.model, form, body, counts, patience)

    def _accepted(self, limiter: RateLimiter, sent: float) -> None:
        self._health.answered(sent)
        limiter.accepted()

    def _cover(self, request: Request, state: RetryState, more: int = 0) -> None:
        """A send after one that may have been billed, or after `more` that will be, needs a reservation of its own.
        Raises Unavailable with `short`."""
        if request.room is None or state.counts.unanswered + more <= state.counts.covered:
            return
        if not request.room():
            raise without_room(self._shown, state.counts)
        state.counts.covered += 1

    async def _learn(self, limiter: RateLimiter, model: str, counts: SendCounts) -> None:
        """What the server says of this model."""
        if model not in self._client.known:
            async with self._waiting(counts):
                await self._client.facts(model)
        limiter.learn(self._client.known.get(model, limiter.facts))

    async def _fitted(self, request: Request, limiter: RateLimiter, state: RetryState) -> Request:
        """The request within the model's context. Raises Rejected where no server needs to be asked to know that it is
        not; where nobody's question would fit, whoever answers, the run stops."""
        await self._learn(limiter, request.model, state.counts)
        context, asked = limiter.facts.context, request.prompt
        if context is None:
            return request
        tokens = limiter.speed.tokens(asked)
        prompt = fitted(asked, context, tokens)
        if prompt is not None:
            return replace(request, prompt=prompt)
        rest = tokens * (1 - len(asked.system) / with_schema(asked))
        setting: Setting = "LLM_MODEL_NAME" if fitted(asked, context, round(rest)) is None else ""
        words = (
            f"The model server {self._shown} gives {request.model!r} a context of {context:,} tokens; this question has about "
            f"{tokens:,} and its reply up to {asked.max_output_tokens:,}. Start the server with a larger context (llama.cpp: -c, "
            "for all slots together; Ollama: OLLAMA_CONTEXT_LENGTH), ask fewer items at once, or shorten personas and memories "
            "(digest_chars)."
        )
        raise Rejected(words, state.counts, 0, setting)

    @asynccontextmanager
    async def _slot(
        self, request: Request, fallback: FormatFallback, limiter: RateLimiter, state: RetryState
    ) -> AsyncIterator[float]:
        """Leave to send, with the tokens that the model's pace counts for it. The state of things may change in a
        queue."""
        counted: float | None = None
        while True:
            async with AsyncExitStack() as held:
                async with self._waiting(state.counts):
                    probes = await self._cleared(request, state)
                    await limiter.pause.over()
                    await held.enter_async_context(limiter.window.limiter)
                    if counted is None:
                        counted = await limiter.turn(request.prompt)
                    await held.enter_async_context(self._limiter)
                if self._is_shut(limiter, state):
                    raise self._outage(state, request.model)
                if limiter.pause.remaining > 0:
                    continue
                if probes:
                    await self._probe(request, fallback, limiter, state)
                elif not self._health.away:
                    yield counted
                    return

    async def _cleared(self, request: Request, state: RetryState) -> bool:
        """Wait while the server is away, or while nobody knows whose fault the latest fault is. True: this request is
        to find out (`_probe`). Raises Unavailable."""
        health = self._health
        while True:
            if not health.away and state.is_decided(health):
                if not state.go_on(health):
                    raise unavailable(self._shown, state.trouble, request.model, state.counts)
                return False
            health.waits_anew(state.began, self._patience_s)
            now, since = time.monotonic(), health.silent_since
            left = since + self._patience_s - now if health.away and since is not None else self._patience_s
            if left <= 0 and health.is_probed:
                raise self._outage(state, request.model)
            if health.takes_probe(self._backoff_s, self._longest_s):
                return True
            await asyncio.sleep(max(0.0, min(LOOK_S, left, health.next_probe - now)))

    async def _probe(self, request: Request, fallback: FormatFallback, limiter: RateLimiter, state: RetryState) -> None:
        """Is the server there, for others too? A closed door is tried with what nobody is billed for, everything else
        with a health probe, charged to this request. Raises Unavailable with `short`."""
        if self._health.unreachable:
            async with self._waiting(state.counts):
                await self._knock()
            return
        self._cover(request, state, more=1)
        counts, probe = SendCounts(), replace(request, prompt=HEALTH_PROBE)
        with limiter.flight() as sent:
            try:
                await self._once(probe, fallback.form(state.lowest), counts, lambda: self._timeout_s)
                counts.probes = 1
            except Refused:
                pass
            except Trouble as trouble:
                if trouble.busy:
                    limiter.refused(sent, trouble.retry_after)
                if trouble.status == 429:
                    self._health.answered(sent, accepted=False)
                else:
                    self._health.left(unreachable=trouble.unreachable)
                return
            finally:
                state.counts.probes += counts.unanswered
        self._accepted(limiter, sent)

    async def _knock(self) -> None:
        sent = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                status = (await self._client.ask("GET", "/models")).status_code
        except Exception:  # whatever httpx and aiohttp make of it: nobody opened
            return
        if status >= 500:  # something is there, which is perhaps not the server
            self._health.left(unreachable=False)
        else:
            self._health.answered(sent, accepted=False)

    def _is_shut(self, limiter: RateLimiter, state: RetryState) -> bool:
        """The model's requests are all told "later", for longer than ordinary attempts take and than we are patient."""
        return limiter.shut(state.began, max(self._patience_s, self._attempts * self._backoff_s))

    def _outage(self, state: RetryState, model: str) -> Unavailable:
        trouble = state.trouble or (
            Trouble(self._health.did) if self._health.did else None
        )  # of others, before it was asked
        return unavailable(self._shown, trouble, model, state.counts, self._patience_s)


def _looser_format(fallback: FormatFallback, trouble: Trouble, form: RequestForm | None) -> ResponseFormat | None:
    """Some servers answer 500 to json_schema: the next format, as long as this one has never worked there."""
    if form is None or trouble.status is None or trouble.status < 500 or trouble.status in GATEWAY:
        return None
    return (
        None if trouble.retry_after is not None or fallback.has_worked(form.reply_format) else form.reply_format.below
    )
