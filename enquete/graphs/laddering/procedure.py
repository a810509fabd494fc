"""How a laddering study is conducted: every agent is interviewed for itself, turn by turn, until its interview is over.

Every arm interviews on its own: what one respondent says never shapes another's questions.
"""

from __future__ import annotations

from collections.abc import Sequence

from enquete.graphs.laddering import roles
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview, TurnRecord, at_turn, resumed, turn_name
from enquete.graphs.laddering.pipeline import subject, turn_block
from enquete.graphs.laddering.policy import opening
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.turn_graph import turn_graph
from enquete.graphs.laddering.turn_state import TurnContext
from enquete.state.seam import ATTEMPTS, Block, Desk, Outcome, Plan, Procedure


class Laddering(Procedure[LadderingInstrument, LadderingSettings]):
    """One round. Units are agents."""

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        """The turns so far, and the one that is next unless the interview is over: how many follow is not known before."""
        records = stored_turns(desk, unit)
        owed = [self._block(desk, at_turn(unit, records, record.turn)) for record in records]
        if records and records[-1].stop:
            return owed
        first = self.settings.method.opening.questions[0].in_(self.language)
        return [*owed, self._block(desk, resumed(unit, first, records))]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        """From the last stored turn to the end of the interview, or to where budget or answers are missing."""
        records = stored_turns(desk, unit)
        retried = await self._ask_again(unit, records, desk)
        if retried != "done":
            return retried
        interview = resumed(unit, "", records) if records else await self._opened(unit, desk)
        if interview is None:
            return "short"
        context = TurnContext(desk, self.instrument, self.settings)
        while not interview.stop:
            ended = await turn_graph.ainvoke({"interview": interview}, context=context)
            outcome: Outcome = ended["outcome"]
            if outcome != "done":
                return outcome
            interview = ended["result"]
        return "done"

    def plan(self, desk: Desk) -> Plan:
        """A turn is an answer, its reading, its judgement and the next question; how many there are, the interview decides.

        At least one answer each: a closing question, or nothing left to ask, may end an interview at once.
        """
        agents, settings = len(desk.participants()), self.settings
        most = agents * settings.turns
        purposes = {"extract": "extraction", "signal": "signals", "question": "questions"}
        calls = {"answer": (agents, most * ATTEMPTS)}
        for purpose, role in purposes.items():
            fallback = bool(getattr(settings, f"{role}_fallback"))
            least = agents if purpose == "question" else 0
            calls[purpose] = (least, most * ATTEMPTS * (2 if fallback else 1))
        return Plan(calls=calls, rows=(agents, most), by_row=frozenset(calls))

    async def _opened(self, unit: str, desk: Desk) -> Interview | None:
        """Before the first turn: the opening question, warm and open. None where the budget is short."""
        data = opening(self.settings, self.language, desk.arm.seed, unit, "opening")
        done = await roles.word(desk, self.settings, subject(Interview(unit, "")), data, frozenset())
        return None if done == "short" else Interview(unit, done[0], question_by=done[1])

    async def _ask_again(self, unit: str, records: Sequence[TurnRecord], desk: Desk) -> Outcome:
        """Turns whose answer failed: the desk asks them anew where that is wanted. What followed stays as it was."""
        for record in records:
            block = self._block(desk, at_turn(unit, records, record.turn))
            if any(answer.status == "failed" for answer in desk.stored(block.key).values()):
                reply = await desk.ask(block)
                if reply.state != "done":
                    return reply.state
        return "done"

    def _block(self, desk: Desk, interview: Interview) -> Block:
        return turn_block(desk, self.instrument, self.settings, interview)


def stored_turns(desk: Desk, unit: str) -> list[TurnRecord]:
    """The turns of a unit that were frozen, in their order."""
    found = list[TurnRecord]()
    while (stored := desk.frozen(turn_name(unit, len(found) + 1))) is not None:
        found.append(TurnRecord.model_validate(stored))
    return found
