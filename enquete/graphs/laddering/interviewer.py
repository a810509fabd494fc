"""The interviewer's three roles: read an answer, judge how it was given, word a question; and what a model is asked in each.

Everything a respondent said, and everything made of it, stands in a fence: data, never an instruction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from enquete.graphs.laddering.clauses import DENIED, LONGEST, denies, existing, main_clause
from enquete.graphs.laddering.extraction import ConceptFound, Extraction, ExtractionInput, Known, RelationFound
from enquete.graphs.laddering.methods import most_words
from enquete.graphs.laddering.phrases import similarity
from enquete.graphs.laddering.questions import QuestionInput, QuestionOut, ask_by_rule, fit_to_ask
from enquete.graphs.laddering.readings import LONGEST_RATIONALE, RATINGS, ReadingInput, Readings, read_by_rule, trimmed
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence, normal
from enquete.respondents.roles import Role
from enquete.state.asking import Language

# --- Reads answers without a model: from connectives and the shape of clauses, the question asked and what was said
# before
# It knows words that join clauses, none that name things: what is said comes from the answer alone. Where no joint is found, the
# main clause is the concept (clauses.py). Measured by: the share of planted links that are found, and a list of ordinary answers
# (tests/graphs/laddering).

# --- The two sides of a comparison ("two of them are small, whereas the third is large"), read off words of contrast
# alone

_BETWEEN = re.compile(
    r"^(?P<one>.{4,}?)(?:,|;|\s[–-])?\s+(?:(?:und|aber|and|but)\s+)?(?:"
    r"während|wohingegen|im (?:gegensatz|unterschied) (?:zu[rm]?)|anders als|whereas|while|unlike|in contrast to|as opposed to"
    r"|(?=(?:das|der|die|the) (?:dritte|andere|letzte|third|other|last)\b))\s*(?P<other>.+)$",
    re.IGNORECASE,
)
_OF_WHOM = re.compile(
    r"^(?:(?:die|the)\s+)?(?:(?:ersten |first |anderen |other )?(?:zwei|beiden|beide|two|both)(?:\s+(?:davon|von ihnen|of them))?"
    r"|(?:das|der|die|the)\s+(?:dritte|andere|letzte|third|other|last)(?:\s+one)?)\s+",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^(?:(?:dagegen|hingegen|jedoch|aber|eher|rather|however)\s+)*"
    r"(?:(?:sich\s+)?(?:gleichen|ähneln)(?: sich)? (?:in|darin)|stehen|steht|sind|ist"
    r"|haben|hat|bieten|bietet|verlangen|verlangt|teilen|are alike in|stands?|are|is|ha(?:ve|s)|shares?|offers?|needs?)?"
    r"\s*(?:dagegen\s+|hingegen\s+|jedoch\s+|eher\s+)?(?:für\s+|for\s+)?",
    re.IGNORECASE,
)


def poles(sentence: str) -> tuple[str, str] | None:
    """What two of the compared have, and what the third has: as they were put, without who has it. None without a contrast."""
    found = _BETWEEN.match(sentence.strip().rstrip(".!"))
    if not found or not _OF_WHOM.match(found["one"].strip()):
        return None
    one, other = (_SAYS.sub("", _OF_WHOM.sub("", side.strip(" ,")), count=1) for side in (found["one"], found["other"]))
    return (one, other) if one and other else None


BY_RULE = 0.6  # confidence of what a rule found
SAME_WORDS = 0.6  # similarity from which a clause speaks of a known concept

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")

# What nobody means as an answer.
_NOTHING = re.compile(
    r"\b(?:wei(?:ß|ss) (?:ich|es)? ?(?:auch )?nicht|keine ahnung|(?:fällt|fiele) mir (?:\w+ ){0,3}(?:nichts|nicht)|schon (?:alles )?gesagt"
    r"|wie (?:schon )?gesagt|(?:can ?not|can't|could not) (?:say|think)|(?:do not|don't) know|no idea|nothing (?:else|more|comes)"
    r"|already said|said (?:all|that|it|everything)|as i said)\b",
    re.IGNORECASE,
)

# A clause before, a joint, a clause after: the first leads to the second.
_FORWARD = [
    re.compile(rf"\b(?:{joint})\s+(?P<b>.+)", re.IGNORECASE)
    for joint in (
        r"(?:führt|führen|führte)(?: (?:für )?(?:mich|uns|dann|bei mir|am ende))* (?:zu|zur|zum)",
        r"(?:bedeutet|bedeuten|bedeutete|heißt|heißen|hieß)(?: (?:(?:für|bei) (?:mich|mir|uns)|das|es|dann|am ende))*",
        r"(?:bringt|bringen|brachte|gibt|geben|gab|verschafft|schenkt|sichert|ermöglicht)(?: (?:mir|uns|mich|das|es|dann|am ende))*",
        r"(?:daraus|davon|dahinter|darunter) (?:wurde|wird|entsteht|entstand|kommt|kam|liegt|steht|steckt|verbirgt sich)",
        r"(?:steckt|steht|liegt) (?:dahinter|darunter)",
        r"(?:leads?|led)(?: (?:me|us))? to",
        r"(?:means?|meant)(?: (?:for|to) (?:me|us))?(?: in the end)?",
        r"(?:gives?|gave|brings?|brought|gets?|got|earns?|allows?|secures?)(?: (?:me|us))?",
        r"(?:out of|from|behind|beneath) (?:it|that|this) (?:came|comes|grew|grows|is|was|lies|stands)",
    )
]
_ANSWERING = [
    re.compile(rf"\b(?:{joint})\s+(?P<b>.+)", re.IGNORECASE)
    for joint in (
        r"wegen|aufgrund|dank",
        r"(?:es|das) (?:war|wäre)(?: (?:für mich|dann|vor allem|am ende|wohl))*",
        r"because of|thanks to|owing to",
        r"(?:it|that) (?:was|would be)(?: (?:mostly|above all|probably))*",
    )
] + [
    # The verb comes last in a German clause of reason.
    re.compile(
        r"\b(?:weil|damit|sodass|dass) (?:ich|wir|man)(?: (?:dadurch|damit|dann|so|daraus))*\s+(?P<b>.+?)"
        r"\s+(?:bekomm|gewinn|hab|find|spür|erreich|erleb|seh)\w*\b",
        re.IGNORECASE,
    )
]
# A concept is named without being linked.
_NAMED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bgeht es (?:mir )?(?:dabei )?(?:vor allem |eigentlich |auch |noch |zuerst |besonders )*um (?P<b>.+)",
        r"\bdenke ich (?:vor allem |auch |noch |zuerst |besonders |sofort )*an (?P<b>.+)",
        r"\bzähl(?:t|en)(?: für mich)? (?:vor allem |auch |noch |zuerst |besonders )*(?P<b>.+)",
        r"\b(?:gehört|gehören) (?:für mich )?(?:vor allem |auch |noch |zuerst |besonders )*(?P<b>.+?) (?:dazu|hierher)\b",
        r"\bi care (?:most |also |first |especially |a lot )*about (?P<b>.+)",
        r"\bi (?:\w+ )?think (?:first |also |mostly |at once )*of (?P<b>.+)",
        r"\b(?:it is|it's) (?:also |mostly |above all |first |for me )*about (?P<b>.+)",
        r"\bwhat (?:also |really |still )*(?:counts|matters) (?:to me |for me )*(?:is|are) (?P<b>.+)",
    )
]
_END = re.compile(
    r"\s*(?:[.!?;:]|,\s*(?!(?:die|der|das|which|that)\b.{0,12}$)|\s[–—-]\s"
    r"|\s(?:und das|und darum|und deshalb|aber|denn|weil|and that|but|because|which|so that)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:vor allem|am ende|für mich|eigentlich|einfach|auch|noch|dann|also|ja|nun|eben|schlicht|so etwas wie"
    r"|in erster linie|the|a|an|simply|above all|in the end|for me|also|mostly|just|really|something like|well)\s+)+",
    re.IGNORECASE,
)
_ANAPHOR = re.compile(
    r"^(?:(?:weil|denn|und|ja|nun|also|because|and|well|so|since)\s+)*"
    r"(?:das|dies|es|so etwas|beides|this|that|it|which|all of this)?\s*(?:alles|all)?$",
    re.IGNORECASE,
)
_POINTING = frozenset({
    "das", "dies", "dieses", "es", "alles", "etwas", "was", "beides", "mich", "mir",
    "that", "this", "it", "everything", "something", "what", "me",
})  # fmt: skip
_TRAILING = re.compile(
    r"\s+(?:mehr nicht|halt|eben|and so on|und so weiter|bedeutet|heißt|bringt|gibt|führt|ist|sind)$", re.IGNORECASE
)


def read_answer(data: ExtractionInput) -> Extraction:
    """Concepts and relationships of an answer; none where it says that there is nothing to say."""
    reading = _Reading(data)
    telling = [one for one in _SENTENCE.split(data.answer.strip()) if one and not _NOTHING.search(one)]
    for sentence in telling:
        reading.read(sentence)
    if not reading.concepts and not reading.understood:
        reading.read_plainly(telling)
    return Extraction(concepts=reading.concepts, relationships=reading.relations)


class _Reading:
    """One answer, sentence by sentence."""

    def __init__(self, data: ExtractionInput):
        self._data = data
        self.concepts: list[ConceptFound] = []
        self.relations: list[RelationFound] = []
        self.understood = False  # some joint was found, if only to something denied or known

    def read_plainly(self, sentences: Sequence[str]) -> None:
        """The first sentence that says something, by its main clause."""
        for sentence in sentences:
            fact = existing(sentence)
            named = fact or main_clause(sentence)
            if named and self._is_new(named):
                self._link(None if fact else self._data.focus, named, sentence)
                return

    def read(self, sentence: str) -> None:
        if existing(sentence) or self._read_poles(sentence):
            return
        for before, after in _joints(sentence):
            target = clause_to_concept(after)
            source = self._source(before)
            self.understood |= bool(target)
            if target and self._is_new(target) and not DENIED.match(target) and not denies(before):
                self._link(source, target, sentence)
                return
        for pattern in _NAMED:
            found = pattern.search(sentence)
            named = clause_to_concept(found["b"]) if found else ""
            self.understood |= bool(named)
            if found and named and self._is_new(named) and not denies(sentence[: found.start("b")]):
                self._link(self._data.focus, named, sentence)
                return

    def _read_poles(self, sentence: str) -> bool:
        """Where the question was for a construct: what two have as its one pole, what the third has as the other."""
        joined = next((one for one in self._data.contrasts if list(one[1:]) == self._data.aims), None)
        sides = poles(sentence) if joined else None
        one, other = (clause_to_concept(side) for side in sides) if sides else ("", "")
        if joined is None or not one or not other or not (self._is_new(one) and self._is_new(other)):
            return False
        name, _, kind = joined
        said = {"confidence": BY_RULE, "source_quote": sentence.strip()}
        self._link(self._data.focus, one, sentence)
        self.concepts.append(ConceptFound.model_validate({"text": other, "node_type": kind, **said}))
        ends = {"source_text": one, "target_text": other, "relationship_type": name}
        self.relations.append(RelationFound.model_validate({**ends, **said}))
        return True

    def _source(self, before: str) -> Known | None:
        """What the clause before the joint speaks of: something said before, else what was asked about."""
        clause = before.strip(" ,")
        if _ANAPHOR.match(clause):
            return self._data.focus
        alike = [(_overlap(clause, known.text), known) for known in self._data.known]
        best = max(alike, key=lambda pair: pair[0], default=None)
        return best[1] if best and best[0] >= SAME_WORDS else self._data.focus

    def _is_new(self, text: str) -> bool:
        return all(normal(text) != normal(known.text) for known in self._data.known)

    def _link(self, source: Known | None, target: str, sentence: str) -> None:
        kind = self._type(source)
        quote = sentence.strip()
        self.concepts.append(ConceptFound(text=target, node_type=kind, confidence=BY_RULE, source_quote=quote))
        edge = self._edge(source, kind)
        if source is not None and edge is not None:
            name, forward = edge
            ends = (source.text, target) if forward else (target, source.text)
            self.relations.append(
                RelationFound(source_text=ends[0], target_text=ends[1], relationship_type=name, confidence=BY_RULE,
                              source_quote=quote)
            )  # fmt: skip

    def _type(self, source: Known | None) -> str:
        """What was asked for; the first of several that can hang together with the source. A statement that answers no
        question about a concept stands on the first rung."""
        if source is None and self._data.focus is not None:
            return next(iter(self._data.node_types))
        fitting = [aim for aim in self._data.aims if source is None or self._edge(source, aim)]
        return (fitting or self._data.aims or [source.type if source else next(iter(self._data.node_types))])[0]

    def _edge(self, source: Known | None, kind: str) -> tuple[str, bool] | None:
        """(edge type, forward) that joins the source with a concept of this type."""
        if source is None:
            return None
        for name, one, other in self._data.edges:
            if (one, other) == (source.type, kind):
                return name, True
        for name, one, other in self._data.edges:
            if (one, other) == (kind, source.type):
                return name, False
        return None


def _joints(sentence: str) -> Iterator[tuple[str, str]]:
    """What stands before and after each joint; nothing before one that only answers."""
    for pattern in _FORWARD:
        if found := pattern.search(sentence):
            yield sentence[: found.start()], found["b"]
    for pattern in _ANSWERING:
        if found := pattern.search(sentence):
            yield "", found["b"]


def clause_to_concept(clause: str) -> str:
    """A clause as the name of a concept: its first part, without what introduces it; "" if nothing is left of it."""
    first = _END.split(clause.strip(), maxsplit=1)[0]
    bare = _TRAILING.sub("", _LEADING.sub("", first.strip(" ,„“”\"'")))
    words = bare.split()
    says_something = len(normal(bare)) > 2 and normal(bare) not in _POINTING and len(words) <= LONGEST + 4
    return " ".join(words[:LONGEST]) if says_something else ""


def _overlap(clause: str, label: str) -> float:
    """1 if the label stands in the clause, else how alike they are."""
    return 1.0 if normal(label) and normal(label) in normal(clause) else similarity(clause, label)


LAST_TURNS = 6  # of the transcript that the interviewer sees

_WORDS: Mapping[str, str] = {
    "extract": N_("Analyse one answer from an in-depth interview. Topic: {topic}."),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "known": N_("Concepts said before (relationships may lead to them)"),
    "types": N_("Kinds of concepts"),
    "edges": N_("Allowed relationships (type (what it says): from → to; * is any)"),
    "elements": N_("Elements of the topic (id: name)"),
    "asked_about": N_("The question was about this concept"),
    "expected": N_("The question aimed at: {aims}."),
    "extract_rules": N_(
        "- concepts: only what this answer says, newly or again; text is at most eight words of the person's "
        "own; node_type is one of the kinds above; confidence 0 to 1; source_quote is verbatim from the answer; "
        "linked_elements are ids of the elements the concept is about.\n- relationships: source_text and "
        "target_text are concepts from concepts or from those said before, verbatim; relationship_type is one of "
        "those above, only between allowed kinds, and only where the person says what it means.\n- Several thoughts are several "
        "concepts; irony, what others think and what the person denies are none.\n- If the answer "
        "says nothing of substance, both lists stay empty. Invent nothing."
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
    known = [json.dumps({"text": one.text, "type": one.type}, ensure_ascii=False) for one in data.known]
    parts = [
        words["extract"].format(topic=data.topic),
        f"{words['types']}:\n" + _list(f"{name}: {text}" for name, text in data.node_types.items()),
        f"{words['edges']}:\n" + _list(_edges(data)),
        f"{words['elements']}:\n" + _list(f"{name}: {label}" for name, label in data.elements.items()),
        f"{words['known']}:\n{fence('known', chr(10).join(known))}" if known else "",
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
        pairs = ", ".join(f"{one} → {other}" for kind, one, other in data.edges if kind == name)
        yield f"{name} ({data.edge_types.get(name, '')}): {pairs}"


def reading_prompt(data: ReadingInput, language: Language) -> str:
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


def question_prompt(data: QuestionInput, language: Language) -> str:
    """The request to word a question: an opening one, or one that follows the policy."""
    words = in_language(_WORDS, language)
    method = f"{words['method']}: {data.method}. {data.method_goal}"
    rules = words["question_rules"].format(words=most_words(bool(data.compared)))
    client = f"{words['client']}:\n{fence('client', chr(10).join(data.clients_view))}" if data.clients_view else ""
    if data.opening:
        told = [
            words["opening"],
            f"{words['topic']}: {data.topic}",
            client,
            method,
            f"{words['goal']}: {data.goal}",
            rules,
        ]
        return "\n\n".join(part for part in told if part)
    lines = [f"{words['i']}: {q}\n{words['r']}: {a}" for q, a in data.transcript[-LAST_TURNS:]]
    parts = [
        words["follow"],
        f"{words['topic']}: {data.topic}",
        client,
        f"{words['transcript']}:\n{fence('transcript', chr(10).join(lines))}",
        f"{words['signals']}:\n" + _list(f"{one.name} = {one.value}: {one.reading}" for one in data.signals)
        if data.signals
        else "",
        f"{words['why']}:\n" + _list(data.why) if data.why else "",
        f"{words['focus']}:\n{fence('focus', data.focus)}" if data.focus else "",
        f"{words['compared']}:\n{fence('compared', chr(10).join(data.compared))}" if data.compared else "",
        f"{words['strategy']}: {data.strategy}. {data.strategy_description}",
        f"{words['technique']}: {data.technique}",
        method,
        f"{words['ladder']}: {' → '.join(data.ladder)}" if data.ladder else "",
        f"{words['goal']}: {data.goal}",
        rules,
    ]
    return "\n\n".join(part for part in parts if part)


def extraction_schema(data: ExtractionInput) -> dict[str, JsonValue]:
    """The form of the reading, with the kinds, relationships and elements that exist."""
    concept: dict[str, JsonValue] = {
        "text": {"type": "string", "maxLength": 200},
        "node_type": {"type": "string", "enum": list(data.node_types)},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "source_quote": {"type": "string", "maxLength": 400},
        "linked_elements": {"type": "array", "items": {"type": "string", "enum": list(data.elements)}, "maxItems": 3},
    }
    names: list[JsonValue] = list(dict.fromkeys(name for name, _, _ in data.edges))
    relation: dict[str, JsonValue] = {
        "source_text": {"type": "string", "maxLength": 200},
        "target_text": {"type": "string", "maxLength": 200},
        "relationship_type": {"type": "string", "enum": names},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "source_quote": {"type": "string", "maxLength": 400},
    }
    return _object(
        {
            "concepts": {"type": "array", "items": _object(concept), "maxItems": 8},
            "relationships": {"type": "array", "items": _object(relation), "maxItems": 8},
        }
    )


def reading_schema(data: ReadingInput) -> dict[str, JsonValue]:
    """The form of the judgement: all five ratings with reasons."""
    rating = _object({"rating": {"type": "integer", "minimum": 1, "maximum": 5}, "rationale": {"type": "string"}})
    properties: dict[str, JsonValue] = dict.fromkeys(RATINGS, rating)
    properties |= {
        "sentiment": {"type": "string", "enum": ["negative", "neutral", "positive"]},
        "topics": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
    }
    return _object(properties)


def question_schema(data: QuestionInput) -> dict[str, JsonValue]:
    return _object({"question": {"type": "string"}})


def _object(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


READER = Role(
    "extract", extraction_prompt, Extraction, read_answer, extraction_schema, setting="extraction",
    max_output_tokens=2000, quick=True,
)  # fmt: skip
"""Concepts and relationships of an answer."""

JUDGE = Role("signal", reading_prompt, Readings, read_by_rule, reading_schema, trimmed, setting="signals", quick=True)
"""How an answer was given: all llm signals in one call."""

ASKER = Role(
    "question",
    question_prompt,
    QuestionOut,
    ask_by_rule,
    question_schema,
    fit_to_ask,
    setting="questions",
    opens=True,
    quick=True,
)
"""The next question."""

ROLES: tuple[Role[Any, Any], ...] = (READER, JUDGE, ASKER)
