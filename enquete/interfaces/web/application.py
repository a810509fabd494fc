"""The application and its process: paths, guard, what every error becomes, a log without secrets, uvicorn; and
the watcher, which interviews as simulations go on.

The paths of the API. Each names what it calls; errors are told by the handlers here.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeAlias

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse

from enquete.interfaces.parameters import COUNTING_RUN, CURRENT_RUN
from enquete.interfaces.server_state import (
    Mask,
    MaskingFormatter,
    PromptHeaders,
    ServerSettings,
    StoppableServer,
    code_of,
    mark_of,
    mask_of,
)
from enquete.interfaces.views import GOING_ON, WORKBOOK, instrument_rows, run_rows, simulation_rows
from enquete.interfaces.web import models
from enquete.interfaces.web.handlers import (
    FRESH_S,
    RequestHandlers,
    Runner,
    StatusShortcut,
    read_memory,
    read_report,
    read_result,
    read_table,
    tasks_of,
    wanted_after,
)
from enquete.interfaces.web.models import KNOWN, Envelope, Problem, RunId, StatusData, failed, problem_of, succeeded
from enquete.interfaces.web.pages import make_pages
from enquete.interfaces.web.rendering import error_page, is_page, page_text
from enquete.interfaces.web.security import Guard
from enquete.ledger.record import RunRecord
from enquete.runs.run_list import survey
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER
from enquete.simulations.locate import KnownSimulation, SimulationProgress, completion
from enquete.simulations.sources import read_object
from enquete.state.errors import Busy, EnqueteError, OverBudget, SimulationError, machine_limit
from enquete.state.methodology import Operation, alongside
from enquete.state.request import BOM, DraftRequest, FileFormat, Layout, MemorySearch
from enquete.state.untrusted_input import Stamp, stamp_of
from enquete.study.background import NotInTime, run_in_thread
from enquete.study.drafts import DraftsData, draft_on_server
from enquete.study.interviews import Wanted, before
from enquete.study.method_operations import operations
from enquete.study.tasks import PathSandbox, TooManyRuns

# --- Paths of the API ------------------------------------------------------------------------------------------------

PREFIX = "/api/interview"

SimId: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=200, description="a simulation under the server's root")
]
RunIdInPath: TypeAlias = Annotated[str, Path(description="a run of the simulation")]
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
        rows = await run_in_thread(lambda: instrument_rows(FilePath(sandbox.given["own_folder"]), mask, language))
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
        for alias in operation.aliases:
            router.add_api_route(f"/{alias}", _endpoint(handlers, operation), methods=["POST"], include_in_schema=False)
    return router


def _endpoint(handlers: RequestHandlers, operation: Operation) -> Any:
    async def carry_out(body: Any) -> Response:
        return succeeded(await handlers.runner.operate(operation.name, body.model_dump(exclude_unset=True)))

    carry_out.__annotations__ = {"body": operation.takes, "return": Response}
    return carry_out


# --- The API's page: what its OpenAPI document says, as HTML without scripts, so that it works offline and runs nothing

KINDS = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "object",
}  # fmt: skip
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def api_page(document: Mapping[str, Any]) -> str:
    """One section a path: what it does, what it takes, what it answers."""
    sections = [
        (method.upper(), path, operation["description"], list(_rows(document, operation)))
        for path, offered in document["paths"].items()
        for method, operation in offered.items()
    ]
    return page_text("api.html.j2", info=document["info"], sections=sections)


def _rows(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for parameter in operation.get("parameters", ()):
        yield parameter["name"], f"{parameter['in']}. {parameter.get('description', '')}"
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = next((part["$ref"] for part in (content, *content.get("anyOf", ())) if "$ref" in part), None)
    schema = document["components"]["schemas"][named.rpartition("/")[2]] if named else {}
    for name, field in schema.get("properties", {}).items():
        # A default of null, which the document leaves out, means that the server decides.
        value = field.get("default")
        default = "may be left out" if value is None else f"{json.dumps(value)} unless sent"
        texts = (part.get("description", "") for part in (field, *field.get("anyOf", ())))
        needed = "needed" if name in schema.get("required", ()) else default
        yield name, f"body, {_kind(field)}, {needed}. {next(filter(None, texts), '')}"
    for code, answer in sorted(operation["responses"].items()):
        yield code, answer["description"]


def _kind(schema: Mapping[str, Any]) -> str:
    """What may be sent, in few words: "text", "whole number (≥ 1)", "list of text", one of the words there are."""
    if parts := [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]:
        return " or ".join(map(_kind, parts))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    bounds = [f"{sign} {schema[name]:,.15g}" for name, sign in BOUNDS.items() if name in schema]
    return KINDS.get(schema.get("type", ""), "any value") + (f" ({', '.join(bounds)})" if bounds else "")


BUSY_RETRY_S = 30
LOGGERS = ("enquete.http", "uvicorn")
GRACE_S = 10
KEEP_ALIVE_S = 30
DESCRIPTION = (
    "Interviews the agents of simulations. Every JSON answer is {success, data, error, details}; see "
    "docs/interfaces.md."
)


def make_app(settings: ServerSettings) -> FastAPI:
    """Raises SimulationNotFound where the root is no folder, SettingsError where the environment is wrong."""
    mask = mask_of(settings.root, settings.token)
    sandbox = PathSandbox(settings.root)
    runner = Runner(sandbox, settings.most_runs, mask)
    handlers = RequestHandlers(sandbox, runner, mask)

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(runner.close)
            if settings.watch:
                await stack.enter_async_context(alongside(_watch(Watcher(handlers), settings.watch_every_s)))
            yield

    app = FastAPI(
        title="Enquete", version=version("enquete"), description=DESCRIPTION, lifespan=living, docs_url=None,
        redoc_url=None, redirect_slashes=False,
    )  # fmt: skip
    for router in api_routers(handlers):
        app.include_router(router)
    app.include_router(make_pages(handlers, settings))
    _explain_errors(app, mask)
    app.add_middleware(StatusShortcut, ready=handlers.status_ready)  # the innermost of the three
    if settings.allow_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allow_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["Location", "Retry-After", "X-Run-Id", "X-Run-Status", "Content-Disposition"],
        )
    app.add_middleware(Guard, settings=settings, is_page=is_page)
    app.state.before_end = handlers.close

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()))

    return app


def _explain_errors(app: FastAPI, mask: Mask) -> None:
    def told(
        request: Request, code: int, problem: Problem, data: Mapping[str, Any] | None = None, retry: int | None = None
    ) -> Response:
        """To a person as a page, to a program as JSON."""
        if is_page(request.url.path):
            return error_page(request, code, problem.message)
        return failed(code, problem, data, retry)

    @app.exception_handler(EnqueteError)
    async def of_enquete(request: Request, error: EnqueteError) -> Response:
        data = {"estimate": dict(error.estimate)} if isinstance(error, OverBudget) else None
        retry = BUSY_RETRY_S if isinstance(error, TooManyRuns | NotInTime | Busy) else None
        return told(request, code_of(error), problem_of(error, mask), data, retry)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: RequestValidationError) -> Response:
        """Field and what would be right; the value of an unknown field is not shown, it may be a key."""
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return told(request, 422, Problem(type="MalformedRequest", message=mask("; ".join(problems))))

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        response = told(request, error.status_code, Problem(type="HTTPError", message=mask(str(error.detail))))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def of_anything(request: Request, error: Exception) -> Response:
        """Starlette raises it again, and uvicorn logs the traceback."""
        limit = machine_limit(error)
        if limit:
            return told(request, 503, Problem(type="MachineLimit", message=limit), None, BUSY_RETRY_S)
        message = f"internal error, {type(error).__name__}; the server's log has the rest"
        return told(request, 500, Problem(type="InternalError", message=message))


def make_server(settings: ServerSettings) -> StoppableServer:
    """Raises SimulationNotFound where the root is no folder."""
    app = make_app(settings)
    config = uvicorn.Config(
        app,
        http=PromptHeaders,
        log_config=None,
        access_log=False,  # a poll a second says nothing, and paths are clients' words
        ws="none",
        lifespan="on",
        proxy_headers=False,  # a client could name any address in them
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    return StoppableServer(config, app.state.before_end)


def log_to_stderr(settings: ServerSettings) -> None:
    """What the server does and what goes wrong, each line without secrets."""
    handler = logging.StreamHandler()
    handler.setFormatter(MaskingFormatter(mask_of(settings.root, settings.token).secrets_only))
    for name, level in zip(LOGGERS, (logging.INFO, logging.WARNING), strict=True):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


# --- Interviews as simulations go on: T0 when one is ready, the rest when it has completed; the simulator needs no
# change.
#
# Nothing is remembered between looks that a restart could lose: which runs there are says what is left to do. A
# simulation is judged once its status files have stayed the same from one look to the next, and again when they change.

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

    def _due(self, sim_id: str, path: FilePath, runs: Runs) -> Wanted | None:
        broken_off = broken_off_token(path, runs)
        if broken_off is not None:
            return Wanted({}, broken_off)
        progress = completion(path)
        if not progress.completed:
            self._seen_open.add(sim_id)
            return Wanted(before(path, {})) if not runs and is_ready(path, progress) else None
        if not is_left_to_ask(runs, seen_open=sim_id in self._seen_open):
            return None
        return wanted_after(self._handlers.sandbox, sim_id, {})


Runs = dict[str, tuple[RunRecord, str]]
"""run_id → (record, status as last filed), oldest first."""


def read_runs(simulation: FilePath) -> Runs:
    return {run.folder.name: (run.record, run.status) for run in survey(simulation / "interviews").runs}


def broken_off_token(simulation: FilePath, runs: Runs) -> str | None:
    """The run that the watcher of an earlier server started, and that this server's end broke off."""
    for task in reversed(tasks_of(simulation)):
        record, status = runs.get(task.task_id, (None, ""))
        if task.kind == "watch" and task.is_broken_off and record is not None and status in ("started", "paused"):
            return record.token
    return None


def is_ready(path: FilePath, progress: SimulationProgress) -> bool:
    """Prepared, not given up, and touched lately."""
    if not (path / CONFIG).is_file() or progress.status in GIVEN_UP:
        return False
    touched = max((changed for _, changed, _ in filter(None, status_stamp(path))), default=0)
    return state_word(path) not in UNPREPARED and time.time() - touched / 1e9 < STALE_S


def state_word(path: FilePath) -> str:
    """What state.json says, which is worth something only until the simulation has begun; "" where it says nothing."""
    file = path / "state.json"
    try:
        return str(read_object(file).get("status", "")).lower() if file.is_file() else ""
    except SimulationError:
        return ""


def is_left_to_ask(runs: Runs, *, seen_open: bool) -> bool:
    """A T0 that nothing has followed yet, or a simulation that ended before one could be taken."""
    if not runs:
        return seen_open
    record, status = list(runs.values())[-1]
    return status == "awaiting_simulation" or (status == "completed" and record.phases == ["T0"])


def status_stamp(path: FilePath) -> Stamp:
    return stamp_of(path / name for name in STATUS_FILES)


async def _watch(watcher: Watcher, every_s: float) -> None:
    while True:
        try:
            await watcher.look()
        except Exception:  # one folder that cannot be read must not end the watch over the others
            log.exception("watching: this look was given up")
        await asyncio.sleep(every_s)
