"""What the interviewer is told for its questions: the opening, a follow-up with the reasons for it; and the last question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.methods import InterviewMethod, Technique
from enquete.graphs.laddering.questions import QuestionInput, SignalShown, technique_pool
from enquete.graphs.laddering.scoring import Choice, Use
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.signals.base import Value
from enquete.graphs.laddering.signals.registry import SIGNALS, Detected, split_key
from enquete.graphs.laddering.similarity import normal
from enquete.graphs.laddering.stopping import Reason
from enquete.respondents.planted import pick
from enquete.state.seam import Language

CLOSING_FROM = 5  # turns an interview must have for a closing question: of fewer it would take too large a share


def closing_turn(
    method: InterviewMethod, used: Sequence[Use], *, turns: int, done: int, stop: Reason, heard: bool
) -> Choice | None:
    """The closing question that an interview which would end with `stop` ("" for one that goes on) is to have first.

    It is also the last of all `turns`. None where there is no turn for it, it was asked, or nothing was `heard` so far.
    """
    if not heard or turns < CLOSING_FROM or done >= turns or stop in ("max_turns", "closing"):
        return None
    because: Reason = stop or ("max_turns" if done == turns - 1 else "")
    closing = [(name, strategy) for name, strategy in method.strategies.items() if strategy.closing]
    if not because or not closing or {use.strategy for use in used} & {name for name, _ in closing}:
        return None
    name, strategy = closing[0]
    return Choice(strategy=name, focus="", technique=strategy.techniques[0].id, score=0.0, because=because)


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
    asked: Collection[str],
    language: Language,
) -> QuestionInput:
    """For a question that follows the choice: the active signals with their readings, and why this strategy won."""
    method = settings.method
    strategy, technique = method.strategies[choice.strategy], technique_of(method, choice)
    focus = graph.nodes[choice.focus].text if choice.focus else ""
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
        strategy=strategy.label.in_(language),
        strategy_description=strategy.description.in_(language),
        technique=technique.description.in_(language),
        clients_view=_clients_view(settings, language),
        jargon=list(jargon(method, [answer for _, answer in transcript], language)),
        pool=technique_pool(technique, focus, asked, language),
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
