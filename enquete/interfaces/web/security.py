"""Who may speak to the server, from where, and how much at once, before any path is read; how a browser signs in."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from enquete.interfaces.server_state import ServerSettings, Unauthorised
from enquete.interfaces.web.models import Problem, failed, problem_of
from enquete.interfaces.web.rendering import error_page, to_sign_in

BODY_WITHIN_S = 30.0
SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}
SAFE_METHODS = ("GET", "HEAD")
_ORIGIN = re.compile(r"https?://[\w.:\[\]-]{1,300}", re.ASCII)
TO_ALL = ("/static/", "/sign-in")
"""What a browser needs to say the token."""


class Guard:
    """ASGI middleware: load, Host, Origin, token, size of the body; and headers that browsers obey."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, is_page: Callable[[str], bool] = lambda path: False):
        """`is_page`: whether a person in a browser reads what a path answers."""
        self._app = app
        self._is_page = is_page
        self._settings = settings
        self._token = settings.token.get_secret_value().encode() if settings.token else None
        self._going_on = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._going_on += 1
        try:
            await self._guarded(scope, receive, _with_safe_headers(send))
        finally:
            self._going_on -= 1

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        body: bytes | Response = b""
        if refusal is None and scope["method"] not in SAFE_METHODS:
            body = await self._read(scope, receive)
            refusal = body if isinstance(body, Response) else None
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, _replayed(body, receive) if isinstance(body, bytes) else receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._going_on > self._settings.most_requests:
            message = f"more than {self._settings.most_requests} requests at once"
            return self._refused(scope, 503, "Busy", message, retry_after_s=1)
        return (
            self._of_host(scope, headers)
            or self._of_origin(scope, headers)
            or self._of_token(scope, headers)
            or self._of_size(scope, headers)
        )

    def _of_host(self, scope: Scope, headers: Headers) -> Response | None:
        given = headers.getlist("host")
        if len(given) == 1 and _name(given[0]) in self._settings.hosts:
            return None
        message = "the Host header names another server; names are allowed with --allow-host"
        return self._refused(scope, 421, "WrongHost", message)

    def _of_origin(self, scope: Scope, headers: Headers) -> Response | None:
        """A page of another site in a browser on this machine must not call the server: not even blindly. What a
        browser does to a form or with its cookie says where it comes from."""
        origin = headers.get("origin")
        here = tuple(f"{scheme}://{headers['host']}" for scheme in ("http", "https"))  # a proxy may speak https for us
        page = self._is_page(scope["path"])
        by_cookie = self._token is not None and "cookie" in headers and not self._has_token(headers)
        if origin is None and scope["method"] not in SAFE_METHODS and (page or by_cookie):
            return self._refused(scope, 403, "WrongOrigin", "a browser's request has to say from which page it comes")
        if origin is None or origin in (here if page else (*here, *self._settings.allow_origins)):
            return None
        if self._settings.local_origins and _is_page_of(origin, self._settings.hosts):
            return None
        admit = f"; enquete serve --allow-origin {origin} admits it" if _ORIGIN.fullmatch(origin) else ""
        return self._refused(scope, 403, "WrongOrigin", f"a web page of another origin may not call this server{admit}")

    def _of_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A browser sends no token with the question whether it may ask (OPTIONS), and no path answers that one."""
        if self._token is None or scope["method"] == "OPTIONS" or self._has_token(headers):
            return None
        request = Request(scope)
        request.state.signed_in = has_pass(request, self._token)
        if request.state.signed_in or (self._is_page(scope["path"]) and scope["path"].startswith(TO_ALL)):
            return None
        if self._is_page(scope["path"]):
            return to_sign_in(request)
        response = failed(401, problem_of(Unauthorised("a token is needed")))
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    async def _read(self, scope: Scope, receive: Receive) -> bytes | Response:
        """The body, or the answer to one that is too large or does not come. Chunked ones have no length to go by."""
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                while True:
                    message = await receive()
                    body.extend(message.get("body", b""))
                    if len(body) > self._settings.largest_body:
                        return self._too_large(scope)
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            return self._refused(scope, 408, "TooSlow", f"the body did not arrive within {BODY_WITHIN_S:g} s")

    def _too_large(self, scope: Scope) -> Response:
        return self._refused(scope, 413, "TooLarge", f"a request's body may have {self._settings.largest_body} bytes")

    def _refused(self, scope: Scope, code: int, kind: str, message: str, retry_after_s: int | None = None) -> Response:
        """To a person as a page."""
        if self._is_page(scope["path"]):
            return error_page(Request(scope), code, message)
        return failed(code, Problem(type=kind, message=message), retry_after_s=retry_after_s)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token or b"\0")

    def _of_size(self, scope: Scope, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) <= self._settings.largest_body:
            return None
        return self._too_large(scope)


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower().removesuffix(".")


def _is_page_of(origin: str, names: frozenset[str]) -> bool:
    """A page under one of these names, whatever its port."""
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and (parts.hostname or "") in names
    except ValueError:
        return False


def _replayed(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _with_safe_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SAFE_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers


# --- How a browser shows that it may: it can send no Bearer header, so a form takes the token, and then a cookie


COOKIE = "enquete_session"
LONGEST_S = 30 * 24 * 3600
PURPOSE = b"enquete web page"


def pass_of(token: bytes) -> str:
    """What the cookie holds: from the token, which it does not give away. Another token makes it worthless."""
    return hmac.new(token, PURPOSE, hashlib.sha256).hexdigest()


def has_pass(request: HTTPConnection, token: bytes) -> bool:
    return hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), pass_of(token).encode())


def is_token(given: str, token: bytes) -> bool:
    return hmac.compare_digest(given.strip().encode(), token)


def sign_in(response: Response, token: bytes, *, secure: bool) -> None:
    response.set_cookie(
        COOKIE, pass_of(token), max_age=LONGEST_S, httponly=True, samesite="strict", secure=secure, path="/"
    )


def sign_out(response: Response) -> None:
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
