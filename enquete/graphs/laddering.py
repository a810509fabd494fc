"""Laddering as a graph: every agent is interviewed turn by turn, then what was found is coded.

An interview is a graph of its own, `interview`: ten stages a turn, from the question asked to the next one, and again
until the interview is over. Its stored turns are its checkpoint, so a stage may be started over at any time. What a
stage reads is its input type, what it writes is its return type; no stage changes what it was given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from enquete.methods.laddering import questions, signals
from enquete.methods.laddering.interview import LadderingInterview, TurnContext, TurnRecord, past_turn
from enquete.methods.laddering.interviewer import (
    ASKER,
    JUDGE,
    READER,
    Extraction,
    ExtractionInput,
    JudgementInput,
    KnownConcept,
    allowed_edges,
    as_said,
    placed,
)
from enquete.methods.laddering.knowledge import Changes, Coverage, KnowledgeGraph, cover, longest_chain, with_findings
from enquete.methods.laddering.questions import opening
from enquete.methods.laddering.settings import StopRule
from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, file_stage, round_barrier
from enquete.respondents.roles import RULE
from enquete.runs.conversations import Asked, TurnOutcome, Utterance, hear, keep, stopped, subject, utterance_id
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class Talk(TypedDict):
    """The interview before the next turn; written by open_interview and scoring_persistence."""

    interview: LadderingInterview


class Loaded(TypedDict):
    """Written by context_loading."""

    known: list[KnownConcept]
    focus: KnownConcept | None  # the concept that the question was about
    aims: list[str]  # types of concept that it was after
    said: list[tuple[str, str]]  # questions and answers so far


class Heard(TypedDict):
    """Written by utterance_saving."""

    utterance: Utterance


class Extracted(TypedDict):
    """Written by extraction."""

    extraction: Extraction
    extracted_by: str


class Updated(TypedDict):
    """Written by graph_update."""

    graph: KnowledgeGraph
    changes: Changes


class Focused(TypedDict):
    """Written by state_computation and response_saving."""

    states: signals.States  # what every concept went through


class Computed(Focused):
    """Written by state_computation."""

    readings: signals.Readings
    judged_by: str
    depth: signals.Depth
    chain: int  # length of the longest chain
    coverage: Coverage
    past: list[signals.Past]
    detected: signals.Detected


class Chosen(TypedDict):
    """Written by strategy_selection, and by continuation, where a closing question takes its place."""

    choice: questions.QuestionChoice | None


class Selected(Chosen):
    """Written by strategy_selection."""

    candidates: list[questions.Candidate]


class Continued(Chosen):
    """Written by continuation."""

    stop: questions.Reason  # why the interview is over, "" while it goes on


class Worded(TypedDict):
    """Written by question_generation."""

    question: str
    worded_by: str


class ExtractionStageInput(Talk, Loaded, Heard): ...


class GraphUpdateInput(Talk, Heard, Extracted): ...


class ComputationInput(Talk, Heard, Updated): ...


class SelectionInput(Talk, Updated, Computed): ...


class ContinuationInput(Talk, Computed, Selected): ...


class GenerationInput(Talk, Loaded, Heard, Updated, Computed, Chosen): ...


class SavingInput(Computed, Chosen): ...


class InterviewOutput(TurnOutcome, total=False):
    """How the interview ended, and how far it went."""

    interview: LadderingInterview


class InterviewState(Talk, Loaded, Heard, Extracted, Updated, Computed, Selected, Continued, Worded):
    """All channels of an interview. `outcome` is set where a stage could not be finished."""

    outcome: NotRequired[Literal["short", "waiting", "failed"]]


TurnRuntime = Runtime[TurnContext]


async def open_interview(state: Talk, runtime: TurnRuntime) -> Talk | TurnOutcome:
    """Word the opening question, warm and open, of an interview that has none yet."""
    talk, context, settings = state["interview"], runtime.context.interview_context, runtime.context.settings
    if talk.question_by:
        return {"interview": talk}
    data = opening(settings, context.language, context.arm.seed, talk.unit, "opening")
    done = await ASKER.work(context, settings, subject(talk.unit, talk.number), data)
    if done == "short":
        return {"outcome": "short"}
    return {"interview": replace(talk, question=done[0].question, question_by=done[1])}


async def context_loading(state: Talk, runtime: TurnRuntime) -> Loaded:
    """Load what was said before, and what the question of this turn was after."""
    interview, method = state["interview"], runtime.context.settings.method
    concepts = [KnownConcept(text=node.text, type=node.type) for node in interview.graph.nodes.values()]
    focus = interview.graph.nodes.get(interview.focus)
    technique = questions.technique_of(method, interview.choice) if interview.choice else None
    aim = method.aim(technique.elicits if technique else method.opening.elicits, focus.type if focus else "")
    opposite = method.opposite_type(aim) if aim and technique and technique.triad else None
    return {
        "known": concepts,
        "focus": KnownConcept(text=focus.text, type=focus.type) if focus else None,
        "aims": [kind for kind in (aim, opposite) if kind],
        "said": interview.transcript(),
    }


async def utterance_saving(state: Talk, runtime: TurnRuntime) -> Heard | TurnOutcome:
    """Ask the question, unless it was answered before, and store the answer. A person may take their time."""
    interview, context = state["interview"], runtime.context.interview_context
    asked = Asked(turn=interview.number, question=interview.question)
    heard = await hear(context, [runtime.context.block(interview, asked)])
    return {"outcome": heard} if isinstance(heard, str) else {"utterance": heard[0]}


async def extraction(state: ExtractionStageInput, runtime: TurnRuntime) -> Extracted | TurnOutcome:
    """Read concepts and relationships out of the answer. Without an answer nobody is asked to read it."""
    utterance, settings = state["utterance"], runtime.context.settings
    if not utterance.text:
        return {"extraction": Extraction(), "extracted_by": ""}
    language, method = runtime.context.interview_context.language, settings.method
    data = ExtractionInput(
        topic=settings.topic.topic.in_(language), question=state["interview"].question, answer=utterance.text,
        focus=state["focus"], aims=state["aims"], known=state["known"],
        node_types={name: kind.description.in_(language) for name, kind in method.node_types.items()},
        edges=allowed_edges(method), contrasts=method.contrasts,
        edge_types={name: edge.description.in_(language) for name, edge in method.edge_types.items()},
        elements={name: element.label.in_(language) for name, element in settings.topic.elements.items()},
        guidelines=[text.in_(language) for text in method.guidelines],
    )  # fmt: skip
    about = subject(state["interview"].unit, state["interview"].number)
    done = await READER.work(runtime.context.interview_context, settings, about, data)
    return {"outcome": "short"} if done == "short" else {"extraction": done[0], "extracted_by": done[1]}


async def graph_update(state: GraphUpdateInput, runtime: TurnRuntime) -> Updated:
    """Add what was found to the knowledge graph, near-duplicates merged, and tell what is new in it."""
    interview, utterance, settings = state["interview"], state["utterance"], runtime.context.settings
    focus = interview.graph.nodes.get(interview.focus)
    source = utterance_id(interview.unit, interview.number)
    language = runtime.context.interview_context.language
    heard = as_said(state["extraction"], utterance.text, settings.method, language)
    concepts, links, left_out = placed(heard, utterance.text, source, settings.topic, language, focus, interview.graph)
    graph, changes = with_findings(interview.graph, settings.method, concepts, links, interview.number, left_out)
    return {"graph": graph, "changes": changes}


async def state_computation(state: ComputationInput, runtime: TurnRuntime) -> Computed | TurnOutcome:
    """Compute how the answer was given, what every concept went through, and all signals."""
    interview, changes, text = state["interview"], state["changes"], state["utterance"].text
    context, settings = runtime.context.interview_context, runtime.context.settings
    readings, judged_by = signals.Readings(), ""
    if text:
        topic = settings.topic.topic.in_(context.language)
        data = JudgementInput(topic=topic, question=interview.question, answer=text)
        done = await JUDGE.work(context, settings, subject(interview.unit, interview.number), data)
        if done == "short":
            return {"outcome": "short"}
        readings, judged_by = done
    standing, method = state["graph"].standing, settings.method
    depth = signals.depth_of(text, readings if judged_by != RULE else signals.Readings())
    chain = longest_chain(standing, method, standing.nodes)
    states = interview.answered(state["graph"], depth, changes)
    coverage = cover(standing, settings.topic.elements, method)
    past = [*interview.past, past_turn(interview.choice, depth, changes, chain, text)]
    view = signals.SignalView(method, standing, states, coverage, past, readings, interview.focus, chain, method.asks)
    return {
        "readings": readings, "judged_by": judged_by, "depth": depth, "chain": chain, "states": states,
        "coverage": coverage, "past": past, "detected": signals.detect(view, list(method.strategies)),
    }  # fmt: skip


async def strategy_selection(state: SelectionInput, runtime: TurnRuntime) -> Selected:
    """Choose the best pair of strategy and concept. Comparison arms pick at random or follow the script."""
    interview, graph, strategy = state["interview"], state["graph"].standing, runtime.context.strategy
    context, method = runtime.context.interview_context, runtime.context.settings.method
    past = [] if strategy == "static" else state["past"]  # a script ignores the answers
    possible = questions.candidates(method, graph, interview.asked, context.language, interview.used, past)
    if strategy == "static":
        planned = questions.scripted(method, possible, interview.number)
        return {"candidates": possible if planned else [], "choice": planned}
    if not possible:
        return {"candidates": [], "choice": None}
    key = (context.arm.seed, interview.unit, interview.number)
    at_random = key if strategy == "random" else None
    types = {node.id: node.type for node in graph.nodes.values()}
    linked = {node: frozenset(types[other] for other in others) for node, others in graph.neighbours.items()}
    choice = questions.choose(method, possible, state["detected"], linked, types, at_random, interview.used, key)
    return {"candidates": possible, "choice": choice}


async def continuation(state: ContinuationInput, runtime: TurnRuntime) -> Continued:
    """Decide whether there will be another question, and if not, why.

    If a turn is left when the interview would stop, the last question is a closing one.
    """
    interview, settings, method = state["interview"], runtime.context.settings, runtime.context.settings.method
    if interview.choice and interview.choice.because:
        return {"stop": interview.choice.because, "choice": None}
    if runtime.context.is_ended(interview):
        return {"stop": "ended", "choice": None}
    asked = method.strategies.get(interview.choice.strategy) if interview.choice else None
    fixed = runtime.context.strategy == "static"  # a script ignores the answers, so it never ends early
    stop = questions.stop_reason(
        state["past"], state["states"], turns=settings.turns, closed=asked is not None and asked.closing,
        phase="mid" if fixed else str(state["detected"].interview["meta.interview.phase"]),
        candidates=[(pair.strategy, pair.focus) for pair in state["candidates"]],
        stops=StopRule(from_turn=settings.turns) if fixed else runtime.context.instrument.stops,
    )  # fmt: skip
    done, heard = len(state["past"]), bool(state["states"])
    last_word = questions.closing_turn(method, interview.used, turns=settings.turns, done=done, stop=stop, heard=heard)
    return {"stop": "", "choice": last_word} if last_word else {"stop": stop, "choice": state["choice"]}


async def question_generation(state: GenerationInput, runtime: TurnRuntime) -> Worded | TurnOutcome:
    """Word the next question, as the choice wants it."""
    interview, choice, context = state["interview"], state["choice"], runtime.context.interview_context
    assert choice is not None  # without one the interview has stopped: continuation
    transcript = [*state["said"], (interview.question, state["utterance"].text)]
    data = questions.follow_up(
        runtime.context.settings, choice, state["graph"], state["detected"], transcript, interview.asked,
        context.language,
    )  # fmt: skip
    about = subject(interview.unit, interview.number + 1)
    done = await ASKER.work(context, runtime.context.settings, about, data)
    return {"outcome": "short"} if done == "short" else {"question": done[0].question, "worded_by": done[1]}


async def response_saving(state: SavingInput, runtime: TurnRuntime) -> Focused:
    """Set the chosen concept as the focus of the next question; the original calls this stage response saving."""
    choice, states = state["choice"], state["states"]
    return {"states": signals.after_choice(states, choice.focus, choice.strategy) if choice else states}


async def scoring_persistence(state: InterviewState, runtime: TurnRuntime) -> Talk:
    """Pin the turn with its signals and scores: from here on the interview is rebuilt from it.

    Raises:
        RuntimeError: The stored turn yields other states of the concepts than the turn itself: after a restart, focus,
            yield, depth and every signal computed from them would differ.
    """
    interview = state["interview"]
    record = await keep(runtime.context.interview_context, interview.unit, turn_record(state))
    result = interview.after(record)
    if result.states != state["states"]:
        raise RuntimeError(
            f"turn {record.turn} of {interview.unit}: read back, it gives other states of concepts than the turn"
        )
    return {"interview": result}


def turn_record(state: InterviewState) -> TurnRecord:
    """Return the turn as it is kept."""
    interview, utterance, stop = state["interview"], state["utterance"], state["stop"]
    choice = None if stop else state["choice"]
    detected = state["detected"]
    by = {"extract": state["extracted_by"], "signal": state["judged_by"], "question": interview.question_by}
    return TurnRecord(
        turn=interview.number, question=interview.question, choice=interview.choice, **utterance.kept,
        depth=state["depth"], changes=state["changes"], chain=state["chain"], coverage=state["coverage"],
        readings=state["readings"],
        signals=detected.of(choice.strategy, choice.focus) if choice else detected.interview,
        next=choice, next_question="" if stop else state["question"], stop=stop,
        by={**by, "next": "" if stop else state["worded_by"]},
    )  # fmt: skip


async def ask_or_finish(state: Continued) -> Literal["ask", "over"]:
    """Go on to the next question, or straight to storing the last turn."""
    return "over" if state["stop"] else "ask"


async def next_turn_or_end(state: InterviewState) -> Literal["turn", "end"]:
    """Take another turn until the interview is over, or cannot go on now."""
    return "end" if state.get("outcome") or state["interview"].stop else "turn"


interview_builder = StateGraph(
    InterviewState, context_schema=TurnContext, input_schema=Talk, output_schema=InterviewOutput
)
interview_builder.add_node("open_interview", open_interview)
interview_builder.add_node("context_loading", context_loading)
interview_builder.add_node("utterance_saving", utterance_saving)
interview_builder.add_node("extraction", extraction)
interview_builder.add_node("graph_update", graph_update)
interview_builder.add_node("state_computation", state_computation)
interview_builder.add_node("strategy_selection", strategy_selection)
interview_builder.add_node("continuation", continuation)
interview_builder.add_node("question_generation", question_generation)
interview_builder.add_node("response_saving", response_saving)
interview_builder.add_node("scoring_persistence", scoring_persistence)

interview_builder.add_edge(START, "open_interview")
interview_builder.add_conditional_edges("open_interview", stopped, {"on": "context_loading", "out": END})
interview_builder.add_edge("context_loading", "utterance_saving")
interview_builder.add_conditional_edges("utterance_saving", stopped, {"on": "extraction", "out": END})
interview_builder.add_conditional_edges("extraction", stopped, {"on": "graph_update", "out": END})
interview_builder.add_edge("graph_update", "state_computation")
interview_builder.add_conditional_edges("state_computation", stopped, {"on": "strategy_selection", "out": END})
interview_builder.add_edge("strategy_selection", "continuation")
interview_builder.add_conditional_edges(
    "continuation", ask_or_finish, {"ask": "question_generation", "over": "scoring_persistence"}
)
interview_builder.add_conditional_edges("question_generation", stopped, {"on": "response_saving", "out": END})
interview_builder.add_edge("response_saving", "scoring_persistence")
interview_builder.add_conditional_edges(
    "scoring_persistence", next_turn_or_end, {"turn": "context_loading", "end": END}
)

interview = interview_builder.compile(name="laddering_interview")


class LadderingState(MethodologyState):
    """A laddering study at work."""

    turns: Annotated[NotRequired[dict[str, int]], merge_by_id]  # arm → turns held


async def hold_interviews(state: ShardSpec) -> Channels:
    """Interview some of the agents, side by side: each goes through `interview`, here or in a worker."""
    return await ask_shard(state, interview)


async def code_concepts(state: LadderingState) -> Channels:
    """Close each arm's interviews; where a model is to code the concepts, once those of the main arm are over."""
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            await barrier.close_round(arm, await barrier.procedure.code_concepts(arm))
        barrier.show(turns=barrier.count_turns())
    return barrier.next_state


builder = StateGraph(LadderingState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_interviews", open_first_round)
builder.add_node("hold_interviews", hold_interviews)
builder.add_node("code_concepts", code_concepts)
builder.add_node("close_interviews", file_stage)

builder.add_edge(START, "open_interviews")
builder.add_conditional_edges("open_interviews", send_shards_to("hold_interviews"), ["hold_interviews"])
builder.add_edge("hold_interviews", "code_concepts")
builder.add_edge("code_concepts", "close_interviews")
builder.add_conditional_edges("close_interviews", choose_probes_or_end, {"probes": "open_interviews", "end": END})

laddering = builder.compile(name="laddering_interviews")
