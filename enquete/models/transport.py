"""One request to an OpenAI-compatible server, until it is answered, refused, or nothing more helps (docs/models.md).

    within its context → server there? → its pause over → the model's window and pace → a slot of the process → send

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots.

Out of attempts, a request waits until it is known whose fault that is: until another one sent later, or a health probe
of a few words, has been answered or not. Answered: one more try, and after the second time it fails alone. Not
answered: everybody waits for the server, and once it is back attempts start over. "Later" (429) uses up nothing.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

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
    complaint,
    halted,
    mask,
    rejected,
    shown_url,
    unavailable,
    without_room,
)
from enquete.models.servers import (
    Limiter,
    RateLimiter,
    backoff,
    fitted,
    health_of,
    rate_limiter_of,
    with_schema,
    within,
)
from enquete.state.interview_context import Prompt
from enquete.state.request import DEFAULT_PATIENCE_S, ModelLimits

if TYPE_CHECKING:
    from enquete.ledger.shared_limits import SharedPace

MOST_TOKENS_PER_CHARACTER = 0.6
"""Of a small model in a language that it was hardly trained in."""
MOST_RETURNS = 5
"""A request that fails after each of so many returns of its server is at fault itself, or will not get through."""
CONFIRMATIONS = 2
"""Times that others are served right after a request was refused: once may be a server just back."""
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

Room = Callable[[], bool] | None
log = logging.getLogger("enquete")


class Servers:
    """One server or several of one model: see `metered_model.Sender`."""

    def order(self, agent: str) -> Sequence[Transport]:
        """Those that may be asked, the agent's own first."""
        raise NotImplementedError

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Room = None, agent: str = ""
    ) -> ModelResponse:
        """The server's answer, whatever it says. Raises Unavailable (ModelUnavailable) or Rejected (ModelRejected).

        `room`: asked before a request is sent again that may already have been billed (time-out, cut connection);
        where it says no, Unavailable is raised with `short`; so it is for what waits when `halt` is called. An outage,
        of all servers, raises Unavailable with `outage`. `agent`: whose request it is.
        """
        try:
            return await Request(self.order(agent), prompt, model, temperature, seed, room).answer()
        finally:
            self._tell()

    def _tell(self) -> None:
        """What others need to know of the servers."""


@dataclass(eq=False)
class Transport(Servers):
    """Requests to one server, through one shared client and one process-wide limit."""

    base_url: str
    api_key: SecretStr | None
    _: KW_ONLY
    limiter: Limiter
    timeout_s: float = 120.0
    attempts: int = 3
    backoff_s: float = 1.0  # the first wait between attempts, doubled each time up to 10 s, plus up to half of jitter
    limits: Mapping[str, ModelLimits] = field(default_factory=dict)  # by model; they hold for the whole process
    patience_s: float = DEFAULT_PATIENCE_S  # how long the server may stay away, or accept nothing
    shared_pace: Callable[[str, ModelLimits], SharedPace | None] = lambda model, limits: None  # with other processes

    def __post_init__(self) -> None:
        """Raises SettingsError for a base URL that is none."""
        # Half a second, for runs that ask a model alone.
        from enquete.models.http_client import ServerClient  # noqa: PLC0415

        self.base_url = checked_url(self.base_url)
        self.key = self.api_key.get_secret_value() if self.api_key else ""
        self.shown = mask(shown_url(self.base_url), self.key)
        self.client = ServerClient(self.base_url, self.api_key, self.patience_s)
        self.health = health_of(self.base_url)
        self._rate_limiters: dict[str, RateLimiter] = {}
        self._halted = False
        self._waits: set[asyncio.Timeout] = set()

    def order(self, agent: str) -> Sequence[Transport]:
        return (self,)

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        """The prompt, in its short form where the context of this model is too small for the whole (docs/models.md)."""
        if not prompt.shortens:
            return prompt
        limiter = self.rate_limiter(model)
        with suppress(Unavailable):  # halted: what is sent next will say so
            await self.learn(model, SendCounts())
            context, speed = limiter.facts.context, limiter.speed
            most = MOST_TOKENS_PER_CHARACTER * with_schema(prompt) + prompt.max_output_tokens
            if context is not None and limiter.facts.small and not speed.tokens_per_character and most >= context:
                async with self.waiting(SendCounts()):
                    text = "\n".join([prompt.system, *(message["content"] for message in prompt.messages)])
                    if tokens := await self.client.count(text):
                        speed.count(prompt, tokens)
        return prompt if limiter.facts.context is None else within(prompt, limiter.facts.context, limiter.speed)

    @property
    def waits_for(self) -> str:
        """Why nothing moves and for how much longer that is borne, while the server is away; else ""."""
        since, why = self.health.silent_since, f": it {self.health.did}" if self.health.did else ""
        if since is None or not self.health.away:
            return ""
        away_s = time.monotonic() - since
        words = f"the model server {self.shown} has not answered for {away_s:.0f} s{why}"
        return f"{words}; it is waited for, {max(0.0, self.patience_s - away_s):.0f} s left"

    def halt(self) -> None:
        """Wait for nothing more: not for a server that is away, a turn, nor the next try. What is on its way is
        answered. From the event loop of those who wait."""
        if self._halted:  # those who waited are being told, and their time cannot be set any more
            return
        self._halted = True
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
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
            limits = self.limits.get(model, ModelLimits())
            self._rate_limiters[model] = rate_limiter_of(self.base_url, model)
            self._rate_limiters[model].limit(limits, self.shared_pace(model, limits))
        return self._rate_limiters[model]

    async def learn(self, model: str, counts: SendCounts) -> None:
        """What the server says of this model."""
        async with self.waiting(counts):
            if facts := await self.client.facts(model):
                self.rate_limiter(model).learn(facts)


# --- Several servers of one model. An agent stays with one, whose prefix cache then holds persona and memory.
#
# Which one says weighted rendezvous hashing (Thaler & Ravishankar 1998; the score is Schindelhauer & Schomaker's,
# 2005), so every process says the same, shares are as the weights, and a server that is away moves its own agents and
# nobody else: each to the next in its own order, and back once it has answered a probe.


def score(url: str, weight: float, agent: str) -> float:
    """The agent's server is the one with the highest."""
    drawn = int.from_bytes(blake2b(f"{url}\0{agent}".encode(), digest_size=8).digest(), "big")
    return -weight / math.log((drawn + 0.5) / 2**64)


class Fleet(Servers):
    """Limits and pauses are each server's own; requests in flight count for the process."""

    def __init__(self, servers: Sequence[tuple[Transport, float]]):
        """`servers`: each with its weight, above 0."""
        self._weights = dict(servers)
        self._away: set[Transport] = set()

    def order(self, agent: str) -> Sequence[Transport]:
        return sorted(self._weights, key=lambda server: -score(server.base_url, self._weights[server], agent))

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        order = self.order(agent)
        return await next((server for server in order if not server.health.away), order[0]).fit(prompt, model)

    @property
    def waits_for(self) -> str:
        """Which server it is that left last, once all have."""
        servers = sorted(self._weights, key=lambda server: server.health.silent_since or math.inf)
        waits = [server.waits_for for server in servers]
        return waits[-1] if all(waits) else ""

    def halt(self) -> None:
        for server in self._weights:
            server.halt()

    async def aclose(self) -> None:
        for server in self._weights:
            await server.aclose()

    def _tell(self) -> None:
        """Each departure and return once."""
        away = {server for server in self._weights if server.health.away}
        for server in away - self._away:
            did = server.health.did or "did not answer"
            log.warning(
                "The model server %s %s. Its agents are asked at the others until it is back.", server.shown, did
            )
        for server in self._away - away:
            log.warning("The model server %s is back.", server.shown)
        self._away = away


class _Moved(Exception):
    """To another server of the fleet, where it begins anew."""


@dataclass
class Request:
    """A prompt on its way to a server, or to one of a fleet's, through all its attempts. Times are time.monotonic."""

    servers: Sequence[Transport]
    prompt: Prompt
    model: str
    temperature: float
    seed: int
    room: Room
    counts: SendCounts = field(default_factory=SendCounts)
    began: float = field(default_factory=time.monotonic)
    trouble: Trouble | None = None  # the latest
    refusals: int = 0  # times "later" since another fault
    returns: int = 0  # times that its server was back after it had failed

    def __post_init__(self) -> None:
        self._turn_to(next((server for server in self.servers if server.health.is_due), self.servers[0]))

    def _turn_to(self, to: Transport) -> None:
        self._to = to
        self._limiter = to.rate_limiter(self.model)
        self._fallback = fallback_of(to.base_url, self.model)
        self._form = self._fallback.form()  # in which it was last sent
        self._start_over()

    def _start_over(self) -> None:
        self._fault: float | None = None  # when it last failed
        self._confirmed = 0  # times that others were served after it had failed
        self._lowest = ResponseFormat.JSON_SCHEMA  # what it had to step down to; others may be lower still
        self._left = self._to.attempts

    def _move(self, to: Transport) -> _Moved:
        """That this server went away over it counts as one return."""
        self.returns += self._fault is not None
        self._turn_to(to)
        return _Moved()

    def _step_down(self, lowest: ResponseFormat) -> None:
        self._lowest, self._left = max(lowest, self._lowest), self._to.attempts

    async def answer(self) -> ModelResponse:
        """See Servers.send."""
        while True:
            try:
                return await self._attempt()
            except _Moved:
                continue
            except Refused as refused:
                if refused.by_filter:
                    return filtered(refused.told.message, self.model, self.counts)
                lowest = self._fallback.after(self._form, complaint(refused.status, refused.told))
                if lowest is None:
                    raise rejected(self._to.shown, refused, self.model, self.counts) from None
                self._step_down(lowest)
            except Trouble as trouble:
                wait = self._wait_after(trouble)
                async with self._to.waiting(self.counts):
                    await asyncio.sleep(wait)

    def _wait_after(self, trouble: Trouble) -> float:
        """Seconds before the next try, where there is nothing else to wait for. Raises Unavailable."""
        to, self.trouble = self._to, trouble
        if trouble.busy:
            self.refusals += 1
            if self._is_shut() and self._open_elsewhere() is None:
                raise self._outage()
            if self.refusals >= MOST_REFUSALS:
                raise self._unavailable()
            # Where the server said when to come back, everybody waits for that.
            return 0.0 if trouble.retry_after else backoff(self.refusals - 1, to.backoff_s)
        self.refusals = 0
        if trouble.unreachable and to.health.away:  # known, or it looked whether the server is back: uses up nothing
            return 0.0
        self._left -= 1
        self._confirmed += self._fault is not None and to.health.accepted > self._fault
        self._fault = time.monotonic()
        if self._left > 0:
            return backoff(to.attempts - self._left - 1 + 2 * self.returns, to.backoff_s)
        # Some servers answer 500 to json_schema: the next format, as long as this one has never worked there.
        stumbled = (trouble.status or 0) >= 500 and trouble.status not in GATEWAY and trouble.retry_after is None
        below = self._form.reply_format.below
        if stumbled and below is not None and not self._fallback.has_worked(self._form.reply_format):
            self._step_down(below)
        elif trouble.unreachable:  # a closed door is never one request's fault
            to.health.failed(trouble.message, unreachable=True, away=True)
        elif self._confirmed >= CONFIRMATIONS or self.returns >= MOST_RETURNS or to.patience_s <= 0:
            raise self._unavailable()
        return 0.0

    async def _attempt(self) -> ModelResponse:
        prompt, limiter, to = await self._fitted(), self._limiter, self._to
        async with self._slot() as counted:
            self._form = self._fallback.form(self._lowest)
            self._cover()
            self.counts.sends += 1
            completion, sent = await self._exchange(
                prompt, self.counts, lambda: limiter.speed.patience(prompt, to.timeout_s, small=limiter.facts.small)
            )
            took = time.monotonic() - sent
        if prompt.schema:  # free text says nothing about how the server takes a form
            self._fallback.worked(self._form)
        response = response_from(completion, prompt, self.model, round(1000 * took), to.key, self.counts)
        limiter.timed(prompt, sent, took, response.input_tokens, to.timeout_s)
        if response.input_tokens is not None and response.output_tokens is not None:
            limiter.settled(prompt, counted, response.input_tokens + response.output_tokens)
        return response

    async def _exchange(
        self, prompt: Prompt, counts: SendCounts, patience: Callable[[], float]
    ) -> tuple[ChatCompletion, float]:
        """One prompt sent once, and when. Raises Trouble and Refused. Whatever comes of it,
        the server's health and limits are told."""
        health, limiter = self._to.health, self._limiter
        body = self._form.body(prompt, model=self.model, temperature=self.temperature, seed=self.seed)
        with limiter.flight() as sent:
            try:
                completion = await self._to.client.complete(body, counts, patience)
            except Trouble as trouble:
                if trouble.busy:
                    limiter.refused(sent, trouble.retry_after)
                if trouble.status == 429:
                    health.answered(sent, accepted=False)
                elif not trouble.busy:  # a 503 with Retry-After may come from what stands before a missing server
                    health.failed(trouble.message, unreachable=trouble.unreachable)
                raise
            except Refused:
                health.answered(sent)
                limiter.accepted()
                raise
            health.answered(sent)
            limiter.accepted()
            return completion, sent

    def _cover(self, more: int = 0) -> None:
        """A send after one that may have been billed, or after `more` that will be, needs a reservation of its own.
        Raises Unavailable with `short`."""
        if self.room is None or self.counts.unanswered + more <= self.counts.covered:
            return
        if not self.room():
            raise without_room(self._to.shown, self.counts)
        self.counts.covered += 1

    async def _fitted(self) -> Prompt:
        """The prompt within the model's context. Raises Rejected where no server needs to be asked to know that it is
        not; where nobody's question would fit, whoever answers, the run stops."""
        if len(self.servers) == 1 or not self._to.health.away:  # else it would hold up who goes elsewhere
            await self._to.learn(self.model, self.counts)
        context, asked = self._limiter.facts.context, self.prompt
        if context is None:
            return asked
        tokens = self._limiter.speed.tokens(asked)
        prompt = fitted(asked, context, tokens)
        if prompt is not None:
            return prompt
        words = (
            f"The model server {self._to.shown} gives {self.model!r} a context of {context:,} tokens; this question "
            f"has about {tokens:,} and its reply up to {asked.max_output_tokens:,}. Start the server with a larger "
            "context (llama.cpp: -c, for all slots together; Ollama: OLLAMA_CONTEXT_LENGTH), ask fewer items at once, "
            "or shorten personas and memories (digest_chars)."
        )
        rest = round(tokens * (1 - len(asked.system) / with_schema(asked)))
        everybody = fitted(asked, context, rest) is None
        raise Rejected(words, self.counts, "LLM_MODEL_NAME" if everybody else "")

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[float]:
        """Leave to send, with the tokens that the model's pace counts for it. Things may change in a queue."""
        to, limiter = self._to, self._limiter
        counted: float | None = None
        while True:
            async with AsyncExitStack() as held:
                async with to.waiting(self.counts):
                    probes = await self._cleared()
                    await asyncio.sleep(max(0.0, limiter.paused_s))
                    await held.enter_async_context(limiter)
                    if counted is None:
                        counted = await limiter.turn(self.prompt)
                    await held.enter_async_context(to.limiter)
                if self._is_shut():
                    other = self._open_elsewhere()
                    raise self._outage() if other is None else self._move(other)
                if limiter.paused_s > 0:
                    continue
                if probes and not to.health.unreachable:
                    await self._probe()
                elif probes or not to.health.away:  # behind a closed door nobody is billed: it is its own probe
                    yield counted
                    return

    async def _cleared(self) -> bool:
        """Wait while the server is away, or while nobody knows whose fault the latest fault is. True: this request is
        to find out. Raises Unavailable, and _Moved: where all of a fleet are away, to each whose probe is due."""
        health, to = self._to.health, self._to
        while health.away or not self._goes_on():
            health.waits_anew(self.began, to.patience_s)
            now, left, other = time.monotonic(), to.patience_s, None
            if health.away:
                other = next((server for server in self.servers if not server.health.away), None)
                if other is None:  # for as long as the last one is away
                    left += max(server.health.silent_since or now for server in self.servers) - now
                    if left <= 0:
                        raise self._outage()
            if health.takes_probe(to.backoff_s):
                return True
            if health.away:
                other = other or next((server for server in self.servers if server.health.is_due), None)
            if other is not None:
                raise self._move(other)
            await asyncio.sleep(max(0.0, min(LOOK_S, left, health.next_probe - now)))
        return False

    def _goes_on(self) -> bool:
        """False until the server was away since its latest fault, or has served others. Raises Unavailable where it is
        to fail alone."""
        health, fault = self._to.health, self._fault
        if fault is not None and health.returned > fault:
            self.returns += 1
            self._start_over()
        elif self._left <= 0:
            if health.accepted <= (fault or 0.0):
                return False
            self._confirmed += 1
            if self._confirmed >= CONFIRMATIONS:
                raise self._unavailable()
            self._fault, self._left = None, 1
        return True

    async def _probe(self) -> None:
        """Is the server there, for others too? Charged to this request. Raises Unavailable with `short`."""
        self._cover(more=1)
        counts, to = SendCounts(), self._to
        try:
            await self._exchange(HEALTH_PROBE, counts, lambda: to.timeout_s)
            counts.probes = 1
        except Refused:
            pass
        except Trouble as trouble:
            if trouble.status != 429:
                to.health.failed(trouble.message, unreachable=trouble.unreachable, away=True)
        finally:
            self.counts.probes += counts.unanswered

    def _is_shut(self) -> bool:
        """The model's requests are all told "later", for longer than ordinary attempts take and than we are patient."""
        to = self._to
        return self._limiter.shut(self.began, max(to.patience_s, to.attempts * to.backoff_s))

    def _open_elsewhere(self) -> Transport | None:
        began, model = self.began, self.model
        there = (server for server in self.servers if server is not self._to and not server.health.away)
        return next((server for server in there if not server.rate_limiter(model).shut(began, server.patience_s)), None)

    def _unavailable(self) -> Unavailable:
        return unavailable(self._to.shown, self.trouble, self.model, self.counts)

    def _outage(self) -> Unavailable:
        did = self._to.health.did  # to others, before it was asked itself
        trouble = self.trouble or (Trouble(did) if did else None)
        return unavailable(self._to.shown, trouble, self.model, self.counts, self._to.patience_s)
