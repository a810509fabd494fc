"""What both servers are made of: a socket, signals that stop them in order, uvicorn."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator

import uvicorn

from enquete.interfaces.cli.signals import SIGNALS, STOPPED
from enquete.state.errors import SettingsError


@contextlib.contextmanager
def on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While entered, the first SIGINT or SIGTERM calls `stop`, a second one leaves at once: what is filed stays filed.

    Only the main thread gets signals; in another nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopping = False

    def handle(*_: object) -> None:
        nonlocal stopping
        if stopping:
            os._exit(STOPPED)
        stopping = True
        stop()

    before = {each: signal.signal(each, handle) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


async def nothing() -> None:
    """No work to do before the end."""


class Server(uvicorn.Server):
    """uvicorn, stopped by a signal as by request: uvicorn itself raises the signal again once it has stopped, which ends
    the process before its runs are paused, or with a signal's exit code."""

    def __init__(self, config: uvicorn.Config, before_end: Callable[[], Awaitable[None]] = nothing):
        """`before_end`: done while clients are still answered, such as pausing runs that they wait for."""
        super().__init__(config)
        self._before_end = before_end

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with on_signals(self._stop):
            yield

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._before_end()
        await super().shutdown(sockets)


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one. Raises SettingsError where the address cannot be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=512)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"--host {host} --port {port}: {reason}; name another --port") from None


def address(listening: socket.socket) -> str:
    """Where the server is to be reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
