"""What a GET answers, read from the run's ledger and files. Nothing is created, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from enquete.interfaces.advice import ran_short
from enquete.interfaces.http.bodies import Budget, ReportData, ResultData, Stage, StatusData
from enquete.interfaces.http.envelope import NothingYet, OutsideRoot
from enquete.interfaces.http.places import Places
from enquete.interfaces.http.secrecy import Mask
from enquete.interfaces.http.task_files import read_task
from enquete.interfaces.standing import Standing, remaining, standing
from enquete.interfaces.summary import answer_counts
from enquete.study import Run, StageStatus

StatusWord = Literal["running", "completed", "awaiting_simulation", "waiting", "paused", "failed"]
Drives = Callable[[str], bool]
MOST_FAILURES = 20


def read_status(places: Places, sim_id: str, task_id: str | None, drives: Drives, mask: Mask) -> StatusData:
    """`drives`: whether this server drives a run right now. Raises SimulationNotFound, RunNotFound, LedgerError."""
    run = places.run(sim_id, task_id)
    stands = standing(run)
    task = read_task(places.simulation(sim_id), run.run_id)
    status = _status(run, drives)
    note = run.note or (task.error if task else "")
    return StatusData(
        task_id=run.run_id,
        run_id=run.run_id,
        sim_id=sim_id,
        status=status,
        note="" if status == "running" else mask(note or _unsaid(status)),
        resume_token=run.resume_token,
        started_by=task.kind if task else "",
        created_at=run.record.created_at,
        methods=list(run.record.methods),
        language=run.record.language,
        respondent=run.record.main.respondent,
        model=run.record.main.model,
        stages=[_stage(run, stage, is_running=status == "running") for stage in run.stages],
        budget=_budget(stands),
        sufficient_tokens=stands.enough_tokens if status == "paused" and ran_short(run) else None,
        failures=[mask(failure) for failure in run.failures[:MOST_FAILURES]],
    )


def _status(run: Run, drives: Drives) -> StatusWord:
    return "running" if drives(run.run_id) or (run.status != "completed" and run.is_driven) else run.status


def _unsaid(status: str) -> str:
    """A run that says started, and that nobody drives, was killed."""
    return "the process that drove this run was ended; nothing is lost, it can be resumed" if status == "paused" else ""


def _stage(run: Run, stage: StageStatus, *, is_running: bool) -> Stage:
    begun = is_running and stage.outcome == "not started" and stage.counts.get("calls", 0) > 0
    return Stage(
        methodology=stage.methodology,
        phase=stage.phase,
        outcome="running" if begun else stage.outcome,
        note=stage.note,
        n_responded=stage.responded,
        n_total=stage.total,
        answers={name.removeprefix("answers_"): n for name, n in answer_counts(stage.counts).items()},
        calls=stage.counts.get("calls", 0),
        tokens=stage.counts.get("tokens", 0),
        remaining_tokens=remaining(run, stage.methodology, stage.phase),
    )


def _budget(stands: Standing) -> Budget:
    return Budget(
        tokens=stands.spent,
        expected_tokens=stands.expected,
        cap_tokens=stands.cap_tokens,
        usd=stands.usd,
        expected_usd=stands.expected_usd,
        cap_usd=stands.cap_usd,
    )


def read_result(places: Places, sim_id: str, methodology: str, run_id: str | None) -> ResultData:
    """Raises NothingYet naming the methodologies that there are results of."""
    run = places.finished(sim_id, run_id)
    found = _results(places, run).get(methodology)
    if not isinstance(found, dict):
        there = ", ".join(run.results) or "none so far"
        raise NothingYet(f"run {run.run_id} has no results of {methodology[:100]!r}; there are those of: {there}")
    return ResultData(
        run_id=run.run_id,
        sim_id=sim_id,
        status=run.status,
        partial=run.status != "completed",
        methodology=methodology,
        result=found,
    )


def read_report(places: Places, sim_id: str, run_id: str | None) -> ReportData:
    """Raises NothingYet where the run has not stopped for the first time yet."""
    run = places.finished(sim_id, run_id)
    _results(places, run)
    if not run.report:
        raise NothingYet(f"run {run.run_id} has no report yet: it is written at the run's end and at every stop")
    return ReportData(
        run_id=run.run_id,
        sim_id=sim_id,
        status=run.status,
        partial=run.status != "completed",
        report=run.report,
        flags=run.flags,
    )


def find_csv(places: Places, sim_id: str, run_id: str | None) -> tuple[Run, Path]:
    """The run and its all_responses.csv. Raises NothingYet."""
    run = places.finished(sim_id, run_id)
    path = run.path / "exports" / "all_responses.csv"
    if not path.is_file():
        raise NothingYet(f"run {run.run_id} has no export yet: it is written at the run's end and at every stop")
    if not places.rooted.holds(path):
        raise OutsideRoot(f"{sim_id}: the export does not lie under this server's root")
    return run, path


def _results(places: Places, run: Run) -> dict[str, object]:
    if not places.rooted.holds(run.path):
        raise OutsideRoot(f"{run.record.sim_id}: the results do not lie under this server's root")
    return run.results
