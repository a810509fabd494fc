"""Serving MCP over stdio and over streamable HTTP. HTTP stays on this machine unless a token protects it."""

from __future__ import annotations

import hmac
import ipaddress
from pathlib import Path

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from enquete.interfaces.mcp_office import Office
from enquete.interfaces.mcp_server import make_server
from enquete.state.errors import SettingsError
from enquete.study.rooted import Rooted
from enquete.study.tasks import Tasks

SHORTEST_TOKEN = 16
MOST_BODY_BYTES = 1_000_000
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Access(BaseSettings):
    """Who may speak to a server that is not bound to this machine alone."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    token: SecretStr | None = Field(None, validation_alias="ENQUETE_TOKEN")


class BearerToken:
    """Refuses requests without the token. The comparison takes the same time whatever was sent."""

    def __init__(self, app: ASGIApp, token: SecretStr):
        self._app = app
        self._expected = f"Bearer {token.get_secret_value()}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode("utf-8", "replace")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse("a token is needed", 401, headers={"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def make_office(root: Path) -> Office:
    rooted = Rooted(root)
    return Office(rooted, Tasks(rooted))


async def serve_stdio(office: Office) -> None:
    """Until the client closes the stream; runs that go on are paused then."""
    try:
        await make_server(office).run_stdio_async()
    finally:
        await office.tasks.close()


async def serve_http(office: Office, host: str, port: int, allowed: list[str]) -> None:
    """Until interrupted; runs that go on are paused then."""
    config = uvicorn.Config(
        http_app(office, host, allowed), host=host, port=port, log_level="warning", access_log=False
    )
    try:
        await uvicorn.Server(config).serve()
    finally:
        await office.tasks.close()


def http_app(office: Office, host: str, allowed: list[str]) -> ASGIApp:
    """The application, at /mcp. Raises SettingsError where it would be open to others without a token."""
    token = required_token(host)
    app = make_server(office).streamable_http_app(
        transport_security=security(host, allowed), max_request_body_size=MOST_BODY_BYTES, host=host
    )
    return BearerToken(app, token) if token else app


def required_token(host: str) -> SecretStr | None:
    """The token; None where the server is bound to this machine and none is set."""
    token = Access().token
    if token is not None and len(token.get_secret_value()) < SHORTEST_TOKEN:
        raise SettingsError(f"ENQUETE_TOKEN: shorter than {SHORTEST_TOKEN} characters; take a long random one")
    if token is None and not is_local(host):
        raise SettingsError(
            f"--host {host!r}: others could reach this server; set ENQUETE_TOKEN to a long random text, or leave --host out"
        )
    return token


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def security(host: str, allowed: list[str]) -> TransportSecuritySettings:
    """Host and Origin headers that are answered: a page of another site must not speak through the user's browser."""
    own = [] if host in ("0.0.0.0", "::") else [f"[{host}]" if ":" in host else host]
    names = dict.fromkeys((*LOCAL, *own, *allowed))
    return TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[
            f"{scheme}://{name}{end}" for name in names for scheme in ("http", "https") for end in ("", ":*")
        ],
    )
