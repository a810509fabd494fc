"""How a laddering study is conducted: every agent is interviewed for itself, turn by turn, until its interview is over.

Every arm interviews on its own: what one respondent says never shapes another's questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Literal

from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview, TurnRecord
from enquete.graphs.laddering.interviewer import ASKER, ROLES
from enquete.graphs.laddering.questions import opening
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.nodes.conversations import Asked, Conversations, subject
from enquete.state.asking import ATTEMPTS, Block, Outcome
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

MOST_FOUND = 8  # concepts that are read in one answer
MOST_STATEMENTS = 200  # that are coded twice

if TYPE_CHECKING:
    from enquete.graphs.laddering.turn import TurnContext


class Laddering(Conversations[LadderingInstrument, LadderingSettings, TurnRecord, Interview]):
    """Units are agents."""

    turn = TurnRecord
    roles = ROLES

    @property
    def most_turns(self) -> int:
        return self.settings.turns

    def begun(self, unit: str, desk: InterviewContext) -> Interview:
        """With the first of the opening questions, which stands for the one that is yet to be worded."""
        return Interview(unit, question=self.settings.method.opening.questions[0].in_(self.language))

    def due(self, talk: Interview, desk: InterviewContext) -> Sequence[Asked]:
        return [Asked(turn=talk.number, question=talk.question)]

    def block(self, talk: Interview, asked: Asked, desk: InterviewContext) -> Block:
        from enquete.graphs.laddering.turn import question_block  # noqa: PLC0415 - LangGraph is slow to import

        return question_block(self._context(desk), talk, asked)

    async def advance(self, talk: Interview, desk: InterviewContext) -> Interview | Outcome:
        opened = talk if talk.question_by else await self._opened(talk, desk)
        if opened is None:
            return "short"
        from enquete.graphs.laddering.turn import hold  # noqa: PLC0415

        ended = await hold(opened, self._context(desk))
        outcome: Outcome = ended["outcome"]
        result: Interview | None = ended.get("result")
        return outcome if result is None else result

    async def between(self, round: int, desk: InterviewContext) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Where a model is to make the codes: once all interviews of the main arm are over."""
        if not self._codes_by_model(desk):
            return "end"
        from enquete.graphs.laddering.coding import code_concepts  # noqa: PLC0415 - the coder is slow to import

        interviews = [reduce(Interview.after, self.stored(unit, desk), Interview(unit)) for unit in self.units(1, desk)]
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

    async def _opened(self, talk: Interview, desk: InterviewContext) -> Interview | None:
        """Before the first turn: the opening question, warm and open. None where the budget is short."""
        data = opening(self.settings, self.language, desk.arm.seed, talk.unit, "opening")
        done = await ASKER.work(desk, self.settings, subject(talk.unit, talk.number), data)
        return None if done == "short" else replace(talk, question=done[0].question, question_by=done[1])

    def _context(self, desk: InterviewContext) -> TurnContext:
        from enquete.graphs.laddering.turn import TurnContext  # noqa: PLC0415

        return TurnContext(desk, self.instrument, self.settings)
