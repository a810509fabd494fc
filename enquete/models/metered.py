"""The metered model: every paid request goes through the ledger and the budget, whoever makes it.

Measured by: the sum over calls of input + output + allowance equals the budget's `spent`; a settled call is never sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from enquete.checkpoints.ballast import DiskFull
from enquete.checkpoints.budget import Budget
from enquete.checkpoints.ledger import Ledger, Usage
from enquete.checkpoints.usage import Used
from enquete.models.cache import ResponseCache, request_key
from enquete.models.prices import Price, cost
from enquete.models.transport import Response
from enquete.state.asking import CallKey
from enquete.state.desk import Completion, Prompt
from enquete.state.errors import ModelError, ModelRejected, ReplayMissing

BYTES_PER_TOKEN = 4  # estimate for answers made without a model; a model's own usage report is used where there is one
FEWEST_BYTES_PER_TOKEN = 2
OVERLONG = 1.1
"""Times the longest reply that was asked for: from there on a server ignores the limit. Some count a token or two more."""
TOKENS_PER_MESSAGE = 16  # role markers and separators of chat templates


class Sender(Protocol):
    """What the metered model needs of a transport."""

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool]
    ) -> Response: ...

    def halt(self) -> None: ...


def input_bound(prompt: Prompt) -> int:
    """What the input may come to, offline: two bytes a token, twice what text in any language takes with the tokenizers
    in use; the schema may be sent twice. What a call should cost beyond that is the error by which a cap may be missed.
    """
    texts = [prompt.system, *(message["content"] for message in prompt.messages)]
    schema = len(json.dumps(prompt.schema))
    size = sum(len(text.encode()) for text in texts) + 2 * schema
    return -(-size // FEWEST_BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (len(texts) + 1)


def estimate(text: str) -> int:
    """Tokens of a text, estimated from its bytes."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


class Replay(Protocol):
    """A finished run as the source of responses: what each call got then."""

    def obtained(self, key: CallKey) -> tuple[Completion, Usage]:
        """Raises ModelError as it was then, ReplayMissing where that run made no such call."""
        ...


@dataclass(frozen=True)
class Terms:
    """On which terms one arm (or the interviewer) uses a model: its parameters, its price, whose budget it draws on."""

    model: str
    temperature: float
    seed: int
    price: Price | None = None  # None: unknown, so that only tokens can be capped
    claim: str = ""
    base_url: str = ""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars; 0 where the price is unknown (a cap on money is then refused before the run)."""
        return cost(self.price, input_tokens, output_tokens) if self.price else 0.0

    def paid(self, usage: Usage) -> float:
        """US dollars of a call, with what may have been billed for sends that never answered."""
        used = Used(usage.input_tokens, usage.output_tokens, usage.allowance, usage.allowance_read)
        return valued(self.price, used) if self.price else 0.0


def valued(price: Price, used: Used) -> float:
    """US dollars, while a run is driven and from its ledger alike: the question of an unanswered request at the price of
    input, the rest of what it reserved at that of output."""
    return cost(price, used.read + used.unanswered_read, used.written + used.unanswered - used.unanswered_read)


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
        cache: ResponseCache | None = None,
    ):
        """`admission` bounds the calls of a run that are filed but not settled: only those can be lost to a kill, bought
        after a pause was asked for, or hold back budget from others. Without it every queueing call would."""
        self._ledger = ledger
        self._budget = budget
        self._sender = sender
        self._terms = terms
        self._admission = admission
        self._replay = replay
        self._cache = cache

    async def request(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None = None
    ) -> Completion | Literal["short", "failed"]:
        """See `Metered.request`. "short" also after the server refused our key or model: the run pauses and says why."""
        settled = self._ledger.settled(key)
        if settled is not None:
            return settled
        if offline is not None or self._admission is None:
            return await self._buy(key, compose, offline)
        async with self._admission:
            return await self._buy(key, compose, None)

    async def _buy(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None
    ) -> Completion | Literal["short", "failed"]:
        """Reserve, send, settle."""
        prompt = compose()
        bound = input_bound(prompt)
        reserved, usd = bound + prompt.max_output_tokens, self._terms.cost(bound, prompt.max_output_tokens)
        if not await self._budget.reserve(reserved, usd, self._terms.claim):
            return "short"
        usage = _unanswered(1, bound, reserved)  # what an interrupted request counts as
        completion: Completion | None = None
        sends = 1  # reservations held by now

        def room() -> bool:
            """Before another send of what may have been billed: one more reservation."""
            nonlocal sends
            granted = self._budget.try_reserve(reserved, usd, self._terms.claim)
            sends += granted
            return granted

        begun = False
        try:
            await self._ledger.reserve(key, prompt, self._terms.model, reserved)
            begun = True
            completion, usage = await self._obtained(key, prompt, offline, reserved, room)
            await self._ledger.settle(key, completion, usage)
        except DiskFull:
            if begun:
                raise
            usage = Usage(0, 0, sends=0)  # refused before it was sent
            return "short"
        except ModelError as error:
            usage = _unanswered(error.timeouts + error.broken, bound, reserved, error.sends)
            await self._ledger.fail(key, str(error), usage)
            return await self._give_up(error)
        finally:
            await self._settle(usage, sends * reserved, sends * usd, answered=completion is not None)
        return completion

    async def _settle(self, usage: Usage, reserved: int, reserved_usd: float, *, answered: bool) -> None:
        lost = Usage(0, 0, usage.allowance, allowance_read=usage.allowance_read)
        await self._budget.settle(
            reserved,
            usage.input_tokens + usage.output_tokens + usage.allowance,
            reserved_usd,
            self._terms.paid(usage),
            self._terms.claim,
            unanswered=(usage.allowance, self._terms.paid(lost)),
            answered=answered,
        )

    async def _give_up(self, error: ModelError) -> Literal["short", "failed"]:
        """What would befall every agent alike stops the run instead of failing them all: a wrong key or model name, a
        server that stays away, a replayed run without this call."""
        rejected = isinstance(error, ReplayMissing) or (isinstance(error, ModelRejected) and error.fatal)
        if error.outage or rejected:
            await self._budget.stop(str(error), failed=rejected)
            return "short"
        return "short" if error.short else "failed"

    async def _obtained(
        self,
        key: CallKey,
        prompt: Prompt,
        offline: Callable[[], str] | None,
        reserved: int,
        room: Callable[[], bool],
    ) -> tuple[Completion, Usage]:
        """A bug in here must not leave the call in flight for ever: it is failed, and can be taken up again."""
        try:
            return await self._obtain(key, prompt, offline, reserved, room)
        except ModelError:
            raise
        except Exception as bug:
            await self._ledger.fail(key, f"{type(bug).__name__}: {bug}", _unanswered(1, input_bound(prompt), reserved))
            raise

    async def _obtain(
        self,
        key: CallKey,
        prompt: Prompt,
        offline: Callable[[], str] | None,
        reserved: int,
        room: Callable[[], bool],
    ) -> tuple[Completion, Usage]:
        if self._replay is not None:
            return self._replay.obtained(key)
        if offline is not None:
            text = offline()
            read = sum(estimate(part) for part in (prompt.system, *(m["content"] for m in prompt.messages)))
            return Completion(text), Usage(read, estimate(text), model=self._terms.model)
        if self._cache is None:
            return await self._send(prompt, reserved, room)
        return await self._send_unless_cached(self._cache, key, prompt, reserved, room)

    async def _send(self, prompt: Prompt, reserved: int, room: Callable[[], bool]) -> tuple[Completion, Usage]:
        terms = self._terms
        if self._sender is None:
            raise RuntimeError(f"model {terms.model!r} has no transport")
        response = await self._sender.send(
            prompt, model=terms.model, temperature=terms.temperature, seed=terms.seed, room=room
        )
        return Completion(response.text, response.finish), _usage(response, prompt, reserved)

    async def _send_unless_cached(
        self, cache: ResponseCache, key: CallKey, prompt: Prompt, reserved: int, room: Callable[[], bool]
    ) -> tuple[Completion, Usage]:
        """A hit costs nothing and was not sent: both stand in the ledger."""
        terms = self._terms
        name = request_key(
            prompt, base_url=terms.base_url, model=terms.model, temperature=terms.temperature, seed=terms.seed,
            occasion=key,
        )  # fmt: skip
        hit = cache.get(name)
        if hit is not None:
            usage = Usage(0, 0, sends=0, fingerprint=hit.fingerprint, raw=hit.raw, model=hit.model)
            return Completion(hit.text, hit.finish), usage
        completion, usage = await self._send(prompt, reserved, room)
        cache.put(
            name, text=completion.text, finish=completion.finish, raw=usage.raw, fingerprint=usage.fingerprint,
            model=usage.model, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        )  # fmt: skip
        return completion, usage


def _unanswered(times: int, bound: int, reserved: int, sends: int = 1) -> Usage:
    """What may have been billed for requests that never answered: all that they reserved."""
    return Usage(0, 0, times * reserved, sends, allowance_read=times * bound)


def _usage(response: Response, prompt: Prompt, reserved: int) -> Usage:
    """Reported usage; where a server reports none, the upper bound of the input and the bytes that came back."""
    bound = input_bound(prompt)
    read = bound if response.input_tokens is None else response.input_tokens
    written = len(response.text.encode()) if response.output_tokens is None else response.output_tokens
    return Usage(
        input_tokens=read,
        output_tokens=written,
        allowance=(response.timeouts + response.broken) * reserved,
        allowance_read=(response.timeouts + response.broken) * bound,
        sends=response.sends,
        latency_ms=response.latency_ms,
        fingerprint=response.fingerprint,
        raw=response.raw,
        model=response.model,
        unbelieved=response.unbelieved,
        overlong=(response.output_tokens or 0) > OVERLONG * prompt.max_output_tokens,
    )
