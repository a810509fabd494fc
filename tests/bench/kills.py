"""Replies that a process had received and not settled when it was killed: paid twice after a resume, and our doing.

What is in flight at a kill is paid twice whatever a client does. So the process is stopped first, what is in flight
arrives in the sockets of a process that reads no more, and those are counted and left out.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.child_process import ours
from tests.bench.interviewing import LANGUAGE
from tests.bench.rounds import median
from tests.bench.server import BenchServer, bench_server
from tests.bench.settings import Size
from tests.support.studies import personas, rows, run_folder

AGENTS, IN_FLIGHT, LATENCY = 1500, 256, "0.2"
KILLED_AT = 900  # replies: the first ones, which all come at once, are settled
EVERY_S = 0.02
ARRIVED_S = 1.0
"""After which whatever was in flight has arrived."""
PROGRAM = "from enquete.interfaces.cli.app import main; main()"


def kills(size: Size) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        found = [_killed(Path(name), number) for number in range(size.rounds)]
    return {
        "rounds": size.rounds, "in_flight": IN_FLIGHT, "received": median(received for received, _ in found),
        "unsettled": median(received - settled for received, settled in found),
        "most": max(received - settled for received, settled in found),
    }  # fmt: skip


def _killed(folder: Path, number: int) -> tuple[int, int]:
    """Replies received, and calls settled."""
    out = folder / f"out_{number}"
    with bench_server() as server:
        process = subprocess.Popen(
            [
                sys.executable, "-c", PROGRAM, "run", str(personas(folder, AGENTS)), "--out", str(out), "--methods",
                "longitudinal", "--language", LANGUAGE, "--model", "bench", "--base-url", server.base_url(LATENCY),
                "--concurrency", str(IN_FLIGHT), "--budget-tokens", str(10**9), "--yes", "--quiet",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ours(),
        )  # fmt: skip
        _wait_for(server, KILLED_AT, process)
        process.send_signal(signal.SIGSTOP)
        time.sleep(ARRIVED_S)
        received = server.answered - _unread(server.port)
        process.kill()
        process.wait()
    return received, rows(run_folder(out), "SELECT count(*) FROM calls WHERE status='settled'")[0][0]


def _wait_for(server: BenchServer, replies: int, process: subprocess.Popen[bytes]) -> None:
    while server.answered < replies:
        if process.poll() is not None:
            raise RuntimeError(f"the run ended with {process.returncode} after {server.answered} replies")
        time.sleep(EVERY_S)


def _unread(port: int) -> int:
    """Connections to this port with a reply that nobody has read: a line of Linux' table says both ends, and what
    waits."""
    lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    ends = (line.split()[2:5] for line in lines)
    return sum(remote.endswith(f":{port:04X}") and not queues.endswith(":00000000") for remote, _, queues in ends)
