"""The metered model: every paid request goes through the ledger and the budget, whoever makes it.

Measured by: the sum over calls of input + output + allowance equals the budget's `spent`; a settled call is never sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Literal, Protocol

from enquete.checkpoints.budget import Budget
from enquete.checkpoints.ledger import Ledger, Usage
from enquete.models.transport import Response
from enquete.state.errors import ModelError, ModelRejected
from enquete.state.seam import CallKey, Completion, Prompt

BYTES_PER_TOKEN = 4  # estimate for answers made without a model; a model's own usage report is used where there is one
TOKENS_PER_MESSAGE = 16  # role markers and separators of chat templates


class Sender(Protocol):
    """What the metered model needs of a transport."""

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool]
    ) -> Response: ...


def input_bound(prompt: Prompt) -> int:
    """Upper bound of the input tokens, offline: a byte-level token has at least one byte; the schema may be sent twice."""
    texts = [prompt.system, *(message["content"] for message in prompt.messages)]
    schema = len(json.dumps(prompt.schema))
    return sum(len(text.encode()) for text in texts) + 2 * schema + TOKENS_PER_MESSAGE * (len(texts) + 1)


def estimate(text: str) -> int:
    """Tokens of a text, estimated from its bytes."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


class MeteredModel:
    """One model as one arm (or the interviewer) uses it."""

    def __init__(
        self,
        ledger: Ledger,
        budget: Budget,
        sender: Sender | None,
        *,
        model: str,
        temperature: float,
        seed: int,
        admission: asyncio.Semaphore | None = None,
    ):
        """`admission` bounds the calls of a run that are filed but not settled: only those can be lost to a kill, bought
        after a pause was asked for, or hold back budget from others. Without it every queueing call would."""
        self._ledger = ledger
        self._budget = budget
        self._sender = sender
        self._model = model
        self._temperature = temperature
        self._seed = seed
        self._admission = admission

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
        reserved = input_bound(prompt) + prompt.max_output_tokens
        if not await self._budget.reserve(reserved):
            return "short"
        used = held = reserved  # what an interrupted request counts as; what is reserved by now

        def room() -> bool:
            """Before another send of what may have been billed: one more reservation."""
            nonlocal held
            granted = self._budget.try_reserve(reserved)
            held += reserved if granted else 0
            return granted

        try:
            await self._ledger.reserve(key, prompt, self._model, reserved)
            completion, usage = await self._obtained(key, prompt, offline, reserved, room)
            used = usage.input_tokens + usage.output_tokens + usage.allowance
            await self._ledger.settle(key, completion, usage)
        except ModelError as error:
            allowance = (error.timeouts + error.broken) * reserved
            used = allowance
            await self._ledger.fail(key, str(error), Usage(0, 0, allowance, error.sends))
            return await self._give_up(error)
        finally:
            await self._budget.settle(held, used)
        return completion

    async def _give_up(self, error: ModelError) -> Literal["short", "failed"]:
        """A wrong key or model name would fail every agent alike: stop the run instead of writing failed answers."""
        if isinstance(error, ModelRejected) and error.fatal:
            await self._budget.stop(str(error))
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
            return await self._obtain(prompt, offline, reserved, room)
        except ModelError:
            raise
        except Exception as bug:
            await self._ledger.fail(key, f"{type(bug).__name__}: {bug}", Usage(0, 0, reserved))
            raise

    async def _obtain(
        self, prompt: Prompt, offline: Callable[[], str] | None, reserved: int, room: Callable[[], bool]
    ) -> tuple[Completion, Usage]:
        if offline is not None:
            text = offline()
            read = sum(estimate(part) for part in (prompt.system, *(m["content"] for m in prompt.messages)))
            return Completion(text), Usage(read, estimate(text), model=self._model)
        if self._sender is None:
            raise RuntimeError(f"model {self._model!r} has no transport")
        response = await self._sender.send(
            prompt, model=self._model, temperature=self._temperature, seed=self._seed, room=room
        )
        return Completion(response.text, response.finish), _usage(response, prompt, reserved)


def _usage(response: Response, prompt: Prompt, reserved: int) -> Usage:
    """Reported usage; where a server reports none, the upper bound of the input and the bytes that came back."""
    read = input_bound(prompt) if response.input_tokens is None else response.input_tokens
    written = len(response.text.encode()) if response.output_tokens is None else response.output_tokens
    return Usage(
        input_tokens=read,
        output_tokens=written,
        allowance=(response.timeouts + response.broken) * reserved,
        sends=response.sends,
        latency_ms=response.latency_ms,
        fingerprint=response.fingerprint,
        raw=response.raw,
        model=response.model,
    )
