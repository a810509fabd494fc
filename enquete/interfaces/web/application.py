"""The application and its process: paths, guard, what every error becomes, a log without secrets, uvicorn; and
the watcher, which interviews as simulations go on."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
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
from enquete.interfaces.web.handlers import RequestHandlers, StatusShortcut, wanted_after
from enquete.interfaces.web.models import Problem, failed, problem_of
from enquete.interfaces.web.pages import make_pages
from enquete.interfaces.web.rendering import error_page, is_page, page_text
from enquete.interfaces.web.routes import api_routers
from enquete.interfaces.web.runner import Runner, tasks_of
from enquete.interfaces.web.security import Guard
from enquete.ledger.record import RunRecord
from enquete.nodes.run_list import survey
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER
from enquete.simulations.locate import KnownSimulation, SimulationProgress, completion
from enquete.simulations.sources import read_object
from enquete.state.errors import Busy, EnqueteError, OverBudget, SimulationError
from enquete.state.methodology import alongside
from enquete.state.regular_files import Stamp, stamp_of
from enquete.study.background import NotInTime, run_in_thread
from enquete.study.interviews import Wanted, before
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

    def _due(self, sim_id: str, path: Path, runs: Runs) -> Wanted | None:
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


def read_runs(simulation: Path) -> Runs:
    return {run.folder.name: (run.record, run.status) for run in survey(simulation / "interviews").runs}


def broken_off_token(simulation: Path, runs: Runs) -> str | None:
    """The run that the watcher of an earlier server started, and that this server's end broke off."""
    for task in reversed(tasks_of(simulation)):
        record, status = runs.get(task.task_id, (None, ""))
        if task.kind == "watch" and task.is_broken_off and record is not None and status in ("started", "paused"):
            return record.token
    return None


def is_ready(path: Path, progress: SimulationProgress) -> bool:
    """Prepared, not given up, and touched lately."""
    if not (path / CONFIG).is_file() or progress.status in GIVEN_UP:
        return False
    touched = max((changed for _, changed, _ in filter(None, status_stamp(path))), default=0)
    return state_word(path) not in UNPREPARED and time.time() - touched / 1e9 < STALE_S


def state_word(path: Path) -> str:
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


def status_stamp(path: Path) -> Stamp:
    return stamp_of(path / name for name in STATUS_FILES)


async def _watch(watcher: Watcher, every_s: float) -> None:
    while True:
        try:
            await watcher.look()
        except Exception:  # one folder that cannot be read must not end the watch over the others
            log.exception("watching: this look was given up")
        await asyncio.sleep(every_s)
