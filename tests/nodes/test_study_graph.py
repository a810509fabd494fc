"""The outermost graph when a methodology's own graph crashes: recorded, siblings go on, the next walk tries again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from enquete.graphs.interviews import interviews_graph
from enquete.methods.registry import dotted_paths, methodologies
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import synthesise
from enquete.runs.begin_run import begin
from enquete.runs.planning import planned
from enquete.runs.run_choice import choose_run
from enquete.runs.run_session import using
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState
from enquete.state.request import RunRequest, parse_request
from enquete.state.settings import Environment
from tests.support.bare_runs import unwritten
from tests.support.populations import mirofish_folder, personas_file

METHODS = ["longitudinal", "delphi"]


class Crashing:
    """A graph in the place of a methodology's that raises while `broken`, else is the methodology's own."""

    def __init__(self, name: str):
        self.broken = True
        inner = methodologies()[name].graph()

        async def work(state: MethodologyState) -> dict[str, Any]:
            if self.broken:
                raise ZeroDivisionError("planted in the graph")
            return dict(await inner.ainvoke(state))

        builder = StateGraph(MethodologyState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
        builder.add_node("work", work)
        builder.add_edge(START, "work")
        builder.add_edge("work", END)
        self.graph = builder.compile(name="crashing")


def walk(graph: Any, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Outcomes by stage, and failures on record, after one walk."""

    async def go() -> tuple[dict[str, str], list[str]]:
        async with using(str(folder)) as run_session:
            await graph.ainvoke({"run": str(folder)}, context=RunRequest())
            stages = {f"{m}/{p}": stage.outcome for (m, p), stage in run_session.ledger.stages().items() if m}
            return stages, [failure.error for failure in run_session.ledger.failures()]

    return asyncio.run(go())


def test_a_crash_stays_with_its_methodology_and_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENQUETE_RAISE_BUGS")
    crashing = Crashing("longitudinal")
    graphs = {name: crashing.graph if name == "longitudinal" else methodologies()[name].graph() for name in METHODS}
    graph = interviews_graph("test", METHODS, unwritten, graphs=graphs)
    request = parse_request(sim=str(personas_file(tmp_path / "p.json", 4)), out=str(tmp_path / "out"), methods=METHODS)
    choice, population = choose_run(request, Environment.read(), dotted_paths())
    asyncio.run(begin(choice, population))
    stages, failures = walk(graph, choice.folder)
    assert stages == {"longitudinal/T1": "failed", "delphi/T1": "done"}
    assert failures == ["ZeroDivisionError: planted in the graph"]
    crashing.broken = False
    stages, failures = walk(graph, choice.folder)
    assert stages == {"longitudinal/T1": "done", "delphi/T1": "done"}
    assert failures == []


def test_a_crash_of_the_only_methodology_is_written_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENQUETE_RAISE_BUGS")
    graph = interviews_graph("test", ["delphi"], synthesise, graphs={"delphi": Crashing("delphi").graph})
    request = parse_request(
        sim=str(personas_file(tmp_path / "p.json", 2)), out=str(tmp_path / "out"), methods=["delphi"]
    )
    choice, population = choose_run(request, Environment.read(), dotted_paths())
    asyncio.run(begin(choice, population))
    assert walk(graph, choice.folder) == ({"delphi/T1": "failed"}, ["ZeroDivisionError: planted in the graph"])
    with open_run(choice.folder) as reading:
        assert reading.stages["", "synthesis"] == "failed"


def test_what_is_planned_follows_the_baseline(tmp_path: Path) -> None:
    """T0 is asked where it is measured or reconstructed; a personas file has one wave."""
    asked = {}
    for name, path in (
        ("sim", mirofish_folder(tmp_path / "sim_1", 3)),
        ("people", personas_file(tmp_path / "p.json", 3)),
    ):
        request = parse_request(sim=str(path), out=str(tmp_path / "out"), methods=METHODS)
        asked[name] = planned(choose_run(request, Environment.read(), dotted_paths())[0].record)
    assert asked["sim"] == [("longitudinal", "T0"), ("longitudinal", "T1"), ("delphi", "T1")]
    assert asked["people"] == [("longitudinal", "T1"), ("delphi", "T1")]
