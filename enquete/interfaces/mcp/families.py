"""Tools beside the default set: operations of methodologies, a family each, switched on by `enquete mcp --tools`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent

from enquete.interfaces.mcp.results import MAX_RESULT_CHARS
from enquete.interfaces.mcp.server_context import Ctx, explain_errors
from enquete.interfaces.parameters import sent, taken, with_parameters
from enquete.methods.registry import methodologies
from enquete.state.errors import SettingsError
from enquete.state.methodology import Offer, Operation
from enquete.study.method_operations import operate


def known_families() -> dict[str, Offer]:
    """Return what methodologies offer beside a run, by the family's name."""
    return {offer.command: offer for _, offer in _offers()}


def require_families(names: Sequence[str]) -> tuple[str, ...]:
    """Return families by their names, or by their methodologies' names, each once.

    Raises:
        SettingsError: there is no such family; the message lists those there are.
    """
    known = known_families()
    by_methodology = {methodology: offer.command for methodology, offer in _offers()}
    chosen: list[str] = []
    for name in names:
        family = name if name in known else by_methodology.get(name, "")
        if not family:
            raise SettingsError(f"--tools {name}: there is no such family of tools; there are {', '.join(known)}")
        if family not in chosen:
            chosen.append(family)
    return tuple(chosen)


def _offers() -> Iterator[tuple[str, Offer]]:
    for name, methodology in methodologies().items():
        if methodology.offers:
            yield name, methodology.offers


def make_operation_tool(operation: Operation, name: str) -> Callable[..., Any]:
    """Return a function that the SDK can read and that carries an operation out under this name."""

    async def tool(ctx: Ctx, **asked: Any) -> CallToolResult:
        with explain_errors(ctx) as server:
            where = server.sandbox.given
            result = await operate(operation.name, sent(asked), server.sandbox.root, where["own_folder"], server.tasks)
            text = json.dumps(result, ensure_ascii=False)
            if len(text) > MAX_RESULT_CHARS:
                beginning = text[: MAX_RESULT_CHARS // 2]
                result = {"shortened": f"{beginning} …", "characters": len(text)}
                text = f"{beginning} … (shortened from {len(text):,} characters; ask for one project or field)"
            return CallToolResult(content=[TextContent(type="text", text=text)], structured_content={"answer": result})

    tool.__name__, tool.__doc__ = name, operation.meaning
    return with_parameters(taken(operation.takes))(tool)
