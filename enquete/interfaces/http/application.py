"""The application and its process: paths, guard, what every error becomes, a log without secrets, uvicorn."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response

from enquete.interfaces.http.envelope import Problem, failed, problem_of
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.http.lists import lists_router
from enquete.interfaces.http.operation_paths import operations_router
from enquete.interfaces.http.page import page
from enquete.interfaces.http.routes import make_router
from enquete.interfaces.http.runner import Runner
from enquete.interfaces.http.security import Guard
from enquete.interfaces.http.snapshots import StatusShortcut
from enquete.interfaces.http.steering import steering_router
from enquete.interfaces.http.watcher import watching
from enquete.interfaces.service.listening import Server, ServerSettings
from enquete.interfaces.service.prompt_headers import PromptHeaders
from enquete.interfaces.service.replies import code_of
from enquete.interfaces.service.secrecy import Mask, MaskingFormatter, mask_of
from enquete.interfaces.web.mishaps import is_page, mishap
from enquete.interfaces.web.pages import make_pages
from enquete.state.errors import Busy, EnqueteError, OverBudget
from enquete.study.sandbox import PathSandbox
from enquete.study.tasks import TooManyRuns
from enquete.study.threads import NotInTime

BUSY_RETRY_S = 30
LOGGERS = ("enquete.http", "uvicorn")
GRACE_S = 10
KEEP_ALIVE_S = 30
DESCRIPTION = (
    "Interviews the agents of simulations. Every JSON answer is {success, data, error, details}; see docs/http.md."
)

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
