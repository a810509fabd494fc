"""MCP tools that begin, go on with, pause and watch runs, and draft instruments; and what every request works with: the
simulations under the root, the runs that this server drives, errors in the words of a model that calls tools.
"""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from enquete.interfaces.cli.terminal import short
from enquete.interfaces.mcp.shapes import EstimatePart, EstimateState, RunState, answer, leading_findings
from enquete.interfaces.parameters import CURRENT_RUN, client_parameter, sent, taken, with_parameters
from enquete.interfaces.server_state import Mask, advice
from enquete.interfaces.views import GOING_ON, Stage, StatusWord, progress_of, ran_short, retry_read, status_of
from enquete.ledger.connection import DatabaseError
from enquete.nodes.estimate import Estimate
from enquete.state.channels import Event
from enquete.state.errors import EnqueteError, OverBudget
from enquete.state.request import DraftRequest, fields_about
from enquete.study.background import run_in_thread
from enquete.study.drafts import ReviewedDraft, draft_on_server
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox, Task, Tasks

MOST_ERROR_CHARS = 4000


@dataclass(frozen=True)
class ServerState:
    """One per process, shared by all sessions."""

    sandbox: PathSandbox
    tasks: Tasks
    mask: Mask

    def task_of(self, run: Run) -> Task | None:
        """What drives the run in this server right now."""
        return self.tasks.driven_in(run.folder)


Ctx: TypeAlias = Context[ServerState, Any]


def server_state(ctx: Ctx) -> ServerState:
    state = ctx.request_context.lifespan_context
    assert isinstance(state, ServerState)
    return state


@contextmanager
def explain_errors(ctx: Ctx) -> Iterator[ServerState]:
    """What goes wrong inside reaches the calling model in words that it can act on. Bugs are left to the SDK, which
    hides their text from the client and logs it."""
    server = server_state(ctx)
    try:
        yield server
    except (EnqueteError, OSError, DatabaseError) as error:
        raise ToolError(error_words(error, server.mask)) from error


def error_words(error: Exception, mask: Mask) -> str:
    """The message of anything raised on purpose, and what to call instead."""
    if isinstance(error, OverBudget):
        return over_budget(error)
    if not isinstance(error, EnqueteError):
        what = getattr(error, "strerror", None) or error
        return f"the files of this run cannot be used ({type(error).__name__}: {mask(str(what))})"
    return f"{sentence(mask(error.fact)[:MOST_ERROR_CHARS])} {advice(error, 'mcp')}".strip()


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def over_budget(error: OverBudget) -> str:
    """The estimate, and the call that would let it begin."""
    begin = error.remedy or (
        f"conduct_interviews with budget_tokens={error.estimate['sufficient_tokens']}; or with fewer methods; or with "
        "confirm=true, and the run pauses at the cap and can be resumed by resume_interviews"
    )
    return (
        f"over budget, nothing was asked. {_expected(error.estimate)} To begin: {begin}. Ask the user before you spend "
        f"more."
    )


def approval_question(estimate: Mapping[str, Any]) -> str:
    """What a user is asked, who knows of no tools and no arguments."""
    return (
        f"The interviews of {estimate['sim_id']} are likely to go over the budget; nobody has been asked yet. "
        f"{_expected(estimate)} Begin all the same? At the cap the interviews pause and can be gone on with later; a "
        f"cap of {estimate['sufficient_tokens']:,} tokens is likely to be enough."
    )


def _expected(estimate: Mapping[str, Any]) -> str:
    tokens, usd, cap_usd = estimate["tokens"], estimate["usd"], estimate["cap_usd"]
    money = f"; {usd['low']:.2f} to {usd['high']:.2f} USD" if isinstance(usd, Mapping) else ""
    cap = f"{cap_usd:.2f} USD" if estimate["exceeds"] == "usd" else f"{estimate['cap_tokens']:,} tokens"
    return (
        f"Estimate for {estimate['agents']} agents: {tokens['low']:,.0f} to {tokens['high']:,.0f} tokens, likely "
        f"{tokens['likely']:,.0f}{money}. The cap is {cap}. By part: {_parts(estimate['lines'])}."
    )


def _parts(lines: list[Mapping[str, Any]]) -> str:
    """Likely tokens by claim on the budget, the dearest first."""
    likely: dict[str, float] = {}
    for line in lines:
        of_line = line["input_tokens"]["likely"] + line["output_tokens"]["likely"]
        likely[line["claim"]] = likely.get(line["claim"], 0.0) + of_line
    return ", ".join(f"{claim} {short(round(n))}" for claim, n in sorted(likely.items(), key=lambda part: -part[1]))


FLAGS = 5
FLAG_CHARS = 300
NOTE_CHARS = 1000
SYNTHETIC = (
    "THE BUILT-IN SYNTHETIC RESPONDENT ANSWERED: no model and no person. The figures say nothing about the world; "
    "say so to the user."
)


def uri(sim_id: str, run_id: str, *rest: str) -> str:
    """The address of a resource of a run."""
    return "enquete://runs/" + "/".join(quote(part, safe="") for part in (sim_id, run_id, *rest))


def run_state(run: Run, task: Task | None, clear: Callable[[str], str], sim_id: str | None = None) -> RunState:
    """`task`: what drives it in this server right now. `clear`: takes secrets and folders out of what it says.
    `sim_id`: as the caller calls it."""
    status: StatusWord = status_of(run, task)
    known_as, standing = sim_id or run.record.sim_id, run.standing
    progress = progress_of(run, status, task, lambda text: cut(clear(text), NOTE_CHARS), known_as)
    return RunState(
        **vars(progress), status=status, shown=run.shown, calls=run.spent.get("calls", 0), tokens=standing.spent,
        expected_tokens=standing.expected, findings=[] if status in GOING_ON else leading_findings(run),
        flags=[cut(clear(flag), FLAG_CHARS) for flag in run.flags[:FLAGS]], flags_total=len(run.flags),
        report_uri=uri(known_as, run.run_id, "report") if (run.path / "report.md").is_file() else None,
        next=next_call(run, status, known_as),
    )  # fmt: skip


def next_call(run: Run, status: StatusWord, sim_id: str) -> str:
    """What to call next, with its arguments."""
    poll = f'interview_status(sim_id="{sim_id}", run_id="{run.run_id}")'
    resume = f'resume_interviews(resume_token="{run.resume_token}")'
    if status in GOING_ON:
        return f"Poll {poll} every half minute or so; do not start it again."
    if status == "completed":
        names = ", ".join(run.record.methods)
        which = f'sim_id="{sim_id}", run_id="{run.run_id}"'
        return f"get_interview_report({which}), or get_interview_results({which}, methodology=…) with one of {names}."
    if status == "awaiting_simulation":
        return f"Once the simulation has completed: {resume}."
    if ran_short(run):
        return f"Ask the user for a larger cap, then {resume[:-1]}, budget_tokens={run.standing.enough_tokens})."
    return f"{resume}; what has been answered is kept and not asked again."


def run_text(state: RunState) -> str:
    """A few lines; everything that the calling model needs to go on."""
    note = f" ({state.note})" if state.note else ""
    shown = " It had been completed before; nobody was asked." if state.shown and state.status == "completed" else ""
    lines = [f"Run {state.run_id} of {state.sim_id}: {state.status}{note}.{shown}"]
    lines += [stage_text(stage) for stage in state.stages]
    lines.append(f"{state.calls:,} calls, {state.tokens:,} tokens; answered by {state.model}, in {state.language}.")
    if state.respondent == "synthetic":
        lines.append(SYNTHETIC)
    lines += [f"Found: {finding}" for finding in state.findings]
    lines += [f"Before the data are used: {flag}" for flag in state.flags]
    if state.flags_total > len(state.flags):
        lines.append(f"… and {state.flags_total - len(state.flags)} more in the report.")
    return "\n".join([*lines, f"Next: {state.next}"])


def stage_text(stage: Stage) -> str:
    answers = ", ".join(f"{n:,} {name}" for name, n in stage.answers.items() if n) or "no answers yet"
    reached = f"{stage.n_responded}/{stage.n_total} agents"
    return f"- {stage.methodology} {stage.phase}: {stage.outcome}, {reached}, {answers}"


def estimate_state(estimate: Estimate) -> EstimateState:
    made = {"parts", "notes"}
    return EstimateState(
        **{name: getattr(estimate, name) for name in EstimateState.model_fields if name not in made},
        parts=[EstimatePart(claim=claim, tokens=tokens) for claim, tokens in estimate.by_claim().items()],
        notes=[cut(note, FLAG_CHARS) for note in estimate.notes],
    )


def estimate_text(state: EstimateState) -> str:
    tokens, usd = state.tokens, state.usd
    cost = f"{usd.low:.2f} to {usd.high:.2f} USD" if usd else f"cost unknown ({', '.join(state.unpriced)})"
    above = f"above the cap ({state.exceeds}): conduct_interviews needs a larger budget_tokens or confirm=true"
    parts = ", ".join(f"{part.claim} {part.tokens.likely:,.0f}" for part in state.parts)
    is_synthetic = state.respondent == "synthetic"
    free = " The synthetic respondent answers: nothing is sent and nothing costs." if is_synthetic else ""
    if state.batches:
        time = f"at half the price, in about {state.batches} batches one after another, each of up to 24 hours"
    elif state.seconds:
        time = f"about {state.seconds.likely:,.0f} s"
    else:
        time = "time unknown, since a model on this machine answers"
    return (
        f"{state.agents} agents: {state.calls.likely:,.0f} calls, {tokens.low:,.0f} to {tokens.high:,.0f} tokens, "
        f"likely {tokens.likely:,.0f}; {cost}; {time}. The cap is {state.cap_tokens:,} tokens: "
        f"{above if state.exceeds else 'within the cap'}.{free}\nLikely tokens by part: {parts}."
    )


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# --- MCP tools that begin, go on with, pause and watch runs


PROGRESS_EVERY_S = 0.5
LONGEST_WAIT_S = 3600

SimId: TypeAlias = Annotated[str, Field(description="as list_simulations names it")]
RunIdArgument: TypeAlias = Annotated[str | None, Field(description=f"run_id or resume token; {CURRENT_RUN}")]
ABOUT_A_RUN = {name: client_parameter(name) for name in fields_about("study", "driving", at="mcp")}
STARTING = {**ABOUT_A_RUN, **{name: client_parameter(name) for name in fields_about("start", at="mcp")}}
RESUMING = {name: client_parameter(name) for name in fields_about("driving", "resume", at="mcp")}
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
class StartedTask:
    """A run on disk that goes on in the background: nobody had to be asked."""

    task: Task


def can_elicit(ctx: Ctx) -> bool:
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    return declared is not None and (declared.form is not None or declared.url is None)


@with_parameters(STARTING)
async def begin(ctx: Ctx, sim_id: str, **asked: Any) -> StartedTask | Elicit[Approval]:
    """The run begun, or the question to the user. Where the client cannot ask, over budget is an error."""
    with explain_errors(ctx) as server:
        try:
            task = await server.tasks.start(sim_id, **asked)
        except OverBudget as over:
            if not can_elicit(ctx):
                raise
            return Elicit(approval_question(over.estimate), Approval)
    return StartedTask(task)


@with_parameters(STARTING)
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
    with explain_errors(ctx) as server:
        if isinstance(begun, AcceptedElicitation) and isinstance(begun.data, StartedTask):
            return await watched(ctx, begun.data.task, sim_id, wait_seconds)
        if not isinstance(begun, AcceptedElicitation) or not begun.data.go_ahead:
            raise ToolError("the user did not approve of going over the budget; nothing was asked")
        if begun.data.budget_tokens is not None and begun.data.budget_tokens <= 0:
            raise ToolError(f"the user's budget_tokens: {begun.data.budget_tokens} is not above 0; nothing was asked")
        more = {"budget_tokens": begun.data.budget_tokens} if begun.data.budget_tokens else {}
        task = await server.tasks.start(sim_id, **{**asked, **more, "confirm": True})
        return await watched(ctx, task, sim_id, wait_seconds)


@with_parameters(RESUMING)
async def resume_interviews(
    ctx: Ctx,
    resume_token: Annotated[str, Field(description="resume_token of a run, or its run_id")],
    wait_seconds: WaitArgument = 50,
    **asked: Any,
) -> Annotated[CallToolResult, RunState]:
    """Go on with a run that is paused, failed or waits for its simulation. What was answered is not asked again.

    budget_tokens is the new cap for the whole run, earlier sessions included. Waits like conduct_interviews.
    """
    with explain_errors(ctx) as server:
        task = await server.tasks.resume(resume_token, **asked)
        return await watched(ctx, task, None, wait_seconds)


async def pause_interviews(
    ctx: Ctx, run_id: Annotated[str, Field(description="a run that this server is driving")]
) -> Annotated[CallToolResult, RunState]:
    """Pause a run that goes on in the background: calls in flight finish, the rest can be resumed by its token."""
    with explain_errors(ctx) as server:
        task = server.tasks.driven(run_id.partition(".")[0])
        if task is None:
            raise ToolError("this server does not drive such a run right now; interview_status tells how far it is")
        task.pause()
        run = await task.end()
        return await shown(server, lambda: run, None)


async def interview_status(
    ctx: Ctx, sim_id: SimId, run_id: RunIdArgument = None
) -> Annotated[CallToolResult, RunState]:
    """How far a run is, per methodology and phase, what it has cost, and what to call next. Asks nobody anything."""
    with explain_errors(ctx) as server:

        def look() -> Run:
            run = server.sandbox.run(sim_id, run_id)
            run.shown = False  # nothing was asked for, so nothing needs explaining
            return run

        return await shown(server, look, sim_id)


async def watched(ctx: Ctx, task: Task, sim_id: str | None, seconds: float) -> CallToolResult:
    """The run at its end, or as it stands after `seconds`. A cancelled request pauses it."""
    try:
        run = await followed(ctx, task, seconds)
    except asyncio.CancelledError:
        task.pause()
        raise
    return await shown(server_state(ctx), lambda: run or Run(task.folder), sim_id)


async def followed(ctx: Ctx, task: Task, seconds: float) -> Run | None:
    """Wait and report progress, which counts agents over all rounds: how many rounds come is not known."""
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


async def shown(server: ServerState, find: Callable[[], Run], sim_id: str | None) -> CallToolResult:
    def read() -> CallToolResult:
        run = find()
        state = run_state(run, server.task_of(run), server.mask, sim_id)
        return answer(state, run_text(state))

    return await run_in_thread(lambda: retry_read(read))


# --- The MCP tool that drafts instruments. Asks nobody, and costs nothing


MOST_FINDINGS, MOST_THEMES = 3, 20
"""Of a file; of a draft."""


class DraftState(ReviewedDraft):
    """Its text is a resource."""

    resource_uri: str


class DraftsState(BaseModel):
    sim_id: str
    themes: list[str]
    files: list[DraftState]
    next: str


@with_parameters(taken(DraftRequest))
def draft_instruments(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, DraftsState]:
    """Draft an instrument for every methodology that can, by rule, from what the agents of a simulation wrote, or how
    they are described. Drafts are read, and shown to the user, before they are asked."""
    with explain_errors(ctx) as server:
        made = draft_on_server(server.sandbox, sim_id, DraftRequest(**sent(asked)))
        files = [
            DraftState(
                name=draft.name, methodology=draft.methodology, resource_uri=f"enquete://drafts/{draft.name}",
                findings=[cut(finding, FLAG_CHARS) for finding in draft.findings[:MOST_FINDINGS]],
            )
            for draft in made.files
        ]  # fmt: skip
        first = next(draft for draft in files if draft.methodology)
        named = json.dumps({first.methodology: first.name})
        then = f'read them, then estimate_interviews(sim_id="{made.sim_id}", instruments={named}).'
        state = DraftsState(sim_id=sim_id, themes=made.themes[:MOST_THEMES], files=files, next=then)
        lines = [f"Drafted by rule for {sim_id}, on: {', '.join(state.themes)}."]
        lines += [f"- {draft.name} ({draft.methodology or 'for settings'}): {draft.resource_uri}" for draft in files]
        lines += [f"{draft.name}: {finding}" for draft in files for finding in draft.findings]
        return answer(state, "\n".join([*lines, f"Next: {state.next}"]))
