"""The analysis of a large study stays within its bounds: 5,000 agents in all four methodologies, both waves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import enquete
from tests.support.populations import mirofish_folder, set_status

AGENTS = 5_000
FOUR = ["longitudinal", "delphi", "scenario", "diversity"]

MEASURED = """
import json, resource, sys, time
from pathlib import Path
from enquete.runs.planning import planned
from enquete.reports.analyses import find
from enquete.reports.run_reading import open_run
from enquete.reports.responses import responses
from enquete.reports.gaps import GapLog
from enquete.reports.synthesis import _material, _results

with open_run(Path(sys.argv[1])) as reading:
    stages = planned(reading.record)
    frame = responses(reading, stages)
    begun = time.process_time()
    log = GapLog(Path(sys.argv[1]), raise_bugs=True)
    found = find(reading, frame, log)
    found_s = time.process_time() - begun
    material = _material(reading, frame, stages, found, _results(reading, frame, found, log), log)
    spent = time.process_time() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({
    "methods": sorted(found.results), "claims": sum(map(len, material.findings.values())),
    "checks": len(material.health.checks),
    "rows": len(frame), "find_s": found_s, "cpu_s": spent, "peak_bytes": peak,
}))
"""
"""In a process of its own: the peak of memory is that of the analysis, with the response table it reads."""


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_whole_analysis_of_five_thousand_agents_takes_less_than_a_minute_and_two_gigabytes(tmp_path: Path) -> None:
    """Analyses of the four methodologies, health, crossing, agents and associations; CPU seconds, not those on the
    wall."""
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    arguments = {"methods": FOUR, "respondent": "synthetic", "budget_tokens": 10**10, "confirm": True, "language": "en"}
    enquete.conduct_interviews(sim, out=str(tmp_path / "out"), **arguments)
    set_status(sim, "completed")
    run = enquete.conduct_interviews(sim, out=str(tmp_path / "out"), **arguments)
    numbers = measured(run.folder)
    print(numbers)
    assert run.status == "completed"
    assert numbers["methods"] == sorted(FOUR)
    assert numbers["claims"] > 0
    assert numbers["checks"] > 0
    assert numbers["cpu_s"] < 60
    assert numbers["peak_bytes"] < 2 * 10**9


def measured(folder: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(folder)], capture_output=True, text=True, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert isinstance(data, dict)
    return data
