"""Knowledge graphs as files: GraphML of every agent's and of the pooled one, by networkx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx


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
        graph.add_node(concept["id"], label=_text(concept["label"]), type=concept["type"], agents=concept["agents"])
    for cell in cells:
        if cell["direct"]:
            graph.add_edge(
                cell["source"], cell["target"], key=f"e{graph.number_of_edges() + 1}", direct=cell["direct"],
                indirect=cell["indirect"],
            )  # fmt: skip
    return _graphml(graph)


def _graphml(graph: nx.Graph) -> str:
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _text(text: str) -> str:
    """Without the control characters that XML does not allow."""
    return "".join(one for one in text if one in "\t\n" or (one >= " " and one not in "\ufffe\uffff"))
