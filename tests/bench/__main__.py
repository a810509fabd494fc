"""`python -m tests.bench [--quick] [--write] [PART …]`."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import Any

import tests.bench
from tests.bench.calls import calls, peers
from tests.bench.child_process import ours
from tests.bench.disk import disk
from tests.bench.install import install
from tests.bench.kills import kills
from tests.bench.methods import methods
from tests.bench.null import null
from tests.bench.results import RESULTS, shown, stamped, written
from tests.bench.settings import FULL, QUICK, Size
from tests.bench.sizes import sizes
from tests.bench.start import start
from tests.http.bench_polls import CLIENTS, EVERY_S, ratio


def polls(size: Size) -> dict[str, Any]:
    rounds = min(3, size.rounds)
    return {
        "clients": CLIENTS, "every_s": EVERY_S, "agents": size.polled, "rounds": rounds, **ratio(size.polled, rounds),
    }  # fmt: skip


PARTS = {
    "calls": calls, "start": start, "sizes": sizes, "methods": methods, "null": null, "disk": disk, "kills": kills,
    "install": install, "polls": polls, "peers": peers,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=tests.bench.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="all but peers unless named")
    parser.add_argument("--quick", action="store_true", help="a few minutes' worth")
    parser.add_argument("--write", action="store_true", help=f"file it in {RESULTS.parent.name}/")
    parser.add_argument("--agents", type=int, help="of the calls, and of disk")
    parser.add_argument("--rounds", type=int, help="repetitions")
    said = parser.parse_args()
    if unknown := set(said.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    kept = ours()
    os.environ.clear()
    os.environ.update(kept)
    size, found = QUICK if said.quick else FULL, {}
    size = replace(size, agents=said.agents or size.agents, rounds=said.rounds or size.rounds)
    for part in said.parts or [name for name in PARTS if name != "peers"]:
        print(f"{part} …", flush=True)
        began, load = time.time(), os.getloadavg()[2]
        found[part] = stamped(PARTS[part](size), began, load)
        if said.write:
            written({part: found[part]})
    print(shown(found))


if __name__ == "__main__":
    main()
