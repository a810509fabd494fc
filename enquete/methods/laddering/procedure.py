"""What a laddering study asks: every agent is interviewed for itself, turn by turn, until its interview is over.

An interview is a conversation whose stored turns add up to a knowledge graph and to what each of its concepts went
through. Every arm interviews on its own: what one respondent says never shapes another's questions. The stages of a
turn, and where each leads, are the methodology's graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal

from enquete.graphs.laddering import interview
from enquete.methods.laddering.interview import LadderingInterview, TurnContext, TurnRecord
from enquete.methods.laddering.interviewer import ROLES
from enquete.methods.laddering.questions import opening_questions
from enquete.methods.laddering.settings import LadderingInstrument, LadderingSettings
from enquete.respondents.person import require_asked
from enquete.runs.conversations import Asked, Conversations, run_conversation
from enquete.state.asking import ATTEMPTS, Block, Outcome, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

NODES_A_TURN = 12
"""Nodes that a turn passes at most, the opening included."""
MOST_FOUND = 8  # concepts that are read in one answer
MOST_STATEMENTS = 200  # that are coded twice


class Laddering(Conversations[LadderingInstrument, LadderingSettings, TurnRecord, LadderingInterview]):
    """Units are agents."""

    turn = TurnRecord
    roles = ROLES

    @staticmethod
    def require_persons(settings: LadderingSettings, people: Sequence[Participant], draw: int) -> None:
        require_asked(settings.people, people)

    @staticmethod
    def variants(settings: LadderingSettings) -> Sequence[str]:
        """A further strategy is a further way of asking."""
        return settings.strategies[1:]

    @property
    def most_turns(self) -> int:
        return self.settings.turns

    def begun(self, unit: str, context: InterviewContext) -> LadderingInterview:
        """With the first of the opening questions, which stands for the one that is yet to be worded."""
        return LadderingInterview(unit, question=opening_questions(self.settings, self.language)[0])

    def due(self, talk: LadderingInterview, context: InterviewContext) -> Sequence[Asked]:
        return [Asked(turn=talk.number, question=talk.question)]

    def block(self, talk: LadderingInterview, asked: Asked, context: InterviewContext) -> Block:
        return TurnContext(context, self.instrument, self.settings).block(talk, asked)

    async def hold(self, talk: LadderingInterview, context: InterviewContext) -> Outcome:
        turn_context = TurnContext(context, self.instrument, self.settings)
        start, steps = {"interview": talk}, NODES_A_TURN * (self.most_turns + 1)
        return await run_conversation(interview, start, max_steps=steps, context=turn_context)

    async def code_concepts(self, context: InterviewContext) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Have the concepts of all interviews coded, where a model is to do it and for the main arm alone."""
        if not self._codes_by_model(context):
            return "end"
        from enquete.methods.laddering.coding import code_concepts  # noqa: PLC0415 - the coder is slow to import

        interviews = [
            reduce(LadderingInterview.after, self.stored(unit, context), LadderingInterview(unit))
            for unit in self.units(1, context)
        ]
        method, topic = self.settings.method, self.settings.topic.topic.in_(self.language)
        return await code_concepts(context, interviews, method, topic, self.language)

    def plan(self, context: InterviewContext) -> Plan:
        """With the coding of concepts, where a model does it: at most a batch and a merge a concept, and the second
        coding."""
        plan = super().plan(context)
        if self.settings.people:  # who cost no requests for their answers
            units = self.units(1, context)
            agents = sum(not self.settings.seats_person(context.participant(unit)) for unit in units)
            least, most = plan.calls["answer"]
            answers = (least * agents // (len(units) or 1), most * agents // (len(units) or 1))
            plan = plan.model_copy(update={"calls": {**plan.calls, "answer": answers}})
        if not self._codes_by_model(context):
            return plan
        concepts = len(self.units(1, context)) * self.most_turns * MOST_FOUND
        most = (2 * concepts + MOST_STATEMENTS * len(self.settings.method.node_types)) * ATTEMPTS
        return plan.model_copy(
            update={"calls": {**plan.calls, "theme": (0, most)}, "grows": {"theme": float(MOST_FOUND)}}
        )

    def _codes_by_model(self, context: InterviewContext) -> bool:
        return self.settings.codes == "model" and context.by_model and context.arm.id == context.main_arm
