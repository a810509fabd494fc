"""MCP tools that begin, go on with, pause and watch runs, and draft instruments; and what every request works with: the
simulations under the root, the runs that this server drives, errors in the words of a model that calls tools.

MCP tools that ask nobody anything: estimates, results, report, lists, exports.
"""

import asyncio
import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar
from urllib.parse import quote

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import CallToolResult
from pydantic import BaseModel, Field, JsonValue

import enquete
from enquete.interfaces.cli.terminal import short
from enquete.interfaces.mcp import shapes
from enquete.interfaces.mcp.shapes import (
    CALLER,
    Entry,
    EstimatePart,
    EstimateState,
    RunState,
    SectionOf,
    answer,
    leading_findings,
)
from enquete.interfaces.parameters import COUNTING_RUN, CURRENT_RUN, client_parameter, sent, taken, with_parameters
from enquete.interfaces.server_state import Mask, advice
from enquete.interfaces.views import (
    GOING_ON,
    Episode,
    Stage,
    StatusWord,
    findings_of,
    instrument_rows,
    progress_of,
    ran_short,
    report_of,
    retry_read,
    search_episodes,
    simulation_row,
    status_of,
)
from enquete.ledger.connection import DatabaseError
from enquete.runs.estimate import Estimate
from enquete.simulations.locate import KnownSimulation
from enquete.state.asking import Spoken
from enquete.state.channels import Event
from enquete.state.errors import EnqueteError, InputError, OverBudget, machine_limit
from enquete.state.request import DraftRequest, FileFormat, MemorySearch, fields_about
from enquete.study.background import run_in_thread
from enquete.study.drafts import ReviewedDraft, draft_on_server
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox, Task, Tasks

# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.


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
    except (EnqueteError, OSError, MemoryError, DatabaseError) as error:
        raise ToolError(error_words(error, server.mask)) from error


def error_words(error: Exception, mask: Mask) -> str:
    """The message of anything raised on purpose, and what to call instead."""
    if isinstance(error, OverBudget):
        return over_budget(error)
    if not isinstance(error, EnqueteError):
        what = machine_limit(error) or getattr(error, "strerror", None) or error
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
    if state.seconds:
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


# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.


# --- Findings and reports in pieces that fit a context window --------------------------------------------------------

PAGE_CHARS = 6000
ENTRY_CHARS = 2000
"""A longer value is taken apart into its members."""
PATH_CHARS = 300
CUT_CHARS = 500
FRAME_CHARS = 24  # {"path":"","value":},

BEGINNING = "beginning"
FACTS = "facts"

K = TypeVar("K", str, int)


def as_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entries(value: JsonValue, path: str = "") -> Iterator[Entry]:
    """The value, taken apart as far as no entry is longer than ENTRY_CHARS.

    Members that are short stay together: part of a mapping under the mapping's own path, part of a list under
    `path[first:end]`. Texts that are longer are cut, and say so.
    """
    if len(as_json(value)) <= ENTRY_CHARS:
        yield Entry(path=shown_path(path), value=value)
    elif isinstance(value, dict):
        for part in gathered(list(value.items())):
            (name, inner), *more = part
            if more or size_of(name, inner) <= ENTRY_CHARS:
                yield Entry(path=shown_path(path), value=dict(part))
            else:
                yield from entries(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for slice_ in gathered(list(enumerate(value))):
            (first, inner), *others = slice_
            if others or size_of(first, inner) <= ENTRY_CHARS:
                yield Entry(
                    path=shown_path(f"{path}[{first}:{first + len(slice_)}]"), value=[each for _, each in slice_]
                )
            else:
                yield from entries(inner, f"{path}[{first}]")
    else:
        text = str(value)
        yield Entry(path=shown_path(path), value=f"{text[:CUT_CHARS]}… ({len(text)} characters; whole in the resource)")


def gathered(members: Sequence[tuple[K, JsonValue]]) -> Iterator[list[tuple[K, JsonValue]]]:
    """Neighbours that together are no longer than ENTRY_CHARS; a longer one stands alone."""
    part: list[tuple[K, JsonValue]] = []
    room = ENTRY_CHARS
    for name, inner in members:
        size = size_of(name, inner)
        if part and size > room:
            yield part
            part, room = [], ENTRY_CHARS
        part.append((name, inner))
        room -= size
    if part:
        yield part


def size_of(name: str | int, inner: JsonValue) -> int:
    return len(as_json({str(name): inner}))


def shown_path(path: str) -> str:
    return path if len(path) <= PATH_CHARS else f"…{path[1 - PATH_CHARS :]}"


def pages_of(values: Sequence[Entry]) -> list[list[Entry]]:
    """Entries in their order, as many a page as PAGE_CHARS allow. At least one page."""
    pages: list[list[Entry]] = [[]]
    room = PAGE_CHARS
    for entry in values:
        size = len(as_json(entry.value)) + len(entry.path) + FRAME_CHARS
        if pages[-1] and size > room:
            pages.append([])
            room = PAGE_CHARS
        pages[-1].append(entry)
        room -= size
    return pages


def in_sections(result: JsonValue) -> dict[str, JsonValue]:
    """A methodology's results: what is one value each together as `facts`, then every table that has rows."""
    result = result if isinstance(result, dict) else {}
    lists = {name: value for name, value in result.items() if isinstance(value, list) and value}
    tables: dict[str, JsonValue] = {name: rows for name, rows in lists.items() if isinstance(rows[0], dict)}
    return {FACTS: {name: value for name, value in result.items() if name not in tables}, **tables}


def report_sections(markdown: str) -> dict[str, str]:
    """By heading of the second level, in order; what stands before the first is the beginning."""
    sections: dict[str, str] = {}
    name = BEGINNING
    for line in markdown.splitlines(keepends=True):
        if line.startswith("## "):
            name = line[3:].strip()
        sections[name] = sections.get(name, "") + line
    return sections


def text_pages(text: str) -> list[str]:
    """At line ends where there are any. At least one page."""
    pages = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), PAGE_CHARS):
            piece = line[start : start + PAGE_CHARS]
            if pages[-1] and len(pages[-1]) + len(piece) > PAGE_CHARS:
                pages.append("")
            pages[-1] += piece
    return pages


class NoSuchPart(InputError):
    """A section or page that there is none of; the message lists those there are."""


def require_section(section: str, known: Sequence[str]) -> str:
    """By name, upper or lower case. Raises NoSuchPart listing the sections."""
    for name in known:
        if name.casefold() == section.strip().casefold():
            return name
    raise NoSuchPart(f"section: {section[:100]!r} is none of {', '.join(known)}.")


def require_page(page: int, pages: int) -> int:
    """Counted from 1. Raises NoSuchPart."""
    if not 1 <= page <= pages:
        known = "there is only page 1" if pages == 1 else f"there are pages 1 to {pages}"
        raise NoSuchPart(f"page: {page} is none; {known}.")
    return page


# --- The tools -------------------------------------------------------------------------------------------------------

A_PAGE = 25
MOST_SECTIONS = 60
LONGEST_EPISODE = 250
MOST_TYPES, TOPIC_CHARS = 8, 200
"""Of a simulation in the list."""

StoredRun: TypeAlias = Annotated[str | None, Field(description=f"run_id or resume token; {COUNTING_RUN}")]
FormatsArgument: TypeAlias = Annotated[
    list[FileFormat],
    Field(description="also write the data so: sav (SPSS) and xlsx for people, parquet and csv for programs"),
]
Page: TypeAlias = Annotated[int, Field(ge=1, description="counted from 1")]


@with_parameters(ABOUT_A_RUN)
async def estimate_interviews(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, shapes.EstimateState]:
    """What conduct_interviews with these arguments would cost: calls, tokens, money, time. Asks nobody anything."""
    with explain_errors(ctx) as server:

        def estimated() -> shapes.EstimateState:
            """In a loop of its own: it reads the whole simulation."""
            server.sandbox.simulation(sim_id)
            return estimate_state(asyncio.run(enquete.aestimate(sim_id, **server.sandbox.given, **asked)))

        state = await run_in_thread(estimated)
        return answer(state, estimate_text(state))


def get_interview_results(
    ctx: Ctx,
    sim_id: SimId,
    methodology: Annotated[str, Field(description="as in the run's stages: longitudinal, delphi, …")],
    section: Annotated[str | None, Field(description="one of the sections; without it, their list")] = None,
    page: Page = 1,
    run_id: StoredRun = None,
    language: Annotated[
        Spoken, Field(description="of the sentences and labels; what was said stays as it was")
    ] = CALLER,
) -> Annotated[CallToolResult, shapes.ResultsState]:
    """Findings of one methodology. Call it without a section first: it says them in ten sentences and lists the
    sections."""
    with explain_errors(ctx) as server:
        run, findings = findings_of(server.sandbox, sim_id, methodology, run_id)
        parts = in_sections(shapes.rounded(findings))
        pages: list[list[Entry]] = [[]]
        if section is not None:
            section = require_section(section, list(parts))
            pages = pages_of(list(entries(parts[section])))
        chosen = pages[require_page(page, len(pages)) - 1]
        state = shapes.ResultsState(
            run_id=run.run_id, methodology=methodology, section=section, page=page, pages=len(pages), findings=[],
            sections=[], entries=chosen, labels=shapes.labels(run, chosen, language),
            resource_uri=uri(sim_id, run.run_id, "results", methodology),
        )  # fmt: skip
        if section is None:
            state.findings = shapes.finding_lines(run, methodology, findings, language)
            state.digest = shapes.digest(run, methodology, findings, language)
            state.sections = [
                SectionOf(name=name, chars=len(as_json(value)), pages=len(pages_of(list(entries(value)))))
                for name, value in parts.items()
            ]
        return answer(state, results_text(state, synthetic=run.record.main.respondent == "synthetic"))


def results_text(state: shapes.ResultsState, *, synthetic: bool) -> str:
    where = f", section {state.section}" if state.section else ""
    lines = [f"{state.methodology} of {state.run_id}{where}, page {state.page} of {state.pages}."]
    lines += [SYNTHETIC] if synthetic else []
    lines += [f"Found: {finding}" for finding in state.findings]
    lines += [(f"{entry.path}: " if entry.path else "") + as_json(entry.value) for entry in state.entries]
    lines += [f"{id_}: {label}" for id_, label in state.labels.items()]
    return "\n".join([*lines, *sections_text(state.sections), f"Everything: {state.resource_uri}"])


def sections_text(sections: list[SectionOf]) -> list[str]:
    listed = "; ".join(f"{section.name} ({section.pages})" for section in sections)
    return [f"Sections (pages): {listed}"] if sections else []


def get_interview_report(
    ctx: Ctx,
    sim_id: SimId,
    section: Annotated[str | None, Field(description="one of the report's headings; without it, their list")] = None,
    page: Page = 1,
    run_id: StoredRun = None,
) -> Annotated[CallToolResult, shapes.ReportState]:
    """The report, in Markdown and in the run's language. Call it without a section first: it gives page one and the
    contents."""
    with explain_errors(ctx) as server:
        run = server.sandbox.finished(sim_id, run_id)
        parts = report_sections(report_of(server.sandbox, run))
        sections = [SectionOf(name=name, chars=len(text), pages=len(text_pages(text))) for name, text in parts.items()]
        wanted = require_section(section, list(parts)) if section else None
        pages = text_pages(parts[wanted] if wanted else run.brief)
        markdown = pages[require_page(page, len(pages)) - 1]
        state = shapes.ReportState(
            run_id=run.run_id, section=wanted, page=page, pages=len(pages),
            sections=sections[:MOST_SECTIONS] if section is None else [], markdown=markdown,
            resource_uri=uri(sim_id, run.run_id, "report"),
        )  # fmt: skip
        return answer(state, "\n".join([markdown, *sections_text(state.sections), f"Everything: {state.resource_uri}"]))


def list_simulations(ctx: Ctx, page: Page = 1) -> Annotated[CallToolResult, shapes.SimulationsState]:
    """The simulations that can be interviewed, and the latest run of each."""
    with explain_errors(ctx) as server:
        known = server.sandbox.simulations()
        pages = [known[start : start + A_PAGE] for start in range(0, len(known), A_PAGE)] or [[]]
        on_page = [simulation_state(server, each) for each in pages[require_page(page, len(pages)) - 1]]
        state = shapes.SimulationsState(simulations=on_page, total=len(known), page=page, pages=len(pages))
        lines = [f"{len(known)} simulations, page {page} of {len(pages)}.", *map(simulation_text, on_page)]
        return answer(state, "\n".join(lines))


def simulation_state(server: ServerState, known: KnownSimulation) -> shapes.SimulationState:
    row = simulation_row(server.sandbox, known, server.task_of, server.mask)
    latest = {"latest_run_id": row.runs[0].run_id, "latest_status": row.runs[0].status} if row.runs else {}
    types = dict(list(row.types.items())[:MOST_TYPES])
    facts = {**vars(row), "topic": cut(row.topic, TOPIC_CHARS), "types": types, "runs": len(row.runs)}
    return shapes.SimulationState(**facts, **latest)


def simulation_text(state: shapes.SimulationState) -> str:
    types = ", ".join(f"{kind} {n}" for kind, n in state.types.items())
    end = "completed" if state.completed else f"not completed ({state.status})"
    latest = f", latest {state.latest_run_id} ({state.latest_status})" if state.latest_run_id else ""
    latest = f", cannot be used: {state.problem}" if state.problem else latest
    about = f"{state.topic or 'no topic stated'}; {state.agents} agents ({types}); {end}"
    return f"- {state.sim_id}: {about}; {state.runs} runs{latest}"


def list_instruments(ctx: Ctx) -> Annotated[CallToolResult, shapes.InstrumentsState]:
    """The methodologies that can be named in conduct_interviews: topic, languages, items, what each answers, whether it
    needs a T0; and the instruments of this server's own folder."""
    with explain_errors(ctx) as server:
        rows = instrument_rows(Path(server.sandbox.given["own_folder"]), server.mask)
        state = shapes.InstrumentsState(
            instruments=[
                shapes.InstrumentState(
                    **vars(row), resource_uri="" if row.file else f"enquete://instruments/{row.methodology}"
                )
                for row in rows
            ]
        )
        return answer(state, "\n".join(map(instrument_text, state.instruments)))


def instrument_text(row: shapes.InstrumentState) -> str:
    before = "; asked before the simulation, too (T0)" if row.needs_t0 else ""
    about = f"{row.answers} Topic: {row.topic}; {row.items} items in {', '.join(row.languages)}{before}"
    if row.file:
        return f"- file {row.file} for {row.methodology}: {row.problem or about}"
    return f"- {row.methodology}: {about} ({row.resource_uri})"


@with_parameters({name: taken(MemorySearch)[name] for name in ("query", "agent")})
def search_memory(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, shapes.EpisodesState]:
    """What agents said in the interviews of a simulation, found by words: a summary for each agent, methodology and
    phase."""
    with explain_errors(ctx) as server:
        wanted = MemorySearch(**sent(asked), limit=A_PAGE)
        records, warning = search_episodes(server.sandbox, sim_id, wanted)
        episodes = [Episode.of(record, LONGEST_EPISODE) for record in records]
        state = shapes.EpisodesState(warning=warning, episodes=episodes)
        lines = [*filter(None, [state.warning]), *(f"- {episode.text}" for episode in state.episodes)]
        return answer(state, "\n".join(lines) or "Nothing that was said fits.")


def export_responses(
    ctx: Ctx,
    sim_id: SimId,
    run_id: StoredRun = None,
    formats: FormatsArgument = [],  # noqa: B006 - the SDK wants a list, which nobody changes
) -> Annotated[CallToolResult, shapes.ExportState]:
    """Write the run's data files and report again from its ledger, and say where they can be read. Asks nobody."""
    with explain_errors(ctx) as server:
        run = server.sandbox.finished(sim_id, run_id)
        server.sandbox.require_inside(run.path)
        folder = enquete.export(sim_id, run.run_id, root=str(server.sandbox.root)) / "exports"
        with (folder / "all_responses.csv").open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.reader(opened)
            columns, rows = next(reader, []), sum(1 for _ in reader)
        if formats:
            run.export(*formats)
        address = partial(uri, sim_id, run.run_id, "exports")
        files = [
            shapes.ExportedFile(name=name, bytes=file.stat().st_size, resource_uri=address(name))
            for name, file in exported(folder).items()
        ]
        missing = run.missing
        state = shapes.ExportState(run_id=run.run_id, rows=rows, columns=columns, files=files, missing=missing)
        lines = [*missing, f"{rows:,} rows, one an answer. Files of {run.run_id}:"]
        lines += [f"- {file.name}, {file.bytes:,} bytes: {file.resource_uri}" for file in files]
        return answer(state, "\n".join([*lines, "Columns: " + ", ".join(columns)]))


def exported(folder: Path) -> dict[str, Path]:
    """Files of a run's exports, by their path below it."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file for file in sorted(files)}
