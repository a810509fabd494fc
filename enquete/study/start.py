"""How a run is begun, found again and driven, and what it will cost: the façade's steps, which servers take singly.

Drives one run: from wherever its checkpoints say it is, to its end or its next stop.

The ledger is the truth, checkpoints are position. A finished, damaged or changed thread is no obstacle: another walk
over the same ledger asks only what is not settled.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command
from langsmith.utils import get_env_var, tracing_is_enabled

from enquete.checkpoints.savers import saver
from enquete.checkpoints.threads import thread_id
from enquete.checkpoints.tokens import find_run
from enquete.graphs.interviews import interviews_graph, write_report
from enquete.ledger import queries
from enquete.ledger.budget import Budget
from enquete.ledger.damage import find_damage, require_sound
from enquete.ledger.drives import START_LOCK, DiskFull, alone, disk_fault, is_full, resume_command
from enquete.ledger.folders import LEDGER, is_held, read_run, run_folders
from enquete.ledger.integrity import StoreUnreachable
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import Fit, RunRecord
from enquete.methods.registry import dotted_paths
from enquete.models.metered_model import BYTES_PER_TOKEN
from enquete.models.metered_model import estimate as tokens_of
from enquete.models.prices import Prices
from enquete.nodes.synthesis import Synthesise
from enquete.runs import fit
from enquete.runs.begin_run import begin, run_population
from enquete.runs.estimate import (
    BYTES_LEAST,
    Estimate,
    EstimateLine,
    Range,
    Rehearsal,
    critic_lines,
    estimated,
    priced_line,
    rehearse,
)
from enquete.runs.executors import require_executor
from enquete.runs.fit import is_open, judged, require_fit, told
from enquete.runs.model_server import asked_url, require_server_of, telling
from enquete.runs.planning import CRITIC, NARRATIVE, planned, require_own_limits
from enquete.runs.result_folders import claim_folder, find_run_below
from enquete.runs.run_choice import RunChoice, choose_again, choose_run
from enquete.runs.run_list import survey
from enquete.runs.run_session import Progress, RunSession, driving, using
from enquete.runs.run_settings import explain_other_server, recorded_settings, resolve_run_machine
from enquete.runs.waves import simulation_status
from enquete.simulations.digest import digests
from enquete.simulations.locate import list_simulations
from enquete.simulations.population import Population
from enquete.state.asking import ATTEMPTS, Participant
from enquete.state.errors import EnqueteError, LedgerError, OverBudget, RunNotFound, RunPaused, SettingsError
from enquete.state.request import RunRequest, fields_about, parse_request
from enquete.state.settings import Environment, Machine, resolve_machine, resolve_root
from enquete.study.background import run_in_thread
from enquete.study.instruments import other_methodology_named
from enquete.study.run import Run
from enquete.study.simulations import interviews_of

# --- The driver ------------------------------------------------------------------------------------------------------

INTERRUPTED = "interrupted"
RECURSION_LIMIT = 10_000
log = logging.getLogger("enquete")


_at_work: dict[tuple[Path, int], tuple[Driver, asyncio.Future[None]]] = {}
"""Who drives which run in which loop, and what others wait for."""


class Driver:
    """One process's hold on one run. `pause` may be called from the run's own loop at any time."""

    def __init__(
        self,
        machine: Machine,
        progress: Progress | None = None,
        *,
        fresh: bool = False,
        in_talk: bool = False,
        synthesise: Synthesise = write_report,
    ):
        """`fresh`: start another walk whatever the checkpoints say (a forced walk of a finished run makes no call).
        `in_talk`: a person answers one question after another, and does not wait for a report before each.
        `synthesise`: what writes it up."""
        self._folder = Path()
        self.machine = machine
        self._progress = progress
        self._fresh = fresh
        self._in_talk = in_talk
        self.simulation: Population | None = None  # as it was read when the run was chosen, until it is driven
        self._synthesise = synthesise
        self._run_session: RunSession | None = None
        self._latest: dict[str, Any] | None = None  # event of its progress
        self._wanted_pause = False
        self._pausing: set[asyncio.Task[None]] = set()
        self._joined: Driver | None = None

    def pause(self) -> None:
        """Launch no further call, let those in flight finish, file what is there, stop with a token."""
        self._wanted_pause = True
        if self._joined is not None:
            self._joined.pause()
        if self._run_session is not None:
            task = asyncio.get_running_loop().create_task(self._run_session.budget.stop(INTERRUPTED))
            self._pausing.add(task)
            task.add_done_callback(self._pausing.discard)

    @property
    def waits_for(self) -> str:
        """Why nothing moves, while the model's server is away or being started; else ""."""
        return self._run_session.waits_for if self._run_session is not None else ""

    @property
    def caps(self) -> tuple[int | None, float | None]:
        """The tokens and US dollars that the run may cost; those asked for, until it has begun."""
        if self._run_session is None:
            return self.machine.cap_tokens, self.machine.cap_usd
        return self._run_session.budget.cap, self._run_session.budget.cap_usd

    @property
    def is_pausing(self) -> bool:
        """Whether it was told to."""
        return self._wanted_pause

    async def drive(self, folder: Path) -> None:
        """The run in this folder to its end or next stop. One that this loop drives already is not driven twice:
        whoever comes second waits for the same end. Raises RunLocked where another process or loop drives it."""
        self._folder, loop = folder, asyncio.get_running_loop()
        key = (folder.absolute(), id(loop))
        if key in _at_work:
            await self._join(*_at_work[key])
            return
        ended: asyncio.Future[None] = loop.create_future()
        _at_work[key] = self, ended
        try:
            with driving(folder):
                await self._drive_while_reachable()
        except Exception as error:
            ended.set_exception(error)
            ended.exception()  # there need not be anybody else who waits
            raise
        finally:
            del _at_work[key]
            if not ended.done():
                ended.set_result(None)

    async def _join(self, first: Driver, ended: asyncio.Future[None]) -> None:
        self._joined = first
        if self._wanted_pause:
            first.pause()
        await asyncio.shield(ended)

    async def _drive_while_reachable(self) -> None:
        """Raise RunPaused where the run's database is gone: nothing can be filed there, not even that it paused."""
        try:
            await self._drive()
        except StoreUnreachable as error:
            if self._run_session is None:  # nothing had been begun
                raise
            raise RunPaused(
                f"run {self._folder.name} paused: {error.fact}. What was settled is stored. Once the database "
                f"answers: {resume_command(self._folder)}"
            ) from error

    async def _drive(self) -> None:
        async with using(self._folder.name, self.machine) as run_session:
            self._run_session = run_session
            run_session.simulation, self.simulation = self.simulation, None
            if self._wanted_pause:
                await run_session.budget.stop(INTERRUPTED)
            try:
                async with (
                    saver(self._folder, run_session.disk_reserve, lambda: run_session.ledger.writes) as checkpointer,
                    telling(lambda: run_session.waits_for, self._tell_waiting),
                ):
                    stop = await self._walk(run_session, checkpointer)
                await self._conclude(run_session, stop)
            except OSError as error:  # the disk was full when the files were written
                fault = disk_fault(error, self._folder)
                if fault is None:
                    raise
                await run_session.ledger.set_stage("", "", "paused", str(fault))
                raise fault from error
            except StoreUnreachable:
                raise
            except EnqueteError as error:
                await run_session.ledger.set_stage("", "", "paused", str(error))
                raise

    async def _walk(self, run_session: RunSession, checkpointer: BaseCheckpointSaver[Any]) -> dict[str, Any] | None:
        """Go on until the graph ends (None) or stops; what the interrupt says is why."""
        methods = dict.fromkeys(name for name, _ in planned(run_session.record))
        # Any function is hashable.
        compiled = copy.copy(_graph(tuple(methods), self._synthesise))  # type: ignore[arg-type]
        compiled.checkpointer = checkpointer
        config = await self._thread(run_session, compiled)
        snapshot = await compiled.aget_state(config)
        start: Any = {"run": self._folder.name}
        if snapshot.next and snapshot.values.get("run"):  # killed before its input was taken in, it starts
            start = Command(resume=True) if snapshot.interrupts else None
        warn_of_tracing()
        async for event in compiled.astream(
            start, config, context=RunRequest(), stream_mode="custom", subgraphs=True, durability="async"
        ):
            self._tell(event[-1])
        interrupts = (await compiled.aget_state(config)).interrupts
        return dict(interrupts[0].value) if interrupts else None

    def _tell(self, event: dict[str, Any]) -> None:
        self._latest = event
        if self._progress is not None:
            self._progress(event)

    def _tell_waiting(self, words: str) -> None:
        """The latest event once more, with why no other follows: whoever shows progress shows that too."""
        if self._progress is not None and self._latest is not None:
            self._progress({**self._latest, "fault": words} if words else self._latest)

    async def _thread(self, run_session: RunSession, compiled: Any) -> RunnableConfig:
        """The thread to go on with: the last walk's if unfinished, of this run, and the graph unchanged, else a new."""
        record = run_session.record
        drawing = _drawing(compiled.builder)
        last = run_session.ledger.stages().get(("", "walk"))
        walk = int(last.note) if last else 0
        for number in count(walk):
            name = thread_id(record.run_id, drawing, record.versions.get("enquete", ""), number)
            config: RunnableConfig = {"configurable": {"thread_id": name}, "recursion_limit": RECURSION_LIMIT}
            snapshot = await compiled.aget_state(config)
            is_own = snapshot.values.get("run") in (None, self._folder.name)
            if not is_own:
                why = "checkpoints of another place are left aside; what is settled is not asked again"
                log.warning("%s: %s", record.run_id, why)
            if snapshot.created_at is None or (is_own and snapshot.next and not self._fresh):
                break
        await run_session.ledger.set_stage("", "walk", "walking", str(number))
        return config

    async def _conclude(self, run_session: RunSession, stop: dict[str, Any] | None) -> None:
        """File how it ended; after a stop, what is there is written up as partial."""
        if stop is None:
            status = str(run_session.ledger.stages()[("", "synthesis")].outcome)
            why = _commonest_error(run_session) if status == "failed" else ""
            await run_session.ledger.set_stage("", "", status, why)
            return
        status = str(stop["reason"]) if stop["reason"] in ("awaiting_simulation", "waiting") else "paused"
        if stop.get("failed"):
            status = "failed"  # a rejected key or model: nothing will work until it is changed
        await run_session.ledger.note("refused", str(run_session.budget.refused))
        await run_session.ledger.set_stage("", "", status, _note(run_session, stop))  # first: the report prints it
        if status == "waiting" and self._in_talk:
            return
        try:
            await self._synthesise(run_session, planned(run_session.record), partial=True)
        except (OSError, DiskFull) as error:  # the run pauses all the same; the next resume or export writes the files
            if not is_full(error):
                raise


@lru_cache(maxsize=16)
def _graph(methods: tuple[str, ...], synthesise: Synthesise) -> Any:
    """Of this run's methodologies alone, as others take long to import; kept, as compiling takes as long as a round."""
    return interviews_graph("interviews", methods, synthesise)


@lru_cache(maxsize=16)
def _drawing(builder: Any) -> str:
    """By which checkpoints of another graph are told: drawn once a builder, as it takes longer than a small round."""
    return str(builder.compile().get_graph(xray=True).draw_mermaid())


def _commonest_error(run_session: RunSession) -> str:
    """Why most requests failed: the first thing that whoever reads "failed" wants to know."""
    row = run_session.ledger.read(queries.ERRORS).fetchone()
    return f"{row[1]} requests failed: {row[0]}" if row else ""


def warn_of_tracing() -> None:
    """Say where personas go while LangSmith is switched on: the variable may have been set for something else."""
    if tracing_is_enabled():
        endpoint = get_env_var("ENDPOINT", default="https://api.smith.langchain.com")
        log.warning("LangSmith is switched on (LANGSMITH_TRACING): prompts and personas are sent to %s.", endpoint)


def _note(run_session: RunSession, stop: dict[str, Any]) -> str:
    """Why the run stopped, in the user's words."""
    reason = stop["reason"]
    if reason == "awaiting_simulation":
        return f"waiting for the simulation to complete ({stop['why']})"
    missing = (_missing(run_session, stage, outcome) for stage, outcome in stop.get("unfinished", {}).items())
    if reason == "budget":
        reason = _used_up(run_session.budget)
    elif reason == INTERRUPTED:
        reason = "paused on request"
    return f"{reason} ({', '.join(missing)})"


def _missing(run_session: RunSession, stage: str, outcome: str) -> str:
    """A stage that is not done, and what the rest of it is likely to cost."""
    claims = run_session.budget.claims
    rest = sum(claims[name].remaining for name in (stage, f"{stage}/probes") if name in claims)
    return f"{stage} {outcome}, likely {rest:,} tokens more" if rest else f"{stage} {outcome}"


def _used_up(budget: Budget) -> str:
    """Which cap stopped the run, what is spent under it, and what the next call may need."""
    more = budget.calibration.dearest
    ignored = f"; the server ignores the limit on replies: a call was billed {more:,} tokens beyond it" if more else ""
    if budget.short_of == "usd" and budget.cap_usd is not None:
        spent = f"money budget used up: {budget.spent_usd:.4f} of {budget.cap_usd:g} USD ({budget.spent:,} tokens)"
        return f"{spent}; the next call may need up to {budget.refused_usd:.4f} USD{ignored}"
    next_call = f"; the next call may need up to {budget.refused:,}" if budget.refused else ""
    return f"token budget used up: {budget.spent:,} of {budget.cap:,} tokens{next_call}{ignored}"


# --- Starts ----------------------------------------------------------------------------------------------------------


class Start:
    """A run to drive, or only to show. `simulation`: as read when it was chosen; `to_begin`: what has not begun."""

    def __init__(
        self,
        folder: Path,
        request: RunRequest,
        *,
        resumed: bool = False,
        shown: bool = False,
        fresh: bool = False,
        simulation: Population | None = None,
    ):
        self.folder = folder
        self.request = request
        self.machine = self._machine_of(folder)
        self.resumed = resumed
        self.shown = shown
        self.fresh = fresh
        self.simulation = simulation
        self.in_talk = False  # see Driver
        self.to_begin: RunChoice | None = None
        self._is_there = False  # the model's server, when it was asked

    def _machine_of(self, folder: Path) -> Machine:
        """How the run is driven: as the request says, else as it was begun. Raises LedgerError."""
        environment, recorded = Environment.read(), recorded_settings(folder)
        return resolve_run_machine(self.request, environment, recorded)

    def driver(self, progress: Progress | None = None) -> Driver:
        return Driver(self.machine, progress, fresh=self.fresh, in_talk=self.in_talk)

    async def begin(self) -> None:
        """Write the run, unless it exists: estimated first, and refused where the estimate exceeds the budget. Before
        anything else the model's server is asked whether it is there. One that another process or task has begun
        meanwhile is gone on with. Raises Busy, ModelError."""
        await self.require_server()
        choice, population = self.to_begin, self.simulation
        if choice is None or population is None:
            return
        pinned = None
        if not choice.record.replay_of:
            checked = is_checked(self.request, choice)
            expected = await estimate_run(choice, population, self.machine, checked=checked)
            require_affordable(expected, confirmed=self.request.confirm)
            pinned = expected.as_pinned()
        interviews = choice.folder.parent.parent
        async with alone(interviews / START_LOCK):
            if self.request.out:
                claim_folder(self.request.out, interviews, population.path)
            self.take(choose_again(choice, self.request, population))
            if self.to_begin is not None:
                judge = partial(self._judged, self.to_begin, population) if is_checked(self.request, choice) else None
                await begin(choice, population, pinned, judge, self.machine)
        self.to_begin = None
        if not population.has_simulation:
            self.simulation = None  # its agents are in the ledger now, and nothing else of it is asked for again

    def take(self, choice: RunChoice) -> None:
        """This is the run that is meant."""
        if choice.folder != self.folder:
            self.folder, self.machine = choice.folder, self._machine_of(choice.folder)
        self.resumed, self.shown = choice.action == "resume", choice.action == "finished"
        self.to_begin = choice if choice.action == "new" else None

    async def require_server(self) -> None:
        """Once, where models are asked now: not of a run that waits for people or its simulation. Raises ModelError."""
        if self.shown or self._is_there:
            return
        record = self.to_begin.record if self.to_begin is not None else await run_in_thread(self._record_if_asking)
        if record is not None:
            if record.asks_model and not record.weights:
                self._warn_of_other_server(record)
            require_executor(self.machine.executor, record, self.machine)
            await require_server_of(record, self.machine)
        self._is_there = True

    def _warn_of_other_server(self, record: RunRecord) -> None:
        """A run stays at its server; whoever named another one in their environment must know."""
        why = explain_other_server(recorded_settings(self.folder), self.request, Environment.read())
        if why:
            log.warning("run %s %s", record.run_id, why)

    def _record_if_asking(self) -> RunRecord | None:
        run = read_run(self.folder)
        asks_nobody = run.is_finished or run.status == "waiting"
        if run.status == "awaiting_simulation":
            sim_path, assumed = run.record.simulation_of(self.folder), self.machine.assume_completed
            asks_nobody = not simulation_status(run.record, sim_path, assume_completed=assumed).completed
        return run.record if self.machine.retry_failed or not asks_nobody else None

    async def _judged(self, choice: RunChoice, population: Population, ledger: Ledger) -> RunRecord:
        """What the words leave open is for the run's model to say. Raises Unfit."""
        if not is_open(choice.record):
            return choice.record
        fit = await judged(choice.record, population, ledger, self.machine)
        require_fit(fit)
        return choice.record.model_copy(update={"fit": fit})


def choose_start(request: RunRequest) -> Start:
    """The run that a request means; a new one is not written yet. Raises InputError and its children."""
    environment = Environment.read()
    with other_methodology_named(request):
        choice, population = choose_run(request, environment, dotted_paths(request.methods))
    if is_checked(request, choice):
        fit = choice.record.fit
        require_fit(fit.model_copy(update={"methods": []}) if fit and is_open(choice.record) else fit)
    task = Start(choice.folder, request, simulation=population)
    task.take(choice)
    return task


def start_of_resume(name: str, given: dict[str, Any]) -> Start:
    """The run that a token, a run_id or a simulation (its latest unfinished) means. Raises RunNotFound, LedgerError."""
    for argument in given:
        if argument in RunRequest.model_fields and argument not in (*RESUME_ARGUMENTS, "own_folder", "confirm"):
            takes = ", ".join(RESUME_ARGUMENTS)
            raise SettingsError(f"{argument}: a run goes on as it was begun; resume takes {takes}")
    sim = given.pop("sim", None)
    retry = bool(given.get("retry_failed", False))
    fresh = bool(given.pop("fresh", False)) or retry  # a finished run is walked once more
    request = parse_request(sim=str(sim or ""), **given)
    folder = find_named(name, request) if sim or _is_token(name) else _latest_to_resume(name, request, fresh)
    run = read_run(folder)
    require_own_limits(run.record, request.limits or {})
    return Start(folder, request, resumed=True, shown=run.is_finished and not fresh, fresh=fresh)


RESUME_ARGUMENTS = (*fields_about("driving", "resume"), "shard_size", "sim", "fresh")
"""What may be said when a run goes on: everything else is as it was begun."""


def _latest_to_resume(sim: str, request: RunRequest, fresh: bool) -> Path:
    stored = survey(interviews_of(sim, request.root, request.out))
    wanted = stored.unfinished or (list(stored.runs) if fresh else [])
    stored.require_readable(wanted[-1] if wanted else None)
    if not wanted:
        raise RunNotFound(f"{sim}: no unfinished run to resume ({len(stored.runs)} finished)")
    return wanted[-1].folder


def _is_token(name: str) -> bool:
    return name.startswith("run_") and "/" not in name


def damaged_run(name: str, *, root: str | None = None, out: str | None = None) -> Path:
    """The run that is to be repaired: a run_id or token, or the only run of a simulation whose ledger is not sound.

    The latest run where all are sound. Raises RunNotFound, also where several are not sound, which are then listed.
    """
    if _is_token(name):
        return find_named(name, RunRequest(root=root, out=out))
    interviews = interviews_of(name, root, out)
    known = run_folders(interviews)
    ill = [folder for folder in known if _is_ill(folder)]
    if len(ill) > 1:
        raise RunNotFound(f"{name}: name the run to repair, one of {', '.join(folder.name for folder in ill)}")
    if not known:
        raise RunNotFound(f"{name}: there is no run to repair in {interviews}")
    return ill[0] if ill else known[-1]


def _is_ill(folder: Path) -> bool:
    try:
        return bool(find_damage(folder))
    except LedgerError:  # of another version, or nobody can tell
        return False


def find_named(name: str, request: RunRequest) -> Path:
    """A token names a run, not its simulation: look in --out, in the named one, then in every simulation under the
    root.

    A copied simulation brings copies of its runs along, and only the user knows which of them is meant.
    """
    root = resolve_root(request, Environment.read())
    if request.out:
        return find_run_below(request.out, name)
    if request.sim:
        return find_run(interviews_of(request.sim, request.root, None), name)
    run_id = name.partition(".")[0]
    holding = [known for known in list_simulations(root) if (known.path / "interviews" / "runs" / run_id).is_dir()]
    if len(holding) > 1:
        there = ", ".join(known.sim_id for known in holding)
        raise RunNotFound(f"run {run_id!r} is in several simulations under {root} ({there}); say which with sim=NAME")
    if not holding:
        raise RunNotFound(f"no run {name!r} in any simulation under {root}; name its folder with root, out or sim")
    return find_run(holding[0].path / "interviews", name)


async def drive(task: Start, driver: Driver) -> Run:
    """The run at its end or its next stop. Raises LedgerError also where a finished one is damaged."""
    if task.shown and not is_held(task.folder):
        require_sound(task.folder)
    if not task.shown:
        await task.begin()
    if not task.shown:
        driver.simulation, task.simulation = task.simulation, None  # whoever needs it has it, and nobody keeps it
        driver.machine = task.machine  # of a run that another process began meanwhile, as that one said
        await driver.drive(task.folder)
    return Run(task.folder, resumed=task.resumed, shown=task.shown)


# --- The estimate of a run: a rehearsal over its agents, priced, with the narrative; and the check against the budget


@dataclass(frozen=True)
class Foreseen:
    """What a run would cost, and whether its questions are about what the simulation is about; None: nothing to say."""

    estimate: Estimate
    fit: Fit | None


async def foresee(asked: RunRequest) -> Foreseen:
    """Of a new run, or of a re-run. Nothing is asked and nothing is written. Raises InputError and its children."""
    environment = Environment.read()
    wanted = asked.model_copy(update={"new": not asked.rerun})
    with other_methodology_named(asked):
        choice, population = await run_in_thread(
            lambda: choose_run(wanted, environment, dotted_paths(asked.methods), only_estimated=True), within_s=None
        )
    machine, checked = resolve_machine(asked, environment), is_checked(asked, choice)
    expected = await estimate_run(choice, population, machine, checked=checked)
    refusals = _refusals(choice.record, expected) if checked else ()
    return Foreseen(expected.model_copy(update={"refusals": refusals}), choice.record.fit)


def _refusals(record: RunRecord, estimate: Estimate) -> tuple[str, ...]:
    """Return why a run would be refused whatever its budget."""
    why = []
    if estimate.cap_usd is not None and estimate.unpriced:
        why.append(f"budget_usd cannot be held: the price of {', '.join(estimate.unpriced)} is unknown")
    if record.fit is not None and not is_open(record):  # else a model judges when the run begins
        why += told(record.fit, "en")
    elif record.fit is not None and record.fit.language:
        why += told(record.fit.model_copy(update={"methods": []}), "en")
    return tuple(why)


def is_checked(request: RunRequest, choice: RunChoice) -> bool:
    """Whether questions that do not fit are refused."""
    asked_before = request.rerun or choice.record.replay_of
    return choice.action == "new" and not asked_before and (request.fit or Environment.read().fit) == "checked"


async def estimate_run(
    choice: RunChoice, population: Population, machine: Machine, *, checked: bool = False
) -> Estimate:
    """What a run that has not begun will cost. A replay costs nothing, and is told so. checked: whether a model is
    asked if its questions fit."""
    record, people, runs = choice.record, run_population(choice, population), choice.folder.parent
    prices = Prices.read(machine.prices)
    if record.replay_of:
        nobody = Rehearsal(0, len(people), (), {}, {})
        return estimated(record, nobody, prices, machine, notes=[f"a replay of run {record.replay_of} asks nobody"])
    memories, notes = await run_in_thread(lambda: _memories(record, population, people, runs), within_s=None)
    rehearsal = await rehearse(record, people, memories)
    url = asked_url(record, machine)
    more = [*_narrative(record, prices, url), *critic_lines(record, rehearsal, prices, url)]
    more += _fit(record, population, prices, url) if checked else []
    return estimated(record, rehearsal, prices, machine, more=more, notes=notes)


def _memories(
    record: RunRecord, population: Population, people: Sequence[Participant], runs: Path
) -> tuple[dict[str, str | None], list[str]]:
    """The agents' own memories where the simulation is over; else as long as they may become."""
    if record.kind == "personas" or "T1" not in record.phases or record.digest_chars == 0:
        return {}, []
    if record.carried:
        ledger = Ledger.reading(runs / record.rerun_of / LEDGER, record.rerun_of)
        try:
            return ledger.digests("T1"), []
        finally:
            ledger.close_reading()
    if not simulation_status(record, population.path, read=population).completed:
        filler = ("Erinnerung " * (record.digest_chars // 11 + 1))[: record.digest_chars]
        longest = f"as long as they may be ({record.digest_chars} characters)"
        note = f"the simulation is not over: memories are taken to be {longest}"
        return dict.fromkeys((who.id for who in people), filler), [note]
    return dict(digests(population, limit=record.digest_chars, language=record.language).texts), []


def _narrative(record: RunRecord, prices: Prices, url: str) -> list[EstimateLine]:
    """The report's summary, which a model writes only where one answers too."""
    main = record.main
    if main.respondent != "llm":
        return []
    from enquete.reports import narrative  # noqa: PLC0415 - pulls in pandas

    read, written = narrative.bounds()
    line = priced_line(
        methodology=narrative.METHODOLOGY,
        phase="",
        arm=main.id,
        claim=NARRATIVE,
        purpose=narrative.PURPOSE,
        model=main.model,
        calls=Range(low=0, likely=1, high=6),
        input_tokens=Range(low=0, likely=read[1] / BYTES_PER_TOKEN, high=read[2] / BYTES_LEAST).whole(),
        output_tokens=Range(low=0, likely=written[1], high=written[2]),
        price=prices.of(main.model, url),
    )
    return [line]


def _fit(record: RunRecord, population: Population, prices: Prices, url: str) -> list[EstimateLine]:
    """One request before the run, where words do not settle it."""
    if not fit.is_open(record):
        return []
    read, written = tokens_of(fit.FIT.prompt(fit.question(record, population), "en")), fit.FIT.max_output_tokens
    line = priced_line(
        methodology=fit.METHODOLOGY,
        phase="",
        arm=record.main.id,
        claim=NARRATIVE,
        purpose=fit.FIT.purpose,
        model=record.main.model,
        calls=Range(low=1, likely=1, high=ATTEMPTS),
        input_tokens=Range(low=read / 2, likely=read, high=2 * ATTEMPTS * read).whole(),
        output_tokens=Range(low=10, likely=written / 10, high=ATTEMPTS * written).whole(),
        price=prices.of(record.main.model, url),
    )
    return [line]


def require_affordable(estimate: Estimate, *, confirmed: bool) -> None:
    """Raises SettingsError where a cap on money cannot be held, OverBudget where the upper estimate exceeds a cap."""
    if estimate.cap_usd is not None and estimate.unpriced:
        raise SettingsError(
            f"budget_usd: the price of {', '.join(estimate.unpriced)} is unknown, so a cap on money cannot be held; "
            "put it into a price file (ENQUETE_PRICES, docs/budget.md) or use budget_tokens"
        )
    exceeds = estimate.exceeds
    if exceeds and not confirmed:
        fact, fits = _over(estimate, exceeds)
        raise OverBudget(f"{fact}\n{fits}", estimate.as_object(), fact=fact)


def _over(estimate: Estimate, exceeds: str) -> tuple[str, str]:
    """What is too much, and what would make it fit."""
    tokens, usd = estimate.tokens, estimate.usd
    if exceeds == "tokens":
        size = f"{tokens.low:,.0f} to {tokens.high:,.0f} tokens, likely {tokens.likely:,.0f}"
        cap, fits = f"{estimate.cap_tokens:,} tokens", f"budget_tokens={estimate.sufficient_tokens}"
    else:
        assert usd is not None  # exceeds says so
        assert estimate.cap_usd is not None
        size = f"{usd.low:.2f} to {usd.high:.2f} USD, likely {usd.likely:.2f}"
        cap, fits = f"{estimate.cap_usd:.2f} USD", f"budget_usd={usd.high:.2f}"
    shares = sorted(estimate.by_claim().items(), key=lambda pair: -pair[1].likely)
    listed = ", ".join(f"{name} {share.low:,.0f} to {share.high:,.0f}" for name, share in shares)
    return (
        f"the estimate exceeds the budget: {size}; the cap is {cap}. Nothing was asked.\nBy part, in tokens: {listed}.",
        f"What would make it fit: {fits}; or fewer methodologies (methods=…), shorter memories (digest_chars)"
        f"{', fewer pairs for the critic (critic_pairs=…)' if CRITIC in estimate.by_claim() else ''}; "
        "or go ahead all the same with confirm=True: the run then pauses at the cap and can be resumed.",
    )
