"""Requests to one server over HTTP: bodies of a few megabytes, no other origin, as long as the server takes.

What is sent holds personas: it goes to the server that was named and nowhere else. Imported with the first request: the
SDK, whose aiohttp transport this is, takes half a second. Its typed walk over schema and result would take four fifths
of a request's CPU (bench/results.md): what stays the same of every request is built once.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2
import openai
from pydantic import JsonValue, SecretStr

from enquete.models.chat_completions import ChatCompletion, completed
from enquete.models.faults import (
    GATEWAY,
    NotRead,
    Refused,
    SendCounts,
    ServerError,
    Trouble,
    blamed_setting,
    connection_fault,
    mask,
    read_error,
    status_fault,
)
from enquete.models.prices import is_local
from enquete.models.servers import Facts, facts_of
from enquete.models.tracing import traced, tracing_wanted

MOST_BYTES = 4 * 2**20
"""Of one unpacked body. The longest answers of thinking models have a tenth of that."""
SMALL_BYTES = 256 * 2**10
"""A body beyond this is read on with few others beside it, so that hundreds in flight need no gigabyte either."""
LARGE_AT_ONCE = 4
MOST_REDIRECTS = 3
TIMEOUT = openai.Timeout(None, connect=20.0)
"""How long an answer may take is known to who asks (`ServerClient.complete`)."""
LONGEST_RETRY_AFTER_S = 60.0
"""Seconds. A longer Retry-After is cut: asking once a minute costs nothing, and a limit may be lifted. Nor is it waited
for longer than the run is patient: it would only be found then that it has to pause."""
ASKING_SECONDS = 5.0
T = TypeVar("T")


class BoundedClient(openai.DefaultAioHttpClient):
    """For one event loop. Responses are whole and at most `MOST_BYTES` long, whatever they were packed to."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self.learning = asyncio.Lock()
        self.question: httpx2.Request | None = None  # made once: the body alone changes

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Raises NotRead, and whatever httpx and aiohttp do. A redirect is followed where the same server wants the
        same request; 301 to 303 would turn the question into a GET."""
        options |= {"stream": True, "follow_redirects": False}
        for _ in range(MOST_REDIRECTS):
            response = await super().send(request, **options)
            if not response.has_redirect_location:
                return await self._read(response)
            await response.aclose()
            there = response.next_request
            if there is None or _addressed(there) != _addressed(request):
                to = f"to {there.url.scheme}://{there.url.host}{there.url.path}" if there else "to nowhere"
                raise NotRead(f"redirects {to}, which is not followed", response.status_code)
            request = there
        raise NotRead("redirects again and again, which is not followed", response.status_code)

    async def _read(self, response: httpx2.Response) -> httpx2.Response:
        """With its body: as `aread`, but dropped at the limit, so that no gigabyte is ever in memory."""
        content = bytearray()
        try:
            async with AsyncExitStack() as held:
                pieces = await held.enter_async_context(aclosing(response.aiter_bytes()))
                async for piece in pieces:
                    if len(content) <= SMALL_BYTES < len(content) + len(piece):
                        await held.enter_async_context(self._large)
                    content += piece
                    if len(content) > MOST_BYTES:
                        raise NotRead(f"sent a body of more than {MOST_BYTES // 2**20} MB")
        finally:
            await response.aclose()
        response._content = bytes(content)
        return response


def _addressed(request: httpx2.Request) -> tuple[str, str, str, int | None]:
    return request.method, request.url.scheme, request.url.host, request.url.port


def _body(response: httpx2.Response) -> JsonValue:
    """What JSON says, or else the text."""
    try:
        body: JsonValue = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.content.decode(errors="replace").strip()
    return body


class ServerClient:
    """All requests to one server, from any number of event loops."""

    def __init__(self, base_url: str, api_key: SecretStr | None, longest_wait_s: float = LONGEST_RETRY_AFTER_S):
        self._base_url = base_url
        self._root = "{0.scheme}://{0.netloc}".format(urlsplit(base_url))
        self._key = api_key.get_secret_value() if api_key else ""
        self._headers = {"Authorization": f"Bearer {self._key or 'none'}", "Accept": "application/json"}
        self._traced = tracing_wanted()
        self._longest_wait = min(longest_wait_s, LONGEST_RETRY_AFTER_S)
        self._clients: dict[asyncio.AbstractEventLoop, BoundedClient] = {}  # a connection belongs to its event loop
        self._known: dict[str, Facts] = {}
        self._next_asking = float("-inf")

    async def complete(
        self, body: dict[str, JsonValue], counts: SendCounts, patience: Callable[[], float]
    ) -> ChatCompletion:
        """One request for a chat completion, sent once. Raises Trouble or Refused; counts what may have been billed.

        `patience`: seconds that it may take, by what is known when they are over.
        """
        http = self._http()
        like = http.question = http.question or self._question(http)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        request = httpx2.Request("POST", like.url, headers=like.headers, content=content, extensions=like.extensions)
        try:
            sending = http.send(request)
            response = await with_patience(traced(sending, body) if self._traced else sending, patience)
        except TimeoutError:
            counts.timeouts += 1
            raise Trouble(f"did not answer within {round(patience(), 2):g} s") from None
        except NotRead as error:
            words = mask(str(error), self._key)
            if error.status in (301, 308):  # moved for good, so that the address named is the wrong one
                raise Refused(error.status, ServerError(words)) from None
            counts.broken += error.status is None
            raise Trouble(words, status=error.status) from None
        except Exception as error:  # httpx and aiohttp each have their own; nothing of ours is called in here
            sent, words = connection_fault(error)
            counts.broken += sent
            raise Trouble(words, unreachable=not sent) from None
        if response.is_success:
            return completed(_body(response), counts)
        wait = retry_after(response.headers.get("retry-after"), self._longest_wait)
        raise status_fault(response.status_code, read_error(_body(response), self._key), wait)

    async def facts(self, model: str) -> Facts | None:
        """What the server says of this model; asked once, and again after a while where it could not say (it was not
        there, or is still loading). Never raises, and takes at most `ASKING_SECONDS`."""
        if model in self._known:
            return self._known[model]
        http = self._http()
        async with http.learning:
            if model not in self._known and time.monotonic() >= self._next_asking:
                self._next_asking = time.monotonic() + ASKING_SECONDS
                local = ["/props", "/api/v0/models", "/api/ps"] if is_local(urlsplit(self._root).hostname or "") else []
                urls = [f"{self._base_url}/models", *(self._root + path for path in local)]
                with suppress(Exception):  # the request that follows will meet it, and say so
                    async with asyncio.timeout(ASKING_SECONDS):
                        listed, *bodies = await asyncio.gather(*(self._get(http, url) for url in urls))
                    props, studio, loaded = bodies or (None, None, None)
                    self._known[model] = facts_of(model, props, listed, studio, loaded)
        return self._known.get(model)

    async def _get(self, http: BoundedClient, url: str) -> JsonValue:
        """A body; None where there is none to be had. Raises ConnectionError where that may change."""
        answer = await http.get(url, headers=self._headers if url.startswith(self._base_url) else {})
        if answer.status_code >= 500 and answer.status_code != 501:
            raise ConnectionError(answer.status_code)
        return _body(answer) if answer.status_code == 200 else None

    async def count(self, text: str) -> int | None:
        """Tokens of a text by llama.cpp's own count; None where the server does not count."""
        with suppress(Exception):  # a courtesy: without it the length is estimated
            async with asyncio.timeout(ASKING_SECONDS):
                answer = await self._http().post(f"{self._root}/tokenize", json={"content": text})
                return len(answer.json()["tokens"]) if answer.status_code == 200 else None
        return None

    async def ask(self, method: str, path: str) -> httpx2.Response:
        """A request beside the questions, with the key and without content. Raises NotRead, and whatever httpx and
        aiohttp make of a server that is not there."""
        body: dict[str, JsonValue] | None = {} if method == "POST" else None
        return await self._http().request(method, f"{self._base_url}{path}", headers=self._headers, json=body)

    async def aclose(self) -> None:
        """Requests in flight fail."""
        while self._clients:
            _, http = self._clients.popitem()
            with suppress(RuntimeError):  # the loop of those connections is closed already
                await http.aclose()

    def _http(self) -> BoundedClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # To read the trusted certificates takes as long as twenty calls: not for a server that shows none.
            verify = not self._base_url.startswith("http:") or bool(getproxies())
            self._clients[loop] = BoundedClient(timeout=TIMEOUT, verify=verify)
        return self._clients[loop]

    def _question(self, http: BoundedClient) -> httpx2.Request:
        """As the client of langchain's model would ask: organisation, project and key are sent as it sends them."""
        from langchain_openai import ChatOpenAI  # noqa: PLC0415 - not to ask whether a server is there

        client = ChatOpenAI(
            model="unnamed",
            base_url=self._base_url,
            api_key=SecretStr(self._key or "none"),  # not None, or OPENAI_API_KEY would be sent to any server
            http_async_client=http,
            # Never sent over; langchain would make one, and read the trusted certificates for it.
            http_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
            openai_proxy="",  # OPENAI_PROXY excludes an own client; HTTPS_PROXY is honoured
        ).root_async_client
        headers = {**client.default_headers, **client.auth_headers}
        told = {name: value for name, value in headers.items() if isinstance(value, str)}
        question = http.build_request("POST", f"{self._base_url}/chat/completions", headers=told, timeout=TIMEOUT)
        question.headers.pop("Content-Length", None)
        return question


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


def retry_after(header: str | None, longest: float = LONGEST_RETRY_AFTER_S) -> float | None:
    """Seconds to wait by a Retry-After header (seconds or an HTTP date), within 0 and `longest`; None if unreadable."""
    seconds = float("nan")
    with suppress(ValueError):
        seconds = parsedate_to_datetime(header or "").timestamp() - time.time()
    with suppress(ValueError):
        seconds = float(header or "")
    return None if math.isnan(seconds) else min(max(seconds, 0.0), longest)


# --- Is a model's server there? Asked once, before anything else is, and without a request that anybody could be billed
# for: GET {base}/models. Where no list is to be had (not every server has one, and a wrong path or a web page has none
# either), the endpoint itself is asked without a question: POST {base}/chat/completions with `{}`, which a model server
# refuses.

WITHIN_S = 3.5
"""For both requests together; with what a command needs to start, its user hears within five seconds."""


@dataclass(frozen=True)
class Absence:
    """Why no question can be asked now. `did`: what was tried and what answered, without the key. `loading`: it will be
    there soon; `wrong_key`, `wrong_url`: no waiting helps."""

    did: str
    loading: bool = False
    wrong_key: bool = False
    wrong_url: bool = False


async def absence(base_url: str, api_key: SecretStr | None) -> Absence | None:
    """None where the server is there, as far as can be known without a paid request. Takes at most `WITHIN_S`."""
    key = api_key.get_secret_value() if api_key else ""
    client, tried = ServerClient(base_url, api_key), "GET …/models"
    try:
        async with asyncio.timeout(WITHIN_S):
            answer = await client.ask("GET", "/models")
            status, told = answer.status_code, read_error(_body(answer), key)
            if status == 503 and "loading" in told.message.lower():
                return Absence(f"is there and answers 503: {told.message}", loading=True)
            # A key that may answer questions and not list models is refused with 401 too.
            scoped = re.search("scope|permission", f"{told.message} {told.code}", re.IGNORECASE)
            wrong_key = status == 401 and not scoped
            if status in GATEWAY or wrong_key:
                return Absence(f"answered {tried} with {status}{_because(told.message)}", wrong_key=wrong_key)
            if status not in (404, 405) and not (status == 200 and _is_page(answer)):
                return None
            tried = "POST …/chat/completions"
            answer = await client.ask("POST", "/chat/completions")
    except TimeoutError:
        return Absence(f"did not answer {tried} within {WITHIN_S:g} s")
    except NotRead:
        return None  # something is there: the first question says what
    except Exception as error:  # whatever httpx and aiohttp make of it
        return Absence(mask(connection_fault(error)[1], key))
    finally:
        await client.aclose()
    status, told, is_page = answer.status_code, read_error(_body(answer), key), _is_page(answer)
    misses = status in (404, 405) and blamed_setting(status, told) == "LLM_BASE_URL"
    if misses or (status < 300 and is_page):
        words = _because("a web page" if is_page else told.message)
        return Absence(f"answered GET …/models and POST …/chat/completions with {status}{words}", wrong_url=True)
    return None


def _is_page(answer: httpx2.Response) -> bool:
    return answer.content.lstrip().startswith(b"<")  # whatever it calls itself: no JSON begins so


def _because(message: str) -> str:
    return f": {message.rstrip('.')}" if message else ""
