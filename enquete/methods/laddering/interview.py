"""A laddering interview as it stands: its turns, its knowledge graph, and what is known while one turn is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from pydantic import JsonValue

from enquete.methods.laddering.knowledge import Changes, Coverage, KnowledgeGraph
from enquete.methods.laddering.questions import QuestionChoice, Reason, Use
from enquete.methods.laddering.settings import LadderingInstrument, LadderingSettings
from enquete.methods.laddering.signals import Depth, Past, Readings, States, Value, after_answer, after_choice
from enquete.respondents.roles import normal
from enquete.runs.conversations import Asked, Conversation, Turn, stored_turns, transcript, turn_block
from enquete.state.asking import Block
from enquete.state.interview_context import InterviewContext


class TurnRecord(Turn):
    """A turn as it is pinned. `choice`: what its question was chosen for, None at the opening; `signals` of the turn
    with those of the next focus; `by`: extract, signal, question (of this turn), next."""

    choice: QuestionChoice | None
    depth: Depth
    changes: Changes
    chain: int
    coverage: Coverage
    readings: Readings
    signals: Mapping[str, Value]
    next: QuestionChoice | None
    next_question: str
    stop: Reason = ""

    @property
    def past(self) -> Past:
        return past_turn(self.choice, self.depth, self.changes, self.chain, self.answer)


def past_turn(choice: QuestionChoice | None, depth: Depth, changes: Changes, chain: int, answer: str) -> Past:
    """The turn whose question was chosen so, in short."""
    strategy, focus = (choice.strategy, choice.focus) if choice else ("", "")
    new = changes.new_nodes, changes.new_edges
    return Past(strategy, focus, depth, *new, chain, changes.retracted, bool(answer))


@dataclass(frozen=True)
class LadderingInterview(Conversation[TurnRecord]):
    """Before the turn that asks `question`. `question_by`: who worded it, "" where nobody has yet."""

    question: str = ""
    question_by: str = ""
    choice: QuestionChoice | None = None
    graph: KnowledgeGraph = field(default_factory=KnowledgeGraph)
    states: States = field(default_factory=dict)

    @property
    def past(self) -> list[Past]:
        return [turn.past for turn in self.turns]

    @cached_property
    def asked(self) -> frozenset[str]:
        """Every question so far, the next one included, as `normal` writes it."""
        return frozenset(normal(question) for question in (*(turn.question for turn in self.turns), self.question))

    @property
    def used(self) -> tuple[Use, ...]:
        """What every question so far was chosen as, the next one included; the opening was not chosen."""
        choices = (*(turn.choice for turn in self.turns), self.choice)
        return tuple(choice.use for choice in choices if choice is not None)

    @property
    def focus(self) -> str:
        """What the next question is about, "" for no concept."""
        return self.choice.focus if self.choice else ""

    def transcript(self) -> list[tuple[str, str]]:
        return [(turn.question, turn.answer) for turn in self.turns]

    def answered(self, graph: KnowledgeGraph, depth: Depth, changes: Changes) -> States:
        """Node states after an answer: the one way, at work as in reading stored turns back."""
        return after_answer(self.states, list(graph.standing.nodes), self.focus, depth, yielded=changes.any_new)

    def after(self, turn: TurnRecord) -> LadderingInterview:
        """With one turn more."""
        graph = self.graph.applied(turn.changes)
        states = self.answered(graph, turn.depth, turn.changes)
        if turn.next is not None:
            states = after_choice(states, turn.next.focus, turn.next.strategy)
        return replace(super().after(turn), question=turn.next_question, question_by=turn.by["next"], choice=turn.next,
                       graph=graph, states=states)  # fmt: skip


@dataclass(frozen=True)
class TurnContext:
    """What every stage of a turn may use beside the channels."""

    interview_context: InterviewContext
    instrument: LadderingInstrument
    settings: LadderingSettings

    @property
    def strategy(self) -> str:
        """How this arm's questions are chosen."""
        return self.interview_context.arm.variant or self.settings.strategies[0]

    def block(self, interview: LadderingInterview, asked: Asked) -> Block:
        """A question with the conversation before it."""
        language, settings = self.interview_context.language, self.settings
        block = turn_block(
            self.interview_context, interview.unit, asked, self.instrument.told(settings.topic.topic, language),
            heading=self.instrument.transcript_heading.in_(language), said=transcript(interview.turns, language),
            session=settings.method.id,
        )  # fmt: skip
        return block.model_copy(update={"by_person": True}) if self.by_person(interview) else block

    def by_person(self, interview: LadderingInterview) -> bool:
        return self.settings.seats_person(self.interview_context.participant(interview.unit))

    def is_ended(self, interview: LadderingInterview) -> bool:
        """Whether the person wished no further question."""
        return self.by_person(interview) and self.interview_context.pinned(end_name(interview.unit)) is not None


def end_name(unit: str) -> str:
    """The name under which it is pinned that a person ended their interview."""
    return f"end/{unit}"


def stored_interview(unit: str, pinned: Mapping[str, JsonValue]) -> LadderingInterview:
    """An interview from its pinned turns, as far as it went."""
    return reduce(LadderingInterview.after, stored_turns(pinned.get, unit, TurnRecord), LadderingInterview(unit))
