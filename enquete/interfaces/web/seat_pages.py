"""A person's seat: what a run that waits asks of whom, and what is answered to it. Whose form it is, any methodology says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.checkpoints.forms import open_forms
from enquete.interfaces.http.bodies import ResumeBody
from enquete.interfaces.http.reception import Desk
from enquete.interfaces.service.steady import steadily
from enquete.interfaces.web.rendering import render, url
from enquete.interfaces.web.run_head import head_of
from enquete.interfaces.web.said import form_of
from enquete.reports.run_reading import open_run
from enquete.state.asking import Block, Item
from enquete.state.errors import InputError, RunNotFound
from enquete.study.apart import apart
from enquete.study.operating import FacadePort

ITEM = "item."
AS_JSON = ("ranking", "best_worst")
"""Answers of several values: a list or an object."""


@dataclass(frozen=True)
class Seat:
    """One form that waits. who: whose seat it is, by name."""

    block: Block
    who: str


def add_seats(router: APIRouter, desk: Desk) -> None:
    """Under /runs/{sim_id}/{run_id}/seat."""

    async def page(request: Request, sim_id: str, run_id: str, said: Mapping[str, str], error: str = "") -> Response:
        head = await head_of(desk, sim_id, run_id)
        seats = await apart(lambda: steadily(lambda: seats_of(desk, sim_id, run_id)))
        return render(
            request, "run_seat.html.j2", 400 if error else 200, sim_id=sim_id, run_id=run_id, head=head, seats=seats,
            said=said, error=error,
        )  # fmt: skip

    @router.get("/runs/{sim_id}/{run_id}/seat")
    async def shown(request: Request, sim_id: str, run_id: str) -> Response:
        return await page(request, sim_id, run_id, {})

    @router.post("/runs/{sim_id}/{run_id}/seat")
    async def answered(request: Request, sim_id: str, run_id: str) -> Response:
        said = await form_of(request)
        seats = await apart(lambda: seats_of(desk, sim_id, run_id))
        seat = next((one for one in seats if one.block.key.participant == said.get("participant")), None)
        if seat is None:
            raise RunNotFound("this form has been answered already, or waits for nobody any more")
        try:
            port = FacadePort(desk.rooted.root, desk.rooted.given["shelf"], seat.block.key.methodology)
            answers = {item.id: answer_of(item, said.get(ITEM + item.id, "")) for item in seat.block.items}
            await port.submit(sim_id, run_id, answers, who=seat.block.key.participant)
        except InputError as error:
            return await page(request, sim_id, run_id, said, desk.mask(error.fact))
        if len(seats) > 1:
            return RedirectResponse(url("runs", sim_id, run_id, "seat"), 303)
        await desk.resume(sim_id, ResumeBody.model_validate({"resume_token": run_id}))
        return RedirectResponse(url("runs", sim_id, run_id, ""), 303)


def seats_of(desk: Desk, sim_id: str, run_id: str) -> Sequence[Seat]:
    """Oldest first. Raises RunNotFound, LedgerError."""
    folder: Path = desk.rooted.run(sim_id, run_id).folder
    with open_run(folder) as reading:
        names = {who.id: who.name for who in reading.population}
        blocks = [form.block for form in open_forms(reading.ledger)]
    return [Seat(block, names.get(block.key.participant, block.key.participant)) for block in blocks]


def answer_of(item: Item, said: str) -> JsonValue:
    """As a respondent would give it; what cannot be read is told in the item's own words."""
    if item.kind not in AS_JSON:
        return said.strip()
    try:
        found: JsonValue = json.loads(said)
    except ValueError:
        return said.strip()
    return found
