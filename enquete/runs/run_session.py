"""A run, opened: its ledger, budget, population and models, shared by all nodes of this process that work on it.

Nodes carry only the run's address in their state; `using(address)` gives them the open session, and opens one where
nobody has (LangGraph Studio, a worker process). To a driver the address is the run's name and no path: its checkpoints
lie beside the ledger and go wherever the folder is copied or moved.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from enquete.ledger import queries
from enquete.ledger.backup import BackupCopies, backed_up
from enquete.ledger.budget import Budget, Claim
from enquete.ledger.damage import require_sound
from enquete.ledger.drives import DiskReserve
from enquete.ledger.entries import Used, call_values, usage
from enquete.ledger.folders import LEDGER, held
from enquete.ledger.integrity import damaged
from enquete.ledger.ledger import Ledger, Usage
from enquete.ledger.record import RunRecord, has_fallbacks
from enquete.ledger.shared_limits import SharedBudget
from enquete.ledger.workers import DRIVER, evict_all, has_workers, make_tables, register, register_driver
from enquete.ledger.writer import LOST, lost_text, missing, told_beside
from enquete.models.metered_model import MeteredModel, Replay, Sender, Standby, Terms, valued
from enquete.models.prices import Prices
from enquete.respondents.critic import STAND_IN
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.llm import LLMRespondent
from enquete.respondents.neutral import control_answers
from enquete.respondents.person import HumanRespondent
from enquete.respondents.synthetic import SyntheticRespondent, plausible
from enquete.runs.model_server import LIMITER, OtherServers, asked_url, make_sender
from enquete.runs.planning import CRITIC, PriceOf, RunBase, claim_name, claims, open_ledger, price_of, served_models
from enquete.runs.run_settings import record_settings, recorded_in, resolve_run_machine
from enquete.simulations.population import Population
from enquete.state.asking import Arm, CallKey, Language, ServedModel
from enquete.state.channels import Event, EventRow, ShardSpec
from enquete.state.errors import ModelUnavailable, ReplayMissing, SettingsError
from enquete.state.interview_context import REHEARSAL, Completion, Metered, Respondent
from enquete.state.methodology import Truth
from enquete.state.request import LOCAL, RunRequest
from enquete.state.settings import Environment, Machine

Progress = Callable[[Event], None]
log = logging.getLogger("enquete")

SETTLING_SHARE = 8
"""Calls of a run beside those that may be in flight, one for so many of these: filed before a slot is free, or settled
after, so that slots need not wait for commits."""


def event_of(budget: Budget, row: EventRow, done: int, total: int) -> Event:
    """How far this is, beside what the whole run has cost."""
    methodology, phase, arm, number = row
    return {
        "methodology": methodology, "phase": phase, "arm": arm, "round": number, "done": done, "total": total,
        "tokens": budget.spent, "cap": budget.cap, "expected": budget.expected,
    }  # fmt: skip


class RunSession(RunBase[Ledger]):
    """Everything a node needs, by name. One per run, process and event loop."""

    def __init__(
        self, folder: Path, record: RunRecord, ledger: Ledger, machine: Machine, sources: Sources, owner: str = ""
    ):
        """`owner`: this process among several that work on the run; "" for the only one."""
        super().__init__(folder, record, ledger)
        self.machine = machine
        self.owner = owner
        self.simulation: Population | None = None  # where whoever began the run has just read it, until T1 opens
        self.budget = make_budget(record, ledger, machine, sources.prices, owner)
        self.asked_again = {
            (methodology, phase)
            for (_, methodology, phase, _, name), n in ledger.counters().items()
            if machine.retry_failed and name == "answers_failed" and n > 0
        }
        """Stages whose failed answers are to be asked for once more, though the stage itself is done."""
        self.closed_at_gate = self.budget.closed  # claims that were over when the gate last sent work on
        # A rehearsal, in which none answers, says what its run's will be.
        self.by_model = bool(record.interviewer_model)
        self.raise_bugs = os.environ.get("ENQUETE_RAISE_BUGS") == "1"
        self.units_done: dict[tuple[str, str, int, str], int] = {}
        self._sources = sources
        self._gone_models: set[str] = set()
        if sources.sender is not None:
            self.budget.when_stopped = self._halt
        self._contexts: dict[tuple[str, str, str], LedgerContext] = {}
        self._units: dict[tuple[str, str, int, str], Sequence[str]] = {}
        calls = machine.concurrency
        self._admission = asyncio.Semaphore(calls + calls // SETTLING_SHARE)
        self.shard_slots = asyncio.Semaphore(max(2, -(-4 * calls // machine.shard_size)))

        self.memories = 0  # how often what agents remember, or who is asked, was made anew: workers must follow
        self.executor: ShardExecutor | None = None  # once shards were given to one
        self.at_end: AsyncExitStack | None = None  # what is closed before the ledger is
        self.disk_reserve: DiskReserve | None = None
        self.copies: BackupCopies | None = None
        self.stopping: asyncio.Task[None] | None = None

    def _halt(self) -> None:
        for waiting in (self._sources.sender, self._sources.others):
            if waiting is not None:
                waiting.halt()

    def stop_soon(self, reason: str) -> None:
        """Launch no further call, told from code that cannot wait."""
        self.stopping = asyncio.get_running_loop().create_task(self.budget.stop(reason))

    async def at_barrier(self) -> None:
        """Nothing is under way that would be cut in two: a good moment to copy the ledger."""
        if self.copies is not None:
            await self.copies.at_barrier()

    @property
    def waits_for(self) -> str:
        """Why nothing moves, while the model's server is away or being started; else ""."""
        known = (self._sources.sender, self._sources.others)
        return next((sender.waits_for for sender in known if sender is not None and sender.waits_for), "")

    def truth(self, name: str) -> Truth:
        """What is planted in the synthetic respondent."""
        planted = self.methodology(name).synthetic
        return planted(self.instrument(name), self.settings(name)) if planted else plausible(self.instrument(name))

    def require_memories(self) -> None:
        """Raises LedgerError where pinned memories are gone: agents would be asked as if they remembered nothing."""
        memory = self.ledger.pinned("", "", "T1", "memory")
        pinned = memory.get("with_memory", 0) if isinstance(memory, dict) else 0
        there = sum(text is not None for text in self.ledger.digests("T1").values())
        if there != pinned:
            path = self.folder / LEDGER
            raise damaged(path, LookupError(f"{pinned} agents' memories were pinned, and {there} are there"))

    def units(self, name: str, phase: str, round: int, arm: str) -> Sequence[str]:
        key = (name, phase, round, arm)
        if key not in self._units:
            self._units[key] = tuple(self.procedure(name).units(round, self.context(name, phase, arm)))
        return self._units[key]

    def context(self, name: str, phase: str, arm_id: str = "main") -> LedgerContext:
        key = (name, phase, arm_id)
        if key not in self._contexts:
            self._contexts[key] = self._make_context(name, phase, self.arm(arm_id))
        return self._contexts[key]

    def rest(self) -> None:
        """Nobody is being asked: contexts and what they owe are made again for whoever is asked next."""
        self.memories += 1
        self._contexts.clear()
        self._units.clear()

    def remember(self, phase: str) -> None:
        """Digests of this phase were stored: contexts made before must not be used again."""
        self.memories += 1
        self._contexts = {key: context for key, context in self._contexts.items() if key[1] != phase}

    def _make_context(self, name: str, phase: str, arm: Arm) -> LedgerContext:
        people = self.ledger.remembering(self.population, phase if arm.digest != "none" else "")
        main = self.record.main
        claim = claim_name(name, phase, arm)
        return LedgerContext(
            arm=arm,
            main_arm=main.id,
            methodology=name,
            phase=phase,
            language=self.record.language,
            asking=self.record.asking,
            population=people,
            ledger=self.ledger,
            respondent=make_respondent(arm, main, lambda: self.truth(name), self.record.language, self.ledger),
            model=self._metered(arm.model, arm.temperature, arm.seed, claim),
            interviewers=self.interviewers(claim),
            interviewer_has_model=bool(self.record.interviewer_model) and self.ledger.run != REHEARSAL,
            by_model=self.by_model,
            retry_failed=self.machine.retry_failed,
            late=self.is_over(phase),
            carries_over=self.procedure(name).carries_over,
            served=partial(self._served, arm, claim),
        )

    def _served(self, arm: Arm, claim: str, served: ServedModel, last: bool) -> MeteredModel:
        """A model that answers in place of the arm's. `last`: none stands by for it."""
        terms_of_arm, others = self._terms(arm.model, arm.temperature, arm.seed, claim), self._sources.others
        label = served.label(arm.model)
        terms = replace(
            terms_of_arm,
            model=served.model or terms_of_arm.model,
            temperature=terms_of_arm.temperature if served.temperature is None else served.temperature,
            price=self._price_of(label),
            base_url=served.base_url or terms_of_arm.base_url,
            label=label,
        )
        at_own = last and not (served.base_url or served.key_variable)
        sender = self._sources.sender if at_own or others is None else others.sender(served, patient=last)
        return MeteredModel(
            self.ledger, self.budget, sender, terms, admission=self._admission, replay=self._sources.replay,
        )  # fmt: skip

    @cached_property
    def _price_of(self) -> PriceOf:
        return price_of(self.record, self._sources.prices, asked_url(self.record, self.machine))

    def is_over(self, phase: str) -> bool:
        """A T0 that was to be measured before the simulation is over once memories of it are filed."""
        return phase == "T0" and self.record.baseline == "measured" and bool(self.ledger.pinned("", "", "T1", "memory"))

    def interviewers(self, claim: str) -> Callable[[str], Metered]:
        """The interviewer's model by name; "": the run's own, or the rules' bookkeeping where there is none."""
        default = self.record.interviewer_model or "rule"
        return lambda model: self._metered(model or default, 0, self.record.main.seed, claim)

    def critic(self, *, again: bool = False) -> Metered:
        """Who grades and compares. `again`: judges once more, with another seed and whatever it said before."""
        seed = self.record.main.seed + again
        return self._metered(self.record.critic_model or STAND_IN, 0, seed, CRITIC)

    def cost_of(self, model: str, used: Used) -> float | None:
        """US dollars at the run's server; None where the model's price is unknown."""
        price = self._price_of(model)
        return valued(price, used) if price else None

    def _terms(self, model: str, temperature: float, seed: int, claim: str) -> Terms:
        url = asked_url(self.record, self.machine)
        return Terms(model, temperature, seed, self._sources.prices.of(model, url), claim, url)

    def _metered(self, model: str, temperature: float, seed: int, claim: str) -> MeteredModel:
        return MeteredModel(
            self.ledger,
            self.budget,
            self._sources.sender,
            self._terms(model, temperature, seed, claim),
            admission=self._admission,
            replay=self._sources.replay,
            standby=self._standby,
        )

    @property
    def _standby(self) -> Standby | None:
        """For a role's model that has a fallback; both are asked at the run's server."""
        others = self._sources.others
        if others is None:
            return None
        return Standby(lambda: others.sender(ServedModel(), patient=False), self._gone_models)


class ShardExecutor(Protocol):
    """Where shards are worked on (executors.py)."""

    async def run(self, run_session: RunSession, spec: ShardSpec, report: Progress) -> dict[str, int]:
        """Conduct a shard; how many of its units came to which outcome. Opened by its first shard."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Sources:
    """Where responses of a run come from, and what they cost."""

    sender: Sender | None = None
    others: OtherServers | None = None
    replay: Replay | None = None
    prices: Prices = field(default_factory=lambda: Prices.read(None))


def make_budget(record: RunRecord, ledger: Ledger, machine: Machine, prices: Prices, owner: str = "") -> Budget:
    """The cap named now, else the one named when the run was last driven, else the environment's. A replay has none.
    `owner`: this process among several."""
    noted, noted_usd = ledger.noted("cap_tokens"), ledger.noted("cap_usd")
    cap = machine.cap_tokens or (int(noted) if noted else machine.default_cap_tokens)
    cap_usd = machine.cap_usd or (float(noted_usd) if noted_usd else None)
    if record.replay_of:
        cap, cap_usd = sys.maxsize, None
    url = asked_url(record, machine)

    def expect() -> dict[str, Claim]:
        return claims(record, ledger, cap, cap_usd, price_of(record, prices, url))

    expected, tokens = expect(), ledger.total("tokens")
    usd = spent_usd(ledger, record, prices, url) or 0.0
    if owner:
        return SharedBudget(ledger, owner, cap, tokens, cap_usd=cap_usd, spent_usd=usd, claims=expected, draw=expect)
    return Budget(cap, tokens, cap_usd=cap_usd, spent_usd=usd, claims=expected)


def spent_usd(ledger: Ledger, record: RunRecord, prices: Prices, url: str) -> float | None:
    """What the run has cost, as `valued` has it; None where a model's price is unknown."""
    total, priced = 0.0, price_of(record, prices, url)
    for asked, used in usage(ledger.read, set(record.carried)).items():
        price = priced(asked.model)
        if price is None:
            return None
        total += valued(price, used)
    return total


def make_respondent(
    arm: Arm, main: Arm, planted: Callable[[], Truth], language: Language, ledger: Ledger
) -> Respondent:
    """How an arm's answers are made."""
    acted = arm.respondent == "human" and ledger.run == REHEARSAL
    if arm.respondent == "human" and not acted:
        return HumanRespondent(ledger)
    if arm.respondent == "llm":
        return LLMRespondent(language)
    if arm.respondent == "synthetic" or acted:
        truth = control_answers if arm.asks == "controls" else planted()
        # Probes and replicates ask the same agents: theirs is the main arm's truth, and another seed is noise.
        seed = main.seed if arm.aside else arm.seed
        return SyntheticRespondent(truth, language, seed, again=arm.seed, unmoved=arm.digest == "neutral")
    raise SettingsError(f"arm {arm.id!r}: respondent {arm.respondent!r} is not available in this version")


@dataclass
class _Entry:
    """An open session and how many use it."""

    guard: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    run_session: RunSession | None = None


_entries: dict[tuple[str, int], _Entry] = {}
_driven: ContextVar[Path | None] = ContextVar("driven", default=None)


@contextmanager
def driving(folder: Path) -> Iterator[None]:
    """Within, and in every task begun within, an address means the run in this folder, whatever it says."""
    before = _driven.set(folder)
    try:
        yield
    finally:
        _driven.reset(before)


@asynccontextmanager
async def using(address: str, machine: Machine | None = None) -> AsyncIterator[RunSession]:
    """The open session of a run; the first user opens it (taking the run's lock), the last one closes it.

    machine: how the run is driven from now on, which is written down; as it was driven before unless given.
    """
    folder = _driven.get() or Path(address)
    key = (str(folder.absolute()), id(asyncio.get_running_loop()))
    entry = _entries.setdefault(key, _Entry())
    entry.users += 1  # from now on, not once it is open: who comes while the last one closes waits and opens again
    try:
        async with entry.guard:
            if entry.run_session is None:
                entry.run_session = await entry.stack.enter_async_context(_opened(folder, machine))
            run_session = entry.run_session
        yield run_session
    finally:
        entry.users -= 1
        async with entry.guard:
            if entry.users == 0:
                entry.run_session = None
                await entry.stack.aclose()
        if entry.users == 0 and _entries.get(key) is entry:
            del _entries[key]


@asynccontextmanager
async def session_at_address(session: RunSession) -> AsyncIterator[str]:
    """Give a session that is open already an address by which nodes find it with `using`, for as long as this lasts."""
    address = str(session.folder.absolute())
    key = (address, id(asyncio.get_running_loop()))
    before = _driven.set(session.folder)
    _entries[key] = _Entry(users=1, run_session=session)
    try:
        yield address
    finally:
        del _entries[key]
        _driven.reset(before)


@asynccontextmanager
async def _opened(folder: Path, machine: Machine | None) -> AsyncIterator[RunSession]:
    async with AsyncExitStack() as stack:
        stack.enter_context(held(folder))
        disk_reserve = stack.enter_context(DiskReserve(folder).held())
        beside = told_beside(folder)
        require_sound(folder)
        ledger = Ledger(folder / LEDGER, room=disk_reserve)
        stack.push_async_callback(ledger.close)
        record = ledger.record
        if machine is None:
            machine = resolve_run_machine(RunRequest(), Environment.read(), recorded_in(ledger, folder))
        gone, noted = missing(beside, ledger.read)  # before anything is written
        await record_settings(ledger, machine)
        LIMITER.resize(machine.concurrency)
        if gone:
            log.warning("%s: %s", record.run_id, lost_text(gone, noted))
            await ledger.note(LOST, str(gone + noted))
        if ledger.look(has_workers):
            await ledger.write(evict_all)
        await ledger.sweep()
        for name, cap in (("cap_tokens", machine.cap_tokens), ("cap_usd", machine.cap_usd)):
            if cap is not None:
                await ledger.note(name, str(cap))
        sources = await open_sources(stack, folder, record, machine, ledger)
        owner = "" if machine.executor == LOCAL else f"{DRIVER}-{uuid4().hex}"
        made = RunSession(folder, record, ledger, machine, sources, owner)
        made.require_memories()
        if isinstance(made.budget, SharedBudget):
            await ledger.write(make_tables)
            paid = made.budget.spent_usd
            await ledger.write(lambda connection: register_driver(connection, owner, paid))
            await stack.enter_async_context(made.budget.watched())
        made.at_end = await stack.enter_async_context(AsyncExitStack())
        made.disk_reserve = disk_reserve
        disk_reserve.on_full = made.stop_soon
        made.copies = await stack.enter_async_context(
            backed_up(ledger, made.stop_soon, lambda: not disk_reserve.notice)
        )
        yield made


@asynccontextmanager
async def opened_by_worker(
    folder: Path, run: str, machine: Machine, owner: str, address: str, driver: str
) -> AsyncIterator[RunSession]:
    """A run as a process sees it that works for its driver: nothing is locked, swept, begun or written up here.

    Raises Evicted where that driver no longer drives it, LedgerError.
    """
    async with AsyncExitStack() as stack:
        ledger = Ledger(folder / LEDGER, run, worker=owner)
        stack.push_async_callback(ledger.close)
        ledger.keep_log()
        await ledger.write(lambda connection: register(connection, owner, address, driver, run))
        ledger.guard()
        record = ledger.record
        sources = await open_sources(stack, folder, record, machine, ledger)
        made = RunSession(folder, record, ledger, machine, sources, owner)
        if isinstance(made.budget, SharedBudget):
            await stack.enter_async_context(made.budget.watched())
        yield made


async def open_sources(
    stack: AsyncExitStack, folder: Path, record: RunRecord, machine: Machine, ledger: Ledger
) -> Sources:
    """A replay reads its run and nothing else; a run of models has a transport (whose pace is kept by the ledger where
    others ask beside this process)."""
    prices = Prices.read(machine.prices)
    if record.replay_of:
        earlier = stack.enter_context(open_ledger(folder.parent / record.replay_of))
        return Sources(replay=LedgerReplay(earlier), prices=prices)
    shared = None if machine.executor == LOCAL else ledger
    sender = make_sender(record, machine, shared)
    if sender is None:
        return Sources(prices=prices)
    stack.push_async_callback(sender.aclose)
    others = None
    if served_models(record) or has_fallbacks(record.settings):
        others = OtherServers(record, machine, shared)
        stack.push_async_callback(others.aclose)
    return Sources(sender, others, prices=prices)


class LedgerReplay:
    """The responses of one run."""

    def __init__(self, ledger: Ledger):
        self._ledger = ledger

    def obtained(self, key: CallKey) -> tuple[Completion, Usage]:
        """What this call got then, at what cost. A failure fails again."""
        row = self._ledger.read(queries.OBTAINED, call_values(key)).fetchone()
        if row is not None and row[0] == "settled":
            usage = Usage(row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10])
            # Ids of answers begin with their run's: what a model cited then it cites of this run now.
            text = row[1] if self._ledger.run not in row[1] else row[1].replace(self._ledger.run, key.run)
            return Completion(text, row[2]), usage
        if row is not None and row[0] == "failed":
            raise ModelUnavailable(row[11], sends=row[6])
        raise ReplayMissing(
            f"run {self._ledger.run} made no request {key.methodology} {key.phase} {key.purpose} {key.subject!r} "
            f"(attempt {key.attempt}), so it cannot be replayed: instruments, prompts or Enquete itself have changed"
        )
