"""`make scale`: what two worker processes give beside one, against a model server of a given speed.

python -m tests.bench.scale [--agents 100000] [--beside 10000] [--calls 4] [--latency 2] [--concurrency 600]
    [--processes 2]

Each run is a process of its own: calls a second (of the most that concurrency and latency allow), CPU a call over all
its processes, bytes of the ledger a call, the driver's peak of memory; and whether those that both asked gave the same
answers. One process asks the first so many (`beside`): what it costs a call does not depend on how many there are.
Nothing is written up. 100,000 agents take half an hour on two processors.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from enquete.ledger.folders import LEDGER
from enquete.state import collect_seldom
from tests.bench.child_process import python
from tests.bench.server import bench_server
from tests.support import bare_runs
from tests.support.studies import call_keys, run_folder, stored_answers

SAMPLED_S = 0.5


class ProcessorTime:
    """Seconds of this process and all that it began, as last seen of each."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        here = psutil.Process()
        while not self._over.wait(SAMPLED_S):
            for process in (here, *here.children(recursive=True)):
                try:
                    times = process.cpu_times()
                except psutil.NoSuchProcess:
                    continue
                self._seen[process.pid] = times.user + times.system

    def end(self) -> float:
        self._over.set()
        self._thread.join()
        return sum(self._seen.values())


def people(folder: Path, agents: int) -> Path:
    """A personas file of its own kind: names, personas of a line."""
    path = folder / "people.json"
    rows = [
        {"name": f"Person {n}", "persona": f"No. {n}, who lives in a port.", "type": "citizen"} for n in range(agents)
    ]
    path.write_text(json.dumps(rows), "utf-8")
    return path


def poll(folder: Path, items: int) -> Path:
    path = folder / "poll.csv"
    lines = [f"q{n},likert,Statement {n} holds." for n in range(1, items + 1)]
    path.write_text("\n".join(["id,kind,wording", *lines]) + "\n", "utf-8")
    return path


def conduct(given: dict[str, Any]) -> dict[str, Any]:
    """One run in this process."""
    import resource

    collect_seldom()  # as `enquete` does
    used, began = ProcessorTime(), time.perf_counter()
    run = bare_runs.interview(**given)
    wall, cpu = time.perf_counter() - began, used.end()
    folder = run_folder(Path(given["out"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    calls = len(call_keys(folder))
    size = sum(file.stat().st_size for file in folder.glob(f"{LEDGER}*") if "backup" not in file.name)
    return {"status": run.status, "calls": calls, "wall_s": wall, "cpu_s": cpu, "peak_mb": peak, "bytes": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, default in (
        ("agents", int, 100_000), ("beside", int, 10_000), ("calls", int, 4), ("latency", float, 2),
        ("concurrency", int, 600), ("processes", int, 2),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=default)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="enquete-scale-") as made, bench_server() as server:
        folder, answers, cpu = Path(made), {}, {}
        instrument = poll(folder, asked.calls)
        for executor, agents in (("local", asked.beside), (f"processes:{asked.processes}", asked.agents)):
            out = folder / executor.replace(":", "")
            sim = people(folder, min(agents, asked.agents))
            given = {
                "sim": str(sim), "out": str(out), "instruments": {"poll": str(instrument)}, "methods": ["poll"],
                "asking": "item", "model": "bench", "base_url": server.base_url(f"{asked.latency:g}"), "language": "en",
                "concurrency": asked.concurrency, "executor": executor, "budget_tokens": 10**12, "fit": "any",
            }  # fmt: skip
            found = python("-m", "tests.bench.scale", json.dumps(given))
            most = asked.concurrency / asked.latency if asked.latency else float("inf")
            rate, calls = found["calls"] / found["wall_s"], max(1, found["calls"])
            answers[executor], cpu[executor] = stored_answers(run_folder(out)), found["cpu_s"] / calls
            print(
                f"{executor}: {agents:,} agents, {found['status']}, {calls:,} calls in {found['wall_s']:.1f} s, "
                f"{rate:,.0f} a second (of {most:,.0f}); {1000 * cpu[executor]:.2f} ms of CPU and "
                f"{found['bytes'] / calls:,.0f} bytes a call; the driver had {found['peak_mb']:,.0f} MB",
                flush=True,
            )
        alone, shared = (set(each) for each in answers.values())
        same, (first, second) = alone <= shared, cpu.values()
        print(f"{'the same answers' if same else 'ANSWERS DIFFER'}; {second / first:.2f} times the CPU a call")
        sys.exit(not same)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(conduct(json.loads(sys.argv[1]))))
    else:
        main()
