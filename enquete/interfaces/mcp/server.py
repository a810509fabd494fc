"""The MCP server: tools, resources and a prompt over one root. The work is done by the façade."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, NamedTuple

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from enquete.graphs.registry import methodologies
from enquete.interfaces.mcp import draft_instruments, queries, running
from enquete.interfaces.mcp.as_tools import as_tool
from enquete.interfaces.mcp.resources import add_resources
from enquete.interfaces.mcp.server_state import ServerState
from enquete.interfaces.mcp.tools import strict_tool
from enquete.state.imported import loaded
from enquete.study.operating import operations

# What is not said holds: not read-only, open to the world (a model is asked).
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(destructive_hint=False, idempotent_hint=True)


class Offered(NamedTuple):
    """A tool; `returns_as`: the one that publishes what this one returns, too."""

    does: Callable[..., Any]
    title: str
    hints: ToolAnnotations
    returns_as: str = ""


STATE = running.interview_status.__name__
FAMILIES: Mapping[str, tuple[Offered, ...]] = {
    "To find out what there is to interview and to ask, before anything else": (
        Offered(queries.list_simulations, "List simulations", READS),
        Offered(queries.list_instruments, "List instruments", READS),
    ),
    "Where no instrument is on the topic, to have questions made of what the agents wrote": (
        Offered(draft_instruments.draft_instruments, "Draft instruments", WRITES),
    ),
    "To put the same questions to a whole population, for figures, groups and change (the usual study), in this order": (
        Offered(queries.estimate_interviews, "Estimate interviews", READS),
        Offered(running.conduct_interviews, "Conduct interviews", ASKS, STATE),
        Offered(running.interview_status, "Interview status", READS),
        Offered(running.resume_interviews, "Resume interviews", ASKS, STATE),
        Offered(running.pause_interviews, "Pause interviews", WRITES, STATE),
    ),
    "To read what a study found, the report first, a methodology where a figure matters": (
        Offered(queries.get_interview_report, "Report", READS),
        Offered(queries.get_interview_results, "Results of a methodology", READS),
        Offered(queries.search_memory, "Search interviews", READS),
        Offered(queries.export_responses, "Export responses", WRITES),
    ),
}
"""Tools by what they are taken for, as the server's instructions tell it; methodologies add theirs (`Methodology.taken_for`)."""

INSTRUCTIONS = """\
Enquete interviews the simulated stakeholders of an OASIS simulation with scientific instruments. Which tools to take when:
{families}
Interviews may cost money: show the user the estimate first, and never confirm by yourself. Answers come from a model or from the
built-in synthetic respondent, never from people unless one was asked to take part; say so with every figure."""


def instructions() -> str:
    """Every tool, by family."""
    families = [(why, [one.does.__name__ for one in tools]) for why, tools in FAMILIES.items()]
    families += [
        (found.taken_for, [one.name for one in loaded(found.operations)])
        for found in methodologies().values()
        if found.operations
    ]
    return INSTRUCTIONS.format(families="\n".join(f"- {why}: {', '.join(names)}" for why, names in families))


def make_server(server_state: ServerState) -> MCPServer[ServerState]:
    """A server whose sessions share one state; who serves it closes the state's tasks."""

    @asynccontextmanager
    async def shared(_: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
        yield server_state

    server = MCPServer[ServerState](
        "enquete",
        title="Enquete",
        instructions=instructions(),
        version=version("enquete"),
        lifespan=shared,
        log_level="WARNING",
        tools=[
            *(
                strict_tool(one.does, one.title, one.hints, returns_as=one.returns_as)
                for of in FAMILIES.values()
                for one in of
            ),
            *(strict_tool(as_tool(one), one.title, READS if one.reads else ASKS) for _, one in operations().values()),
        ],
    )
    add_resources(server)
    return server
