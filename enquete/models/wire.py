"""The SDK's HTTP client, kept within limits: bodies of a few megabytes, no other origin.

A body is read piece by piece and dropped at the limit, so that neither a gigabyte nor a bomb of a few kilobytes that unpacks
to one is ever in memory. What is sent holds personas: it goes to the server that was named and nowhere else.
Imported with the first request: the SDK takes half a second.

Of a request's CPU the SDK and langchain took four fifths: a typed walk over a schema that never changes, headers and address
built anew, a result typed twice. `HttpClient` asks them for all that stays the same once (bench/results.md).
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import openai
from pydantic import JsonValue

from enquete.models.faults import Oversized, Redirected

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 4 * 2**20
"""Of one unpacked body. The longest answers of thinking models have a tenth of that."""
SMALL_BYTES = 256 * 2**10
"""A body beyond this is read on with few others beside it, so that hundreds in flight need no gigabyte either."""
LARGE_AT_ONCE = 4
MOST_REDIRECTS = 3
TIMEOUT = openai.Timeout(None, connect=20.0)
"""How long an answer may take is known to who asks (exchange.py)."""
_PACKED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class BoundedClient(openai.DefaultAioHttpClient):
    """For one event loop. `send` gives whole responses only, of at most `most_bytes`."""

    def __init__(self, *, most_bytes: int = MOST_BYTES, **options: Any):
        super().__init__(**options)
        self._most_bytes = most_bytes
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The response, its body read. Raises Oversized, Redirected, and whatever httpx and aiohttp do."""
        response, content = await self.receive(request, **options)
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _PACKED]
        return type(response)(response.status_code, headers=headers, content=content, request=response.request)

    async def receive(self, request: httpx2.Request, **options: Any) -> tuple[httpx2.Response, bytes]:
        """The same: a response and, beside it, its body."""
        options |= {"stream": True, "follow_redirects": False}
        for _ in range(MOST_REDIRECTS):
            response = await super().send(request, **options)
            if not response.has_redirect_location:
                return response, await self._read(response)
            await response.aclose()
            request = _next(request, response)
        raise Redirected(response.status_code, "again and again")

    async def _read(self, response: httpx2.Response) -> bytes:
        content = bytearray()
        try:
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    content += piece
                    if len(content) > SMALL_BYTES:
                        break
                if len(content) > SMALL_BYTES:
                    async with self._large:
                        async for piece in pieces:
                            content += piece
                            if len(content) > self._most_bytes:
                                raise Oversized(self._most_bytes)
        finally:
            await response.aclose()
        return bytes(content)


def _next(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request:
    """The same request where the same server wants it. Raises Redirected for any other server, and where the question would
    be lost on the way (301 to 303 turn it into a GET)."""
    following = response.next_request
    if following is None or _origin(following) != _origin(request) or following.method != request.method:
        to = f"to {following.url.scheme}://{following.url.host}{following.url.path}" if following else "to nowhere"
        raise Redirected(response.status_code, to)
    return following


def _origin(request: httpx2.Request) -> tuple[str, str, int | None]:
    return request.url.scheme, request.url.host, request.url.port


class HttpClient:
    """Chat completions of one model, as the SDK's client would ask for them."""

    def __init__(self, client: openai.AsyncOpenAI, http: BoundedClient):
        headers = {**client.default_headers, **client.auth_headers}
        self._http = http
        self._like = http.build_request(
            "POST",
            f"{client.base_url}chat/completions",
            headers={name: value for name, value in headers.items() if isinstance(value, str)},
            timeout=client.timeout,
        )
        del self._like.headers["Content-Length"]

    async def complete(self, body: dict[str, JsonValue]) -> JsonValue:
        """What the server answered. Raises what the SDK would: APIStatusError, APIConnectionError, a ValueError where it is no
        JSON; and Oversized, Redirected."""
        like, content = self._like, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        request = type(like)("POST", like.url, headers=like.headers, content=content, extensions=like.extensions)
        try:
            response, got = await self._http.receive(request)
        except (Oversized, Redirected):
            raise
        except Exception as error:
            raise openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise openai.APIStatusError(f"status {response.status_code}", response=response, body=_told(got))
        answer: JsonValue = json.loads(got)
        return answer


def _told(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace").strip()
