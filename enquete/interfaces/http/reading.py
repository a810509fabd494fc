"""What a GET answers, read from the run's ledger and files. Nothing is created, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from enquete.interfaces.cli.advice import ran_short
from enquete.interfaces.http.bodies import Budget, ReportData, ResultData, Stage, StatusData
from enquete.interfaces.http.envelope import NothingYet
from enquete.interfaces.http.secrecy import Mask
from enquete.interfaces.http.task_files import read_task
from enquete.interfaces.run_states import StatusWord, note_of, outcome_of, status_of
from enquete.study import Run, StageStatus
from enquete.study.rooted import Rooted
from enquete.study.standing import Standing
from enquete.study.tasks import Task

Driven = Callable[[str], Task | None]
MOST_FAILURES = 20


def read_status(rooted: Rooted, sim_id: str, task_id: str | None, driven: Driven, mask: Mask) -> StatusData:
    """`driven`: what drives a run in this server right now. Raises SimulationNotFound, RunNotFound, LedgerError."""
    run = rooted.run(sim_id, task_id)
    stands = run.standing
    file = read_task(run.folder.parents[2], run.run_id)
    task = driven(run.run_id)
    status = status_of(run, task)
    return StatusData(
        task_id=run.run_id,
        run_id=run.run_id,
        sim_id=sim_id,
        status=status,
        note=mask(note_of(run, status, task, file.error if file else "")),
        resume_token=run.resume_token,
        started_by=file.kind if file else "",
        created_at=run.record.created_at,
        methods=list(run.record.methods),
        language=run.record.language,
        respondent=run.record.main.respondent,
        model=run.record.main.model,
        stages=[_stage(run, stage, status) for stage in run.stages],
        budget=_budget(stands),
        sufficient_tokens=stands.enough_tokens if status == "paused" and ran_short(run) else None,
        failures=[mask(failure) for failure in run.failures[:MOST_FAILURES]],
    )


def _stage(run: Run, stage: StageStatus, status: StatusWord) -> Stage:
    return Stage(
        methodology=stage.methodology,
        phase=stage.phase,
        outcome=outcome_of(stage, status),
        note=stage.note,
        n_responded=stage.responded,
        n_total=stage.total,
        answers=stage.answers,
        calls=stage.counts.get("calls", 0),
        tokens=stage.counts.get("tokens", 0),
        remaining_tokens=run.standing.remaining(stage.methodology, stage.phase),
    )


def _budget(stands: Standing) -> Budget:
    return Budget(
        tokens=stands.spent,
        expected_tokens=stands.expected,
        cap_tokens=stands.cap_tokens,
        usd=stands.paid_usd,
        expected_usd=stands.expected_usd,
        cap_usd=stands.cap_usd,
    )


def read_result(rooted: Rooted, sim_id: str, methodology: str, run_id: str | None) -> ResultData:
    """Raises NothingYet naming the methodologies that there are results of."""
    run = rooted.finished(sim_id, run_id)
    found = _results(rooted, run).get(methodology)
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


def read_report(rooted: Rooted, sim_id: str, run_id: str | None) -> ReportData:
    """Raises NothingYet where the run has not stopped for the first time yet."""
    run = rooted.finished(sim_id, run_id)
    _results(rooted, run)
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


def find_csv(rooted: Rooted, sim_id: str, run_id: str | None) -> tuple[Run, Path]:
    """The run and its all_responses.csv. Raises NothingYet."""
    run = rooted.finished(sim_id, run_id)
    path = run.path / "exports" / "all_responses.csv"
    if not path.is_file():
        raise NothingYet(f"run {run.run_id} has no export yet: it is written at the run's end and at every stop")
    rooted.require_inside(path)
    return run, path


def _results(rooted: Rooted, run: Run) -> dict[str, object]:
    rooted.require_inside(run.path)
    return run.results
