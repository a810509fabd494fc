"""Several servers of one model. An agent stays with one of them, whose prefix cache then holds its persona and memory.

Which one says weighted rendezvous hashing (Thaler & Ravishankar 1998; the score is Schindelhauer & Schomaker's, 2005),
so every process says the same, shares are as the weights, and a server that is away moves its own agents and nobody
else: each to the next in its own order, and back once it has answered a probe (transport.py).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from enquete.state.interview_context import Prompt

if TYPE_CHECKING:
    from enquete.models.chat_completions import ModelResponse
    from enquete.models.transport import Transport

log = logging.getLogger("enquete")


def score(url: str, weight: float, agent: str) -> float:
    """The agent's server is the one with the highest."""
    drawn = int.from_bytes(blake2b(f"{url}\0{agent}".encode(), digest_size=8).digest(), "big")
    return -weight / math.log((drawn + 0.5) / 2**64)


class Fleet:
    """See `metered.Sender`. Limits and pauses are each server's own; requests in flight count for the process."""

    def __init__(self, servers: Sequence[tuple[Transport, float]]):
        """`servers`: each with its weight, above 0."""
        self._servers = tuple(servers)
        self._away: set[Transport] = set()

    def order(self, agent: str) -> list[Transport]:
        """All, the agent's own first."""
        servers = sorted(self._servers, key=lambda one: -score(one[0].base_url, one[1], agent))
        return [transport for transport, _ in servers]

    async def send(
        self,
        prompt: Prompt,
        *,
        model: str,
        temperature: float,
        seed: int,
        room: Callable[[], bool] | None = None,
        agent: str = "",
    ) -> ModelResponse:
        """As `Transport.send`; an outage is one of all servers."""
        own, *others = self.order(agent)
        asked = own.send(prompt, model=model, temperature=temperature, seed=seed, room=room, alternates=others)
        try:
            return await asked
        finally:
            self._tell()

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        order = self.order(agent)
        return await next((one for one in order if not one.health.away), order[0]).fit(prompt, model)

    @property
    def waits_for(self) -> str:
        """Which server it is that left last, once all have."""
        waits = [
            one.waits_for for one, _ in sorted(self._servers, key=lambda one: one[0].health.silent_since or math.inf)
        ]
        return waits[-1] if all(waits) else ""

    def halt(self) -> None:
        for transport, _ in self._servers:
            transport.halt()

    async def aclose(self) -> None:
        for transport, _ in self._servers:
            await transport.aclose()

    def _tell(self) -> None:
        """Each departure and return once."""
        away = {transport for transport, _ in self._servers if transport.health.away}
        for transport in away - self._away:
            did = transport.health.did or "did not answer"
            log.warning(
                "The model server %s %s. Its agents are asked at the others until it is back.", transport.shown, did
            )
        for transport in self._away - away:
            log.warning("The model server %s is back.", transport.shown)
        self._away = away
