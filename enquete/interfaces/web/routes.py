"""The paths of the API. Each names what it calls; errors are told by the handlers in application.py."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import AsyncIterator
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue
from starlette.responses import FileResponse, Response, StreamingResponse

from enquete.interfaces.parameters import COUNTING_RUN, CURRENT_RUN
from enquete.interfaces.server_state import mark_of
from enquete.interfaces.views import GOING_ON, WORKBOOK, instrument_rows, run_rows, simulation_rows
from enquete.interfaces.web import models
from enquete.interfaces.web.handlers import FRESH_S, RequestHandlers, read_memory, read_report, read_result, read_table
from enquete.interfaces.web.models import KNOWN, Envelope, RunId, StatusData, succeeded
from enquete.state.data_formats import BOM, FileFormat, Layout
from enquete.state.errors import EnqueteError
from enquete.state.methodology import Operation
from enquete.state.request import RUN_ID, DraftRequest, MemorySearch
from enquete.study.background import run_in_thread
from enquete.study.drafts import DraftsData, draft_on_server
from enquete.study.method_operations import operations

PREFIX = "/api/interview"

SimId: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=200, description="a simulation under the server's root")
]
RunIdInPath: TypeAlias = Annotated[str, Path(pattern=RUN_ID, description="a run of the simulation")]
Method: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=100, description="a methodology of the run", json_schema_extra=KNOWN)
]
TaskId: TypeAlias = Annotated[RunId | None, Query(description=f"as a POST gave it; {CURRENT_RUN}")]
WhichRun: TypeAlias = Annotated[RunId | None, Query(description=COUNTING_RUN)]
DataFormat: TypeAlias = Annotated[FileFormat, Path(alias="format", description="of the files")]
DataLayout: TypeAlias = Annotated[
    Layout, Query(description="of answers: a row an answer (long), a row an agent and a column an item (wide), or both")
]
Bom: TypeAlias = Annotated[bool, Query(description=BOM)]
TopicLanguage: TypeAlias = Annotated[str, Query(max_length=10, description="of topics")]

Responses: TypeAlias = dict[int | str, dict[str, Any]]


def only(*known: str) -> dict[str, Any]:
    """Refuses other query parameters: a mistyped or misplaced one must not be passed over."""
    takes = f"this path takes {', '.join(known)}" if known else "arguments of a POST go into its JSON body"

    def check(request: Request) -> None:
        for name in request.query_params:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                meant = f"did you mean {near[0]}? " if near else ""
                raise RequestValidationError([{"loc": ("query", name[:60]), "msg": f"unknown; {meant}{takes}"}])

    return {"dependencies": [Depends(check)]}


def failing(**described: str) -> Responses:
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
    return {int(code[1:]): {"model": Envelope[None], "description": words} for code, words in sorted(common.items())}


OVER_BUDGET_OR_WRONG: dict[str, Any] = {
    "model": Envelope[models.Estimated],
    "description": "the estimate exceeds the budget (data.estimate), or an argument is wrong (data is null)",
}
STARTING: Responses = {
    **failing(
        _409="an unfinished run differs from what is asked, or is driven already, or the simulation is not so far",
        _413="the body is too large",
        _429="as many runs go on as this server drives at once; Retry-After",
        _502="the model's server does not answer, or refuses key or address",
        _507="the disk is full",
    ),
    200: {"model": Envelope[models.Started], "description": "the run was finished already, or ended at once"},
    400: OVER_BUDGET_OR_WRONG,
}
READING = failing(_404="no such simulation or run, or nothing of the kind yet")
SPENT: Responses = {
    **READING,
    503: {
        "model": Envelope[StatusData],
        "description": "the run paused because its budget is spent (data.resume_token, data.sufficient_tokens), or too "
        "many requests at once (data is null); Retry-After",
    },
}
TABLE: Responses = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "docs/files-on-disk.md"}
}
BINARY = {"schema": {"type": "string", "format": "binary"}}
PACKED: Responses = {
    200: {"content": {"application/zip": BINARY, WORKBOOK: BINARY}, "description": "docs/files-on-disk.md"}
}
EVENTS: Responses = {200: {"content": {"text/event-stream": {}}, "description": "until the run stops"}}


def api_routers(handlers: RequestHandlers) -> list[APIRouter]:
    return [make(handlers) for make in (interview_router, list_router, control_router, operation_router)]


def answer_of(model: Any, responses: Responses, *known: str) -> dict[str, Any]:
    """What a path answers, how it fails, and the query parameters it takes."""
    return {"response_model": Envelope[model], "responses": responses, **only(*known)}


def interview_router(handlers: RequestHandlers) -> APIRouter:
    """Runs begun, gone on with and read."""
    router = APIRouter(prefix=PREFIX, tags=["interviews"])
    sandbox = handlers.sandbox
    starting: dict[str, Any] = {"status_code": 202, **answer_of(models.Started, STARTING)}

    @router.post("/{sim_id}/pre", **starting)
    async def pre(sim_id: SimId, body: models.PreBody | None = None) -> Response:
        """T0: the longitudinal questionnaire, before the simulation."""
        return await handlers.pre(sim_id, body or models.PreBody())

    @router.post("/{sim_id}/post", **starting)
    async def post(sim_id: SimId, body: models.PostBody | None = None) -> Response:
        """Everything after the simulation. Goes on with the run that waits after T0, else uses the latest T0."""
        return await handlers.post(sim_id, body or models.PostBody())

    @router.post("/{sim_id}/rerun", **starting)
    async def rerun(sim_id: SimId, body: models.RerunBody) -> Response:
        """One methodology anew, as a run of its own; the others are taken over from the finished run."""
        return await handlers.rerun(sim_id, body)

    @router.post("/{sim_id}/resume", **starting)
    async def resume(sim_id: SimId, body: models.ResumeBody) -> Response:
        """Go on with an unfinished run, with more budget if there is a need of it."""
        return await handlers.resume(sim_id, body)

    @router.get("/{sim_id}/status", **answer_of(StatusData, SPENT, "task_id"))
    async def status(sim_id: SimId, task_id: TaskId = None) -> Response:
        """How far a run is, by methodology and phase. At most a second old."""
        return (await handlers.status(sim_id, task_id)).response()

    @router.get("/{sim_id}/results/synthesis", **answer_of(models.ReportData, READING, "run_id"))
    async def synthesis(sim_id: SimId, run_id: WhichRun = None) -> Response:
        """The report, as Markdown."""
        return succeeded(await handlers.read(lambda: read_report(sandbox, sim_id, run_id)))

    @router.get("/{sim_id}/results/{methodology}", **answer_of(models.ResultData, READING, "run_id"))
    async def results(sim_id: SimId, methodology: Method, run_id: WhichRun = None) -> Response:
        """A methodology's findings: of the run that counts for it, unless one is named; also while others are being
        asked."""
        return succeeded(await handlers.read(lambda: read_result(sandbox, sim_id, methodology, run_id)))

    @router.get("/{sim_id}/memory", **answer_of(models.MemoryData, READING, *MemorySearch.model_fields))
    async def memory(sim_id: SimId, asked: Annotated[MemorySearch, Query()]) -> Response:
        """What agents said, found by words and by agent."""
        return succeeded(await run_in_thread(lambda: read_memory(sandbox, sim_id, asked)))

    @router.get("/{sim_id}/export.csv", response_class=Response, responses={**READING, **TABLE}, **only("run_id"))
    async def export(sim_id: SimId, run_id: WhichRun = None) -> Response:
        """One row per answer. A cell that a spreadsheet would run as a formula begins with an apostrophe."""
        run, path = await handlers.read(lambda: read_table(sandbox, sim_id, run_id))
        headers = {"X-Run-Id": run.run_id, "X-Run-Status": run.status}
        return FileResponse(path, media_type="text/csv; charset=utf-8", filename=f"{run.run_id}.csv", headers=headers)

    @router.get(
        "/{sim_id}/export/{format}", response_class=Response, responses={**READING, **PACKED},
        **only("run_id", "layout", "bom"),
    )  # fmt: skip
    async def data(
        sim_id: SimId, format_: DataFormat, run_id: WhichRun = None, layout: DataLayout = "both", bom: Bom = False
    ) -> Response:
        """Answers, agents, items and tables with their codebook: a workbook, or a zip of csv, parquet or sav (SPSS).
        Made when asked for; a large run takes minutes."""
        return await handlers.data(lambda: sandbox.finished(sim_id, run_id), format_, layout, bom=bom)

    return router


def list_router(handlers: RequestHandlers) -> APIRouter:
    """What there is: simulations, runs, instruments."""
    router = APIRouter(tags=["lists"])
    sandbox, task_of, mask = handlers.sandbox, handlers.task_of, handlers.mask

    @router.get("/api/server", include_in_schema=False)
    async def server() -> Response:
        """By which `enquete view` knows a server of the same folder."""
        return succeeded({"serves": mark_of(sandbox.root)})

    @router.get("/api/simulations", **answer_of(models.SimulationsData, failing()))
    async def simulations() -> Response:
        """The simulations under the server's root, each with its runs."""
        rows = await run_in_thread(lambda: simulation_rows(sandbox, task_of, mask))
        return succeeded(models.SimulationsData(simulations=rows))

    @router.get("/api/instruments", **answer_of(models.InstrumentsData, failing(), "language"))
    async def instruments(language: TopicLanguage = "en") -> Response:
        """What can be asked: the methodologies' instruments that ship, and files in the server's own folder."""
        rows = await run_in_thread(lambda: instrument_rows(FilePath(sandbox.given["shelf"]), mask, language))
        return succeeded(models.InstrumentsData(instruments=rows))

    @router.get(PREFIX + "/{sim_id}/runs", **answer_of(models.RunsData, READING))
    async def runs(sim_id: SimId) -> Response:
        """The runs of a simulation."""
        rows = await handlers.read(lambda: run_rows(sandbox, sim_id, task_of, mask))
        return succeeded(models.RunsData(sim_id=sim_id, runs=rows))

    return router


HEARTBEAT_S = 15.0
"""A proxy that hears nothing for longer closes the connection."""
RECONNECT_MS = 3000


async def status_events(handlers: RequestHandlers, sim_id: str, run_id: str) -> AsyncIterator[bytes]:
    """A run followed by server-sent events, read once a second for all who follow it. Ends with the run, and with the
    server. The data of `status` is the body of GET …/status, in one line."""
    yield f"retry: {RECONNECT_MS}\n\n".encode()
    told, spoken = b"", time.monotonic()
    while not handlers.is_closing:
        try:
            status = await handlers.status(sim_id, run_id)
        except EnqueteError:  # deleted meanwhile, or damaged: the next request says so
            break
        if status.body != told:
            told, spoken = status.body, time.monotonic()
            yield b"event: status\ndata: %s\n\n" % told
            if status.data.run_status not in GOING_ON:
                break
        elif time.monotonic() - spoken > HEARTBEAT_S:
            spoken = time.monotonic()
            yield b": still here\n\n"
        await asyncio.sleep(FRESH_S)
    yield b"event: end\ndata: {}\n\n"


def control_router(handlers: RequestHandlers) -> APIRouter:
    """What a front end weighs, drafts, stops, deletes and follows runs by."""
    router = APIRouter(prefix=PREFIX, tags=["front ends"])

    @router.post(
        "/{sim_id}/estimate",
        **answer_of(
            models.ForeseenData,
            failing(_400="an argument is wrong", _409="no finished run to ask a methodology of anew",
                    _413="the body is too large"),
        ),
    )  # fmt: skip
    async def estimate(sim_id: SimId, body: models.EstimateBody | None = None) -> Response:
        """What a POST with this body would cost: of everything that is left to ask, or of one methodology anew."""
        forecast = await handlers.foreseen(sim_id, (body or models.EstimateBody()).request())
        fit = models.FitData(methods=forecast.fit.methods, language=forecast.fit.language) if forecast.fit else None
        return succeeded(models.ForeseenData(estimate=forecast.estimate.as_object(), fit=fit))

    @router.post(
        "/{sim_id}/draft",
        **answer_of(
            DraftsData,
            failing(_400="too little was said for a draft, or the folder holds drafts already",
                    _413="the body is too large"),
        ),
    )  # fmt: skip
    async def draft(sim_id: SimId, body: DraftRequest | None = None) -> Response:
        """Instruments drafted by rule from what the agents wrote or how they are described, in the server's own folder.
        A study asks them by their names."""
        asked = body or DraftRequest()
        return succeeded(await run_in_thread(lambda: draft_on_server(handlers.sandbox, sim_id, asked)))

    @router.post(
        "/{sim_id}/runs/{run_id}/pause",
        **answer_of(StatusData, READING | failing(_409="another process drives it", _413="the body is too large")),
    )
    async def pause(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Launch no further request, finish those in flight, stop with a token. The status says pausing until then."""
        return (await handlers.pause(sim_id, run_id)).response()

    @router.delete(
        "/{sim_id}/runs/{run_id}",
        **answer_of(
            models.DeletedData,
            READING | failing(_409="it is being driven, or another run rests on it", _413="the body is too large"),
        ),
    )
    async def delete(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Delete a run: its answers, its results, and what the memory holds of them. What Enquete did not write
        stays."""
        gone = await handlers.delete(sim_id, run_id)
        counts = {"files": len(gone.files), "bytes": gone.bytes, "kept": len(gone.kept)}
        return succeeded(models.DeletedData(run_ids=list(gone.runs), **counts))

    @router.get("/{sim_id}/runs/{run_id}/events", response_class=Response, responses=READING | EVENTS, **only())
    async def events(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Server-sent events: `status` with what /status answers, whenever it has changed; `end` when the run goes on
        no more."""
        await handlers.status(sim_id, run_id)  # one that is not there is told as everywhere
        return StreamingResponse(
            status_events(handlers, sim_id, run_id), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )

    return router


def operation_router(handlers: RequestHandlers) -> APIRouter:
    """What methodologies offer beside a run (docs/discovery.md): a path each, its body what the operation takes."""
    router = APIRouter(prefix="/api/operations", tags=["operations"])
    failures = failing(
        _404="no such simulation, project or interview", _413="the body is too large",
        _429="as many runs go on as this server drives at once; Retry-After",
        _503="another process holds what is needed; Retry-After",
    )  # fmt: skip
    for name, (_, operation) in operations().items():
        router.add_api_route(
            f"/{name}", _endpoint(handlers, operation), methods=["POST"], name=name, summary=operation.title,
            description=operation.meaning, **answer_of(dict[str, JsonValue], {**failures, 400: OVER_BUDGET_OR_WRONG}),
        )  # fmt: skip
    return router


def _endpoint(handlers: RequestHandlers, operation: Operation) -> Any:
    async def carry_out(body: Any) -> Response:
        return succeeded(await handlers.runner.operate(operation.name, body.model_dump(exclude_unset=True)))

    carry_out.__annotations__ = {"body": operation.takes, "return": Response}
    return carry_out
