"""What a discovery study asks: every agent for itself, question by question, until its record is complete or its
budget is spent. Every arm interviews on its own. The steps of an interview are the methodology's graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from enquete.graphs.discovery import interview
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interview import (
    DiscoveryContext,
    DiscoveryInterview,
    DiscoverySettings,
    DiscoveryTurn,
    begun,
    question_block,
    question_input,
)
from enquete.methods.discovery.interviewer import AGAIN, ASKER, READER, ask_by_rule
from enquete.respondents.person import require_asked
from enquete.respondents.roles import Role
from enquete.runs.conversations import Asked, Conversations, run_conversation
from enquete.state.asking import Block, Language, Outcome, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

NODES_A_TURN = 5


class Discovery(Conversations[DiscoveryInstrument, DiscoverySettings, DiscoveryTurn, DiscoveryInterview]):
    """Units are agents."""

    turn = DiscoveryTurn

    def __init__(self, instrument: DiscoveryInstrument, settings: DiscoverySettings, language: Language):
        super().__init__(instrument, settings, language)
        chosen: dict[Role[Any, Any], str] = {ASKER: settings.asks, READER: settings.reads}
        self.roles = tuple(role for role, worker in chosen.items() if worker == "model")

    @staticmethod
    def require_persons(settings: DiscoverySettings, people: Sequence[Participant], draw: int) -> None:
        require_asked(settings.people, people)

    @property
    def most_turns(self) -> int:
        return int(self.settings.budget)

    def begun(self, unit: str, context: InterviewContext) -> DiscoveryInterview:
        return begun(unit, self.settings)

    def due(self, talk: DiscoveryInterview, context: InterviewContext) -> Sequence[Asked]:
        """The next question, in the words that the rule would choose; none for a record that is complete as it is."""
        if talk.done:
            return []
        question = ask_by_rule(question_input(talk, DiscoveryContext(context, self.instrument, self.settings))).question
        return [Asked(turn=talk.number, question=question)]

    def block(self, talk: DiscoveryInterview, asked: Asked, context: InterviewContext) -> Block:
        return question_block(DiscoveryContext(context, self.instrument, self.settings), talk, asked)

    async def hold(self, talk: DiscoveryInterview, context: InterviewContext) -> Outcome:
        start = {"interview": talk, "ascr": talk.record, "budget": talk.budget}
        steps = NODES_A_TURN * (int(talk.budget) + 1) + 1
        interview_context = DiscoveryContext(context, self.instrument, self.settings)
        return await run_conversation(interview, start, max_steps=steps, context=interview_context)

    def plan(self, context: InterviewContext) -> Plan:
        """A reading with problems is read again, which a rule's never has."""
        plan, purpose = super().plan(context), READER.purpose
        if self.settings.people:  # their answers cost no requests
            units = self.units(1, context)
            agents = sum(not self.settings.seats_person(context.participant(unit)) for unit in units)
            least, most = plan.calls["answer"]
            answers = (least * agents // (len(units) or 1), most * agents // (len(units) or 1))
            plan = plan.model_copy(update={"calls": {**plan.calls, "answer": answers}})
        if purpose not in plan.calls:
            return plan
        least, most = plan.calls[purpose]
        calls = {**plan.calls, purpose: (least, most * (1 + AGAIN))}
        return plan.model_copy(update={"calls": calls, "grows": {purpose: 1.0 + AGAIN}})
