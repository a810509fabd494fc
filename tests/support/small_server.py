"""A model server as on somebody's laptop: it reads and writes so many tokens a second, a few requests at a time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.support.model_server import ModelServer


class SmallServer(ModelServer):
    """Requests beyond its slots wait there, and time out there; `max_in_flight` counts them too."""

    def __init__(
        self, *, slots: int = 2, reading: float = 1e6, writing: float = 1e6, context: int = 16384, says: bool = True
    ):
        """`reading`, `writing`: tokens a second; `context`: of one request; `says`: whether it has llama.cpp's
        /props."""
        super().__init__()
        self.slots, self.reading, self.writing, self.context, self.says = slots, reading, writing, context, says
        self._free = asyncio.Semaphore(slots)
        self.asked: list[str] = []  # paths of GETs

    def _app(self) -> web.Application:
        app = super()._app()
        app.middlewares.append(self._propose)
        return app

    @web.middleware
    async def _propose(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.method == "GET":
            self.asked.append(request.path)
        if request.path == "/props" and self.says:
            settings = {"default_generation_settings": {"n_ctx": self.context}, "total_slots": self.slots}
            return web.json_response(settings)
        response: web.StreamResponse = await handler(request)
        return response

    async def _reply(self, request: web.Request, body: dict[str, Any], raw: bytes) -> web.StreamResponse:
        reply = await super()._reply(request, body, raw)
        assert isinstance(reply, web.Response)
        assert reply.text is not None
        usage = json.loads(reply.text)["usage"]
        async with self._free:
            await asyncio.sleep(usage["prompt_tokens"] / self.reading + usage["completion_tokens"] / self.writing)
        return reply
