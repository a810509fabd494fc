"""What a run that stopped has left: findings, report, files. Nothing outside the server's root is read, and nobody is asked."""

from __future__ import annotations

from pathlib import Path

from pydantic import JsonValue

from enquete.interfaces.service.replies import NothingYet
from enquete.study import Run
from enquete.study.rooted import Rooted

WRITTEN = "it is written at the run's end and at every stop"


def findings_of(rooted: Rooted, run: Run, methodology: str) -> dict[str, JsonValue]:
    """Raises NothingYet naming the methodologies that there are results of."""
    rooted.require_inside(run.path)
    found = run.results.get(methodology)
    if not isinstance(found, dict) or not found:
        there = ", ".join(run.results) or "none so far"
        raise NothingYet(f"run {run.run_id} has no results of {methodology[:100]!r}; there are those of: {there}")
    return found


def report_of(rooted: Rooted, run: Run) -> str:
    """Raises NothingYet where the run has not stopped for the first time yet."""
    rooted.require_inside(run.path)
    if not run.report:
        raise NothingYet(f"run {run.run_id} has no report yet: {WRITTEN}")
    return run.report


def table_of(rooted: Rooted, run: Run) -> Path:
    """all_responses.csv. Raises NothingYet."""
    path = run.path / "exports" / "all_responses.csv"
    if not path.is_file():
        raise NothingYet(f"run {run.run_id} has no export yet: {WRITTEN}")
    rooted.require_inside(path)
    return path
