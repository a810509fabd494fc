"""A real MCP server over HTTP, in a thread; and what its answers say."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client

from enquete.interfaces.mcp.server import close, http_app, make_server_state
from tests.support.populations import mirofish_folder

METHOD = "diversity"
QUICK = "poll"
AGENTS = 12


@dataclass(frozen=True)
class Served:
    """Where the server is and what it holds."""

    url: str
    root: Path
    finished: str  # sim_id with a completed run
    run_id: str
    untouched: str  # sim_id of a simulation that has completed and was never interviewed
    started: str  # sim_id of a simulation that has just started

    def session(self, work: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
        """What `work` returns in a session of its own with the official client."""

        async def run() -> Any:
            async with Client(self.url, **options) as client:
                return await work(client)

        return asyncio.run(run())

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.session(lambda client: client.call_tool(tool, arguments))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(root: Path, families: Sequence[str] = ()) -> Iterator[str]:
    """The address of a server on `root` with these families of tools, in a thread with a loop of its own."""
    port, server_state = free_port(), make_server_state(root, families)
    app = http_app(server_state, "127.0.0.1", [])
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=2, ws="none")
    )

    async def serve() -> None:
        await server.serve()
        await close(server_state)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join()


def simulation(root: Path, name: str, *, agents: int = 4, status: Any = "completed") -> str:
    mirofish_folder(root / "simulations" / name, agents, status=status)
    return name


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


def size_of(result: Any) -> int:
    """The longer of text and structured content, in characters."""
    return max(len(text_of(result)), len(json.dumps(result.structured_content, ensure_ascii=False)))
