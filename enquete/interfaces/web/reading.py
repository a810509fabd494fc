"""A run as it is read: its tabs, answers and transcripts."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from enquete.interfaces.http.reception import Desk
from enquete.interfaces.service.steady import steadily
from enquete.interfaces.web.rendering import render
from enquete.study.apart import apart


def add_reading(router: APIRouter, desk: Desk) -> None:
    """Everything under /runs/{sim_id}/{run_id}/."""

    @router.get("/runs/{sim_id}/{run_id}/")
    async def overview(request: Request, sim_id: str, run_id: str) -> Response:
        run = await apart(lambda: steadily(lambda: desk.rooted.run(sim_id, run_id)))
        return render(request, "run.html.j2", sim_id=sim_id, run_id=run.run_id, run=run)
