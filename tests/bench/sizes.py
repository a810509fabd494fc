"""Whole runs by number of agents, answered by the synthetic respondent, so that it is Enquete's own cost: CPU and
memory.

Four methodologies from `enquete run` to its last word give the fixed cost and the growth an agent; one methodology goes
up to 50,000 agents; a large run of four is analysed and reported once more, by itself: `python -m tests.bench.sizes
RUN_FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from enquete.ledger.folders import read_run
from enquete.reports.synthesis import write_synthesis
from enquete.runs.planning import planned
from tests.bench.child_process import Spent, enquete, python
from tests.bench.interviewing import LANGUAGE
from tests.bench.loops import Clock
from tests.bench.rounds import median
from tests.bench.settings import Size
from tests.support.populations import personas_file
from tests.support.studies import run_folder

FOUR, ONE = "longitudinal,delphi,scenario,diversity", "longitudinal"


def sizes(size: Size) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        few, many = size.whole_runs
        runs = [(run(folder, few, FOUR), run(folder, many, FOUR)) for _ in range(size.rounds)]
        fixed = median(small.cpu_s for small, _ in runs)
        growth = median((large.cpu_s - small.cpu_s) / (many - few) for small, large in runs)
        asked = {str(agents): _shown(run(folder, agents, ONE)) for agents in size.asked}
        report = reported(folder, size.reported)
    return {
        "rounds": size.rounds, "few": few, "many": many, "cpu_s": fixed,
        "cpu_s_many": median(large.cpu_s for _, large in runs), "growth_ms": growth * 1000, "asked": asked,
        "reported": {"agents": size.reported, **report},
    }  # fmt: skip


def run(folder: Path, agents: int, methods: str) -> Spent:
    """A new run in a folder of its own, which is emptied first."""
    with TemporaryDirectory(dir=folder) as out:
        return _run(folder, agents, methods, Path(out))


def reported(folder: Path, agents: int) -> dict[str, float]:
    """Analyses, report, figures and exports of a finished run of four methodologies, written once more."""
    with TemporaryDirectory(dir=folder) as out:
        _run(folder, agents, FOUR, Path(out))
        return python("-m", "tests.bench.sizes", run_folder(Path(out)))


def _run(folder: Path, agents: int, methods: str, out: Path) -> Spent:
    return enquete(
        "run", personas_file(folder / f"{agents}.json", agents), "--out", out, "--methods", methods, "--language",
        LANGUAGE, "--respondent", "synthetic", "--budget-tokens", 10**10, "--yes",
    )  # fmt: skip


def _shown(spent: Spent) -> dict[str, float]:
    return {"cpu_s": spent.cpu_s, "wall_s": spent.wall_s, "peak_mb": spent.peak_mb}


def main() -> None:
    folder = Path(sys.argv[1])
    clock = Clock()
    write_synthesis(folder, planned(read_run(folder).record))
    print(json.dumps(clock.read()))


if __name__ == "__main__":
    main()
