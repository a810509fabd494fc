"""Real servers: uvicorn in a thread of this process over real sockets, and a client for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from enquete.interfaces.server_state import ServerSettings, address, bound
from enquete.interfaces.views import GOING_ON
from enquete.interfaces.web.application import make_server
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder

WAIT_S = 240
AGENTS = 4
Serve = Callable[..., httpx.Client]


@contextmanager
def serving(root: Path, **settings: Any) -> Iterator[httpx.Client]:
    """A server on a free port, and a client of it; at the end the server stops as after SIGTERM."""
    chosen = ServerSettings(root=root, port=0, **settings)
    with bound(chosen.host, chosen.port) as listening:
        server = make_server(chosen)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(base_url=address(listening), timeout=WAIT_S) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(WAIT_S)
    assert not thread.is_alive()


def settled(
    client: httpx.Client, sim_id: str, task_id: str | None = None, headers: dict[str, str] | None = None
) -> httpx.Response:
    """The first status of a run that has stopped."""
    deadline = time.monotonic() + WAIT_S
    while True:
        answer = client.get(
            f"/api/interview/{sim_id}/status", params={"task_id": task_id} if task_id else {}, headers=headers
        )
        if answer.json()["data"] is None or answer.json()["data"]["status"] not in GOING_ON:
            return answer
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.1)


def simulation(root: Path, sim_id: str, status: str = "running", agents: int = AGENTS) -> Path:
    return mirofish_folder(root / "simulations" / sim_id, agents, status=status)  # type: ignore[arg-type]


@pytest.fixture
def slow_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that takes its time, one request after the other: a run of 20 agents goes on for 4 s on any machine."""
    with ModelServer(latency=0.2) as model:
        monkeypatch.setenv("LLM_BASE_URL", model.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "test")
        monkeypatch.setenv("ENQUETE_CONCURRENCY", "1")
        yield model


@pytest.fixture(scope="module")
def shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def shared(shared_root: Path) -> Iterator[httpx.Client]:
    """One server for the tests of a module; each makes a simulation of its own."""
    (shared_root / "simulations").mkdir()
    with serving(shared_root, most_runs=8) as client:
        yield client
