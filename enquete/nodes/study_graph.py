"""The entry graph: population, T0, the pause, T1, the gate, the synthesis. Built from the same pieces for a whole run
and for one methodology on its own.

Only this graph interrupts, at two places that never wait together: `await_simulation` between the waves, and `gate`
after everything that could be done was done. The ledger's stages decide where to go, not the resume value.
"""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict

from langchain_core.runnables.graph import Graph
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from enquete.demo import demo_population
from enquete.ledger.folders import new_run_id
from enquete.ledger.ledger import Failure, Ledger
from enquete.nodes.close_round import graph_failure
from enquete.nodes.critic_graph import STAGE, critic_graph
from enquete.nodes.model_server import require_server_of
from enquete.nodes.planning import CRITIC, OF_PROBES, planned
from enquete.nodes.run_choice import begin, choose_run
from enquete.nodes.run_session import RunSession, using
from enquete.nodes.run_settings import recorded_settings, resolve_run_machine, settings_of
from enquete.nodes.waves import open_t1, simulation_status
from enquete.respondents.person import (
    answered_items,
    as_shown,
    open_forms,
    require_readable,
    require_some_answer,
    submit,
)
from enquete.state.asking import Block, Participant
from enquete.state.channels import InterviewsInput, InterviewsOutput, InterviewsState
from enquete.state.errors import InputError, LedgerError, RunPaused, SettingsError, complaints
from enquete.state.request import RunRequest, TokenCap, parse_request
from enquete.state.settings import Environment, Machine, resolve_root

# --- What a stopped run says to whoever goes on with it (an interrupt of LangGraph), and takes in return

MOST_SHOWN = 10
"""Forms in an interrupt, which is kept with the checkpoint: a panel of people waits with hundreds."""

AWAITING_SIMULATION = "awaiting_simulation"
"""Goes on with any value, once the simulation has completed."""
GO_ON = "resume with true to look again"
LARGER_CAP = 'resume with {"budget_tokens": N}, N being the cap for the whole run, what is spent included'
ANSWERS = (
    'resume with {"answers": {NAME: {ITEM: ANSWER}}}, as waiting_for asks, of one or of several; an item that is left '
    'out counts as refused, and "refused" in place of the items refuses all. Or answer on the run\'s page, and resume '
    "with true"
)
REFUSED: Literal["refused"] = "refused"
"""In place of a form's answers: an empty form says nothing, so whoever refuses everything says so."""


class Resumption(BaseModel):
    """A resume's value: `true` is one without fields."""

    model_config = ConfigDict(extra="forbid")

    budget_tokens: TokenCap = None
    answers: dict[str, dict[str, JsonValue] | Literal["refused"]] = {}


def resumption(value: object, how: str) -> Resumption:
    """`how`: what the stop says would do. Raises SettingsError, which says it again, for anything else."""
    if value is True:
        return Resumption()
    if not isinstance(value, Mapping):
        raise SettingsError(f"resume value: {value!r} cannot be read; {how}")
    try:
        return Resumption.model_validate(dict(value))
    except ValidationError as error:
        raise SettingsError(f"resume value: {complaints(error)}; {how}") from None


async def require_acceptable(run: str, value: object, stop: Mapping[str, JsonValue]) -> None:
    """`stop`: what the interrupt of this run said. Raises SettingsError, InputError, saying what would do."""
    if value is True or stop["reason"] == AWAITING_SIMULATION:
        return
    resumed = resumption(value, str(stop["how"]))
    async with using(run) as run_session:
        whole = run_session.ledger.stages().get(("", ""))
        if whole is not None and whole.outcome == "completed":
            return  # gone back in time: nothing waits, and the state's note says what to do instead
        meant(run_session.ledger, run_session.population, resumed.answers)


def waiting_for(ledger: Ledger, population: Sequence[Participant]) -> dict[str, JsonValue]:
    """The forms that wait for people: whose, what is asked and shown, how many in all; {} where none does."""
    blocks = [form.block for form in open_forms(ledger)]
    names = _names(blocks, population)
    shown: list[JsonValue] = [
        {"participant": block.key.participant, "name": names[block.key.participant], **as_shown(block)}
        for block in blocks[:MOST_SHOWN]
    ]
    return {"waiting_for": shown, "n_waiting": len(blocks)} if blocks else {}


def _names(blocks: Sequence[Block], population: Sequence[Participant]) -> dict[str, str]:
    """Of those who are asked by these forms."""
    whose = {block.key.participant for block in blocks}
    return {who.id: who.name for who in population if who.id in whose} if whose else {}


Answers = Mapping[str, Mapping[str, JsonValue] | Literal["refused"]]
"""Name or id of a participant → item → answer, or that all are refused."""


async def submit_answers(ledger: Ledger, population: Sequence[Participant], answers: Answers) -> None:
    """All of them or none. Raises InputError, saying what would do."""
    for block, given in meant(ledger, population, answers):
        await submit(ledger, block, given)


def meant(
    ledger: Ledger, population: Sequence[Participant], answers: Answers
) -> list[tuple[Block, Mapping[str, JsonValue]]]:
    """The forms that these answers fill in. Raises InputError if nobody waits with one, one is no answer, or none is
    given."""
    blocks = [form.block for form in open_forms(ledger)]
    names = _names(blocks, population)
    forms = []
    for who, given in answers.items():
        entered = {} if given == REFUSED else given
        block = _asked(who, entered, blocks, names, ledger, population)
        require_readable(block, entered)
        if given != REFUSED:
            require_some_answer(block, entered, f'{{"answers": {{"{who}": "{REFUSED}"}}}}')
        forms.append((block, entered))
    return forms


def _asked(
    who: str,
    given: Mapping[str, JsonValue],
    blocks: Sequence[Block],
    names: Mapping[str, str],
    ledger: Ledger,
    population: Sequence[Participant],
) -> Block:
    """Their oldest form that has these items."""
    theirs = [block for block in blocks if who in (block.key.participant, names[block.key.participant])]
    waited = ", ".join(dict.fromkeys(names[block.key.participant] for block in blocks)) or "nobody"
    for block in theirs:
        if given.keys() <= {item.id for item in block.items}:
            return block
    answered = answered_items(ledger)
    person = next((each.id for each in population if who in (each.id, each.name) and each.id in answered), "")
    if person and (not theirs or given.keys() <= answered[person]):
        raise InputError(
            f"answers: {who} has answered already, and what is answered stays answered, at whatever checkpoint it is "
            f"gone on from; waited for: {waited}. Resume with true to go on from here; to have {who} asked anew, start "
            "a thread with the context new=true"
        )
    if not theirs:
        raise InputError(f"answers: nothing is asked of {who!r}; waited for: {waited}")
    asked = ", ".join(item.id for item in theirs[0].items)
    unknown = ", ".join(name for name in given if name not in asked.split(", "))
    raise InputError(f"answers: {who} is not asked for {unknown}; items are {asked}")


# --- The entry graph as LangGraph Studio and the façade run it: input and context are checked in our own words, and the
# drawing leaves out error handlers, which the library draws as nodes and has no option for.

HANDLER = "__error_handler__"
KNOWN = tuple(InterviewsInput.__annotations__)
NOT_BEGUN = (
    "this thread has no run to go on with: it was never started, or its start was refused. Start it with an input ({} "
    "for the demo) and its context, which a resume does not repeat"
)


async def take_settings(run: str, request: RunRequest) -> None:
    """Write down what a resume's context says about how the run is driven, which all nodes then read."""
    if not request.model_fields_set:
        return  # the façade's driver has the run open already
    recorded = recorded_settings(Path(run))
    machine = resolve_run_machine(request, Environment.read(), recorded)
    if settings_of(machine) != recorded:
        async with using(run, machine):
            pass


class Unfiltered(dict[str, Any]):
    """The agent server drops what a context's schema lacks, before a graph could refuse it: here it has everything."""

    def __contains__(self, key: object) -> bool:
        return True


class EntryGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """Compiled graphs take keys that they do not know without a word: a mistyped `sim` would interview the demo. So
    would the resume of a thread that has no run: to the library it is a start with nothing said."""

    async def astream(self, input: Any, config: Any = None, *, context: Any = None, **more: Any) -> AsyncIterator[Any]:
        request = parse_request(**context) if isinstance(context, Mapping) else context
        if isinstance(input, Mapping):
            require_known(input)
        else:
            run = await self._require_resumable(input, config)
            await take_settings(run, request or RunRequest())
        async for event in super().astream(input, config, context=request, **more):
            yield event

    async def _require_resumable(self, command: Any, config: Any) -> str:
        """The thread's run. Before the library keeps the value: it would give a refused one to the node again, whatever
        it is resumed with next.

        Raises SettingsError, InputError.
        """
        snapshot = await self.aget_state(config)
        run = snapshot.values.get("run")
        if not run:
            raise SettingsError(NOT_BEGUN)
        for stop in snapshot.interrupts if isinstance(command, Command) and command.resume is not None else ():
            by_id = isinstance(command.resume, Mapping) and stop.id in command.resume
            await require_acceptable(run, command.resume[stop.id] if by_id else command.resume, stop.value)
        return str(run)

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        schema = super().get_context_jsonschema()
        return {**schema, "properties": Unfiltered(schema["properties"])} if schema else None

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        return without_handlers(await super().aget_graph(config, xray=xray))


def require_known(given: Mapping[str, Any]) -> None:
    """Raises SettingsError for a key that the graph does not start from."""
    for name in given:
        if name not in KNOWN:
            there = "; it is part of the context" if name in RunRequest.model_fields else ""
            raise SettingsError(f"input: {name}: there is no such field{there}; there are {', '.join(KNOWN)}")


def without_handlers(drawn: Graph) -> Graph:
    for node in [node for name, node in drawn.nodes.items() if HANDLER in name]:
        drawn.remove_node(node)
    return drawn


# --- A graph started in LangGraph Studio without naming a simulation: the demo's population, answered by the synthetic
# respondent. Each start lays out a population of its own, so that T0, the pause and T1 can be watched every time.

DEMO = "demo"
FOLDER = "studio-demo"
MARKER = ".enquete-studio-demo"


def require_blocking_allowed() -> None:
    """A run's ledger is an SQLite file that is written from the event loop, which `langgraph dev` forbids by itself.

    Raises SettingsError naming the flag, in place of a BlockingError out of some library.
    """
    if os.environ.get("LANGGRAPH_ALLOW_BLOCKING", "true").lower() == "false":
        raise SettingsError("the server forbids file access in nodes: start it with langgraph dev --allow-blocking")


def as_demo(request: RunRequest, root: Path, *, completed: bool) -> RunRequest:
    """The request, about a new demo population under `root`/studio-demo.

    completed=False: its simulation has just started, so a run takes T0 and pauses. A model answers only where the
    request names one: a key in the environment must not make a demonstration cost money.
    """
    folder = root / FOLDER / new_run_id().removeprefix("run_")
    path = demo_population(folder, completed=completed, language=request.language or "de")
    (folder / MARKER).touch()
    is_open = request.respondent is None and request.model is None and request.arms is None
    return request.model_copy(
        update={"sim": str(path.absolute()), "respondent": "synthetic" if is_open else request.respondent}
    )


def is_demo(sim_path: Path) -> bool:
    """Whether this simulation was laid out by `as_demo`: `enquete demo` and real ones are left to themselves."""
    return (sim_path.parent.parent / MARKER).is_file()


log = logging.getLogger("enquete")

Inner = Mapping[str, tuple[str, tuple[str, ...], Any]]
"""name → (dotted path, phases, compiled inner graph)."""

PLAYS_ON = "resume with any value: the demo's simulation then runs to its end"

ANSWERED = (
    "This run had been completed before: what is answered stays answered, at whatever checkpoint it is gone on from, "
    "and nobody was asked again. To ask anew, start a thread with the context new=true (another run), or with "
    "rerun=true and methods (these anew, the others taken over)."
)
"""For who goes back in time in Studio: checkpoints are positions, the answers are in the run's ledger."""


class Closed(TypedDict):
    """What a synthesis tells the run's state."""

    status: str
    findings: list[str]  # page one's sentences
    page_one: str  # Markdown


class Synthesise(Protocol):
    """Writes findings, report and exports of a run; its status. Given by graphs/, because reports/ lies above."""

    async def __call__(
        self, run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False
    ) -> Closed: ...


def node_name(methodology: str, phase: str, phases: tuple[str, ...]) -> str:
    """`longitudinal_T0` where a methodology runs in two phases, else its name."""
    return f"{methodology}_{phase}" if len(phases) > 1 else methodology


class EntryNodes:
    """Node functions and routes of the entry graph."""

    def __init__(self, inner: Inner, synthesise: Synthesise):
        self._inner = inner
        self._synthesise = synthesise
        self._available = {name: dotted for name, (dotted, _, _) in inner.items()}

    async def load_population(self, state: InterviewsState, runtime: Runtime[RunRequest]) -> dict[str, Any]:
        """The run's population; begins a run where the façade has not (LangGraph Studio)."""
        address, machine = state.get("run"), None
        if not address:
            address, machine = await self._begin(state, runtime)
        async with using(address, machine) as run_session:
            return {"run": address, "agents": len(run_session.population), "awaiting": ""}

    async def _begin(self, state: InterviewsState, runtime: Runtime[RunRequest]) -> tuple[str, Machine]:
        """The run that input and context mean; without a simulation, one on a demo population of its own."""
        require_blocking_allowed()
        environment = Environment.read()
        request = runtime.context or RunRequest()
        methods = request.methods or (list(self._inner) if len(self._inner) == 1 else None)
        request = request.model_copy(update={"sim": state.get("sim") or request.sim, "methods": methods})
        if request.sim in ("", DEMO):
            root = resolve_root(request, environment)
            request = await asyncio.to_thread(as_demo, request, root, completed=not self._waits(request))
        choice, population = await asyncio.to_thread(choose_run, request, environment, self._available)
        machine = resolve_run_machine(request, environment, recorded_settings(choice.folder))
        if choice.action == "new":
            await require_server_of(choice.record, machine)
            await begin(choice, population, machine=machine)
        return str(choice.folder), machine

    def _waits(self, request: RunRequest) -> bool:
        """Whether anything is asked before the simulation has completed."""
        asked = [phases for name, (_, phases, _) in self._inner.items() if name in (request.methods or self._inner)]
        return request.phase != "T1" and any("T0" in phases for phases in asked)

    async def pin(self, state: InterviewsState) -> dict[str, Any]:
        """What will be asked, and what was settled before. A methodology that failed is tried again by a new walk."""
        async with using(state["run"]) as run_session:
            if run_session.record.critic:
                await run_session.ledger.set_stage(*STAGE, "due")
            stages = run_session.ledger.stages()
            outcomes = {f"{m}/{p}": s.outcome for (m, p), s in stages.items() if m and s.outcome == "done"}
            return {"outcomes": outcomes, "flags": list(run_session.record.notices)}

    async def after_pin(self, state: InterviewsState) -> list[Send] | str:
        async with using(state["run"]) as run_session:
            return self._todo(state["run"], run_session, "T0") or self._after_t0(run_session)

    async def after_t0(self, state: InterviewsState) -> str:
        async with using(state["run"]) as run_session:
            return self._after_t0(run_session)

    def _after_t0(self, run_session: RunSession) -> str:
        stages = run_session.ledger.stages()
        stopped = self._stopped(run_session, "T0")
        # Probes of T0 that found no budget must not keep the main arm from T1.
        if any(key not in stages or not stages[key].note.endswith(OF_PROBES) for key in stopped):
            return "gate"
        return "await_simulation" if any(phase == "T1" for _, phase in planned(run_session.record)) else "gate"

    async def await_simulation(self, state: InterviewsState) -> dict[str, Any]:
        """Pause between the waves until the simulation has completed; then pin what the agents remember."""
        async with using(state["run"]) as run_session:
            assumed, read = run_session.machine.assume_completed, run_session.simulation
            status = simulation_status(run_session.record, run_session.sim_path, assume_completed=assumed, read=read)
            if status.completed:
                return {"awaiting": "", "flags": await open_t1(run_session)}
            sim_path = run_session.sim_path
            await run_session.ledger.set_stage("", "", AWAITING_SIMULATION, status.reason)
        demo = is_demo(sim_path)
        how = PLAYS_ON if demo else "resume with any value once the simulation has completed"
        interrupt({"reason": AWAITING_SIMULATION, "status": status.status, "why": status.reason, "how": how})
        if demo:
            await asyncio.to_thread(demo_population, sim_path.parent.parent, completed=True)
        return {"awaiting": "simulation"}

    async def after_waiting(self, state: InterviewsState) -> list[Send] | str:
        if state.get("awaiting"):
            return "await_simulation"
        async with using(state["run"]) as run_session:
            return self._todo(state["run"], run_session, "T1") or "gate"

    async def gate(self, state: InterviewsState, runtime: Runtime[RunRequest]) -> dict[str, Any]:
        """The one place that stops for budget or people; after it, what is unfinished is dispatched again.

        What it can be resumed with, the beginning of this module says. Raises SettingsError, InputError for anything
        else.
        """
        async with using(state["run"]) as run_session:
            stopped_stages = self._stopped(run_session, "T0") or self._stopped(run_session, "T1")
            unfinished = {f"{name}/{phase}": outcome for (name, phase), outcome in stopped_stages.items()}
            if not unfinished and self._critic(run_session) == "short":
                unfinished = {CRITIC: "short"}
            budget = run_session.budget
            stopped, failed = budget.stopped, budget.failed
            stands = {"spent_tokens": budget.spent, "cap_tokens": budget.cap, "expected_tokens": budget.expected}
            released = self._released(run_session)
            reason = stopped or ("budget" if "short" in unfinished.values() else "waiting")
            forms = waiting_for(run_session.ledger, run_session.population)
            if unfinished and not (released and not stopped):
                await run_session.ledger.set_stage("", "", "waiting" if reason == "waiting" else "paused", reason)
        if not unfinished:
            return {"awaiting": ""}
        if released and not stopped:
            return {"awaiting": "gate"}
        how = "; ".join([LARGER_CAP] * (reason == "budget") + [ANSWERS] * bool(forms)) or GO_ON
        stop = {"reason": reason, "failed": failed, "unfinished": unfinished, "how": how}
        resumed = resumption(interrupt({**stop, **(stands if reason == "budget" else {}), **forms}), how)
        cap = resumed.budget_tokens or (runtime.context.budget_tokens if runtime.context else None)
        async with using(state["run"]) as run_session:
            await submit_answers(run_session.ledger, run_session.population, resumed.answers)
            if cap is not None:
                await run_session.ledger.note("cap_tokens", str(cap))
                run_session.budget.cap = cap
        return {"awaiting": "gate"}

    async def after_gate(self, state: InterviewsState) -> list[Send] | str:
        async with using(state["run"]) as run_session:
            for phase in ("T0", "T1") if state.get("awaiting") else ():
                if self._stopped(run_session, phase):
                    return self._todo(state["run"], run_session, phase)
            return "synthesis" if self._critic(run_session) in ("", "done", "failed") else "critic"

    def _critic(self, run_session: RunSession) -> str:
        """How far the critic is in this walk: due, short, done or failed; "" where nobody is compared."""
        stage = run_session.ledger.stages().get(STAGE)
        return stage.outcome if stage is not None else ""

    async def synthesis(self, state: InterviewsState) -> dict[str, Any]:
        """Findings, report and exports from the ledger."""
        async with using(state["run"]) as run_session:
            stages = run_session.ledger.stages()
            was_done = ("", "") in stages and stages["", ""].outcome == "completed" and not run_session.asked_again
            closed = await self._synthesise(run_session, planned(run_session.record))
            await run_session.ledger.set_stage("", "synthesis", closed["status"])
            await run_session.ledger.set_stage("", "", closed["status"])  # Studio has nobody else to file it
            outcomes = {f"{name}/{phase}": stages[name, phase].outcome for name, phase in planned(run_session.record)}
        return {**closed, "outcomes": outcomes, "note": ANSWERED if was_done else ""}

    def _released(self, run_session: RunSession) -> bool:
        """Whether work was refused only for what was held for work that is over by now: then it goes on at once."""
        budget = run_session.budget
        released = budget.deferred and budget.closed > run_session.closed_at_gate
        budget.deferred, run_session.closed_at_gate = False, budget.closed
        return released

    def _stopped(self, run_session: RunSession, phase: str) -> dict[tuple[str, str], str]:
        """Stages of this phase that stopped for want of budget or a person, or were never reached."""
        stages = run_session.ledger.stages()
        here = [key for key in planned(run_session.record) if key[1] == phase]
        outcomes = {key: stages[key].outcome if key in stages else "not reached" for key in here}
        return {key: outcome for key, outcome in outcomes.items() if outcome in ("short", "waiting", "not reached")}

    def _todo(self, address: str, run_session: RunSession, phase: str) -> list[Send]:
        """A task for each methodology of this phase that is not done, or whose failed answers are asked for again."""
        stages = run_session.ledger.stages()
        sends = []
        for name, its_phase in planned(run_session.record):
            stage = stages.get((name, its_phase))
            again = (name, its_phase) in run_session.asked_again
            if its_phase == phase and (stage is None or stage.outcome != "done" or again):
                target = node_name(name, phase, self._inner[name][1])
                sends.append(Send(target, {"run": address, "methodology": name, "phase": phase}))
        return sends


def crash_handler(name: str, phase: str, steps: EntryNodes) -> Any:
    """A bug in one methodology's graph: recorded, that methodology failed, its siblings and the run go on. One in the
    critic (whose stage has no phase) costs the comparison, never the run: recorded, and the synthesis follows."""

    async def handler(state: dict[str, Any], error: NodeError) -> Command[Any]:
        if isinstance(error.error, LedgerError | RunPaused):
            raise error.error
        async with using(state["run"]) as run_session:
            if run_session.raise_bugs:
                raise error.error
            summary = f"{type(error.error).__name__}: {error.error}"
            if (name, phase) == STAGE:
                log.error("the critic was stopped by a bug", exc_info=error.error)
            else:
                key = graph_failure(run_session.record.main.id, name, phase)
                text = traceback.format_exception(error.error)
                await run_session.ledger.record_failure(Failure(*key, summary, "".join(text)))
            await run_session.ledger.set_stage(name, phase, "failed", summary)
        # The node's own edges are not followed; without a sibling nobody else would lead on.
        # Its `run` alone.
        following = await steps.after_t0(state) if phase == "T0" else "gate"  # type: ignore[arg-type]
        return Command(update={"outcomes": {f"{name}/{phase}" if name else phase: "failed"}}, goto=following)

    return handler


def build(name: str, inner: Inner, synthesise: Synthesise) -> Any:
    """The entry graph over these methodologies, without a checkpointer: the façade or Studio brings its own."""
    steps = EntryNodes(inner, synthesise)
    builder = StateGraph(
        InterviewsState, context_schema=RunRequest, input_schema=InterviewsInput, output_schema=InterviewsOutput
    )
    nodes: dict[str, list[str]] = {"T0": [], "T1": []}
    for methodology, (_, phases, graph) in inner.items():
        for phase in phases:
            node = node_name(methodology, phase, phases)
            nodes[phase].append(node)
            builder.add_node(node, graph, error_handler=crash_handler(methodology, phase, steps))
    builder.add_node("load_population", steps.load_population)
    builder.add_node("pin", steps.pin)
    builder.add_node("await_simulation", steps.await_simulation)
    builder.add_node("gate", steps.gate, defer=True)
    builder.add_node("critic", critic_graph(), error_handler=crash_handler(*STAGE, steps))
    builder.add_node("synthesis", steps.synthesis, defer=True)
    builder.add_edge(START, "load_population")
    builder.add_edge("load_population", "pin")
    builder.add_conditional_edges("pin", steps.after_pin, [*nodes["T0"], "await_simulation", "gate"])
    for node in nodes["T0"]:
        builder.add_conditional_edges(node, steps.after_t0, ["await_simulation", "gate"])
    builder.add_conditional_edges("await_simulation", steps.after_waiting, ["await_simulation", *nodes["T1"], "gate"])
    for node in nodes["T1"]:
        builder.add_edge(node, "gate")
    builder.add_conditional_edges("gate", steps.after_gate, [*nodes["T0"], *nodes["T1"], "critic", "synthesis"])
    builder.add_edge("critic", "gate")
    builder.add_edge("synthesis", END)
    compiled = builder.compile(name=name)
    compiled.__class__ = EntryGraph  # the builder has no other way to say it
    return compiled
