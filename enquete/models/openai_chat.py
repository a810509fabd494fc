"""Requests to an OpenAI-compatible server, sent by langchain-openai's ChatOpenAI over aiohttp.

`ChatOpenAI.root_async_client.post` is the cheapest way through langchain-openai: no typed walk over what is only stored
(bench/results.md). Where LangSmith is switched on, or somebody listens to LangChain's callbacks, the same request goes
through `ainvoke`, which tells them. What is sent holds personas: it goes to the server that was named and nowhere else,
and bodies are read up to a limit. Imported with the first request: the SDK takes half a second.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Any, TypeVar
from urllib.request import getproxies

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from langsmith.utils import tracing_is_enabled
from pydantic import JsonValue, SecretStr

from enquete.models.faults import NotRead, Refused, Trouble, connection_fault, fault_of
from enquete.models.server_facts import ServerFacts
from enquete.models.server_profiles import (
    LONGEST_RETRY_AFTER_S,
    Meaning,
    PrefixCache,
    ServerError,
    Verdict,
    mask,
    prefix_cache_of,
    read_error,
)
from enquete.models.servers import Facts

MOST_BYTES = 4 * 2**20
"""Of one unpacked body. The longest answers of thinking models have a tenth of that."""
SMALL_BYTES = 256 * 2**10
"""A body beyond this is read on with few others beside it, so that hundreds in flight need no gigabyte either."""
LARGE_AT_ONCE = 4
TIMEOUT = openai.Timeout(None, connect=20.0)
"""How long an answer may take is known to the transport, which waits for it."""
MAX_REDIRECTS = 3
MOVED_FOR_GOOD = (301, 308)
KEEPS_METHOD = (307, 308)


class ServerChat(ChatOpenAI):
    """ChatOpenAI that sends a body which was made elsewhere, and gives the server's own JSON back."""

    async def post(self, body: dict[str, JsonValue]) -> JsonValue:
        """Send one request. Raises what the SDK raises."""
        reply: JsonValue = await self.root_async_client.post("/chat/completions", body=body, cast_to=object)
        return reply

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = await self.post(kwargs["body"])
        message = AIMessage(content=json.dumps(reply, ensure_ascii=False), response_metadata={"reply": reply})
        return ChatResult(generations=[ChatGeneration(message=message)])


class OpenAIChat:
    """All requests to one server, from any number of event loops. See `ChatService`."""

    def __init__(self, base_url: str, api_key: SecretStr | None, longest_wait_s: float = LONGEST_RETRY_AFTER_S):
        self._base_url = base_url
        self._key = api_key.get_secret_value() if api_key else ""
        self._longest_wait_s = min(longest_wait_s, LONGEST_RETRY_AFTER_S)
        self._is_traced = bool(tracing_is_enabled())
        self._chats: dict[asyncio.AbstractEventLoop, ServerChat] = {}  # a connection belongs to its event loop
        self._clients: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}
        self._facts = ServerFacts(base_url, self._key)

    async def complete(self, body: dict[str, JsonValue]) -> JsonValue:
        """See `ChatService.complete`."""
        chat = self._chat()
        try:
            if not self._is_traced:
                return await chat.post(body)
            message = await chat.ainvoke(_as_messages(body), body=body)
            reply: JsonValue = message.response_metadata["reply"]
            return reply
        except openai.APIStatusError as error:
            raise self._fault(error.response) from None
        except ValueError:  # said to be JSON, and is none
            return ""
        except Exception as error:  # httpx and aiohttp each have their own; nothing of ours is called in here
            if (refused := find_cause(error, NotRead)) is not None:
                raise self._not_read(refused) from None
            if find_cause(error, httpx2.TooManyRedirects) is not None:
                raise NotRead("redirects again and again, which is not followed", KEEPS_METHOD[0]) from None
            sent, words = connection_fault(error)
            raise Trouble(mask(words, self._key), unreachable=not sent) from None

    async def facts(self, model: str, *, anew: bool = False) -> Facts | None:
        """See `ChatService.facts`."""
        return await self._facts.of(self._client(), model, anew=anew)

    async def count(self, text: str) -> int | None:
        """See `ChatService.count`."""
        return await self._facts.count(self._client(), text)

    def untaken(self, model: str) -> frozenset[str]:
        """See `ChatService.untaken`."""
        return frozenset()

    def prefix_cache(self, model: str) -> PrefixCache:
        """See `ChatService.prefix_cache`."""
        return prefix_cache_of(self._base_url)

    async def aclose(self) -> None:
        """See `ChatService.aclose`."""
        self._chats.clear()
        while self._clients:
            _, client = self._clients.popitem()
            with suppress(RuntimeError):  # the loop of those connections is closed already
                await client.aclose()

    def _fault(self, response: httpx2.Response) -> Trouble | Refused:
        told = read_error(body_of(response), self._key, response.status_code, response.headers)
        return fault_of(told, self._longest_wait_s)

    def _not_read(self, error: NotRead) -> Refused | NotRead:
        words = mask(str(error), self._key)
        if error.status in MOVED_FOR_GOOD:  # so that the address named is the wrong one
            return Refused(ServerError(words, status=error.status or 0), Verdict(Meaning.WRONG_URL))
        return NotRead(words, error.status)

    def _client(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = make_client(self._base_url)
        return self._clients[loop]

    def _chat(self) -> ServerChat:
        loop = asyncio.get_running_loop()
        if loop not in self._chats:
            self._chats[loop] = ServerChat(
                model="named by the request",
                base_url=self._base_url,
                api_key=SecretStr(self._key or "none"),  # not None, or OPENAI_API_KEY would be sent to any server
                http_async_client=self._client(),
                # Never sent over; langchain would make one, and read the trusted certificates for it.
                http_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
                openai_proxy="",  # OPENAI_PROXY excludes an own client; HTTPS_PROXY is honoured
                max_retries=0,  # whether another attempt may be paid for is the transport's decision
                timeout=TIMEOUT,
            )
        return self._chats[loop]


def make_client(base_url: str) -> httpx2.AsyncClient:
    """Make the SDK's client on aiohttp, which reads bodies up to a limit and follows no redirect to somebody else."""
    # To read the trusted certificates takes as long as twenty calls: not for a server that shows none.
    verify = not base_url.startswith("http:") or bool(getproxies())
    large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def follow_within_server(response: httpx2.Response) -> None:
        """A redirect is followed where the same server wants the same request; 301 to 303 would make a GET of it."""
        if not response.has_redirect_location:
            return
        there = response.url.join(response.headers["location"])
        same_server = (there.scheme, there.host, there.port) == (
            response.url.scheme, response.url.host, response.url.port,
        )  # fmt: skip
        same_request = response.request.method == "GET" or response.status_code in KEEPS_METHOD
        if not (same_server and same_request):
            to = f"{there.scheme}://{there.host}{there.path}"
            raise NotRead(f"redirects to {to}, which is not followed", response.status_code)

    async def read_bounded(response: httpx2.Response) -> None:
        content = bytearray()
        async with AsyncExitStack() as held:
            pieces = await held.enter_async_context(aclosing(response.aiter_bytes()))
            async for piece in pieces:
                if len(content) <= SMALL_BYTES < len(content) + len(piece):
                    await held.enter_async_context(large)
                content += piece
                if len(content) > MOST_BYTES:
                    raise NotRead(f"sent a body of more than {MOST_BYTES // 2**20} MB")
        response._content = bytes(content)

    return openai.DefaultAioHttpClient(
        timeout=TIMEOUT,
        verify=verify,
        event_hooks={"response": [follow_within_server, read_bounded]},
        max_redirects=MAX_REDIRECTS,
    )


def body_of(response: httpx2.Response) -> JsonValue:
    """What JSON says, or else the text."""
    try:
        body: JsonValue = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.content.decode(errors="replace").strip()
    return body


E = TypeVar("E", bound=BaseException)


def find_cause(error: BaseException, kind: type[E]) -> E | None:
    """Return the error of this kind behind what the SDK made of it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, kind):
            return cause
        cause = cause.__cause__
    return None


def _as_messages(body: dict[str, JsonValue]) -> list[BaseMessage]:
    """The same turns as LangChain has them, for whoever traces them."""
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    turns = body["messages"]
    assert isinstance(turns, list)
    return [kinds[str(turn["role"])](str(turn["content"])) for turn in turns if isinstance(turn, dict)]
