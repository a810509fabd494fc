"""One request to a model's server, until it is answered, refused, or nothing more helps (docs/models.md).

    within its context → server there? → its pause over → the model's window and pace → a slot of the process → send

The clock starts once the slot is held; whatever waits for server, pause or pace holds none of the process's slots.

Out of attempts, a request waits until it is known whose fault that is: until another one sent later, or a health probe
of a few words, has been answered or not. Answered: one more try, and after the second time it fails alone. Not
answered: everybody waits for the server, and once it is back attempts start over. "Later" (429) uses up nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue, SecretStr

from enquete.models.chat_completions import FormatFallback, ResponseFormat, fallback_of
from enquete.models.chat_replies import (
    ChatCompletion,
    ModelResponse,
    read_completion,
    refused_prompt,
    response_from,
    was_cut,
)
from enquete.models.chat_services import ChatService, with_patience
from enquete.models.faults import (
    GATEWAY,
    AskOtherwise,
    NotRead,
    Refused,
    Rejected,
    SendCounts,
    Trouble,
    Unavailable,
    checked_url,
    halted,
    mask,
    paused_by,
    rejected,
    shown_url,
    unavailable,
    without_room,
)
from enquete.models.server_profiles import Meaning, thinking_off
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
COUNTED_HIGHER = 1.1
SHRUNK = 0.7
"""Of a prompt that is too long for a context whose size nobody says, so much is tried next."""
MOST_UNCLEAR = 2
"""Refusals in a row that nobody understands and no answer between them: from then on it is asked whose fault it is."""
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


@dataclass(eq=False)
class Transport:
    """Requests to one server, through one chat service and one process-wide limit: see `metered_model.Sender`.

    `service`: who sends; ChatOpenAI at `base_url` unless given, and then `base_url` names the server alone. `key_name`:
    the environment variable that holds the key, where it is a provider's own.
    """

    base_url: str
    api_key: SecretStr | None
    _: KW_ONLY
    service: ChatService | None = None
    key_name: str = ""
    limiter: Limiter
    timeout_s: float = 120.0
    attempts: int = 3
    backoff_s: float = 1.0  # the first wait between attempts, doubled each time up to 10 s, plus up to half of jitter
    limits: Mapping[str, ModelLimits] = field(default_factory=dict)  # by model; they hold for the whole process
    patience_s: float = DEFAULT_PATIENCE_S  # how long the server may stay away, or accept nothing
    shared_pace: Callable[[str, ModelLimits], SharedPace | None] = lambda model, limits: None  # with other processes

    def __post_init__(self) -> None:
        """Raises SettingsError for a base URL that is none."""
        self.key = self.api_key.get_secret_value() if self.api_key else ""
        if self.service is None:
            self.base_url = checked_url(self.base_url)
        self.shown = mask(shown_url(self.base_url), self.key)
        self.client = self.service or self._openai_service()
        self.health = health_of(self.base_url)
        self._rate_limiters: dict[str, RateLimiter] = {}
        self._halted = False
        self._waits: set[asyncio.Timeout] = set()

    def _openai_service(self) -> ChatService:
        from enquete.models.openai_chat import OpenAIChat  # noqa: PLC0415 - half a second, for runs that ask a model

        return OpenAIChat(self.base_url, self.api_key, self.patience_s)

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Room = None, agent: str = ""
    ) -> ModelResponse:
        """The server's answer, whatever it says.

        Args:
            room: Asked before a request is sent again that may already have been billed (time-out, cut connection).
                Where it says no, Unavailable is raised with `short`; so it is for what waits when `halt` is called.
            agent: Whose request it is.

        Raises:
            Unavailable: Out of attempts; with `outage` where nobody is answered, or no credit is left.
            Rejected: The server refuses the request.
            AskOtherwise: The prompt has to be shorter, or its reply needs more room; what is known now says how.
        """
        return await Request(self, prompt, model, temperature, seed, room).answer()

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        """The prompt, in its short form where the context of this model is too small for the whole (docs/models.md);
        its reply has more room where the model thinks."""
        factor = fallback_of(self.base_url, model).room_factor
        if factor > 1:
            prompt = replace(prompt, max_output_tokens=factor * prompt.max_output_tokens)
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


@dataclass
class Request:
    """A prompt on its way to a server, through all its attempts. Times are time.monotonic."""

    to: Transport
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
        self._limiter = self.to.rate_limiter(self.model)
        self._fallback: FormatFallback = fallback_of(self.to.base_url, self.model)
        if untaken := self.to.client.untaken(self.model):
            self._fallback.leave_out(untaken)
        self._fallback.use_cache(self.to.client.prefix_cache(self.model))
        self._form = self._fallback.form()  # in which it was last sent
        self._start_over()

    def _start_over(self) -> None:
        self._fault: float | None = None  # when it last failed
        self._confirmed = 0  # times that others were served after it had failed
        self._lowest = ResponseFormat.JSON_SCHEMA  # what it had to step down to; others may be lower still
        self._left = self.to.attempts

    def _step_down(self, lowest: ResponseFormat) -> None:
        self._lowest, self._left = max(lowest, self._lowest), self.to.attempts

    async def answer(self) -> ModelResponse:
        """See Transport.send."""
        while True:
            try:
                return await self._attempt()
            except Refused as refused:
                if refused.verdict.means is Meaning.PROMPT_REFUSED:
                    return refused_prompt(refused.told.message, self.model, self.counts)
                await self._put_otherwise(refused)
            except Trouble as trouble:
                wait = self._wait_after(trouble)
                async with self.to.waiting(self.counts):
                    await asyncio.sleep(wait)

    async def _put_otherwise(self, refused: Refused) -> None:
        """Have the next attempt put so that the server takes it. Raises what the refusal comes to where none helps."""
        verdict = refused.verdict
        if verdict.means is Meaning.CONTEXT_TOO_LONG:
            self._learn_context(refused)
        lowest = self._fallback.after(self._form, verdict)
        if lowest is not None:
            self._step_down(lowest)
            return
        if verdict.means is Meaning.NO_CREDIT:
            raise paused_by(self.to.shown, refused, self.counts)
        is_unclear = verdict.means in (Meaning.UNCLEAR, Meaning.PARAMETER, Meaning.NO_SYSTEM_ROLE)
        if is_unclear and not await self._others_are_answered():
            raise paused_by(self.to.shown, refused, self.counts)
        raise rejected(self.to.shown, refused, self.model, self.counts, self.to.key_name)

    async def _others_are_answered(self) -> bool:
        """Whether one prompt is refused, which fails alone, or everything: then the run pauses."""
        if 0 < self._limiter.note_refusal() <= MOST_UNCLEAR:
            return True
        self._cover(more=1)
        counts = SendCounts()
        try:
            await self._exchange(HEALTH_PROBE, counts, lambda: self.to.timeout_s)
            counts.probes = 1
        except Refused:
            return False
        except Trouble:
            pass  # unknown: this one request is given up
        finally:
            self.counts.probes += counts.unanswered
        return True

    def _learn_context(self, refused: Refused) -> None:
        """Remember how many tokens there may be. Raises AskOtherwise where the prompt can be made to fit."""
        limiter, prompt = self._limiter, self.prompt
        asked = limiter.speed.tokens(prompt) + prompt.max_output_tokens
        context = refused.verdict.context or round(SHRUNK * asked)
        if limiter.learn_window(context):
            limiter.speed.count_at_least(prompt, context + 1 - prompt.max_output_tokens)
            told = "The model %r at %s takes about %s tokens, so longer prompts are shortened. It says: %s"
            log.warning(told, self.model, self.to.shown, f"{context:,}", refused.told.message)
        elif limiter.speed.tokens(prompt) + prompt.max_output_tokens <= context:  # by its own count there are more
            limiter.speed.count_at_least(prompt, round(COUNTED_HIGHER * limiter.speed.tokens(prompt)))
        raise AskOtherwise(f"the prompt was too long for the server: {refused.told.message}", self.counts)

    def _wait_after(self, trouble: Trouble) -> float:
        """Seconds before the next try, where there is nothing else to wait for. Raises Unavailable."""
        to, self.trouble = self.to, trouble
        if trouble.busy:
            self.refusals += 1
            if self._is_shut():
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
        prompt, limiter, to = await self._fitted(), self._limiter, self.to
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
        deviations = self._form.deviations(prompt, self.temperature)
        response = response_from(completion, prompt, self.model, round(1000 * took), to.key, self.counts, deviations)
        await self._require_whole(prompt, response)
        limiter.timed(prompt, sent, took, response.input_tokens, to.timeout_s)
        if response.input_tokens is not None and response.output_tokens is not None:
            limiter.settled(prompt, counted, response.input_tokens + response.output_tokens)
        return response

    async def _require_whole(self, prompt: Prompt, response: ModelResponse) -> None:
        """Raises AskOtherwise where the server cut the prompt in silence, or thinking took all room of the reply."""
        if was_cut(prompt, response.input_tokens):
            await self._learn_window(prompt, response)
        elif response.only_thought and self._leave_room():
            self._book(response)
            raise AskOtherwise("all of the reply's room was spent on thinking", self.counts)

    async def _learn_window(self, prompt: Prompt, response: ModelResponse) -> None:
        """The server now says what its window is, or it is what it read and may write."""
        read = response.input_tokens or 0
        facts = await self.to.client.facts(self.model, anew=True)
        context = facts.context if facts is not None and facts.context else read + prompt.max_output_tokens
        limiter = self._limiter
        if limiter.learn_window(context):
            limiter.speed.count_at_least(prompt, context + 1 - prompt.max_output_tokens)
            log.warning(
                "The model server %s read %s tokens of a prompt that is longer: its window is taken to be %s tokens, "
                "and longer prompts are shortened. A larger window keeps them whole (Ollama: OLLAMA_CONTEXT_LENGTH).",
                self.to.shown, f"{read:,}", f"{context:,}",
            )  # fmt: skip
        self._book(response)
        raise AskOtherwise(f"the server cut the prompt: it read {read:,} tokens of it", self.counts)

    def _leave_room(self) -> bool:
        """Have thinking left out where it is known how, else give the reply more room; False where both were done."""
        kind = self._limiter.facts.kind
        fields = thinking_off(self.to.base_url, kind)
        if fields is not None and self._fallback.send_extra(self._form, fields):
            return True
        return self._fallback.give_more_room(self.began)

    def _book(self, response: ModelResponse) -> None:
        """What the unusable reply cost stands in the counts of the error that is raised."""
        self.counts.booked_read += response.input_tokens or 0
        self.counts.booked_written += response.output_tokens or 0
        if response.input_tokens is None:
            self.counts.broken += 1

    async def _exchange(
        self, prompt: Prompt, counts: SendCounts, patience: Callable[[], float]
    ) -> tuple[ChatCompletion, float]:
        """One prompt sent once, and when. Raises Trouble and Refused. Whatever comes of it,
        the server's health and limits are told."""
        health, limiter = self.to.health, self._limiter
        body = self._form.body(prompt, model=self.model, temperature=self.temperature, seed=self.seed)
        with limiter.flight() as sent:
            try:
                reply = await self._complete(body, counts, patience)
                completion = read_completion(reply, counts, self.to.key)
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
            limiter.forget_refusals()
            return completion, sent

    async def _complete(
        self, body: dict[str, JsonValue], counts: SendCounts, patience: Callable[[], float]
    ) -> JsonValue:
        """The service's reply within patience; counts what may have been billed without one."""
        try:
            return await with_patience(self.to.client.complete(body), patience)
        except TimeoutError:
            counts.timeouts += 1
            raise Trouble(f"did not answer within {round(patience(), 2):g} s") from None
        except NotRead as error:
            counts.broken += error.status is None
            raise Trouble(str(error), status=error.status) from None
        except Trouble as trouble:
            counts.broken += trouble.status is None and not trouble.unreachable
            raise

    def _cover(self, more: int = 0) -> None:
        """A send after one that may have been billed, or after `more` that will be, needs a reservation of its own.
        Raises Unavailable with `short`."""
        if self.room is None or self.counts.unanswered + more <= self.counts.covered:
            return
        if not self.room():
            raise without_room(self.to.shown, self.counts)
        self.counts.covered += 1

    async def _fitted(self) -> Prompt:
        """The prompt within the model's context. Raises Rejected where no server needs to be asked to know that it is
        not; where nobody's question would fit, whoever answers, the run stops."""
        await self.to.learn(self.model, self.counts)
        context, asked = self._limiter.facts.context, self.prompt
        if context is None:
            return asked
        tokens = self._limiter.speed.tokens(asked)
        prompt = fitted(asked, context, tokens)
        if prompt is not None:
            return prompt
        shorter = within(asked, context, self._limiter.speed)
        if fitted(shorter, context, self._limiter.speed.tokens(shorter)) is not None:  # what fits became known just now
            raise AskOtherwise("the prompt was too long for the server's window", self.counts)
        words = (
            f"The model server {self.to.shown} gives {self.model!r} a context of {context:,} tokens; this question "
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
        to, limiter = self.to, self._limiter
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
                    raise self._outage()
                if limiter.paused_s > 0:
                    continue
                if probes and not to.health.unreachable:
                    await self._probe()
                elif probes or not to.health.away:  # behind a closed door nobody is billed: it is its own probe
                    yield counted
                    return

    async def _cleared(self) -> bool:
        """Wait while the server is away, or while nobody knows whose fault the latest fault is. True: this request is
        to find out. Raises Unavailable."""
        health, to = self.to.health, self.to
        while health.away or not self._goes_on():
            health.waits_anew(self.began, to.patience_s)
            now, left = time.monotonic(), to.patience_s
            if health.away:
                left += (health.silent_since or now) - now
                if left <= 0:
                    raise self._outage()
            if health.takes_probe(to.backoff_s):
                return True
            await asyncio.sleep(max(0.0, min(LOOK_S, left, health.next_probe - now)))
        return False

    def _goes_on(self) -> bool:
        """False until the server was away since its latest fault, or has served others. Raises Unavailable where it is
        to fail alone."""
        health, fault = self.to.health, self._fault
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
        counts, to = SendCounts(), self.to
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
        to = self.to
        return self._limiter.shut(self.began, max(to.patience_s, to.attempts * to.backoff_s))

    def _unavailable(self) -> Unavailable:
        return unavailable(self.to.shown, self.trouble, self.model, self.counts)

    def _outage(self) -> Unavailable:
        did = self.to.health.did  # to others, before it was asked itself
        trouble = self.trouble or (Trouble(did) if did else None)
        return unavailable(self.to.shown, trouble, self.model, self.counts, self.to.patience_s)
