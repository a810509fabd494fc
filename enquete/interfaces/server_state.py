"""What every server is made of: where it listens, whom it believes, how much it takes on, the signals that stop it in
order; what leaves it without secrets; and what every error becomes. Wrong combinations are refused at the start.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import uvicorn
from pydantic import SecretStr
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from enquete.interfaces.cli.terminal import SIGNALS, STOPPED
from enquete.interfaces.parameters import HOST, PORT
from enquete.interfaces.views import NothingYet
from enquete.ledger.drives import DiskFull
from enquete.state.errors import (
    Busy,
    EnqueteError,
    InputError,
    ModelError,
    PopulationMismatch,
    RunLocked,
    RunMismatch,
    RunNotFound,
    SettingsError,
    SimulationError,
    SimulationNotFound,
)
from enquete.state.request import DEFAULT_RUNS_AT_ONCE
from enquete.state.settings import SECRETS, Environment, is_placeholder, setting_of
from enquete.study.background import NotInTime
from enquete.study.interviews import AlreadyCompleted, NotCompleted
from enquete.study.runs import StillNeeded
from enquete.study.tasks import NobodyInterviewed, OutsideRoot, StillDriven, TooManyRuns

LARGEST_BODY = 64 * 1024
MOST_REQUESTS = 512
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SHORTEST_TOKEN = 16
LONGEST_END_S = 140.0
"""From a signal to the end at the latest: requests in flight may take two minutes. What hangs then is left behind."""


@dataclass(frozen=True)
class ServerSettings:
    """`allow_hosts`: further names by which clients reach the server. `allow_origins`: web pages that may call it.

    `root` is the folder that holds simulations/; `watch` starts interviews as simulations go on. `local_origins`: pages
    served under the same names on any port may call it too, as the Inspector's is. Sizes in bytes.
    """

    root: Path
    host: str = HOST
    port: int = PORT
    token: SecretStr | None = None
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    local_origins: bool = False
    most_runs: int = DEFAULT_RUNS_AT_ONCE
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
        names = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK_NAMES, *names, *self.allow_hosts))


def read_token(file: Path | None = None) -> SecretStr | None:
    """The file's content, else ENQUETE_TOKEN; None where neither is there. Raises SettingsError, never showing it."""
    if file is None:
        secret, where = setting_of("ENQUETE_TOKEN"), "ENQUETE_TOKEN"
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
    """While entered, the first SIGINT or SIGTERM calls `stop`; a second one, or an end that takes longer than that,
    leaves at once: what is filed stays filed. Only the main thread gets signals; in another nothing is changed."""
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


class StoppableServer(uvicorn.Server):
    """uvicorn, stopped by a signal as by request: uvicorn itself raises the signal again once it has stopped, which
    ends the process before its runs are paused, or with a signal's exit code."""

    def __init__(self, config: uvicorn.Config, before_end: Callable[[], Awaitable[None]]):
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


# --- Connections whose headers come in time: uvicorn itself waits for ever for the rest of a request that was begun


HEADERS_WITHIN_S = 10.0
LARGEST_HEADERS = 64 * 1024


class PromptHeaders(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # uvicorn's own choice, by what is installed
    """Ends a connection that has not sent the whole head of a request HEADERS_WITHIN_S after it began to, or after it
    was opened, and one whose head is larger than LARGEST_HEADERS. Between two requests uvicorn's own keep-alive
    holds."""

    _late: asyncio.TimerHandle | None = None
    _read = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # a request whose head is there
            self._calm()
            return
        if self._late is None:
            self._expect_head()
        if self.cycle is None or not self.cycle.more_body:  # else the rest of a body that was refused
            self._read += len(data)
        if self._read > LARGEST_HEADERS:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._read = 0
        self._late = asyncio.get_running_loop().call_later(HEADERS_WITHIN_S, self.transport.close)

    def _calm(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = None


# --- What leaves a server names no key, no token and no folder of the machine: neither answers nor logs


class Mask:
    """Replaces secrets by *** and the root by its name in what clients and logs are told."""

    def __init__(self, secrets: Iterable[str], root: Path):
        self._secrets = sorted({each for each in secrets if each}, key=len, reverse=True)
        self._roots = {str(root.absolute()), str(root.resolve())} - {"/"}

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        for root in sorted(self._roots, key=len, reverse=True):
            text = text.replace(root, "ROOT")
        return text

    @property
    def secrets_only(self) -> Mask:
        """For logs, which the operator reads: folders stay."""
        mask = Mask(self._secrets, Path("/"))
        mask._roots = set()
        return mask


class MaskingFormatter(logging.Formatter):
    """A log line, its traceback included, without secrets."""

    def __init__(self, mask: Mask):
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        return self._mask(super().format(record))


def mask_of(root: Path, token: SecretStr | None = None) -> Mask:
    """Return the mask of the environment's secrets, and of the token that clients send.

    A placeholder such as LLM_API_KEY=EMPTY is no secret: it stays, and so do the ordinary words that it is part of.

    Raises:
        SettingsError: the environment says something that it cannot mean.
    """
    Environment.read()  # says better what is wrong with a variable
    values = [setting_of(name) for name in SECRETS]
    secrets = [value for value in values if value and not is_placeholder(value)]
    if token is not None:
        secrets.append(token.get_secret_value())
    return Mask(secrets, root)


# --- What every error becomes, once: an exit code (its own), a status code of HTTP, and what each caller can do


class Unauthorised(InputError):
    """No token, or not this server's."""


@dataclass(frozen=True)
class ErrorReply:
    """To one kind of error; what is left out is its parent's. `http`: a remedy; `mcp`: which call would help."""

    code: int = 0
    http: str = ""
    mcp: str = ""


REPLIES: Mapping[type[EnqueteError], ErrorReply] = {
    EnqueteError: ErrorReply(500),
    InputError: ErrorReply(400),
    Unauthorised: ErrorReply(401, "send the header Authorization: Bearer TOKEN"),
    OutsideRoot: ErrorReply(
        403, "remove the link on the server", "The link has to be removed on the server; no other call helps."
    ),
    SimulationNotFound: ErrorReply(404, mcp="Take a sim_id from list_simulations; a path is not accepted."),
    SimulationError: ErrorReply(
        http="put the simulation's files right on the server",
        mcp="The simulation's files have to be put right on the server; no other call helps.",
    ),
    RunNotFound: ErrorReply(
        404,
        "GET …/status without task_id names the latest run",
        "list_simulations names the latest runs of each simulation.",
    ),
    NobodyInterviewed: ErrorReply(
        http="POST …/pre begins a run before the simulation, POST …/post after it",
        mcp="conduct_interviews begins a run.",
    ),
    NothingYet: ErrorReply(
        404, mcp="interview_status shows how far the run is; enquete://runs/SIM_ID/RUN_ID/exports writes what it has."
    ),
    RunMismatch: ErrorReply(
        409,
        "POST …/resume goes on with an unfinished run; new=true starts another one beside it",
        "Go on with the unfinished run by control_interviews (interview_status shows it), or start another one beside "
        'it by conduct_interviews with options={"new": true}.',
    ),
    PopulationMismatch: ErrorReply(409),
    NotCompleted: ErrorReply(409, "ask again when the simulation has completed, or send assume_completed=true"),
    AlreadyCompleted: ErrorReply(409, "POST …/post"),
    RunLocked: ErrorReply(409, "follow it by GET …/status", "Poll interview_status until it has stopped."),
    StillDriven: ErrorReply(
        409,
        "POST …/runs/{run_id}/pause, and POST …/resume when it has stopped",
        'Give it the new budget by control_interviews with action="set_budget".',
    ),
    StillNeeded: ErrorReply(409),
    TooManyRuns: ErrorReply(
        429,
        "ask again when one of them is over",
        "Poll interview_status until one has stopped, or pause one by control_interviews.",
    ),
    NotInTime: ErrorReply(
        503, "ask again later", "Wait before you call it again; whoever runs the server has to look at its drives."
    ),
    Busy: ErrorReply(503, "ask again later", "Wait before you call it again; nothing was changed."),
    DiskFull: ErrorReply(507),
    ModelError: ErrorReply(
        502,
        "start the model's server, or have its address and key put right where Enquete runs, and send this again",
        "The model's server has to be started, or its address and key put right, where Enquete runs; no other call "
        "helps.",
    ),
}


def code_of(error: EnqueteError) -> int:
    """HTTP's."""
    return next(reply.code for reply in _replies(error) if reply.code)


def advice(error: EnqueteError, caller: Literal["http", "mcp"]) -> str:
    """What this caller can do; "" where nothing is known."""
    return next((text for reply in _replies(error) if (text := getattr(reply, caller))), "")


def _replies(error: EnqueteError) -> list[ErrorReply]:
    """Its own kind's first, then those of the kinds above it."""
    return [REPLIES[kind] for kind in type(error).__mro__ if kind in REPLIES]
