"""The graphs as Studio draws them, and langgraph.json. Both are made from the registry; pinned, so that a change is
meant.

After a meant change, or another methodology, `make graphs` writes langgraph.json and the drawings anew.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from enquete.methods.registry import dotted_paths, methodologies

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FILE = ROOT / "langgraph.json"
CONTENT = json.loads(FILE.read_text("utf-8"))
LISTED = CONTENT["graphs"]
SHARED = ("interviews", "checked", "contexts", "registry", "comparison")
"""Of graphs/, what belongs to no methodology; standalone.py has each by its name, for langgraph.json."""


def load(name: str) -> Any:
    module, _, attribute = LISTED[name]["path"].partition(":")
    return getattr(importlib.import_module(module), attribute)


def drawing(name: str) -> str:
    return str(load(name).get_graph(xray=True).draw_mermaid())


def listed() -> dict[str, dict[str, str]]:
    """What langgraph.json lists: the parent, and every methodology of this package with the first line of its
    package."""
    about = LISTED["interviews"]["description"]
    listing = {"interviews": {"path": "enquete.graphs.standalone:interviews", "description": about}}
    for name, dotted in dotted_paths().items():
        if dotted.startswith("enquete."):
            says = " ".join(str(importlib.import_module(dotted.partition(":")[0]).__doc__).split()).partition(": ")[2]
            description = f"{methodologies()[name].title} alone: {says}"
            listing[name] = {"path": f"enquete.graphs.standalone:{name}", "description": description}
    return listing


def test_langgraph_json_is_made_from_the_registry() -> None:
    assert listed() == LISTED


def test_names_are_unique_and_no_graph_brings_its_own_checkpointer() -> None:
    graphs = [load(name) for name in LISTED]
    graphs += [methodologies()[name].graph() for name in methodologies()]
    assert len({graph.name for graph in graphs}) == len(graphs)
    assert all(graph.checkpointer is None and graph.store is None for graph in graphs)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_drawing_is_the_pinned_one(name: str) -> None:
    assert drawing(name) == (HERE / "mermaid" / f"{name}.mmd").read_text("utf-8")


@pytest.mark.parametrize("name", sorted(LISTED))
def test_input_output_and_context_are_typed(name: str) -> None:
    """And the form of a methodology on its own asks for what it uses: its settings, and the probes that it offers."""
    graph = load(name)
    assert graph.get_input_jsonschema()["properties"].keys() == {"sim", "run"}
    assert {"status", "outcomes"} <= graph.get_output_jsonschema()["properties"].keys()
    context = graph.get_context_jsonschema()["properties"]
    assert {"language", "model", "budget_tokens"} <= context.keys()
    assert all("description" in field for field in context.values())
    if name == "interviews":
        assert context["methods"]["anyOf"][0]["items"]["enum"] == list(methodologies())
        return
    methodology = methodologies()[name]
    assert "methods" not in context
    assert ("phase" in context) == (len(methodology.phases) > 1)
    own = graph.get_context_jsonschema()["$defs"]
    probes = context["probes"]["items"]["enum"] if "probes" in context else []
    assert set(probes) - {"all"} == set(methodology.probes)
    if "settings" in context:
        (reference,) = (kind["$ref"] for kind in context["settings"]["anyOf"] if "$ref" in kind)
        form = own[reference.rpartition("/")[2]]["properties"]
        assert form.keys() <= methodology.settings.model_fields.keys()
        assert all("description" in field for field in form.values())


def test_nothing_outside_its_folder_knows_a_methodology_by_name() -> None:
    """Strings without blanks in code (docstrings are sentences) that name one: a key, a path, a choice."""
    package = ROOT / "enquete"
    naming = re.compile(rf"(?:^|\W)({'|'.join(methodologies())})(?:$|\W)")
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ("graphs", "methods") or path.stem in SHARED
        if any(name in (text := path.read_text("utf-8")) for name in methodologies())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value
        if naming.search(node.value)
    ]
    assert places == []


def test_dotted_paths_lead_to_the_methodologies() -> None:
    for name, dotted in dotted_paths().items():
        module, _, attribute = dotted.partition(":")
        assert getattr(importlib.import_module(module), attribute) is methodologies()[name]


if __name__ == "__main__":
    LISTED |= listed()
    FILE.write_text(json.dumps(CONTENT, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (HERE / "mermaid").mkdir(exist_ok=True)
    for graph_name in LISTED:
        (HERE / "mermaid" / f"{graph_name}.mmd").write_text(drawing(graph_name), "utf-8")
