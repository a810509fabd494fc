"""The outermost graph as LangGraph Studio and the façade run it: input and context are checked in our own words, and the drawing
leaves out error handlers, which the library draws as nodes and has no option for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from enquete.nodes.resuming import require_acceptable
from enquete.state.channels import InterviewsInput
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest, parse_request

HANDLER = "__error_handler__"
KNOWN = tuple(InterviewsInput.__annotations__)
NOT_BEGUN = (
    "this thread has no run to go on with: it was never started, or its start was refused. Start it with an input ({} for the "
    "demo) and its context, which a resume does not repeat"
)


class Unfiltered(dict[str, Any]):
    """The agent server drops what a context's schema does not have, before a graph could refuse it: here it has everything."""

    def __contains__(self, key: object) -> bool:
        return True


class EntryGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """Compiled graphs take keys that they do not know without a word: a mistyped `sim` would interview the demo. So would the
    resume of a thread that has no run: to the library it is a start with nothing said."""

    async def astream(self, input: Any, config: Any = None, *, context: Any = None, **more: Any) -> AsyncIterator[Any]:
        if isinstance(input, Mapping):
            require_known(input)
        else:
            await self._require_resumable(input, config)
        async for event in super().astream(input, config, context=as_request(context), **more):
            yield event

    async def _require_resumable(self, command: Any, config: Any) -> None:
        """Before the library keeps the value: it would give a refused one to the node again, whatever it is resumed with next.

        Raises SettingsError, InputError.
        """
        snapshot = await self.aget_state(config)
        run = snapshot.values.get("run")
        if not run:
            raise SettingsError(NOT_BEGUN)
        for stop in snapshot.interrupts if isinstance(command, Command) and command.resume is not None else ():
            by_id = isinstance(command.resume, Mapping) and stop.id in command.resume
            await require_acceptable(run, command.resume[stop.id] if by_id else command.resume, stop.value)

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        schema = super().get_context_jsonschema()
        return {**schema, "properties": Unfiltered(schema["properties"])} if schema else None

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(await super().aget_graph(config, xray=xray))


def require_known(given: Mapping[str, Any]) -> None:
    """Raises SettingsError for a key that the graph does not start from."""
    for name in given:
        if name not in KNOWN:
            there = "; it is part of the context" if name in RunRequest.model_fields else ""
            raise SettingsError(f"input: {name}: there is no such field{there}; there are {', '.join(KNOWN)}")


def as_request(context: Any) -> Any:
    """Raises SettingsError naming the field, its value and what would be right."""
    return parse_request(**context) if isinstance(context, Mapping) else context


def without_handlers(drawn: Graph) -> Graph:
    for node in [node for name, node in drawn.nodes.items() if HANDLER in name]:
        drawn.remove_node(node)
    return drawn
