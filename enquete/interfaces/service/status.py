"""How far a run is and what it has cost, in the words of every interface: from its ledger, and from what drives it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from enquete.study.run import Run
from enquete.study.run_status import StageStatus
from enquete.study.tasks import Task

StatusWord: TypeAlias = Literal[
    "running", "pausing", "writing_up", "completed", "awaiting_simulation", "waiting", "paused", "failed"
]
GOING_ON: tuple[StatusWord, ...] = ("running", "pausing", "writing_up")
"""Asking; finishing the requests in flight because it was told to pause; making the report of what was answered."""
ENDED = ("done", "failed", "waiting")
KILLED = "the process that drove this run was ended; nothing is lost, it can be resumed"


class Round(BaseModel):
    """Agents of the main arm who have answered in one round that has begun."""

    round: int
    n_responded: int


class Stage(BaseModel):
    """How far one methodology is in one phase. `remaining_tokens` is null where nothing was estimated."""

    methodology: str
    phase: str
    outcome: Annotated[str, Field(description="not started, running, done, short, waiting or failed")]
    note: str
    n_responded: Annotated[int, Field(description="agents with at least one usable answer")]
    n_total: int
    rounds: Annotated[list[Round], Field(description="those that have begun, in order")] = []
    answers: Annotated[dict[str, int], Field(description="ok, repaired, refused, invalid, failed")]
    calls: int
    tokens: int
    remaining_tokens: int | None


class Budget(BaseModel):
    """Tokens and US dollars; null: not known, or no cap."""

    tokens: int
    expected_tokens: int | None
    cap_tokens: int
    usd: float | None
    expected_usd: float | None
    cap_usd: float | None


def status_of(run: Run, task: Task | None) -> StatusWord:
    """`task`: what drives it here, if anything; another process may as well. What is filed as its status is older."""
    if task is None and (run.status == "completed" or not run.is_driven):
        return run.status
    if task is not None and task.is_pausing:
        return "pausing"
    stages = run.stages
    return "writing_up" if stages and all(stage.outcome == "done" for stage in stages) else "running"


def outcome_of(stage: StageStatus, status: StatusWord) -> str:
    """done, short, waiting, failed or not started; while the run goes on, what has begun and has not ended is running,
    whatever was filed when the run stopped the last time."""
    if status not in GOING_ON or stage.outcome in ENDED:
        return stage.outcome
    return "running" if stage.counts.get("calls", 0) > 0 else "not started"


def note_of(run: Run, status: StatusWord, task: Task | None, fault: str = "") -> str:
    """Why it stopped, or why nothing moves while it goes on. `fault`: what a server knows of its end beside the ledger."""
    if status in GOING_ON:
        return (task.waits_for if task is not None else "") or run.waits_for
    return run.note or fault or (KILLED if status == "paused" else "")


def stage_of(run: Run, stage: StageStatus, status: StatusWord) -> Stage:
    """`status`: what is told of the whole run."""
    return Stage(
        methodology=stage.methodology,
        phase=stage.phase,
        outcome=outcome_of(stage, status),
        note=stage.note,
        n_responded=stage.responded,
        n_total=stage.total,
        rounds=[Round(round=number, n_responded=n) for number, n in stage.rounds.items()],
        answers=stage.answers,
        calls=stage.counts.get("calls", 0),
        tokens=stage.counts.get("tokens", 0),
        remaining_tokens=run.standing.remaining(stage.methodology, stage.phase),
    )


def budget_of(run: Run) -> Budget:
    stands = run.standing
    return Budget(
        tokens=stands.spent,
        expected_tokens=stands.expected,
        cap_tokens=stands.cap_tokens,
        usd=stands.paid_usd,
        expected_usd=stands.expected_usd,
        cap_usd=stands.cap_usd,
    )


def ran_short(run: Run) -> bool:
    """Paused because the budget was used up."""
    return run.status == "paused" and any(s.outcome == "short" for s in run.stages) and "budget" in run.note
