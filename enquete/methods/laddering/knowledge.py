"""What may stand in a knowledge graph (node types, edge types with their allowed pairs, the ladder), the graph of one
interview, and how far it covers the topic. A graph is never changed in place: `with_findings` gives the next one and
what was new in it; each concept and relationship keeps the words it comes from.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from enquete.analysis.vocabulary import opposed
from enquete.instruments.load import LayerFile
from enquete.instruments.text import Line, Part, Text, identifier, not_empty, reference, wrong
from enquete.respondents.roles import normal
from enquete.state.asking import Language

TypeId = Annotated[Line, AfterValidator(identifier("node type"))]
TypeName = Annotated[Line, AfterValidator(reference("node type", "node_types"))]
EdgeId = Annotated[Line, AfterValidator(identifier("edge type"))]


class NodeType(Part):
    """A kind of concept. `terminal`: a chain ends here, nothing lies behind it."""

    label: Text
    description: Text
    terminal: bool = False


class EdgeType(Part):
    """A kind of relationship and the node types it may join, as [source, target]; `any_pair`: whatever they are.

    `said_by`: patterns of which the answer must hold one, else the relationship is of the type `otherwise`: only what
    was said.
    `label`: what stands between its ends ("leads to"), its name where there is none.

    `retracts`: its source takes back or corrects its target, so that it is no link: the target no longer stands.
    `contrast`: its target is the other pole of its source: the two are one construct, and one does not lead to the
    other.
    """

    description: Text
    label: Text | None = None
    said_by: Text | None = None
    otherwise: Annotated[Line, AfterValidator(reference("edge type", "edge_types"))] | None = None
    retracts: bool = False
    contrast: bool = False
    pairs: tuple[tuple[TypeName, TypeName], ...] = ()
    any_pair: bool = False

    @model_validator(mode="after")
    def _joins_something(self) -> Self:
        if bool(self.pairs) == self.any_pair:
            raise wrong("needs either `pairs` ([source, target] of node types) or `any_pair: true`")
        if (self.said_by is None) != (self.otherwise is None):
            raise wrong("`said_by` and `otherwise` belong together: the words that say it, and what it is without them")
        for pattern in (self.said_by.de, self.said_by.en) if self.said_by else ():
            try:
                re.compile(pattern or "")
            except re.error as error:
                raise wrong(f"said_by: {error}") from None
        return self

    def is_said(self, answer: str, language: Language) -> bool:
        """Whether an answer in this language can say it at all."""
        return self.said_by is None or bool(re.search(self.said_by.in_(language), answer, re.IGNORECASE))

    def joins(self, source: str, target: str) -> bool:
        return self.any_pair or (source, target) in self.pairs


def _no_type_twice(ladder: tuple[str, ...]) -> tuple[str, ...]:
    if twice := sorted({kind for kind in ladder if ladder.count(kind) > 1}):
        raise wrong(f"names {', '.join(twice)} twice; every rung has its own type")
    return ladder


class Ontology(LayerFile):
    """The structural half of a methodology file. Without a ladder, depth counts node types and no chain is complete.

    ladder_explains: whether a higher rung is the reason for a lower one; else the ladder only says what is asked after
    what.
    """

    node_types: Annotated[dict[TypeId, NodeType], AfterValidator(not_empty)]
    edge_types: Annotated[dict[EdgeId, EdgeType], AfterValidator(not_empty)]
    ladder: Annotated[tuple[TypeName, ...], AfterValidator(_no_type_twice)] = ()
    ladder_explains: bool = True

    @property
    def climbs(self) -> bool:
        """Whether its concepts stand on rungs of which a higher one is the reason for a lower one."""
        return bool(self.ladder) and self.ladder_explains

    @property
    def rungs(self) -> int:
        """What a depth is measured against: rungs of the ladder, else the number of node types."""
        return len(self.ladder) or len(self.node_types)

    @property
    def kinds(self) -> list[str]:
        """Node types, the ladder's first, from the bottom to the top."""
        return [*self.ladder, *(kind for kind in self.node_types if kind not in self.ladder)]

    @property
    def first_type(self) -> str:
        return self.kinds[0]

    def is_terminal(self, node_type: str) -> bool:
        return self.node_types[node_type].terminal

    def next_type(self, node_type: str) -> str | None:
        """The rung above; None at the top and beside the ladder."""
        if node_type not in self.ladder[:-1]:
            return None
        return self.ladder[self.ladder.index(node_type) + 1]

    @property
    def contrasts(self) -> list[tuple[str, str, str]]:
        """(edge type, pole, other pole) of the relationships that make two concepts one construct."""
        return [(name, *pair) for name, edge in self.edge_types.items() if edge.contrast for pair in edge.pairs]

    def opposite_type(self, node_type: str) -> str | None:
        """The type of a concept's other pole; None where it is no pole."""
        return next((other for _, pole, other in self.contrasts if pole == node_type), None)

    def linkable(self, source: str, target: str) -> bool:
        """Whether some relationship other than one between any pair can join the two types, in either direction."""
        return (source, target) in self._joined or (target, source) in self._joined

    @cached_property
    def _joined(self) -> frozenset[tuple[str, str]]:
        """Every technique is held against every concept each turn."""
        return frozenset(pair for edge in self.edge_types.values() for pair in edge.pairs)


# --- the graph of an interview ----------------------------------------------------------------------------------------

MERGE_AT = 0.80
"""Cosine from which two concepts of one type are the same one."""

UNSAID = "concept that is not in the answer"
SEVERAL = "several concepts in one"


class ConceptSource(BaseModel):
    """Where something was said: the utterance's id and the words themselves."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    quote: str


class ConceptNode(BaseModel):
    """A concept in the respondent's words. `turn`: when it was first said; `elements`: what of the topic it belongs
    to."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    type: str
    confidence: float
    turn: int
    elements: tuple[str, ...] = ()
    sources: tuple[ConceptSource, ...]

    def joined(self, concept: SaidConcept) -> ConceptNode:
        """One concept with the sources of both."""
        elements = tuple(dict.fromkeys((*self.elements, *concept.elements)))
        return self.model_copy(update={"sources": _joined(self.sources, concept.source), "elements": elements})


class Edge(BaseModel):
    """A relationship between two concepts. `retracts`: the source takes the target back or corrects it; `contrast`:
    they are two poles of one construct."""

    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    type: str
    confidence: float
    turn: int
    retracts: bool = False
    contrast: bool = False
    sources: tuple[ConceptSource, ...]

    @property
    def key(self) -> str:
        return f"{self.source}>{self.target}:{self.type}"


class SaidConcept(BaseModel):
    """A concept as extraction found it, before it has a place in the graph."""

    text: str
    type: str
    confidence: float
    elements: tuple[str, ...]
    source: ConceptSource


class Linked(BaseModel):
    """A relationship as extraction found it: by the texts of its ends."""

    source_text: str
    target_text: str
    type: str
    confidence: float
    source: ConceptSource


class Changes(BaseModel):
    """What a turn did to the graph: new and changed nodes and edges as they are now, and what was left out and why.

    new_edges: links; retracted: concepts that were taken back or corrected.
    """

    model_config = ConfigDict(frozen=True)

    nodes: tuple[ConceptNode, ...] = ()
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

    nodes: Mapping[str, ConceptNode] = field(default_factory=dict)
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
        gone = set[str]()
        for edge in self.edges.values():
            if edge.retracts:
                gone.add(edge.target)
                gone.discard(edge.source)
        return frozenset(gone)

    @cached_property
    def standing(self) -> KnowledgeGraph:
        """Without what was taken back, and with links alone: what matrix, map, chains, coverage and questions are made
        of."""
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
        neighbours: dict[str, set[str]] = {node: set() for node in self.nodes}
        for edge in self.edges.values():
            neighbours[edge.source].add(edge.target)
            neighbours[edge.target].add(edge.source)
        return {node: frozenset(others) for node, others in neighbours.items()}

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

    def find(self, text: str) -> ConceptNode | None:
        """The concept of exactly these words, whatever its type."""
        wanted = normal(text)
        return next((node for node in self.nodes.values() if wanted and normal(node.text) == wanted), None)

    def twin(self, concept: SaidConcept) -> ConceptNode | None:
        """The same concept: the same words, or nearly the same in the same type; never the opposite."""
        exact = self.find(concept.text)
        if exact is not None:
            return exact
        alike = {n.id: similarity(concept.text, n.text) for n in self.nodes.values() if n.type == concept.type}
        same = (name for name in alike if alike[name] >= MERGE_AT and not opposed(concept.text, self.nodes[name].text))
        nearest = max(same, key=alike.__getitem__, default=None)
        return None if nearest is None else self.nodes[nearest]


def with_findings(
    graph: KnowledgeGraph,
    ontology: Ontology,
    concepts: Iterable[SaidConcept],
    links: Iterable[Linked],
    turn: int,
    left_out: Mapping[str, int] = MappingProxyType({}),
) -> tuple[KnowledgeGraph, Changes]:
    """The graph after a turn. Concepts of unknown types and relationships that the ontology forbids are counted, not
    kept, as are those `left_out` before, by reason."""
    now, nodes, edges = graph, dict[str, ConceptNode](), dict[str, Edge]()
    called = dict[str, str]()  # text as extraction wrote it → node id; a merged concept has other words in the graph
    dropped, merged = Counter(left_out), 0
    for concept in concepts:
        if concept.type not in ontology.node_types or not normal(concept.text):
            dropped["empty concept" if concept.type in ontology.node_types else "unknown node type"] += 1
            continue
        twin = now.twin(concept)
        node = twin.joined(concept) if twin else ConceptNode(
            id=f"n{len(now.nodes) + 1}", text=concept.text, type=concept.type, confidence=concept.confidence, turn=turn,
            elements=concept.elements, sources=(concept.source,),
        )  # fmt: skip
        merged += twin is not None
        nodes[node.id], called[normal(concept.text)] = node, node.id
        now = KnowledgeGraph({**now.nodes, node.id: node}, now.edges)
    for link in links:
        source, target = (
            now.nodes[called[name]] if (name := normal(text)) in called else now.find(text)
            for text in (link.source_text, link.target_text)
        )
        kind = ontology.edge_types.get(link.type)
        if source is None or target is None:
            dropped["relationship to an unknown concept"] += 1
        elif source.id == target.id or kind is None or not kind.joins(source.type, target.type):
            dropped["relationship that the methodology does not allow"] += 1
        else:
            edge = Edge(source=source.id, target=target.id, type=link.type, confidence=link.confidence, turn=turn,
                        retracts=kind.retracts, contrast=kind.contrast, sources=(link.source,))  # fmt: skip
            before = edges.get(edge.key) or graph.edges.get(edge.key)
            edges[edge.key] = (
                before.model_copy(update={"sources": _joined(before.sources, link.source)}) if before else edge
            )
    new = [edge for key, edge in edges.items() if key not in graph.edges]
    changes = Changes(
        nodes=tuple(nodes.values()), edges=tuple(edges.values()),
        new_nodes=sum(name not in graph.nodes for name in nodes), new_edges=sum(not edge.retracts for edge in new),
        retracted=sum(edge.retracts for edge in new), merged=merged, dropped=dict(dropped),
    )  # fmt: skip
    return graph.applied(changes), changes


def reached(start: Iterable[str], ahead: Mapping[str, Iterable[str]]) -> Collection[str]:
    """The nodes one starts from and all that any number of steps leads to."""
    nodes = dict.fromkeys(start)
    waiting = list(nodes)
    while waiting:
        new = [node for node in ahead.get(waiting.pop(), ()) if node not in nodes]
        nodes.update(dict.fromkeys(new))
        waiting += new
    return nodes.keys()


def _joined(sources: tuple[ConceptSource, ...], source: ConceptSource) -> tuple[ConceptSource, ...]:
    return sources if source in sources else (*sources, source)


def similarity(text: str, other: str) -> float:
    """Cosine of trigram counts: how alike two texts are on the surface; 0 where either holds no word."""
    (a, size_a), (b, size_b) = _trigrams(normal(text)), _trigrams(normal(other))
    if not a or not b:
        return 0.0
    shared = a.keys() & b.keys()
    return sum([a[gram] * b[gram] for gram in shared]) / (size_a * size_b)


@lru_cache(maxsize=65_536)  # a label is compared with every new concept of its interview
def _trigrams(text: str) -> tuple[Mapping[str, int], float]:
    """Trigrams with their counts, and the length of that vector."""
    padded = f" {text} "
    grams = Counter([padded[i : i + 3] for i in range(len(padded) - 2)]) if text else Counter[str]()
    return grams, math.sqrt(sum([count * count for count in grams.values()]))


# --- how far the topic is covered -------------------------------------------------------------------------------------


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


def cover(graph: KnowledgeGraph, elements_of: Collection[str], ontology: Ontology) -> Coverage:
    """Coverage of a topic's elements by a graph; of none nothing."""
    elements = dict[str, ElementCoverage]()
    for element in elements_of:
        linked = tuple(node.id for node in graph.nodes.values() if element in node.elements)
        types, depth = sorted({graph.nodes[node].type for node in linked}), longest_chain(graph, ontology, linked)
        elements[element] = ElementCoverage(
            covered=bool(linked), linked_node_ids=linked, types_found=tuple(types), depth_score=depth / ontology.rungs
        )
    covered, total = sum(element.covered for element in elements.values()), len(elements)
    depths = sum(element.depth_score for element in elements.values())
    return Coverage(
        elements=elements, elements_covered=covered, elements_total=total,
        breadth=covered / total if total else 0.0, depth=depths / total if total else 0.0,
    )  # fmt: skip


MAX_CHAIN_STEPS = 5_000
"""Steps in the search for the longest chain from one concept: interviews, which are nearly trees, need dozens. Beyond
them the longest found so far counts."""


def longest_chain(graph: KnowledgeGraph, ontology: Ontology, among: Collection[str]) -> int:
    """Return the number of node types on the longest connected path among these nodes; edges count both ways.

    A path visits a concept once, and may come back to a type by another concept: that type counts once.
    """
    counted = [node for node in among if not ontology.ladder or graph.nodes[node].type in ontology.ladder]
    groups = _same_type_groups(graph, counted)
    types = {group: graph.nodes[group].type for group in groups.values()}
    adjacent: dict[str, set[str]] = {group: set() for group in types}
    for node, group in groups.items():
        adjacent[group] |= {groups[other] for other in graph.neighbours[node] if other in groups} - {group}

    best = 0
    for start in types:
        there = reached([start], {group: sorted(others) for group, others in adjacent.items()})
        most = len({types[group] for group in there})
        best = max(best, _longest_from(start, adjacent, types, most) if most > best else 0)
    return best


def _longest_from(start: str, adjacent: Mapping[str, Collection[str]], types: Mapping[str, str], most: int) -> int:
    """Return the node types on the longest path from one group; `most`: as many as can be reached at all."""
    best = 1
    paths: list[tuple[tuple[str, ...], frozenset[str]]] = [((start,), frozenset({types[start]}))]
    for _ in range(MAX_CHAIN_STEPS):
        if not paths or best == most:
            break
        path, seen = paths.pop()
        best = max(best, len(seen))
        onward = [(*path, other) for other in sorted(adjacent[path[-1]]) if other not in path]
        paths += [(longer, seen | {types[longer[-1]]}) for longer in onward]
    return best


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
