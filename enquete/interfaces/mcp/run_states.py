"""Which run is meant, and how far it is: a run as the tools show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.types import CallToolResult

from enquete.interfaces.mcp.finding_rows import leading_findings
from enquete.interfaces.mcp.results import EstimateRow, InterviewsState, StageRow
from enquete.interfaces.mcp.results import Range as RangeRow
from enquete.interfaces.mcp.server_context import ServerState, cut
from enquete.interfaces.views import GOING_ON, StatusWord, outcome_of, ran_short, retry_read, status_of
from enquete.interfaces.views import note_of as describe_stop
from enquete.runs.estimate import Estimate, Range
from enquete.state.errors import RunNotFound
from enquete.study.background import run_in_thread
from enquete.study.run import Run
from enquete.study.tasks import NobodyInterviewed, Task

MAX_WARNINGS, MAX_WARNING_CHARS, MAX_NOTE_CHARS = 5, 300, 1000
MAX_RUNS_LISTED = 10
SYNTHETIC = (
    "THE BUILT-IN SYNTHETIC RESPONDENT: no model and no person. The figures say nothing about the world; say so to the "
    "user"
)


def find_run(server: ServerState, sim_id: str, run_id: str) -> Run:
    """Return the run that is meant: by run_id or resume token; where the simulation has one run only, that one.

    Raises:
        RunNotFound: several runs may be meant, or there is none of that name; the message lists those there are.
        NobodyInterviewed: the simulation has no run yet.
    """
    if not run_id:
        runs = server.sandbox.runs(sim_id)
        if not runs:
            raise NobodyInterviewed(f"{sim_id}: nobody has been interviewed yet")
        if len(runs) > 1:
            latest = runs[: -MAX_RUNS_LISTED - 1 : -1]
            listed = "; ".join(f"{run.run_id} ({', '.join(run.methods)}: {run.status})" for run in latest)
            raise RunNotFound(f"run_id: {sim_id} has {len(runs)} runs, so say which, the latest first: {listed}")
        run_id = runs[0].run_id
    run = server.sandbox.run(sim_id, run_id)
    run.shown = False  # nothing was asked for, so nothing needs explaining
    return run


def answered_by(run: Run) -> str:
    """Return who answered, in words that a figure may not be quoted without."""
    main = run.record.main
    return SYNTHETIC if main.respondent == "synthetic" else f"{main.model} ({main.respondent})"


def run_facts(run: Run, sim_id: str) -> dict[str, Any]:
    """Return what every result of a run says of it; sim_id: as the caller calls its simulation."""
    return {
        "sim_id": sim_id, "run_id": run.run_id, "begun": run.record.created_at, "asked": list(run.record.methods),
        "answered_by": answered_by(run), "language": run.record.language,
    }  # fmt: skip


def describe_run(run: Run, task: Task | None, mask: Callable[[str], str], sim_id: str | None = None) -> InterviewsState:
    """Return how far a run is.

    Args:
        run: read a moment ago.
        task: what drives it in this server right now.
        mask: takes secrets and folders out of what is told.
        sim_id: as the caller calls its simulation; as the run was begun under unless named.
    """
    known_as, standing = sim_id or run.record.sim_id, run.standing
    status: StatusWord = status_of(run, task)
    stages = [
        StageRow(
            methodology=stage.methodology, phase=stage.phase, outcome=outcome_of(stage, status),
            agents_answered=stage.responded, agents=stage.total, answers=stage.answers,
        )
        for stage in run.stages
    ]  # fmt: skip
    note = cut(mask(describe_stop(run, status, task)), MAX_NOTE_CHARS)
    if run.shown and status == "completed":
        note = "it had been completed before; nobody was asked"
    return InterviewsState(
        **run_facts(run, known_as), status=status, note=note, stages=stages, calls=run.spent.get("calls", 0),
        tokens=standing.spent, expected_tokens=standing.expected, cap_tokens=standing.cap_tokens,
        findings=[] if status in GOING_ON else leading_findings(run),
        warnings=[cut(mask(flag), MAX_WARNING_CHARS) for flag in run.flags[:MAX_WARNINGS]],
        warnings_total=len(run.flags), next=next_call(run, status, known_as),
    )  # fmt: skip


def next_call(run: Run, status: StatusWord, sim_id: str) -> str:
    """Return what to call next, with its arguments."""
    which = f'sim_id="{sim_id}", run_id="{run.run_id}"'
    resume = f'control_interviews({which}, action="resume")'
    if status in GOING_ON:
        return f"Poll interview_status({which}) every half minute or so; do not start it again."
    if status == "completed":
        return f"read_results({which}), read_answers({which}, …) for words to quote, or read_report({which})."
    if status == "awaiting_simulation":
        return f"Once the simulation has completed: {resume}."
    if ran_short(run):
        enough = run.standing.enough_tokens
        return f"Ask the user for a larger cap, then {resume[:-1]}, budget_tokens={enough})."
    return f"{resume}; what has been answered is kept and not asked again."


async def show_run(server: ServerState, find: Callable[[], Run], sim_id: str | None) -> CallToolResult:
    """Return a run's state, read again where its files changed under the reader."""

    def read() -> CallToolResult:
        run = find()
        return describe_run(run, server.task_of(run), server.mask, sim_id).as_call_result()

    return await run_in_thread(lambda: retry_read(read))


def as_range(given: Range) -> RangeRow:
    return {"low": given.low, "likely": given.likely, "high": given.high}


def describe_estimate(estimate: Estimate) -> EstimateRow:
    """Return what a run would cost, and why it would be refused."""
    refused = list(estimate.refusals)
    if estimate.exceeds:
        enough = f"budget_tokens={estimate.sufficient_tokens}"
        why = f"the estimate exceeds the cap on {estimate.exceeds}: say {enough}"
        refused.append(f'{why}, or options={{"confirm": true}}: the run then pauses at the cap')
    notes = [cut(note, MAX_WARNING_CHARS) for note in estimate.notes]
    if estimate.respondent == "synthetic":
        notes.insert(0, "the synthetic respondent answers: nothing is sent and nothing costs")
    if estimate.unpriced:
        notes.append(f"the price is unknown of: {', '.join(estimate.unpriced)}")
    return EstimateRow(
        agents=estimate.agents, calls=as_range(estimate.calls), tokens=as_range(estimate.tokens),
        usd=as_range(estimate.usd) if estimate.usd else None,
        seconds=as_range(estimate.seconds) if estimate.seconds else None, cap_tokens=estimate.cap_tokens,
        likely_tokens_by_part={claim: tokens.likely for claim, tokens in estimate.by_claim().items()}, refused=refused,
        notes=notes,
    )  # fmt: skip
