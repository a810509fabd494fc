"""A compiled graph that refuses what it does not know, in our own words.

LangGraph drops keys of an input that no channel has: a mistyped `sim` would interview the demo. The resume of a thread
that has no run is a start with nothing said, and a resume value with which a node has failed is given to it again,
whatever comes next. So input, context and resume values are checked here before LangGraph takes them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import BaseModel

from enquete.checkpoints.interrupts import require_acceptable
from enquete.runs.run_session import using
from enquete.runs.run_settings import recorded_settings, resolve_run_machine, settings_of
from enquete.state.channels import InterviewsInput
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest, parse_request, parsed
from enquete.state.settings import Environment

HANDLER = "__error_handler__"
NOT_BEGUN = (
    "this thread has no run to go on with: it was never started, or its start was refused. Start it with an input ({} "
    "for the demo) and its context, which a resume does not repeat"
)


class CheckedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """The parent graph as LangGraph Studio and the façade run it."""

    @classmethod
    def of(cls, compiled: CompiledStateGraph[Any, Any, Any, Any]) -> CheckedGraph:
        """Return this compiled graph, with checks."""
        return cls(**{name: value for name, value in vars(compiled).items() if name != "__orig_class__"})

    async def astream(self, input: Any, config: Any = None, *, context: Any = None, **more: Any) -> AsyncIterator[Any]:
        if isinstance(context, Mapping):
            context = self._read_context(context)
        if isinstance(input, Mapping):
            require_known(input)
        else:
            run = await self._require_resumable(input, config)
            await take_settings(run, context)
        async for event in super().astream(input, config, context=context, **more):
            yield event

    def _read_context(self, context: Mapping[str, Any]) -> BaseModel:
        """Return the context as this graph's schema has it. Raises SettingsError naming the field that is wrong."""
        schema: Any = self.builder.context_schema or RunRequest
        return parsed(schema, context)  # type: ignore[no-any-return]

    async def _require_resumable(self, command: Any, config: Any) -> str:
        """Return the thread's run; check that there is one, and that the resume value answers what it waits for.

        Raises:
            SettingsError, InputError: Neither is kept in the thread.
        """
        snapshot = await self.aget_state(config)
        run = snapshot.values.get("run")
        if not run:
            raise SettingsError(NOT_BEGUN)
        resume = command.resume if isinstance(command, Command) else None
        if resume is None:
            return str(run)
        for stop in snapshot.interrupts:
            value = resume[stop.id] if isinstance(resume, Mapping) and stop.id in resume else resume
            async with using(run) as session:
                require_acceptable(value, stop.value, session.ledger, session.population)
        return str(run)

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(await super().aget_graph(config, xray=xray))


async def take_settings(run: str, context: BaseModel | None) -> None:
    """Write down what a resume's context says about how the run is driven, which all nodes then read."""
    given = context.model_dump(exclude_unset=True) if context is not None else {}
    request = parse_request(**{name: value for name, value in given.items() if name in RunRequest.model_fields})
    if not request.model_fields_set:
        return  # the façade's driver has the run open already
    recorded = recorded_settings(Path(run))
    machine = resolve_run_machine(request, Environment.read(), recorded)
    if settings_of(machine) != recorded:
        async with using(run, machine):
            pass


def require_known(given: Mapping[str, Any]) -> None:
    """Check that the input has only fields of the graph's input schema. Raises SettingsError naming those there are."""
    known = InterviewsInput.model_fields
    for name in given:
        if name not in known:
            there = "; it is part of the context" if name in RunRequest.model_fields else ""
            raise SettingsError(f"input: {name}: there is no such field{there}; there are {', '.join(known)}")


def without_handlers(drawn: Graph) -> Graph:
    """Take error handlers out of a drawing, which the library draws as nodes and has no option for."""
    for node in [node for name, node in drawn.nodes.items() if HANDLER in name]:
        drawn.remove_node(node)
    return drawn
