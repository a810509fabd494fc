"""The paths of the API. Each names what it calls; errors are told by the handlers in app.py."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import FileResponse, Response

from enquete.interfaces.http.bodies import (
    KNOWN,
    MemoryData,
    PostBody,
    PreBody,
    ReportData,
    RerunBody,
    ResultData,
    ResumeBody,
    RunId,
    Started,
    StatusData,
)
from enquete.interfaces.http.envelope import Envelope, Estimated, succeeded
from enquete.interfaces.http.handlers import RequestHandlers, read_memory, read_report, read_result, read_table
from enquete.interfaces.service.left_behind import WORKBOOK
from enquete.interfaces.service.retrying import retry_read
from enquete.state.data_formats import FileFormat, Layout
from enquete.study.threads import run_in_thread

PREFIX = "/api/interview"

SimId: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=200, description="a simulation under the server's root")
]
Method: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=100, description="a methodology of the run", json_schema_extra=KNOWN)
]
TaskId: TypeAlias = Annotated[
    RunId | None, Query(description="as a POST gave it; else the latest unfinished run, else the canonical one")
]
WhichRun: TypeAlias = Annotated[
    RunId | None, Query(description="else the run that counts, else the latest that has any")
]

DataFormat: TypeAlias = Annotated[FileFormat, Path(alias="format", description="of the files")]
DataLayout: TypeAlias = Annotated[
    Layout, Query(description="of answers: a row an answer (long), a row an agent and a column an item (wide), or both")
]
Bom: TypeAlias = Annotated[bool, Query(description="CSV with the mark by which Excel knows UTF-8")]
Words: TypeAlias = Annotated[str, Query(max_length=500, description="words, matched by their beginnings")]
Most: TypeAlias = Annotated[int, Query(ge=1, le=100, description="episodes")]

Nothing: TypeAlias = Envelope[None]


def only(*known: str) -> Any:
    """A dependency that refuses other query parameters: a mistyped or misplaced one must not be passed over."""
    takes = f"this path takes {', '.join(known)}" if known else "arguments of a POST go into its JSON body"

    def check(request: Request) -> None:
        for name in request.query_params:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                meant = f"did you mean {near[0]}? " if near else ""
                raise RequestValidationError([{"loc": ("query", name[:60]), "msg": f"unknown; {meant}{takes}"}])

    return Depends(check)


def failing(**described: str) -> dict[int | str, dict[str, Any]]:
    """The failures that every path has, and those of one: `_404="no such run"`."""
    common = {
        "_401": "no token, or not this server's",
        "_403": "a symbolic link leads out of the root, or a web page of another origin called",
        "_404": "no such simulation",
        "_421": "the Host header names another server",
        "_422": "the request is malformed; the message names the field",
        "_500": "the run's ledger is damaged, or an internal error",
        "_503": "too many requests at once; Retry-After",
        **described,
    }
    return {int(code[1:]): {"model": Nothing, "description": words} for code, words in sorted(common.items())}


OVER_BUDGET_OR_WRONG: dict[str, Any] = {
    "model": Envelope[Estimated],
    "description": "the estimate exceeds the budget (data.estimate), or an argument is wrong (data is null)",
}
STARTING: dict[int | str, dict[str, Any]] = {
    **failing(
        _409="an unfinished run differs from what is asked, or is driven already, or the simulation is not so far",
        _413="the body is too large",
        _429="as many runs go on as this server drives at once; Retry-After",
        _502="the model's server does not answer, or refuses key or address",
        _507="the disk is full",
    ),
    200: {"model": Envelope[Started], "description": "the run was finished already, or ended at once"},
    400: OVER_BUDGET_OR_WRONG,
}
READING = failing(_404="no such simulation or run, or nothing of the kind yet")


def make_router(desk: RequestHandlers) -> APIRouter:
    """The paths over one desk."""
    router = APIRouter(prefix=PREFIX, tags=["interviews"])
    starting: dict[str, Any] = {
        "status_code": 202,
        "response_model": Envelope[Started],
        "responses": STARTING,
        "dependencies": [only()],
    }
    which = [only("run_id")]

    @router.post("/{sim_id}/pre", **starting)
    async def pre(sim_id: SimId, body: PreBody | None = None) -> Response:
        """T0: the longitudinal questionnaire, before the simulation."""
        return await desk.pre(sim_id, body or PreBody())

    @router.post("/{sim_id}/post", **starting)
    async def post(sim_id: SimId, body: PostBody | None = None) -> Response:
        """Everything after the simulation. Goes on with the run that waits after T0, else uses the latest T0."""
        return await desk.post(sim_id, body or PostBody())

    @router.post("/{sim_id}/rerun", **starting)
    async def rerun(sim_id: SimId, body: RerunBody) -> Response:
        """One methodology anew, as a run of its own; the others are taken over from the finished run."""
        return await desk.rerun(sim_id, body)

    @router.post("/{sim_id}/resume", **starting)
    async def resume(sim_id: SimId, body: ResumeBody) -> Response:
        """Go on with an unfinished run, with more budget if there is a need of it."""
        return await desk.resume(sim_id, body)

    spent: dict[int | str, dict[str, Any]] = {
        **READING,
        503: {
            "model": Envelope[StatusData],
            "description": "the run paused because its budget is spent (data.resume_token, data.sufficient_tokens), or too many "
            "requests at once (data is null); Retry-After",
        },
    }

    @router.get(
        "/{sim_id}/status", response_model=Envelope[StatusData], responses=spent, dependencies=[only("task_id")]
    )
    async def status(sim_id: SimId, task_id: TaskId = None) -> Response:
        """How far a run is, by methodology and phase. At most a second old."""
        return await desk.status(sim_id, task_id)

    @router.get(
        "/{sim_id}/results/synthesis", response_model=Envelope[ReportData], responses=READING, dependencies=which
    )
    async def synthesis(sim_id: SimId, run_id: WhichRun = None) -> Response:
        """The report, as Markdown."""
        return succeeded(await run_in_thread(lambda: retry_read(lambda: read_report(desk.sandbox, sim_id, run_id))))

    @router.get(
        "/{sim_id}/results/{methodology}", response_model=Envelope[ResultData], responses=READING, dependencies=which
    )
    async def results(sim_id: SimId, methodology: Method, run_id: WhichRun = None) -> Response:
        """A methodology's findings: of the run that counts for it, unless one is named; also while others are being asked."""
        return succeeded(
            await run_in_thread(lambda: retry_read(lambda: read_result(desk.sandbox, sim_id, methodology, run_id)))
        )

    @router.get(
        "/{sim_id}/memory",
        response_model=Envelope[MemoryData],
        responses=READING,
        dependencies=[only("query", "agent", "limit")],
    )
    async def memory(sim_id: SimId, query: Words = "", agent: Words = "", limit: Most = 10) -> Response:
        """What agents said, found by words and by agent."""
        return succeeded(await run_in_thread(lambda: read_memory(desk.sandbox, sim_id, query, agent, limit)))

    table: dict[int | str, dict[str, Any]] = {
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "docs/files-on-disk.md"}
    }

    @router.get("/{sim_id}/export.csv", response_class=Response, responses={**READING, **table}, dependencies=which)
    async def export(sim_id: SimId, run_id: WhichRun = None) -> Response:
        """One row per answer. A cell that a spreadsheet would run as a formula begins with an apostrophe."""
        run, path = await run_in_thread(lambda: retry_read(lambda: read_table(desk.sandbox, sim_id, run_id)))
        headers = {"X-Run-Id": run.run_id, "X-Run-Status": run.status}
        return FileResponse(path, media_type="text/csv; charset=utf-8", filename=f"{run.run_id}.csv", headers=headers)

    packed: dict[int | str, dict[str, Any]] = {
        200: {
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}} for kind in ("application/zip", WORKBOOK)
            },
            "description": "docs/files-on-disk.md",
        }
    }

    @router.get(
        "/{sim_id}/export/{format}",
        response_class=Response,
        responses={**READING, **packed},
        dependencies=[only("run_id", "layout", "bom")],
    )
    async def data(
        sim_id: SimId, format_: DataFormat, run_id: WhichRun = None, layout: DataLayout = "both", bom: Bom = False
    ) -> Response:
        """Answers, agents, items and tables with their codebook: a workbook, or a zip of csv, parquet or sav (SPSS). Made when asked
        for; a large run takes minutes."""
        return await desk.data(lambda: desk.sandbox.finished(sim_id, run_id), format_, layout, bom=bom)

    return router
