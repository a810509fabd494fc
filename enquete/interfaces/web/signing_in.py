"""How a browser shows that it may: it can send no Bearer header, so a form takes the token and a cookie stands for it."""

from __future__ import annotations

import hashlib
import hmac

from starlette.requests import HTTPConnection
from starlette.responses import Response

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
