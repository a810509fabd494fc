"""Methodologies whose cost a call must not grow: CPU without report, in a process each, by the synthetic respondent.

`python -m tests.bench.methods METHOD AGENTS` prints one of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.child_process import python
from tests.bench.interviewing import LANGUAGE, used
from tests.bench.loops import Clock
from tests.bench.rounds import median
from tests.bench.settings import Size
from tests.support import bare_runs
from tests.support.populations import personas_file


def methods(size: Size) -> dict[str, Any]:
    """Medians of CPU ms a call."""
    wanted = [("delphi", agents) for agents in size.delphi] + [("laddering", size.laddering)]
    taken = [{each: python("-m", "tests.bench.methods", *each) for each in wanted} for _ in range(min(3, size.rounds))]
    found = [
        {
            "method": each[0], "agents": each[1], "calls": taken[0][each]["calls"],
            "cpu_ms": median(round[each]["cpu_s"] * 1000 / round[each]["calls"] for round in taken),
        }
        for each in wanted
    ]  # fmt: skip
    return {"rounds": len(taken), "methods": found}


def main() -> None:
    method, agents = sys.argv[1], int(sys.argv[2])
    with TemporaryDirectory() as name:
        _interview(Path(name), method, 5)
        clock = Clock()
        folder = _interview(Path(name), method, agents)
        print(json.dumps(clock.read() | used(folder)))


def _interview(folder: Path, method: str, agents: int) -> Path:
    return bare_runs.interview(
        personas_file(folder / f"{agents}.json", agents), out=str(folder / f"out_{agents}"), methods=[method],
        language=LANGUAGE, respondent="synthetic", budget_tokens=10**10, confirm=True, new=True,
    ).folder  # fmt: skip


if __name__ == "__main__":
    main()
