"""A person's seat: their own form and nothing else of the run. Whose form it is, any methodology says.

Nobody sees here what others said before it is due: a form shows what its block quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.checkpoints.forms import open_forms, persons
from enquete.interfaces.http.bodies import ResumeBody
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.retrying import retry_read
from enquete.interfaces.web.rendering import render, url
from enquete.interfaces.web.run_head import head_of
from enquete.interfaces.web.said import form_of
from enquete.reports.run_reading import open_run
from enquete.state.asking import Block, Item
from enquete.state.errors import InputError, RunNotFound
from enquete.study.operating import FacadePort
from enquete.study.threads import run_in_thread

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
