"""A run followed by server-sent events: its status whenever it has changed, read once a second for all who follow it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.http.snapshots import FRESH_S
from enquete.interfaces.service.status import GOING_ON
from enquete.state.errors import EnqueteError

HEARTBEAT_S = 15.0
"""A proxy that hears nothing for longer closes the connection."""
RECONNECT_MS = 3000
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "until the run stops"}
}


async def following(desk: RequestHandlers, sim_id: str, run_id: str) -> AsyncIterator[bytes]:
    """Ends with the run, and with the server. The data of `status` is the body of GET …/status, in one line."""
    yield f"retry: {RECONNECT_MS}\n\n".encode()
    told, spoken = b"", time.monotonic()
    while not desk.is_closing:
        try:
            body = bytes((await desk.status(sim_id, run_id)).body)
        except EnqueteError:  # deleted meanwhile, or damaged: the next request says so
            break
        if body != told:
            told, spoken = body, time.monotonic()
            yield event("status", body)
            if json.loads(body)["data"]["run_status"] not in GOING_ON:
                break
        elif time.monotonic() - spoken > HEARTBEAT_S:
            spoken = time.monotonic()
            yield b": still here\n\n"
        await asyncio.sleep(FRESH_S)
    yield event("end", b"{}")


def event(kind: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), data)
