"""How discovery interviews are conducted: every agent for itself, question by question, until its record is complete or its
budget is spent. Every arm interviews on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.interview import DiscoveryTurn, Interview, begun
from enquete.graphs.discovery.questions import ASKER, ask_by_rule
from enquete.graphs.discovery.reading import AGAIN, READER
from enquete.graphs.discovery.settings import DiscoverySettings
from enquete.nodes.conversations import Asked, Conversations
from enquete.respondents.roles import Role
from enquete.state.asking import Block, Language, Outcome
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

if TYPE_CHECKING:
    from enquete.graphs.discovery.loop import LoopContext


class Discovery(Conversations[DiscoveryInstrument, DiscoverySettings, DiscoveryTurn, Interview]):
    """Units are agents."""

    turn = DiscoveryTurn

    def __init__(self, instrument: DiscoveryInstrument, settings: DiscoverySettings, language: Language):
        super().__init__(instrument, settings, language)
        chosen: dict[Role[Any, Any], str] = {ASKER: settings.asks, READER: settings.reads}
        self.roles = tuple(role for role, worker in chosen.items() if worker == "model")

    @property
    def most_turns(self) -> int:
        return self.settings.budget

    def begun(self, unit: str, desk: InterviewContext) -> Interview:
        return begun(unit, self.settings)

    def due(self, talk: Interview, desk: InterviewContext) -> Sequence[Asked]:
        """The next question, in the words that the rule would choose; none for a record that is complete as it is."""
        from enquete.graphs.discovery.loop import question_input  # noqa: PLC0415 - LangGraph is slow to import

        if talk.done:
            return []
        question = ask_by_rule(question_input(talk, self._context(desk))).question
        return [Asked(turn=talk.number, question=question)]

    def block(self, talk: Interview, asked: Asked, desk: InterviewContext) -> Block:
        from enquete.graphs.discovery.loop import question_block  # noqa: PLC0415

        return question_block(self._context(desk), talk, asked)

    async def advance(self, talk: Interview, desk: InterviewContext) -> Interview | Outcome:
        """To the end of the interview, or to where it cannot go on now."""
        from enquete.graphs.discovery.loop import STEPS, interview_graph  # noqa: PLC0415

        limit = (int(talk.budget) + 1) * STEPS + 1
        ended = await interview_graph.ainvoke(
            {"interview": talk, "ascr": talk.record, "budget": talk.budget},
            {"recursion_limit": limit},
            context=self._context(desk),
        )
        outcome: Outcome | None = ended.get("outcome")
        if outcome is not None:
            return outcome
        ahead: Interview = ended["interview"]
        if ended["ascr"] != ahead.record:
            raise RuntimeError(f"{talk.unit}: the stored turns give another record than the interview")
        return ahead

    def plan(self, desk: InterviewContext) -> Plan:
        """A reading with problems is read again, which a rule's never has."""
        plan, purpose = super().plan(desk), READER.purpose
        if purpose not in plan.calls:
            return plan
        least, most = plan.calls[purpose]
        calls = {**plan.calls, purpose: (least, most * (1 + AGAIN))}
        return plan.model_copy(update={"calls": calls, "grows": {purpose: 1.0 + AGAIN}})

    def _context(self, desk: InterviewContext) -> LoopContext:
        from enquete.graphs.discovery.loop import LoopContext  # noqa: PLC0415

        return LoopContext(desk, self.instrument, self.settings)
