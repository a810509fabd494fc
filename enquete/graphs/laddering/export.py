"""Knowledge graphs as files: GraphML of every agent's and of the pooled one, by networkx; the implication matrix as a table, the
codebook, the interviews with their codes in the margin."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import yaml

from enquete.reports.markdown import escape
from enquete.state.showing import as_cell

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
ElementTree.register_namespace("", GRAPHML)


def agents_graphml(graphs: Sequence[Mapping[str, Any]]) -> str:
    """One GraphML of all agents' graphs side by side; node ids are "<participant>/<node>"."""
    graph = nx.MultiDiGraph()  # two relationships of different types may join the same concepts
    for one in graphs:
        who = one["participant"]
        for node in one["nodes"]:
            graph.add_node(
                f"{who}/{node['id']}",
                participant=who,
                label=_text(node["text"]),
                type=node["type"],
                turn=node["turn"],
                confidence=node["confidence"],
                retracted=node.get("retracted", False),
                elements=", ".join(node["elements"]),
                sources="; ".join(source["utterance"] for source in node["sources"]),
                quote=_text(node["sources"][0]["quote"]),
            )
        for edge in one["edges"]:
            graph.add_edge(
                f"{who}/{edge['source']}",
                f"{who}/{edge['target']}",
                key=f"e{graph.number_of_edges() + 1}",  # what Gephi and others read as the edge's id: one of its own each
                type=edge["type"],
                turn=edge["turn"],
                confidence=edge["confidence"],
                sources="; ".join(source["utterance"] for source in edge["sources"]),
                quote=_text(edge["sources"][0]["quote"]),
            )
    return _graphml(graph)


def pooled_graphml(concepts: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]) -> str:
    """The pooled graph: concepts with their agents, direct links with theirs."""
    graph = nx.MultiDiGraph()
    for concept in concepts:
        graph.add_node(
            concept["id"], label=_text(concept["label"]), type=concept["type"], agents=concept["agents"],
            opposite=_text(concept.get("opposite", "")),
        )  # fmt: skip
    for cell in cells:
        if cell["direct"]:
            graph.add_edge(
                cell["source"], cell["target"], key=f"e{graph.number_of_edges() + 1}", weight=cell["direct"],
                direct=cell["direct"], indirect=cell["indirect"], relation=cell.get("relation", ""),
            )  # fmt: skip
    return _graphml(graph)


def _graphml(graph: nx.Graph) -> str:
    """As networkx writes it, but with keys named after what they are of ("node.turn"): networkx numbers them, and Gephi, as yEd
    does, takes whatever is numbered d3 for a node's label and d7 for an edge's (ImporterGraphML.java)."""
    root = ElementTree.fromstring("\n".join(nx.generate_graphml(graph)))
    names = dict[str | None, str]()
    for key in root.iter(f"{{{GRAPHML}}}key"):
        names[key.get("id")] = f"{key.get('for')}.{key.get('attr.name')}"
        key.set("id", names[key.get("id")])
    for data in root.iter(f"{{{GRAPHML}}}data"):
        data.set("key", names[data.get("key")])
    return ElementTree.tostring(root, "unicode") + "\n"


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
