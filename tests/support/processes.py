"""Processes for kill tests: a model server that outlives its clients, and clients that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_S = 60


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


def start(**arguments: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.drive", json.dumps(arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def finish(**arguments: Any) -> tuple[int, dict[str, Any]]:
    """Drive to the end or the next stop: (exit code, summary). Fails the test on a crash."""
    process = start(**arguments)
    out, err = process.communicate(timeout=240)
    assert out, err
    return process.returncode, json.loads(out)


def kill_after(process: subprocess.Popen[str], server: ServerProcess, requests: int) -> bool:
    """SIGKILL once the server has seen that many more requests; False if the process ended by itself before."""
    target = server.count() + requests
    deadline = time.monotonic() + WAIT_S
    while server.count() < target and process.poll() is None:
        assert time.monotonic() < deadline, "no requests arrive"
        time.sleep(0.005)
    killed = process.poll() is None
    process.kill()
    process.communicate()
    return killed
