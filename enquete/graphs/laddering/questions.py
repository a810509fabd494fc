"""Questions: the rule-based interviewer's from the techniques' pools, and what every question must be: one, short, new."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from pydantic import BaseModel

from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.methods import FOCUS, MOST_FOCUS_WORDS, MOST_WORDS, InterviewMethod, Strategy, Technique
from enquete.graphs.laddering.scoring import Candidate
from enquete.graphs.laddering.similarity import normal
from enquete.instruments.text import Text
from enquete.state.seam import Language

_BRACKETS = re.compile(r"[\[\]{}<>]")


class QuestionOut(BaseModel):
    question: str


class SignalShown(BaseModel):
    """An active signal as the interviewer reads it."""

    name: str
    value: str
    reading: str


class QuestionInput(BaseModel):
    """What a question is made from. `pool`: the rule's own questions, none of them asked yet; `focus`: "" without one."""

    opening: bool
    topic: str
    method: str
    ladder: list[str]
    method_goal: str
    goal: str
    transcript: list[tuple[str, str]] = []  # (question, answer), the latest last
    signals: list[SignalShown] = []
    why: list[str] = []
    focus: str = ""
    strategy: str = ""
    strategy_description: str = ""
    technique: str = ""
    pool: list[str]


def ask_by_rule(data: QuestionInput) -> QuestionOut:
    """The first of the pool."""
    return QuestionOut(question=data.pool[0])


def in_few_words(label: str) -> str:
    """The respondent's own words for a concept, cut to what fits into a question, without anything that marks data."""
    return " ".join(_BRACKETS.sub("", label).split()[:MOST_FOCUS_WORDS]).strip(" ,.;:!?")


def pool(questions: Iterable[Text], focus: str, asked: Collection[str], language: Language) -> Iterator[str]:
    """Questions about a concept that were not asked yet; `asked` holds them as `normal` writes them."""
    words = in_few_words(focus)
    for question in questions:
        text = question.in_(language).replace(FOCUS, words)
        if normal(text) not in asked:
            yield text


def technique_pool(technique: Technique, focus: str, asked: Collection[str], language: Language) -> list[str]:
    return list(pool(technique.questions, focus, asked, language))


def candidates(
    method: InterviewMethod, graph: KnowledgeGraph, asked: Collection[str], language: Language
) -> list[Candidate]:
    """Every strategy on every concept it can serve, in the file's order and that of the conversation.

    A pair needs a technique whose answer could hang together with the concept, and a question that was not asked yet: so
    nothing is ever asked twice, whoever words it.
    """
    found = []
    for name, strategy in method.strategies.items():
        for focus, text, kind in _targets(strategy, graph):
            fitting = tuple(
                technique
                for technique in strategy.techniques
                if method.applicable(technique, kind) and any(pool(technique.questions, text, asked, language))
            )
            if fitting:
                found.append(Candidate(name, focus, fitting))
    return found


def _targets(strategy: Strategy, graph: KnowledgeGraph) -> Iterator[tuple[str, str, str]]:
    """(node, text, type) that a strategy can be used on; ("", "", "") for one that asks about no concept."""
    if not strategy.focus:
        yield "", "", ""
        return
    yield from ((node.id, node.text, node.type) for node in graph.nodes.values())


def acceptable(question: str, asked: Collection[str]) -> bool:
    """One question of under fifteen words that was not asked before."""
    words = len(question.split())
    return 2 <= words <= MOST_WORDS and question.count("?") == 1 and normal(question) not in asked


def as_one_line(question: str) -> str:
    """Without line breaks and without anything that could look like a mark around data."""
    return " ".join(_BRACKETS.sub("", question).split())
