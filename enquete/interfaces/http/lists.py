"""The paths that list what there is, for front ends."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import Response

from enquete.interfaces.http.envelope import Envelope, succeeded
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.http.routes import PREFIX, READING, SimId, failing, only
from enquete.interfaces.service.listening import mark_of
from enquete.interfaces.service.overview import (
    InstrumentRow,
    RunRow,
    SimulationRow,
    instrument_rows,
    run_rows,
    simulation_rows,
)
from enquete.interfaces.service.retrying import retry_read
from enquete.study.threads import run_in_thread


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
