"""The application and its process: paths, guard, what every error becomes, a log without secrets, uvicorn."""

from __future__ import annotations

import html
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response

from enquete.interfaces.http.envelope import Envelope, Problem, failed, problem_of, succeeded
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.http.routes import OVER_BUDGET_OR_WRONG, PREFIX, READING, SimId, failing, make_router, only
from enquete.interfaces.http.runner import Runner
from enquete.interfaces.http.security import Guard
from enquete.interfaces.http.snapshots import StatusShortcut
from enquete.interfaces.http.steering import steering_router
from enquete.interfaces.http.watcher import watching
from enquete.interfaces.service.listening import Server, ServerSettings, mark_of
from enquete.interfaces.service.overview import (
    InstrumentRow,
    RunRow,
    SimulationRow,
    instrument_rows,
    run_rows,
    simulation_rows,
)
from enquete.interfaces.service.prompt_headers import PromptHeaders
from enquete.interfaces.service.replies import code_of
from enquete.interfaces.service.retrying import retry_read
from enquete.interfaces.service.secrecy import Mask, MaskingFormatter, mask_of
from enquete.interfaces.web.mishaps import is_page, mishap
from enquete.interfaces.web.pages import make_pages
from enquete.state.errors import Busy, EnqueteError, OverBudget
from enquete.state.operations import Operation
from enquete.state.visible_text import visible
from enquete.study.operating import operations
from enquete.study.sandbox import PathSandbox
from enquete.study.tasks import TooManyRuns
from enquete.study.threads import NotInTime, run_in_thread

# --- The API's page: what its OpenAPI document says, as HTML without scripts, so that it works offline and runs
# nothing

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}table{border-collapse:collapse;margin:.5rem 0 2rem}"
    "td{border-top:1px solid #ccc;padding:.2rem .8rem .2rem 0;vertical-align:top}h2{font-size:1.1rem;margin-bottom:.2rem}"
)
KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def page(document: Mapping[str, Any]) -> str:
    """One section a path: what it does, what it takes, what it answers."""
    info = document["info"]
    body = "".join(_sections(document))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{_text(info['title'])}</title>"
        f"<style>{STYLE}</style><h1>{_text(info['title'])} {_text(info['version'])}</h1>"
        f"<p>{_text(info['description'])}</p><p><a href='openapi.json'>OpenAPI document</a></p>{body}</html>"
    )


def _sections(document: Mapping[str, Any]) -> Iterator[str]:
    for path, offered in document["paths"].items():
        for method, operation in offered.items():
            yield f"<h2><code>{_text(method.upper())} {_text(path)}</code></h2><p>{_text(operation['description'])}</p>"
            yield f"<table>{''.join(_rows(document, operation))}</table>"


def _rows(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        yield _row(parameter["name"], f"{parameter['in']}. {parameter.get('description', '')}")
    schema = _body(document, operation)
    for name, field in schema.get("properties", {}).items():
        said = _default(field, needed=name in schema.get("required", ()))
        yield _row(name, f"body, {_kind(field)}, {said}. {_meaning(field)}")
    for code, answer in sorted(operation["responses"].items()):
        yield _row(code, answer["description"])


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the body, which is a reference, or one or null; empty where there is none."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    named = next((each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), None)
    if named is None:
        return {}
    body: Mapping[str, Any] = document["components"]["schemas"][named.rpartition("/")[2]]
    return body


def _kind(schema: Mapping[str, Any]) -> str:
    """What may be sent, in few words: "text", "whole number", "list of text", one of the words there are."""
    parts = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if parts:
        return " or ".join(map(_kind, parts))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    return KINDS.get(kind, "any value") + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    """Bounds of a number."""
    said = [f"{sign} {schema[name]:,.15g}" for name, sign in BOUNDS.items() if name in schema]
    return f" ({', '.join(said)})" if said else ""


def _default(schema: Mapping[str, Any], *, needed: bool) -> str:
    """A default of null, which the document leaves out, means that the server decides."""
    if needed:
        return "needed"
    return f"{json.dumps(schema['default'])} unless sent" if schema.get("default") is not None else "may be left out"


def _meaning(schema: Mapping[str, Any]) -> str:
    """Said of the field, or of the one type that it may have beside null."""
    found = (part.get("description", "") for part in (schema, *schema.get("anyOf", ())))
    return next(filter(None, found), "")


def _row(name: str, words: str) -> str:
    return f"<tr><td><code>{_text(name)}</code></td><td>{_text(words)}</td></tr>"


def _text(value: object) -> str:
    return html.escape(visible(str(value)))


# --- The paths that list what there is, for front ends ---------------------------------------------------------------


class SimulationsData(BaseModel):
    """By id."""

    simulations: list[SimulationRow]


class RunsData(BaseModel):
    """Newest first."""

    sim_id: str
    runs: list[RunRow]


class InstrumentsData(BaseModel):
    """Those that ship, then the server's own files."""

    instruments: list[InstrumentRow]


def lists_router(desk: RequestHandlers) -> APIRouter:
    """Simulations, runs, instruments."""
    router = APIRouter(tags=["lists"])
    sandbox, task_of, mask = desk.sandbox, desk.task_of, desk.mask

    def listing(model: Any) -> dict[str, Any]:
        return {"response_model": Envelope[model], "responses": failing(), "dependencies": [only()]}

    @router.get("/api/server", include_in_schema=False)
    async def server() -> Response:
        """By which `enquete view` knows a server of the same folder."""
        return succeeded({"serves": mark_of(sandbox.root)})

    @router.get("/api/simulations", **listing(SimulationsData))
    async def simulations() -> Response:
        """The simulations under the server's root, each with its runs."""
        return succeeded(
            SimulationsData(simulations=await run_in_thread(lambda: simulation_rows(sandbox, task_of, mask)))
        )

    @router.get("/api/instruments", **{**listing(InstrumentsData), "dependencies": [only("language")]})
    async def instruments(language: Annotated[str, Query(max_length=10, description="of topics")] = "en") -> Response:
        """What can be asked: the methodologies' instruments that ship, and files in the server's own folder."""
        shelf = Path(sandbox.given["shelf"])
        return succeeded(
            InstrumentsData(instruments=await run_in_thread(lambda: instrument_rows(shelf, mask, language)))
        )

    @router.get(PREFIX + "/{sim_id}/runs", **{**listing(RunsData), "responses": READING})
    async def runs(sim_id: SimId) -> Response:
        """The runs of a simulation."""
        found = await run_in_thread(lambda: retry_read(lambda: run_rows(sandbox, sim_id, task_of, mask)))
        return succeeded(RunsData(sim_id=sim_id, runs=found))

    return router


# --- Operations of methodologies over HTTP: a path each --------------------------------------------------------------


def operations_router(runner: Runner) -> APIRouter:
    """What methodologies offer beside a run (docs/discovery.md): a path each, whose body is what the operation takes."""
    router = APIRouter(prefix="/api/operations", tags=["operations"])
    for name, (_, operation) in operations().items():
        router.add_api_route(
            f"/{name}", _carried_out(runner, operation), methods=["POST"], name=name, summary=operation.title,
            description=operation.meaning, response_model=Envelope[dict[str, JsonValue]], dependencies=[only()],
            responses={
                **failing(
                    _404="no such simulation, project or interview", _413="the body is too large",
                    _429="as many runs go on as this server drives at once; Retry-After",
                    _503="another process holds what is needed; Retry-After",
                ),
                400: OVER_BUDGET_OR_WRONG,
            },
        )  # fmt: skip
    return router


def _carried_out(runner: Runner, operation: Operation) -> Any:
    takes = operation.takes

    async def carry_out(body: Any) -> Response:
        return succeeded(await runner.operate(operation.name, body.model_dump(exclude_unset=True)))

    carry_out.__annotations__ = {"body": takes, "return": Response}
    return carry_out


BUSY_RETRY_S = 30
LOGGERS = ("enquete.http", "uvicorn")
GRACE_S = 10
KEEP_ALIVE_S = 30
DESCRIPTION = "Interviews the agents of simulations. Every JSON answer is {success, data, error, details}; see docs/interfaces.md."

log = logging.getLogger("enquete.http")


def make_app(settings: ServerSettings) -> FastAPI:
    """Raises SimulationNotFound where the root is no folder, SettingsError where the environment is wrong."""
    mask = mask_of(settings.root, settings.token)
    sandbox = PathSandbox(settings.root)
    runner = Runner(sandbox, settings.most_runs, mask)
    desk = RequestHandlers(sandbox, runner, mask)

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(runner.close)
            if settings.watch:
                await stack.enter_async_context(watching(desk, settings.watch_every_s))
            yield

    app = FastAPI(
        title="Enquete",
        version=version("enquete"),
        description=DESCRIPTION,
        lifespan=living,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.include_router(make_router(desk))
    app.include_router(lists_router(desk))
    app.include_router(steering_router(desk))
    app.include_router(operations_router(runner))
    app.include_router(make_pages(desk, settings))
    _explain_errors(app, mask)
    app.add_middleware(StatusShortcut, ready=desk.status_ready)  # the innermost of the three
    if settings.allow_origins:
        origins = list(settings.allow_origins)
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["Location", "Retry-After", "X-Run-Id", "X-Run-Status", "Content-Disposition"],
        )
    app.add_middleware(Guard, settings=settings, is_page=is_page)
    app.state.before_end = desk.close

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()))

    return app


def _explain_errors(app: FastAPI, mask: Mask) -> None:
    def told(
        request: Request, code: int, problem: Problem, data: Mapping[str, Any] | None = None, retry: int | None = None
    ) -> Response:
        """To a person as a page, to a program as JSON."""
        if is_page(request.url.path):
            return mishap(request, code, problem.message)
        return failed(code, problem, data, retry)

    @app.exception_handler(EnqueteError)
    async def of_enquete(request: Request, error: EnqueteError) -> Response:
        data = {"estimate": dict(error.estimate)} if isinstance(error, OverBudget) else None
        retry = BUSY_RETRY_S if isinstance(error, TooManyRuns | NotInTime | Busy) else None
        return told(request, code_of(error), problem_of(error, mask), data, retry)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: RequestValidationError) -> Response:
        """Field and what would be right; the value of an unknown field is not shown, it may be a key."""
        said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return told(request, 422, Problem(type="MalformedRequest", message=mask("; ".join(said))))

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        response = told(request, error.status_code, Problem(type="HTTPError", message=mask(str(error.detail))))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def of_anything(request: Request, error: Exception) -> Response:
        """Starlette raises it again, and uvicorn logs the traceback."""
        name = type(error).__name__
        message = f"internal error, {name}; the server's log has the rest"
        return told(request, 500, Problem(type="InternalError", message=message))


def make_server(settings: ServerSettings) -> Server:
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
    return Server(config, app.state.before_end)


def log_to_stderr(settings: ServerSettings) -> None:
    """What the server does and what goes wrong, each line without secrets."""
    handler = logging.StreamHandler()
    handler.setFormatter(MaskingFormatter(mask_of(settings.root, settings.token).secrets_only))
    for name, level in zip(LOGGERS, (logging.INFO, logging.WARNING), strict=True):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
