"""Operations of methodologies over HTTP: a path each."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.responses import Response

from enquete.interfaces.http.envelope import Envelope, succeeded
from enquete.interfaces.http.routes import OVER_BUDGET_OR_WRONG, failing, only
from enquete.interfaces.http.runner import Runner
from enquete.state.operations import Operation
from enquete.study.operating import operations


def operations_router(runner: Runner) -> APIRouter:
    """What methodologies offer beside a run (docs/discovery.md): a path each, whose body is what the operation takes."""
    router = APIRouter(prefix="/api/operations", tags=["operations"])
    for name, (_, operation) in operations().items():
        router.add_api_route(
            f"/{name}", _carried_out(runner, operation), methods=["POST"], name=name, summary=operation.title,
            description=operation.meaning, response_model=Envelope[dict[str, JsonValue]], dependencies=[only()],
            responses={
                **failing(
                    _404="no such simulation, project or interview", _413="the body is too large",
                    _429="as many runs go on as this server drives at once; Retry-After",
                    _503="another process holds what is needed; Retry-After",
                ),
                400: OVER_BUDGET_OR_WRONG,
            },
        )  # fmt: skip
    return router


def _carried_out(runner: Runner, operation: Operation) -> Any:
    takes = operation.takes

    async def carry_out(body: Any) -> Response:
        return succeeded(await runner.operate(operation.name, body.model_dump(exclude_unset=True)))

    carry_out.__annotations__ = {"body": takes, "return": Response}
    return carry_out
