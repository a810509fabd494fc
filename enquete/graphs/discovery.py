"""Discovery as a graph: every agent is interviewed until the record of a schema is complete, or the budget is spent.

The budget is a number of questions, as the original calls it; money is the parent graph's business. An interview is a
graph of its own, `interview`: formulate a question for what is most pressing, get the answer, read it into the record,
and again. Its stored turns are its checkpoint. A node returns only what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import add
from typing import Annotated, Any, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from enquete.methods.discovery import interviewer, record
from enquete.methods.discovery.interview import (
    QUESTION,
    DiscoveryContext,
    DiscoveryInterview,
    DiscoveryTurn,
    Stop,
    question_block,
    question_input,
)
from enquete.methods.discovery.schema import FieldNode
from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, close_and_file
from enquete.respondents.roles import RULE
from enquete.runs.conversations import Asked, TurnOutcome, Utterance, hear, keep, stopped, subject
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


@dataclass(frozen=True)
class RecordUpdate:
    """What one answer gave, with the schema's fields, whose reducers say how it adds up."""

    nodes: Mapping[str, FieldNode]
    found: Mapping[str, Any]


def merge_record(known: record.Record | None, update: record.Record | RecordUpdate) -> record.Record:
    """Reduce the record by its schema's own reducers, field by field. A plain record replaces what is known."""
    return record.reduced(update.nodes, known or {}, update.found) if isinstance(update, RecordUpdate) else dict(update)


class Message(TypedDict):
    """One line of the conversation."""

    turn: int
    role: Literal["interviewer", "respondent"]
    text: str


class InterviewInput(TypedDict):
    """The interview before the next turn, with the record and the questions left by then."""

    interview: DiscoveryInterview
    ascr: record.Record  # accumulated structured record, as the original names it
    budget: Decimal  # questions left


class InterviewOutput(TurnOutcome, total=False):
    """How an interview ended. `outcome` is set where a step could not be finished."""

    interview: DiscoveryInterview
    messages: Annotated[list[Message], add]  # appended turn by turn
    ascr: Annotated[record.Record, merge_record]  # the record so far, reduced by its schema
    budget: Decimal  # questions left
    complete: bool  # whether nothing is left to ask for


class InterviewState(InterviewOutput, total=False):
    """All channels; those below are of the turn that is being held, by the node that writes them."""

    # formulate_question
    target: interviewer.Target
    question: str
    worded_by: str
    # get_answer
    utterance: Utterance
    # interpret_response
    reading: record.Checked
    read_by: str
    contradictions: list[record.Contradiction]


TurnRuntime = Runtime[DiscoveryContext]


async def check_budget(state: InterviewState, runtime: TurnRuntime) -> InterviewState:
    """Check before a question is spent whether the record still needs one.

    Raises:
        RuntimeError: The stored turns give another record than the interview; it would be lost with the process.
    """
    if state["ascr"] != state["interview"].record:
        raise RuntimeError(f"{state['interview'].unit}: the stored turns give another record than the interview")
    return {"complete": state["interview"].done}


async def formulate_question(state: InterviewState, runtime: TurnRuntime) -> InterviewState:
    """Word the next question, for what is most pressing."""
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
    # An interviewer who names no such field is taken to mean the most pressing one.
    target = next((target for target in data.targets if "/".join(target.path) == wording.about), data.targets[0])
    return {"question": wording.question, "target": target, "worded_by": by}


async def get_answer(state: InterviewState, runtime: TurnRuntime) -> InterviewState:
    """Ask the question, unless it was answered before, and store the answer. A person may take their time."""
    interview = state["interview"]
    asked = Asked(turn=interview.number, question=state["question"])
    heard = await hear(runtime.context.interview_context, [question_block(runtime.context, interview, asked)])
    return {"outcome": heard} if isinstance(heard, str) else {"utterance": heard[0]}


async def interpret_response(state: InterviewState, runtime: TurnRuntime) -> InterviewState:
    """Read the answer into a record.

    A reading with problems is asked for again; problems that remain are left out of the record and named.
    """
    interview, utterance, context = state["interview"], state["utterance"], runtime.context
    if not utterance.text:
        return {"reading": record.Checked(), "read_by": "", "contradictions": []}
    data = interviewer.ReadingInput(
        discovery=interview.discovery, question=state["question"], answer=utterance.text, about=state["target"].path,
        record=interview.record, language=context.interview_context.language,
    )  # fmt: skip
    done = await _read(data, interview, context)
    if done == "short":
        return {"outcome": "short"}
    reading, by = done
    contradictions = list(record.contradictions(interview.discovery.nodes, interview.record, reading.values))
    return {"reading": reading, "read_by": by, "contradictions": contradictions}


async def _read(
    data: interviewer.ReadingInput, interview: DiscoveryInterview, context: DiscoveryContext
) -> tuple[record.Checked, str] | Literal["short"]:
    """Return the best reading, and who gave it."""
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


async def evaluate_completion(state: InterviewState, runtime: TurnRuntime) -> InterviewState:
    """Pin the turn with what it gave, and say whether the record is complete or the questions are used up.

    From here on the interview is rebuilt from the pinned turn.
    """
    interview, utterance, reading = state["interview"], state["utterance"], state["reading"]
    target, left = state["target"], interview.budget - QUESTION
    # The contradiction that was just asked about is dropped: the answer settles it, whichever it is.
    asked_about = target.path if target.contradiction is not None else None
    contradictions = tuple(each for each in state["contradictions"] if each.path != asked_about)
    turn = DiscoveryTurn(
        turn=interview.number, question=state["question"], **utterance.kept, about=target.path, found=reading.values,
        told=tuple(record.ToldValue(**{**value.model_dump(), "turn": interview.number}) for value in reading.told),
        problems=tuple(reading.problems), contradictions=contradictions,
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
        # The channel's reducer takes an update where its type says a record.
        "ascr": RecordUpdate(nodes=interview.discovery.nodes, found=pinned.found),  # type: ignore[typeddict-item]
        "budget": left,
        "complete": done,
    }


async def ask_on(state: InterviewState) -> Literal["ask", "end"]:
    """Ask on until the record is complete or the budget is spent."""
    return "end" if state["complete"] or state["budget"] < QUESTION else "ask"


interview_builder = StateGraph(
    InterviewState, context_schema=DiscoveryContext, input_schema=InterviewInput, output_schema=InterviewOutput
)
interview_builder.add_node("check_budget", check_budget)
interview_builder.add_node("formulate_question", formulate_question)
interview_builder.add_node("get_answer", get_answer)
interview_builder.add_node("interpret_response", interpret_response)
interview_builder.add_node("evaluate_completion", evaluate_completion)

interview_builder.add_edge(START, "check_budget")
interview_builder.add_conditional_edges("check_budget", ask_on, {"ask": "formulate_question", "end": END})
interview_builder.add_conditional_edges("formulate_question", stopped, {"on": "get_answer", "out": END})
interview_builder.add_conditional_edges("get_answer", stopped, {"on": "interpret_response", "out": END})
interview_builder.add_conditional_edges("interpret_response", stopped, {"on": "evaluate_completion", "out": END})
interview_builder.add_conditional_edges("evaluate_completion", ask_on, {"ask": "check_budget", "end": END})

interview = interview_builder.compile(name="discovery_interview")


class DiscoveryState(MethodologyState):
    """A discovery study at work."""

    turns: Annotated[NotRequired[dict[str, int]], merge_by_id]  # arm → questions asked


async def fill_records(state: ShardSpec) -> Channels:
    """Interview some of the agents, side by side: each goes through `interview`, here or in a worker."""
    return await ask_shard(state, interview)


async def close_records(state: DiscoveryState) -> Channels:
    """Close the study, and count what was asked."""
    return await close_and_file(state, lambda barrier: {"turns": barrier.count_turns()})


builder = StateGraph(DiscoveryState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_records", open_first_round)
builder.add_node("fill_records", fill_records)
builder.add_node("close_records", close_records)

builder.add_edge(START, "open_records")
builder.add_conditional_edges("open_records", send_shards_to("fill_records"), ["fill_records"])
builder.add_edge("fill_records", "close_records")
builder.add_conditional_edges("close_records", choose_probes_or_end, {"probes": "open_records", "end": END})

discovery = builder.compile(name="discovery_records")
