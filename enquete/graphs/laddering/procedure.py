"""How a laddering study is conducted: every agent is interviewed for itself, turn by turn, until its interview is over.

An interview is a conversation whose stored turns add up to a knowledge graph and to what each of its concepts went through.
Every arm interviews on its own: what one respondent says never shapes another's questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Literal

from enquete.graphs.laddering.interviewer import ASKER, ROLES
from enquete.graphs.laddering.knowledge import Changes, Coverage, KnowledgeGraph
from enquete.graphs.laddering.questions import QuestionChoice, Reason, Use, opening
from enquete.graphs.laddering.settings import LadderingInstrument, LadderingSettings
from enquete.graphs.laddering.signals import Depth, Past, Readings, States, Value, after_answer, after_choice
from enquete.nodes.conversations import Asked, Conversation, Conversations, Turn, subject, transcript, turn_block
from enquete.respondents.quoting import normal
from enquete.state.asking import ATTEMPTS, Block, Outcome
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

MOST_FOUND = 8  # concepts that are read in one answer
MOST_STATEMENTS = 200  # that are coded twice


class TurnRecord(Turn):
    """A turn as it is frozen. `choice`: what its question was chosen for, None at the opening; `signals` of the turn with
    those of the next focus; `by`: extract, signal, question (of this turn), next."""

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
        strategy, focus = (self.choice.strategy, self.choice.focus) if self.choice else ("", "")
        made = self.changes
        return Past(
            strategy, focus, self.depth, made.new_nodes, made.new_edges, self.chain, made.retracted, bool(self.answer)
        )


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

    desk: InterviewContext
    instrument: LadderingInstrument
    settings: LadderingSettings

    @property
    def strategy(self) -> str:
        """How this arm's questions are chosen."""
        return self.desk.arm.variant or self.settings.strategies[0]

    def block(self, interview: LadderingInterview, asked: Asked) -> Block:
        """A question with the conversation before it."""
        language, settings = self.desk.language, self.settings
        return turn_block(
            self.desk, interview.unit, asked, self.instrument.told(settings.topic.topic, language),
            heading=self.instrument.transcript_heading.in_(language), said=transcript(interview.turns, language),
            session=settings.method.id,
        )  # fmt: skip


class Laddering(Conversations[LadderingInstrument, LadderingSettings, TurnRecord, LadderingInterview]):
    """Units are agents."""

    turn = TurnRecord
    roles = ROLES

    @staticmethod
    def variants(settings: LadderingSettings) -> Sequence[str]:
        """A further strategy is a further way of asking."""
        return settings.strategies[1:]

    @property
    def most_turns(self) -> int:
        return self.settings.turns

    def begun(self, unit: str, desk: InterviewContext) -> LadderingInterview:
        """With the first of the opening questions, which stands for the one that is yet to be worded."""
        return LadderingInterview(unit, question=self.settings.method.opening.questions[0].in_(self.language))

    def due(self, talk: LadderingInterview, desk: InterviewContext) -> Sequence[Asked]:
        return [Asked(turn=talk.number, question=talk.question)]

    def block(self, talk: LadderingInterview, asked: Asked, desk: InterviewContext) -> Block:
        return TurnContext(desk, self.instrument, self.settings).block(talk, asked)

    async def advance(self, talk: LadderingInterview, desk: InterviewContext) -> LadderingInterview | Outcome:
        """The next turn; before the first one the opening question, warm and open."""
        from enquete.graphs.laddering.turn import hold  # noqa: PLC0415 - LangGraph is slow to import

        if not talk.question_by:
            data = opening(self.settings, self.language, desk.arm.seed, talk.unit, "opening")
            done = await ASKER.work(desk, self.settings, subject(talk.unit, talk.number), data)
            if done == "short":
                return "short"
            talk = replace(talk, question=done[0].question, question_by=done[1])
        ended = await hold(talk, TurnContext(desk, self.instrument, self.settings))
        return ended["result"] if "result" in ended else ended["outcome"]

    async def between(self, round: int, desk: InterviewContext) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Where a model is to make the codes: once all interviews of the main arm are over."""
        if not self._codes_by_model(desk):
            return "end"
        from enquete.graphs.laddering.coding import code_concepts  # noqa: PLC0415 - the coder is slow to import

        interviews = [
            reduce(LadderingInterview.after, self.stored(unit, desk), LadderingInterview(unit))
            for unit in self.units(1, desk)
        ]
        method, topic = self.settings.method, self.settings.topic.topic.in_(self.language)
        return await code_concepts(desk, interviews, method, topic, self.language)

    def plan(self, desk: InterviewContext) -> Plan:
        """With the coding of concepts, where a model does it: at most a batch and a merge a concept, and the second coding."""
        plan = super().plan(desk)
        if not self._codes_by_model(desk):
            return plan
        concepts = len(self.units(1, desk)) * self.most_turns * MOST_FOUND
        most = (2 * concepts + MOST_STATEMENTS * len(self.settings.method.node_types)) * ATTEMPTS
        return plan.model_copy(
            update={"calls": {**plan.calls, "theme": (0, most)}, "grows": {"theme": float(MOST_FOUND)}}
        )

    def _codes_by_model(self, desk: InterviewContext) -> bool:
        return self.settings.codes == "model" and desk.by_model and desk.arm.id == desk.main_arm
