"""The pages of the web interface: which address shows what. Reading and doing are the desk's, as over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from enquete.checkpoints.forms import open_forms, persons
from enquete.graphs.registry import methodologies
from enquete.interfaces.http.bodies import ResumeBody
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.clearing import clear_away, would_go
from enquete.interfaces.service.drafting import drafted, drafts_there
from enquete.interfaces.service.listening import ServerSettings
from enquete.interfaces.service.overview import simulation_row, simulation_rows
from enquete.interfaces.service.replies import NothingYet, code_of
from enquete.interfaces.service.retrying import retry_read
from enquete.interfaces.service.status import GOING_ON
from enquete.interfaces.web.rendering import STATIC, asset, language_of, render, static, url
from enquete.interfaces.web.run import one_run
from enquete.interfaces.web.run.chapters import named
from enquete.interfaces.web.run.downloads import TYPES, NoSuchFile, as_csv, drawn_as, file_at
from enquete.interfaces.web.run.run_cache import OpenRun, RunCache
from enquete.interfaces.web.run.table import Where
from enquete.interfaces.web.said import Fields, checked, fields_of, form_of
from enquete.interfaces.web.signing_in import is_token, sign_in, sign_out
from enquete.interfaces.web.study_form import choices, request_of, values_of
from enquete.locale import tell
from enquete.nodes.fit import told
from enquete.reports.run_reading import open_run
from enquete.simulations.locate import Known, completion
from enquete.state.asking import Block, Item
from enquete.state.data_formats import FileFormat
from enquete.state.errors import EnqueteError, InputError, RunMismatch, RunNotFound
from enquete.state.regular_files import FileCache, stamp_of
from enquete.study.lifecycle import Wanted
from enquete.study.operating import FacadePort
from enquete.study.threads import run_in_thread

# --- The head of a run's pages: how far it is, what it has cost, and what can be done with it now --------------------

MOST_BEFORE_DONE = 0.97


@dataclass(frozen=True)
class Head:
    """`data`: what GET …/status answers. titles: of its methodologies."""

    data: Mapping[str, Any]
    titles: Mapping[str, str]

    @property
    def status(self) -> str:
        return str(self.data["run_status"])

    @property
    def goes_on(self) -> bool:
        return self.status in GOING_ON

    @property
    def can_pause(self) -> bool:
        return self.status == "running"

    @property
    def can_resume(self) -> bool:
        return not self.goes_on and self.status != "completed"

    @property
    def likely_rest(self) -> int | None:
        """Tokens that are likely to come; None where nothing was estimated."""
        known = [stage["remaining_tokens"] for stage in self.data["stages"]]
        return None if not known or None in known else sum(known)

    @property
    def share(self) -> float:
        """How much of what is likely to be spent is spent; of agents where nothing was estimated."""
        budget, stages = self.data["budget"], self.data["stages"]
        if budget["expected_tokens"]:
            return min(1.0, float(budget["tokens"]) / float(budget["expected_tokens"]))
        total = sum(stage["n_total"] for stage in stages)
        return sum(stage["n_responded"] for stage in stages) / total if total else 0.0

    @staticmethod
    def share_of(stage: Mapping[str, Any]) -> float:
        """How much of a stage is done: by tokens where they were estimated, but those of requests in flight count before their
        answers are there, so never more than the agents allow."""
        if stage["outcome"] == "done":
            return 1.0
        rest, spent, total = stage["remaining_tokens"], stage["tokens"], stage["n_total"] or 1
        by_agents = min(1.0, (stage["n_responded"] + 0.5) / total) if stage["calls"] else 0.0
        by_tokens = spent / (spent + rest) if rest is not None and spent + rest else 1.0
        return float(min(by_agents, by_tokens, MOST_BEFORE_DONE))

    @property
    def enough_tokens(self) -> int | None:
        found: int | None = self.data["sufficient_tokens"]
        return found


async def head_of(desk: RequestHandlers, sim_id: str, run_id: str) -> Head:
    """At most a second old. Raises RunNotFound, LedgerError."""
    body = bytes((await desk.status(sim_id, run_id)).body)
    titles = {name: one.title for name, one in methodologies().items()}
    return Head(json.loads(body)["data"], titles)


# --- The pages that begin, pause, resume and delete runs; what each costs is shown before ----------------------------


def add_steering(router: APIRouter, desk: RequestHandlers) -> None:
    """A simulation's page with its form, the estimate before every start, and what can be done with a run."""
    _add_beginning(router, desk)
    _add_drafting(router, desk)
    _add_controls(router, desk)
    _add_deleting(router, desk)


def _add_beginning(router: APIRouter, desk: RequestHandlers) -> None:
    async def form(request: Request, sim_id: str, said: Fields = (), error: EnqueteError | None = None) -> Response:
        """`said`: to fill it in again. `error`: why that cannot be asked."""
        folder, language = await run_in_thread(lambda: desk.sandbox.simulation(sim_id)), language_of(request)
        known = Known(sim_id, folder)
        one = await run_in_thread(lambda: simulation_row(desk.sandbox, known, desk.task_of, desk.mask))
        offered = await run_in_thread(lambda: choices(Path(desk.sandbox.given["shelf"]), language))
        drafts = await run_in_thread(lambda: drafts_there(desk.sandbox, sim_id))
        return render(
            request, "simulation.html.j2", code_of(error) if error else 200, sim_id=sim_id, one=one, choices=offered,
            drafts=drafts, values=values_of(said), error=desk.mask(error.fact) if error else "", titles=titles_in(language),
            most=max(one.types.values(), default=1), conflict=isinstance(error, RunMismatch),
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
            said = {"methodology": method} if method else request_of(fields)
            found = await desk.foreseen(sim_id, dict(said))
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        unfit = " ".join(told(found.fit, language)) if found.fit else ""
        return render(
            request, "estimate.html.j2", sim_id=sim_id, found=found.estimate, fields=fields, unfit=unfit,
            rerun=bool(method), titles=titles_in(language),
            again=not method and bool(await run_in_thread(lambda: desk.sandbox.runs(sim_id))) and not said.get("new"),
        )  # fmt: skip

    @router.post("/simulations/{sim_id}/begin")
    async def begin(request: Request, sim_id: str) -> Response:
        fields = await fields_of(request)
        try:
            wanted, kind = await _wanted(desk, sim_id, fields)
            launched = await desk.launch(sim_id, kind, wanted)
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        return to_run(sim_id, launched.run_id, shown=launched.run is not None and launched.run.shown)


async def _wanted(desk: RequestHandlers, sim_id: str, fields: Fields) -> tuple[Wanted, Any]:
    """What a filled-in form means: a methodology anew, all that is left once the simulation has completed, else both waves."""
    said, method = request_of(fields), dict(fields).get("methodology")
    if method:
        return Wanted({**said, "methods": [method], "rerun": True}), "rerun"
    folder = await run_in_thread(lambda: desk.sandbox.simulation(sim_id))
    if await run_in_thread(lambda: completion(folder, bool(said.get("assume_completed"))).completed):
        return await desk.wanted_after(sim_id, said), "post"
    return Wanted(said), "pre"


def _add_drafting(router: APIRouter, desk: RequestHandlers) -> None:
    @router.post("/simulations/{sim_id}/draft")
    async def draft(sim_id: str) -> Response:
        await run_in_thread(lambda: drafted(desk.sandbox, sim_id))
        return RedirectResponse(url("simulations", sim_id, "drafts"), 303)

    @router.get("/simulations/{sim_id}/drafts")
    async def drafts(request: Request, sim_id: str) -> Response:
        language = language_of(request)
        folder = await run_in_thread(lambda: desk.sandbox.simulation(sim_id))
        one = await run_in_thread(lambda: simulation_row(desk.sandbox, Known(sim_id, folder), desk.task_of, desk.mask))
        found = await run_in_thread(lambda: drafts_there(desk.sandbox, sim_id, language))
        if not found:
            return RedirectResponse(url("simulations", sim_id, ""), 303)
        usual = [name for name, method in methodologies().items() if method.default]
        return render(
            request, "drafts.html.j2", sim_id=sim_id, one=one, drafts=found, usual=usual, titles=titles_in(language)
        )


def _add_controls(router: APIRouter, desk: RequestHandlers) -> None:
    @router.get("/runs/{sim_id}/{run_id}/progress")
    async def progress(request: Request, sim_id: str, run_id: str) -> Response:
        """The part of a run's page that changes while it goes on."""
        head = await head_of(desk, sim_id, run_id)
        return render(request, "run_progress.html.j2", sim_id=sim_id, run_id=run_id, head=head)

    @router.post("/runs/{sim_id}/{run_id}/pause")
    async def pause(request: Request, sim_id: str, run_id: str) -> Response:
        await desk.pause(sim_id, run_id)
        return to_run(sim_id, run_id)

    @router.post("/runs/{sim_id}/{run_id}/resume")
    async def resume(request: Request, sim_id: str, run_id: str) -> Response:
        given = {name: "".join(value.split()) for name, value in await fields_of(request) if value.strip()}
        await desk.resume(sim_id, checked(ResumeBody, {**given, "resume_token": run_id}))
        return to_run(sim_id, run_id)


def _add_deleting(router: APIRouter, desk: RequestHandlers) -> None:
    @router.get("/runs/{sim_id}/{run_id}/delete")
    async def ask(request: Request, sim_id: str, run_id: str) -> Response:
        planned = await run_in_thread(lambda: would_go(desk.sandbox, sim_id, run_id))
        return render(request, "delete.html.j2", sim_id=sim_id, run_id=run_id, planned=planned)

    @router.post("/runs/{sim_id}/{run_id}/delete")
    async def carry_out(request: Request, sim_id: str, run_id: str) -> Response:
        await run_in_thread(lambda: clear_away(desk.sandbox, sim_id, run_id))
        desk.forget()
        return RedirectResponse(url("simulations", sim_id, ""), 303)


def to_run(sim_id: str, run_id: str, *, shown: bool = False) -> Response:
    """`shown`: it had been finished before, and nobody was asked again."""
    return RedirectResponse(url("runs", sim_id, run_id, "", shown="1" if shown else None), 303)


def titles_in(language: str) -> dict[str, str]:
    return {name: tell(one.title, language) for name, one in methodologies().items()}


# --- A run as it is read: its report in tabs, its answers down to the request behind each, agents, instruments,
# another run beside it

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


# --- A person's seat: their own form and nothing else of the run. Whose form it is, any methodology says -------------
# Nobody sees here what others said before it is due: a form shows what its block quotes.

ITEM = "item."


@dataclass(frozen=True)
class Seats:
    """Persons of a run, id to name, and the oldest form of each that waits."""

    persons: Mapping[str, str]
    waiting: Mapping[str, Block]


def add_seats(router: APIRouter, desk: RequestHandlers) -> None:
    """Under /runs/{sim_id}/{run_id}/seat; `who`: the person's id, "" where there is one."""

    async def page(
        request: Request, sim_id: str, run_id: str, who: str, said: Mapping[str, str], error: str = ""
    ) -> Response:
        head = await head_of(desk, sim_id, run_id)
        seats = await run_in_thread(lambda: retry_read(lambda: seats_of(desk, sim_id, run_id)))
        who = who or (next(iter(seats.persons)) if len(seats.persons) == 1 else "")
        if who and who not in seats.persons:
            raise RunNotFound("nobody of this name has a seat in this run")
        return render(
            request, "run_seat.html.j2", 400 if error else 200, sim_id=sim_id, run_id=run_id, who=who,
            persons=seats.persons, seat=seats.waiting.get(who), said=said, error=error,
            run_language=head.data["language"], waits=head.data["status"] != "completed",
        )  # fmt: skip

    @router.get("/runs/{sim_id}/{run_id}/seat")
    async def shown(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        return await page(request, sim_id, run_id, who, {})

    @router.post("/runs/{sim_id}/{run_id}/seat")
    async def answered(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        said = await form_of(request)
        seats = await run_in_thread(lambda: seats_of(desk, sim_id, run_id))
        seat = seats.waiting.get(who)
        if seat is None:
            raise RunNotFound("this form has been answered already, or waits for nobody any more")
        try:
            port = FacadePort(desk.sandbox.root, desk.sandbox.given["shelf"], seat.key.methodology)
            answers = {item.id: answer_of(item, said) for item in seat.items}
            await port.submit(sim_id, run_id, answers, who=who)
        except InputError as error:
            return await page(request, sim_id, run_id, who, said, desk.mask(error.fact))
        if seats.waiting.keys() == {who}:
            await desk.resume(sim_id, ResumeBody.model_validate({"resume_token": run_id}))
        return RedirectResponse(url("runs", sim_id, run_id, "seat", who=who), 303)


def seats_of(desk: RequestHandlers, sim_id: str, run_id: str) -> Seats:
    """Raises RunNotFound, LedgerError."""
    folder: Path = desk.sandbox.run(sim_id, run_id).folder
    with open_run(folder) as reading:
        names = {who.id: who.name for who in reading.population}
        waiting = {form.block.key.participant: form.block for form in reversed(open_forms(reading.ledger))}
        return Seats({who: names.get(who, who) for who in persons(reading.ledger)}, waiting)


def answer_of(item: Item, said: Mapping[str, str]) -> JsonValue:
    """As a respondent would give it, "" where nothing was entered. Raises InputError, in the item's own words."""
    name = ITEM + item.id
    if item.kind == "best_worst":
        ends: dict[str, JsonValue] = {end: said.get(f"{name}.{end}", "") for end in ("best", "worst")}
        return ends if any(ends.values()) else ""
    return _ranked(item, said) if item.kind == "ranking" else said.get(name, "").strip()


def _ranked(item: Item, said: Mapping[str, str]) -> JsonValue:
    places = {option.value: said.get(f"{ITEM}{item.id}.{option.value}", "") for option in item.options}
    if not any(places.values()):
        return ""
    wanted = [str(place) for place in range(1, len(places) + 1)]
    if sorted(places.values(), key=lambda place: (len(place), place)) != wanted:
        given = ", ".join(place or "none" for place in places.values())
        raise InputError(f"{item.wording}: give each option a place of its own, 1 to {len(places)}; you gave {given}")
    return [*sorted(places, key=lambda value: int(places[value]))]


FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def make_pages(desk: RequestHandlers, settings: ServerSettings) -> APIRouter:
    """All pages but the API's own."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home(request: Request) -> Response:
        rows = await run_in_thread(lambda: simulation_rows(desk.sandbox, desk.task_of, desk.mask))
        return render(request, "home.html.j2", rows=rows, root=desk.sandbox.root.name)

    @router.get("/static/{content}/{name}")
    async def file(content: str, name: str) -> Response:
        """One of another version is not kept: whoever asks for it shows an old page."""
        if name not in STATIC:
            raise HTTPException(404, "no such file")
        body, kind = asset(name)
        return Response(body, media_type=kind, headers=FOR_EVER if static(name).split("/")[2] == content else {})

    add_signing_in(router, settings)
    add_steering(router, desk)
    add_seats(router, desk)
    add_reading(router, desk)
    return router


def add_signing_in(router: APIRouter, settings: ServerSettings) -> None:
    """The form that takes the token, where the server has one."""
    token = settings.token.get_secret_value().encode() if settings.token else b""

    @router.get("/sign-in")
    async def ask(request: Request, next: str = "/") -> Response:
        return render(request, "sign_in.html.j2", next=_inside(next), wrong=False) if token else _to("/")

    @router.post("/sign-in")
    async def take(request: Request) -> Response:
        said = await form_of(request)
        there = _inside(said.get("next", "/"))
        if not is_token(said.get("token", ""), token):
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
    return (
        address if address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable() else "/"
    )


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)
