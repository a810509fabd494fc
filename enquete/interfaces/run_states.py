"""How far a run is, in the words of every server: read from its ledger, and from the task that drives it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from enquete.study import Run, StageStatus
from enquete.study.tasks import Task

StatusWord: TypeAlias = Literal["running", "completed", "awaiting_simulation", "waiting", "paused", "failed"]
ENDED = ("done", "failed", "waiting")
KILLED = "the process that drove this run was ended; nothing is lost, it can be resumed"


def status_of(run: Run, task: Task | None) -> StatusWord:
    """`task`: what drives it here, if anything; another process may as well. What is filed as its status is older."""
    driven = task is not None or (run.status != "completed" and run.is_driven)
    return "running" if driven else run.status


def outcome_of(stage: StageStatus, status: StatusWord) -> str:
    """done, short, waiting, failed or not started; while the run goes on, what has begun and has not ended is running,
    whatever was filed when the run stopped the last time."""
    if status != "running" or stage.outcome in ENDED:
        return stage.outcome
    return "running" if stage.counts.get("calls", 0) > 0 else "not started"


def note_of(run: Run, status: StatusWord, task: Task | None, fault: str = "") -> str:
    """Why it stopped, or why nothing moves while it goes on. `fault`: what a server knows of its end beside the ledger."""
    if status == "running":
        return task.waits_for if task is not None else ""
    return run.note or fault or (KILLED if status == "paused" else "")
