"""A server that speaks the protocols of Anthropic, Gemini and Ollama, as their public documentation describes them.

Answers are those of the OpenAI-compatible model server for the same question. `refuse` is asked about every request and
may return a status, a body and headers in place of an answer.

In a test:           with ProviderServer() as server: ... server.root, server.requests
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.support.schema_filler import fill, schema_in_form, schema_in_prompt, sentence

Refusal = tuple[int, Any, dict[str, str]]


@dataclass
class Asked:
    """One request. `text`: the whole prompt."""

    protocol: str
    model: str
    system: str
    text: str
    schema: dict[str, Any] | None
    body: dict[str, Any]
    headers: dict[str, str]

    def answer(self) -> str:
        schema = self.schema or schema_in_prompt(self.text)
        if schema is not None and not schema.get("properties"):  # one for all questionnaires
            schema = schema_in_form(self.text)
        if schema is None:
            return sentence(len(self.text))
        return json.dumps(fill(schema, f"0|{self.system}", self.text), ensure_ascii=False)

    @property
    def read(self) -> int:
        return len(self.text.encode()) // 4


class ProviderServer:
    """Runs in a thread of its own between `__enter__` and `__exit__`."""

    def __init__(self, refuse: Callable[[Asked, int], Refusal | None] = lambda asked, number: None):
        """`refuse`: by the request and its number, from 1."""
        self.refuse = refuse
        self.requests: list[Asked] = []
        self.root = ""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/messages", self._anthropic)
        app.router.add_post("/v1beta/models/{name}", self._gemini)
        app.router.add_post("/api/chat", self._ollama)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        self.root = f"http://127.0.0.1:{port}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def _refusal(self, asked: Asked) -> web.Response | None:
        self.requests.append(asked)
        refusal = self.refuse(asked, len(self.requests))
        if refusal is None:
            return None
        status, body, headers = refusal
        return web.json_response(body, status=status, headers=headers)

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        system = body.get("system", "")
        if isinstance(system, list):
            system = "".join(part["text"] for part in system)
        said = [_text_of(turn["content"]) for turn in body["messages"]]
        tools = body.get("tools") or []
        schema = tools[0]["input_schema"] if tools else None
        asked = Asked("anthropic", body["model"], system, "\n".join([system, *said]), schema, body, _headers(request))
        if (refused := self._refusal(asked)) is not None:
            return refused
        text = asked.answer()
        if tools:
            content = [{"type": "tool_use", "id": "toolu_1", "name": tools[0]["name"], "input": json.loads(text)}]
        else:
            content = [{"type": "text", "text": text}]
        return web.json_response({
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": "tool_use" if tools else "end_turn", "stop_sequence": None,
            "usage": {
                "input_tokens": asked.read - asked.read // 2, "cache_read_input_tokens": asked.read // 2,
                "cache_creation_input_tokens": 0, "output_tokens": len(text) // 4,
            },
        })  # fmt: skip

    async def _gemini(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        name = request.match_info["name"].partition(":")[0]
        system = "".join(part["text"] for part in (body.get("systemInstruction") or {}).get("parts", []))
        said = ["".join(part.get("text", "") for part in turn["parts"]) for turn in body["contents"]]
        form = body.get("generationConfig") or {}
        schema = form.get("responseJsonSchema")
        asked = Asked("gemini", name, system, "\n".join([system, *said]), schema, body, _headers(request))
        if (refused := self._refusal(asked)) is not None:
            return refused
        text = asked.answer()
        return web.json_response({
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": asked.read, "candidatesTokenCount": len(text) // 4,
                "totalTokenCount": asked.read + len(text) // 4,
            },
            "modelVersion": name,
        })  # fmt: skip

    async def _ollama(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        system = "".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")
        said = [turn["content"] for turn in body["messages"] if turn["role"] != "system"]
        form = body.get("format")
        schema = form if isinstance(form, dict) else None
        asked = Asked("ollama", body["model"], system, "\n".join([system, *said]), schema, body, _headers(request))
        if (refused := self._refusal(asked)) is not None:
            return refused
        text = asked.answer()
        lines = [
            {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": False,
             "message": {"role": "assistant", "content": text}},
            {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
             "message": {"role": "assistant", "content": ""}, "prompt_eval_count": asked.read,
             "eval_count": len(text) // 4},
        ]  # fmt: skip
        streamed = "".join(json.dumps(line) + "\n" for line in lines)
        return web.Response(text=streamed, content_type="application/x-ndjson")


def _text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _headers(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}
