"""Operations of methodologies over HTTP: a path each."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.responses import Response

from enquete.interfaces.http.envelope import Envelope, succeeded
from enquete.interfaces.http.routes import OVER_BUDGET_OR_WRONG, failing, only
from enquete.state.operations import Operation
from enquete.study.operating import operate, operations
from enquete.study.rooted import Rooted


def operations_router(rooted: Rooted) -> APIRouter:
    """What methodologies offer beside a run (docs/discovery.md): a path each, whose body is what the operation takes."""
    router = APIRouter(prefix="/api/operations", tags=["operations"])
    for name, (_, operation) in operations().items():
        router.add_api_route(
            f"/{name}", _carried_out(rooted, operation), methods=["POST"], name=name, summary=operation.title,
            description=operation.meaning,
            response_model=Envelope[dict[str, JsonValue]], dependencies=[only()],
            responses={
                **failing(_404="no such simulation, project or interview", _413="the body is too large"), 400: OVER_BUDGET_OR_WRONG
            },
        )  # fmt: skip
    return router


def _carried_out(rooted: Rooted, operation: Operation) -> Any:
    takes = operation.takes

    async def carry_out(body: Any) -> Response:
        where = rooted.given
        return succeeded(
            await operate(operation.name, body.model_dump(exclude_unset=True), rooted.root, where["shelf"])
        )

    carry_out.__annotations__ = {"body": takes, "return": Response}
    return carry_out
