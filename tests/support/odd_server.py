"""A model server as public issue threads describe them: one oddity, given as a function, over real HTTP.

with OddServer(oddity) as server: ... server.base_url, server.requests

An oddity gets the request's body, its number from 1, and `answer`, which makes the usual good reply; it returns what is
sent: a JSON body with or without a status before it, or a whole response.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.support.model_server import ModelServer
from tests.support.server_faults import Draw

Reply = Any
Oddity = Callable[[dict[str, Any], int, Callable[[], dict[str, Any]]], Reply]


class OddServer(ModelServer):
    """Every request is logged; beside chat completions it says what `listed` holds, by path."""

    def __init__(self, oddity: Oddity, listed: dict[str, Callable[[], Any]] | None = None):
        super().__init__()
        self._oddity = oddity
        self._told = listed or {}

    def _app(self) -> web.Application:
        app = super()._app()
        app.middlewares.append(self._tell)
        return app

    @web.middleware
    async def _tell(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.method == "GET" and request.path in self._told:
            return web.json_response(self._told[request.path]())
        response: web.StreamResponse = await handler(request)
        return response

    async def _reply(self, request: web.Request, body: dict[str, Any], raw: bytes) -> web.StreamResponse:
        draw = Draw(0, "", len(self.requests), {})
        self._record(body, draw, [], request.headers.get("Authorization", ""))

        def answer() -> dict[str, Any]:
            return self._completion(body, self._answer(body), False, [], draw)

        reply = self._oddity(body, len(self.requests), answer)
        if isinstance(reply, web.StreamResponse):
            return reply
        status, told = reply if isinstance(reply, tuple) else (200, reply)
        return web.json_response(told, status=status)


def prompt_of(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def content_of(completion: dict[str, Any]) -> str:
    return str(completion["choices"][0]["message"]["content"])


def with_message(completion: dict[str, Any], finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The completion with another message in its only choice."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**completion, "choices": [choice]}


def as_events(completion: dict[str, Any]) -> web.Response:
    """The completion as a stream that nobody asked for."""
    text = content_of(completion)
    pieces = [text[start : start + 20] for start in range(0, len(text), 20)]
    events = [{"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    events.append({"choices": [], "usage": completion["usage"]})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return web.Response(text="".join([*lines, "data: [DONE]\n\n"]), content_type="text/event-stream")
