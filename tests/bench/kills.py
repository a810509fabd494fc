"""Replies that the server had sent and the ledger had not settled when the process was killed: paid twice after a resume."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.apart import ours
from tests.bench.interviewing import LANGUAGE
from tests.bench.rounds import median
from tests.bench.server import BenchServer, bench_server
from tests.bench.settings import Size
from tests.support.studies import personas, rows, run_folder

AGENTS, IN_FLIGHT, LATENCY = 1500, 256, "0.2"
KILLED_AT = 900  # replies: the first ones, which all come at once, are settled
EVERY_S = 0.02
PROGRAM = "from enquete.interfaces.cli.app import main; main()"


def kills(size: Size) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        found = [_killed(Path(name), number) for number in range(size.rounds)]
    return {
        "rounds": size.rounds,
        "in_flight": IN_FLIGHT,
        "sent": median(sent for sent, _ in found),
        "unsettled": median(sent - settled for sent, settled in found),
        "most": max(sent - settled for sent, settled in found),
    }


def _killed(folder: Path, number: int) -> tuple[int, int]:
    """Replies sent, and calls settled."""
    out = folder / f"out_{number}"
    with bench_server() as server:
        process = subprocess.Popen(
            [
                sys.executable, "-c", PROGRAM, "run", str(personas(folder, AGENTS)), "--out", str(out), "--methods", "longitudinal",
                "--language", LANGUAGE, "--model", "bench", "--base-url", server.base_url(LATENCY),
                "--concurrency", str(IN_FLIGHT), "--budget-tokens", str(10**9), "--yes", "--quiet",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ours(),
        )  # fmt: skip
        _wait_for(server, KILLED_AT, process)
        process.kill()
        process.wait()
        sent = server.answered
    return sent, rows(run_folder(out), "SELECT count(*) FROM calls WHERE status='settled'")[0][0]


def _wait_for(server: BenchServer, replies: int, process: subprocess.Popen[bytes]) -> None:
    while server.answered < replies:
        if process.poll() is not None:
            raise RuntimeError(f"the run ended with {process.returncode} after {server.answered} replies")
        time.sleep(EVERY_S)
