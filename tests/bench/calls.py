"""CPU, wall, memory and tokens a call: Enquete beside clients that one would write by hand, on the same prompts.

One call asks one agent all fifteen items of the longitudinal methodology. CPU of the loops and of `interviewing` is
taken after a warm-up; `whole process` is `enquete run` from its start to its end, with imports, ledger, checkpoints,
audit, analyses, report, figures and exports.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.child_process import REPOSITORY, enquete, python
from tests.bench.interviewing import LANGUAGE, used, write_prompts
from tests.bench.loops import Work
from tests.bench.rounds import median, ratio
from tests.bench.server import BenchServer, bench_server
from tests.bench.settings import Size
from tests.support.studies import personas, run_folder

Record = dict[str, float]
Contender = Callable[[Work, Path], Record]

REFERENCE = "AsyncOpenAI, aiohttp"
PEERS = {"inspect": "inspect-ai", "edsl": "edsl"}  # what the Makefile installs in .peers/
INTERVIEWING, WHOLE = "Enquete, interviewing", "Enquete, whole process"


def calls(size: Size) -> dict[str, Any]:
    """Medians and ratios by condition and contender."""
    return _compared(size, OURS)


def peers(size: Size) -> dict[str, Any]:
    """The same of other programs, as far as `make bench-peers` has installed them, beside the two that matter most."""
    installed = {path.parents[1].name: path for path in sorted(REPOSITORY.glob(".peers/*/bin/python"))}
    if not installed:
        raise SystemExit("no other programs in .peers: make bench-peers installs them")
    beside = {name: OURS[name] for name in (REFERENCE, INTERVIEWING)}
    others = {_versioned(name, path): _peer(name, path) for name, path in installed.items()}
    return _compared(replace(size, latencies=("0.2",)), beside | others)


def _compared(size: Size, contenders: dict[str, Contender]) -> dict[str, Any]:
    """All conditions and contenders once a round. Ctrl-C ends it with the rounds that are complete."""
    conditions = list(product(size.latencies, size.in_flight))
    rounds: list[dict[tuple[str, int], dict[str, Record]]] = []
    with TemporaryDirectory() as name, bench_server() as server, suppress(KeyboardInterrupt):
        population = personas(Path(name), size.agents)
        prompts = Path(name) / "prompts.jsonl"
        items = write_prompts(prompts, population)
        for number in range(size.rounds):
            taken: dict[tuple[str, int], dict[str, Record]] = {condition: {} for condition in conditions}
            for latency, in_flight in conditions:
                work = Work(str(prompts), server.base_url(latency), in_flight, size.agents)
                for contender in _turned(list(contenders), number):
                    record = _measured(contenders[contender], work, server)
                    taken[latency, in_flight][contender] = record
                    print(f"  {number + 1}: {latency} s, {in_flight}: {contender} {_cpu_ms(record):.2f} ms", flush=True)
            rounds.append(taken)
    if not rounds:
        raise KeyboardInterrupt
    found = []
    for latency, in_flight in conditions:
        records = {contender: [taken[latency, in_flight][contender] for taken in rounds] for contender in contenders}
        rows = {contender: _row(mine, records) for contender, mine in records.items()}
        found.append({"latency": latency, "in_flight": in_flight, "contenders": rows})
    return {"agents": size.agents, "rounds": len(rounds), "items": items, "conditions": found}


def _turned(names: list[str], by: int) -> list[str]:
    """Each round begins with another one."""
    return names[by % len(names) :] + names[: by % len(names)]


def _measured(contender: Contender, work: Work, server: BenchServer) -> Record:
    before = server.cpu_s
    with TemporaryDirectory() as name:
        record = contender(work, Path(name))
    return record | {"server_s": server.cpu_s - before}


def _cpu_ms(record: Record) -> float:
    return record["cpu_s"] * 1000 / record["calls"]


def _row(records: list[Record], all_records: dict[str, list[Record]]) -> Record:
    reference = all_records[REFERENCE]
    return {
        "cpu_ms": median(map(_cpu_ms, records)),
        "cpu_ratio": ratio(map(_cpu_ms, records), map(_cpu_ms, reference)),
        "of_interviewing": ratio(map(_cpu_ms, records), map(_cpu_ms, all_records[INTERVIEWING])),
        "wall_s": median(record["wall_s"] for record in records),
        "wall_ratio": ratio((r["wall_s"] for r in records), (r["wall_s"] for r in reference)),
        "peak_mb": median(record["peak_mb"] for record in records),
        "read": median(record["read"] / record["calls"] for record in records),
        "written": median(record["written"] / record["calls"] for record in records),
        "server_ms": median(record["server_s"] * 1000 / record["calls"] for record in records),
        "server_busy": median(record["server_s"] / record["wall_s"] for record in records),
    }


# --- contenders -------------------------------------------------------------------------------------------------------


def _loop(name: str) -> Contender:
    return lambda work, folder: python("-m", "tests.bench.loops", name, json.dumps(vars(work)))


def _ours(name: str) -> Contender:
    return lambda work, folder: python("-m", "tests.bench.interviewing", name, json.dumps(vars(work)))


def _peer(name: str, interpreter: Path) -> Contender:
    return lambda work, folder: python("-m", "tests.bench.peers", name, json.dumps(vars(work)), interpreter=interpreter)


def _versioned(name: str, interpreter: Path) -> str:
    package = PEERS[name]
    said = f"import json, importlib.metadata as m; print(json.dumps({{'is': m.version('{package}')}}))"
    return f"{package} {python('-c', said, interpreter=interpreter)['is']}"


def whole(work: Work, folder: Path) -> Record:
    """`enquete run` as one types it."""
    population = Path(work.prompts).with_name(f"personas_{work.agents}.json")
    out = folder / "out"
    spent = enquete(
        "run", population, "--out", out, "--methods", "longitudinal", "--language", LANGUAGE, "--model", "bench",
        "--base-url", work.base_url, "--concurrency", work.in_flight, "--budget-tokens", 10**9, "--yes", "--quiet",
    )  # fmt: skip
    return {"cpu_s": spent.cpu_s, "wall_s": spent.wall_s, "peak_mb": spent.peak_mb, **used(run_folder(out))}


OURS: dict[str, Contender] = {
    "aiohttp alone": _loop("aiohttp"), "AsyncOpenAI": _loop("openai"), REFERENCE: _loop("openai-aiohttp"),
    "ChatOpenAI, structured": _loop("langchain"), "Enquete, graph, context and ledger alone": _ours("context"),
    INTERVIEWING: _ours("interviewing"), WHOLE: whole,
}  # fmt: skip
