"""The knowledge graph of one interview: concepts and relationships, each with the words it comes from. Never changed in
place: `with_findings` gives the next graph and what was new in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from enquete.analysis.vocabulary import opposed
from enquete.graphs.laddering.ontology import Ontology
from enquete.graphs.laddering.phrases import similarity
from enquete.respondents.quoting import normal

MERGE_AT = 0.80
"""Cosine from which two concepts of one type are the same one."""

UNSAID = "concept that is not in the answer"
SEVERAL = "several concepts in one"


class Source(BaseModel):
    """Where something was said: the utterance's id and the words themselves."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    quote: str


class Node(BaseModel):
    """A concept in the respondent's words. `turn`: when it was first said; `elements`: what of the topic it belongs to."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    type: str
    confidence: float
    turn: int
    elements: tuple[str, ...] = ()
    sources: tuple[Source, ...]


class Edge(BaseModel):
    """A relationship between two concepts. `retracts`: the source takes the target back or corrects it; `contrast`: they are two
    poles of one construct."""

    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    type: str
    confidence: float
    turn: int
    retracts: bool = False
    contrast: bool = False
    sources: tuple[Source, ...]

    @property
    def key(self) -> str:
        return f"{self.source}>{self.target}:{self.type}"


class Said(BaseModel):
    """A concept as extraction found it, before it has a place in the graph."""

    text: str
    type: str
    confidence: float
    elements: tuple[str, ...]
    source: Source


class Linked(BaseModel):
    """A relationship as extraction found it: by the texts of its ends."""

    source_text: str
    target_text: str
    type: str
    confidence: float
    source: Source


class Changes(BaseModel):
    """What a turn did to the graph: new and changed nodes and edges as they are now, and what was left out and why.

    new_edges: links; retracted: concepts that were taken back or corrected.
    """

    model_config = ConfigDict(frozen=True)

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    new_nodes: int = 0
    new_edges: int = 0
    retracted: int = 0
    merged: int = 0
    dropped: Mapping[str, int] = {}

    @property
    def any_new(self) -> bool:
        return self.new_nodes + self.new_edges + self.retracted > 0


@dataclass(frozen=True)
class KnowledgeGraph:
    """Nodes by id, edges by `Edge.key`."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)

    def applied(self, changes: Changes) -> KnowledgeGraph:
        """The graph with a turn's changes: what a stored turn is read back with."""
        return KnowledgeGraph(
            {**self.nodes, **{node.id: node for node in changes.nodes}},
            {**self.edges, **{edge.key: edge for edge in changes.edges}},
        )

    @cached_property
    def retracted(self) -> frozenset[str]:
        """Concepts that the respondent took back or corrected; one that itself corrects later stands again."""
        found = set[str]()
        for edge in self.edges.values():
            if edge.retracts:
                found.add(edge.target)
                found.discard(edge.source)
        return frozenset(found)

    @cached_property
    def standing(self) -> KnowledgeGraph:
        """Without what was taken back, and with links alone: what matrix, map, chains, coverage and questions are made of."""
        gone = self.retracted
        return KnowledgeGraph(
            {name: node for name, node in self.nodes.items() if name not in gone},
            {key: e for key, e in self.edges.items() if not e.retracts and not {e.source, e.target} & gone},
        )

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Place of each node in the order of first mention, from 0."""
        return {node: place for place, node in enumerate(self.nodes)}

    @cached_property
    def neighbours(self) -> Mapping[str, frozenset[str]]:
        """Undirected."""
        found: dict[str, set[str]] = {node: set() for node in self.nodes}
        for edge in self.edges.values():
            found[edge.source].add(edge.target)
            found[edge.target].add(edge.source)
        return {node: frozenset(others) for node, others in found.items()}

    @cached_property
    def degrees(self) -> Mapping[str, int]:
        counts = dict.fromkeys(self.nodes, 0)
        for edge in self.edges.values():
            counts[edge.source] += 1
            counts[edge.target] += 1
        return counts

    @cached_property
    def orphans(self) -> frozenset[str]:
        return frozenset(node for node, count in self.degrees.items() if not count)

    def find(self, text: str) -> Node | None:
        """The concept of exactly these words, whatever its type."""
        wanted = normal(text)
        return next((node for node in self.nodes.values() if wanted and normal(node.text) == wanted), None)

    def twin(self, said: Said) -> Node | None:
        """The same concept: the same words, or nearly the same in the same type; never the opposite."""
        exact = self.find(said.text)
        if exact is not None:
            return exact
        alike = [(similarity(said.text, node.text), node) for node in self.nodes.values() if node.type == said.type]
        near = [pair for pair in alike if pair[0] >= MERGE_AT and not opposed(said.text, pair[1].text)]
        return max(near, key=lambda pair: pair[0])[1] if near else None


def with_findings(
    graph: KnowledgeGraph,
    ontology: Ontology,
    concepts: Iterable[Said],
    links: Iterable[Linked],
    turn: int,
    left_out: Mapping[str, int] = MappingProxyType({}),
) -> tuple[KnowledgeGraph, Changes]:
    """The graph after a turn. Concepts of unknown types and relationships that the ontology forbids are counted, not kept,
    as are those `left_out` before, by reason."""
    growing = _Growing(graph, ontology, turn, left_out)
    for said in concepts:
        growing.add(said)
    for linked in links:
        growing.link(linked)
    changes = growing.changes()
    return graph.applied(changes), changes


class _Growing:
    """One turn's additions to a graph."""

    def __init__(self, graph: KnowledgeGraph, ontology: Ontology, turn: int, dropped: Mapping[str, int]):
        self._before = graph
        self._ontology = ontology
        self._turn = turn
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._called: dict[str, str] = {}  # text as extraction wrote it → node id
        self._merged = 0
        self._dropped: dict[str, int] = {**dropped}

    def add(self, said: Said) -> None:
        if said.type not in self._ontology.node_types:
            return self._drop("unknown node type")
        if not normal(said.text):
            return self._drop("empty concept")
        now = self._now()
        twin = now.twin(said)
        node = self._join(twin, said) if twin else self._new(said, len(now.nodes) + 1)
        self._merged += twin is not None
        self._nodes[node.id] = node
        self._called[normal(said.text)] = node.id
        return None

    def link(self, linked: Linked) -> None:
        ends = [self._end(text) for text in (linked.source_text, linked.target_text)]
        if ends[0] is None or ends[1] is None:
            return self._drop("relationship to an unknown concept")
        source, target = ends[0], ends[1]
        kind = self._ontology.edge_types.get(linked.type)
        if source.id == target.id or kind is None or not kind.joins(source.type, target.type):
            return self._drop("relationship that the methodology does not allow")
        edge = Edge(source=source.id, target=target.id, type=linked.type, confidence=linked.confidence,
                    turn=self._turn, retracts=kind.retracts, contrast=kind.contrast, sources=(linked.source,))  # fmt: skip
        known = self._now().edges.get(edge.key)
        if known is not None:
            edge = known.model_copy(update={"sources": _joined(known.sources, linked.source)})
        self._edges[edge.key] = edge
        return None

    def changes(self) -> Changes:
        new = [edge for key, edge in self._edges.items() if key not in self._before.edges]
        return Changes(
            nodes=tuple(self._nodes.values()),
            edges=tuple(self._edges.values()),
            new_nodes=sum(node not in self._before.nodes for node in self._nodes),
            new_edges=sum(not edge.retracts for edge in new),
            retracted=sum(edge.retracts for edge in new),
            merged=self._merged,
            dropped=dict(self._dropped),
        )

    def _now(self) -> KnowledgeGraph:
        return self._before.applied(Changes(nodes=tuple(self._nodes.values()), edges=tuple(self._edges.values())))

    def _end(self, text: str) -> Node | None:
        """By the words extraction used in this turn (a merged concept has others in the graph), else by the graph's own."""
        known = self._called.get(normal(text))
        now = self._now()
        return now.nodes[known] if known else now.find(text)

    def _new(self, said: Said, number: int) -> Node:
        return Node(id=f"n{number}", text=said.text, type=said.type, confidence=said.confidence, turn=self._turn,
                    elements=said.elements, sources=(said.source,))  # fmt: skip

    def _join(self, node: Node, said: Said) -> Node:
        """One concept with the sources of both."""
        elements = tuple(dict.fromkeys((*node.elements, *said.elements)))
        return node.model_copy(update={"sources": _joined(node.sources, said.source), "elements": elements})

    def _drop(self, why: str) -> None:
        self._dropped[why] = self._dropped.get(why, 0) + 1


def reached(start: Iterable[str], ahead: Mapping[str, Iterable[str]]) -> Collection[str]:
    """The nodes one starts from and all that any number of steps leads to."""
    found = dict.fromkeys(start)
    waiting = list(found)
    while waiting:
        new = [node for node in ahead.get(waiting.pop(), ()) if node not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return found.keys()


def _joined(sources: tuple[Source, ...], one: Source) -> tuple[Source, ...]:
    return sources if one in sources else (*sources, one)
