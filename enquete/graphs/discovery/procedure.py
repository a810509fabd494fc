"""How discovery interviews are conducted: every agent for itself, question by question, until its record is complete or
its budget is spent. Every arm interviews on its own.

The interview as a graph: check_budget → formulate_question → get_answer → interpret_response → evaluate_completion,
and again until the record is complete or the budget is spent.

Each node returns only what it writes. No checkpointer: the stored turns are the checkpoint. Nodes are async; LangGraph
sends plain functions to a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import add
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from enquete.graphs.discovery import interviewer, record
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.interview import (
    QUESTION,
    DiscoveryContext,
    DiscoveryInterview,
    DiscoverySettings,
    DiscoveryTurn,
    Stop,
    begun,
    question_block,
    question_input,
)
from enquete.graphs.discovery.interviewer import AGAIN, ASKER, READER, ask_by_rule
from enquete.graphs.discovery.schema import FieldNode
from enquete.nodes.conversations import (
    Asked,
    Conversations,
    Routes,
    TurnOutcome,
    Utterance,
    draw,
    hear,
    keep,
    stopped,
    subject,
)
from enquete.respondents.person import require_asked
from enquete.respondents.roles import RULE, Role
from enquete.state.asking import Block, Language, Outcome, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

# --- The interview as a graph ----------------------------------------------------------------------------------------

STEPS = 5
"""Nodes a question passes."""


@dataclass(frozen=True)
class RecordUpdate:
    """What one answer gave, with the fields whose reducers say how it adds up."""

    nodes: Mapping[str, FieldNode]
    scr: Mapping[str, Any]


def ascr(known: record.Record | None, update: record.Record | RecordUpdate) -> record.Record:
    """The channel's reducer: by the schema's own, field by field. A plain record stands for itself."""
    return record.reduced(update.nodes, known or {}, update.scr) if isinstance(update, RecordUpdate) else dict(update)


class Message(TypedDict):
    turn: int
    role: Literal["interviewer", "respondent"]
    text: str


class InterviewInput(TypedDict):
    interview: DiscoveryInterview
    ascr: record.Record
    budget: Decimal


class InterviewOutput(TurnOutcome, total=False):
    interview: DiscoveryInterview
    messages: Annotated[list[Message], add]
    ascr: Annotated[record.Record, ascr]
    budget: Decimal
    complete: bool


class InterviewState(InterviewOutput, total=False):
    """All channels. `target`, `question` … are of the turn that is being held."""

    # formulate_question
    target: interviewer.Target
    question: str
    worded_by: str
    # get_answer
    utterance: Utterance
    # interpret_response
    reading: record.Checked
    read_by: str
    against: list[record.Contradiction]


Loop = Runtime[DiscoveryContext]


async def check_budget(state: InterviewState, runtime: Loop) -> InterviewState:
    """Whether there is a question left to ask, and something to ask it for."""
    return {"complete": state["interview"].done}


async def formulate_question(state: InterviewState, runtime: Loop) -> InterviewState:
    """The next question, for what is most pressing."""
    context, interview = runtime.context, state["interview"]
    data = question_input(interview, context)
    if context.settings.asks == "rule":
        wording, by = interviewer.ask_by_rule(data), RULE
    else:
        done = await interviewer.ASKER.work(
            context.interview_context, context.settings, subject(interview.unit, interview.number), data
        )
        if done == "short":
            return {"outcome": "short"}
        wording, by = done
    target = next((target for target in data.targets if "/".join(target.path) == wording.about), data.targets[0])
    return {"question": wording.question, "target": target, "worded_by": by}


async def get_answer(state: InterviewState, runtime: Loop) -> InterviewState:
    """The question is asked, unless it was answered before, and the answer stored. A person may take their time."""
    interview = state["interview"]
    asked = Asked(turn=interview.number, question=state["question"])
    heard = await hear(runtime.context.interview_context, [question_block(runtime.context, interview, asked)])
    return {"outcome": heard} if isinstance(heard, str) else {"utterance": heard[0]}


async def interpret_response(state: InterviewState, runtime: Loop) -> InterviewState:
    """The answer's record. A reading with problems is asked for again with them; what then remains is left out and
    named."""
    interview, utterance, context = state["interview"], state["utterance"], runtime.context
    if not utterance.text:
        return {"reading": record.Checked(), "read_by": "", "against": []}
    data = interviewer.ReadingInput(
        discovery=interview.discovery, question=state["question"], answer=utterance.text, about=state["target"].path,
        record=interview.record, language=context.interview_context.language,
    )  # fmt: skip
    done = await _read(data, interview, context)
    if done == "short":
        return {"outcome": "short"}
    reading, by = done
    against = list(record.contradictions(interview.discovery.nodes, interview.record, reading.values))
    return {"reading": reading, "read_by": by, "against": against}


async def _read(
    data: interviewer.ReadingInput, interview: DiscoveryInterview, context: DiscoveryContext
) -> tuple[record.Checked, str] | Literal["short"]:
    """The best reading and who gave it."""
    if context.settings.reads == "rule":
        return _checked(data, interviewer.read_by_rule(data)), RULE
    problems: list[record.ReadingProblem] = []
    for again in range(1 + interviewer.AGAIN):
        about = subject(interview.unit, interview.number) + (f"|again {again}" if again else "")
        done = await interviewer.READER.work(context.interview_context, context.settings, about, data)
        if done == "short":
            return "short"
        reading = _checked(data, done[0])
        problems += [problem for problem in reading.problems if problem not in problems]
        if done[1] == RULE or not reading.problems:
            break
        data = data.model_copy(update={"problems": reading.problems})
    return record.Checked(reading.values, reading.told, problems), done[1]


def _checked(data: interviewer.ReadingInput, reading: interviewer.Reading) -> record.Checked:
    return record.checked(data.discovery, reading.record, data.answer, data.record)


async def evaluate_completion(state: InterviewState, runtime: Loop) -> InterviewState:
    """The turn is pinned with what it gave: from here on the interview is rebuilt from it."""
    interview, utterance, reading = state["interview"], state["utterance"], state["reading"]
    target, left = state["target"], interview.budget - QUESTION
    # Without the one that was asked about: its answer settles it, whichever it is.
    against = (both for both in state["against"] if target.contradiction is None or both.path != target.path)
    turn = DiscoveryTurn(
        turn=interview.number, question=state["question"], **utterance.kept, about=target.path, found=reading.values,
        told=tuple(record.ToldValue(**{**value.model_dump(), "turn": interview.number}) for value in reading.told),
        problems=tuple(reading.problems), contradictions=tuple(against),
        settled=target.contradiction is not None, by={"question": state["worded_by"], "interpret": state["read_by"]},
    )  # fmt: skip
    done = interview.after(turn).done
    stop: Stop = "complete" if done else "budget" if left < QUESTION else ""
    pinned = await keep(runtime.context.interview_context, interview.unit, turn.model_copy(update={"stop": stop}))
    return {
        "interview": interview.after(pinned),
        "messages": [
            Message(turn=pinned.turn, role="interviewer", text=pinned.question),
            Message(turn=pinned.turn, role="respondent", text=pinned.answer),
        ],
        # An update of the channel.
        "ascr": RecordUpdate(nodes=interview.discovery.nodes, scr=pinned.found),  # type: ignore[typeddict-item]
        "budget": left,
        "complete": done,
    }


async def more(state: InterviewState) -> Literal["ask", "end"]:
    return "end" if state["complete"] or state["budget"] < QUESTION else "ask"


ROUTES: Routes = {
    check_budget: (more, {"ask": formulate_question, "end": None}),
    formulate_question: (stopped, {"on": get_answer, "out": None}),
    get_answer: (stopped, {"on": interpret_response, "out": None}),
    interpret_response: (stopped, {"on": evaluate_completion, "out": None}),
    evaluate_completion: (more, {"ask": check_budget, "end": None}),
}

interview_graph = draw(ROUTES, "discovery_interview", InterviewState, DiscoveryContext, InterviewInput, InterviewOutput)


# --- The study -------------------------------------------------------------------------------------------------------


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

    async def advance(self, talk: DiscoveryInterview, context: InterviewContext) -> DiscoveryInterview | Outcome:
        """To the end of the interview, or to where it cannot go on now."""

        limit = (int(talk.budget) + 1) * STEPS + 1
        ended = await interview_graph.ainvoke(
            {"interview": talk, "ascr": talk.record, "budget": talk.budget},
            {"recursion_limit": limit},
            context=DiscoveryContext(context, self.instrument, self.settings),
        )
        outcome: Outcome | None = ended.get("outcome")
        if outcome is not None:
            return outcome
        ahead: DiscoveryInterview = ended["interview"]
        if ended["ascr"] != ahead.record:
            raise RuntimeError(f"{talk.unit}: the stored turns give another record than the interview")
        return ahead

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
