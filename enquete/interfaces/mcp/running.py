"""MCP tools that begin, go on with, pause and watch runs."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from enquete.interfaces.mcp.server_state import Ctx, ServerState, approval_question, server_state, told
from enquete.interfaces.mcp.shapes import RunState, answer
from enquete.interfaces.mcp.states import run_state, run_text
from enquete.interfaces.service.declared import sent, taking
from enquete.interfaces.service.retrying import retry_read
from enquete.state.errors import OverBudget
from enquete.state.request import offered
from enquete.study.run import Run
from enquete.study.tasks import Event, Task
from enquete.study.threads import run_in_thread

PROGRESS_EVERY_S = 0.5
LONGEST_WAIT_S = 3600

SimId: TypeAlias = Annotated[str, Field(description="simulation, as list_simulations names it; never a path")]
RunIdArgument: TypeAlias = Annotated[
    str | None, Field(description="run_id or resume token; else the latest unfinished run, else the canonical one")
]
ABOUT_A_RUN = {name: sent(name) for name in offered("study", "driving", at="mcp")}
STARTING = {**ABOUT_A_RUN, **{name: sent(name) for name in offered("start", at="mcp")}}
RESUMING = {name: sent(name) for name in offered("driving", "resume", at="mcp")}
WaitArgument: TypeAlias = Annotated[
    float,
    Field(ge=0, le=LONGEST_WAIT_S, description="seconds to wait for the end; then the run goes on in the background"),
]


class Approval(BaseModel):
    """What the user is asked where the estimate exceeds the budget."""

    go_ahead: Annotated[bool, Field(description="Begin nevertheless? At its cap the run pauses and can be resumed.")]
    budget_tokens: Annotated[
        int | None, Field(description="A larger cap on tokens; leave it out to keep the present one.")
    ] = None


@dataclass(frozen=True)
class Begun:
    """A run on disk that goes on in the background: nobody had to be asked."""

    task: Task


def can_elicit(ctx: Ctx) -> bool:
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    return declared is not None and (declared.form is not None or declared.url is None)


@taking(STARTING)
async def begin(ctx: Ctx, sim_id: str, **asked: Any) -> Begun | Elicit[Approval]:
    """The run begun, or the question to the user. Where the client cannot ask, over budget is an error."""
    with told(ctx) as desk:
        try:
            task = await desk.tasks.start(sim_id, **asked)
        except OverBudget as over:
            if not can_elicit(ctx):
                raise
            return Elicit(approval_question(over.estimate), Approval)
    return Begun(task)


@taking(STARTING)
async def conduct_interviews(
    ctx: Ctx,
    sim_id: SimId,
    begun: Annotated[ElicitationResult[Approval], Resolve(begin)],
    wait_seconds: WaitArgument = 50,
    **asked: Any,
) -> Annotated[CallToolResult, RunState]:
    """Interview every agent of a simulation with scientific instruments.

    An unfinished run with the same arguments is gone on with, a finished one is shown without asking anybody. Returns
    after wait_seconds with status "running" if it takes longer; poll interview_status then. Over budget, nothing is
    asked and the estimate is returned. Cancelling the call pauses the run.
    """
    with told(ctx) as desk:
        if isinstance(begun, AcceptedElicitation) and isinstance(begun.data, Begun):
            return await watched(ctx, begun.data.task, sim_id, wait_seconds)
        if not isinstance(begun, AcceptedElicitation) or not begun.data.go_ahead:
            raise ToolError("the user did not approve of going over the budget; nothing was asked")
        if begun.data.budget_tokens is not None and begun.data.budget_tokens <= 0:
            raise ToolError(f"the user's budget_tokens: {begun.data.budget_tokens} is not above 0; nothing was asked")
        more = {"budget_tokens": begun.data.budget_tokens} if begun.data.budget_tokens else {}
        task = await desk.tasks.start(sim_id, **{**asked, **more, "confirm": True})
        return await watched(ctx, task, sim_id, wait_seconds)


@taking(RESUMING)
async def resume_interviews(
    ctx: Ctx,
    resume_token: Annotated[str, Field(description="resume_token of a run, or its run_id")],
    wait_seconds: WaitArgument = 50,
    **asked: Any,
) -> Annotated[CallToolResult, RunState]:
    """Go on with a run that is paused, failed or waits for its simulation. What was answered is not asked again.

    budget_tokens is the new cap for the whole run, earlier sessions included. Waits like conduct_interviews.
    """
    with told(ctx) as desk:
        task = await desk.tasks.resume(resume_token, **asked)
        return await watched(ctx, task, None, wait_seconds)


async def pause_interviews(
    ctx: Ctx, run_id: Annotated[str, Field(description="a run that this server is driving")]
) -> Annotated[CallToolResult, RunState]:
    """Pause a run that goes on in the background: calls in flight finish, the rest can be resumed by its token."""
    with told(ctx) as desk:
        task = desk.tasks.driven(run_id.partition(".")[0])
        if task is None:
            raise ToolError("this server does not drive such a run right now; interview_status tells how far it is")
        task.pause()
        run = await task.wait()
        assert run is not None  # without a time limit it has come to its stop
        return await run_in_thread(lambda: retry_read(lambda: _shown(desk, run, None)))


async def interview_status(
    ctx: Ctx, sim_id: SimId, run_id: RunIdArgument = None
) -> Annotated[CallToolResult, RunState]:
    """How far a run is, per methodology and phase, what it has cost, and what to call next. Asks nobody anything."""
    with told(ctx) as desk:
        return await run_in_thread(lambda: retry_read(lambda: _looked_up(desk, sim_id, run_id)))


async def watched(ctx: Ctx, task: Task, sim_id: str | None, seconds: float) -> CallToolResult:
    """The run at its end, or as it stands after `seconds`. A cancelled request pauses it."""
    try:
        run = await followed(ctx, task, seconds)
    except asyncio.CancelledError:
        task.pause()
        raise
    desk = server_state(ctx)
    return await run_in_thread(lambda: retry_read(lambda: _shown(desk, run or Run(task.folder), sim_id)))


async def followed(ctx: Ctx, task: Task, seconds: float) -> Run | None:
    """Wait, and report progress while waiting. Progress counts agents over all rounds; how many rounds come is not known."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    reported = 0
    while True:
        run = await task.wait(max(0.0, min(PROGRESS_EVERY_S, deadline - loop.time())))
        if task.latest is not None and task.done > reported:
            reported = task.done
            await ctx.report_progress(reported, None, progress_text(task.latest))
        if run is not None or loop.time() >= deadline:
            return run


def progress_text(event: Event) -> str:
    expected = f" of about {event['expected']:,}" if event.get("expected") else ""
    return (
        f"{event['methodology']} {event['phase']} round {event['round']}: {event['done']}/{event['total']} agents, "
        f"{event['tokens']:,}{expected} tokens"
    )


def _looked_up(desk: ServerState, sim_id: str, run_id: str | None) -> CallToolResult:
    run = desk.sandbox.run(sim_id, run_id)
    run.shown = False  # nothing was asked for, so nothing needs explaining
    return _shown(desk, run, sim_id)


def _shown(desk: ServerState, run: Run, sim_id: str | None) -> CallToolResult:
    state = run_state(run, desk.task_of(run), desk.mask, sim_id)
    return answer(state, run_text(state))
