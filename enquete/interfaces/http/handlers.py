"""What a request comes to: the façade's request, started in the background, and the answer that says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from enquete.interfaces.http.bodies import (
    EpisodeData,
    MemoryData,
    PostBody,
    PreBody,
    ReportData,
    RerunBody,
    ResultData,
    ResumeBody,
    Started,
    StatusData,
)
from enquete.interfaces.http.envelope import Problem, failed, succeeded
from enquete.interfaces.http.runner import Launched, Runner
from enquete.interfaces.http.snapshots import Snapshots
from enquete.interfaces.http.task_files import Kind, read_task
from enquete.interfaces.service.left_behind import findings_of, parcel_of, report_of, table_of
from enquete.interfaces.service.mirofish import TASK_STATUS, aggregate_of
from enquete.interfaces.service.retrying import retry_read
from enquete.interfaces.service.secrecy import Mask
from enquete.interfaces.service.status import StatusWord, budget_of, note_of, ran_short, stage_of, status_of
from enquete.simulations.locate import completion
from enquete.state.data_formats import FileFormat, Layout
from enquete.state.errors import RunLocked, RunNotFound
from enquete.state.request import parse_request
from enquete.state.visible_text import warning
from enquete.study.estimating import Foreseen, foresee
from enquete.study.lifecycle import Wanted, after, as_at_t0, before
from enquete.study.remembered import search_memory
from enquete.study.run import Run
from enquete.study.sandbox import PathSandbox
from enquete.study.tasks import Task
from enquete.study.threads import run_in_thread

BUDGET_RETRY_S = 60
"""A spent budget does not come back by itself: so long until looking again may show that somebody resumed the run."""


class RequestHandlers:
    """Everything that the paths share."""

    def __init__(self, sandbox: PathSandbox, runner: Runner, mask: Mask):
        self.sandbox = sandbox
        self.mask = mask
        self._runner = runner
        self._statuses: Snapshots[Response] = Snapshots()
        self._packing = asyncio.Lock()  # a large run takes a core and memory for minutes: one after the other
        self.is_closing = False

    async def pre(self, sim_id: str, body: PreBody) -> Response:
        return await self._start(sim_id, "pre", await self.wanted_before(sim_id, body.request()))

    async def post(self, sim_id: str, body: PostBody) -> Response:
        return await self._start(sim_id, "post", await self.wanted_after(sim_id, body.request()))

    async def rerun(self, sim_id: str, body: RerunBody) -> Response:
        said = body.request()
        methods = [said.pop("methodology")]
        return await self._start(sim_id, "rerun", Wanted({**said, "methods": methods, "rerun": True}))

    async def resume(self, sim_id: str, body: ResumeBody) -> Response:
        said = body.request()
        token = str(said.pop("resume_token"))
        folder = await run_in_thread(lambda: self.sandbox.simulation(sim_id))
        if not (folder / "interviews" / "runs" / token.partition(".")[0]).is_dir():
            raise RunNotFound(f"no run {token.partition('.')[0]!r} of {sim_id}")
        return await self._start(sim_id, "resume", Wanted(said, token))

    async def wanted_before(self, sim_id: str, said: dict[str, Any]) -> Wanted:
        """T0 and nothing else. Raises AlreadyCompleted."""
        return Wanted(await run_in_thread(lambda: before(self.sandbox.simulation(sim_id), said)))

    async def wanted_after(self, sim_id: str, said: dict[str, Any]) -> Wanted:
        """What is left to ask after the simulation. Raises NotCompleted."""
        await run_in_thread(lambda: self.sandbox.simulation(sim_id))
        root = str(self.sandbox.root)
        wanted = await run_in_thread(lambda: after(sim_id, {**said, "root": root}))
        return Wanted({k: v for k, v in wanted.request.items() if k != "root"}, wanted.token)

    async def foreseen(self, sim_id: str, said: dict[str, Any]) -> Foreseen:
        """What a start with these words would cost; `methodology`: a re-run of that one."""
        folder = await run_in_thread(lambda: self.sandbox.simulation(sim_id))
        method = said.pop("methodology", None)
        if method is not None:
            said = {**said, "methods": [method], "rerun": True}
        elif await run_in_thread(lambda: completion(folder, bool(said.get("assume_completed"))).completed):
            said = {**(await run_in_thread(lambda: as_at_t0(sim_id, str(self.sandbox.root)))), **said}
        asked = parse_request(sim=sim_id, **self.sandbox.given, **said)
        return await run_in_thread(lambda: asyncio.run(foresee(asked)), within_s=None)

    async def pause(self, sim_id: str, run_id: str) -> Response:
        """Tell a run to pause. Raises RunLocked where another process drives it."""
        run = await self._found(sim_id, run_id)
        if not await self._runner.pause(run.folder) and await run_in_thread(lambda: run.is_driven):
            raise RunLocked(f"run {run_id} is driven by another process: pause it there")
        self._statuses.forget()
        return _again(await self._statuses.get((sim_id, run_id), lambda: self._read(sim_id, run_id)))

    def forget(self) -> None:
        """A run was deleted: what was read of it is wrong."""
        self._statuses.forget()

    async def close(self) -> None:
        """Who follows a run is told that this server ends."""
        self.is_closing = True

    async def launch(self, sim_id: str, kind: Kind, wanted: Wanted) -> Launched:
        try:
            return await self._runner.launch(sim_id, kind, wanted)
        finally:
            self._statuses.forget()

    def drives(self, run_id: str) -> bool:
        """Whether this server drives the run right now."""
        return self._runner.driven(run_id) is not None

    def task_of(self, run: Run) -> Task | None:
        """What drives it in this server right now."""
        return self._runner.driven_in(run.folder)

    async def _start(self, sim_id: str, kind: Kind, wanted: Wanted) -> Response:
        launched = await self.launch(sim_id, kind, wanted)
        ended = launched.run
        run = ended or await self._found(sim_id, launched.run_id)
        status: StatusWord = ended.status if ended else "running"
        url = f"/api/interview/{quote(sim_id)}/status?task_id={launched.run_id}"
        started = Started(
            task_id=launched.run_id,
            run_id=launched.run_id,
            sim_id=sim_id,
            status=TASK_STATUS[status],
            run_status=status,
            shown=ended is not None and ended.shown,
            resume_token=run.resume_token,
            status_url=url,
        )
        response = succeeded(started, 200 if ended else 202)
        response.headers["Location"] = url
        return response

    async def _found(self, sim_id: str, run_id: str) -> Run:
        return await run_in_thread(lambda: retry_read(lambda: self.sandbox.run(sim_id, run_id)))

    async def data(
        self, find: Callable[[], Run], format_: FileFormat, layout: Layout = "both", *, bom: bool = False
    ) -> Response:
        """A run's data as one file. Raises as `Run.export` does."""
        async with self._packing:
            run = await run_in_thread(lambda: retry_read(find))
            parcel = await run_in_thread(lambda: parcel_of(self.sandbox, run, format_, layout, bom=bom), within_s=None)
        return FileResponse(
            parcel.path, media_type=parcel.mediatype, filename=parcel.path.name,
            background=BackgroundTask(parcel.remove), headers={"X-Run-Id": run.run_id, "X-Run-Status": run.status},
        )  # fmt: skip

    async def status(self, sim_id: str, task_id: str | None) -> Response:
        """Read and written out once for all who ask within a second."""
        return _again(await self._statuses.get((sim_id, task_id), lambda: self._read(sim_id, task_id)))

    def status_ready(self, sim_id: str, task_id: str | None) -> Response | None:
        """The same, where somebody asked for it within the second."""
        kept = self._statuses.ready((sim_id, task_id))
        return None if kept is None else _again(kept)

    def _read(self, sim_id: str, task_id: str | None) -> Response:
        found = retry_read(lambda: self._look(sim_id, task_id))
        if found.sufficient_tokens is None:
            return succeeded(found)
        remedy = f"POST …/resume with resume_token and budget_tokens (likely enough: {found.sufficient_tokens})"
        problem = Problem(type="BudgetSpent", message=found.note, remedy=remedy)
        return failed(503, problem, found, retry_after_s=BUDGET_RETRY_S)

    def _look(self, sim_id: str, task_id: str | None) -> StatusData:
        run = self.sandbox.run(sim_id, task_id)
        return status_data(sim_id, run, self.task_of(run), self.mask)


def _again(kept: Response) -> Response:
    """A response is sent once: whoever sends it adds headers to it."""
    return Response(kept.body, kept.status_code, dict(kept.headers))


MOST_FAILURES = 20


def status_data(sim_id: str, run: Run, task: Task | None, mask: Mask) -> StatusData:
    """`task`: what drives it in this server right now."""
    file = read_task(run.folder.parents[2], run.run_id)
    status = status_of(run, task)
    return StatusData(
        task_id=run.run_id,
        run_id=run.run_id,
        sim_id=sim_id,
        status=TASK_STATUS[status],
        run_status=status,
        note=mask(note_of(run, status, task, file.error if file else "")),
        resume_token=run.resume_token,
        started_by=file.kind if file else "",
        created_at=run.record.created_at,
        methods=list(run.record.methods),
        language=run.record.language,
        respondent=run.record.main.respondent,
        model=run.record.main.model,
        stages=[stage_of(run, stage, status) for stage in run.stages],
        budget=budget_of(run),
        sufficient_tokens=run.standing.enough_tokens if status == "paused" and ran_short(run) else None,
        failures=[mask(failure) for failure in run.failures[:MOST_FAILURES]],
    )


def read_result(sandbox: PathSandbox, sim_id: str, methodology: str, run_id: str | None) -> ResultData:
    """Raises NothingYet naming the run that has them, or the methodologies that there are results of."""
    run, result = findings_of(sandbox, sim_id, methodology, run_id)
    aggregate = aggregate_of(result, run.agent_ids)
    return ResultData(**_named(run, sim_id), methodology=methodology, result=result, aggregate=aggregate)


def read_report(sandbox: PathSandbox, sim_id: str, run_id: str | None) -> ReportData:
    """Raises NothingYet."""
    run = sandbox.finished(sim_id, run_id)
    return ReportData(
        **_named(run, sim_id), page_one=run.page_one, report_markdown=report_of(sandbox, run), flags=run.flags
    )


def read_memory(sandbox: PathSandbox, sim_id: str, query: str, agent: str, limit: int) -> MemoryData:
    """Raises RunNotFound where nobody was interviewed."""
    sandbox.runs(sim_id)
    found = search_memory(sim_id, query, agent=agent, limit=limit, root=str(sandbox.root))
    episodes = [EpisodeData(**one.model_dump(include=KEPT)) for one in found]
    return MemoryData(sim_id=sim_id, warning=warning([one.respondent for one in found]), episodes=episodes)


KEPT = set(EpisodeData.model_fields)


def read_table(sandbox: PathSandbox, sim_id: str, run_id: str | None) -> tuple[Run, Path]:
    """Raises NothingYet."""
    run = sandbox.finished(sim_id, run_id)
    return run, table_of(sandbox, run)


def _named(run: Run, sim_id: str) -> dict[str, Any]:
    return {"run_id": run.run_id, "sim_id": sim_id, "status": run.status, "partial": run.status != "completed"}
