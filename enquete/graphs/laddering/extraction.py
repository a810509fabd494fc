"""What is read out of an answer: concepts and relationships, as a model or the rule gives them, and checked against the answer.

Measured by: ten answers as people give them with a reading full of faults (tests/graphs/laddering/test_laddering_bad_readings.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from enquete.analysis.vocabulary import stemmed
from enquete.graphs.laddering.concept import Concept
from enquete.graphs.laddering.knowledge import SEVERAL, UNSAID, KnowledgeGraph, Linked, Node, Said, Source
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.respondents.quoting import normal
from enquete.state.asking import Language

LONGEST_LABEL = 12  # words
LONGEST_QUOTE = 300  # characters
NEARLY_ALL = 0.8  # of a quote's words
LEAST_LETTERS = 4  # of a word that two texts may share
_CLAUSE = re.compile(r"[.!?;:,]|\b(?:and|but|so|because|und|aber|sondern|weil|denn)\b", re.IGNORECASE)
_NO = re.compile(
    r"\b(?:(?:not|nicht)(?! (?:only|just|nur))|never|nie|niemals|without|ohne|kein\w*|(?:\w+n|can) t(?! (?:only|just)))\b"
)
"""In words as `normal` writes them: "don't" is "don t"."""

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


def as_said(found: Extraction, answer: str, method: InterviewMethod, language: Language) -> Extraction:
    """With relationships that only the respondent can state as what they are without those words."""

    def kind(name: str) -> str:
        edge = method.edge_types.get(name)
        return edge.otherwise if edge and edge.otherwise and not edge.is_said(answer, language) else name

    links = [one.model_copy(update={"relationship_type": kind(one.relationship_type)}) for one in found.relationships]
    return found.model_copy(update={"relationships": links})


def placed(
    found: Extraction, answer: str, utterance: str, concept: Concept, focus: Node | None, graph: KnowledgeGraph
) -> tuple[list[Said], list[Linked], dict[str, int]]:
    """Concepts and relationships with the words they come from, and how many concepts were left out, by reason.

    A concept stands in the respondent's words (`in_own_words`); what nobody said, or what puts others of the same reading
    together, is left out. Where a quote is missing from the answer, the answer itself takes its place. A concept belongs to
    the elements that its text names, to those that extraction linked, and, reached from the focus, to the focus's own.
    """
    worded = [(one, label) for one in found.concepts if (label := in_own_words(one, answer)) is not None]
    own = {normal(label) for _, label in worded}
    concepts = [one for one, _ in worded if not _is_several(normal(one.text), own)]
    left_out = {UNSAID: len(found.concepts) - len(worded), SEVERAL: len(worded) - len(concepts)}
    labels = {normal(one.text): label for one, label in worded if one in concepts}
    links = [
        Linked(
            source_text=labels.get(normal(one.source_text), one.source_text),
            target_text=labels.get(normal(one.target_text), one.target_text),
            type=one.relationship_type,
            confidence=one.confidence,
            source=Source(utterance=utterance, quote=quoted(one.source_quote, answer)),
        )
        for one in found.relationships
    ]
    from_focus = _reached(found.relationships, focus, graph)
    said = []
    for one in concepts:
        label = labels[normal(one.text)]
        elements = dict.fromkeys(
            [*(e for e in one.linked_elements if e in concept.elements), *concept.mentioned(label)]
            + (list(focus.elements) if focus and normal(one.text) in from_focus else [])
        )
        source = Source(utterance=utterance, quote=quoted(one.source_quote, answer))
        said.append(
            Said(text=label, type=one.node_type, confidence=one.confidence, elements=tuple(elements), source=source)
        )
    return said, links, {why: n for why, n in left_out.items() if n}


def in_own_words(one: ConceptFound, answer: str) -> str | None:
    """The concept as the respondent put it; None for one that nobody said. One without any text is for the graph to refuse.

    Its own text, if nearly all its words were said (models repair a word or two), with the denial that it was said with. A
    text in other words, or one too long for a concept, gives way to its quote, if that was said and they share a word: a reading
    that shares none with what it quotes is invented.
    """
    text, quote = one.text, one.source_quote
    if not normal(text):
        return text
    quoted_well = _stands_in(quote, answer) and len(quote.split()) <= LONGEST_LABEL
    if _stands_in(text, answer):
        own = quote if quoted_well and len(text.split()) > LONGEST_LABEL else text
    elif _stands_in(quote, answer) and _stems(text) & _stems(quote):
        own = quote
    else:
        return None
    return " ".join((_denial_of(own, answer) or own).split()[:LONGEST_LABEL])


def _stands_in(text: str, answer: str) -> bool:
    own, spoken = normal(text).split(), normal(answer)
    words = frozenset(spoken.split())
    return bool(own) and (
        f" {' '.join(own)} " in f" {spoken} " or sum(word in words for word in own) >= NEARLY_ALL * len(own)
    )


def _stems(text: str) -> set[str]:
    return {stemmed(word) for word in normal(text).split() if len(word) >= LEAST_LETTERS}


def _denial_of(text: str, answer: str) -> str:
    """The clause that denies a text wherever the answer has it; "" where it stands undenied, too, or denies itself."""
    wanted = normal(text)
    clauses = [one.strip() for one in _CLAUSE.split(answer) if f" {wanted} " in f" {normal(one)} "]
    denied = [len(_NO.findall(normal(one).partition(wanted)[0])) % 2 == 1 for one in clauses]
    return clauses[0] if clauses and all(denied) else ""


def _is_several(text: str, others: Collection[str]) -> bool:
    """Whether a concept's text holds two others that were found beside it, neither of which holds the other. As `normal` writes
    them."""
    held = [one for one in others if one and one != text and f" {one} " in f" {text} "]
    return sum(not any(each != one and f" {each} " in f" {one} " for one in held) for each in held) > 1


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
