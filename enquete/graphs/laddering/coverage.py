"""How far the topic is covered: per element what was said of it, and how long a chain of concepts hangs together."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pydantic import BaseModel, ConfigDict

from enquete.graphs.laddering.concept import Concept
from enquete.graphs.laddering.knowledge import KnowledgeGraph, reached
from enquete.graphs.laddering.ontology import Ontology


class ElementCoverage(BaseModel):
    """depth_score: longest connected path of node types among the element's concepts, over the rungs of the ladder."""

    model_config = ConfigDict(frozen=True)

    covered: bool
    linked_node_ids: tuple[str, ...]
    types_found: tuple[str, ...]
    depth_score: float


class Coverage(BaseModel):
    """breadth: share of elements covered; depth: mean depth_score of all elements, 0 for those not covered."""

    model_config = ConfigDict(frozen=True)

    elements: Mapping[str, ElementCoverage]
    elements_covered: int
    elements_total: int
    breadth: float
    depth: float


def cover(graph: KnowledgeGraph, concept: Concept, ontology: Ontology) -> Coverage:
    """Coverage of a topic by a graph; the breadth of a topic is never of nought elements (its file has one at least)."""
    elements = {element: _element(element, graph, ontology) for element in concept.elements}
    covered, total = sum(one.covered for one in elements.values()), len(elements)
    return Coverage(
        elements=elements,
        elements_covered=covered,
        elements_total=total,
        breadth=covered / total,
        depth=sum(one.depth_score for one in elements.values()) / total,
    )


def _element(element: str, graph: KnowledgeGraph, ontology: Ontology) -> ElementCoverage:
    linked = tuple(node.id for node in graph.nodes.values() if element in node.elements)
    types = tuple(sorted({graph.nodes[node].type for node in linked}))
    depth = longest_chain(graph, ontology, linked) / ontology.rungs
    return ElementCoverage(covered=bool(linked), linked_node_ids=linked, types_found=types, depth_score=depth)


def longest_chain(graph: KnowledgeGraph, ontology: Ontology, among: Collection[str]) -> int:
    """Node types on the longest connected path among these nodes; edges count in both directions.

    A path that passes through several concepts of one type counts that type once.
    """
    counted = [node for node in among if ontology.on_ladder([graph.nodes[node].type])]
    groups = _same_type_groups(graph, counted)
    types = {group: graph.nodes[group].type for group in groups.values()}
    adjacent: dict[str, set[str]] = {group: set() for group in types}
    for node, group in groups.items():
        adjacent[group] |= {groups[other] for other in graph.neighbours[node] if other in groups} - {group}
    known: dict[tuple[str, frozenset[str]], int] = {}

    def longest(group: str, used: frozenset[str]) -> int:
        key = (group, used)
        if key not in known:
            now = used | {types[group]}
            known[key] = 1 + max(
                (longest(other, now) for other in adjacent[group] if types[other] not in now), default=0
            )
        return known[key]

    return max((longest(group, frozenset()) for group in types), default=0)


def _same_type_groups(graph: KnowledgeGraph, nodes: Collection[str]) -> dict[str, str]:
    """node → the first of the connected nodes of its own type: they are one step of a path."""
    among, groups = set(nodes), dict[str, str]()
    alike = {
        node: [other for other in graph.neighbours[node] & among if graph.nodes[other].type == graph.nodes[node].type]
        for node in nodes
    }
    for first in nodes:
        if first not in groups:
            groups.update(dict.fromkeys(reached([first], alike), first))
    return groups


def complete_share(graph: KnowledgeGraph, ontology: Ontology) -> float | None:
    """Share of the concepts on the first rung from which a chain of links climbs to a terminal one.

    None without a ladder, or before anything stands on its first rung.
    """
    bottom = [node.id for node in graph.nodes.values() if ontology.ladder and node.type == ontology.ladder[0]]
    if not bottom:
        return None
    ahead: dict[str, list[str]] = {node: [] for node in graph.nodes}
    for edge in graph.edges.values():
        ahead[edge.source].append(edge.target)
    terminal = {node.id for node in graph.nodes.values() if ontology.is_terminal(node.type)}
    return sum(not terminal.isdisjoint(reached([node], ahead)) for node in bottom) / len(bottom)
