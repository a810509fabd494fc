"""The ten nodes of a turn, in their order. Each returns only what it writes and changes nothing it was given."""

from __future__ import annotations

from langgraph.runtime import Runtime

from enquete.graphs.laddering import roles
from enquete.graphs.laddering.coverage import cover, longest_chain
from enquete.graphs.laddering.extraction import Extraction, ExtractionInput, Known, allowed_edges, placed
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview, TurnRecord, answered_states, turn_name
from enquete.graphs.laddering.knowledge import with_findings
from enquete.graphs.laddering.nodestate import after_choice
from enquete.graphs.laddering.policy import closing_turn, follow_up, technique_of
from enquete.graphs.laddering.questions import candidates
from enquete.graphs.laddering.readings import ReadingInput, Readings, depth_of
from enquete.graphs.laddering.scoring import choose
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.signals.base import Past, View
from enquete.graphs.laddering.signals.registry import detect
from enquete.graphs.laddering.stopping import stop_reason
from enquete.graphs.laddering.turn_state import (
    ComputationReads,
    ComputationWrites,
    Context,
    ContinuationReads,
    ContinuationWrites,
    ExtractionReads,
    ExtractionWrites,
    GraphReads,
    GraphWrites,
    PersistenceReads,
    PersistenceWrites,
    QuestionReads,
    QuestionWrites,
    ResponseReads,
    ResponseWrites,
    SelectionReads,
    SelectionWrites,
    TurnContext,
    TurnInput,
    Utterance,
    UtteranceReads,
    UtteranceWrites,
)
from enquete.state.seam import Block, Desk, Item

HEARD = ("ok", "repaired")

Turn = Runtime[TurnContext]


async def context_loading(state: TurnInput, runtime: Turn) -> Context:
    """What was said before, and what the question of this turn was after."""
    interview, method = state["interview"], runtime.context.settings.method
    known = [Known(text=node.text, type=node.type) for node in interview.graph.nodes.values()]
    focus = interview.graph.nodes.get(interview.focus)
    elicits = technique_of(method, interview.choice).elicits if interview.choice else method.opening.elicits
    aim = method.aim(elicits, focus.type if focus else "")
    return {
        "known": known,
        "focus": Known(text=focus.text, type=focus.type) if focus else None,
        "aims": [aim] if aim else [],
        "transcript": interview.transcript(),
    }


async def utterance_saving(state: UtteranceReads, runtime: Turn) -> UtteranceWrites:
    """The question is asked, unless it was answered before, and the answer stored. A person may take their time."""
    interview, desk = state["interview"], runtime.context.desk
    block = turn_block(desk, runtime.context.instrument, runtime.context.settings, interview)
    reply = await desk.ask(block)
    if reply.state != "done":
        return {"outcome": reply.state}
    (answer,) = reply.answers
    text = answer.text if answer.status in HEARD else ""
    return {"utterance": Utterance(utterance_id(interview.unit, interview.turn), text, answer.status)}


async def extraction(state: ExtractionReads, runtime: Turn) -> ExtractionWrites:
    """Concepts and relationships of the answer. Of no answer nothing is read, and nobody is asked to."""
    utterance, settings = state["utterance"], runtime.context.settings
    if not utterance.text:
        return {"extraction": Extraction(), "extracted_by": ""}
    language, method = runtime.context.desk.language, settings.method
    data = ExtractionInput(
        topic=settings.topic.topic.in_(language),
        question=state["interview"].question,
        answer=utterance.text,
        focus=state["focus"],
        aims=state["aims"],
        known=state["known"],
        node_types={name: kind.description.in_(language) for name, kind in method.node_types.items()},
        edges=allowed_edges(method),
        elements={name: element.label.in_(language) for name, element in settings.topic.elements.items()},
    )
    done = await roles.read(runtime.context.desk, settings, subject(state["interview"]), data)
    return {"outcome": "short"} if done == "short" else {"extraction": done[0], "extracted_by": done[1]}


async def graph_update(state: GraphReads, runtime: Turn) -> GraphWrites:
    """The graph with what was found, near-duplicates merged, and what was new in it."""
    interview, utterance, settings = state["interview"], state["utterance"], runtime.context.settings
    focus = interview.graph.nodes.get(interview.focus)
    topic = settings.topic.spoken(runtime.context.desk.language)
    said, links, unsaid = placed(state["extraction"], utterance.text, utterance.id, topic, focus, interview.graph)
    graph, changes = with_findings(interview.graph, settings.method, said, links, interview.turn, unsaid)
    return {"graph": graph, "changes": changes}


async def state_computation(state: ComputationReads, runtime: Turn) -> ComputationWrites:
    """How the answer was given, what every concept went through, and all signals, in two passes."""
    interview, graph, changes = state["interview"], state["graph"], state["changes"]
    settings = runtime.context.settings
    judged = await _judged(state, runtime.context)
    if judged is None:
        return {"outcome": "short"}
    readings, judged_by = judged
    depth = depth_of(state["utterance"].text, readings)
    chain = longest_chain(graph, settings.method, graph.nodes)
    states = answered_states(interview.states, graph, interview.focus, depth, changes)
    strategy = interview.choice.strategy if interview.choice else ""
    past = [*interview.past, Past(strategy, interview.focus, depth, changes.new_nodes, changes.new_edges, chain)]
    coverage = cover(graph, settings.topic, settings.method)
    view = View(settings.method, graph, states, coverage, past, readings, interview.focus, chain)
    return {
        "readings": readings,
        "judged_by": judged_by,
        "depth": depth,
        "chain": chain,
        "states": states,
        "coverage": coverage,
        "past": past,
        "detected": detect(view, list(settings.method.strategies)),
    }


async def _judged(state: ComputationReads, context: TurnContext) -> tuple[Readings, str] | None:
    """The answer's readings and who gave them; None where the budget is short."""
    utterance, interview = state["utterance"], state["interview"]
    if not utterance.text:
        return Readings(), ""
    topic = context.settings.topic.topic.in_(context.desk.language)
    data = ReadingInput(topic=topic, question=interview.question, answer=utterance.text)
    done = await roles.judge(context.desk, context.settings, subject(interview), data)
    return None if done == "short" else done


async def strategy_selection(state: SelectionReads, runtime: Turn) -> SelectionWrites:
    """The best pair of strategy and concept, or any, where the random interviewer is the comparison."""
    interview, graph = state["interview"], state["graph"]
    desk, settings = runtime.context.desk, runtime.context.settings
    possible = candidates(settings.method, graph, interview.asked, desk.language, interview.used, state["past"])
    if not possible:
        return {"candidates": [], "choice": None}
    key = (desk.arm.seed, interview.unit, interview.turn) if settings.strategy == "random" else None
    types = {node.id: node.type for node in graph.nodes.values()}
    linked = {node: frozenset(types[other] for other in others) for node, others in graph.neighbours.items()}
    choice = choose(settings.method, possible, state["detected"], linked, types, key, interview.used)
    return {"candidates": possible, "choice": choice}


async def continuation(state: ContinuationReads, runtime: Turn) -> ContinuationWrites:
    """Whether there will be another question, and if not, why. Where a turn is left for it, the last one is a closing one."""
    interview, settings = state["interview"], runtime.context.settings
    if interview.choice and interview.choice.because:
        return {"stop": interview.choice.because, "choice": None}
    asked = settings.method.strategies.get(interview.choice.strategy) if interview.choice else None
    stop = stop_reason(
        state["past"],
        state["states"],
        turns=settings.turns,
        closed=asked is not None and asked.closing,
        phase=str(state["detected"].interview["meta.interview.phase"]),
        candidates=[(one.strategy, one.focus) for one in state["candidates"]],
        stops=runtime.context.instrument.stops,
    )
    done = len(state["past"])
    heard = bool(state["states"])
    last_word = closing_turn(settings.method, interview.used, turns=settings.turns, done=done, stop=stop, heard=heard)
    return {"stop": "", "choice": last_word} if last_word else {"stop": stop, "choice": state["choice"]}


async def question_generation(state: QuestionReads, runtime: Turn) -> QuestionWrites:
    """The next question, as the choice wants it."""
    interview, choice, context = state["interview"], state["choice"], runtime.context
    if choice is None:  # then the interview has stopped: continuation
        raise RuntimeError("a question is to be worded, but none was chosen")
    transcript = [*state["transcript"], (interview.question, state["utterance"].text)]
    data = follow_up(
        context.settings, choice, state["graph"], state["detected"], transcript, interview.asked, context.desk.language
    )
    done = await roles.word(context.desk, context.settings, subject(interview, 1), data, interview.asked)
    return {"outcome": "short"} if done == "short" else {"question": done[0], "worded_by": done[1]}


async def response_saving(state: ResponseReads, runtime: Turn) -> ResponseWrites:
    """The chosen concept comes into focus: what the next answer will be counted for."""
    choice = state["choice"]
    return {"states": after_choice(state["states"], choice.focus, choice.strategy) if choice else state["states"]}


async def scoring_persistence(state: PersistenceReads, runtime: Turn) -> PersistenceWrites:
    """The turn is frozen with its signals and scores: from here on it is what the interview is rebuilt from.

    Raises RuntimeError where that would give other node states than the turn went through: focus, yield and depth would
    then be lost with the process, and every signal read off them with it.
    """
    interview = state["interview"]
    record = turn_record(state)
    name = turn_name(interview.unit, interview.turn)
    stored = await runtime.context.desk.freeze(name, record.model_dump(mode="json", exclude_defaults=True))
    result = interview.after(TurnRecord.model_validate(stored))
    if result.states != state["states"]:
        raise RuntimeError(f"{name}: the stored turn gives other node states than the turn itself")
    return {"outcome": "done", "result": result}


def turn_record(state: PersistenceReads) -> TurnRecord:
    """A turn as it is kept."""
    interview, utterance, stop = state["interview"], state["utterance"], state["stop"]
    choice = None if stop else state["choice"]
    detected = state["detected"]
    return TurnRecord(
        turn=interview.turn,
        question=interview.question,
        choice=interview.choice,
        utterance=utterance.id,
        status=utterance.status,
        answer=utterance.text,
        depth=state["depth"],
        changes=state["changes"],
        chain=state["chain"],
        coverage=state["coverage"],
        readings=state["readings"],
        signals=detected.of(choice.strategy, choice.focus) if choice else detected.interview,
        next=choice,
        next_question="" if stop else state["question"],
        stop=stop,
        by={
            "extract": state["extracted_by"],
            "signal": state["judged_by"],
            "question": interview.question_by,
            "next": "" if stop else state["worded_by"],
        },
    )


def turn_block(desk: Desk, instrument: LadderingInstrument, settings: LadderingSettings, interview: Interview) -> Block:
    """The question of an interview's next turn, with the conversation so far."""
    language = desk.language
    label = {"de": ("Frage", "Antwort"), "en": ("Question", "Answer")}[language]
    said = "\n".join(f"{label[0]}: {q}\n{label[1]}: {' '.join(a.split()) or '–'}" for q, a in interview.transcript())
    return Block(
        key=desk.key(interview.unit, "turn", session=settings.method.id, turn=interview.turn),
        instruction=instrument.told(settings.topic.topic, language),
        items=(Item(id=f"turn_{interview.turn:02d}", kind="text", wording=interview.question),),
        quoted=((instrument.transcript_heading.in_(language), said),) if said else (),
    )


def utterance_id(unit: str, turn: int) -> str:
    return f"{unit}#{turn}"


def subject(interview: Interview, ahead: int = 0) -> str:
    """What a call of this turn (or of a later one) is filed under."""
    return f"{interview.unit}|turn {interview.turn + ahead}"
