"""Where a server listens, whom it believes, how much it takes on, and the signals that stop it in order.

Wrong combinations are refused at the start.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from pydantic import SecretStr

from enquete.interfaces.cli.signals import SIGNALS, STOPPED
from enquete.state.errors import SettingsError
from enquete.state.settings import said
from enquete.study.tasks import MOST_RUNS

PORT = 8642
LARGEST_BODY = 64 * 1024
MOST_REQUESTS = 512
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SHORTEST_TOKEN = 16
LONGEST_END_S = 140.0
"""From a signal to the end at the latest: requests in flight may take two minutes. Whatever hangs then is left behind."""


@dataclass(frozen=True)
class ServerSettings:
    """`allow_hosts`: further names by which clients reach the server. `allow_origins`: web pages that may call it.

    `root` is the folder that holds simulations/; `watch` starts interviews as simulations go on. `local_origins`: pages
    served under the same names on any port may call it too, as the Inspector's is. Sizes in bytes.
    """

    root: Path
    host: str = "127.0.0.1"
    port: int = PORT
    token: SecretStr | None = None
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    local_origins: bool = False
    most_runs: int = MOST_RUNS
    largest_body: int = LARGEST_BODY
    most_requests: int = MOST_REQUESTS
    watch: bool = False
    watch_every_s: float = 2.0

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host}: other machines could reach the server, so it needs a token: set ENQUETE_TOKEN "
                "(docs/security.md), or leave --host out to serve this machine only"
            )
        for origin in self.allow_origins:
            if not origin.startswith(("http://", "https://")) or origin.rstrip("/").count("/") != 2:
                raise SettingsError(f"--allow-origin {origin!r}: SCHEME://HOST[:PORT] is expected, and no path")

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a Host header may have, without the port."""
        own = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK_NAMES, *own, *self.allow_hosts))


def read_token(file: Path | None = None) -> SecretStr | None:
    """The file's content, else ENQUETE_TOKEN; None where neither is there. Raises SettingsError, never showing it."""
    if file is None:
        secret, where = said("ENQUETE_TOKEN"), "ENQUETE_TOKEN"
        if not secret:
            return None
    else:
        secret, where = _text(file).strip(), f"--token-file {file}"
    if len(secret) < SHORTEST_TOKEN or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise SettingsError(
            f"{where}: a token has at least {SHORTEST_TOKEN} printable ASCII characters and no spaces, such as what "
            "`openssl rand -hex 32` prints"
        )
    return SecretStr(secret)


def _text(file: Path) -> str:
    try:
        return file.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--token-file {file}: cannot be read ({error.__class__.__name__})") from None


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def on_signals(stop: Callable[[], None], longest_s: float = LONGEST_END_S) -> Iterator[None]:
    """While entered, the first SIGINT or SIGTERM calls `stop`; a second one, or an end that takes longer than that, leaves at
    once: what is filed stays filed.

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
        late = threading.Timer(longest_s, os._exit, (STOPPED,))
        late.daemon = True
        late.start()
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


def mark_of(root: Path) -> str:
    """By which a server is known to serve this folder; it does not say where that is."""
    return hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]


def address(listening: socket.socket) -> str:
    """Where the server is to be reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
