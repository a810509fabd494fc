"""Tools that take what their schema names and nothing else, and say in plain words what does not fit."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from enquete.interfaces.mcp.schemas import input_schema, output_schema
from enquete.state.complaints import complaints
from enquete.study.threads import run_in_thread

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


def strict_tool(
    function: Callable[..., Any], title: str, annotations: ToolAnnotations, *, returns_as: str = ""
) -> StrictTool:
    """The tool, with concise schemas that say that nothing else is taken. `returns_as`: the tool that publishes what this one
    returns, too."""
    meaning = " ".join((function.__doc__ or "").split())
    tool = StrictTool.from_function(unhurried(function), title=title, description=meaning, annotations=annotations)
    assert isinstance(tool, StrictTool)  # from_function is a class method
    tool.parameters = input_schema(tool.parameters)
    own = tool.fn_metadata.output_schema or {}
    tool.fn_metadata.output_schema = (
        {"type": "object", "description": f"as {returns_as} returns it"} if returns_as else output_schema(own)
    )
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
