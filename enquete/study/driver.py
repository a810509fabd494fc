"""Drives one run: from wherever its checkpoints say it is, to its end or its next stop.

The ledger is the truth, checkpoints are position. A finished, damaged or changed thread is no obstacle: another walk
over the same ledger asks only what is not settled.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from enquete.graphs.interviews import study_graph, synthesise
from enquete.ledger import queries
from enquete.ledger.batch_jobs import waited_for
from enquete.ledger.budget import Budget
from enquete.ledger.drives import DiskFull, disk_fault, is_full
from enquete.ledger.savers import saver, thread_id
from enquete.models.tracing import untraced
from enquete.nodes.model_server import telling
from enquete.nodes.planning import planned
from enquete.nodes.run_session import Progress, RunSession, driving, using
from enquete.nodes.study_graph import Synthesise
from enquete.simulations.population import Population
from enquete.state.errors import EnqueteError
from enquete.state.request import RunRequest
from enquete.state.settings import Machine

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
        synthesise: Synthesise = synthesise,
    ):
        """`fresh`: start another walk whatever the checkpoints say (a forced walk of a finished run makes no call).
        `in_talk`: a person answers one question after another, and does not wait for a report before each.
        `synthesise`: what writes it up."""
        self._folder = Path()
        self._machine = machine
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
                await self._drive()
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

    async def _drive(self) -> None:
        async with using(self._folder.name, self._machine) as run_session:
            self._run_session = run_session
            run_session.simulation, self.simulation = self.simulation, None
            if self._progress is not None:
                run_session.tell(self._progress)
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
        with untraced():
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
    return study_graph("interviews", methods, synthesise)


@lru_cache(maxsize=16)
def _drawing(builder: Any) -> str:
    """By which checkpoints of another graph are told: drawn once a builder, as it takes longer than a small round."""
    return str(builder.compile().get_graph(xray=True).draw_mermaid())


def _commonest_error(run_session: RunSession) -> str:
    """Why most requests failed: the first thing that whoever reads "failed" wants to know."""
    row = run_session.ledger.read(queries.ERRORS).fetchone()
    return f"{row[1]} requests failed: {row[0]}" if row else ""


def _note(run_session: RunSession, stop: dict[str, Any]) -> str:
    """Why the run stopped, in the user's words."""
    standing = waited_for(run_session.ledger)
    why = _why(run_session, stop)
    return f"{why}; at the provider: {standing}" if standing else why


def _why(run_session: RunSession, stop: dict[str, Any]) -> str:
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
