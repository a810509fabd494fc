"""The MCP server: which tools there are, and how it is served over stdio and over streamable HTTP.

HTTP stays on this machine unless a token protects it.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import ValidationError
from starlette.types import ASGIApp

from enquete.interfaces.mcp import interview_tools, question_tools, reading_tools
from enquete.interfaces.mcp.families import known_families, make_operation_tool, require_families
from enquete.interfaces.mcp.resources import add_resources
from enquete.interfaces.mcp.server_context import ServerState
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
from enquete.interfaces.web.security import Guard
from enquete.state.errors import complaints
from enquete.study.tasks import PathSandbox, Tasks

MAX_SHOWN_CHARS = 60
UNFIT_REPLY = (
    "the reply to the question whether to go ahead does not fit it: go_ahead is true or false, budget_tokens a whole "
    "number above 0, or left out. Nothing was asked."
)


class StrictTool(Tool):
    """The SDK's tool drops arguments that it does not know: a mistyped budget would leave the default cap."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Call the tool. Raises ToolError naming the argument, its value and what would be right."""
        known = list(self.parameters["properties"])
        unknown = [name for name in arguments if name not in known]
        if unknown:
            raise ToolError(f"{self.name}: {explain_unknown_argument(unknown[0], known)}")
        said = {name: value for name, value in arguments.items() if value is not None or name not in self._optional}
        try:
            return await super().run(said, context, convert_result)
        except ToolError as error:
            words = explain_rejection(error)
            if words is None:
                raise
            raise ToolError(f"{self.name}: {words}") from error

    @property
    def _optional(self) -> set[str]:
        """Arguments that may be left out: many clients send null for those."""
        return set(self.parameters["properties"]) - set(self.parameters.get("required", ()))


def explain_unknown_argument(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"there is no argument {name[:MAX_SHOWN_CHARS]!r}{meant}; it takes {', '.join(known) or 'none'}."


def explain_rejection(error: ToolError) -> str | None:
    """Return what was wrong with arguments, or with the user's reply that a client sent; None for any other error."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return f"{complaints(cause)}."
    if isinstance(cause, ToolError) and isinstance(cause.__cause__, ValueError):
        return UNFIT_REPLY
    return None


# What is not said holds: not read-only, open to the world (a model is asked).
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(destructive_hint=False, idempotent_hint=True)


class ListedTool(NamedTuple):
    """A tool with what lists show of it."""

    function: Callable[..., Any]
    title: str
    hints: ToolAnnotations


DEFAULT_TOOLS = (
    ListedTool(question_tools.list_simulations, "List simulations", READS),
    ListedTool(question_tools.draft_questions, "Draft questions", ASKS),
    ListedTool(question_tools.save_questions, "Save questions", WRITES),
    ListedTool(interview_tools.conduct_interviews, "Conduct interviews", ASKS),
    ListedTool(interview_tools.interview_status, "Interview status", READS),
    ListedTool(interview_tools.control_interviews, "Pause, resume, budget", ASKS),
    ListedTool(reading_tools.read_report, "Read the report", READS),
    ListedTool(reading_tools.read_results, "Read findings", READS),
    ListedTool(reading_tools.read_answers, "Read answers", READS),
)

INSTRUCTIONS = """\
Enquete interviews the simulated stakeholders of an OASIS or MiroFish simulation with scientific instruments.
In this order: list_simulations; draft_questions or save_questions where the shipped questions are about something \
else; conduct_interviews (dry_run first); interview_status while it runs; read_results, read_answers for words to \
quote, read_report. Every result names its run, and `next` says what to call.
Interviews may cost money: show the user the estimate first. Answers come from a model or from the built-in synthetic \
respondent, never from people unless one was asked to take part; say so with every figure.
Resources: enquete://methodologies, enquete://options; the prompt run_a_study leads through a study."""
FURTHER_TOOLS = "\n{why}: {names}."
SWITCHED_OFF = "\nSwitched off, and switched on where this server is started (--tools NAME,…): {names}."


def write_instructions(families: Sequence[str]) -> str:
    """Return what the server tells a client about its tools."""
    known = known_families()
    text = INSTRUCTIONS
    for name in families:
        operations = ", ".join(operation.name for operation in known[name].operations())
        text += FURTHER_TOOLS.format(why=known[name].taken_for, names=operations)
    switched_off = [name for name in known if name not in families]
    return text + (SWITCHED_OFF.format(names=", ".join(switched_off)) if switched_off else "")


def make_tool(listed: ListedTool) -> StrictTool:
    """Return the SDK's tool of a typed function, which refuses arguments that it does not know."""
    meaning = " ".join((listed.function.__doc__ or "").split())
    tool = StrictTool.from_function(
        listed.function, title=listed.title, description=meaning, annotations=listed.hints
    )  # fmt: skip
    assert isinstance(tool, StrictTool)  # from_function is a class method
    tool.parameters["additionalProperties"] = False
    return tool


def family_tools(families: Sequence[str]) -> Iterator[ListedTool]:
    """Return the tools of the families that are switched on, under all their names."""
    known = known_families()
    for family in families:
        for operation in known[family].operations():
            hints = READS if operation.reads else ASKS
            for name in (operation.name, *operation.aliases):
                yield ListedTool(make_operation_tool(operation, name), operation.title, hints)


def make_server(server_state: ServerState) -> MCPServer[ServerState]:
    """Return a server whose sessions share one state; who serves it closes the state's tasks."""

    @asynccontextmanager
    async def shared(_: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
        yield server_state

    listed = [*DEFAULT_TOOLS, *family_tools(server_state.families)]
    server = MCPServer[ServerState](
        "enquete",
        title="Enquete",
        instructions=write_instructions(server_state.families),
        version=version("enquete"),
        lifespan=shared,
        log_level="WARNING",
        tools=[make_tool(tool) for tool in listed],
    )
    add_resources(server, server_state)
    return server


MOST_BODY_BYTES = 1_000_000
GRACE_S = 2
LAST_WORDS_S = 0.5
"""Time for answers of calls that waited for runs which have just been paused."""


def make_server_state(root: Path, families: Sequence[str] = ()) -> ServerState:
    """Return the state of a server on this root, with these families of tools switched on.

    Raises:
        SimulationNotFound: the root is no folder.
        SettingsError: the environment is wrong, or there is no such family.
    """
    sandbox = PathSandbox(root)
    return ServerState(sandbox, Tasks(sandbox), mask_of(sandbox.root), require_families(families))


async def close(server_state: ServerState) -> None:
    """Pause every run and give up drafts in the making; both can be gone on with."""
    for drafting in server_state.drafting.values():
        drafting.cancel()
    await server_state.tasks.close()


async def serve_stdio(server_state: ServerState) -> None:
    """Until the client closes the stream, or a signal: runs that go on are paused then."""
    loop, signalled = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        loop.call_soon_threadsafe(signalled.set)

    with on_signals(stop):
        serving = asyncio.create_task(make_server(server_state).run_stdio_async())
        waiting = asyncio.create_task(signalled.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await close(server_state)
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
        yield HttpServer(StoppableServer(config, partial(close, server_state)), taken)


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
