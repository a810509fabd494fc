"""Serving MCP over stdio and over streamable HTTP. HTTP stays on this machine unless a token protects it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from enquete.interfaces.http.security import Guard
from enquete.interfaces.mcp.server import make_server
from enquete.interfaces.mcp.server_state import ServerState
from enquete.interfaces.service.listening import Server, ServerSettings, address, bound, on_signals, read_token
from enquete.interfaces.service.prompt_headers import PromptHeaders
from enquete.interfaces.service.secrecy import mask_of
from enquete.study.sandbox import PathSandbox
from enquete.study.tasks import Tasks

MOST_BODY_BYTES = 1_000_000
GRACE_S = 2
LAST_WORDS_S = 0.5
"""Time for answers of calls that waited for runs which have just been paused."""


def make_server_state(root: Path) -> ServerState:
    sandbox = PathSandbox(root)
    return ServerState(sandbox, Tasks(sandbox), mask_of(sandbox.root))


async def serve_stdio(server_state: ServerState) -> None:
    """Until the client closes the stream, or a signal: runs that go on are paused then."""
    loop, signalled = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        loop.call_soon_threadsafe(signalled.set)

    with on_signals(stop):
        serving = asyncio.create_task(make_server(server_state).run_stdio_async())
        waiting = asyncio.create_task(signalled.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await server_state.tasks.close()
        if signalled.is_set():
            await asyncio.sleep(LAST_WORDS_S)
            leave()
        waiting.cancel()
        await serving


def leave() -> None:
    """With exit code 0. The thread that reads stdin cannot be woken: an ordinary end would wait for the client's next line."""
    sys.stderr.flush()
    os._exit(0)


@dataclass(frozen=True)
class HttpServer:
    """Listening already, so that its address is true; `serve` answers."""

    server: Server
    listening: socket.socket

    @property
    def url(self) -> str:
        return f"{address(self.listening)}/mcp"

    async def serve(self) -> None:
        """Until interrupted; runs that go on are paused then."""
        await self.server.serve(sockets=[self.listening])


@contextmanager
def listening(server_state: ServerState, host: str, port: int, allowed: list[str]) -> Iterator[HttpServer]:
    """Raises SettingsError where the address cannot be had, or would be open to others without a token."""
    config = uvicorn.Config(
        http_app(server_state, host, allowed),
        http=PromptHeaders,
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_S,
    )
    with bound(host, port) as taken:
        yield HttpServer(Server(config, server_state.tasks.close), taken)


def http_app(server_state: ServerState, host: str, allowed: list[str]) -> ASGIApp:
    """The application, at /mcp, behind the HTTP API's guard. Raises SettingsError as `listening` does."""
    settings = ServerSettings(
        root=server_state.sandbox.root,
        host=host,
        token=read_token(),
        allow_hosts=tuple(allowed),
        local_origins=True,
        largest_body=MOST_BODY_BYTES,
    )
    guarded = TransportSecuritySettings(
        enable_dns_rebinding_protection=False
    )  # the guard has looked at Host and Origin
    app = make_server(server_state).streamable_http_app(
        transport_security=guarded, max_request_body_size=MOST_BODY_BYTES, host=host
    )
    return Guard(app, settings)
