"""The pages of the web interface: which address shows what. Reading and doing are the handlers', as over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from enquete.graphs.registry import methodologies
from enquete.interfaces.server_state import ServerSettings, code_of
from enquete.interfaces.views import GOING_ON, NothingYet, SimulationRow, Stage, simulation_row, simulation_rows
from enquete.interfaces.web import run_pages
from enquete.interfaces.web.answers import OpenRun, RunCache, Where
from enquete.interfaces.web.handlers import RequestHandlers
from enquete.interfaces.web.models import ResumeBody, StatusData
from enquete.interfaces.web.operation_pages import add_comparisons, add_interviews
from enquete.interfaces.web.rendering import STATIC, asset, language_of, render, static, url
from enquete.interfaces.web.report_tabs import named
from enquete.interfaces.web.run_pages import TYPES, NoSuchFile, as_csv, drawn_as, file_at
from enquete.interfaces.web.security import is_token, sign_in, sign_out
from enquete.interfaces.web.study_form import (
    Fields,
    choices,
    fields_for,
    fields_of,
    form_of,
    request_of,
    values_of,
    words_of,
)
from enquete.ledger.forms import open_forms, persons
from enquete.locale import tell
from enquete.nodes.fit import told
from enquete.reports.run_reading import open_run
from enquete.simulations.locate import KnownSimulation, completion
from enquete.state.asking import Block, Item
from enquete.state.data_formats import FileFormat
from enquete.state.errors import EnqueteError, InputError, RunMismatch, RunNotFound
from enquete.state.regular_files import FileCache
from enquete.state.request import DraftRequest, parsed
from enquete.study.background import run_in_thread
from enquete.study.drafts import draft_on_server, drafts_on_server
from enquete.study.interviews import Wanted
from enquete.study.method_operations import FacadePort

# --- The head of a run's pages: how far it is, what it has cost, and what can be done with it now --------------------

MOST_BEFORE_DONE = 0.97


@dataclass(frozen=True)
class Head:
    """`data`: what GET …/status answers. `titles`: of its methodologies."""

    data: StatusData
    titles: Mapping[str, str]

    @property
    def goes_on(self) -> bool:
        return self.data.run_status in GOING_ON

    @property
    def can_pause(self) -> bool:
        return self.data.run_status == "running"

    @property
    def can_resume(self) -> bool:
        return not self.goes_on and self.data.run_status != "completed"

    @property
    def likely_rest(self) -> int | None:
        """Tokens that are likely to come; None where nothing was estimated."""
        known = [stage.remaining_tokens for stage in self.data.stages]
        return sum(tokens for tokens in known if tokens is not None) if known and None not in known else None

    @property
    def share(self) -> float:
        """How much of what is likely to be spent is spent; of agents where nothing was estimated."""
        budget, stages = self.data.budget, self.data.stages
        if budget.expected_tokens:
            return min(1.0, budget.tokens / budget.expected_tokens)
        total = sum(stage.n_total for stage in stages)
        return sum(stage.n_responded for stage in stages) / total if total else 0.0

    @staticmethod
    def share_of(stage: Stage) -> float:
        """How much of a stage is done: by tokens where they were estimated, but those of requests in flight count
        before their answers are there, so never more than the agents allow."""
        if stage.outcome == "done":
            return 1.0
        rest, spent = stage.remaining_tokens, stage.tokens
        by_agents = min(1.0, (stage.n_responded + 0.5) / (stage.n_total or 1)) if stage.calls else 0.0
        by_tokens = spent / (spent + rest) if rest is not None and spent + rest else 1.0
        return min(by_agents, by_tokens, MOST_BEFORE_DONE)


async def head_of(handlers: RequestHandlers, sim_id: str, run_id: str) -> Head:
    """At most a second old. Raises RunNotFound, LedgerError."""
    titles = {name: method.title for name, method in methodologies().items()}
    return Head((await handlers.status(sim_id, run_id)).data, titles)


# --- The pages that begin, pause, resume and delete runs; what each costs is shown before ----------------------------


def add_studies(router: APIRouter, handlers: RequestHandlers) -> None:
    """A simulation's page with its form, the estimate before every start, and drafts."""
    sandbox = handlers.sandbox

    async def row_of(sim_id: str) -> SimulationRow:
        known = KnownSimulation(sim_id, await run_in_thread(lambda: sandbox.simulation(sim_id)))
        return await run_in_thread(lambda: simulation_row(sandbox, known, handlers.task_of, handlers.mask))

    async def form(request: Request, sim_id: str, fields: Fields = (), error: EnqueteError | None = None) -> Response:
        """`fields`: to fill it in again. `error`: why that cannot be asked."""
        row, language = await row_of(sim_id), language_of(request)
        offered = await run_in_thread(lambda: choices(Path(handlers.sandbox.given["shelf"]), language))
        drafts = await run_in_thread(lambda: drafts_on_server(handlers.sandbox, sim_id))
        return render(
            request, "simulation.html.j2", code_of(error) if error else 200, sim_id=sim_id, one=row, choices=offered,
            drafts=drafts, drafting=fields_for(DraftRequest, ("topic", "themes")),
            values=values_of(fields), error=handlers.mask(error.fact) if error else "", titles=titles_in(language),
            most=max(row.types.values(), default=1), conflict=isinstance(error, RunMismatch),
        )  # fmt: skip

    @router.get("/simulations/{sim_id}/")
    async def simulation(request: Request, sim_id: str) -> Response:
        return await form(request, sim_id)

    @router.post("/simulations/{sim_id}/change")
    async def change(request: Request, sim_id: str) -> Response:
        return await form(request, sim_id, await fields_of(request))

    @router.post("/simulations/{sim_id}/estimate")
    async def estimate(request: Request, sim_id: str) -> Response:
        fields, language = await fields_of(request), language_of(request)
        method = dict(fields).get("methodology")
        try:
            arguments = {"methodology": method} if method else request_of(fields)
            forecast = await handlers.foreseen(sim_id, dict(arguments))
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        unfit = " ".join(told(forecast.fit, language)) if forecast.fit else ""
        return render(
            request, "estimate.html.j2", sim_id=sim_id, found=forecast.estimate, fields=fields, unfit=unfit,
            rerun=bool(method), titles=titles_in(language),
            again=not method and bool(await run_in_thread(lambda: handlers.sandbox.runs(sim_id)))
            and not arguments.get("new"),
        )  # fmt: skip

    @router.post("/simulations/{sim_id}/begin")
    async def begin(request: Request, sim_id: str) -> Response:
        fields = await fields_of(request)
        try:
            wanted, kind = await _wanted(handlers, sim_id, fields)
            launched = await handlers.launch(sim_id, kind, wanted)
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        return to_run(sim_id, launched.run_id, shown=launched.run is not None and launched.run.shown)

    @router.post("/simulations/{sim_id}/draft")
    async def draft(request: Request, sim_id: str) -> Response:
        fields = await fields_of(request)
        texts = {name: value.strip() for name, value in fields if value.strip()}
        named = {"themes": words_of(texts["themes"])} if "themes" in texts else {}
        try:
            asked = parsed(DraftRequest, {**texts, **named})
            await run_in_thread(lambda: draft_on_server(handlers.sandbox, sim_id, asked))
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        return RedirectResponse(url("simulations", sim_id, "drafts"), 303)

    @router.get("/simulations/{sim_id}/drafts")
    async def drafts(request: Request, sim_id: str) -> Response:
        row, language = await row_of(sim_id), language_of(request)
        drafts = await run_in_thread(lambda: drafts_on_server(handlers.sandbox, sim_id, language))
        if not drafts:
            return RedirectResponse(url("simulations", sim_id, ""), 303)
        usual = [name for name, method in methodologies().items() if method.default]
        return render(
            request, "drafts.html.j2", sim_id=sim_id, one=row, drafts=drafts, usual=usual, titles=titles_in(language)
        )


async def _wanted(handlers: RequestHandlers, sim_id: str, fields: Fields) -> tuple[Wanted, Any]:
    """What a form means: a methodology anew, all that is left once the simulation has completed, else both waves."""
    arguments, method = request_of(fields), dict(fields).get("methodology")
    if method:
        return Wanted({**arguments, "methods": [method], "rerun": True}), "rerun"
    folder = await run_in_thread(lambda: handlers.sandbox.simulation(sim_id))
    if await run_in_thread(lambda: completion(folder, bool(arguments.get("assume_completed"))).completed):
        return await handlers.wanted_after(sim_id, arguments), "post"
    return Wanted(arguments), "pre"


def add_controls(router: APIRouter, handlers: RequestHandlers) -> None:
    """What can be done with a run: paused, gone on with, deleted."""

    @router.get("/runs/{sim_id}/{run_id}/progress")
    async def progress(request: Request, sim_id: str, run_id: str) -> Response:
        """The part of a run's page that changes while it goes on."""
        head = await head_of(handlers, sim_id, run_id)
        return render(request, "run_progress.html.j2", sim_id=sim_id, run_id=run_id, head=head)

    @router.post("/runs/{sim_id}/{run_id}/pause")
    async def pause(request: Request, sim_id: str, run_id: str) -> Response:
        await handlers.pause(sim_id, run_id)
        return to_run(sim_id, run_id)

    @router.post("/runs/{sim_id}/{run_id}/resume")
    async def resume(request: Request, sim_id: str, run_id: str) -> Response:
        given = {name: "".join(value.split()) for name, value in await fields_of(request) if value.strip()}
        await handlers.resume(sim_id, parsed(ResumeBody, {**given, "resume_token": run_id}))
        return to_run(sim_id, run_id)

    @router.get("/runs/{sim_id}/{run_id}/delete")
    async def ask(request: Request, sim_id: str, run_id: str) -> Response:
        planned = await run_in_thread(lambda: handlers.deletion(sim_id, run_id))
        return render(request, "delete.html.j2", sim_id=sim_id, run_id=run_id, planned=planned)

    @router.post("/runs/{sim_id}/{run_id}/delete")
    async def carry_out(request: Request, sim_id: str, run_id: str) -> Response:
        await handlers.delete(sim_id, run_id)
        return RedirectResponse(url("simulations", sim_id, ""), 303)


def to_run(sim_id: str, run_id: str, *, shown: bool = False) -> Response:
    """`shown`: it had been finished before, and nobody was asked again."""
    return RedirectResponse(url("runs", sim_id, run_id, "", shown="1" if shown else None), 303)


def titles_in(language: str) -> dict[str, str]:
    return {name: tell(method.title, language) for name, method in methodologies().items()}


# --- A run as it is read: its report in tabs, its answers down to the request behind each, agents, another run

Facts: TypeAlias = Mapping[str, Any]
Show: TypeAlias = Callable[[OpenRun, Request, str], Facts]
"""(run, request, language of the page) → what the template is filled with."""


def add_reading(router: APIRouter, handlers: RequestHandlers) -> None:
    """Everything under /runs/{sim_id}/{run_id}/."""
    cache = RunCache(handlers.sandbox)
    heads: FileCache[Head] = FileCache(32)

    def page(path: str, template: str, show: Show) -> None:
        @router.get(f"/runs/{{sim_id}}/{{run_id}}/{path}")
        async def answer(request: Request, sim_id: str, run_id: str) -> Response:
            run = await handlers.read(lambda: cache.open(sim_id, run_id, language_of(request)))
            head = await resting(run)
            return await handlers.read(lambda: written(request, run, head))

        def written(request: Request, run: OpenRun, head: Head) -> Response:
            tabs, facts = run_pages.tabs(run), show(run, request, run.reader)
            named: dict[str, Any] = {"sim_id": run.sim_id, "run_id": run.run.run_id, "run": run.run, "opened": run}
            return render(request, template, tabs=tabs, head=head, **named, **facts)

    async def resting(run: OpenRun) -> Head:
        """How far the run is; of one that rests, as when its ledger was last written: counting a large one is slow."""
        key, stamp = run.run.folder, await run_in_thread(lambda: run.written)
        held = None if handlers.drives(run.run.run_id) else heads.held(key, stamp)
        if held is not None:
            return held
        head = await head_of(handlers, run.sim_id, run.run.run_id)
        if not head.goes_on:
            heads.keep(key, stamp, head)
        return head

    page("", "run_page_one.html.j2", run_pages.page_one)
    page("m/{methodology}", "run_tab.html.j2", run_pages.methodology)
    page("synthesis", "run_tab.html.j2", run_pages.synthesis)
    page("health", "run_tab.html.j2", run_pages.health)
    page("answers", "run_answers.html.j2", run_pages.answers)
    page("answer", "run_answer.html.j2", run_pages.answer)
    page("agents", "run_agents.html.j2", run_pages.agents)
    page("agent", "run_agent.html.j2", run_pages.agent)
    page("instruments", "run_instruments.html.j2", run_pages.instruments)
    page("compare", "run_compare.html.j2", run_pages.compare)
    page("files", "run_files.html.j2", run_pages.files)
    _add_downloads(router, cache, handlers)


def _add_downloads(router: APIRouter, cache: RunCache, handlers: RequestHandlers) -> None:
    async def opened(sim_id: str, run_id: str) -> OpenRun:
        return await handlers.read(lambda: cache.open(sim_id, run_id))

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
        return await handlers.data(lambda: cache.open(sim_id, run_id).run, kind)

    @router.get("/runs/{sim_id}/{run_id}/figures/{name}")
    async def figure(sim_id: str, run_id: str, name: str) -> Response:
        run = await opened(sim_id, run_id)
        stem, _, kind = name.rpartition(".")
        figures = await run_in_thread(lambda: run.drawings.figures)
        drawn = next((picture for picture in figures if picture.stem == stem), None)
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
        target = await run_in_thread(lambda: file_at(run, path))
        kind = TYPES.get(target.suffix, "application/octet-stream")
        return FileResponse(target, media_type=kind, filename=target.name)


def _where(run: OpenRun, request: Request) -> Where:
    asked = request.query_params.multi_items()
    return Where.of(asked, run.drawings.marks if "mark" in request.query_params else {})


def _saved(name: str) -> dict[str, str]:
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


# --- A person's seat: their own form and nothing else of the run. Whose form it is, any methodology says -------------
# Nobody sees here what others said before it is due: a form shows what its block quotes.

ITEM = "item."


@dataclass(frozen=True)
class Seats:
    """Persons of a run, id to name, and the oldest form of each that waits."""

    persons: Mapping[str, str]
    waiting: Mapping[str, Block]


def add_seats(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /runs/{sim_id}/{run_id}/seat; `who`: the person's id, "" where there is one."""

    async def page(
        request: Request, sim_id: str, run_id: str, who: str, entries: Mapping[str, str], error: str = ""
    ) -> Response:
        head = await head_of(handlers, sim_id, run_id)
        seats = await handlers.read(lambda: seats_of(handlers, sim_id, run_id))
        who = who or (next(iter(seats.persons)) if len(seats.persons) == 1 else "")
        if who and who not in seats.persons:
            raise RunNotFound("nobody of this name has a seat in this run")
        return render(
            request, "run_seat.html.j2", 400 if error else 200, sim_id=sim_id, run_id=run_id, who=who,
            persons=seats.persons, seat=seats.waiting.get(who), said=entries, error=error,
            run_language=head.data.language, waits=head.data.status != "completed",
        )  # fmt: skip

    @router.get("/runs/{sim_id}/{run_id}/seat")
    async def shown(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        return await page(request, sim_id, run_id, who, {})

    @router.post("/runs/{sim_id}/{run_id}/seat")
    async def answered(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        entries = await form_of(request)
        seats = await run_in_thread(lambda: seats_of(handlers, sim_id, run_id))
        seat = seats.waiting.get(who)
        if seat is None:
            raise RunNotFound("this form has been answered already, or waits for nobody any more")
        try:
            port = FacadePort(handlers.sandbox.root, handlers.sandbox.given["shelf"], seat.key.methodology)
            answers = {item.id: answer_of(item, entries) for item in seat.items}
            await port.submit(sim_id, run_id, answers, who=who)
        except InputError as error:
            return await page(request, sim_id, run_id, who, entries, handlers.mask(error.fact))
        if seats.waiting.keys() == {who}:
            await handlers.resume(sim_id, ResumeBody.model_validate({"resume_token": run_id}))
        return RedirectResponse(url("runs", sim_id, run_id, "seat", who=who), 303)


def seats_of(handlers: RequestHandlers, sim_id: str, run_id: str) -> Seats:
    """Raises RunNotFound, LedgerError."""
    folder: Path = handlers.sandbox.run(sim_id, run_id).folder
    with open_run(folder) as reading:
        names = {who.id: who.name for who in reading.population}
        waiting = {form.block.key.participant: form.block for form in reversed(open_forms(reading.ledger))}
        return Seats({who: names.get(who, who) for who in persons(reading.ledger)}, waiting)


def answer_of(item: Item, entries: Mapping[str, str]) -> JsonValue:
    """As a respondent would give it, "" where nothing was entered. Raises InputError, in the item's own words."""
    name = ITEM + item.id
    if item.kind == "best_worst":
        ends: dict[str, JsonValue] = {end: entries.get(f"{name}.{end}", "") for end in ("best", "worst")}
        return ends if any(ends.values()) else ""
    return _ranked(item, entries) if item.kind == "ranking" else entries.get(name, "").strip()


def _ranked(item: Item, entries: Mapping[str, str]) -> JsonValue:
    places = {option.value: entries.get(f"{ITEM}{item.id}.{option.value}", "") for option in item.options}
    if not any(places.values()):
        return ""
    wanted = [str(place) for place in range(1, len(places) + 1)]
    if sorted(places.values(), key=lambda place: (len(place), place)) != wanted:
        given = ", ".join(place or "none" for place in places.values())
        raise InputError(f"{item.wording}: give each option a place of its own, 1 to {len(places)}; you gave {given}")
    return [*sorted(places, key=lambda value: int(places[value]))]


FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def make_pages(handlers: RequestHandlers, settings: ServerSettings) -> APIRouter:
    """All pages but the API's own."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home(request: Request) -> Response:
        rows = await run_in_thread(lambda: simulation_rows(handlers.sandbox, handlers.task_of, handlers.mask))
        return render(request, "home.html.j2", rows=rows, root=handlers.sandbox.root.name)

    @router.get("/static/{content}/{name}")
    async def file(content: str, name: str) -> Response:
        """One of another version is not kept: whoever asks for it shows an old page."""
        if name not in STATIC:
            raise HTTPException(404, "no such file")
        body, kind = asset(name)
        return Response(body, media_type=kind, headers=FOR_EVER if static(name).split("/")[2] == content else {})

    add_signing_in(router, settings)
    add_studies(router, handlers)
    add_controls(router, handlers)
    add_seats(router, handlers)
    add_interviews(router, handlers)
    add_comparisons(router, handlers)
    add_reading(router, handlers)
    return router


def add_signing_in(router: APIRouter, settings: ServerSettings) -> None:
    """The form that takes the token, where the server has one."""
    token = settings.token.get_secret_value().encode() if settings.token else b""

    @router.get("/sign-in")
    async def ask(request: Request, next: str = "/") -> Response:
        return render(request, "sign_in.html.j2", next=_inside(next), wrong=False) if token else _to("/")

    @router.post("/sign-in")
    async def take(request: Request) -> Response:
        form = await form_of(request)
        there = _inside(form.get("next", "/"))
        if not is_token(form.get("token", ""), token):
            return render(request, "sign_in.html.j2", 401, next=there, wrong=True)
        response = _to(there)
        sign_in(response, token, secure=request.headers.get("origin", "").startswith("https:"))
        return response

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        response = _to("/sign-in")
        sign_out(response)
        return response


def _inside(address: str) -> str:
    """An address of this server alone: nobody is sent elsewhere after he has signed in."""
    is_inside = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_inside else "/"


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)
