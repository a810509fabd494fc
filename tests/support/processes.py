"""Processes for kill tests: a model server that outlives its clients, and clients that are killed."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, NoReturn

import pytest

import enquete
from tests.support.bare_runs import without_figures

WAIT_S = 240


def environment() -> dict[str, str]:
    """The machine's own keys and settings stay out of the tests' processes."""
    ours = ("LLM_", "OPENAI_", "ENQUETE_", "LANGSMITH_", "LANGCHAIN_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
        "ENQUETE_RAISE_BUGS": "1"
    }


class ServerProcess:
    """A model server with its log of every request, whoever has died since."""

    def __init__(self, base_url: str, log: Path):
        self.base_url = base_url
        self._log = log

    def requests(self) -> list[dict[str, Any]]:
        lines = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def count(self) -> int:
        """Requests so far, without reading what they say: kills are timed by it."""
        return self._log.read_bytes().count(b"\n") if self._log.exists() else 0

    def repeated(self) -> int:
        """Requests beyond the first of each body."""
        return sum(count - 1 for count in Counter(request["body_hash"] for request in self.requests()).values())


@contextmanager
def server_process(folder: Path, *options: str) -> Iterator[ServerProcess]:
    log = folder / "requests.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.model_server", "--port", "0", "--log", str(log), *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    try:
        yield ServerProcess(process.stdout.readline().strip(), log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)
        process.stdout.close()


class Driven:
    """A run in a process of its own, to be killed: forked from one that has imported everything, so that twenty kills
    do not cost twenty imports. arguments: of `conduct_interviews` or `resume`; else a `command` line and its
    `environment`."""

    def __init__(self, arguments: dict[str, Any]):
        self._heard, told = FORKS.Pipe(duplex=False)
        self._process = _forked(_drive, arguments, told)
        told.close()

    def is_over(self) -> bool:
        return not self._process.is_alive()

    @property
    def process_id(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Negative: by a signal. None while it goes on."""
        return self._process.exitcode

    def kill(self) -> bool:
        """SIGKILL; False if the process had ended by itself before."""
        hit = self._process.is_alive()
        self._process.kill()
        self._process.join(WAIT_S)
        return hit and self._process.exitcode == -signal.SIGKILL

    def finish(self) -> tuple[int, dict[str, Any]]:
        """(exit code, summary) at its end or its next stop. Fails the test on a crash."""
        summary: dict[str, Any] = self._heard.recv()  # or EOFError; how long it may take is for the test to say
        self._process.join(WAIT_S)
        assert self._process.exitcode is not None
        return self._process.exitcode, summary


class Forked:
    """`enquete WORDS` in a process of its own, forked likewise: of subprocess.Popen what its users need."""

    def __init__(self, words: Sequence[object], **environment: str):
        pipes = [os.pipe() for _ in range(3)]
        theirs, ours = zip(*(pipe if number == 0 else pipe[::-1] for number, pipe in enumerate(pipes)), strict=True)
        self._process = _forked(_command, [str(word) for word in words], {**os.environ, **environment}, Streams(theirs))
        for descriptor in theirs:
            os.close(descriptor)
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(descriptor, mode, encoding="utf-8") for descriptor, mode in zip(ours, "wrr", strict=True)
        )

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        assert self._process.is_alive()
        os.kill(self._process.pid, number)

    def wait(self, seconds: float = WAIT_S) -> int:
        """The exit code; negative: by a signal."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "it goes on"
        return self._process.exitcode

    def ended(self, seconds: float = WAIT_S) -> tuple[int, str, str]:
        """(exit code, what stdout said, what stderr said); the pipes are closed then."""
        self.stdin.close()
        with ThreadPoolExecutor(2) as pool, self.stdout, self.stderr:
            outputs = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            return self.wait(seconds), outputs[0].result(), outputs[1].result()


class Streams:
    """Descriptors on their way into a forked process, where they become its standard ones."""

    def __init__(self, descriptors: Sequence[int]):
        self._descriptors = descriptors

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return _become_standard, tuple(DupFd(descriptor) for descriptor in self._descriptors)


def _become_standard(*passed: Any) -> None:
    for number, (name, stream) in enumerate(zip(("stdin", "stdout", "stderr"), passed, strict=True)):
        os.dup2(stream.detach(), number)
        setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def _command(words: list[str], environment: dict[str, str], _: None) -> None:
    from enquete.interfaces.cli.app import main

    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)  # multiprocessing has put /dev/null in its place
    os.environ.clear()
    os.environ.update(environment)
    with without_figures():
        main(words)


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.warm"])
ROOT = Path(__file__).parents[2]


def _forked(act: Callable[..., None], *given: Any) -> ForkServerProcess:
    """Begun. What the server imports, before it hears where we import from, is of this checkout, wherever we work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        forkserver.ensure_running()
    process = FORKS.Process(target=act, args=given)
    process.start()
    return process


def _drive(arguments: dict[str, Any], told: Connection) -> None:
    os.environ["ENQUETE_RAISE_BUGS"] = "1"
    if "command" in arguments:
        _carry_out(**arguments, told=told)
    act = enquete.resume if "token_or_sim" in arguments else enquete.conduct_interviews
    with without_figures():  # Vega starts anew in every process
        run = act(**arguments)
    told.send(run.summary())
    sys.exit(run.exit_code)


def _carry_out(command: list[str], environment: dict[str, str], told: Connection) -> NoReturn:
    """`enquete COMMAND --json`, whose object is the summary."""
    from enquete.interfaces.cli import app

    os.environ.update(environment)
    with redirect_stdout(io.StringIO()) as output:
        code = app.run(command)
    told.send(json.loads(output.getvalue()))
    sys.exit(code)


def finish(**arguments: Any) -> tuple[int, dict[str, Any]]:
    """Drive to the end or the next stop."""
    return Driven(arguments).finish()


def kill_after(process: Driven, count: Callable[[], int], requests: int) -> bool:
    """SIGKILL once a server has seen that many more requests; False if the process ended by itself before.

    Fails where WAIT_S go by without any request, however long it takes altogether.
    """
    seen, latest = count(), time.monotonic()
    target = seen + requests
    while seen < target and not process.is_over():
        time.sleep(0.005)
        if (now := count()) > seen:
            seen, latest = now, time.monotonic()
        assert time.monotonic() < latest + WAIT_S, "no requests arrive"
    return process.kill()
