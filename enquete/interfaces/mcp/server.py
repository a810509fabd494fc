"""The MCP server: tools, resources and a prompt over one root, served over stdio and over streamable HTTP. HTTP stays
on this machine unless a token protects it.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import inspect
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError
from starlette.types import ASGIApp

import enquete
from enquete.instruments.load import shipped_file
from enquete.interfaces.mcp import tools
from enquete.interfaces.mcp import tools as reading
from enquete.interfaces.mcp.shapes import MOST_CHARS
from enquete.interfaces.mcp.tools import Ctx, ServerState, error_words, explain_errors, exported, server_state
from enquete.interfaces.parameters import sent, taken, with_parameters
from enquete.interfaces.server_state import (
    PromptHeaders,
    ServerSettings,
    StoppableServer,
    address,
    bound,
    mask_of,
    on_signals,
    read_token,
)
from enquete.interfaces.views import findings_of, report_of, retry_read
from enquete.interfaces.web.security import Guard
from enquete.methods.registry import methodologies
from enquete.runs.own_files import file_in
from enquete.state.errors import EnqueteError, complaints
from enquete.state.methodology import Operation
from enquete.study.background import run_in_thread
from enquete.study.method_operations import operate, operations
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox, Tasks

# --- Published schemas without what no caller needs: a calling model always has those of all tools in its context

NAMES = ("properties", "$defs")
"""Keywords whose members are called by names of our own."""
LENGTHS = ("minLength", "maxLength", "minItems", "maxItems", "pattern", "patternProperties")
MADE_UP = ("title",)
"""By pydantic, of the names."""
TOLD_ELSEWHERE = ("description", "default", "required")
"""Of results: docs/interfaces.md says what they hold, and whatever a schema names is always there."""
NULL = {"type": "null"}
ANYTHING = "JsonValue"
HOLDS_UNSAID: tuple[tuple[str, Any], ...] = (
    ("additionalProperties", True), ("additionalProperties", {"$ref": f"#/$defs/{ANYTHING}"}), ("default", False),
    ("default", ""), ("default", []), ("exclusiveMinimum", 0), ("$ref", f"#/$defs/{ANYTHING}"),
)  # fmt: skip
LARGE = 10**6
"""A bound that nobody means to reach."""

Schema = dict[str, Any]


def input_schema(schema: Schema) -> Schema:
    """What may be left out is left out rather than null, which is taken all the same; what is too long or too much is
    told by the tool. Nothing else is taken."""
    short = _without(schema, (*MADE_UP, *LENGTHS))
    fields = {name: _not_null(field) for name, field in short["properties"].items()}
    whole = {**short, "properties": fields, "additionalProperties": False}
    return {**whole, "$defs": _said_once(short["$defs"])} if "$defs" in short else whole


def _said_once(kinds: Mapping[str, Schema]) -> Schema:
    """What several kinds have in common is explained with the first."""
    told = set[tuple[str, str]]()
    kept = {}
    for kind, schema in kinds.items():
        fields = {}
        for name, field in schema.get("properties", {}).items():
            known = (name, field.get("description", ""))
            fields[name] = {
                key: value for key, value in _not_null(field).items() if key != "description" or known not in told
            }
            told.add(known)
        kept[kind] = {**schema, "properties": fields} if fields else schema
    return kept


def output_schema(schema: Schema) -> Schema:
    """Names and kinds."""
    return _without(schema, (*MADE_UP, *TOLD_ELSEWHERE))


def _without(schema: Mapping[str, Any], left_out: tuple[str, ...]) -> Schema:
    short: Schema = {}
    for key, value in schema.items():
        if (key, value) in HOLDS_UNSAID or (key == "maximum" and value >= LARGE):
            continue
        if key in NAMES:
            kept = {name: _without(part, left_out) for name, part in value.items() if name != ANYTHING}
            short |= {key: kept} if kept or key == "properties" else {}
        elif isinstance(value, dict):
            short[key] = _without(value, left_out)
        elif key == "anyOf":
            short |= _either([_without(part, left_out) for part in value])
        elif key not in left_out:
            short[key] = value
    return short


def _either(kinds: list[Schema]) -> Schema:
    """A kind or null, where that is a matter of `type` alone."""
    others = [kind for kind in kinds if kind != NULL]
    if len(others) == len(kinds) or len(others) > 1 or "$ref" in others[0] or "enum" in others[0]:
        return {"anyOf": kinds}
    return {**others[0], "type": [others[0]["type"], "null"]}


def _not_null(argument: Schema) -> Schema:
    """Of one that is null where it is not sent."""
    if argument.get("default", ...) is not None:
        return argument
    kept = {key: value for key, value in argument.items() if key != "default"}
    if isinstance(kept.get("type"), list):
        kept["type"] = kept["type"][0]
    if "anyOf" in kept:
        others = [kind for kind in kept.pop("anyOf") if kind != NULL]
        kept |= others[0] if len(others) == 1 else {"anyOf": others}
    return kept


LONGEST_SHOWN = 60
UNFIT_REPLY = (
    "the reply to the question whether to go ahead does not fit it: go_ahead is true or false, budget_tokens a whole "
    "number above 0, or left out. Nothing was asked."
)


class StrictTool(Tool):
    """The SDK's tool drops arguments that it does not know: a mistyped budget would leave the default cap."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Raises ToolError naming the argument, its value and what would be right."""
        known = list(self.parameters["properties"])
        unknown = [name for name in arguments if name not in known]
        if unknown:
            raise ToolError(f"{self.name}: {unknown_argument(unknown[0], known)}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            told = in_words(error)
            if told is None:
                raise
            raise ToolError(f"{self.name}: {told}") from error


def strict_tool(offered: ListedTool) -> StrictTool:
    """The tool, with concise schemas that say that nothing else is taken."""
    meaning = " ".join((offered.does.__doc__ or "").split())
    tool = StrictTool.from_function(
        unhurried(offered.does), title=offered.title, description=meaning, annotations=offered.hints
    )
    assert isinstance(tool, StrictTool)  # from_function is a class method
    tool.parameters = input_schema(tool.parameters)
    schema = output_schema(tool.fn_metadata.output_schema or {})
    described = {"type": "object", "description": offered.returns}
    tool.fn_metadata.output_schema = described if offered.returns else schema
    return tool


def unhurried(function: Callable[..., Any]) -> Callable[..., Any]:
    """What reads files, in a thread of its own: the SDK's are few, and the process would wait for them to end."""
    if inspect.iscoroutinefunction(function):
        return function

    @functools.wraps(function)
    async def aside(*given: Any, **named: Any) -> Any:
        return await run_in_thread(lambda: function(*given, **named))

    return aside


def unknown_argument(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"there is no argument {name[:LONGEST_SHOWN]!r}{meant}; it takes {', '.join(known) or 'none'}."


def in_words(error: ToolError) -> str | None:
    """What was wrong with arguments, or with what the client sent as its user's reply; None for any other error."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return f"{complaints(cause)}."
    if isinstance(cause, ToolError) and isinstance(cause.__cause__, ValueError):
        return UNFIT_REPLY
    return None


# --- MCP resources: the full data that the tools give in pieces; and the prompt that plans a study -------------------

T = TypeVar("T")

MOST_BYTES = 50_000_000
TEXTS = (".csv", ".json", ".jsonl", ".md")


def report(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """The whole report of a run."""
    server, run = _run(ctx, sim_id, run_id)
    return _told(server, lambda: report_of(server.sandbox, run))


def codebook(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """What every column and item of all_responses.csv means."""
    server, run = _run(ctx, sim_id, run_id)
    return _read(server, run.path / "exports" / "codebook.md")


def results(sim_id: str, run_id: str, methodology: str, ctx: Ctx) -> str:
    """All findings of one methodology."""
    server, run = _run(ctx, sim_id, run_id)
    _, findings = _told(server, lambda: findings_of(server.sandbox, sim_id, methodology, run.run_id))
    return json.dumps(findings, ensure_ascii=False)


def export(sim_id: str, run_id: str, name: str, ctx: Ctx) -> str | bytes:
    """A data file of a run, as export_responses lists them."""
    server, run = _run(ctx, sim_id, run_id)
    known = exported(run.path / "exports")
    if name not in known:
        there = ", ".join(known) or "none"
        raise ResourceNotFoundError(f"no file {name[:100]!r} of run {run.run_id}; there are: {there}")
    return _read(server, known[name]) if known[name].suffix in TEXTS else _bytes(server, known[name])


def draft(folder: str, name: str, ctx: Ctx) -> str:
    """A draft, as draft_instruments lists them."""
    server = server_state(ctx)
    return _told(server, lambda: file_in(server.sandbox.given["own_folder"], f"{folder}/{name}").read_text("utf-8-sig"))


def _run(ctx: Ctx, sim_id: str, run_id: str) -> tuple[ServerState, Run]:
    server = server_state(ctx)
    return server, _told(server, lambda: server.sandbox.finished(sim_id, run_id))


def _told(server: ServerState, work: Callable[[], T]) -> T:
    """Errors raised on purpose, in words. Raises ResourceNotFoundError."""
    try:
        return retry_read(work)
    except EnqueteError as error:
        raise ResourceNotFoundError(error_words(error, server.mask)) from error


def _read(server: ServerState, path: Path) -> str:
    """Raises as `_bytes`."""
    return _bytes(server, path).decode("utf-8-sig")


def _bytes(server: ServerState, path: Path) -> bytes:
    """Raises ResourceNotFoundError, and ResourceError where it is too large for a message."""
    _told(server, lambda: server.sandbox.require_inside(path))
    if not path.is_file():
        raise ResourceNotFoundError(f"{path.name} has not been written yet; export_responses writes it")
    if path.stat().st_size > MOST_BYTES:
        size = f"{path.stat().st_size:,} bytes, more than {MOST_BYTES:,}"
        raise ResourceError(f"{path.name} has {size}: read it on the server")
    return path.read_bytes()


def instrument_reader(name: str) -> Callable[[], str]:
    def instrument() -> str:
        file = shipped_file(methodologies()[name].instrument, name)
        if file is None:
            raise ResourceNotFoundError(f"no instrument ships for {name}")
        return file.read_text("utf-8")

    return instrument


def plan_a_stakeholder_study(
    topic: Annotated[str, Field(description="what is to be found out; asked for where it is left out")] = "",
    sim_id: Annotated[str, Field(description="a simulation, if it is chosen already")] = "",
    budget_tokens: Annotated[str, Field(description="what may be spent, if it is known")] = "",
) -> str:
    """Steps from a question to a report that can be defended, by the tools of this server."""
    methods = "\n".join(f"   - {name}: {titles.get('en', name)}" for name, titles in enquete.list_instruments().items())
    chosen = f"The simulation is {sim_id}." if sim_id else "Choose a simulation with list_simulations, and say why."
    cap = f" The budget is {budget_tokens} tokens." if budget_tokens else ""
    on = f" on: {topic}" if topic else ". Ask me first what is to be found out."
    return f"""Plan a study with simulated stakeholders{on}

1. {chosen}{cap}
2. Say which question each methodology would answer, and leave out those that answer none of ours (list_instruments; the
   questions themselves are resources enquete://instruments/NAME):
{methods}
3. Change between before (T0) and after (T1) can be told only if T0 is taken before the simulation runs. Say \
whether it was.
4. Call estimate_interviews. Show me calls, tokens, money and time, and wait for my approval. Never pass confirm=true by
   yourself.
5. Call conduct_interviews; while it is "running", poll interview_status. Where it stops, tell me why, and what \
resume_interviews
   would cost.
6. Read get_interview_report, its section on limits first, then get_interview_results where a figure matters. Give \
counts
   (answered / asked) beside every figure and every flag that is shown.
7. Say what such answers cannot show: they come from a model, or from the synthetic respondent, not from people."""


def add_resources(server: MCPServer[ServerState]) -> None:
    """Resources by address, and the prompt."""
    base = "enquete://runs/{sim_id}/{run_id}"
    server.resource(f"{base}/report", title="Report", mime_type="text/markdown")(unhurried(report))
    server.resource(f"{base}/codebook", title="Codebook", mime_type="text/markdown")(unhurried(codebook))
    server.resource(f"{base}/results/{{methodology}}", title="Findings", mime_type="application/json")(
        unhurried(results)
    )
    server.resource(f"{base}/exports/{{name}}", title="Data file", mime_type="text/plain")(unhurried(export))
    server.resource("enquete://drafts/{folder}/{name}", title="Draft", mime_type="application/yaml")(unhurried(draft))
    for name, titles in enquete.list_instruments().items():
        title = titles.get("en", name)
        add = server.resource(f"enquete://instruments/{name}", name=name, title=title, mime_type="application/yaml")
        add(unhurried(instrument_reader(name)))
    server.prompt(title="Plan a stakeholder study")(plan_a_stakeholder_study)


# --- Operations of methodologies as MCP tools: a tool each, its arguments those that the operation takes -------------

HALF = MOST_CHARS // 2
ANSWER = "its `answer`"


def as_tool(operation: Operation) -> Callable[..., Any]:
    """A function that the SDK can read."""

    async def tool(ctx: Ctx, **asked: Any) -> CallToolResult:
        with explain_errors(ctx) as server:
            where = server.sandbox.given
            result = await operate(operation.name, sent(asked), server.sandbox.root, where["own_folder"], server.tasks)
            text = json.dumps(result, ensure_ascii=False)
            if len(text) > MOST_CHARS:
                result = {"shortened": f"{text[:HALF]} …", "characters": len(text)}
                text = f"{text[:HALF]} … (shortened from {len(text):,} characters; ask for one project or field)"
            return CallToolResult(content=[TextContent(type="text", text=text)], structured_content={"answer": result})

    tool.__name__, tool.__doc__ = operation.name, operation.meaning
    return with_parameters(taken(operation.takes))(tool)


# What is not said holds: not read-only, open to the world (a model is asked).
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(destructive_hint=False, idempotent_hint=True)


class ListedTool(NamedTuple):
    """A tool; `returns`: where another one publishes what this one returns, too, in words."""

    does: Callable[..., Any]
    title: str
    hints: ToolAnnotations
    returns: str = ""


STATE = f"as {tools.interview_status.__name__} returns it"
FAMILIES: Mapping[str, tuple[ListedTool, ...]] = {
    "To find out what there is to interview and to ask, before anything else": (
        ListedTool(reading.list_simulations, "List simulations", READS),
        ListedTool(reading.list_instruments, "List instruments", READS),
    ),
    "Where no instrument is on the topic, to have questions made of what the agents wrote": (
        ListedTool(tools.draft_instruments, "Draft instruments", WRITES),
    ),
    "To put the same questions to a whole population, for figures, groups and change (the usual study), in this "
    "order": (
        ListedTool(reading.estimate_interviews, "Estimate interviews", READS),
        ListedTool(tools.conduct_interviews, "Conduct interviews", ASKS, STATE),
        ListedTool(tools.interview_status, "Interview status", READS),
        ListedTool(tools.resume_interviews, "Resume interviews", ASKS, STATE),
        ListedTool(tools.pause_interviews, "Pause interviews", WRITES, STATE),
    ),
    "To read what a study found, the report first, a methodology where a figure matters": (
        ListedTool(reading.get_interview_report, "Report", READS),
        ListedTool(reading.get_interview_results, "Results of a methodology", READS),
        ListedTool(reading.search_memory, "Search interviews", READS),
        ListedTool(reading.export_responses, "Export responses", WRITES),
    ),
}
"""Tools by what they are taken for, as the server's instructions tell; methodologies add theirs (`offers`)."""

INSTRUCTIONS = """\
Enquete interviews the simulated stakeholders of an OASIS simulation with scientific instruments. Which tools to \
take when:
{families}
Interviews may cost money: show the user the estimate first, and never confirm by yourself. Answers come from a model \
or from the
built-in synthetic respondent, never from people unless one was asked to take part; say so with every figure."""


def instructions() -> str:
    """Every tool, by family."""
    families = [(why, [tool.does.__name__ for tool in tools]) for why, tools in FAMILIES.items()]
    offers = [method.offers for method in methodologies().values() if method.offers]
    families += [(offer.taken_for, [operation.name for operation in offer.operations()]) for offer in offers]
    return INSTRUCTIONS.format(families="\n".join(f"- {why}: {', '.join(names)}" for why, names in families))


def make_server(server_state: ServerState) -> MCPServer[ServerState]:
    """A server whose sessions share one state; who serves it closes the state's tasks."""

    @asynccontextmanager
    async def shared(_: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
        yield server_state

    offered = [tool for family in FAMILIES.values() for tool in family]
    for _, operation in operations().values():
        hints = READS if operation.reads else ASKS
        offered.append(ListedTool(as_tool(operation), operation.title, hints, ANSWER))
    server = MCPServer[ServerState](
        "enquete",
        title="Enquete",
        instructions=instructions(),
        version=version("enquete"),
        lifespan=shared,
        log_level="WARNING",
        tools=[*map(strict_tool, offered)],
    )
    add_resources(server)
    return server


MOST_BODY_BYTES = 1_000_000
GRACE_S = 2
LAST_WORDS_S = 0.5
"""Time for answers of calls that waited for runs which have just been paused."""


def make_server_state(root: Path) -> ServerState:
    sandbox = PathSandbox(root)
    return ServerState(sandbox, Tasks(sandbox), mask_of(sandbox.root))


async def serve_stdio(server_state: ServerState) -> None:
    """Until the client closes the stream, or a signal: runs that go on are paused then."""
    loop, signalled = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        loop.call_soon_threadsafe(signalled.set)

    with on_signals(stop):
        serving = asyncio.create_task(make_server(server_state).run_stdio_async())
        waiting = asyncio.create_task(signalled.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await server_state.tasks.close()
        if signalled.is_set():
            await asyncio.sleep(LAST_WORDS_S)
            leave()
        waiting.cancel()
        await serving


def leave() -> None:
    """With exit code 0. The thread that reads stdin cannot be woken: an ordinary end would wait for a next line."""
    sys.stderr.flush()
    os._exit(0)


@dataclass(frozen=True)
class HttpServer:
    """Listening already, so that its address is true; `serve` answers."""

    server: StoppableServer
    listening: socket.socket

    @property
    def url(self) -> str:
        return f"{address(self.listening)}/mcp"

    async def serve(self) -> None:
        """Until interrupted; runs that go on are paused then."""
        await self.server.serve(sockets=[self.listening])


@contextmanager
def http_server(server_state: ServerState, host: str, port: int, allowed: list[str]) -> Iterator[HttpServer]:
    """Raises SettingsError where the address cannot be had, or would be open to others without a token."""
    config = uvicorn.Config(
        http_app(server_state, host, allowed), http=PromptHeaders, log_level="warning", access_log=False, ws="none",
        timeout_graceful_shutdown=GRACE_S,
    )  # fmt: skip
    with bound(host, port) as taken:
        yield HttpServer(StoppableServer(config, server_state.tasks.close), taken)


def http_app(server_state: ServerState, host: str, allowed: list[str]) -> ASGIApp:
    """The application, at /mcp, behind the HTTP API's guard. Raises SettingsError as `http_server` does."""
    settings = ServerSettings(
        root=server_state.sandbox.root, host=host, token=read_token(), allow_hosts=tuple(allowed), local_origins=True,
        largest_body=MOST_BODY_BYTES,
    )  # fmt: skip
    # The guard has looked at Host and Origin.
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = make_server(server_state).streamable_http_app(
        transport_security=guarded, max_request_body_size=MOST_BODY_BYTES, host=host
    )
    return Guard(app, settings)
