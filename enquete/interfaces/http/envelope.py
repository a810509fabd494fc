"""What every answer looks like: `{success, data, error}`, with the status code that its error has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from enquete.checkpoints.ballast import DiskFull
from enquete.interfaces.output import finite
from enquete.state.errors import (
    EnqueteError,
    InputError,
    OverBudget,
    PopulationMismatch,
    RunLocked,
    RunMismatch,
    RunNotFound,
    SimulationNotFound,
)
from enquete.study.lifecycle import AlreadyCompleted, NotCompleted
from enquete.study.tasks import TooManyRuns

T = TypeVar("T")


class OutsideRoot(InputError):
    """A symbolic link of the simulation leads out of the server's root."""


class Unauthorised(InputError):
    """No token, or not this server's."""


class NothingYet(InputError):
    """The run has not come to what is asked for."""


STATUS_CODES: Mapping[type[EnqueteError], int] = {
    EnqueteError: 500,
    InputError: 400,
    Unauthorised: 401,
    OutsideRoot: 403,
    SimulationNotFound: 404,
    RunNotFound: 404,
    NothingYet: 404,
    RunMismatch: 409,
    PopulationMismatch: 409,
    NotCompleted: 409,
    AlreadyCompleted: 409,
    RunLocked: 409,
    TooManyRuns: 429,
    DiskFull: 507,
}
REMEDIES: Mapping[type[EnqueteError], str] = {
    OverBudget: "send confirm=true (the run pauses at the cap and can be resumed), or a larger budget_tokens",
    RunMismatch: "go on with the unfinished run by POST …/resume, or send new=true to start another beside it",
    NotCompleted: "ask again when the simulation has completed, or send assume_completed=true",
    AlreadyCompleted: "POST …/post",
    RunLocked: "follow it by GET …/status",
    TooManyRuns: "ask again when one of them is over",
    RunNotFound: "GET …/status without task_id names the latest run",
    Unauthorised: "send the header Authorization: Bearer TOKEN",
}


class Problem(BaseModel):
    """`type`: the name of the error in docs/errors.md. `remedy`: what a client of this API can do, where there is something."""

    type: str
    message: str
    remedy: str | None = None


class Envelope(BaseModel, Generic[T]):
    """Every JSON answer. `data` of a failure is what helps to go on: the estimate, the status with its resume token."""

    success: bool
    data: T | None
    error: Problem | None


class Estimated(BaseModel):
    """What the run would cost: calls, tokens, money and time, each as a range (docs/budget.md)."""

    estimate: dict[str, JsonValue]


def succeeded(data: BaseModel | Mapping[str, Any], code: int = 200) -> Response:
    return _response(code, True, data, None)


def failed(
    code: int, problem: Problem, data: BaseModel | Mapping[str, Any] | None = None, retry_after_s: int | None = None
) -> Response:
    response = _response(code, False, data, problem)
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(retry_after_s)
    return response


def code_of(error: EnqueteError) -> int:
    return next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)


def problem_of(error: EnqueteError, message: str) -> Problem:
    remedy = next((REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES), None)
    return Problem(type=type(error).__name__, message=message, remedy=remedy)


def _response(
    code: int, success: bool, data: BaseModel | Mapping[str, Any] | None, problem: Problem | None
) -> Response:
    plain = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
    envelope = {"success": success, "data": finite(plain), "error": problem.model_dump() if problem else None}
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in what a client sent becomes its JSON escape: no answer may fail for what it quotes.
    return Response(text.encode("utf-8", "backslashreplace"), code, media_type="application/json")
