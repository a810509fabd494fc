"""The interviewer's three roles: read an answer, judge how it was given, word a question; and what a model is asked in each.

Everything a respondent said, and everything made of it, stands in a fence: data, never an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from enquete.graphs.laddering.extraction import Extraction, ExtractionInput
from enquete.graphs.laddering.methods import most_words
from enquete.graphs.laddering.questions import QuestionInput, QuestionOut, ask_by_rule, fit_to_ask
from enquete.graphs.laddering.reader import read_answer
from enquete.graphs.laddering.readings import LONGEST_RATIONALE, RATINGS, ReadingInput, Readings, read_by_rule, trimmed
from enquete.locale import N_, in_language
from enquete.respondents.quoted_data import fence
from enquete.respondents.roles import Role
from enquete.state.asking import Language

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
