"""Operations of methodologies as MCP tools: a tool each, its arguments those that the operation takes."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools.

import json
from collections.abc import Callable
from typing import Annotated, Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from enquete.interfaces.mcp.server_state import Ctx, told
from enquete.interfaces.mcp.shapes import MOST_CHARS
from enquete.interfaces.service.declared import Parameter, taking
from enquete.state.operations import Operation
from enquete.study.operating import operate

HALF = MOST_CHARS // 2


class Answered(BaseModel):
    """What the operation gave."""

    answer: dict[str, Any]


def as_tool(operation: Operation) -> Callable[..., Any]:
    """A function that the SDK can read."""

    async def tool(ctx: Ctx, **asked: Any) -> Annotated[CallToolResult, Answered]:
        with told(ctx) as desk:
            said = {name: value for name, value in asked.items() if value is not None}
            where = desk.sandbox.given
            found = await operate(operation.name, said, desk.sandbox.root, where["shelf"], desk.tasks)
            text = json.dumps(found, ensure_ascii=False)
            if len(text) > MOST_CHARS:
                found = {"shortened": f"{text[:HALF]} …", "characters": len(text)}
                text = f"{text[:HALF]} … (shortened from {len(text):,} characters; ask for one project or field)"
            return CallToolResult(content=[TextContent(type="text", text=text)], structured_content={"answer": found})

    tool.__name__, tool.__doc__ = operation.name, operation.meaning
    return taking(parameters(operation))(tool)


def parameters(operation: Operation) -> dict[str, Parameter]:
    return {name: _parameter(info) for name, info in operation.takes.model_fields.items()}


def _parameter(info: FieldInfo) -> Parameter:
    """What is left out is for the operation's own defaults to decide."""
    kind: Any = info.annotation
    told = Field(description=info.description)
    return (Annotated[kind, told], ...) if info.is_required() else (Annotated[kind | None, told], None)
