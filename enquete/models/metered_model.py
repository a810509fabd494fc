"""The metered model: every paid request goes through the ledger and the budget, whoever makes it.

Measured by: the sum over calls of input + output + allowance equals the budget's `spent`; a settled call is never sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol

from enquete.ledger.budget import Budget, CostKind
from enquete.ledger.deviations import note_deviations
from enquete.ledger.drives import DiskFull
from enquete.ledger.entries import Used
from enquete.ledger.ledger import Ledger, Usage
from enquete.models.chat_replies import ModelResponse
from enquete.models.faults import AskOtherwise
from enquete.models.prices import Price, cost
from enquete.state.asking import MOST_ATTEMPTS, CallKey
from enquete.state.errors import ModelError, ModelRejected, ReplayMissing
from enquete.state.interview_context import Completion, Prompt

log = logging.getLogger("enquete")

BYTES_PER_TOKEN = 4  # estimate for answers made without a model; a model's own usage report is used where there is one
FEWEST_BYTES_PER_TOKEN = 2
OVERLONG = 1.1
"""Times the longest reply asked for: from there on a server ignores the limit. Some count a token or two more."""
MOST_REFITS = 4
"""Times that one question is put in a shorter form, or with more room for its reply."""
TOKENS_PER_MESSAGE = 16  # role markers and separators of chat templates


class Sender(Protocol):
    """What the metered model needs of a transport."""

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool], agent: str
    ) -> ModelResponse: ...

    async def fit(self, prompt: Prompt, model: str, agent: str) -> Prompt: ...

    def halt(self) -> None: ...

    @property
    def waits_for(self) -> str: ...


def input_bound(prompt: Prompt) -> int:
    """What the input may come to, offline: two bytes a token, twice what text in any language takes with the tokenizers
    in use; the schema may be sent twice. What a call should cost beyond that is the error by which a cap may be missed.
    """
    texts = [prompt.system, *(message["content"] for message in prompt.messages)]
    size = sum(len(text.encode()) for text in texts) + 2 * len(prompt.schema.encode())
    return -(-size // FEWEST_BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (len(texts) + 1)


def estimate(text: str) -> int:
    """Tokens of a text, estimated from its bytes."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


class Replay(Protocol):
    """A finished run as the source of responses: what each call got then."""

    def obtained(self, key: CallKey) -> tuple[Completion, Usage]:
        """Raises ModelError as it was then, ReplayMissing where that run made no such call."""


@dataclass(frozen=True)
class Terms:
    """On which terms one arm (or the interviewer) uses a model: its parameters, its price, whose budget it draws on."""

    model: str
    temperature: float
    seed: int
    price: Price | None = None  # None: unknown, so that only tokens can be capped
    claim: str = ""
    base_url: str = ""
    label: str = ""  # as which it is filed, where its name does not tell its server

    @property
    def filed(self) -> str:
        return self.label or self.model

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars; 0 where the price is unknown (a cap on money is then refused before the run)."""
        return cost(self.price, input_tokens, output_tokens) if self.price else 0.0

    def paid(self, usage: Usage) -> float:
        """US dollars of a call, with what may have been billed for sends that never answered."""
        read = (usage.input_tokens, usage.output_tokens, usage.allowance, usage.allowance_read)
        used = Used(*read, usage.cached_tokens)
        return valued(self.price, used) if self.price else 0.0


def valued(price: Price, used: Used) -> float:
    """US dollars, while a run is driven and from its ledger alike: the question of an unanswered request at the price
    of input, the rest of what it reserved at that of output; what the server had read before at its price for that."""
    full = cost(price, used.read + used.unanswered_read, used.written + used.unanswered - used.unanswered_read)
    return full - used.cached * (price.input_per_mtok - price.cached_per_mtok) / 1_000_000


class Reservation:
    """What one call holds of the budget: a reservation for each send that may have been billed."""

    def __init__(self, budget: Budget, bound: int, tokens: int, usd: float, claim: str, kind: CostKind | None):
        """`bound`: tokens of the question; `tokens`, `usd`: of question and longest reply."""
        self.bound = bound
        self.each = tokens
        self._budget = budget
        self._asked = (tokens, usd, claim, kind)
        self._sends = 0

    async def reserve(self) -> bool:
        self._sends = int(await self._budget.reserve(*self._asked))
        self.each += self._budget.calibration.excess(self._asked[3]).tokens
        return self._sends > 0

    def again(self) -> bool:
        """Before another send of what may have been billed: one more reservation."""
        granted = self._budget.try_reserve(*self._asked)
        self._sends += granted
        return granted

    def lost(self, times: int, sends: int = 1, booked: tuple[int, int] = (0, 0)) -> Usage:
        """What may have been billed for requests that never answered: all that they reserved; and what the server
        reported (`booked`: tokens read and written) for replies that could not be used."""
        read, written = booked
        allowance = times * self.each + read + written
        return Usage(0, 0, allowance, sends, allowance_read=times * self.bound + read)

    async def settle(self, usage: Usage, terms: Terms, *, answered: bool) -> None:
        tokens, usd, claim, kind = self._asked
        lost = Usage(0, 0, usage.allowance, allowance_read=usage.allowance_read)
        await self._budget.settle(
            self._sends * tokens,
            usage.input_tokens + usage.output_tokens + usage.allowance,
            self._sends * usd,
            terms.paid(usage),
            claim,
            unanswered=(usage.allowance, terms.paid(lost)),
            answered=answered,
            kind=kind,
            sends=self._sends,
        )


@dataclass(frozen=True)
class Standby:
    """What a model is asked with where another one takes over. sender: one that does not wait long for a server that is
    away; gone: models that answered nobody, not asked again in this session."""

    sender: Callable[[], Sender]
    gone: set[str] = field(default_factory=set)


GiveUp = Callable[[ModelError], Awaitable[Literal["short", "failed"]]]


class MeteredModel:
    """One model as one arm (or the interviewer) uses it."""

    def __init__(
        self,
        ledger: Ledger,
        budget: Budget,
        sender: Sender | None,
        terms: Terms,
        *,
        admission: asyncio.Semaphore | None = None,
        replay: Replay | None = None,
        standby: Standby | None = None,
    ):
        """`admission` bounds the calls of a run that are filed but not settled: only those can be lost to a kill,
        bought after a pause was asked for, or keep budget from others. Without it every queueing call would. `standby`:
        how it is asked where another model takes over."""
        self._ledger = ledger
        self._budget = budget
        self._sender = sender
        self._terms = terms
        self._admission = admission
        self._replay = replay
        self._standby = standby

    def settled(self, key: CallKey) -> Completion | None:
        """The stored response, if there is one."""
        return self._ledger.settled(key)

    async def request(
        self,
        key: CallKey,
        compose: Callable[[], Prompt],
        offline: Callable[[], str] | None = None,
        *,
        has_standby: bool = False,
    ) -> Completion | Literal["short", "failed"]:
        """See `Metered.request`. "short" also after the server refused our key or model: the run says why."""
        if not has_standby or self._standby is None or offline is not None:
            return await self.obtain(key, compose, offline, self._give_up)
        if (settled := self._ledger.settled(key)) is not None:
            return settled
        if self._terms.filed in self._standby.gone:
            return "failed"
        hasty = copy(self)
        hasty._sender = self._standby.sender() if self._sender is not None else None
        return await hasty.obtain(key, compose, offline, self._leave_to_standby)

    async def obtain(
        self,
        key: CallKey,
        compose: Callable[[], Prompt],
        offline: Callable[[], str] | None,
        give_up: GiveUp,
    ) -> Completion | Literal["short", "failed"]:
        """As `request`. `give_up`: what is done about a response that cannot be had."""
        try:
            if (settled := self._ledger.settled(key)) is not None:
                return settled
            async with self._admission if self._admission and offline is None else nullcontext():
                return await self._buy_at_last(key, compose, offline, give_up)
        except ModelError as error:  # a prompt that fits nowhere
            return await give_up(error)

    async def _buy_at_last(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None, give_up: GiveUp
    ) -> Completion | Literal["short", "failed"]:
        """Buy; where the server's window or room proves too small, buy again as it is now known to fit."""
        for _ in range(MOST_REFITS):
            try:
                return await self._buy(key, compose, offline, give_up)
            except AskOtherwise as otherwise:
                reason = otherwise
        return await give_up(reason)

    async def _buy(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None, give_up: GiveUp
    ) -> Completion | Literal["short", "failed"]:
        """Reserve, send, settle."""
        whole = prompt = compose()
        paid = offline is None and self._replay is None
        if self._sender is not None and paid:
            prompt = await self._sender.fit(whole, self._terms.model, key.whose)
        reservation = self._reservation(key, prompt, paid=paid)
        if not await reservation.reserve():
            return "short"
        usage: Usage | None = reservation.lost(1)  # what an interrupted request counts as
        completion: Completion | None = None
        begun = False
        try:
            await self._ledger.reserve(key, prompt, self._terms.filed, reservation.each)
            begun = True
            completion, usage = await self._obtain(key, prompt, offline, reservation)
            usage = replace(usage, shortened=prompt.system != whole.system)
            await self._ledger.settle(key, completion, usage)
            await note_deviations(self._ledger, self._terms.filed, usage.raw)
        except DiskFull:
            if begun:
                raise
            usage = Usage(0, 0, sends=0)  # refused before it was sent
            return "short"
        except ModelError as error:
            usage = reservation.lost(error.timeouts + error.broken, error.sends, error.booked)
            await self._ledger.fail(key, str(error), usage)
            if isinstance(error, AskOtherwise):
                raise
            return await give_up(error)
        except Exception as bug:  # the call must not stay in flight for ever: it is failed, and can be taken up again
            if begun and completion is None:
                await self._ledger.fail(key, f"{type(bug).__name__}: {bug}", reservation.lost(1))
            raise
        finally:
            if usage is not None:
                await reservation.settle(usage, self._terms, answered=completion is not None)
        return replace(completion, model=self._terms.filed)

    def _reservation(self, key: CallKey, prompt: Prompt, *, paid: bool) -> Reservation:
        bound, terms = input_bound(prompt), self._terms
        kind = CostKind(terms.filed, f"{key.methodology}/{key.phase}/{key.purpose}") if paid else None
        usd = terms.cost(bound, prompt.max_output_tokens)
        return Reservation(self._budget, bound, bound + prompt.max_output_tokens, usd, terms.claim, kind)

    async def _give_up(self, error: ModelError) -> Literal["short", "failed"]:
        """What would befall every agent alike stops the run instead of failing them all: a wrong key or model name, a
        server that stays away, a replayed run without this call."""
        rejected = isinstance(error, ReplayMissing) or (isinstance(error, ModelRejected) and error.fatal)
        if error.outage or rejected:
            await self._budget.stop(str(error), failed=rejected)
            return "short"
        return "short" if error.short else "failed"

    async def _leave_to_standby(self, error: ModelError) -> Literal["short", "failed"]:
        """A model that fails, or that the server does not have, is the other's to make good; one that answers nobody is
        not asked again in this session. Where the server is away, the other is waited for."""
        if error.short or isinstance(error, ReplayMissing):
            return await self._give_up(error)
        if self._standby is not None and (error.outage or (isinstance(error, ModelRejected) and error.fatal)):
            log.warning("model %s: %s The model that stands by takes over.", self._terms.filed, error)
            self._standby.gone.add(self._terms.filed)
        return "failed"

    async def _obtain(
        self, key: CallKey, prompt: Prompt, offline: Callable[[], str] | None, reservation: Reservation
    ) -> tuple[Completion, Usage]:
        terms = self._terms
        if self._replay is not None:
            return self._replay.obtained(key)
        if offline is not None:
            text = offline()
            read = sum(estimate(part) for part in (prompt.system, *(m["content"] for m in prompt.messages)))
            return Completion(text), Usage(read, estimate(text), model=terms.filed)
        if self._sender is None:
            raise RuntimeError(f"model {terms.model!r} has no transport")
        response = await self._sender.send(
            prompt, model=terms.model, temperature=terms.temperature, seed=terms.seed, room=reservation.again,
            agent=key.whose,
        )  # fmt: skip
        usage = usage_of(response, prompt, reservation)
        return Completion(response.text, response.finish), usage


class AlternateModels:
    """The models of one participant, in order: what one cannot give is asked of the next, and so is everything after
    it.

    Each has attempts of its own, so the ledger keeps which one failed, and why. Measured by: what any of them has
    settled is never asked for again.
    """

    def __init__(
        self, models: Sequence[MeteredModel], place: Callable[[], int], switch: Callable[[int, str], Awaitable[object]]
    ):
        """`place`: of the model asked now, as it is stored; `switch` stores that the one there has failed, and why."""
        self._models = models
        self._place = place
        self._switch = switch

    async def request(
        self,
        key: CallKey,
        compose: Callable[[], Prompt],
        offline: Callable[[], str] | None = None,
        *,
        has_standby: bool = False,
    ) -> Completion | Literal["short", "failed"]:
        """See `Metered.request`."""
        keys = [key._replace(attempt=key.attempt + place * MOST_ATTEMPTS) for place in range(len(self._models))]
        for model, call in zip(self._models, keys, strict=True):
            if (settled := model.settled(call)) is not None:
                return settled
        while (place := self._place()) < len(keys) - 1:
            completion = await self._models[place].obtain(keys[place], compose, offline, partial(self._pass_on, place))
            if completion != "failed":
                return completion
        return await self._models[-1].request(keys[-1], compose, offline, has_standby=has_standby)

    async def _pass_on(self, place: int, error: ModelError) -> Literal["short", "failed"]:
        if error.short:  # the run pauses
            return "short"
        await self._switch(place, str(error))
        return "failed"


def usage_of(response: ModelResponse, prompt: Prompt, reservation: Reservation) -> Usage:
    """Reported usage; where a server reports none, or one that cannot be, the upper bound of the input and the bytes
    that came back."""
    lost = reservation.lost(response.timeouts + response.broken, response.sends, response.booked)
    read = reservation.bound if response.input_tokens is None else response.input_tokens
    written = len(response.text.encode()) if response.output_tokens is None else response.output_tokens
    return replace(
        lost, input_tokens=read, output_tokens=written, latency_ms=response.latency_ms, raw=response.raw,
        fingerprint=response.fingerprint, model=response.model, cached_tokens=response.cached_tokens,
        unbelieved=response.unbelieved,
        overlong=(response.output_tokens or 0) > OVERLONG * prompt.max_output_tokens,
    )  # fmt: skip
