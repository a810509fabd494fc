"""A question that any working server answers, whoever is asked about: it tells a server's failure from a request's own.

A request that is answered 500 each time may be too long for the server, or the server may answer everybody so. When
nobody else happens to be served, this one is sent in between. It is short, so it costs next to nothing; the request for
whose sake it was sent is charged for it, at its own reservation.
"""

from __future__ import annotations

from enquete.models.exchange import Request
from enquete.state.seam import Prompt

PROMPT = Prompt(
    system="This is a test of the connection.",
    messages=({"role": "user", "content": "Are you there?"},),
    schema={"type": "object", "properties": {"there": {"type": "boolean"}}, "required": ["there"]},
    max_output_tokens=32,  # an answer cut off by its length is an answer too
)


def canary(request: Request) -> Request:
    """As `request` is sent: to the same model, with the same parameters."""
    return Request(PROMPT, request.model, request.temperature, request.seed)
