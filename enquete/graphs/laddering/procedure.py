"""How a laddering study is conducted: every agent is interviewed for itself, turn by turn, until its interview is over.

An interview is a conversation whose stored turns add up to a knowledge graph and to what each of its concepts went
through. Every arm interviews on its own: what one respondent says never shapes another's questions.

A turn, from the question asked to the next one: its channels, its ten stages in their order, and where each leads.

Each stage returns only what it writes and changes nothing it was given. ROUTES says once where each leads: `walk` goes
that way, without LangGraph's step for every node, which took two fifths of a run's CPU; the graph that Studio draws,
and that goes the same way, is made of it. No checkpointer: the stored turns are the checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from enquete.graphs.laddering import questions, signals
from enquete.graphs.laddering.interview import LadderingInterview, TurnContext, TurnRecord, past_turn
from enquete.graphs.laddering.interviewer import (
    ASKER,
    JUDGE,
    READER,
    ROLES,
    Extraction,
    ExtractionInput,
    JudgementInput,
    KnownConcept,
    allowed_edges,
    as_said,
    placed,
)
from enquete.graphs.laddering.knowledge import Changes, Coverage, KnowledgeGraph, cover, longest_chain, with_findings
from enquete.graphs.laddering.questions import opening, opening_questions
from enquete.graphs.laddering.settings import LadderingInstrument, LadderingSettings, StopRule
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
    utterance_id,
    walk,
)
from enquete.respondents.person import require_asked
from enquete.respondents.roles import RULE
from enquete.state.asking import ATTEMPTS, Block, Outcome, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan

# --- A turn, stage by stage ------------------------------------------------------------------------------------------


class TurnInput(TypedDict):
    interview: LadderingInterview


class TurnOutput(TurnOutcome, total=False):
    result: LadderingInterview


class TurnState(TurnOutput, total=False):
    """All channels, by the node that writes them; `outcome` is whose turn ends the turn."""

    interview: LadderingInterview
    # context_loading
    known: list[KnownConcept]
    focus: KnownConcept | None
    aims: list[str]
    said: list[tuple[str, str]]
    # utterance_saving
    utterance: Utterance
    # extraction
    extraction: Extraction
    extracted_by: str
    # graph_update
    graph: KnowledgeGraph
    changes: Changes
    # state_computation
    readings: signals.Readings
    judged_by: str
    depth: signals.Depth
    chain: int
    states: signals.States  # and response_saving, once a concept is in focus
    coverage: Coverage
    past: list[signals.Past]
    detected: signals.Detected
    # strategy_selection
    candidates: list[questions.Candidate]
    choice: questions.QuestionChoice | None  # and continuation, where a closing question takes its place
    # continuation
    stop: questions.Reason
    # question_generation
    question: str
    worded_by: str


Turn = Runtime[TurnContext]


async def context_loading(state: TurnState, runtime: Turn) -> TurnState:
    """What was said before, and what the question of this turn was after."""
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


async def utterance_saving(state: TurnState, runtime: Turn) -> TurnState:
    """The question is asked, unless it was answered before, and the answer stored. A person may take their time."""
    interview, context = state["interview"], runtime.context.interview_context
    asked = Asked(turn=interview.number, question=interview.question)
    heard = await hear(context, [runtime.context.block(interview, asked)])
    return {"outcome": heard} if isinstance(heard, str) else {"utterance": heard[0]}


async def extraction(state: TurnState, runtime: Turn) -> TurnState:
    """Concepts and relationships of the answer. Of no answer nothing is read, and nobody is asked to."""
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


async def graph_update(state: TurnState, runtime: Turn) -> TurnState:
    """The graph with what was found, near-duplicates merged, and what was new in it."""
    interview, utterance, settings = state["interview"], state["utterance"], runtime.context.settings
    focus = interview.graph.nodes.get(interview.focus)
    source = utterance_id(interview.unit, interview.number)
    language = runtime.context.interview_context.language
    heard = as_said(state["extraction"], utterance.text, settings.method, language)
    concepts, links, left_out = placed(heard, utterance.text, source, settings.topic, language, focus, interview.graph)
    graph, changes = with_findings(interview.graph, settings.method, concepts, links, interview.number, left_out)
    return {"graph": graph, "changes": changes}


async def state_computation(state: TurnState, runtime: Turn) -> TurnState:
    """How the answer was given, what every concept went through, and all signals."""
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


async def strategy_selection(state: TurnState, runtime: Turn) -> TurnState:
    """The best pair of strategy and concept; any, or the script's next, where that is the comparison."""
    interview, graph, strategy = state["interview"], state["graph"].standing, runtime.context.strategy
    context, method = runtime.context.interview_context, runtime.context.settings.method
    past = [] if strategy == "static" else state["past"]  # a script hears nothing
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


async def continuation(state: TurnState, runtime: Turn) -> TurnState:
    """Whether there will be another question, and if not, why. Where a turn is left for it, the last one is a closing
    one."""
    interview, settings, method = state["interview"], runtime.context.settings, runtime.context.settings.method
    if interview.choice and interview.choice.because:
        return {"stop": interview.choice.because, "choice": None}
    if runtime.context.is_ended(interview):
        return {"stop": "ended", "choice": None}
    asked = method.strategies.get(interview.choice.strategy) if interview.choice else None
    fixed = runtime.context.strategy == "static"  # a script hears nothing, so it never ends early
    stop = questions.stop_reason(
        state["past"], state["states"], turns=settings.turns, closed=asked is not None and asked.closing,
        phase="mid" if fixed else str(state["detected"].interview["meta.interview.phase"]),
        candidates=[(pair.strategy, pair.focus) for pair in state["candidates"]],
        stops=StopRule(from_turn=settings.turns) if fixed else runtime.context.instrument.stops,
    )  # fmt: skip
    done, heard = len(state["past"]), bool(state["states"])
    last_word = questions.closing_turn(method, interview.used, turns=settings.turns, done=done, stop=stop, heard=heard)
    return {"stop": "", "choice": last_word} if last_word else {"stop": stop, "choice": state["choice"]}


async def question_generation(state: TurnState, runtime: Turn) -> TurnState:
    """The next question, as the choice wants it."""
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


async def response_saving(state: TurnState, runtime: Turn) -> TurnState:
    """The chosen concept comes into focus: what the next answer will be counted for."""
    choice, states = state["choice"], state["states"]
    return {"states": signals.after_choice(states, choice.focus, choice.strategy) if choice else states}


async def scoring_persistence(state: TurnState, runtime: Turn) -> TurnState:
    """The turn is pinned with its signals and scores: from here on it is what the interview is rebuilt from.

    Raises RuntimeError where that would give other node states than the turn went through: focus, yield and depth would
    then be lost with the process, and every signal read off them with it.
    """
    interview = state["interview"]
    record = await keep(runtime.context.interview_context, interview.unit, turn_record(state))
    result = interview.after(record)
    if result.states != state["states"]:
        raise RuntimeError(
            f"turn {record.turn} of {interview.unit}: stored, it gives other node states than the turn itself"
        )
    return {"outcome": "done", "result": result}


def turn_record(state: TurnState) -> TurnRecord:
    """A turn as it is kept."""
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


# --- where each stage leads -------------------------------------------------------------------------------------------


async def over(state: TurnState) -> Literal["on", "over"]:
    return "over" if state.get("stop") else "on"


ROUTES: Routes = {
    context_loading: utterance_saving,
    utterance_saving: (stopped, {"on": extraction, "out": None}),
    extraction: (stopped, {"on": graph_update, "out": None}),
    graph_update: state_computation,
    state_computation: (stopped, {"on": strategy_selection, "out": None}),
    strategy_selection: continuation,
    continuation: (over, {"on": question_generation, "over": scoring_persistence}),
    question_generation: (stopped, {"on": response_saving, "out": None}),
    response_saving: scoring_persistence,
    scoring_persistence: None,
}


turn_graph = draw(ROUTES, "laddering_turn", TurnState, TurnContext, TurnInput, TurnOutput)


# --- The study -------------------------------------------------------------------------------------------------------

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

    async def advance(self, talk: LadderingInterview, context: InterviewContext) -> LadderingInterview | Outcome:
        """The next turn; before the first one the opening question, warm and open."""

        if not talk.question_by:
            data = opening(self.settings, self.language, context.arm.seed, talk.unit, "opening")
            done = await ASKER.work(context, self.settings, subject(talk.unit, talk.number), data)
            if done == "short":
                return "short"
            talk = replace(talk, question=done[0].question, question_by=done[1])
        ended = await walk(ROUTES, TurnState(interview=talk), TurnContext(context, self.instrument, self.settings))
        return ended["result"] if "result" in ended else ended["outcome"]

    async def between(
        self, round: int, context: InterviewContext
    ) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Where a model is to make the codes: once all interviews of the main arm are over."""
        if not self._codes_by_model(context):
            return "end"
        from enquete.graphs.laddering.coding import code_concepts  # noqa: PLC0415 - the coder is slow to import

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
