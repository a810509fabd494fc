"""Questions: what the interviewer is told for one, the rule's own from the techniques' pools, and what every question must
be: one, short, new."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from pydantic import BaseModel

from enquete.graphs.laddering.choosing import Candidate, Choice, Use, in_a_row
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.methods import (
    FOCUS,
    MOST_FOCUS_WORDS,
    MOST_WORDS,
    SECOND,
    THIRD,
    InterviewMethod,
    Strategy,
    Technique,
    most_words,
)
from enquete.graphs.laddering.phrases import MOST_QUOTED, as_one_line, in_few_words
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.signals.base import Past, Value
from enquete.graphs.laddering.signals.registry import SIGNALS, Detected, split_key
from enquete.instruments.text import Text
from enquete.respondents.planted import pick
from enquete.respondents.quoting import normal
from enquete.state.asking import Language

SAME_QUESTION = 0.9  # share of words in common from which a question counts as asked before
DRY_OPENERS = (
    2  # questions for something new, since anything last came, after which the interviewer stops asking for it
)

_NODE_ID = re.compile(r"\bn\d+\b")
# What makes a question more insistent and no other one.
_PARTICLES = frozenset({
    "so", "sehr", "denn", "eigentlich", "nun", "jetzt", "genau", "überhaupt", "wirklich", "gerade", "bitte",
    "really", "very", "then", "just", "exactly", "now",
})  # fmt: skip


Named = tuple[str, ...]
"""The concepts that a question names, by their texts: one, three that it compares, or ("",)."""


class QuestionOut(BaseModel):
    question: str


class SignalShown(BaseModel):
    """An active signal as the interviewer reads it."""

    name: str
    value: str
    reading: str


class QuestionInput(BaseModel):
    """What a question is made from. `pool`: the rule's own questions, none of them asked yet; `focus`: "" without one;
    `clients_view`: what the client believes and promises; `jargon`: words that a question must not hold; `asked`: questions
    that were asked before, this and `jargon` as `normal` writes them; `compared`: three concepts that it names."""

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
    compared: list[str] = []
    strategy: str = ""
    strategy_description: str = ""
    technique: str = ""
    clients_view: list[str] = []
    jargon: list[str] = []
    asked: frozenset[str] = frozenset()
    pool: list[str]


def ask_by_rule(data: QuestionInput) -> QuestionOut:
    """The first of the pool."""
    return QuestionOut(question=as_one_line(data.pool[0]))


def fit_to_ask(data: QuestionInput, worded: QuestionOut) -> QuestionOut | None:
    """A model's question; None for one that is too long, asks twice, was asked before, speaks of node types or compares others."""
    question = as_one_line(worded.question)
    fit = acceptable(question, data.asked, data.jargon, most_words(bool(data.compared)))
    names = all(f" {normal(one)} " in f" {normal(question)} " for one in data.compared)
    return QuestionOut(question=question) if fit and names else None


def worded(question: Text, named: Named, language: Language) -> str:
    """A pool's question about a concept, quoted in as many of its words as the question has room for; about three, in few of each."""
    frame = question.in_(language)
    if len(named) == 1:
        room = MOST_WORDS - len(frame.replace(FOCUS, "x").split()) + 1
        return frame.replace(FOCUS, in_few_words(named[0], min(room, MOST_QUOTED), language))
    for place, text in zip((FOCUS, SECOND, THIRD), named, strict=True):
        frame = frame.replace(place, in_few_words(text, MOST_FOCUS_WORDS, language))
    return frame


def pool(
    questions: Iterable[Text], names: Iterable[Named], asked: Collection[str], language: Language
) -> Iterator[tuple[str, Named]]:
    """Questions that were not asked yet with the concepts they name; `asked` holds them as `normal` writes them."""
    for named in names:
        for question in questions:
            text = worded(question, named, language)
            if not asked_before(text, asked):
                yield text, named


def namings(technique: Technique, focus: str, graph: KnowledgeGraph) -> list[Named]:
    """What a technique can name: the focus, "" where it asks about none; of a triad with any two others of its type."""
    if not technique.triad:
        return [(graph.nodes[focus].text if focus else "",)]
    own = graph.nodes[focus]
    others = [one.text for one in graph.nodes.values() if one.type == own.type and one.id != focus]
    return [(own.text, *pair) for pair in combinations(others, 2)]


def technique_pool(
    technique: Technique, names: Iterable[Named], asked: Collection[str], language: Language
) -> list[tuple[str, Named]]:
    """A technique's questions that were not asked yet, the wording that was heard least first."""

    def heard(question: Text) -> int:
        frame = normal(question.in_(language).replace(FOCUS, ""))
        return sum(frame in one for one in asked)

    return list(pool(sorted(technique.questions, key=heard), names, asked, language))


def candidates(
    method: InterviewMethod,
    graph: KnowledgeGraph,
    asked: Collection[str],
    language: Language,
    used: Collection[Use] = (),
    past: Sequence[Past] = (),
) -> list[Candidate]:
    """Every strategy on every concept it can serve, in the file's order and that of the conversation.

    A pair needs a technique that suits the concept, whose answer could hang together with it, and that was not used on it:
    so nothing is ever asked twice, whoever words it; a pole that has its opposite is not asked for it. After questions for something
    new that brought nothing, another one would be pestering: they rest until an answer brings something again, unless there is no
    concept to ask about.
    """
    dry = past[len(past) - in_a_row(past, lambda turn: not turn.yielded) :]
    resting = bool(graph.nodes) and sum(bool(turn.strategy) and not turn.focus for turn in dry) >= DRY_OPENERS
    whole = {edge.source for edge in graph.edges.values() if edge.contrast}
    found = []
    for name, strategy in method.strategies.items():
        if resting and not strategy.focus and not strategy.closing:
            continue
        for focus, kind in _targets(strategy, graph):
            fitting = tuple(
                technique
                for technique in strategy.techniques
                if Use(name, technique.id, focus) not in used
                and method.applicable(technique, kind)
                and not (focus in whole and technique.elicits == method.opposite_type(kind))
                and any(pool(technique.questions, namings(technique, focus, graph), asked, language))
            )
            if fitting:
                found.append(Candidate(name, focus, fitting))
    return found


def _targets(strategy: Strategy, graph: KnowledgeGraph) -> Iterator[tuple[str, str]]:
    """(node, type) that a strategy can be used on; ("", "") for one that asks about no concept."""
    if not strategy.focus:
        yield "", ""
        return
    yield from ((node.id, node.type) for node in graph.nodes.values())


def acceptable(question: str, asked: Collection[str], jargon: Collection[str] = (), most: int = MOST_WORDS) -> bool:
    """One question of at most so many words that was not asked before, in words that a respondent would use.

    `asked` and `jargon` hold texts as `normal` writes them.
    """
    words, text = len(question.split()), normal(question)
    if not 2 <= words <= most or question.count("?") != 1 or _NODE_ID.search(text):
        return False
    return not any(f" {term} " in f" {text} " for term in jargon) and not asked_before(question, asked)


def asked_before(question: str, asked: Collection[str]) -> bool:
    """Whether a question is one of `asked` (as `normal` writes them), or so like one that a respondent hears it again."""
    text = normal(question)
    if text in asked:
        return True
    words = _telling_words(text)
    for others in _heard(frozenset(asked)):
        shared = len(words & others)  # no generator: it would cost more than the comparison
        if 2 * shared >= SAME_QUESTION * (len(words) + len(others)):
            return True
    return False


@lru_cache(maxsize=1024)  # some hundred questions a turn are held against every one so far
def _heard(asked: frozenset[str]) -> list[frozenset[str]]:
    return [words for one in asked if (words := _telling_words(one))]


@lru_cache(maxsize=65_536)  # a question is compared with every later one of its interview
def _telling_words(text: str) -> frozenset[str]:
    return frozenset(text.split()) - _PARTICLES


# --- what the interviewer is told -------------------------------------------------------------------------------------


def technique_of(method: InterviewMethod, choice: Choice) -> Technique:
    """KeyError for one that the methodology does not have."""
    return {one.id: one for one in method.strategies[choice.strategy].techniques}[choice.technique]


def opening(settings: LadderingSettings, language: Language, *key: str | int) -> QuestionInput:
    """For the first question; `key` draws which of the rule's openings stands first."""
    method = settings.method
    questions = [question.in_(language) for question in method.opening.questions]
    first = pick(questions, *key)
    return QuestionInput(
        opening=True,
        topic=settings.topic.topic.in_(language),
        method=method.title.in_(language),
        ladder=_ladder(method, language),
        method_goal=method.goal.in_(language),
        goal=method.opening.goal.in_(language),
        clients_view=_clients_view(settings, language),
        jargon=list(jargon(method, [], language)),
        pool=[first, *(one for one in questions if one != first)],
    )


def follow_up(
    settings: LadderingSettings,
    choice: Choice,
    graph: KnowledgeGraph,
    detected: Detected,
    transcript: list[tuple[str, str]],
    asked: frozenset[str],
    language: Language,
) -> QuestionInput:
    """For a question that follows the choice: the active signals with their readings, and why this strategy won."""
    method = settings.method
    strategy, technique = method.strategies[choice.strategy], technique_of(method, choice)
    focus = graph.nodes[choice.focus].text if choice.focus else ""
    asking = technique_pool(technique, namings(technique, choice.focus, graph.standing), asked, language)
    return QuestionInput(
        opening=False,
        topic=settings.topic.topic.in_(language),
        method=method.title.in_(language),
        ladder=_ladder(method, language),
        method_goal=method.goal.in_(language),
        goal=strategy.goal.in_(language),
        transcript=transcript,
        signals=list(active(choice.parts, detected.of(choice.strategy, choice.focus), language)),
        why=list(reasons(choice)),
        focus=focus,
        compared=[in_few_words(one, MOST_FOCUS_WORDS, language) for one in asking[0][1]] if technique.triad else [],
        strategy=strategy.label.in_(language),
        strategy_description=strategy.description.in_(language),
        technique=technique.description.in_(language),
        clients_view=_clients_view(settings, language),
        jargon=list(jargon(method, [answer for _, answer in transcript], language)),
        asked=asked,
        pool=[text for text, _ in asking],
    )


def active(parts: Mapping[str, float], values: Mapping[str, Value], language: Language) -> Iterator[SignalShown]:
    """The signals that counted for the choice, each with what its value means."""
    for name in dict.fromkeys(split_key(key)[0] for key in parts):
        signal, value = SIGNALS[name], values[name]
        shown = f"{value:.2f}" if isinstance(value, float) else str(value).lower()
        yield SignalShown(name=name, value=shown, reading=signal.description.in_(language))


def reasons(choice: Choice) -> Iterator[str]:
    """What spoke for the choice and against it, the strongest first."""
    for key, part in sorted(choice.parts.items(), key=lambda pair: -abs(pair[1])):
        yield f"{key}: {part:+.1f}"
    if choice.because:
        yield f"end: {choice.because}"
    if choice.multiplier != 1:
        yield f"phase: ×{choice.multiplier:g}"


def _clients_view(settings: LadderingSettings, language: Language) -> list[str]:
    concept = settings.topic
    return [text.in_(language) for text in (concept.insight, concept.promise, *concept.reasons_to_believe)]


def jargon(method: InterviewMethod, answers: Sequence[str], language: Language) -> Iterator[str]:
    """Names of node types that no question may hold: none that the respondent or the methodology's own questions use."""
    own = [q for s in method.strategies.values() for t in s.techniques for q in t.questions]
    everyday = f" {normal(' '.join([*answers, *(q.in_(language) for q in (*own, *method.opening.questions))]))} "
    for name, kind in method.node_types.items():
        for term in dict.fromkeys((normal(name), normal(kind.label.in_(language)))):
            if f" {term} " not in everyday:
                yield term


def _ladder(method: InterviewMethod, language: Language) -> list[str]:
    return [method.node_types[rung].label.in_(language) for rung in method.ladder]
