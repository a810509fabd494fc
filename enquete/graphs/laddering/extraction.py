"""What is read out of an answer: concepts and relationships, as a model or the rule gives them, and checked against the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from enquete.graphs.laddering.concept import Concept
from enquete.graphs.laddering.knowledge import KnowledgeGraph, Linked, Node, Said, Source
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.respondents.quoting import normal

LONGEST_LABEL = 12  # words
LONGEST_QUOTE = 300  # characters
NEARLY_ALL = 0.8  # of a quote's words

Confidence = Annotated[float, Field(ge=0, le=1)]


class ConceptFound(BaseModel):
    text: str
    node_type: str
    confidence: Confidence = 0.5
    source_quote: str = ""
    linked_elements: list[str] = Field(default_factory=list)


class RelationFound(BaseModel):
    source_text: str
    target_text: str
    relationship_type: str
    confidence: Confidence = 0.5
    source_quote: str = ""


class Extraction(BaseModel):
    """Empty where an answer says nothing new."""

    concepts: list[ConceptFound] = Field(default_factory=list)
    relationships: list[RelationFound] = Field(default_factory=list)


class Known(BaseModel):
    """A concept said before, so that relationships can bridge turns."""

    model_config = ConfigDict(frozen=True)

    text: str
    type: str


class ExtractionInput(BaseModel):
    """An answer with all that is needed to read it. `aims`: node types that the question asked for, the likeliest first."""

    topic: str
    question: str
    answer: str
    focus: Known | None
    aims: list[str]
    known: list[Known]
    node_types: dict[str, str]  # name → description
    edges: list[tuple[str, str, str]]  # (edge type, source type, target type); "*" for any
    edge_types: dict[str, str] = {}  # name → description
    contrasts: list[tuple[str, str, str]] = []  # of `edges`, those that join the two poles of a construct
    elements: dict[str, str]  # id → label


def allowed_edges(method: InterviewMethod) -> list[tuple[str, str, str]]:
    """Every edge type with its pairs, in the file's order; ("revises", "*", "*") for one between any pair."""
    return [
        (name, source, target)
        for name, edge in method.edge_types.items()
        for source, target in (edge.pairs or (("*", "*"),))
    ]


def placed(
    found: Extraction, answer: str, utterance: str, concept: Concept, focus: Node | None, graph: KnowledgeGraph
) -> tuple[list[Said], list[Linked], int]:
    """Concepts and relationships with the words they come from, and how many concepts nobody said.

    A concept whose quote and text are both missing from the answer is left out and counted; where only its quote is, or a
    relationship's, the answer itself takes the quote's place. A concept belongs to the elements that its text names, to
    those that extraction linked, and, reached from the focus, to the focus's own.
    """
    concepts = [one for one in found.concepts if was_said(one, answer)]
    links = [
        Linked(
            source_text=one.source_text,
            target_text=one.target_text,
            type=one.relationship_type,
            confidence=one.confidence,
            source=Source(utterance=utterance, quote=quoted(one.source_quote, answer)),
        )
        for one in found.relationships
    ]
    from_focus = _reached(found.relationships, focus, graph)
    said = []
    for one in concepts:
        label = " ".join(one.text.split()[:LONGEST_LABEL])
        elements = dict.fromkeys(
            [*(e for e in one.linked_elements if e in concept.elements), *concept.mentioned(label)]
            + (list(focus.elements) if focus and normal(one.text) in from_focus else [])
        )
        source = Source(utterance=utterance, quote=quoted(one.source_quote, answer))
        said.append(
            Said(text=label, type=one.node_type, confidence=one.confidence, elements=tuple(elements), source=source)
        )
    return said, links, len(found.concepts) - len(concepts)


def was_said(one: ConceptFound, answer: str) -> bool:
    """Whether the answer holds the concept's quote or its text, or nearly all their words (models repair a word or two).
    One without any text is for the graph to refuse."""
    if not normal(one.text):
        return True
    spoken = normal(answer)
    words = frozenset(spoken.split())
    return any(_stands_in(normal(text), spoken, words) for text in (one.source_quote, one.text))


def _stands_in(text: str, spoken: str, words: frozenset[str]) -> bool:
    own = text.split()
    return bool(own) and (f" {text} " in f" {spoken} " or sum(word in words for word in own) >= NEARLY_ALL * len(own))


def quoted(quote: str, answer: str) -> str:
    """The quote, if it is in the answer; else the answer, cut."""
    return quote.strip() if normal(quote) and normal(quote) in normal(answer) else answer[:LONGEST_QUOTE]


def _reached(relations: Sequence[RelationFound], focus: Node | None, graph: KnowledgeGraph) -> set[str]:
    """Texts that this turn's relationships connect with the focus, over any number of steps."""
    if focus is None:
        return set()
    reached = {normal(focus.text)}
    for _ in relations:
        reached.update(_beside(relations, reached))
    return reached - {normal(node.text) for node in graph.nodes.values()}


def _beside(relations: Sequence[RelationFound], reached: set[str]) -> Iterator[str]:
    for one in relations:
        ends = {normal(one.source_text), normal(one.target_text)}
        if ends & reached:
            yield from ends
