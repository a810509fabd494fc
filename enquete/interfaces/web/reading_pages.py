"""A run as it is read: its report in tabs, its answers down to the request behind each, agents, instruments, another run beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.replies import NothingYet
from enquete.interfaces.service.retrying import retry_read
from enquete.interfaces.web.rendering import language_of, render
from enquete.interfaces.web.run import one_run
from enquete.interfaces.web.run.chapters import named
from enquete.interfaces.web.run.downloads import TYPES, NoSuchFile, as_csv, drawn_as, file_at
from enquete.interfaces.web.run.run_cache import OpenRun, RunCache
from enquete.interfaces.web.run.table import Where
from enquete.interfaces.web.run_head import Head, head_of
from enquete.state.data_formats import FileFormat
from enquete.state.file_cache import FileCache, stamp_of
from enquete.study.threads import run_in_thread

Facts: TypeAlias = Mapping[str, Any]
Show: TypeAlias = Callable[[OpenRun, Request, str], Facts]
"""(run, request, language of the page) → what the template is filled with."""


def add_reading(router: APIRouter, desk: RequestHandlers) -> None:
    """Everything under /runs/{sim_id}/{run_id}/."""
    shelf = RunCache(desk.sandbox)
    heads: FileCache[Head] = FileCache(32)

    def page(path: str, template: str, show: Show) -> None:
        @router.get(f"/runs/{{sim_id}}/{{run_id}}/{path}")
        async def answer(request: Request, sim_id: str, run_id: str) -> Response:
            run = await run_in_thread(lambda: retry_read(lambda: shelf.open(sim_id, run_id, language_of(request))))
            head = await resting(run)
            return await run_in_thread(lambda: retry_read(lambda: written(request, run, head)))

        def written(request: Request, run: OpenRun, head: Head) -> Response:
            tabs, facts = one_run.tabs(run), show(run, request, run.reader)
            named: dict[str, Any] = {"sim_id": run.sim_id, "run_id": run.run.run_id, "run": run.run, "opened": run}
            return render(request, template, tabs=tabs, head=head, **named, **facts)

    async def resting(run: OpenRun) -> Head:
        """How far the run is; of one that rests, as it was when its ledger was last written: counting a large one takes a while."""
        key, stamp = run.run.folder, await run_in_thread(lambda: stamp_of(run.ledger))
        held = None if desk.drives(run.run.run_id) else heads.held(key, stamp)
        if held is not None:
            return held
        head = await head_of(desk, run.sim_id, run.run.run_id)
        if not head.goes_on:
            heads.keep(key, stamp, head)
        return head

    page("", "run_page_one.html.j2", one_run.page_one)
    page("m/{methodology}", "run_tab.html.j2", one_run.methodology)
    page("synthesis", "run_tab.html.j2", one_run.synthesis)
    page("health", "run_tab.html.j2", one_run.health)
    page("answers", "run_answers.html.j2", one_run.answers)
    page("answer", "run_answer.html.j2", one_run.answer)
    page("agents", "run_agents.html.j2", one_run.agents)
    page("agent", "run_agent.html.j2", one_run.agent)
    page("instruments", "run_instruments.html.j2", one_run.instruments)
    page("compare", "run_compare.html.j2", one_run.compare)
    page("files", "run_files.html.j2", one_run.files)
    _add_downloads(router, shelf, desk)


def _add_downloads(router: APIRouter, shelf: RunCache, desk: RequestHandlers) -> None:
    async def opened(sim_id: str, run_id: str) -> OpenRun:
        return await run_in_thread(lambda: retry_read(lambda: shelf.open(sim_id, run_id)))

    @router.get("/runs/{sim_id}/{run_id}/answers.csv")
    async def table(request: Request, sim_id: str, run_id: str) -> Response:
        run = await opened(sim_id, run_id)
        where = await run_in_thread(lambda: _where(run, request))
        await run_in_thread(lambda: run.table)  # what is missing is said before the answer begins
        return StreamingResponse(
            as_csv(run, where), media_type="text/csv; charset=utf-8", headers=_saved(f"{run_id}_answers.csv")
        )

    @router.get("/runs/{sim_id}/{run_id}/data/{kind}")
    async def data(sim_id: str, run_id: str, kind: FileFormat) -> Response:
        return await desk.data(lambda: shelf.open(sim_id, run_id).run, kind)

    @router.get("/runs/{sim_id}/{run_id}/figures/{name}")
    async def figure(sim_id: str, run_id: str, name: str) -> Response:
        run = await opened(sim_id, run_id)
        stem, _, kind = name.rpartition(".")
        drawn = await run_in_thread(lambda: next((one for one in run.drawings.figures if one.stem == stem), None))
        if drawn is None:
            raise NoSuchFile(f"run {run.run.run_id} has no figure {name[:100]!r}")
        body, content = await run_in_thread(lambda: drawn_as(drawn, kind))
        return Response(body, media_type=content, headers=_saved(name))

    @router.get("/runs/{sim_id}/{run_id}/sections/{name}.md")
    async def section(sim_id: str, run_id: str, name: str) -> Response:
        run = await opened(sim_id, run_id)
        title = run.reported.get(name, "")
        text = await run_in_thread(lambda: named(run.text("report.md"), title)) if title else ""
        if not text:
            raise NothingYet(f"run {run.run.run_id} has no section on {name[:100]!r}")
        return Response(
            f"## {title}\n\n{text}\n", media_type="text/markdown; charset=utf-8", headers=_saved(f"{name}.md")
        )

    @router.get("/runs/{sim_id}/{run_id}/files/{path:path}")
    async def file(sim_id: str, run_id: str, path: str) -> Response:
        """Always saved, never shown: what others wrote runs nothing here."""
        run = await opened(sim_id, run_id)
        found = await run_in_thread(lambda: file_at(run, path))
        return FileResponse(found, media_type=TYPES.get(found.suffix, "application/octet-stream"), filename=found.name)


def _where(run: OpenRun, request: Request) -> Where:
    asked = request.query_params.multi_items()
    return Where.of(asked, run.drawings.marks if "mark" in request.query_params else {})


def _saved(name: str) -> dict[str, str]:
    plain = "".join(one if one.isascii() and (one.isalnum() or one in "._-") else "_" for one in name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}
