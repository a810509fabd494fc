"""Two small conversations, as a discovery interview and a roundtable will be: what the shared pieces must carry.

`Inquiry` asks one participant at most two questions, the second made of what the first answer held, and ends when its
record is complete; its turn is a compiled graph. `Discussion` lets two speakers talk for two rounds, one after the
other or at once; at once, nobody sees what the other says in the same round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

from enquete.respondents.roles import Role, fence
from enquete.runs.conversations import (
    Asked,
    Conversation,
    Conversations,
    Turn,
    TurnOutcome,
    Utterance,
    hear,
    keep,
    run_conversation,
    stopped,
    subject,
    transcript,
    turn_block,
)
from enquete.state.asking import Answer, Block, Item, Language, Outcome, Participant
from enquete.state.interview_context import InterviewContext

made: list[str] = []
"""Every answer and every piece of the interviewer's work, each time that it was made rather than found."""


class NoInstrument(BaseModel):
    pass


class InquirySettings(BaseModel):
    read_model: str = ""
    read_fallback: str = ""


class Said(BaseModel):
    question: str
    answer: str


class Known(BaseModel):
    record: dict[str, str]


class Field(BaseModel):
    name: str
    value: str


class Question(BaseModel):
    question: str


def read_by_rule(data: Said) -> Field:
    made.append(f"read {data.question}")
    return Field(name=data.question.split()[-1].strip("?"), value=data.answer.split()[-1].strip("."))


def ask_by_rule(data: Known) -> Question:
    made.append(f"ask {len(data.record)}")
    return Question(
        question=f"After {data.record['trade']}: what about your worry?" if data.record else "What is your trade?"
    )


READER = Role("read", lambda data, _: f"Read this: {fence('answer', data.answer)}", Field, read_by_rule, setting="read")
ASKER = Role("ask", lambda data, _: f"Ask for what lacks: {data.record}", Question, ask_by_rule, opens=True)


# --- an interview -----------------------------------------------------------------------------------------------------


class Found(Turn):
    found: Field


@dataclass(frozen=True)
class Record(Conversation[Found]):
    """The record is reduced from the turns, the budget falls with them."""

    record: dict[str, str] = field(default_factory=dict)
    budget: Decimal = Decimal(2)

    def after(self, turn: Found) -> Record:
        known = {**self.record, turn.found.name: turn.found.value}
        return replace(super().after(turn), record=known, budget=self.budget - 1)


class TurnInput(TypedDict):
    talk: Record


class TurnState(TurnOutcome, total=False):
    talk: Record
    asked: Asked
    asked_by: str
    utterance: Utterance
    found: Field
    found_by: str


At = Runtime["InquiryContext"]


@dataclass(frozen=True)
class InquiryContext:
    interview_context: InterviewContext
    inquiry: Inquiry


async def check_budget(state: TurnInput, runtime: At) -> TurnState:
    return {}


async def formulate_question(state: TurnState, runtime: At) -> TurnState:
    talk = state["talk"]
    done = await ASKER.work(
        runtime.context.interview_context,
        runtime.context.inquiry.settings,
        subject(talk.unit, talk.number),
        Known(record=talk.record),
    )
    if done == "short":
        return {"outcome": "short"}
    return {"asked": Asked(turn=talk.number, question=done[0].question), "asked_by": done[1]}


async def get_answer(state: TurnState, runtime: At) -> TurnState:
    block = runtime.context.inquiry.block(state["talk"], state["asked"], runtime.context.interview_context)
    heard = await hear(runtime.context.interview_context, [block])
    return {"outcome": heard} if isinstance(heard, str) else {"utterance": heard[0]}


async def interpret_response(state: TurnState, runtime: At) -> TurnState:
    talk, data = state["talk"], Said(question=state["asked"].question, answer=state["utterance"].text)
    done = await READER.work(
        runtime.context.interview_context, runtime.context.inquiry.settings, subject(talk.unit, talk.number), data
    )
    return {"outcome": "short"} if done == "short" else {"found": done[0], "found_by": done[1]}


async def evaluate_completion(state: TurnState, runtime: At) -> TurnState:
    talk, asked, value = state["talk"], state["asked"], state["found"]
    complete = {"trade", "worry"} <= {*talk.record, value.name}
    turn = Found(
        **asked.model_dump(),
        **state["utterance"].kept,
        found=value,
        stop="complete" if complete else "exhausted" if talk.budget <= 1 else "",
        by={"ask": state["asked_by"], "read": state["found_by"]},
    )
    return {"talk": talk.after(await keep(runtime.context.interview_context, talk.unit, turn))}


async def go_on(state: TurnState) -> Literal["ask", "end"]:
    talk = state["talk"]
    return "end" if talk.stop or talk.budget <= 0 else "ask"


NODES = (check_budget, formulate_question, get_answer, interpret_response, evaluate_completion)

builder = StateGraph(TurnState, context_schema=InquiryContext, input_schema=TurnInput)
for node in NODES:
    builder.add_node(node.__name__, node)
builder.add_edge(START, "check_budget")
for one, other in pairwise(NODES):
    builder.add_conditional_edges(one.__name__, stopped, {"on": other.__name__, "out": END})
builder.add_conditional_edges("evaluate_completion", go_on, {"ask": "check_budget", "end": END})
inquiry_graph = builder.compile()


class Inquiry(Conversations[NoInstrument, InquirySettings, Found, Record]):
    turn, roles, most_turns = Found, (ASKER, READER), 2

    def begun(self, unit: str, context: InterviewContext) -> Record:
        return Record(unit)

    def due(self, talk: Record, context: InterviewContext) -> Sequence[Asked]:
        return [Asked(turn=talk.number)] if talk.budget > 0 else []

    def block(self, talk: Record, asked: Asked, context: InterviewContext) -> Block:
        text = transcript(talk.turns, context.language)
        return turn_block(context, talk.unit, asked, "An interview.", heading="So far", said=text)

    async def hold(self, talk: Record, context: InterviewContext) -> Outcome:
        return await run_conversation(
            inquiry_graph, {"talk": talk}, max_steps=20, context=InquiryContext(context, self)
        )


# --- a discussion -----------------------------------------------------------------------------------------------------

SPEAKERS = 2
ROUNDS = 2


class DiscussionSettings(BaseModel):
    order: Literal["sequential", "parallel"]


class Position(Turn):
    confidence: float


class Discussion(Conversations[NoInstrument, DiscussionSettings, Position, Conversation[Position]]):
    """A unit is a pair of participants, as "group:1+2" by their places in the population."""

    turn, most_turns = Position, SPEAKERS * ROUNDS

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        return [f"group:{n}+{n + 1}" for n in range(0, len(context.participants()) - 1, SPEAKERS)]

    def begun(self, unit: str, context: InterviewContext) -> Conversation[Position]:
        return Conversation(unit)

    def due(self, talk: Conversation[Position], context: InterviewContext) -> Sequence[Asked]:
        """The rest of this round: one after the other, or all at once."""
        people = [context.participants()[int(place)].id for place in talk.unit.removeprefix("group:").split("+")]
        spoken = len(talk.turns)
        round_ = 1 + spoken // SPEAKERS
        rest = range(spoken, SPEAKERS * round_) if round_ <= ROUNDS else ()
        return [Asked(turn=n + 1, participant=people[n % SPEAKERS], round=round_) for n in rest]

    def block(self, talk: Conversation[Position], asked: Asked, context: InterviewContext) -> Block:
        seen = (
            talk.turns
            if self.settings.order == "sequential"
            else [turn for turn in talk.turns if turn.round < asked.round]
        )
        items = [
            Item(id="position", kind="text", wording="What is your position?"),
            Item(id="confidence", kind="number", wording="How sure are you?", minimum=0, maximum=1),
        ]
        text = transcript(seen, context.language, lambda turn: context.participant(turn.participant).name)
        return turn_block(
            context, talk.unit, asked, "A discussion.", heading="So far", said=text, session=talk.unit, items=items
        )

    async def hold(self, talk: Conversation[Position], context: InterviewContext) -> Outcome:
        discussion_context = DiscussionContext(context, self)
        return await run_conversation(discussion_graph, {"talk": talk}, max_steps=20, context=discussion_context)


class PassState(TurnOutcome, total=False):
    talk: Conversation[Position]


@dataclass(frozen=True)
class DiscussionContext:
    interview_context: InterviewContext
    discussion: Discussion


async def take_turns(state: PassState, runtime: Runtime[DiscussionContext]) -> PassState:
    """A turn, kept as soon as it is held, or a round."""
    talk, discussion, context = state["talk"], runtime.context.discussion, runtime.context.interview_context
    asked = discussion.due(talk, context)[: 1 if discussion.settings.order == "sequential" else None]
    heard = await hear(context, [discussion.block(talk, due, context) for due in asked])
    if isinstance(heard, str):
        return {"outcome": heard}
    for wanted, response in zip(asked, heard, strict=True):
        sure = next((answer.value for answer in response.answers if answer.item == "confidence"), None)
        stop = "rounds" if wanted.turn == SPEAKERS * ROUNDS else ""
        turn = Position(**wanted.model_dump(), **response.kept, confidence=sure or 0.0, stop=stop)
        talk = talk.after(await keep(context, talk.unit, turn))
    return {"talk": talk}


async def next_pass(state: PassState) -> Literal["again", "end"]:
    return "end" if state.get("outcome") or state["talk"].stop else "again"


passes = StateGraph(PassState, context_schema=DiscussionContext)
passes.add_node("take_turns", take_turns)
passes.add_edge(START, "take_turns")
passes.add_conditional_edges("take_turns", next_pass, {"again": "take_turns", "end": END})
discussion_graph = passes.compile()


# --- who answers ------------------------------------------------------------------------------------------------------


def truth(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
    """Planted: a trade and a worry each; in a discussion the number of lines that were shown is said, and is the
    confidence in tenths."""
    made.append(f"{who.name}, turn {block.key.turn}")
    if block.items[0].id == "position":
        lines = sum(len(text.splitlines()) for _, text in block.quoted)
        return [Answer("position", "ok", text=f"{who.name} has seen {lines}."), Answer("confidence", "ok", lines / 10)]
    question = block.items[0].wording
    worry = "drought" if "trade-of-" in question else "nothing"
    text = f"I live by {'trade-of-' + who.name.split()[-1]}." if "trade?" in question else f"I fear {worry}."
    return [Answer(block.items[0].id, "ok", text=text)]
