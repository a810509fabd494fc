"""The application and its process: paths, guard, what every error becomes, a log without secrets, uvicorn."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response

from enquete.interfaces.server_state import (
    Mask,
    MaskingFormatter,
    PromptHeaders,
    ServerSettings,
    StoppableServer,
    code_of,
    mask_of,
)
from enquete.interfaces.web.handlers import RequestHandlers, StatusShortcut
from enquete.interfaces.web.models import Problem, failed, problem_of
from enquete.interfaces.web.pages import make_pages
from enquete.interfaces.web.rendering import error_page, is_page, page_text
from enquete.interfaces.web.routes import api_routers
from enquete.interfaces.web.runner import Runner
from enquete.interfaces.web.security import Guard
from enquete.interfaces.web.watcher import watching
from enquete.state.errors import Busy, EnqueteError, OverBudget
from enquete.study.background import NotInTime
from enquete.study.tasks import PathSandbox, TooManyRuns

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
    named = next((one["$ref"] for one in (content, *content.get("anyOf", ())) if "$ref" in one), None)
    schema = document["components"]["schemas"][named.rpartition("/")[2]] if named else {}
    for name, field in schema.get("properties", {}).items():
        # A default of null, which the document leaves out, means that the server decides.
        default = (
            f"{json.dumps(field['default'])} unless sent" if field.get("default") is not None else "may be left out"
        )
        said = (part.get("description", "") for part in (field, *field.get("anyOf", ())))
        needed = "needed" if name in schema.get("required", ()) else default
        yield name, f"body, {_kind(field)}, {needed}. {next(filter(None, said), '')}"
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
                await stack.enter_async_context(watching(handlers, settings.watch_every_s))
            yield

    app = FastAPI(
        title="Enquete", version=version("enquete"), description=DESCRIPTION, lifespan=living, docs_url=None,
        redoc_url=None, redirect_slashes=False,
    )  # fmt: skip
    for router in api_routers(handlers, runner):
        app.include_router(router)
    app.include_router(make_pages(handlers, settings))
    _explain_errors(app, mask)
    app.add_middleware(StatusShortcut, ready=handlers.status_ready)  # the innermost of the three
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
