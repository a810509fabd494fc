"""Ctrl-C, SIGTERM, SIGKILL and two processes at once, with real processes and a real, slow model server."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from enquete.ledger.budget import FIRST_WAVE
from tests.interfaces.conftest import Command, Said
from tests.support.model_server import ModelServer
from tests.support.processes import Forked

pytestmark = pytest.mark.usefixtures("no_reports")

CONCURRENCY = 4


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.25) as running:
        yield running


def words(people: Path, server: ModelServer) -> list[object]:
    """Forty requests, four at a time."""
    model = ["--model", "test", "--base-url", server.base_url, "--concurrency", CONCURRENCY]
    return ["run", people, "--out", people.parent / "results", "--methods", "poll", *model]


def test_the_first_signal_pauses_and_nothing_is_asked_twice(
    command: Command, people: Path, server: ModelServer
) -> None:
    server.latency = 1.0  # it would go on for ten seconds, in which this process imports what it needs
    process = Forked([*words(people, server), "--json"])
    server.wait_for(6, 240)
    locked = command(*words(people, server), "--json")
    assert locked.code == 1
    assert locked.object["error"]["type"] == "RunLocked"
    assert "another process" in locked.object["error"]["message"]
    server.latency = 0.25
    process.send_signal(signal.SIGTERM)
    terminated = Said(*process.ended())
    assert 6 <= paused(terminated) < 36

    process = Forked([*shlex.split(terminated.object["next"][0])[1:], "--concurrency", CONCURRENCY, "--json"])
    server.wait_for(paused(terminated) + 2, 240)
    process.send_signal(signal.SIGINT)
    interrupted = Said(*process.ended())
    assert paused(terminated) < paused(interrupted) < 40

    done = command(*shlex.split(interrupted.object["next"][0])[1:], "--json")
    assert done.code == 0, done.out
    assert done.object["stages"][0]["n_responded"] == 40
    assert server.repeated() == {}


def paused(result: Said) -> int:
    """How many had answered when the run was paused."""
    assert result.code == result.object["exit_code"] == 3, result.err
    assert "once more to stop at once" in result.err
    return int(result.object["stages"][0]["n_responded"])


def test_the_second_signal_stops_at_once_though_requests_hang(people: Path) -> None:
    with ModelServer(faults={"timeout": 1.0}) as server:
        process = Forked([*words(people, server), "--json"])
        server.wait_for(FIRST_WAVE, 240)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        result = Said(*process.ended(10))
    assert time.monotonic() - began < 5
    assert result.code == result.object["exit_code"] == 130
    assert result.object["error"]["type"] == "Stopped"
    assert "enquete resume" in result.object["error"]["message"]
    assert "Traceback" not in result.err


def test_a_killed_run_goes_on_where_it_was(command: Command, people: Path, server: ModelServer) -> None:
    process = Forked([*words(people, server)])
    server.wait_for(10, 240)
    process.send_signal(signal.SIGKILL)
    Said(*process.ended())
    status = command("status", people, "--out", people.parent / "results", "--json")
    assert (status.code, status.object["status"]) == (0, "paused")

    done = command(*words(people, server), "--json")
    assert done.code == 0, done.out
    assert done.object["resumed"] is True
    assert done.object["stages"][0]["n_responded"] == 40
    assert sum(times - 1 for times in server.repeated().values()) <= CONCURRENCY
