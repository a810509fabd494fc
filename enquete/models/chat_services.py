"""Who sends requests to a model: one chat service for each server, whichever protocol it speaks.

A service takes the body of a chat-completion request as OpenAI has it and returns the body of a chat completion;
services of other protocols translate. What is the same for all (reserving, limits, waiting, retries, formats) is done
above it (transport.py).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from pydantic import JsonValue

from enquete.models.server_profiles import PrefixCache
from enquete.models.servers import Facts

T = TypeVar("T")


class ChatService(Protocol):
    """What a transport needs of whoever sends for it."""

    async def complete(self, body: dict[str, JsonValue]) -> JsonValue:
        """Send one request, once.

        Returns:
            What the server sent, parsed, or its text where it is no JSON.

        Raises:
            Trouble: There was no answer; `unreachable` where nothing can have been billed.
            Refused: The server said that it does not take this request.
            NotRead: The answer is too large, or somebody else's.
        """

    async def facts(self, model: str, *, anew: bool = False) -> Facts | None:
        """Return what the server says of this model; None where it cannot be asked now. `anew`: ask once more."""

    async def count(self, text: str) -> int | None:
        """Return the tokens of a text by the server's own count; None where it does not count."""

    def untaken(self, model: str) -> frozenset[str]:
        """Return the fields of a request that this model has no word for, so that they are not sent."""

    def prefix_cache(self, model: str) -> PrefixCache:
        """Return what is cached of a prompt's beginning where this model is asked."""

    async def aclose(self) -> None:
        """Let go of connections; requests in flight fail."""


async def with_patience(sending: Coroutine[Any, Any, T], patience: Callable[[], float]) -> T:
    """Raises TimeoutError. Patience is asked again when it is due: the server may have proved slow, and be at work."""
    began, asked = time.monotonic(), asyncio.ensure_future(sending)
    try:
        while not asked.done():
            left = began + patience() - time.monotonic()
            if left <= 0:
                raise TimeoutError
            await asyncio.wait([asked], timeout=left)
        return asked.result()
    finally:
        asked.cancel()
        del asked  # with its fault it would keep what was read until garbage is collected
