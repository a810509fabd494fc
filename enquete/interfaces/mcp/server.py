"""The MCP server: tools, resources and a prompt over one root. The work is done by the façade."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from enquete.interfaces.mcp import results, running
from enquete.interfaces.mcp.as_tools import as_tool
from enquete.interfaces.mcp.office import Office
from enquete.interfaces.mcp.resources import add_resources
from enquete.interfaces.mcp.tools import strict_tool
from enquete.study.operating import operations

INSTRUCTIONS = """\
Enquete interviews the simulated stakeholders of an OASIS simulation with scientific instruments.
The usual order: list_simulations, list_instruments, estimate_interviews, conduct_interviews, interview_status while it is
running, then get_interview_report and get_interview_results. Interviews may cost money: show the estimate to the user first.
Answers come from a model or from the built-in synthetic respondent, never from people unless one was asked to take part; say so
with every figure."""

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)

TOOLS: tuple[tuple[Callable[..., Any], str, ToolAnnotations], ...] = (
    (results.list_simulations, "List simulations", READS),
    (results.list_instruments, "List instruments", READS),
    (results.estimate_interviews, "Estimate interviews", READS),
    (running.conduct_interviews, "Conduct interviews", ASKS),
    (running.interview_status, "Interview status", READS),
    (running.resume_interviews, "Resume interviews", ASKS),
    (running.pause_interviews, "Pause interviews", WRITES),
    (results.get_interview_results, "Results of a methodology", READS),
    (results.get_interview_report, "Report", READS),
    (results.search_memory, "Search interviews", READS),
    (results.export_responses, "Export responses", WRITES),
)


def make_server(office: Office) -> MCPServer[Office]:
    """A server whose sessions share one office; who serves it closes the office's tasks."""

    @asynccontextmanager
    async def shared(_: MCPServer[Office]) -> AsyncIterator[Office]:
        yield office

    server = MCPServer[Office](
        "enquete",
        title="Enquete",
        instructions=INSTRUCTIONS,
        version=version("enquete"),
        lifespan=shared,
        log_level="WARNING",
        tools=[
            *(strict_tool(tool, title, hints) for tool, title, hints in TOOLS),
            *(strict_tool(as_tool(one), one.title, READS if one.reads else ASKS) for _, one in operations().values()),
        ],
    )
    add_resources(server)
    return server
