"""What is drawn is what runs: the nodes that a real run of each graph passes are those of its drawing, all of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from enquete.graphs.interviews import interviews_graph
from enquete.methods.registry import dotted_paths, methodologies
from enquete.runs.begin_run import begin
from enquete.runs.run_choice import choose_run
from enquete.runs.run_session import using
from enquete.state.request import parse_request
from enquete.state.settings import Environment
from tests.support.bare_runs import unwritten
from tests.support.populations import mirofish_folder

SETTINGS: dict[str, dict[str, Any]] = {
    "delphi": {"second_coding": True},
    "laddering": {"turns": 3},
    "discovery": {"questions": 2},
    "roundtable": {"size": 2, "groups": 1, "controls": 1, "rounds": 2, "least_rounds": 2},
}
"""So that every branch is taken once."""
DRAWN_ONLY = ("__start__", "__end__")


def drawn_nodes(graph: Any) -> set[str]:
    """Nodes by their path, such as laddering:hold_interviews:extraction, without those that are drawn as a graph."""
    nodes = graph.get_graph(xray=True).nodes
    return {name for name in nodes if name.rpartition(":")[2] not in DRAWN_ONLY}


async def visited_nodes(graph: Any, folder: Path) -> set[str]:
    """Nodes that a run passes, by the same path."""
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 1000}
    visited = set()
    async with using(str(folder)):
        events = graph.astream({"run": str(folder)}, config, stream_mode="tasks", subgraphs=True)
        async for namespace, task in events:
            parts = (part.partition(":")[0] for part in namespace)
            path = [part for part in parts if not part.isdecimal()]  # one of several interviews of a task
            visited.add(":".join([*path, task["name"]]))
    has_inside = {path.rpartition(":")[0] for path in visited}
    return {path for path in visited if path not in has_inside and path.rpartition(":")[2] not in DRAWN_ONLY}


@pytest.mark.parametrize("name", sorted(methodologies()))
def test_the_nodes_that_a_run_passes_are_those_of_the_drawing(tmp_path: Path, name: str) -> None:
    """Of each methodology in its parent graph, with a second respondent, so that the critic works too."""
    request = parse_request(
        sim=str(mirofish_folder(tmp_path / "sim_1", 3)), methods=[name], respondent="synthetic", respondent_b=True,
        settings={name: SETTINGS[name]} if name in SETTINGS else {},
    )  # fmt: skip
    choice, population = choose_run(request, Environment.read(), dotted_paths())

    async def go() -> set[str]:
        await begin(choice, population)
        return await visited_nodes(graph, choice.folder)

    graph = interviews_graph(name, [name], unwritten)
    assert asyncio.run(go()) == drawn_nodes(graph)
