"""What a Dask worker does: asks the shards it is given, for a run that another process drives.

A shard arrives as JSON: which units, how they are asked, and how this process is to reach the ledger. Keys of model
servers are this process's own, by its environment. Shards are worked on in one event loop, in a thread of its own:
Dask's own loop has heartbeats to send. The run stays open from shard to shard, until its driver closes it or another
driver's shard comes.

Shards: ranges of units, worked on where there is room (executors.py). Agents of a shard work at the same time, an
agent's own blocks in turn.

A subgraph per agent cost a hundred times the CPU of a shard of fifty; rows go to the ledger, never through channels.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from typing_extensions import TypedDict

from enquete.ledger.drives import DiskFull, keep_in
from enquete.ledger.integrity import StoreUnreachable
from enquete.ledger.ledger import Failure
from enquete.ledger.workers import Evicted, leave_shard, take_shard
from enquete.runs.model_server import LIMITER
from enquete.runs.run_session import Progress, RunSession, event_of, opened_by_worker
from enquete.state import collect_seldom
from enquete.state.asking import Outcome
from enquete.state.channels import ShardSpec
from enquete.state.errors import EnqueteError, LedgerError, SettingsError, machine_limit
from enquete.state.methodology import gather
from enquete.state.settings import Environment, Machine

# --- Shards ----------------------------------------------------------------------------------------------------------

REPORT_EVERY_S = 0.2

Tick = Callable[[Outcome], None]
"""Told of every unit what it came to."""


async def run_shard(run_session: RunSession, spec: ShardSpec, tick: Tick) -> dict[str, int]:
    """Conduct every unit of the range; those already answered are found in the ledger and cost nothing."""
    units = run_session.units(spec["methodology"], spec["phase"], spec["round"], spec["arm"])

    async def conduct(unit: str) -> Outcome:
        outcome = await conduct_unit(run_session, spec, unit)
        tick(outcome)
        return outcome

    return dict(Counter(await gather(map(conduct, units[spec["lo"] : spec["hi"]]))))


async def conduct_unit(run_session: RunSession, spec: ShardSpec, unit: str) -> Outcome:
    """One unit. A bug stays with its unit, recorded with its traceback; an unwritable ledger stops the run."""
    key = (spec["arm"], spec["methodology"], spec["phase"], spec["round"], unit)
    context = run_session.context(spec["methodology"], spec["phase"], spec["arm"])
    try:
        outcome = await run_session.procedure(spec["methodology"]).conduct(unit, spec["round"], context)
    except LedgerError:
        raise
    except Exception as error:
        limit = machine_limit(error)
        if limit:  # no bug of this unit: each of the others would meet it too
            await run_session.budget.stop(limit, failed=True)
            return "short"
        if run_session.raise_bugs:
            raise
        run_session.failed_units.add(key)
        text = f"{type(error).__name__}: {error}"
        await run_session.ledger.record_failure(Failure(*key, text, traceback.format_exc()))
        return "failed"
    if key in run_session.failed_units and outcome == "done":
        run_session.failed_units.discard(key)
        await run_session.ledger.clear_failure(*key)
    return outcome


class RoundProgress:
    """Counts finished units of a round and reports them, first before any is finished, at most every REPORT_EVERY_S."""

    def __init__(self, run_session: RunSession, spec: ShardSpec, report: Progress):
        self._run_session = run_session
        self._total = len(run_session.units(spec["methodology"], spec["phase"], spec["round"], spec["arm"]))
        self._report = report
        self._key = (spec["methodology"], spec["phase"], spec["round"], spec["arm"])
        self._row = (spec["methodology"], spec["phase"], spec["arm"], spec["round"])
        self._next = 0.0
        self._tell(self._done)

    @property
    def _done(self) -> int:
        return self._run_session.units_done.get(self._key, 0)

    def tick(self, outcome: Outcome) -> None:
        """A unit came to this."""
        if outcome == "done":
            self._run_session.units_done[self._key] = self._done + 1
        done = self._done
        now = time.monotonic()
        if now >= self._next or done == self._total:
            self._next = now + REPORT_EVERY_S
            self._tell(done)

    def _tell(self, done: int) -> None:
        self._report(event_of(self._run_session.budget, self._row, done, self._total))


# --- The worker ------------------------------------------------------------------------------------------------------

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
KINDS = (DiskFull, StoreUnreachable, LedgerError, SettingsError, EnqueteError)
"""Of errors, the narrowest first, that a driver meets again as they were."""


class ShardJob(TypedDict):
    """A shard and all that a worker needs to ask it. JSON only."""

    spec: ShardSpec
    shard: str  # its name in the ledger
    run_id: str
    folder: str
    store: str  # address of the database, without a password, where the ledger is in one
    driver: str
    enquete: str  # version
    machine: dict[str, Any]  # settings, without keys
    has_key: bool
    concurrency: int
    cap: int
    cap_usd: float | None
    closed: list[str]  # claims on the budget that are over
    memories: int
    topic: str


class ShardReport(TypedDict, total=False):
    """What came of it. `error`: the kind of fault, `words` and `traceback` of it; else counts, and how this process's
    budget stands."""

    counts: dict[str, int]
    stopped: str
    failed: bool
    ran_short: bool
    deferred: bool
    refused: int
    refused_usd: float
    short_of: str
    error: str
    words: str
    traceback: str


class WorkerFacts(TypedDict):
    """What a worker says of itself. `ledger`: device and number of the ledger's file, where it sees one; `store`: why
    it cannot reach the database that was named, "" where it can."""

    enquete: str
    python: str
    host: str
    boot: str
    clock: float
    has_key: bool
    ledger: list[int]
    store: str


def facts(ledger: str = "", store: str = "") -> WorkerFacts:
    """Of this process, worker or driver alike, whose ledger's path is `ledger`, or in the database `store`."""
    seen: list[int] = []
    with suppress(OSError):
        stat = Path(ledger).stat() if ledger else None
        seen = [stat.st_dev, stat.st_ino] if stat else []
    boot = ""
    with suppress(OSError):
        boot = BOOT_ID.read_text().strip()
    return WorkerFacts(
        enquete=version("enquete"), python=python_version(), host=socket.gethostname(), boot=boot, clock=time.time(),
        has_key=Environment.read().api_key is not None, ledger=seen, store=store_fault(store) if store else "",
    )  # fmt: skip


def store_fault(store: str) -> str:
    """Why this process cannot reach the database, "" where it can."""
    from enquete.ledger.postgres import PostgresConnection  # noqa: PLC0415 - for runs in a store alone

    try:
        PostgresConnection(store, "public", read_only=True).close()
    except EnqueteError as error:
        return str(error)
    return ""


# --- the loop, and the runs that are open in it -----------------------------------------------------------------------

_starting = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def _loop() -> asyncio.AbstractEventLoop:
    """The one loop in which this process asks."""
    with _starting:
        if not _loops:
            collect_seldom()
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="enquete", daemon=True).start()
            _loops.append(loop)
    return _loops[0]


@dataclass
class _OpenRun:
    """A run that is open for one driver. `over`: it is to be closed by its last user."""

    folder: str
    driver: str
    guard: asyncio.Lock = field(default_factory=asyncio.Lock)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    run_session: RunSession | None = None
    memories: int = -1
    users: int = 0
    over: bool = False


_open_runs: list[_OpenRun] = []


@asynccontextmanager
async def _using(job: ShardJob, address: str) -> AsyncIterator[RunSession]:
    for other in [run for run in _open_runs if run.folder == job["folder"] and run.driver != job["driver"]]:
        await _end(other)
    mine = next((run for run in _open_runs if run.driver == job["driver"]), None)
    if mine is None:
        mine = _OpenRun(job["folder"], job["driver"])
        _open_runs.append(mine)
    mine.users += 1
    try:
        async with mine.guard:
            run_session = mine.run_session
            if run_session is None:
                run_session = mine.run_session = await mine.stack.enter_async_context(_opened(job, address))
            _follow(mine, run_session, job)
        yield run_session
    except (Evicted, StoreUnreachable):
        mine.over = True
        if mine in _open_runs:
            _open_runs.remove(mine)  # what comes next opens the run anew, under another name
        raise
    finally:
        mine.users -= 1
        if mine.users == 0 and (mine.over or mine.run_session is None):
            await _end(mine)


@asynccontextmanager
async def _opened(job: ShardJob, address: str) -> AsyncIterator[RunSession]:
    """A run whose ledger is in a store needs a folder that says so, and nothing else of its own."""
    here, environment = version("enquete"), Environment.read()
    if here != job["enquete"]:
        raise SettingsError(
            f"the worker {address} has Enquete {here}, and the run is driven by {job['enquete']}: install the same "
            f"there"
        )
    if job["has_key"] and environment.api_key is None:
        raise SettingsError(
            f"the worker {address} has no LLM_API_KEY; keys are not sent: set it where the workers are started"
        )
    machine = Machine.model_validate(
        {**job["machine"], "api_key": environment.api_key, "zep_api_key": environment.zep_api_key}
    )
    with TemporaryDirectory(prefix="enquete-") as made:
        folder = Path(job["folder"])
        if job["store"]:
            folder = Path(made) / folder.name
            folder.mkdir()
            keep_in(folder, job["store"])
        owner = f"{address}-{uuid4().hex}"
        async with opened_by_worker(folder, job["run_id"], machine, owner, address, job["driver"]) as run_session:
            yield run_session


def _follow(mine: _OpenRun, run_session: RunSession, job: ShardJob) -> None:
    """What the driver has done since the last shard."""
    LIMITER.resize(job["concurrency"])
    budget = run_session.budget
    budget.cap, budget.cap_usd = job["cap"], job["cap_usd"]
    for name in job["closed"]:
        if name in budget.claims:
            budget.claims[name].closed = True
    if mine.memories != job["memories"]:
        mine.memories = job["memories"]
        run_session.rest()
    if mine.users == 1:
        run_session.__dict__.pop("failed_units", None)  # read again: others have noted some, or asked them anew


async def _end(run: _OpenRun) -> None:
    """Closed now, or by the last shard that uses it."""
    run.over = True
    if run in _open_runs:
        _open_runs.remove(run)
    if run.users == 0:
        run.run_session = None
        with suppress(StoreUnreachable):  # it could not be filed then, and whoever comes next reads what was
            await run.stack.aclose()


async def close_run(driver: str) -> None:
    """This driver has no more shards. Runs in the worker's own loop."""

    async def close() -> None:
        for run in [run for run in _open_runs if run.driver == driver]:
            await _end(run)

    if _loops:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(close(), _loops[0]))


# --- a shard ----------------------------------------------------------------------------------------------------------


def run_shard_in_worker(job: ShardJob) -> ShardReport:
    """A Dask task. Nothing is raised: errors of ours would not survive the way, and Dask's cancellation is no fault."""
    from distributed import get_worker  # noqa: PLC0415 - of the extra `scale`

    worker = get_worker()
    return asyncio.run_coroutine_threadsafe(_work(job, str(worker.address), worker.log_event), _loop()).result()


async def _work(job: ShardJob, address: str, log_event: Callable[[str, Any], None]) -> ShardReport:
    try:
        async with _using(job, address) as run_session:
            return await _conducted(run_session, job, log_event)
    except asyncio.CancelledError:
        return ShardReport(error="CancelledError", words="the worker is being stopped", traceback="")
    except Exception as error:
        kind = next((known for known in (Evicted, *KINDS) if isinstance(error, known)), Exception)
        return ShardReport(error=kind.__name__, words=str(error), traceback=traceback.format_exc())


async def _conducted(run_session: RunSession, job: ShardJob, log_event: Callable[[str, Any], None]) -> ShardReport:
    ledger, owner, shard = run_session.ledger, run_session.owner, job["shard"]
    done, told_at = 0, 0.0

    def tick(outcome: Outcome) -> None:
        nonlocal done, told_at
        done += outcome == "done"
        if time.monotonic() >= told_at + REPORT_EVERY_S:
            told_at = time.monotonic()
            log_event(job["topic"], {"shard": shard, "done": done})

    await ledger.write(lambda connection: take_shard(connection, shard, owner, ledger.run))
    counts = await run_shard(run_session, job["spec"], tick)
    await ledger.write(lambda connection: leave_shard(connection, shard, owner))
    budget = run_session.budget
    report = ShardReport(
        counts=counts, stopped=budget.stopped, failed=budget.failed, ran_short=budget.ran_short,
        deferred=budget.deferred,
        refused=budget.refused, refused_usd=budget.refused_usd, short_of=budget.short_of,
    )  # fmt: skip
    budget.ran_short = budget.deferred = False
    return report
