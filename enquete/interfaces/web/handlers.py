"""What a request comes to: the façade's request, started in the background, and the answer that says so; statuses read
once for everybody who asks within the same second, so that a hundred clients cost a run what one costs.

Runs in the background of the server: a loop of their own, so that a request is answered while a run computes; and
what is written down of them, so that another server after it knows.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import parse_qsl, quote

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from enquete.interfaces import views
from enquete.interfaces.server_state import Mask
from enquete.interfaces.views import StatusWord, findings_of, report_of, retry_read
from enquete.interfaces.web import models
from enquete.interfaces.web.models import TASK_STATUS, Problem, StatusData, failed, succeeded
from enquete.ledger.folders import write_atomically
from enquete.ledger.ledger import now
from enquete.simulations.locate import completion
from enquete.state.errors import EnqueteError, RunLocked, RunNotFound
from enquete.state.request import FileFormat, Layout, MemorySearch, parse_request
from enquete.state.untrusted_input import read_regular
from enquete.study.background import run_in_thread
from enquete.study.interviews import Wanted, after, as_at_t0, before
from enquete.study.method_operations import operate
from enquete.study.run import Run
from enquete.study.runs import Deletion, delete, deletion
from enquete.study.start import Foreseen, foresee
from enquete.study.tasks import PathSandbox, StillDriven, StillPausing, Task, Tasks, TooManyRuns

# --- Runs in the background ------------------------------------------------------------------------------------------

# --- Requests --------------------------------------------------------------------------------------------------------

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
        root, own_folder = self._sandbox.root, self._sandbox.given["own_folder"]
        return await self._there(operate(name, given, root, own_folder, self.tasks))

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
                if not tries or isinstance(fault, TooManyRuns | StillPausing | StillDriven):
                    raise

    async def _attempt(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        simulation = await run_in_thread(lambda: self._sandbox.simulation(sim_id))
        if wanted.token is None:
            task = await self.tasks.start(sim_id, **wanted.request)
        else:
            task = await self.tasks.resume(wanted.token, sim=sim_id, **wanted.request)
        run = await task.wait(AT_ONCE_S)
        if run is None or not run.shown:
            file = TaskFile(task_id=task.run_id, sim_id=sim_id, kind=kind, started_at=now())
            follower = self._loop.create_task(self._followed(simulation, task, file))
            self._followers.add(follower)
            follower.add_done_callback(self._followers.discard)
            if run is not None:  # it ended at once: whoever is answered finds it written down
                await follower
        return Launched(task.run_id, run)

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


BUDGET_RETRY_S = 60
"""A spent budget does not come back by itself: so long until looking again may show that somebody resumed the run."""
FRESH_S = 1.0
MOST_KEPT = 1000
MOST_FAILURES = 20


@dataclass(frozen=True)
class _Snapshot(Generic[T]):
    at: float
    reading: asyncio.Task[T]


class Snapshots(Generic[T]):
    """Values by key, each at most FRESH_S old. Errors are told to those who waited, and not kept."""

    def __init__(self, fresh_s: float = FRESH_S):
        self._fresh_s = fresh_s
        self._kept: dict[Hashable, _Snapshot[T]] = {}

    async def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """`read` runs in a thread, once for all who ask meanwhile."""
        snapshot = self._fresh(key) or self._begin(key, read)
        return await asyncio.shield(snapshot.reading)  # who leaves does not take it from the others

    def ready(self, key: Hashable) -> T | None:
        """What `get` would give without waiting."""
        snapshot = self._fresh(key)
        return snapshot.reading.result() if snapshot is not None and snapshot.reading.done() else None

    def forget(self) -> None:
        """What was read is about to be wrong: a run was started, resumed or deleted."""
        self._kept.clear()

    def _fresh(self, key: Hashable) -> _Snapshot[T] | None:
        snapshot = self._kept.get(key)
        return snapshot if snapshot is not None and time.monotonic() - snapshot.at <= self._fresh_s else None

    def _begin(self, key: Hashable, read: Callable[[], T]) -> _Snapshot[T]:
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        reading = asyncio.create_task(run_in_thread(read))
        snapshot = self._kept[key] = _Snapshot(time.monotonic(), reading)
        reading.add_done_callback(lambda done: self._drop_if_failed(key, done))
        return snapshot

    def _drop_if_failed(self, key: Hashable, reading: asyncio.Task[T]) -> None:
        kept = self._kept.get(key)
        if (reading.cancelled() or reading.exception()) and kept is not None and kept.reading is reading:
            del self._kept[key]


@dataclass(frozen=True)
class StatusAnswer:
    """A run's status, and as it is sent."""

    data: StatusData
    sent: Response

    @property
    def body(self) -> bytes:
        return bytes(self.sent.body)

    def response(self) -> Response:
        """Anew each time: whoever sends it adds headers to it."""
        return Response(self.sent.body, self.sent.status_code, dict(self.sent.headers))


class StatusShortcut:
    """ASGI middleware behind the guard: a status that lies ready goes past routing and validation, which cost more than
    the answer itself. `ready` gives the answer to a simulation and task that somebody asked for a moment ago, in the
    same words, so that these were found valid then; everything else goes on to the paths."""

    PATH = re.compile(r"/api/interview/([^/]+)/status")

    def __init__(self, app: ASGIApp, ready: Callable[[str, str | None], StatusAnswer | None]):
        self._app = app
        self._ready = ready

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answer(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        await (answer.response() if answer else self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> StatusAnswer | None:
        match = self.PATH.fullmatch(scope["path"])
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True) if match else []
        if match is None or [name for name, _ in asked] not in ([], ["task_id"]):
            return None
        return self._ready(match[1], asked[0][1] if asked else None)


class RequestHandlers:
    """Everything that the paths and the pages share."""

    def __init__(self, sandbox: PathSandbox, runner: Runner, mask: Mask):
        self.sandbox = sandbox
        self.mask = mask
        self.runner = runner
        self._statuses: Snapshots[StatusAnswer] = Snapshots()
        self._packing = asyncio.Lock()  # a large run takes a core and memory for minutes: one after the other
        self.is_closing = False

    async def read(self, work: Callable[[], T]) -> T:
        """What reads a run's files, in a thread, once more where they change under it."""
        return await run_in_thread(lambda: retry_read(work))

    # --- runs begun and gone on with ----------------------------------------------------------------------------------

    async def pre(self, sim_id: str, body: models.PreBody) -> Response:
        wanted = await run_in_thread(lambda: Wanted(before(self.sandbox.simulation(sim_id), body.request())))
        return await self._start(sim_id, "pre", wanted)

    async def post(self, sim_id: str, body: models.PostBody) -> Response:
        return await self._start(sim_id, "post", await self.wanted_after(sim_id, body.request()))

    async def rerun(self, sim_id: str, body: models.RerunBody) -> Response:
        request = body.request()
        methods = [request.pop("methodology")]
        return await self._start(sim_id, "rerun", Wanted({**request, "methods": methods, "rerun": True}))

    async def resume(self, sim_id: str, body: models.ResumeBody) -> Response:
        request = body.request()
        token = str(request.pop("resume_token"))
        run_id = token.partition(".")[0]
        folder = await run_in_thread(lambda: self.sandbox.simulation(sim_id))
        if not (folder / "interviews" / "runs" / run_id).is_dir():
            raise RunNotFound(f"no run {run_id!r} of {sim_id}")
        return await self._start(sim_id, "resume", Wanted(request, token))

    async def wanted_after(self, sim_id: str, request: dict[str, Any]) -> Wanted:
        """What is left to ask after the simulation. Raises NotCompleted."""
        return await run_in_thread(lambda: wanted_after(self.sandbox, sim_id, request))

    async def foreseen(self, sim_id: str, request: dict[str, Any]) -> Foreseen:
        """What a start with these words would cost; `methodology`: a re-run of that one."""
        folder = await run_in_thread(lambda: self.sandbox.simulation(sim_id))
        method = request.pop("methodology", None)
        if method is not None:
            request = {**request, "methods": [method], "rerun": True}
        elif await run_in_thread(lambda: completion(folder, bool(request.get("assume_completed"))).completed):
            request = {**(await run_in_thread(lambda: as_at_t0(sim_id, str(self.sandbox.root)))), **request}
        asked = parse_request(sim=sim_id, **self.sandbox.given, **request)
        return await run_in_thread(lambda: asyncio.run(foresee(asked)), within_s=None)

    async def launch(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        try:
            return await self.runner.launch(sim_id, kind, wanted)
        finally:
            self._statuses.forget()

    async def _start(self, sim_id: str, kind: Kind, wanted: Wanted) -> Response:
        launched = await self.launch(sim_id, kind, wanted)
        ended, run_id = launched.run, launched.run_id
        run = ended if ended is not None else await self.read(lambda: self.sandbox.run(sim_id, run_id))
        status: StatusWord = ended.status if ended else "running"
        url = f"/api/interview/{quote(sim_id)}/status?task_id={run_id}"
        started = models.Started(
            task_id=run_id, run_id=run_id, sim_id=sim_id, status=TASK_STATUS[status], run_status=status,
            shown=ended is not None and ended.shown, resume_token=run.resume_token, status_url=url,
        )  # fmt: skip
        response = succeeded(started, 200 if ended else 202)
        response.headers["Location"] = url
        return response

    # --- runs followed, paused and deleted ----------------------------------------------------------------------------

    async def status(self, sim_id: str, task_id: str | None) -> StatusAnswer:
        """Read and written out once for all who ask within a second."""
        return await self._statuses.get((sim_id, task_id), lambda: self._read_status(sim_id, task_id))

    def status_ready(self, sim_id: str, task_id: str | None) -> StatusAnswer | None:
        """The same, where somebody asked for it within the second."""
        return self._statuses.ready((sim_id, task_id))

    def _read_status(self, sim_id: str, task_id: str | None) -> StatusAnswer:
        def look() -> StatusData:
            run = self.sandbox.run(sim_id, task_id)
            return status_data(sim_id, run, self.task_of(run), self.mask)

        data = retry_read(look)
        if data.sufficient_tokens is None:
            return StatusAnswer(data, succeeded(data))
        remedy = f"POST …/resume with resume_token and budget_tokens (likely enough: {data.sufficient_tokens})"
        problem = Problem(type="BudgetSpent", message=data.note, remedy=remedy)
        return StatusAnswer(data, failed(503, problem, data, retry_after_s=BUDGET_RETRY_S))

    async def pause(self, sim_id: str, run_id: str) -> StatusAnswer:
        """Tell a run to pause. Raises RunLocked where another process drives it."""
        run = await self.read(lambda: self.sandbox.run(sim_id, run_id))
        if not await self.runner.pause(run.folder) and await run_in_thread(lambda: run.is_driven):
            raise RunLocked(f"run {run_id} is driven by another process: pause it there")
        self._statuses.forget()
        return await self.status(sim_id, run_id)

    def deletion(self, sim_id: str, run_id: str) -> Deletion:
        """What would go. Raises RunNotFound, RunLocked (it is driven), StillNeeded (another run rests on it)."""
        self.sandbox.simulation(sim_id)
        return deletion(sim_id, run_id, root=self.sandbox.root)

    async def delete(self, sim_id: str, run_id: str) -> Deletion:
        """What went. Raises as `deletion`."""
        gone = await run_in_thread(lambda: delete(self.sandbox.simulation(sim_id).name, run_id, root=self.sandbox.root))
        self._statuses.forget()
        return gone

    def drives(self, run_id: str) -> bool:
        """Whether this server drives the run right now."""
        return self.runner.tasks.driven(run_id) is not None

    def task_of(self, run: Run) -> Task | None:
        """What drives it in this server right now."""
        return self.runner.tasks.driven_in(run.folder)

    async def close(self) -> None:
        """Who follows a run is told that this server ends."""
        self.is_closing = True

    async def data(
        self, find: Callable[[], Run], format_: FileFormat, layout: Layout = "both", *, bom: bool = False
    ) -> Response:
        """A run's data as one file. Raises as `Run.export` does."""
        async with self._packing:
            run = await self.read(find)
            pack = partial(views.parcel_of, self.sandbox, run, format_, layout, bom=bom)
            parcel = await run_in_thread(pack, within_s=None)
        return FileResponse(
            parcel.path, media_type=parcel.mediatype, filename=parcel.path.name,
            background=BackgroundTask(parcel.remove), headers={"X-Run-Id": run.run_id, "X-Run-Status": run.status},
        )  # fmt: skip


def wanted_after(sandbox: PathSandbox, sim_id: str, request: dict[str, Any]) -> Wanted:
    """The request that asks what is left after the simulation. Raises SimulationNotFound, OutsideRoot, NotCompleted."""
    sandbox.simulation(sim_id)
    wanted = after(sim_id, {**request, "root": str(sandbox.root)})
    return Wanted({name: value for name, value in wanted.request.items() if name != "root"}, wanted.token)


def status_data(sim_id: str, run: Run, task: Task | None, mask: Mask) -> StatusData:
    """`task`: what drives it in this server right now."""
    file, status = read_task(run.folder.parents[2], run.run_id), views.status_of(run, task)
    return StatusData(
        **vars(views.progress_of(run, status, task, mask, sim_id, file.error if file else "")), task_id=run.run_id,
        status=TASK_STATUS[status], run_status=status, started_by=file.kind if file else "",
        created_at=run.record.created_at, methods=list(run.record.methods), budget=views.budget_of(run),
        calls_per_s=run.standing.calls_per_s,
        sufficient_tokens=run.standing.enough_tokens if status == "paused" and views.ran_short(run) else None,
        failures=[mask(failure) for failure in run.standing.failures[:MOST_FAILURES]],
    )  # fmt: skip


def read_result(sandbox: PathSandbox, sim_id: str, methodology: str, run_id: str | None) -> models.ResultData:
    """Raises NothingYet naming the run that has them, or the methodologies that there are results of."""
    run, result = findings_of(sandbox, sim_id, methodology, run_id)
    aggregate = models.aggregate_of(result, run.agent_ids)
    return models.ResultData(**_named(run, sim_id), methodology=methodology, result=result, aggregate=aggregate)


def read_report(sandbox: PathSandbox, sim_id: str, run_id: str | None) -> models.ReportData:
    """Raises NothingYet."""
    run = sandbox.finished(sim_id, run_id)
    text = report_of(sandbox, run)
    return models.ReportData(**_named(run, sim_id), page_one=run.page_one, report_markdown=text, flags=run.flags)


def read_memory(sandbox: PathSandbox, sim_id: str, asked: MemorySearch) -> models.MemoryData:
    """Raises as `search_episodes`."""
    records, warning = views.search_episodes(sandbox, sim_id, asked)
    episodes = [models.EpisodeData.of(record) for record in records]
    return models.MemoryData(sim_id=sim_id, warning=warning, episodes=episodes)


def read_table(sandbox: PathSandbox, sim_id: str, run_id: str | None) -> tuple[Run, Path]:
    """Raises NothingYet."""
    run = sandbox.finished(sim_id, run_id)
    return run, views.table_of(sandbox, run)


def _named(run: Run, sim_id: str) -> dict[str, Any]:
    return {"run_id": run.run_id, "sim_id": sim_id, "status": run.status, "partial": run.status != "completed"}
