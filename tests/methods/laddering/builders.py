"""Small graphs, views and histories for the tests of single steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from enquete.methods.laddering.knowledge import ConceptNode, ConceptSource, Edge, KnowledgeGraph, cover, longest_chain
from enquete.methods.laddering.settings import InterviewMethod, LadderingSettings
from enquete.methods.laddering.signals import NodeState, Past, Readings, SignalView

SETTINGS = LadderingSettings()
METHOD: InterviewMethod = SETTINGS.method
SAID = (ConceptSource(utterance="agent:1#1", quote="so gesagt"),)
LADDER = {
    "a": "attribute", "f": "functional_consequence", "p": "psychosocial_consequence", "i": "instrumental_value",
    "t": "terminal_value",
}  # fmt: skip


def graph(nodes: str, links: str = "", elements: Mapping[str, tuple[str, ...]] | None = None) -> KnowledgeGraph:
    """graph("a1 f1 p1", "a1>f1 f1>p1"): the first letter of a node is its type in the means-end chain."""
    concepts = {
        name: ConceptNode(id=name, text=f"{name} text", type=LADDER[name[0]], confidence=1, turn=1,
                   elements=(elements or {}).get(name, ()), sources=SAID)
        for name in nodes.split()
    }  # fmt: skip
    ends = [link.split(">") for link in links.split()]
    edges = [Edge(source=a, target=b, type="leads_to", confidence=1, turn=1, sources=SAID) for a, b in ends]
    return KnowledgeGraph(concepts, {edge.key: edge for edge in edges})


def past(strategy: str = "deepen", focus: str = "a1", **more: Any) -> Past:
    values: dict[str, Any] = {"depth": "moderate", "new_nodes": 0, "new_edges": 0, "chain": 1, **more}
    return Past(strategy, focus, **values)


def view(
    known: KnowledgeGraph | None = None,
    states: Mapping[str, NodeState] | None = None,
    turns: Sequence[Past] = (),
    readings: Readings | None = None,
    focus: str = "",
) -> SignalView:
    known = known or graph("")
    return SignalView(
        ontology=METHOD, graph=known, states=states or {}, coverage=cover(known, SETTINGS.topic.elements, METHOD),
        past=turns or [past()], readings=readings or Readings(), focus=focus,
        chain=longest_chain(known, METHOD, known.nodes),
    )  # fmt: skip
