"""What an OpenAI-compatible server says of itself: its models' contexts, its slots, whether it is a small one.

Nobody is billed for these questions. A small server on somebody's own machine is asked at the addresses of llama.cpp
(/props), LM Studio (/api/v0/models), Ollama (/api/ps) and vLLM (/v1/models).
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2
from pydantic import JsonValue

from enquete.models.prices import is_local
from enquete.models.servers import Facts, facts_of

ASKING_SECONDS = 5.0


class ServerFacts:
    """Asked once for each model, and again after a while where the server could not say."""

    def __init__(self, base_url: str, key: str):
        self._base_url = base_url
        self._root = "{0.scheme}://{0.netloc}".format(urlsplit(base_url))
        self._headers = {"Authorization": f"Bearer {key or 'none'}", "Accept": "application/json"}
        self._known: dict[str, Facts] = {}
        self._next_asking = float("-inf")
        self._asking: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    async def of(self, client: httpx2.AsyncClient, model: str, *, anew: bool = False) -> Facts | None:
        """Return what the server says of this model; None where it was not there or is still loading.

        Never raises, and takes at most `ASKING_SECONDS`.
        """
        if anew:
            self._known.pop(model, None)
            self._next_asking = float("-inf")
        if model in self._known:
            return self._known[model]
        async with self._asking.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if model not in self._known and time.monotonic() >= self._next_asking:
                self._next_asking = time.monotonic() + ASKING_SECONDS
                with suppress(Exception):  # the request that follows will meet it, and say so
                    async with asyncio.timeout(ASKING_SECONDS):
                        self._known[model] = await self._ask(client, model)
        return self._known.get(model)

    async def _ask(self, client: httpx2.AsyncClient, model: str) -> Facts:
        urls = [f"{self._base_url}/models"]
        if is_local(urlsplit(self._root).hostname or ""):
            urls += [self._root + path for path in ("/props", "/api/v0/models", "/api/ps")]
        listed, *bodies = await asyncio.gather(*(self._get(client, url) for url in urls))
        props, studio, loaded = bodies or (None, None, None)
        return facts_of(model, props, listed, studio, loaded)

    async def _get(self, client: httpx2.AsyncClient, url: str) -> JsonValue:
        """A body; None where there is none to be had. Raises ConnectionError where that may change."""
        answer = await client.get(url, headers=self._headers if url.startswith(self._base_url) else {})
        if answer.status_code >= 500 and answer.status_code != 501:
            raise ConnectionError(answer.status_code)
        if answer.status_code != 200:
            return None
        body: JsonValue = json.loads(answer.content)
        return body

    async def count(self, client: httpx2.AsyncClient, text: str) -> int | None:
        """Return the tokens of a text by llama.cpp's own count; None where the server does not count."""
        with suppress(Exception):  # a courtesy: without it the length is estimated
            async with asyncio.timeout(ASKING_SECONDS):
                answer = await client.post(f"{self._root}/tokenize", json={"content": text})
                return len(answer.json()["tokens"]) if answer.status_code == 200 else None
        return None
