"""The pages that begin, pause, resume and delete runs; what each costs is shown before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.graphs.registry import methodologies
from enquete.interfaces.http.bodies import ResumeBody
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.clearing import clear_away, would_go
from enquete.interfaces.service.drafting import drafted, drafts_there
from enquete.interfaces.service.overview import simulation_row
from enquete.interfaces.service.replies import code_of
from enquete.interfaces.web.rendering import language_of, render, url
from enquete.interfaces.web.run_head import head_of
from enquete.interfaces.web.said import Fields, checked, fields_of
from enquete.interfaces.web.study_form import choices, request_of, values_of
from enquete.locale import tell
from enquete.nodes.fitting import told
from enquete.simulations.completion import completion
from enquete.simulations.locate import Known
from enquete.state.errors import EnqueteError, RunMismatch
from enquete.study.lifecycle import Wanted
from enquete.study.threads import run_in_thread


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
