"""The end of the server pauses its runs: real processes, both transports, both signals."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_served import free_port, simulation

import enquete
from tests.support.model_server import ModelServer
from tests.support.processes import Forked

ASKED = {"sim_id": "sim_slow", "methods": ["poll"], "language": "en", "wait_seconds": 0}
AGENTS = 10
"""One at a time, 2 s each: the run would go on for 20 s."""
WAIT_S = 240


def settings(root: Path, model_url: str) -> dict[str, str]:
    return {"LLM_BASE_URL": model_url, "LLM_MODEL_NAME": "test", "ENQUETE_CONCURRENCY": "1", "HOME": str(root)}


def send(process: Forked, **message: Any) -> None:
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def answered(process: Forked, number: int) -> dict[str, Any]:
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return dict(message["result"])
    raise AssertionError(process.ended()[2])


def begun_over_stdio(process: Forked) -> dict[str, Any]:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    send(process, id=1, method="initialize", params=client)
    answered(process, 1)
    send(process, method="notifications/initialized")
    send(process, id=2, method="tools/call", params={"name": "conduct_interviews", "arguments": ASKED})
    return dict(answered(process, 2)["structuredContent"])


def begun_over_http(process: Forked) -> dict[str, Any]:
    url = process.stderr.readline().split()[0]

    async def work() -> dict[str, Any]:
        async with Client(url) as client:
            return dict((await client.call_tool("conduct_interviews", ASKED)).structured_content)

    return asyncio.run(work())


def test_a_signal_pauses_what_goes_on_and_ends_the_server_with_0(tmp_path: Path) -> None:
    """Two servers side by side, one for each signal and transport. A server started anew: test_mcp_clients.py."""
    signals = (signal.SIGINT, signal.SIGTERM)
    with ModelServer(latency=2) as model:
        for number in signals:
            simulation(tmp_path / number.name, "sim_slow", agents=AGENTS)
        paused, ended = (tmp_path / number.name for number in signals)
        stdio = Forked(["mcp", "--root", paused], **settings(paused, model.base_url))
        http = Forked(["mcp", "--root", ended, "--http", "--port", free_port()], **settings(ended, model.base_url))
        states = [begun_over_stdio(stdio), begun_over_http(http)]
        for process, number in zip((stdio, http), signals, strict=True):
            process.send_signal(number)
        ends = [process.wait(WAIT_S) for process in (stdio, http)]
        stdio.ended()
        http.ended()
    assert ends == [0, 0]
    for state, number in zip(states, signals, strict=True):
        assert state["status"] == "running", state
        run = enquete.load_run("sim_slow", state["run_id"], root=str(tmp_path / number.name))
        assert (run.status, run.note[:17]) == ("paused", "paused on request")
        assert run.stages[0].outcome == "short"  # filed, not left as it was begun
