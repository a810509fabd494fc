"""Interviews as simulations go on: T0 when one is ready, the rest when it has completed; the simulator needs no change.

Nothing is remembered between looks that a restart could lose: which runs there are says what is left to do. A
simulation is judged once its status files have stayed the same from one look to the next, and again when they change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from enquete.interfaces.web.handlers import RequestHandlers, wanted_after
from enquete.interfaces.web.runner import tasks_of
from enquete.ledger.record import RunRecord
from enquete.nodes.run_list import survey
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER
from enquete.simulations.locate import KnownSimulation, SimulationProgress, completion
from enquete.simulations.sources import read_object
from enquete.state.errors import EnqueteError, SimulationError
from enquete.state.regular_files import Stamp, stamp_of
from enquete.study.background import run_in_thread
from enquete.study.interviews import Wanted, before
from enquete.study.tasks import TooManyRuns

STATUS_FILES = ("run_state.json", "state.json", CONFIG, REDDIT, TWITTER)
UNPREPARED = ("created", "preparing", "profiles_ready", "configuring", "failed")
GIVEN_UP = ("failed", "stopped", "stopping")
STALE_S = 24 * 3600
"""A simulation that says running and has not been touched for longer was killed: nobody waits for its T0."""

log = logging.getLogger("enquete.http")


@dataclass
class Look:
    """What a simulation's status files were when last looked at, and whether that has been acted on."""

    stamp: Stamp
    is_settled: bool = False


class Watcher:
    """Looks at the simulations under the root and starts what is due."""

    def __init__(self, handlers: RequestHandlers):
        self._handlers = handlers
        self._looks: dict[str, Look] = {}
        self._seen_open: set[str] = set()

    async def look(self) -> None:
        """One round over all simulations."""
        for known in await run_in_thread(self._handlers.sandbox.simulations):
            if self._is_quiet(known):
                await self._act(known)

    def _is_quiet(self, known: KnownSimulation) -> bool:
        """Whether its files are as they were at the last look, and nothing has been made of them yet."""
        stamp = status_stamp(known.path)
        look = self._looks.get(known.sim_id)
        if look is None or look.stamp != stamp:
            self._looks[known.sim_id] = Look(stamp)
            return False
        return not look.is_settled

    async def _act(self, known: KnownSimulation) -> None:
        """What cannot be started is said once, and tried again when the simulation's files change."""
        look = self._looks[known.sim_id]
        try:
            path = await run_in_thread(lambda: self._handlers.sandbox.simulation(known.sim_id))
            runs = await run_in_thread(lambda: read_runs(path))
            if any(map(self._handlers.drives, runs)):
                return  # what comes after it is decided when it has stopped
            wanted = await run_in_thread(lambda: self._due(known.sim_id, path, runs))
            look.is_settled = True
            if wanted is not None:
                launched = await self._handlers.launch(known.sim_id, "watch", wanted)
                log.info("%s: run %s", known.sim_id, launched.run_id)
                look.is_settled = launched.run is not None  # its next step may be due when it stops
        except TooManyRuns:
            look.is_settled = False
        except EnqueteError as error:
            look.is_settled = True
            log.warning("%s: nothing started: %s", known.sim_id, self._handlers.mask(error.fact))

    def _due(self, sim_id: str, path: Path, runs: Runs) -> Wanted | None:
        broken_off = broken_off_token(path, runs)
        if broken_off is not None:
            return Wanted({}, broken_off)
        found = completion(path)
        if not found.completed:
            self._seen_open.add(sim_id)
            return Wanted(before(path, {})) if not runs and is_ready(path, found) else None
        if not is_left_to_ask(runs, seen_open=sim_id in self._seen_open):
            return None
        return wanted_after(self._handlers.sandbox, sim_id, {})


Runs = dict[str, tuple[RunRecord, str]]
"""run_id → (record, status as last filed), oldest first."""


def read_runs(simulation: Path) -> Runs:
    return {run.folder.name: (run.record, run.status) for run in survey(simulation / "interviews").runs}


def broken_off_token(simulation: Path, runs: Runs) -> str | None:
    """The run that the watcher of an earlier server started, and that this server's end broke off."""
    for task in reversed(tasks_of(simulation)):
        record, status = runs.get(task.task_id, (None, ""))
        if task.kind == "watch" and task.is_broken_off and record is not None and status in ("started", "paused"):
            return record.token
    return None


def is_ready(path: Path, found: SimulationProgress) -> bool:
    """Prepared, not given up, and touched lately."""
    if not (path / CONFIG).is_file() or found.status in GIVEN_UP:
        return False
    touched = max((changed for _, changed, _ in filter(None, status_stamp(path))), default=0)
    return state_word(path) not in UNPREPARED and time.time() - touched / 1e9 < STALE_S


def state_word(path: Path) -> str:
    """What state.json says, which is worth something only until the simulation has begun; "" where it says nothing."""
    try:
        return (
            str(read_object(path / "state.json").get("status", "")).lower() if (path / "state.json").is_file() else ""
        )
    except SimulationError:
        return ""


def is_left_to_ask(runs: Runs, *, seen_open: bool) -> bool:
    """A T0 that nothing has followed yet, or a simulation that ended before one could be taken."""
    if not runs:
        return seen_open
    record, status = list(runs.values())[-1]
    return status == "awaiting_simulation" or (status == "completed" and record.phases == ["T0"])


def status_stamp(path: Path) -> Stamp:
    return stamp_of(path / name for name in STATUS_FILES)


@asynccontextmanager
async def watching(handlers: RequestHandlers, every_s: float) -> AsyncIterator[None]:
    """Look every so many seconds, until the server stops."""
    work = asyncio.create_task(_watch(Watcher(handlers), every_s))
    try:
        yield
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


async def _watch(watcher: Watcher, every_s: float) -> None:
    while True:
        try:
            await watcher.look()
        except Exception:  # one folder that cannot be read must not end the watch over the others
            log.exception("watching: this look was given up")
        await asyncio.sleep(every_s)
