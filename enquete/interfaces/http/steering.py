"""The paths by which a front end weighs, stops, clears away and follows runs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from enquete.interfaces.http.bodies import RUN_ID, DraftBody, EstimateBody, StatusData
from enquete.interfaces.http.envelope import Envelope, Estimated, succeeded
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.http.routes import PREFIX, READING, SimId, failing, only
from enquete.interfaces.http.snapshots import FRESH_S
from enquete.interfaces.service.clearing import clear_away
from enquete.interfaces.service.drafting import DraftsData, drafted
from enquete.interfaces.service.status import GOING_ON
from enquete.state.errors import EnqueteError
from enquete.study.threads import run_in_thread

# --- A run followed by server-sent events: its status whenever it has changed, read once a second for all who follow
# it

HEARTBEAT_S = 15.0
"""A proxy that hears nothing for longer closes the connection."""
RECONNECT_MS = 3000
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "until the run stops"}
}


async def following(desk: RequestHandlers, sim_id: str, run_id: str) -> AsyncIterator[bytes]:
    """Ends with the run, and with the server. The data of `status` is the body of GET …/status, in one line."""
    yield f"retry: {RECONNECT_MS}\n\n".encode()
    told, spoken = b"", time.monotonic()
    while not desk.is_closing:
        try:
            body = bytes((await desk.status(sim_id, run_id)).body)
        except EnqueteError:  # deleted meanwhile, or damaged: the next request says so
            break
        if body != told:
            told, spoken = body, time.monotonic()
            yield event("status", body)
            if json.loads(body)["data"]["run_status"] not in GOING_ON:
                break
        elif time.monotonic() - spoken > HEARTBEAT_S:
            spoken = time.monotonic()
            yield b": still here\n\n"
        await asyncio.sleep(FRESH_S)
    yield event("end", b"{}")


def event(kind: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), data)


RunIdInPath: TypeAlias = Annotated[str, Path(pattern=RUN_ID, description="a run of the simulation")]


class FitData(BaseModel):
    """Whether the questions are about what the simulation is about; a run that says `fit: any` is begun all the same."""

    methods: Annotated[list[str], Field(description="methodologies whose questions are about something else")]
    language: Annotated[str, Field(description="of the simulation's texts, where it is not that of the interviews")]


class ForeseenData(Estimated):
    """What a run with this body would cost. Nobody is asked."""

    fit: FitData | None


class DeletedData(BaseModel):
    """What went. `kept`: how many files in its folders Enquete did not write; they stay."""

    run_ids: list[str]
    files: int
    bytes: int
    kept: int


def steering_router(desk: RequestHandlers) -> APIRouter:
    """Estimate, pause, delete, events."""
    router = APIRouter(prefix=PREFIX, tags=["front ends"])
    of_run: dict[str, Any] = {"dependencies": [only()]}

    @router.post(
        "/{sim_id}/estimate",
        response_model=Envelope[ForeseenData],
        responses=failing(_400="an argument is wrong", _409="no finished run to ask a methodology of anew",
                          _413="the body is too large"),
        **of_run,
    )  # fmt: skip
    async def estimate(sim_id: SimId, body: EstimateBody | None = None) -> Response:
        """What a POST with this body would cost: of everything that is left to ask, or of one methodology anew."""
        found = await desk.foreseen(sim_id, (body or EstimateBody()).request())
        fit = FitData(methods=found.fit.methods, language=found.fit.language) if found.fit else None
        return succeeded(ForeseenData(estimate=found.estimate.as_object(), fit=fit))

    @router.post(
        "/{sim_id}/draft",
        response_model=Envelope[DraftsData],
        responses=failing(
            _400="too little was said for a draft, or the folder holds drafts already", _413="the body is too large"
        ),
        **of_run,
    )
    async def draft(sim_id: SimId, body: DraftBody | None = None) -> Response:
        """Instruments drafted by rule from what the agents wrote, in the server's own folder. A study asks them by their names."""
        into = (body or DraftBody()).into or ""
        return succeeded(await run_in_thread(lambda: drafted(desk.sandbox, sim_id, into)))

    @router.post(
        "/{sim_id}/runs/{run_id}/pause",
        response_model=Envelope[StatusData],
        responses={**READING, **failing(_409="another process drives it", _413="the body is too large")},
        **of_run,
    )
    async def pause(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Launch no further request, finish those in flight, stop with a token. The status says pausing until then."""
        return await desk.pause(sim_id, run_id)

    @router.delete(
        "/{sim_id}/runs/{run_id}",
        response_model=Envelope[DeletedData],
        responses={
            **READING,
            **failing(_409="it is being driven, or another run rests on it", _413="the body is too large"),
        },
        **of_run,
    )
    async def delete(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Delete a run: its answers, its results, and what the memory holds of them. What Enquete did not write stays."""
        gone = await run_in_thread(lambda: clear_away(desk.sandbox, sim_id, run_id))
        desk.forget()
        told = DeletedData(run_ids=list(gone.runs), files=len(gone.files), bytes=gone.bytes, kept=len(gone.kept))
        return succeeded(told)

    @router.get("/{sim_id}/runs/{run_id}/events", response_class=Response, responses={**READING, **EVENTS}, **of_run)
    async def events(sim_id: SimId, run_id: RunIdInPath) -> Response:
        """Server-sent events: `status` with what /status answers, whenever it has changed; `end` when the run goes on no more."""
        await desk.status(sim_id, run_id)  # one that is not there is told as everywhere
        return StreamingResponse(
            following(desk, sim_id, run_id), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )

    return router
