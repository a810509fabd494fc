"""One shared `ChatOpenAI` per event loop and model, on the aiohttp transport, and one exchange over it.

Measured by CPU per call (bench/results.md). What matters: one client for all, the aiohttp transport, and that what stays the
same of every request is built once (wire.py). Where tracing is asked for, langchain is used whole (chat.py), with `extra_body`
for everything but model and messages: with `response_format` as an ordinary argument it goes through the SDK's `parse`, which
raises away a paid response that ended by length.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langsmith.run_helpers import tracing_context
from pydantic import JsonValue, SecretStr

from enquete.models.dialect import request_body
from enquete.models.prices import is_local
from enquete.models.serving import Facts, facts_of

if TYPE_CHECKING:  # a second of import, for runs that ask a model alone
    import httpx2

    from enquete.models.chat import Chat
    from enquete.models.wire import BoundedClient, HttpClient

ASKING_SECONDS = 5.0
_MESSAGE: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


@dataclass
class _LoopClients:
    http: BoundedClient
    chats: dict[str, tuple[Chat, HttpClient]] = field(default_factory=dict)  # by model
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Clients:
    """Clients of one server. A connection belongs to an event loop, so each loop has its own."""

    def __init__(self, base_url: str, api_key: SecretStr | None):
        self._base_url = base_url
        self._api_key = api_key or SecretStr("none")
        self._traced = tracing_wanted()
        self._loops: dict[asyncio.AbstractEventLoop, _LoopClients] = {}
        self.known: dict[str, Facts] = {}  # by model, what the server said
        self._next_asking = float("-inf")

    async def facts(self, model: str) -> Facts:
        """What the server says of this model; asked once, and again after a while where it could not say (it was not there, or
        is still loading). Never raises, and takes at most `ASKING_SECONDS`."""
        if model in self.known:
            return self.known[model]
        clients = self._of_this_loop()
        async with clients.asking:
            if model not in self.known and time.monotonic() >= self._next_asking:
                self._next_asking = time.monotonic() + ASKING_SECONDS
                found = await self._ask_facts(clients.http, model)
                if found is not None:
                    self.known[model] = found
        return self.known.get(model, Facts())

    async def _ask_facts(self, http: BoundedClient, model: str) -> Facts | None:
        """None where it could not say."""
        parts = urlsplit(self._base_url)
        root = f"{parts.scheme}://{parts.netloc}"
        at_home = [f"{root}/props", f"{root}/api/v0/models", f"{root}/api/ps"] if is_local(parts.hostname or "") else []
        try:
            async with asyncio.timeout(ASKING_SECONDS):
                listed, *own = await asyncio.gather(
                    *(self._get(http, url) for url in [f"{self._base_url}/models", *at_home])
                )
        except Exception:  # whatever it is: the request that follows will meet it, and say so
            return None
        props, studio, loaded = own or (None, None, None)
        return facts_of(model, props, listed, studio, loaded)

    async def _get(self, http: BoundedClient, url: str) -> JsonValue:
        """A body; None where there is none to be had. Raises ConnectionError where that may change."""
        key = {"Authorization": f"Bearer {self._api_key.get_secret_value()}"} if url.startswith(self._base_url) else {}
        answer = await http.get(url, headers=key)
        if answer.status_code >= 500 and answer.status_code != 501:
            raise ConnectionError(answer.status_code)
        try:
            body: JsonValue = answer.json() if answer.status_code == 200 else None
        except (ValueError, RecursionError):
            return None
        return body

    async def count(self, text: str) -> int | None:
        """Tokens of a text by llama.cpp's own count; None where the server does not count."""
        parts = urlsplit(self._base_url)
        try:
            async with asyncio.timeout(ASKING_SECONDS):
                http = self._of_this_loop().http
                answer = await http.post(f"{parts.scheme}://{parts.netloc}/tokenize", json={"content": text})
                found = answer.json().get("tokens") if answer.status_code == 200 else None
        except Exception:  # a courtesy: without it the length is estimated
            return None
        return len(found) if isinstance(found, list) else None

    async def ask(self, method: str, path: str) -> httpx2.Response:
        """A request beside the questions, with the key and without content. Raises Oversized, Redirected, and whatever SDK and
        aiohttp make of a server that is not there."""
        key = {"Authorization": f"Bearer {self._api_key.get_secret_value()}"}
        body: dict[str, JsonValue] | None = {} if method == "POST" else None
        return await self._of_this_loop().http.request(method, f"{self._base_url}{path}", headers=key, json=body)

    async def exchange(self, model: str, messages: list[tuple[str, str]], body: dict[str, JsonValue]) -> JsonValue:
        """One request, no retries: what the server answered, a chat completion or not. Raises Oversized, Redirected, openai's
        errors, and whatever SDK, langchain and aiohttp make of what they do not understand."""
        chat, line = self._of_model(model)
        if self._traced:
            return await chat.complete([_MESSAGE[role](content=content) for role, content in messages], body)
        # No callbacks of a surrounding graph, hence no LangSmith tracer that an inherited variable switched on.
        return await line.complete(request_body(model, messages, body))

    async def aclose(self) -> None:
        """Close the connections of every loop. Requests in flight fail."""
        while self._loops:
            _, clients = self._loops.popitem()
            with contextlib.suppress(RuntimeError):  # the loop of those connections is closed already
                await clients.http.aclose()

    def _of_model(self, model: str) -> tuple[Chat, HttpClient]:
        clients = self._of_this_loop()
        if model not in clients.chats:
            from enquete.models.chat import chat_of  # noqa: PLC0415
            from enquete.models.wire import HttpClient  # noqa: PLC0415

            chat = chat_of(model, self._base_url, self._api_key, clients.http)
            clients.chats[model] = chat, HttpClient(chat.root_async_client, clients.http)
        return clients.chats[model]

    def _of_this_loop(self) -> _LoopClients:
        loop = asyncio.get_running_loop()
        clients = self._loops.get(loop)
        if clients is None:
            from enquete.models.wire import TIMEOUT, BoundedClient  # noqa: PLC0415

            # To read the trusted certificates takes as long as twenty calls: not for a server that shows none.
            verify = not self._base_url.startswith("http:") or bool(getproxies())
            clients = self._loops[loop] = _LoopClients(BoundedClient(timeout=TIMEOUT, verify=verify))
        return clients


def tracing_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the user asked for tracing of Enquete itself."""
    return environ.get("ENQUETE_TRACING", "").strip().lower() in {"1", "true", "yes", "on"}


@contextlib.contextmanager
def untraced(environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """No LangSmith tracing inside, unless ENQUETE_TRACING=1: an inherited variable must not export personas.

    LANGSMITH_TRACING or LANGCHAIN_TRACING_V2, set for some other program of the user's, would otherwise send every
    prompt to a third party; langsmith asks its context before the environment. Put it around the start of a graph: tasks
    and graphs started inside inherit it.
    """
    if tracing_wanted(environ):
        yield
        return
    with tracing_context(enabled=False):
        yield
