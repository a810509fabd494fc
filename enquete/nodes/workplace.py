"""A run, opened: its ledger, budget, population and models, shared by all nodes of this process that work on it.

Nodes carry only the run's address in their state; `using(address)` gives them the open workplace, and opens one where
nobody has (LangGraph Studio, a worker process).
"""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from enquete.checkpoints.budget import Budget
from enquete.checkpoints.folders import LEDGER, held, read_record
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.models.faults import checked_url
from enquete.models.limits import Limiter
from enquete.models.metered import MeteredModel, Sender
from enquete.models.transport import Transport
from enquete.respondents.desk import LocalDesk
from enquete.respondents.llm import LLMRespondent
from enquete.respondents.synthetic import SyntheticRespondent
from enquete.state.errors import SettingsError
from enquete.state.seam import Arm, Language, Methodology, Participant, Procedure, Respondent
from enquete.state.settings import Environment, Machine, RunRequest, resolve_machine

Progress = Callable[[dict[str, Any]], None]

OPENAI_URL = "https://api.openai.com/v1"  # where a key without LLM_BASE_URL belongs
LIMITER = Limiter(32)
"""One limit on requests in flight for the whole process, whatever runs in it."""


def load_methodology(dotted: str) -> Methodology[Any, Any]:
    """`package.module:NAME`, so that a run's record (and a worker process) can name a methodology."""
    module, _, name = dotted.partition(":")
    found: Methodology[Any, Any] = getattr(importlib.import_module(module), name)
    return found


class Workplace:
    """Everything a node needs, by name. One per run, process and event loop."""

    def __init__(self, folder: Path, record: RunRecord, ledger: Ledger, machine: Machine, sender: Sender | None):
        self.folder = folder
        self.record = record
        self.ledger = ledger
        self.machine = machine
        self.budget = Budget(machine.cap_tokens, spent=ledger.total("tokens"))
        self.raise_bugs = os.environ.get("ENQUETE_RAISE_BUGS") == "1"
        self.tally: dict[tuple[str, str, int, str], int] = {}
        self._sender = sender
        self._desks: dict[tuple[str, str, str], LocalDesk] = {}
        self._procedures: dict[str, Procedure] = {}
        self._units: dict[tuple[str, str, int, str], Sequence[str]] = {}
        self.failed_units = {(f.arm, f.methodology, f.phase, f.round, f.unit) for f in ledger.failures()}
        slots = -(-2 * machine.concurrency // machine.shard_size)
        self._admission = asyncio.Semaphore(machine.concurrency)
        self.shard_slots = asyncio.Semaphore(max(2, slots))

    @property
    def interviews(self) -> Path:
        """The folder that results go to: the parent of runs/{run_id}."""
        return self.folder.parent.parent

    @cached_property
    def population(self) -> list[Participant]:
        return self.ledger.population()

    def methodology(self, name: str) -> Methodology[Any, Any]:
        return load_methodology(self.record.methods[name])

    def instrument(self, name: str) -> Any:
        return self.methodology(name).instrument.model_validate(self.record.instruments[name].content)

    def settings(self, name: str) -> Any:
        return self.methodology(name).settings.model_validate(self.record.settings.get(name, {}))

    def arm(self, arm_id: str) -> Arm:
        return next(arm for arm in self.record.arms if arm.id == arm_id)

    def procedure(self, name: str) -> Procedure:
        if name not in self._procedures:
            make = self.methodology(name).procedure
            self._procedures[name] = make(self.instrument(name), self.settings(name), self.record.language)
        return self._procedures[name]

    def units(self, name: str, phase: str, round: int, arm: str) -> Sequence[str]:
        key = (name, phase, round, arm)
        if key not in self._units:
            self._units[key] = tuple(self.procedure(name).units(round, self.desk(name, phase, arm)))
        return self._units[key]

    def desk(self, name: str, phase: str, arm_id: str = "main") -> LocalDesk:
        key = (name, phase, arm_id)
        if key not in self._desks:
            self._desks[key] = self._make_desk(name, phase, self.arm(arm_id))
        return self._desks[key]

    def remember(self, phase: str) -> None:
        """Digests of this phase were stored: desks made before must not be used again."""
        self._desks = {key: desk for key, desk in self._desks.items() if key[1] != phase}

    def _make_desk(self, name: str, phase: str, arm: Arm) -> LocalDesk:
        digests = self.ledger.digests(phase) if arm.digest == "own" else {}
        people = [who.model_copy(update={"digest": digests.get(who.id)}) for who in self.population]
        main = self.record.main
        return LocalDesk(
            arm=arm,
            main_arm=main.id,
            methodology=name,
            phase=phase,
            language=self.record.language,
            asking=self.record.asking,
            population=people,
            ledger=self.ledger,
            respondent=make_respondent(arm, self.methodology(name), self.instrument(name), self.record.language),
            model=self._metered(arm.model, arm.temperature, arm.seed),
            interviewer=self._metered(main.model if main.respondent == "llm" else "rule", 0, main.seed),
            interviewer_has_model=main.respondent == "llm",
        )

    def _metered(self, model: str, temperature: float, seed: int) -> MeteredModel:
        return MeteredModel(
            self.ledger,
            self.budget,
            self._sender,
            model=model,
            temperature=temperature,
            seed=seed,
            admission=self._admission,
        )


def make_respondent(arm: Arm, methodology: Methodology[Any, Any], instrument: Any, language: Language) -> Respondent:
    """How an arm's answers are made."""
    if arm.respondent == "llm":
        return LLMRespondent(language)
    if arm.respondent == "synthetic":
        return SyntheticRespondent(methodology.synthetic(instrument), language, arm.seed)
    raise SettingsError(f"arm {arm.id!r}: respondent {arm.respondent!r} is not available in this version")


def server_url(arms: Sequence[Arm], machine: Machine) -> str | None:
    """Where requests go; None where no arm needs a model. Raises SettingsError where neither key nor server is known."""
    if machine.offline or not any(arm.respondent == "llm" for arm in arms):
        return None
    if machine.api_key is None and not machine.base_url:
        raise SettingsError("this run's answers come from a model: set LLM_API_KEY or LLM_BASE_URL")
    return checked_url(machine.base_url or OPENAI_URL)


def make_sender(record: RunRecord, machine: Machine) -> Transport | None:
    """The transport, where any arm needs a model."""
    # The run's own server, unless another is named now.
    machine = machine.model_copy(update={"base_url": machine.base_url or record.base_url or None})
    url = server_url(record.arms, machine)
    if url is None:
        return None
    return Transport(base_url=url, api_key=machine.api_key, timeout_s=machine.timeout_s, limiter=LIMITER)


@dataclass
class _Entry:
    """An open workplace and how many use it."""

    guard: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    workplace: Workplace | None = None


_entries: dict[tuple[str, int], _Entry] = {}


@asynccontextmanager
async def using(address: str, machine: Machine | None = None) -> AsyncIterator[Workplace]:
    """The open workplace of a run; the first user opens it (taking the run's lock), the last one closes it."""
    key = (str(Path(address).absolute()), id(asyncio.get_running_loop()))
    entry = _entries.setdefault(key, _Entry())
    entry.users += 1  # from now on, not once it is open: who comes while the last one closes waits and opens again
    try:
        async with entry.guard:
            if entry.workplace is None:
                chosen = machine or resolve_machine(RunRequest(), Environment.read())
                entry.workplace = await entry.stack.enter_async_context(_opened(Path(address), chosen))
            workplace = entry.workplace
        yield workplace
    finally:
        entry.users -= 1
        async with entry.guard:
            if entry.users == 0:
                entry.workplace = None
                await entry.stack.aclose()
        if entry.users == 0 and _entries.get(key) is entry:
            del _entries[key]


@asynccontextmanager
async def _opened(folder: Path, machine: Machine) -> AsyncIterator[Workplace]:
    async with AsyncExitStack() as stack:
        stack.enter_context(held(folder))
        record = read_record(folder)
        sender = make_sender(record, machine)
        if sender is not None:
            stack.push_async_callback(sender.aclose)
        LIMITER.resize(machine.concurrency)
        ledger = Ledger(folder / LEDGER, record.run_id)
        stack.push_async_callback(ledger.close)
        await ledger.sweep()
        yield Workplace(folder, record, ledger, machine, sender)
