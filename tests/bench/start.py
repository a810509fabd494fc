"""CPU seconds of commands from nothing to their last word, and of `enquete mcp` until it has answered `initialize`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from tests.bench.child_process import enquete, ours, rusage_of
from tests.bench.rounds import median
from tests.bench.settings import Size
from tests.support.populations import mirofish_folder

SIM, AGENTS = "sim_1", 50
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip
PROGRAM = "from enquete.interfaces.cli.app import main; main()"


def start(size: Size) -> dict[str, Any]:
    """Medians, the commands taken in turn."""
    with TemporaryDirectory() as name:
        root = Path(name)
        mirofish_folder(root / "simulations" / SIM, AGENTS)
        commands: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: rusage_of([sys.executable, "-c", "pass"]),
            "import enquete": lambda: rusage_of([sys.executable, "-c", "import enquete"]),
            "enquete --help": lambda: enquete("--help").cpu_s,
            "enquete run --help": lambda: enquete("run", "--help").cpu_s,
            "enquete list": lambda: enquete("list", "--root", root).cpu_s,
            "enquete check": lambda: enquete("check", SIM, "--root", root).cpu_s,
            "enquete mcp, to its handshake": lambda: handshake(root),
        }
        for command in commands.values():
            command()  # files are in the system's cache
        taken = [{name: command() for name, command in commands.items()} for _ in range(size.rounds)]
    return {"rounds": size.rounds, "cpu_s": {name: median(round[name] for round in taken) for name in commands}}


def handshake(root: Path) -> float:
    """CPU seconds of the server until its first answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp", "--root", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env=ours(),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "serverInfo" in answer["result"], answer
        times = psutil.Process(process.pid).cpu_times()
        return float(times.user + times.system)
    finally:
        process.kill()
        process.communicate()
