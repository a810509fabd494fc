"""The tools that begin, watch, pause and resume interviews.

All of them return an InterviewsState, conduct_interviews one with an estimate or drafts. Its schema is published once,
with interview_status: a calling model has the schemas of all tools in its context all the time.
"""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

import enquete
from enquete.interfaces.mcp.question_tools import offer_drafts
from enquete.interfaces.mcp.results import BeginState, InterviewsState
from enquete.interfaces.mcp.run_states import describe_estimate, find_run, show_run
from enquete.interfaces.mcp.server_context import Ctx, ServerState, approval_question, explain_errors, server_state
from enquete.interfaces.mcp.tool_arguments import (
    DEFAULT_WAIT_S,
    BudgetTokens,
    Instruments,
    LanguageArgument,
    Methods,
    Options,
    PhaseArgument,
    Questions,
    RespondentArgument,
    RunId,
    SimId,
    WaitSeconds,
    Who,
    WhoArgument,
    make_request,
)
from enquete.ledger.folders import is_held
from enquete.state.channels import Event
from enquete.state.errors import OverBudget, RunLocked, SettingsError, Unfit
from enquete.study.background import run_in_thread
from enquete.study.question_files import WantedDraft
from enquete.study.run import Run
from enquete.study.tasks import Task

PROGRESS_INTERVAL_S = 0.5
EVERYBODY = Who()


class Approval(BaseModel):
    """What the user is asked where the estimate exceeds the budget."""

    go_ahead: Annotated[bool, Field(description="Begin nevertheless? At its cap the run pauses and can be resumed.")]
    budget_tokens: Annotated[
        int | None, Field(description="A larger cap on tokens; leave it out to keep the present one.")
    ] = None


@dataclass(frozen=True)
class StartedTask:
    """A run on disk that goes on in the background: nobody had to be asked."""

    task: Task


@dataclass(frozen=True)
class NothingAsked:
    """A call that began nothing, and what it found out."""

    state: BeginState


def can_elicit(ctx: Ctx) -> bool:
    """Return whether the client can ask its user."""
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    return declared is not None and (declared.form is not None or declared.url is None)


async def begin(
    ctx: Ctx,
    sim_id: str,
    questions: Questions,
    instruments: Instruments,
    methods: Methods,
    who: WhoArgument,
    phase: PhaseArgument,
    language: LanguageArgument,
    respondent: RespondentArgument,
    budget_tokens: BudgetTokens,
    options: Options,
    dry_run: bool,
    wait_seconds: float,
) -> StartedTask | NothingAsked | Elicit[Approval]:
    """Begin the run, or say why not; where it is over budget, ask the user if the client can."""
    with explain_errors(ctx) as server:
        request = make_request(
            questions=questions, instruments=instruments, methods=methods, who=who, phase=phase, language=language,
            respondent=respondent, budget_tokens=budget_tokens, options=options,
        )  # fmt: skip
        if dry_run:
            return NothingAsked(await _estimate(server, sim_id, request))
        try:
            task = await server.tasks.start(sim_id, **request)
        except OverBudget as over:
            if not can_elicit(ctx):
                raise
            return Elicit(approval_question(over.estimate), Approval)
        except Unfit as unfit:
            if _names_questions(request):
                raise
            return NothingAsked(await _offer_questions(server, sim_id, request, unfit, wait_seconds))
    return StartedTask(task)


def _names_questions(request: dict[str, Any]) -> bool:
    return bool(request.get("instruments") or request.get("pack"))


async def _estimate(server: ServerState, sim_id: str, request: dict[str, Any]) -> BeginState:
    def estimate() -> BeginState:
        server.sandbox.simulation(sim_id)
        expected = asyncio.run(enquete.aestimate(sim_id, **server.sandbox.given, **request))  # a loop of its own
        row = describe_estimate(expected)
        then = "The same call without dry_run begins it; show the user the estimate first."
        if row.refused:
            then = "It would not begin as it is: see estimate.refused."
        return BeginState(status="estimate", sim_id=sim_id, estimate=row, next=then)

    return await run_in_thread(estimate, within_s=None)


async def _offer_questions(
    server: ServerState, sim_id: str, request: dict[str, Any], unfit: Unfit, wait_seconds: float
) -> BeginState:
    """Say that the shipped questions are about something else, and offer some that are not.

    A draft is only paid for where a model would have been paid for the interviews.
    """
    why = server.mask(unfit.fact)
    if request.get("respondent") == "synthetic":
        call = f'draft_questions(sim_id="{sim_id}") offers questions on its topic.'
        return BeginState(status="questions_do_not_fit", sim_id=sim_id, note=why, next=call)
    drafts = await offer_drafts(server, WantedDraft(sim_id), wait_seconds, request.get("budget_tokens"))
    offered = drafts.files if drafts.status == "drafted" else []
    return BeginState(status="questions_do_not_fit", sim_id=sim_id, note=why, drafts=offered, next=drafts.next)


async def conduct_interviews(
    ctx: Ctx,
    sim_id: SimId,
    begun: Annotated[ElicitationResult[Approval], Resolve(begin)],
    questions: Questions = [],  # noqa: B006 - the SDK makes a schema of defaults, and nobody changes them
    instruments: Instruments = {},  # noqa: B006
    methods: Methods = [],  # noqa: B006
    who: WhoArgument = EVERYBODY,
    phase: PhaseArgument = None,
    language: LanguageArgument = None,
    respondent: RespondentArgument = None,
    budget_tokens: BudgetTokens = None,
    options: Options = {},  # noqa: B006
    dry_run: Annotated[bool, Field(description="only estimate it, and say whether the questions fit")] = False,
    wait_seconds: WaitSeconds = DEFAULT_WAIT_S,
) -> CallToolResult:
    """Interview the agents of a simulation.

    With sim_id alone, the shipped questions on its topic are asked; where none are, questions of its own are offered.
    The same call again goes on with an unfinished run, and shows a finished one without asking anybody. Over budget,
    nothing is asked. Cancelling the call pauses the run. Example: {"sim_id": "sim_683e8059ab27",
    "questions": [{"wording": "Fees are fair."}, {"wording": "Why?"}], "respondent": "synthetic", "dry_run": true}
    """
    with explain_errors(ctx) as server:
        if isinstance(begun, AcceptedElicitation) and isinstance(begun.data, NothingAsked):
            return begun.data.state.as_call_result()
        if isinstance(begun, AcceptedElicitation) and isinstance(begun.data, StartedTask):
            return await watch(ctx, begun.data.task, sim_id, wait_seconds)
        if not isinstance(begun, AcceptedElicitation) or not begun.data.go_ahead:
            raise ToolError("the user did not approve of going over the budget; nothing was asked")
        allowed = begun.data.budget_tokens
        if allowed is not None and allowed <= 0:
            raise ToolError(f"the user's budget_tokens: {allowed} is not above 0; nothing was asked")
        request = make_request(
            questions=questions, instruments=instruments, methods=methods, who=who, phase=phase, language=language,
            respondent=respondent, budget_tokens=allowed or budget_tokens, options=options,
        )  # fmt: skip
        task = await server.tasks.start(sim_id, **{**request, "confirm": True})
        return await watch(ctx, task, sim_id, wait_seconds)


async def interview_status(ctx: Ctx, sim_id: SimId, run_id: RunId = "") -> Annotated[CallToolResult, InterviewsState]:
    """Say how far a run is, what it cost, and what to call next. Example: {"sim_id": "sim_683e8059ab27"}"""
    with explain_errors(ctx) as server:
        return await show_run(server, lambda: find_run(server, sim_id, run_id), sim_id)


async def control_interviews(
    ctx: Ctx,
    sim_id: SimId,
    action: Annotated[
        Literal["pause", "resume", "set_budget"],
        Field(description="set_budget: go on under budget_tokens, whether the run goes on now or is paused"),
    ],
    run_id: RunId = "",
    budget_tokens: BudgetTokens = None,
    retry_failed: Annotated[bool, Field(description="on resume: ask once more for answers that failed")] = False,
    wait_seconds: WaitSeconds = DEFAULT_WAIT_S,
) -> CallToolResult:
    """Pause a run, resume it, or give it another budget. What was answered is kept and not asked again.

    Example: {"sim_id": "sim_683e8059ab27", "action": "resume", "budget_tokens": 500000}
    """
    with explain_errors(ctx) as server:
        _require_sensible(action, budget_tokens, retry_failed)
        run = await run_in_thread(lambda: find_run(server, sim_id, run_id))
        driven = server.task_of(run)
        if action == "pause" and driven is None:
            raise ToolError("this server does not drive that run right now; interview_status tells how far it is")
        if driven is not None and action in ("pause", "set_budget"):
            driven.pause()
            paused = await driven.end()
            if action == "pause" or paused.status == "completed":
                return await show_run(server, lambda: paused, sim_id)
        request: dict[str, Any] = {"budget_tokens": budget_tokens, "retry_failed": retry_failed or None}
        said = {name: value for name, value in request.items() if value is not None}
        task = await server.tasks.resume(run.run_id, sim=sim_id, **said)
        return await watch(ctx, task, sim_id, wait_seconds)


def _require_sensible(action: str, budget_tokens: int | None, retry_failed: bool) -> None:
    if action == "set_budget" and budget_tokens is None:
        raise SettingsError("budget_tokens: set_budget needs it, such as budget_tokens=500000")
    if action == "pause" and (budget_tokens is not None or retry_failed):
        raise SettingsError("action: pause takes neither budget_tokens nor retry_failed; resume does")


async def watch(ctx: Ctx, task: Task, sim_id: str, seconds: float) -> CallToolResult:
    """Return the run at its end, or as it stands after so many seconds. A cancelled request pauses it."""
    try:
        run = await _follow(ctx, task, seconds)
    except asyncio.CancelledError:
        task.pause()
        raise
    return await show_run(server_state(ctx), lambda: run or Run(task.folder), sim_id)


async def _follow(ctx: Ctx, task: Task, seconds: float) -> Run | None:
    """Wait and report progress: tokens of those that the whole run is expected to cost."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    reported = 0
    while True:
        try:
            run = await task.wait(max(0.0, min(PROGRESS_INTERVAL_S, deadline - loop.time())))
        except RunLocked:  # by another server, for another agent that asked the same: its answers are ours
            await _wait_for_other(task, deadline)
            return None
        event = task.latest
        if event is not None and event["tokens"] > reported:
            reported = event["tokens"]
            total = max(reported, event["expected"]) if event.get("expected") else None
            await ctx.report_progress(reported, total, describe_progress(event))
        if run is not None or loop.time() >= deadline:
            return run


async def _wait_for_other(task: Task, deadline: float) -> None:
    """Wait until the process that drives the run has stopped, or until the deadline."""
    loop = asyncio.get_running_loop()
    while loop.time() < deadline and await run_in_thread(  # noqa: ASYNC110 - no event reaches another process
        lambda: is_held(task.folder)
    ):
        await asyncio.sleep(PROGRESS_INTERVAL_S)


def describe_progress(event: Event) -> str:
    """Return a line for whoever watches: the round that is being asked, and the tokens of the whole run."""
    expected = f" of about {event['expected']:,}" if event.get("expected") else ""
    return (
        f"{event['methodology']} {event['phase']} round {event['round']}: {event['done']}/{event['total']} agents, "
        f"{event['tokens']:,}{expected} tokens"
    )
