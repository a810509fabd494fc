"""Runs in the background of the server: a loop of their own, so that a request is answered while a run computes; and
what is written down of them, so that another server after it knows.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from enquete.interfaces.server_state import Mask
from enquete.ledger.folders import write_atomically
from enquete.ledger.ledger import now
from enquete.state.errors import EnqueteError, RunLocked
from enquete.state.regular_files import read_regular
from enquete.study.background import run_in_thread
from enquete.study.interviews import Wanted
from enquete.study.method_operations import operate
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox, StillPausing, Task, Tasks, TooManyRuns

T = TypeVar("T")
AT_ONCE_S = 0.2
"""What is wrong with a run shows within this: another process drives it, or it is finished already."""
TRIES = 5
"""A status that is being read holds a run's lock for an instant; a run that is driven holds it for good."""

log = logging.getLogger("enquete.http")


@dataclass(frozen=True)
class Launched:
    """A run that goes on, or one that came to its end or stop at once (`run`)."""

    run_id: str
    run: Run | None


class Runner:
    """Drives runs in a thread of its own. `close` pauses them and waits for their stop."""

    def __init__(self, sandbox: PathSandbox, most: int, mask: Mask):
        self._sandbox = sandbox
        self._mask = mask
        self.tasks = Tasks(sandbox, most=most)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="enquete-runs", daemon=True)
        self._followers: set[asyncio.Task[None]] = set()
        self._closing = False
        self._thread.start()

    async def launch(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        """Start or go on with a run; returns as soon as it is on disk and goes on. Raises what the façade raises."""
        return await self._there(self._launch(sim_id, kind, wanted))

    async def operate(self, name: str, given: Mapping[str, Any]) -> dict[str, JsonValue]:
        """An operation, whose runs count among those that this server drives at once. Raises what `operate` raises."""
        root, shelf = self._sandbox.root, self._sandbox.given["shelf"]
        return await self._there(operate(name, given, root, shelf, self.tasks))

    async def pause(self, folder: Path) -> bool:
        """Tell the run in this folder to stop after the requests in flight; False where nothing here drives it."""
        return await self._there(self._pause(folder))

    async def _pause(self, folder: Path) -> bool:
        task = self.tasks.driven_in(folder)
        if task is not None:
            task.pause()
        return task is not None

    async def close(self) -> None:
        self._closing = True
        await self._there(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await run_in_thread(self._thread.join)
        self._loop.close()

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _stop(self) -> None:
        await self.tasks.close()
        await asyncio.gather(*self._followers)

    async def _launch(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        if self._closing:
            raise TooManyRuns("this server is being stopped")
        tries = TRIES
        while True:
            try:
                return await self._attempt(sim_id, kind, wanted)
            except RunLocked as fault:
                tries -= 1
                if not tries or isinstance(fault, TooManyRuns | StillPausing):
                    raise

    async def _attempt(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        simulation = await run_in_thread(lambda: self._sandbox.simulation(sim_id))
        if wanted.token is None:
            task = await self.tasks.start(sim_id, **wanted.request)
        else:
            task = await self.tasks.resume(wanted.token, sim=sim_id, **wanted.request)
        run = await task.wait(AT_ONCE_S)
        if run is None:
            self._follow(simulation, task, TaskFile(task_id=task.run_id, sim_id=sim_id, kind=kind, started_at=now()))
        return Launched(task.run_id, run)

    def _follow(self, simulation: Path, task: Task, file: TaskFile) -> None:
        follower = self._loop.create_task(self._followed(simulation, task, file))
        self._followers.add(follower)
        follower.add_done_callback(self._followers.discard)

    async def _followed(self, simulation: Path, task: Task, file: TaskFile) -> None:
        """Write down that the run goes on, and later that it ended. A disk that refuses does not stop the run."""
        error, status = "", ""
        try:
            write_task(simulation, file)
            status = (await task.end()).status
            log.info("run %s of %s: %s", file.task_id, file.sim_id, status)
        except EnqueteError as fault:
            error = self._mask(fault.fact)
            log.warning("run %s of %s: %s", file.task_id, file.sim_id, error)
        except Exception as bug:
            error = f"internal error, {type(bug).__name__}; what was answered is kept, the log has the traceback"
            log.exception("run %s of %s", file.task_id, file.sim_id)
        stopped = self._closing and status == "paused"
        ended = file.model_copy(update={"ended_at": now(), "error": error, "stopped": stopped})
        try:
            write_task(simulation, ended)
        except (EnqueteError, OSError) as fault:
            log.warning("run %s of %s: its task file cannot be written (%s)", file.task_id, file.sim_id, fault)


# --- What a server wrote down about the runs it drives, so that another one after it knows


Kind = Literal["pre", "post", "rerun", "resume", "watch"]


class TaskFile(BaseModel):
    """`ended_at` None: a server drives the run, or was killed while it did. `stopped`: a server paused it because it
    was being stopped itself. `error`: what ended it, where that stands nowhere else."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    sim_id: str
    kind: Kind
    started_at: str
    ended_at: str | None = None
    stopped: bool = False
    error: str = ""

    @property
    def is_broken_off(self) -> bool:
        """Nobody decided that the run should stop here."""
        return self.ended_at is None or self.stopped


def path_of(simulation: Path, task_id: str) -> Path:
    return simulation / "interviews" / "tasks" / f"{task_id}.json"


def write_task(simulation: Path, task: TaskFile) -> None:
    write_atomically(path_of(simulation, task.task_id), task.model_dump_json(indent=1) + "\n")


def read_task(simulation: Path, task_id: str) -> TaskFile | None:
    """None where no server has started this run, or the file cannot be read: the run itself does not depend on it."""
    try:
        return TaskFile.model_validate_json(read_regular(path_of(simulation, task_id)))
    except (OSError, ValidationError):
        return None


def tasks_of(simulation: Path) -> list[TaskFile]:
    """In the order of their names, which is that of their runs."""
    files = sorted((simulation / "interviews" / "tasks").glob("run_*.json"))
    return [task for file in files if (task := read_task(simulation, file.stem)) is not None]
