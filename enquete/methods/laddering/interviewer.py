"""The interviewer's three roles: read an answer, judge how it was given, word a question: what a model is asked in
each, and what of its reply stands; and the crude rules that stand in for it.

Everything a respondent said, and everything made of it, stands in a fence: data, never an instruction. Measured by: ten
answers as people give them with a reading full of faults (tests/methods/laddering/test_laddering_bad_readings.py).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.vocabulary import STOP_WORDS, content_words, denies, stemmed
from enquete.locale import N_, in_language
from enquete.methods.laddering.knowledge import (
    SEVERAL,
    UNSAID,
    ConceptNode,
    ConceptSource,
    KnowledgeGraph,
    Linked,
    SaidConcept,
    reached,
)
from enquete.methods.laddering.questions import WordedQuestion, WordingInput, ask_by_rule, fit_to_ask
from enquete.methods.laddering.settings import Concept, InterviewMethod, most_words
from enquete.methods.laddering.signals import RATINGS, SURFACE_BELOW, AnswerRating, Readings, propositions, word_count
from enquete.respondents.roles import Role, fence, normal
from enquete.state.asking import Language

LAST_TURNS = 6  # of the transcript that the interviewer sees
LONGEST_RATIONALE = 20  # words
LONGEST_LABEL = 12  # words
LONGEST_QUOTE = 300  # characters
NEARLY_ALL = 0.8  # of a quote's words
LEAST_LETTERS = 4  # of a word that two texts may share

# --- what is read out of an answer ------------------------------------------------------------------------------------

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


class KnownConcept(BaseModel):
    """A concept said before, so that relationships can bridge turns."""

    model_config = ConfigDict(frozen=True)

    text: str
    type: str


class ExtractionInput(BaseModel):
    """An answer with all that is needed to read it. `aims`: node types that the question asked for, the likeliest
    first."""

    topic: str
    question: str
    answer: str
    focus: KnownConcept | None
    aims: list[str]
    known: list[KnownConcept]
    node_types: dict[str, str]  # name → description
    edges: list[tuple[str, str, str]]  # (edge type, source type, target type); "*" for any
    edge_types: dict[str, str] = {}  # name → description
    contrasts: list[tuple[str, str, str]] = []  # of `edges`, those that join the two poles of a construct
    elements: dict[str, str]  # id → label
    guidelines: list[str] = []  # the methodology's own


class JudgementInput(BaseModel):
    """The answer to judge, and the question it answers."""

    topic: str
    question: str
    answer: str


# --- what of it stands ------------------------------------------------------------------------------------------------

_CLAUSE = re.compile(r"[.!?;:,]|\b(?:and|but|so|because|und|aber|sondern|weil|denn)\b", re.IGNORECASE)
_NO = re.compile(
    r"\b(?:(?:not|nicht)(?! (?:only|just|nur))|never|nie|niemals|without|ohne|kein\w*|(?:\w+n|can) t(?! (?:only|"
    r"just)))\b"
)
"""In words as `normal` writes them: "don't" is "don t"."""


def allowed_edges(method: InterviewMethod) -> list[tuple[str, str, str]]:
    """Every edge type with its pairs, in the file's order; ("revises", "*", "*") for one between any pair."""
    return [
        (name, source, target)
        for name, edge in method.edge_types.items()
        for source, target in (edge.pairs or (("*", "*"),))
    ]


def as_said(extraction: Extraction, answer: str, method: InterviewMethod, language: Language) -> Extraction:
    """With relationships that only the respondent can state as what they are without those words."""

    def kind(name: str) -> str:
        edge = method.edge_types.get(name)
        return edge.otherwise if edge and edge.otherwise and not edge.is_said(answer, language) else name

    links = [
        link.model_copy(update={"relationship_type": kind(link.relationship_type)}) for link in extraction.relationships
    ]
    return extraction.model_copy(update={"relationships": links})


def placed(
    extraction: Extraction,
    answer: str,
    utterance: str,
    topic: Concept,
    language: Language,
    focus: ConceptNode | None,
    graph: KnowledgeGraph,
) -> tuple[list[SaidConcept], list[Linked], dict[str, int]]:
    """Concepts and relationships with the words they come from, and how many concepts were left out, by reason.

    A concept stands in the respondent's words (`in_own_words`); what nobody said, or what puts others of the same
    reading together, is left out. Where a quote is missing from the answer, the answer itself takes its place. A
    concept belongs to the elements that its text names, to those that extraction linked, and, reached from the focus,
    to the focus's own.
    """
    labels = [in_own_words(concept, answer) for concept in extraction.concepts]
    worded = [(read, label) for read, label in zip(extraction.concepts, labels, strict=True) if label is not None]
    wordings = {normal(label) for _, label in worded}
    single = [(read, label) for read, label in worded if not _is_several(normal(read.text), wordings)]
    left_out = {UNSAID: len(labels) - len(worded), SEVERAL: len(worded) - len(single)}
    label_of = {normal(read.text): label for read, label in single}

    def source(quote: str) -> ConceptSource:
        return ConceptSource(utterance=utterance, quote=quoted(quote, answer))

    links = [
        Linked(
            source_text=label_of.get(normal(link.source_text), link.source_text),
            target_text=label_of.get(normal(link.target_text), link.target_text),
            type=link.relationship_type, confidence=link.confidence, source=source(link.source_quote),
        )
        for link in extraction.relationships
    ]  # fmt: skip
    from_focus, concepts = _reached(extraction.relationships, focus, graph), []
    for read, _ in single:
        label = label_of[normal(read.text)]
        elements = [*(e for e in read.linked_elements if e in topic.elements), *topic.mentioned(label, language)]
        elements += focus.elements if focus and normal(read.text) in from_focus else ()
        concepts.append(SaidConcept(
            text=label, type=read.node_type, confidence=read.confidence, elements=tuple(dict.fromkeys(elements)),
            source=source(read.source_quote),
        ))  # fmt: skip
    return concepts, links, {why: n for why, n in left_out.items() if n}


def in_own_words(concept: ConceptFound, answer: str) -> str | None:
    """The concept as the respondent put it; None for one that nobody said. One without any text is for the graph to
    refuse.

    Its own text, if nearly all its words were said (models repair a word or two), with the denial that it was said
    with. A text in other words, or one too long for a concept, gives way to its quote, if that was said and they share
    a word: a reading that shares none with what it quotes is invented.
    """
    text, quote = concept.text, concept.source_quote
    if not normal(text):
        return text
    is_quoted = _stands_in(quote, answer)
    if _stands_in(text, answer):
        words = quote if is_quoted and len(quote.split()) <= LONGEST_LABEL < len(text.split()) else text
    elif is_quoted and _stems(text) & _stems(quote):
        words = quote
    else:
        return None
    return " ".join((_denial_of(words, answer) or words).split()[:LONGEST_LABEL])


def _stands_in(text: str, answer: str) -> bool:
    wanted, spoken = normal(text).split(), normal(answer)
    words = frozenset(spoken.split())
    return bool(wanted) and (
        f" {' '.join(wanted)} " in f" {spoken} " or sum(word in words for word in wanted) >= NEARLY_ALL * len(wanted)
    )


def _stems(text: str) -> set[str]:
    return {stemmed(word) for word in normal(text).split() if len(word) >= LEAST_LETTERS}


def _denial_of(text: str, answer: str) -> str:
    """The clause that denies a text wherever the answer has it; "" where it stands undenied, too, or denies itself."""
    wanted = normal(text)
    clauses = [clause.strip() for clause in _CLAUSE.split(answer) if f" {wanted} " in f" {normal(clause)} "]
    denied = [len(_NO.findall(normal(clause).partition(wanted)[0])) % 2 == 1 for clause in clauses]
    return clauses[0] if clauses and all(denied) else ""


def _is_several(text: str, others: Collection[str]) -> bool:
    """Whether a concept's text holds two others that were found beside it, neither of which holds the other. As
    `normal` writes them."""

    def holds(whole: str, part: str) -> bool:
        return whole != part and f" {part} " in f" {whole} "

    parts = [other for other in others if other and holds(text, other)]
    return sum(not any(holds(part, other) for part in parts) for other in parts) > 1


def quoted(quote: str, answer: str) -> str:
    """The quote, if it is in the answer; else the answer, cut."""
    return quote.strip() if normal(quote) and normal(quote) in normal(answer) else answer[:LONGEST_QUOTE]


def _reached(relations: Sequence[RelationFound], focus: ConceptNode | None, graph: KnowledgeGraph) -> set[str]:
    """Texts that this turn's relationships connect with the focus, over any number of steps."""
    beside = defaultdict[str, list[str]](list)
    for relation in relations:
        source, target = normal(relation.source_text), normal(relation.target_text)
        beside[source].append(target)
        beside[target].append(source)
    start = [normal(focus.text)] if focus else []
    return set(reached(start, beside)) - {normal(node.text) for node in graph.nodes.values()}


# --- what a model is asked --------------------------------------------------------------------------------------------

_WORDS: Mapping[str, str] = {
    "extract": N_("Analyse one answer from an in-depth interview. Topic: {topic}."),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "known": N_("Concepts said before (relationships may lead to them)"),
    "types": N_("Kinds of concepts"),
    "edges": N_("Allowed relationships (type (what it says): from → to; * is any)"),
    "elements": N_("Elements of the topic (id: name)"),
    "guidelines": N_("How answers are read in this methodology"),
    "asked_about": N_("The question was about this concept"),
    "expected": N_("The question aimed at: {aims}."),
    "extract_rules": N_(
        "- concepts: only what this answer says, newly or again; text is at most eight words of the person's own; "
        "node_type is one of the kinds above; confidence 0 to 1; source_quote is verbatim from the answer; "
        "linked_elements are ids of the elements the concept is about.\n- relationships: source_text and target_text "
        "are concepts from concepts or from those said before, verbatim; relationship_type is one of those above, only "
        "between allowed kinds, and only where the person says what it means.\n- Several thoughts are several "
        "concepts; irony, what others think and what the person denies are none.\n- If the answer says nothing of "
        "substance, both lists stay empty. Invent nothing."
    ),
    "signal": N_("Judge how an answer in an in-depth interview was given. Topic: {topic}."),
    "signal_rules": N_(
        "Give each a number from 1 to 5 with a rationale of at most {words} words:\n- response_depth: 1 a word, 3 "
        "one reasoned thought, 5 several connected thoughts\n- specificity: 1 vague, 5 with an example\n- "
        "certainty: 1 groping, 5 firm\n- valence: 1 very negative, 3 neutral, 5 very positive\n- engagement: 1 "
        "absent, 5 lively\nAlso sentiment (negative, neutral, positive) and topics (at most five keywords)."
    ),
    "opening": N_("Word the first question of an in-depth interview: warm, open, inviting, without assumptions."),
    "follow": N_("Word the next question of an in-depth interview."),
    "topic": N_("Topic"),
    "transcript": N_("The conversation so far"),
    "signals": N_("Active signals (name = value: reading)"),
    "why": N_("Why this strategy"),
    "focus": N_("Focus concept"),
    "compared": N_("Name these three and ask in what way two of them are alike and different from the third"),
    "strategy": N_("Strategy"),
    "technique": N_("Technique"),
    "method": N_("Method"),
    "ladder": N_("Laddering"),
    "goal": N_("Goal"),
    "client": N_("The client's view (for orientation only: do not tell it, do not lead towards it)"),
    "question_rules": N_(
        "Exactly one question, at most {words} words, in the person's own words, without jargon, without "
        "insinuation. Repeat no question of the conversation."
    ),
    "i": N_("I"),
    "r": N_("R"),
}


def extraction_prompt(data: ExtractionInput, language: Language) -> str:
    """The request to read an answer."""
    words = in_language(_WORDS, language)
    concepts = [json.dumps({"text": concept.text, "type": concept.type}, ensure_ascii=False) for concept in data.known]
    parts = [
        words["extract"].format(topic=data.topic),
        _headed(words["types"], (f"{name}: {text}" for name, text in data.node_types.items())),
        _headed(words["edges"], _edges(data)),
        _headed(words["elements"], (f"{name}: {label}" for name, label in data.elements.items())),
        _headed(words["guidelines"], data.guidelines),
        f"{words['known']}:\n{fence('known', chr(10).join(concepts))}" if concepts else "",
        f"{words['asked_about']}:\n{fence('focus', data.focus.text)}" if data.focus else "",
        words["expected"].format(aims=", ".join(data.aims)) if data.aims else "",
        f"{words['question']}:\n{fence('question', data.question)}",
        f"{words['answer']}:\n{fence('answer', data.answer)}",
        words["extract_rules"],
    ]
    return "\n\n".join(part for part in parts if part)


def _edges(data: ExtractionInput) -> Iterator[str]:
    """Every kind of relationship with what it means and the pairs it may join."""
    for name in dict.fromkeys(name for name, _, _ in data.edges):
        pairs = ", ".join(f"{source} → {target}" for kind, source, target in data.edges if kind == name)
        yield f"{name} ({data.edge_types.get(name, '')}): {pairs}"


def reading_prompt(data: JudgementInput, language: Language) -> str:
    """The request to judge an answer."""
    words = in_language(_WORDS, language)
    return "\n\n".join(
        [
            words["signal"].format(topic=data.topic),
            f"{words['question']}:\n{fence('question', data.question)}",
            f"{words['answer']}:\n{fence('answer', data.answer)}",
            words["signal_rules"].format(words=LONGEST_RATIONALE),
        ]
    )


def question_prompt(data: WordingInput, language: Language) -> str:
    """The request to word a question: an opening one, or one that follows the policy."""
    words = in_language(_WORDS, language)
    topic, goal = f"{words['topic']}: {data.topic}", f"{words['goal']}: {data.goal}"
    method = f"{words['method']}: {data.method}. {data.method_goal}"
    rules = words["question_rules"].format(words=most_words(bool(data.compared)))
    client = f"{words['client']}:\n{fence('client', chr(10).join(data.clients_view))}" if data.clients_view else ""
    if data.opening:
        sections = [words["opening"], topic, client, method, goal, rules]
        return "\n\n".join(part for part in sections if part)
    lines = [f"{words['i']}: {q}\n{words['r']}: {a}" for q, a in data.transcript[-LAST_TURNS:]]
    parts = [
        words["follow"],
        topic,
        client,
        f"{words['transcript']}:\n{fence('transcript', chr(10).join(lines))}",
        _headed(words["signals"], (f"{signal.name} = {signal.value}: {signal.reading}" for signal in data.signals)),
        _headed(words["why"], data.why),
        f"{words['focus']}:\n{fence('focus', data.focus)}" if data.focus else "",
        f"{words['compared']}:\n{fence('compared', chr(10).join(data.compared))}" if data.compared else "",
        f"{words['strategy']}: {data.strategy}. {data.strategy_description}",
        f"{words['technique']}: {data.technique}",
        method,
        f"{words['ladder']}: {' → '.join(data.ladder)}" if data.ladder else "",
        goal,
        rules,
    ]
    return "\n\n".join(part for part in parts if part)


def extraction_schema(data: ExtractionInput) -> dict[str, JsonValue]:
    """The form of the reading, with the kinds, relationships and elements that exist."""
    text: JsonValue = {"type": "string", "maxLength": 200}
    rest: dict[str, JsonValue] = {
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "source_quote": {"type": "string", "maxLength": 400},
    }
    kinds: dict[str, JsonValue] = {"type": "string", "enum": list(data.node_types)}
    concept: dict[str, JsonValue] = {"text": text, "node_type": kinds, **rest}
    if data.elements:  # a list of nothing is no valid schema
        named: dict[str, JsonValue] = {"type": "string", "enum": list(data.elements)}
        concept["linked_elements"] = {"type": "array", "items": named, "maxItems": 3}
    names: list[JsonValue] = list(dict.fromkeys(name for name, _, _ in data.edges))
    kind: JsonValue = {"type": "string", "enum": names}
    relation: dict[str, JsonValue] = {"source_text": text, "target_text": text, "relationship_type": kind, **rest}
    return _object({
        "concepts": {"type": "array", "items": _object(concept), "maxItems": 8},
        "relationships": {"type": "array", "items": _object(relation), "maxItems": 8},
    })  # fmt: skip


def reading_schema(data: JudgementInput) -> dict[str, JsonValue]:
    """The form of the judgement: all five ratings with reasons."""
    rating = _object({"rating": {"type": "integer", "minimum": 1, "maximum": 5}, "rationale": {"type": "string"}})
    properties: dict[str, JsonValue] = dict.fromkeys(RATINGS, rating)
    properties |= {
        "sentiment": {"type": "string", "enum": ["negative", "neutral", "positive"]},
        "topics": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
    }
    return _object(properties)


def _object(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _headed(heading: str, lines: Iterable[str]) -> str:
    """A list below its heading; nothing where it is empty."""
    listed = "".join(f"\n- {line}" for line in lines)
    return f"{heading}:{listed}" if listed else ""


# --- the rules that stand in ------------------------------------------------------------------------------------------
# A crude reader and a crude judge, for the demo without a key and for an answer that no model could read. They know a
# few words that join clauses, tell moods and hedge, and nothing of what anybody means: what is found are the words
# behind such a joint, one concept a sentence, linked to what was asked about.

BY_RULE = 0.6  # confidence of what a rule found
LONGEST = 8  # words of a concept

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_STOPS = re.compile(r"\s*[,.;:!?]\s*")
_JOINT = re.compile(
    r"\b(?:bedeute\w*|heißt|bring\w*|gibt|führ\w+|steckt|dahinter|geht|denke|zählt|wegen|weil|damit|means?|gives?|"
    r"brings?|leads?|behind it|because|about|think|makes?|so that)(?: (?:für|bei|mich|mir|uns|das|es|dann|am ende|vor "
    r"allem|zuerst|auch|noch|dadurch|ich|wir|man|um|an|zu|zum|zur|steckt|steht|liegt|for|to|me|us|it|is|that|way|i|we|"
    r"get|in the end|most|mostly|first|above all|also|of|the|an?))* (?!nicht |not )(?P<said>[^,.;:!?]+)",
    re.IGNORECASE,
)
_VERB_LAST = re.compile(r" (?:gewinn|bekomm|hab|find|erreich|erleb|kann|will|möchte)\w*$", re.IGNORECASE)
_AFTER = re.compile(r" (?:weil|denn|aber|und das|und so|because|but|and that|and so)\b.*$", re.IGNORECASE)
_NOTHING = re.compile(
    r"\b(?:wei(?:ß|ss) (?:ich|nicht)|keine ahnung|nichts|fällt mir|gesagt|erzählt|beschrieben|meine ich|told|described|"
    r"said|no idea|nothing|anything else|i (?:mean|intend))\b",
    re.IGNORECASE,
)
# What two of the compared have, and what the third has.
_CONTRAST = re.compile(
    r"^(?:die |the )?(?:(?:ersten |first )?(?:zwei|two)|beiden?|both)\b(?: davon| of them)?(?: stehen für| haben| "
    r"sind| stand for| have| are)? (?P<one>.+?),? (?:während |whereas |while )?(?:das|die|der|the) (?:dritte|andere|"
    r"third|other)(?: one)?(?: dagegen)?(?: steht für| für| hat| ist| stands for| has| is)? (?P<other>.+?)(?: hat| "
    r"ist)?[.!]?$",
    re.IGNORECASE,
)


def read_answer(data: ExtractionInput) -> Extraction:
    """Concepts and relationships of an answer; none where it denies, or says that there is nothing to say. Without any
    joint the first clause with a word that tells something is the concept."""
    extraction = Extraction()
    asks_poles = any(list(edge[1:]) == data.aims for edge in data.contrasts)
    telling = [text for text in _SENTENCE.split(data.answer.strip()) if text and not _NOTHING.search(text)]
    for sentence in telling:
        poles = _CONTRAST.match(sentence) if asks_poles else None
        if poles and all(_is_new(pole, data) for pole in poles.groups()):
            _add(extraction, data, poles["one"], sentence)
            _add(extraction, data, poles["other"], sentence, opposed_to=poles["one"])
        elif named := next((text for text in _behind_joints(sentence) if _is_new(text, data)), ""):
            _add(extraction, data, named, sentence)
    if not extraction.concepts and not any(_JOINT.search(sentence) for sentence in telling):
        clauses = ((clause, sentence) for sentence in telling for clause in _STOPS.split(sentence))
        plain = (pair for pair in clauses if content_words(pair[0]) and not denies(pair[0]) and _is_new(pair[0], data))
        for clause, sentence in islice(plain, 1):
            _add(extraction, data, " ".join(clause.split()[:LONGEST]), sentence)
    return extraction


def _behind_joints(sentence: str) -> Iterator[str]:
    """What stands behind each joint that is not denied, as the name of a concept."""
    for joint in _JOINT.finditer(sentence):
        if not denies(sentence[: joint.start("said")]):
            yield " ".join(_VERB_LAST.sub("", _AFTER.sub("", joint["said"])).split()[:LONGEST])


def _is_new(text: str, data: ExtractionInput) -> bool:
    words = normal(text).split()
    return not set(words) <= STOP_WORDS and all(normal(concept.text).split() != words for concept in data.known)


def _add(extraction: Extraction, data: ExtractionInput, text: str, sentence: str, opposed_to: str = "") -> None:
    """A concept of the kind that was asked for, of several the first that can hang together with the focus, and how it
    does; or the other pole of a construct."""
    evidence = {"confidence": BY_RULE, "source_quote": sentence.strip()}
    source, kinds, edges = (data.focus.text, data.focus.type) if data.focus else ("", ""), data.aims, data.edges
    if opposed_to:
        source, kinds, edges = (opposed_to, data.aims[0]), data.aims[1:], data.contrasts
    joins = {start: (name, False) for name, start, end in reversed(edges) if end == source[1]}
    joins |= {end: (name, True) for name, start, end in reversed(edges) if start == source[1]}
    fitting = [kind for kind in kinds if not source[0] or kind in joins] or kinds
    kind = fitting[0] if fitting else source[1] or next(iter(data.node_types))
    extraction.concepts.append(ConceptFound.model_validate({"text": text, "node_type": kind, **evidence}))
    if kind in joins:
        name, forward = joins[kind]
        ends = (source[0], text) if forward else (text, source[0])
        link = {"source_text": ends[0], "target_text": ends[1], "relationship_type": name}
        extraction.relationships.append(RelationFound.model_validate({**link, **evidence}))


_HEDGE = re.compile(
    r"\b(?:vielleicht|vermutlich|wahrscheinlich|unsicher|perhaps|maybe|probably|not sure|i guess)\b", re.I
)
_EXAMPLE = re.compile(r"\d|\b(?:zum beispiel|neulich|gestern|for example|for instance|yesterday)\b", re.I)
_GOOD = re.compile(
    r"\b(?:gut|gern|froh|freu|stolz|zufrieden|erleichter|hoff|zuversicht|good|glad|happ|proud|enjoy|relie[fv]|hope|"
    r"calm)",
    re.I,
)
_BAD = re.compile(
    r"\b(?:schlecht|angst|sorge|ärger|wut|traurig|frust|enttäusch|unruh|bad|afraid|fear|worr|ang(?:er|ry)|annoy|sad|"
    r"frustrat|disappoint|anxi|tens(?:e|ion))",
    re.I,
)


def judge_answer(data: JudgementInput) -> Readings:
    """Ratings from an answer's length and a few words of mood."""
    words, clauses = word_count(data.answer), propositions(data.answer)
    if not words:
        return Readings()
    mood = len(_GOOD.findall(data.answer)) - len(_BAD.findall(data.answer))
    depth = 1 if words < 4 else 2 if words < SURFACE_BELOW or clauses <= 1 else 3 + (words >= 20) + (words >= 40)
    return Readings(
        response_depth=AnswerRating(rating=depth),
        specificity=AnswerRating(rating=2 + (words >= 12) + 2 * bool(_EXAMPLE.search(data.answer))),
        certainty=AnswerRating(rating=1 if _HEDGE.search(data.answer) else 3),
        valence=AnswerRating(rating=3 + max(-2, min(2, mood))),
        engagement=AnswerRating(rating=1 if words < 4 else 2 if words < SURFACE_BELOW else 3 if words < 20 else 4),
        sentiment="positive" if mood > 0 else "negative" if mood < 0 else "neutral",
        topics=tuple(dict.fromkeys(word for word in normal(data.answer).split() if len(word) > 5))[:5],
    )


# --- the roles --------------------------------------------------------------------------------------------------------


def trimmed(data: JudgementInput, readings: Readings) -> Readings:
    """A judgement with its reasons cut to the length that was asked for."""
    ratings = {name: rating for name in RATINGS if isinstance(rating := getattr(readings, name), AnswerRating)}
    shorter = {name: " ".join(rating.rationale.split()[:LONGEST_RATIONALE]) for name, rating in ratings.items()}
    return readings.model_copy(
        update={name: ratings[name].model_copy(update={"rationale": text}) for name, text in shorter.items()}
    )


READER = Role(
    "extract", extraction_prompt, Extraction, read_answer, extraction_schema, setting="extraction",
    max_output_tokens=2000, quick=True,
)  # fmt: skip
"""Concepts and relationships of an answer."""

JUDGE = Role("signal", reading_prompt, Readings, judge_answer, reading_schema, trimmed, setting="signals", quick=True)
"""How an answer was given: all llm signals in one call."""

ASKER = Role(
    "question", question_prompt, WordedQuestion, ask_by_rule, lambda data: _object({"question": {"type": "string"}}),
    fit_to_ask, setting="questions", opens=True, quick=True,
)  # fmt: skip
"""The next question."""

ROLES: tuple[Role[Any, Any], ...] = (READER, JUDGE, ASKER)
