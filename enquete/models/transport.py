"""One request to an OpenAI-compatible server, until it is answered, refused, or nothing more helps.

    within its context → server there? → its pause over → the model's window and pace → a slot of the process → send

Of several servers of a fleet, one that is away is left for the next; it is waited for only where all are.

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots. What
is done about which fault is a table in docs/models.md.

A request that failed each time while others were served fails alone. Else, out of attempts, it waits until it is known
whose fault that is: until another one, or a health probe of a few words, has been answered or not. Answered: one more
try, and the second time it fails alone. Not answered: everybody waits for the server, and once it is back attempts
start over. "Later" (429) uses up nothing.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

from pydantic import SecretStr

from enquete.models.chat_completions import (
    ChatCompletion,
    ModelResponse,
    ResponseFormat,
    fallback_of,
    filtered,
    response_from,
)
from enquete.models.faults import (
    GATEWAY,
    Refused,
    Rejected,
    SendCounts,
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
LOOK_S = 0.25
"""Who waits for a server looks so often whether it is back."""

HEALTH_PROBE = Prompt(
    system="This is a test of the connection.",
    messages=({"role": "user", "content": "Are you there?"},),
    schema='{"type":"object","properties":{"there":{"type":"boolean"}},"required":["there"]}',
    max_output_tokens=32,  # an answer cut off by its length is an answer too
)
"""What any working server answers. It costs next to nothing; whose sake it is sent for is charged its reservation."""


@dataclass(slots=True)
class RetryState:
    """What one request has been through. Times are time.monotonic, in seconds."""

    attempts: int
    backoff_s: float
    longest_s: float = LONGEST_BACKOFF
    began: float = field(default_factory=time.monotonic)
    lowest: ResponseFormat = ResponseFormat.JSON_SCHEMA  # what it had to step down to; others may be lower still
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
        else:
            self.left -= 1
            self.refusals_in_a_row = 0
            self.served += self.latest_fault is not None and health.accepted > self.latest_fault
            self.latest_fault = time.monotonic()

    def wait(self) -> float:
        """Seconds before the next try; after a "later" never sooner than the server asked for."""
        if self.trouble is None or not self.trouble.busy:
            return backoff(self.attempts - self.left - 1 + 2 * self.returns, self.backoff_s, self.longest_s)
        if self.trouble.retry_after:
            return self.trouble.retry_after * random.uniform(1.0, 1.1)
        return backoff(self.refusals_in_a_row - 1, self.backoff_s, self.longest_s)

    def move(self) -> None:
        """To another server, with all attempts; that this one went away over it counts as one return."""
        self.returns += self.latest_fault is not None
        self.is_lost, self.latest_fault, self.served, self.confirmed = False, None, 0, 0
        self.restart(ResponseFormat.JSON_SCHEMA)

    @property
    def is_at_fault(self) -> bool:
        """Whether it got through and failed each time while others were served, or however often the server came back.
        A closed door is never one request's fault."""
        if self.trouble is None or self.trouble.unreachable:
            return False
        return self.served >= max(1, self.attempts - 1) or self.returns >= MOST_RETURNS

    def goes_on(self, health: ServerHealth) -> bool | None:
        """False where it is to fail alone; None until the server was away since its latest fault, or served others."""
        was_away = self.latest_fault is not None and health.returned > self.latest_fault
        if not (self.is_lost or was_away):
            return True
        if not was_away and health.accepted <= (self.latest_fault or 0.0):
            return None
        self.is_lost, self.latest_fault, self.served = False, None, 0
        if was_away:
            self.returns += 1
            self.confirmed = 0
            self.restart(ResponseFormat.JSON_SCHEMA)
            return True
        self.confirmed += 1
        self.left = 1
        return self.confirmed < CONFIRMATIONS


class _GoesElsewhere(Exception):
    """The request is to be made at another server of its fleet."""

    def __init__(self, to: Transport):
        super().__init__(to.shown)
        self.to = to


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
        processes ask it too. Raises SettingsError for a base URL that is none.
        """
        # Half a second, for runs that ask a model alone.
        from enquete.models.http_client import ServerClient  # noqa: PLC0415

        self.base_url = checked_url(base_url)
        self.key = api_key.get_secret_value() if api_key else ""
        self.shown = mask(shown_url(self.base_url), self.key)
        self.client = ServerClient(self.base_url, api_key, patience_s)
        self.health = health_of(self.base_url)
        self.limiter = limiter
        self.timeout_s = timeout_s
        self.attempts = attempts
        self.backoff_s = backoff_s
        self.patience_s = patience_s
        self.longest_s = longest_backoff(backoff_s, patience_s)
        self._limits = dict(limits or {})
        self._shared_pace = shared_pace
        self._rate_limiters: dict[str, RateLimiter] = {}
        self._halted = False
        self._waits: set[asyncio.Timeout] = set()

    async def send(
        self,
        prompt: Prompt,
        *,
        model: str,
        temperature: float,
        seed: int,
        room: Callable[[], bool] | None = None,
        agent: str = "",
        alternates: Sequence[Transport] = (),
    ) -> ModelResponse:
        """The server's answer, whatever it says. Raises Unavailable (ModelUnavailable) or Rejected (ModelRejected).

        `room`: asked before a request is sent again that may already have been billed (time-out, cut connection);
        where it says no, Unavailable is raised with `short`; so it is for what waits when `halt` is called. An outage
        raises Unavailable with `outage`. `alternates`: servers that are asked while this one is away, in order.
        `agent`: whose request it is, for a fleet to know.
        """
        return await Request((self, *alternates), prompt, model, temperature, seed, room).answer()

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        """The prompt, in its short form where the context of this model is too small for the whole (docs/models.md)."""
        if not prompt.shortens:
            return prompt
        limiter = self.rate_limiter(model)
        with suppress(Unavailable):  # halted: what is sent next will say so
            await self.learn(model, SendCounts())
            context, speed = limiter.facts.context, limiter.speed
            most = MOST_TOKENS_PER_CHARACTER * with_schema(prompt) + prompt.max_output_tokens
            if context is not None and limiter.facts.small and not speed.is_counted and most >= context:
                async with self.waiting(SendCounts()):
                    text = "\n".join([prompt.system, *(message["content"] for message in prompt.messages)])
                    if tokens := await self.client.count(text):
                        speed.count(prompt, tokens)
        return prompt if limiter.facts.context is None else within(prompt, limiter.facts.context, limiter.speed)

    @property
    def waits_for(self) -> str:
        """Why nothing moves and for how much longer that is borne, while the server is away; else ""."""
        absence = self.health.absence()
        if absence is None:
            return ""
        away_s, did = absence
        why, left = f": it {did}" if did else "", max(0.0, self.patience_s - away_s)
        words = f"the model server {self.shown} has not answered for {away_s:.0f} s{why}"
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
        await self.client.aclose()

    @asynccontextmanager
    async def waiting(self, counts: SendCounts) -> AsyncIterator[None]:
        """Around every wait that is not for an answer. Raises Unavailable with `short` where the run is paused."""
        if self._halted:
            raise halted(self.shown, counts)
        try:
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            raise halted(self.shown, counts) from None

    def rate_limiter(self, model: str) -> RateLimiter:
        if model not in self._rate_limiters:
            self._rate_limiters[model] = rate_limiter_of(self.base_url, model)
            limits = self._limits.get(model, ModelLimits())
            self._rate_limiters[model].limit(limits, self._shared_pace(model, limits))
        return self._rate_limiters[model]

    async def learn(self, model: str, counts: SendCounts) -> None:
        """What the server says of this model."""
        async with self.waiting(counts):
            if facts := await self.client.facts(model):
                self.rate_limiter(model).learn(facts)


class Request:
    """A prompt on its way to a server, or to one of a fleet's, through all its attempts."""

    def __init__(
        self,
        servers: Sequence[Transport],
        prompt: Prompt,
        model: str,
        temperature: float,
        seed: int,
        room: Callable[[], bool] | None,
    ):
        """`servers`: in order, the first is the agent's own."""
        self._servers = servers
        self._prompt, self._model, self._temperature, self._seed, self._room = prompt, model, temperature, seed, room
        first = servers[0]
        self._state = RetryState(first.attempts, first.backoff_s, first.longest_s, left=first.attempts)
        self._counts = SendCounts()
        self._turn_to(next((server for server in servers if server.health.is_due), first))

    def _turn_to(self, to: Transport) -> None:
        self._to = to
        self._fallback = fallback_of(to.base_url, self._model)
        self._form = self._fallback.form()  # in which it was last sent
        self._limiter = to.rate_limiter(self._model)

    async def answer(self) -> ModelResponse:
        """See Transport.send."""
        state = self._state
        while True:
            try:
                return await self._attempt()
            except _GoesElsewhere as goes:
                state.move()
                self._turn_to(goes.to)
            except Refused as refused:
                if "content_filter" in refused.code:
                    return filtered(refused.message, self._model, self._counts)
                lowest = self._fallback.after(self._form, refused.about)
                if lowest is None:
                    raise rejected(self._to.shown, refused, self._model, self._counts) from None
                state.restart(max(lowest, state.lowest))
            except Trouble as trouble:
                state.note(trouble, self._to.health)
                if self._backs_off(trouble):
                    async with self._to.waiting(self._counts):
                        await asyncio.sleep(state.wait())

    def _backs_off(self, trouble: Trouble) -> bool:
        """False where it goes on at once: in another format, or to wait for the server. Raises Unavailable."""
        state, to = self._state, self._to
        if trouble.busy:
            if self._is_shut() and self._open_elsewhere() is None:
                raise self._outage()
            if state.refusals >= MOST_REFUSALS:
                raise self._unavailable()
            return True
        if state.left > 0:
            return True
        lowest = self._looser_format(trouble)
        if lowest is not None:
            state.restart(max(lowest, state.lowest))
        elif state.is_at_fault or (to.patience_s <= 0 and not trouble.unreachable):
            raise self._unavailable()
        else:
            state.is_lost = True
            if trouble.unreachable:
                to.health.left(unreachable=True)
        return False

    def _looser_format(self, trouble: Trouble) -> ResponseFormat | None:
        """Some servers answer 500 to json_schema: the next format, as long as this one has never worked there."""
        stumbled = trouble.status is not None and trouble.status >= 500 and trouble.status not in GATEWAY
        if not stumbled or trouble.retry_after is not None or self._fallback.has_worked(self._form.reply_format):
            return None
        return self._form.reply_format.below

    async def _attempt(self) -> ModelResponse:
        prompt, limiter, to = await self._fitted(), self._limiter, self._to
        async with self._slot() as counted:
            self._form = self._fallback.form(self._state.lowest)
            self._cover()
            self._counts.sends += 1
            completion, sent, took = await self._exchange(
                prompt, self._counts, lambda: limiter.patience(prompt, to.timeout_s)
            )
        if prompt.schema:  # free text says nothing about how the server takes a form
            self._fallback.worked(self._form)
        response = response_from(completion, prompt, self._model, round(1000 * took), to.key, self._counts)
        limiter.timed(prompt, sent, took, response.input_tokens, to.timeout_s)
        if response.input_tokens is not None and response.output_tokens is not None:
            limiter.settled(prompt, counted, response.input_tokens + response.output_tokens)
        return response

    async def _exchange(
        self, prompt: Prompt, counts: SendCounts, patience: Callable[[], float]
    ) -> tuple[ChatCompletion, float, float]:
        """One prompt sent once; when, and the seconds that it took. Raises Trouble and Refused. Whatever comes of it,
        the server's health and limits are told."""
        health, limiter = self._to.health, self._limiter
        body = self._form.body(prompt, model=self._model, temperature=self._temperature, seed=self._seed)
        with limiter.flight() as sent:
            try:
                completion = await self._to.client.complete(body, counts, patience)
            except Trouble as trouble:
                if trouble.busy:
                    limiter.refused(sent, trouble.retry_after)
                if trouble.status == 429:
                    health.answered(sent, accepted=False)
                elif not trouble.busy:  # a 503 with Retry-After may come from what stands before a missing server
                    health.failed(trouble.message)
                raise
            except Refused:
                health.answered(sent)
                limiter.accepted()
                raise
            health.answered(sent)
            limiter.accepted()
            return completion, sent, time.monotonic() - sent

    def _cover(self, more: int = 0) -> None:
        """A send after one that may have been billed, or after `more` that will be, needs a reservation of its own.
        Raises Unavailable with `short`."""
        if self._room is None or self._counts.unanswered + more <= self._counts.covered:
            return
        if not self._room():
            raise without_room(self._to.shown, self._counts)
        self._counts.covered += 1

    async def _fitted(self) -> Prompt:
        """The prompt within the model's context. Raises Rejected where no server needs to be asked to know that it is
        not; where nobody's question would fit, whoever answers, the run stops."""
        if len(self._servers) == 1 or not self._to.health.away:  # else it would hold up who goes elsewhere
            await self._to.learn(self._model, self._counts)
        context, asked = self._limiter.facts.context, self._prompt
        if context is None:
            return asked
        tokens = self._limiter.speed.tokens(asked)
        prompt = fitted(asked, context, tokens)
        if prompt is not None:
            return prompt
        rest = tokens * (1 - len(asked.system) / with_schema(asked))
        words = (
            f"The model server {self._to.shown} gives {self._model!r} a context of {context:,} tokens; this question "
            f"has about {tokens:,} and its reply up to {asked.max_output_tokens:,}. Start the server with a larger "
            "context (llama.cpp: -c, for all slots together; Ollama: OLLAMA_CONTEXT_LENGTH), ask fewer items at once, "
            "or shorten personas and memories (digest_chars)."
        )
        everybody = fitted(asked, context, round(rest)) is None
        raise Rejected(words, self._counts, 0, "LLM_MODEL_NAME" if everybody else "")

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[float]:
        """Leave to send, with the tokens that the model's pace counts for it. Things may change in a queue."""
        to, limiter = self._to, self._limiter
        counted: float | None = None
        while True:
            async with AsyncExitStack() as held:
                async with to.waiting(self._counts):
                    probes = await self._cleared()
                    await limiter.pause_over()
                    await held.enter_async_context(limiter.window)
                    if counted is None:
                        counted = await limiter.turn(self._prompt)
                    await held.enter_async_context(to.limiter)
                if self._is_shut():
                    if (other := self._open_elsewhere()) is not None:
                        raise _GoesElsewhere(other)
                    raise self._outage()
                if limiter.paused_s > 0:
                    continue
                if probes:
                    await self._probe()
                elif not to.health.away:
                    yield counted
                    return

    async def _cleared(self) -> bool:
        """Wait while the server is away, or while nobody knows whose fault the latest fault is. True: this request is
        to find out (`_probe`). Raises Unavailable, and _GoesElsewhere: where all of a fleet are away, to each whose
        probe is due."""
        health, to, state = self._to.health, self._to, self._state
        while True:
            goes_on = None if health.away else state.goes_on(health)
            if goes_on is False:
                raise self._unavailable()
            if goes_on:
                return False
            health.waits_anew(state.began, to.patience_s)
            now, left = time.monotonic(), to.patience_s
            others = [server for server in self._servers if server is not to] if health.away else []
            there = next((server for server in others if not server.health.away), None)
            if health.away and there is None:  # for as long as the last one is away
                silent = [server.health.silent_since for server in (to, *others)]
                left += max((since for since in silent if since is not None), default=now) - now
            if there is None and left <= 0 and health.is_probed:
                raise self._outage()
            if health.takes_probe(to.backoff_s, to.longest_s):
                return True
            if (other := there or next((server for server in others if server.health.is_due), None)) is not None:
                raise _GoesElsewhere(other)
            await asyncio.sleep(max(0.0, min(LOOK_S, left, health.next_probe - now)))

    async def _probe(self) -> None:
        """Is the server there, for others too? A closed door is tried with what nobody is billed for, everything else
        with a health probe, charged to this request. Raises Unavailable with `short`."""
        to = self._to
        if to.health.unreachable:
            async with to.waiting(self._counts):
                await self._knock()
            return
        self._cover(more=1)
        counts = SendCounts()
        try:
            await self._exchange(HEALTH_PROBE, counts, lambda: to.timeout_s)
            counts.probes = 1
        except Refused:
            pass
        except Trouble as trouble:
            if trouble.status != 429:
                to.health.left(unreachable=trouble.unreachable)
        finally:
            self._counts.probes += counts.unanswered

    async def _knock(self) -> None:
        sent, health = time.monotonic(), self._to.health
        try:
            async with asyncio.timeout(self._to.timeout_s):
                status = (await self._to.client.ask("GET", "/models")).status_code
        except Exception:  # whatever httpx and aiohttp make of it: nobody opened
            return
        if status >= 500:  # something is there, which is perhaps not the server
            health.left(unreachable=False)
        else:
            health.answered(sent, accepted=False)

    def _is_shut(self) -> bool:
        """The model's requests are all told "later", for longer than ordinary attempts take and than we are patient."""
        to = self._to
        return self._limiter.shut(self._state.began, max(to.patience_s, to.attempts * to.backoff_s))

    def _open_elsewhere(self) -> Transport | None:
        began, model = self._state.began, self._model
        there = (server for server in self._servers if server is not self._to and not server.health.away)
        return next((server for server in there if not server.rate_limiter(model).shut(began, server.patience_s)), None)

    def _unavailable(self) -> Unavailable:
        return unavailable(self._to.shown, self._state.trouble, self._model, self._counts)

    def _outage(self) -> Unavailable:
        did = self._to.health.did  # to others, before it was asked itself
        trouble = self._state.trouble or (Trouble(did) if did else None)
        return unavailable(self._to.shown, trouble, self._model, self._counts, self._to.patience_s)
