"""Knowledge graphs as files: GraphML of every agent's and of the pooled one; the implication matrix as a table, the
codebook, the interviews with their codes in the margin."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import yaml

from enquete.reports.markdown import escape
from enquete.state.showing import as_cell

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
ElementTree.register_namespace("", GRAPHML)


Facts = Mapping[str, str | int | float | bool]
KINDS: Mapping[type, str] = {bool: "boolean", int: "long", float: "double", str: "string"}


def agents_graphml(graphs: Sequence[Mapping[str, Any]]) -> str:
    """One GraphML of all agents' graphs side by side; node ids are "<participant>/<node>"."""
    nodes: dict[str, Facts] = {}
    edges: list[tuple[str, str, Facts]] = []  # two relationships of different types may join the same concepts
    for one in graphs:
        who = one["participant"]
        for node in one["nodes"]:
            nodes[f"{who}/{node['id']}"] = {
                "participant": who,
                "label": _text(node["text"]),
                "type": node["type"],
                "turn": node["turn"],
                "confidence": node["confidence"],
                "retracted": node.get("retracted", False),
                "elements": ", ".join(node["elements"]),
                "sources": "; ".join(source["utterance"] for source in node["sources"]),
                "quote": _text(node["sources"][0]["quote"]),
            }
        for edge in one["edges"]:
            facts = {
                "type": edge["type"],
                "turn": edge["turn"],
                "confidence": edge["confidence"],
                "sources": "; ".join(source["utterance"] for source in edge["sources"]),
                "quote": _text(edge["sources"][0]["quote"]),
            }
            edges.append((f"{who}/{edge['source']}", f"{who}/{edge['target']}", facts))
    return _graphml(nodes, edges)


def pooled_graphml(concepts: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]) -> str:
    """The pooled graph: concepts with their agents, direct links with theirs."""
    nodes: dict[str, Facts] = {
        concept["id"]: {
            "label": _text(concept["label"]),
            "type": concept["type"],
            "agents": concept["agents"],
            "opposite": _text(concept.get("opposite", "")),
        }
        for concept in concepts
    }
    edges: list[tuple[str, str, Facts]] = [
        (cell["source"], cell["target"], {"weight": cell["direct"], "direct": cell["direct"], "indirect": cell["indirect"],
                                          "relation": cell.get("relation", "")})
        for cell in cells if cell["direct"]
    ]  # fmt: skip
    return _graphml(nodes, edges)


def _graphml(nodes: Mapping[str, Facts], edges: Sequence[tuple[str, str, Facts]]) -> str:
    """Keys are named after what they are of ("node.turn"): Gephi, as yEd does, takes whatever is numbered d3 for a node's label
    and d7 for an edge's (ImporterGraphML.java). Edges have ids of their own."""
    root = ElementTree.Element(f"{{{GRAPHML}}}graphml")
    kinds = {("node", name): type(fact) for facts in nodes.values() for name, fact in facts.items()}
    kinds |= {("edge", name): type(fact) for *_, facts in edges for name, fact in facts.items()}
    for (of, name), kind in kinds.items():
        about = {"id": f"{of}.{name}", "for": of, "attr.name": name, "attr.type": KINDS[kind]}
        ElementTree.SubElement(root, f"{{{GRAPHML}}}key", about)
    graph = ElementTree.SubElement(root, f"{{{GRAPHML}}}graph", {"edgedefault": "directed"})
    for name, facts in nodes.items():
        _told(ElementTree.SubElement(graph, f"{{{GRAPHML}}}node", {"id": name}), "node", facts)
    for number, (source, target, facts) in enumerate(edges, start=1):
        about = {"source": source, "target": target, "id": f"e{number}"}
        _told(ElementTree.SubElement(graph, f"{{{GRAPHML}}}edge", about), "edge", facts)
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode") + "\n"


def _told(parent: ElementTree.Element, of: str, facts: Facts) -> None:
    for name, fact in facts.items():
        ElementTree.SubElement(parent, f"{{{GRAPHML}}}data", {"key": f"{of}.{name}"}).text = str(fact)


def _text(text: str) -> str:
    """Without the control characters that XML does not allow."""
    return "".join(one for one in text if one in "\t\n" or (one >= " " and one not in "\ufffe\uffff"))


def implications_csv(concepts: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]) -> str:
    """The matrix as Reynolds & Gutman (1988) print it: a row leads to a column, "3.02" is three direct and two indirect links."""
    linked = {one[end] for one in cells for end in ("source", "target")}
    codes = [one for one in concepts if one["id"] in linked]
    given = {(one["source"], one["target"]): f"{one['direct']}.{one['indirect']:02d}" for one in cells}
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["id", "type", "code", *(as_cell(one["label"]) for one in codes)])
    for row in codes:
        counts = (given.get((row["id"], column["id"]), "") for column in codes)
        table.writerow([row["id"], row["type"], as_cell(row["label"]), *counts])
    return out.getvalue()


def codebook_yaml(concepts: Sequence[Mapping[str, Any]], definitions: Mapping[str, str] | None = None) -> str:
    """Every code with its type, what a researcher wrote of it, the agents who named it, and all wordings that stand for it."""
    written = definitions or {}
    codes = [
        {**{key: one[key] for key in ("id", "label", "type")}, "definition": written.get(one["id"], ""), "agents": one["agents"],
         "wordings": list(one["wordings"]), **({"opposite": one["opposite"]} if one.get("opposite") else {})}
        for one in concepts
    ]  # fmt: skip
    return str(yaml.safe_dump({"codes": codes}, allow_unicode=True, sort_keys=False, width=120))


def transcripts_md(
    turns: Sequence[Mapping[str, Any]], graphs: Sequence[Mapping[str, Any]], concepts: Sequence[Mapping[str, Any]]
) -> str:
    """All interviews in words, each answer beside the codes that were read in it."""
    codes = codes_of(graphs, concepts)
    lines: list[str] = []
    for turn in turns:
        if turn["turn"] == 1:
            lines += ["", f"## {escape(turn['name'] or turn['participant'])}", "", "| | | |", "|---:|---|---|"]
        margin = "<br>".join(escape(label) for label in codes.get(turn["source_utterance_id"], ()))
        said = f"**{escape(turn['question'])}**<br>{escape(turn['answer'])}"
        lines.append(f"| {turn['turn']} | {said} | {margin} |".replace("\n", " "))
    return "\n".join(lines).lstrip() + "\n"


def codes_of(graphs: Sequence[Mapping[str, Any]], concepts: Sequence[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    """Utterance → labels of its codes."""
    label = {(unit, node): str(one["label"]) for one in concepts for unit, node in one["members"]}
    found: dict[str, list[str]] = {}
    for graph in graphs:
        for node in graph["nodes"]:
            for source in node["sources"] if (graph["participant"], node["id"]) in label else ():
                found.setdefault(source["utterance"], []).append(label[graph["participant"], node["id"]])
    return found
