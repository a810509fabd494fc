"""The parent graph: all methodologies over one population, from loading it to the synthesis.

A study of both waves, with the pause between them, goes first. The others wait for the simulation as well, since they
ask what agents remember of it, and follow side by side. `gate` stops for budget
and people, the critic compares two respondents where there are two, and `synthesis` writes up what was found. The same
graph with one methodology is what runs when that is studied on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from enquete.graphs.checked import CheckedGraph
from enquete.graphs.comparison import comparison
from enquete.methods.registry import dotted_paths, methodologies
from enquete.nodes.ask import Channels
from enquete.nodes.await_simulation import await_simulation
from enquete.nodes.crash import record_crash, record_critic_crash
from enquete.nodes.dispatch import after_first, after_gate, send_first, send_others
from enquete.nodes.gate import gate
from enquete.nodes.load_population import load_population
from enquete.nodes.pin_instruments import pin_instruments
from enquete.nodes.synthesis import Closed, Synthesise, synthesis
from enquete.runs.run_session import RunSession
from enquete.state.channels import InterviewsInput, InterviewsOutput, InterviewsState
from enquete.state.request import RunRequest


async def write_report(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """Write the report. Statistics and charts are imported here, because interviews do not need them."""
    from enquete.reports.synthesis import synthesise as write_up  # noqa: PLC0415

    return await write_up(run_session, planned, partial=partial)


def interviews_graph(
    title: str,
    names: Iterable[str],
    write_report: Synthesise = write_report,
    *,
    context: type[BaseModel] = RunRequest,
    graphs: Mapping[str, Any] | None = None,
) -> CheckedGraph:
    """Return the parent graph over these methodologies, compiled.

    It has no checkpointer: the façade or LangGraph Studio brings its own.

    Args:
        title: Of the graph, as Studio shows it.
        names: Methodologies, by name.
        write_report: Called by `synthesis`.
        context: Schema of the runtime context: what a run is asked for besides the graph's input.
        graphs: name → compiled graph; the methodologies' own unless given.
    """
    methods = {name: methodologies()[name] for name in names}
    graphs = graphs or {name: methodology.graph() for name, methodology in methods.items()}
    available = {name: dotted_paths()[name] for name in methods}
    two_waves = [name for name, methodology in methods.items() if {"T0", "T1"} <= set(methodology.phases)]
    others = [name for name in methods if name not in two_waves]

    async def load(state: InterviewsState, runtime: Runtime[Any]) -> Channels:
        return await load_population(state, runtime.context, available)

    async def stop_or_go_on(state: InterviewsState, runtime: Runtime[Any]) -> Channels:
        return await gate(state, runtime.context)

    async def write_up(state: InterviewsState) -> Channels:
        return await synthesis(state, write_report)

    builder = StateGraph(
        InterviewsState, context_schema=context, input_schema=InterviewsInput, output_schema=InterviewsOutput
    )
    builder.add_node("load_population", load)
    builder.add_node("pin_instruments", pin_instruments)
    for name in two_waves:
        builder.add_node(name, graphs[name], error_handler=crash_handler(name, takes_both_waves=True))
    builder.add_node("await_simulation", await_simulation)
    for name in others:
        builder.add_node(name, graphs[name], error_handler=crash_handler(name, takes_both_waves=False))
    builder.add_node("gate", stop_or_go_on, defer=True)  # once, after all that run side by side
    builder.add_node("critic", comparison, error_handler=handle_critic_crash)
    builder.add_node("synthesis", write_up)

    builder.add_edge(START, "load_population")
    builder.add_edge("load_population", "pin_instruments")
    builder.add_conditional_edges("pin_instruments", send_first, [*two_waves, "await_simulation", "gate"])
    for name in two_waves:
        builder.add_conditional_edges(name, after_first, ["await_simulation", "gate"])
    builder.add_conditional_edges("await_simulation", send_others, ["await_simulation", *others, "gate"])
    for name in others:
        builder.add_edge(name, "gate")
    builder.add_conditional_edges("gate", after_gate, [*two_waves, *others, "critic", "synthesis"])
    builder.add_edge("critic", "gate")
    builder.add_edge("synthesis", END)
    return CheckedGraph.of(builder.compile(name=title))


def crash_handler(name: str, *, takes_both_waves: bool) -> Any:
    """Return the error handler of a methodology's graph: the methodology is recorded as failed, the parent goes on.

    A node that crashed does not follow its own edges, so the handler says where the graph goes.
    """

    async def handle_crash(state: Mapping[str, Any], error: NodeError) -> Command[Any]:
        update = await record_crash(state, error, name)
        following = await after_first({"run": state["run"]}) if takes_both_waves else "gate"
        return Command(update=update, goto=following)

    return handle_crash


async def handle_critic_crash(state: Mapping[str, Any], error: NodeError) -> Command[Any]:
    """Record a critic that crashed, and return to the gate, which passes on to the synthesis."""
    return Command(update=await record_critic_crash(state, error), goto="gate")
