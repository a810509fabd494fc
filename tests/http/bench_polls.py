"""How much a hundred clients that poll a run's status slow it: `python -m tests.http.bench_polls [--rounds 3]`.

The server is a process of its own, as `enquete serve` is; the model is tests/support/model_server.py in another; polls
come from this one, from CLIENTS connections of which each asks every EVERY_S. Rounds with and without polls alternate,
in one server and on one machine, so that the ratio is worth something where the seconds are not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import psutil

import enquete
from enquete.interfaces.views import GOING_ON
from tests.support.populations import mirofish_folder
from tests.support.processes import environment, server_process

CLIENTS = 100
EVERY_S = 1.0
AGENTS = 150
LATENCY_S = 0.5
CONCURRENCY = 8
API = "/api/interview"
PROGRAM = "from enquete.interfaces.cli.app import main; main()"


@dataclass(frozen=True)
class Measured:
    """Seconds from a run's making to its end as they stand in its files (a status may be a second old), and CPU seconds
    of the server; polls meanwhile, and the slowest."""

    seconds: float
    cpu_s: float
    polls: int
    slowest_s: float


@contextmanager
def enquete_serve(root: Path, model_url: str | None, concurrency: int = CONCURRENCY) -> Iterator[str]:
    """A server process; its base URL. Without a model the synthetic respondent answers."""
    model = {"LLM_BASE_URL": model_url, "LLM_MODEL_NAME": "test"} if model_url else {}
    model["ENQUETE_CONCURRENCY"] = str(concurrency)
    command = [sys.executable, "-c", PROGRAM, "serve", "--root", str(root), "--port", "0"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True,
        env={**environment(), **model, "PYTHONPATH": str(Path(enquete.__file__).parents[1])},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        match = re.search(r"on (http://\S+)", line)
        assert match, line
        yield match[1]
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


async def measure(url: str, root: Path, sim_id: str, clients: int) -> Measured:
    """One T0 of this simulation while so many clients poll it."""
    connector = aiohttp.TCPConnector(limit=clients + 1)
    server = psutil.Process().children()[-1]  # the last process that was started
    async with aiohttp.ClientSession(url, connector=connector) as client:
        async with client.post(f"{API}/{sim_id}/pre", json={"language": "en"}) as answer:
            begun = await answer.json()
        path = f"{API}/{sim_id}/status?task_id={begun['data']['task_id']}"
        cpu, slow, over = _cpu(server), [0.0], asyncio.Event()
        polling = [asyncio.create_task(_poll(client, path, over, slow, n / max(1, clients))) for n in range(clients)]
        status = "running"
        while status in GOING_ON:
            await asyncio.sleep(0.25)
            async with client.get(path) as answer:
                now = (await answer.json())["data"]
                status = now["status"]
        cpu = _cpu(server) - cpu
        over.set()
        polls = sum(await asyncio.gather(*polling))
        assert status == "completed", status
        return Measured(_lasted(root, sim_id, now), cpu, polls, max(slow))


def _lasted(root: Path, sim_id: str, status: dict[str, Any]) -> float:
    task = json.loads(
        (root / "simulations" / sim_id / "interviews" / "tasks" / f"{status['task_id']}.json").read_text()
    )
    return (datetime.fromisoformat(task["ended_at"]) - datetime.fromisoformat(status["created_at"])).total_seconds()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _poll(client: aiohttp.ClientSession, path: str, over: asyncio.Event, slow: list[float], share: float) -> int:
    """The clients are spread over the interval, as clients that know nothing of one another are."""
    await asyncio.sleep(share * EVERY_S)
    polls = 0
    while not over.is_set():
        asked = time.perf_counter()
        async with client.get(path) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()
        slow.append(time.perf_counter() - asked)
        polls += 1
        await asyncio.sleep(max(0.0, EVERY_S - slow[-1]))
    return polls


def ratio(agents: int, rounds: int, clients: int = CLIENTS, *, latency_s: float | None = LATENCY_S) -> dict[str, float]:
    """With polls over without: the shortest run of each, which other work on the machine disturbed least, and the
    server's CPU, summed.

    A run of `agents` calls, CONCURRENCY at a time, lasts agents · latency_s / CONCURRENCY and whatever the server adds.
    `latency_s` None: the synthetic respondent, all CPU.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = [f"sim{number}" for number in range(2 * rounds + 1)]
        for name in names:
            mirofish_folder(root / "simulations" / name, agents, status="running")
        if latency_s is None:
            return asyncio.run(_alternate(root, None, names, clients))
        with server_process(root, "--latency", str(latency_s)) as model:
            return asyncio.run(_alternate(root, model.base_url, names, clients))


async def _alternate(root: Path, model_url: str | None, names: list[str], clients: int) -> dict[str, float]:
    quiet: list[Measured] = []
    polled: list[Measured] = []
    with enquete_serve(root, model_url) as url:
        await measure(url, root, names[0], 0)  # the first run pays for imports
        for number, name in enumerate(names[1:]):
            (polled if number % 2 else quiet).append(await measure(url, root, name, clients if number % 2 else 0))
    without, with_ = (min(m.seconds for m in each) for each in (quiet, polled))
    cpu, cpu_polled = (sum(m.cpu_s for m in each) for each in (quiet, polled))
    return {
        "ratio": with_ / without, "ratio_cpu": cpu_polled / cpu, "seconds": without, "seconds_polled": with_,
        "cpu_s": cpu, "cpu_s_polled": cpu_polled, "polls": float(sum(m.polls for m in polled)),
        "slowest_poll_s": max(m.slowest_s for m in polled),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument(
        "--synthetic", action="store_true", help="no model, no waiting: the worst case for a shared process"
    )
    args = parser.parse_args()
    print(json.dumps(ratio(args.agents, args.rounds, latency_s=None if args.synthetic else LATENCY_S), indent=1))
