"""The port of the model server: it can close and open again, and belongs to nobody else in between."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import Coroutine

from aiohttp import web

_given: set[int] = set()


def free_port() -> int:
    """A port of nobody's: one that is asked for with SO_REUSEPORT may be another process's, and share its requests. Nor
    one that this process had before: what was learnt of the server there is remembered by its address."""
    while True:
        with socket.socket() as alone:
            alone.bind(("127.0.0.1", 0))
            port = int(alone.getsockname()[1])
        if port not in _given:
            _given.add(port)
            return port


def _held(port: int) -> socket.socket:
    holding = socket.socket()
    holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        holding.bind(("127.0.0.1", port))
    except OSError:
        holding.close()
        raise
    return holding


def _held_anywhere() -> socket.socket:
    """A free port may be another's by the time that it is bound, with dozens of servers and clients side by side."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            return _held(free_port())
    raise OSError("no port is free")


class Doors:
    """A port that is listened on, or refuses connections. All but the constructor belong to the server's event loop."""

    def __init__(self, port: int):
        self._wanted = port
        self._held: socket.socket | None = None  # bound and never listened on: refuses, and keeps the port
        self._site: web.TCPSite | None = None
        self._runner: web.AppRunner
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        return int(self._held.getsockname()[1]) if self._held else self._wanted

    async def open(self, runner: web.AppRunner) -> None:
        self._runner = runner
        self._held = _held(self._wanted) if self._wanted else _held_anywhere()
        self._wanted = self.port
        await self._listen()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._held:
            self._held.close()

    def vanish(self, seconds: float | None) -> None:
        """Raises RuntimeError where it has vanished already."""
        if self._site is None:
            raise RuntimeError("the server has vanished already")
        site, self._site = self._site, None
        self._do(self._leave(site, seconds))

    def come_back(self) -> None:
        if self._site is None:
            self._do(self._listen())

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _leave(self, site: web.TCPSite, seconds: float | None) -> None:
        """Again and again: a connection that was being accepted just then would go on to answer everybody."""
        loop = asyncio.get_running_loop()
        back = loop.time() + seconds if seconds is not None else math.inf
        await site.stop()
        while self._site is None and loop.time() < back:
            for connection in self._runner.server.connections if self._runner.server else ():
                if connection.transport:
                    connection.transport.abort()
            await asyncio.sleep(min(0.01, max(0.0, back - loop.time())))
        if self._site is None:
            await self._listen()

    async def _listen(self) -> None:
        self._site = web.TCPSite(
            self._runner, "127.0.0.1", self.port, backlog=2048, reuse_address=True, reuse_port=True
        )
        await self._site.start()
