"""The graphs as Studio draws them, and langgraph.json against the registry. Pinned: a change must be meant.

After a meant change: python -m tests.graphs.test_graphs rewrites the drawings.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.nodes.rounds import rounds_graph

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LISTED = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]


def load(name: str) -> Any:
    module, _, attribute = LISTED[name]["path"].partition(":")
    return getattr(importlib.import_module(module), attribute)


def drawing(name: str) -> str:
    return str(load(name).get_graph(xray=True).draw_mermaid())


def test_langgraph_json_lists_the_parent_and_every_methodology() -> None:
    assert LISTED.keys() == {"interviews", *methodologies()}
    for name in methodologies():
        assert LISTED[name]["path"] == f"enquete.graphs.standalone:{name}"


def test_names_are_unique_and_no_graph_brings_its_own_checkpointer() -> None:
    graphs = [load(name) for name in LISTED]
    graphs += [rounds_graph(name, methodology.steps) for name, methodology in methodologies().items()]
    assert len({graph.name for graph in graphs}) == len(graphs)
    assert all(graph.checkpointer is None and graph.store is None for graph in graphs)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_drawing_is_the_pinned_one(name: str) -> None:
    assert drawing(name) == (HERE / "mermaid" / f"{name}.mmd").read_text("utf-8")


def test_a_reader_of_studio_recognises_the_steps() -> None:
    nodes = set(load("interviews").get_graph(xray=True).nodes)
    for wanted in ("await_simulation", "gate", "synthesis", "longitudinal_T0:ask_wave", "longitudinal_T1:ask_wave",
                   "delphi:ask_panel", "delphi:feedback"):  # fmt: skip
        assert wanted in nodes


@pytest.mark.parametrize("name", sorted(LISTED))
def test_input_output_and_context_are_typed(name: str) -> None:
    graph = load(name)
    assert graph.get_input_jsonschema()["properties"].keys() == {"sim", "run"}
    assert {"status", "outcomes"} <= graph.get_output_jsonschema()["properties"].keys()
    context = graph.get_context_jsonschema()["properties"]
    assert {"language", "model", "budget_tokens"} <= context.keys()
    assert all("description" in context[field] for field in ("model", "language", "methods"))


def test_dotted_paths_lead_to_the_methodologies() -> None:
    for name, dotted in dotted_paths().items():
        module, _, attribute = dotted.partition(":")
        assert getattr(importlib.import_module(module), attribute) is methodologies()[name]


if __name__ == "__main__":
    (HERE / "mermaid").mkdir(exist_ok=True)
    for graph_name in LISTED:
        (HERE / "mermaid" / f"{graph_name}.mmd").write_text(drawing(graph_name), "utf-8")
