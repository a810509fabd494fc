"""What every answer looks like: `{success, data, error}`, with the status code that its error has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from enquete.checkpoints.ballast import DiskFull
from enquete.interfaces.cli.output import finite
from enquete.state.errors import (
    EnqueteError,
    InputError,
    OverBudget,
    PopulationMismatch,
    RunLocked,
    RunMismatch,
    RunNotFound,
    SimulationError,
    SimulationNotFound,
)
from enquete.study.lifecycle import AlreadyCompleted, NotCompleted
from enquete.study.rooted import NobodyInterviewed, OutsideRoot
from enquete.study.tasks import TooManyRuns

T = TypeVar("T")


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
    RunMismatch: "POST …/resume goes on with an unfinished run; new=true starts another one beside it",
    NotCompleted: "ask again when the simulation has completed, or send assume_completed=true",
    AlreadyCompleted: "POST …/post",
    RunLocked: "follow it by GET …/status",
    TooManyRuns: "ask again when one of them is over",
    RunNotFound: "GET …/status without task_id names the latest run",
    NobodyInterviewed: "POST …/pre begins a run before the simulation, POST …/post after it",
    OutsideRoot: "remove the link on the server",
    SimulationError: "put the simulation's files right on the server",
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


def problem_of(error: EnqueteError, mask: Callable[[str], str] = str) -> Problem:
    """The error in this API's words: what is wrong, and what a client can do about it."""
    return Problem(type=type(error).__name__, message=mask(error.fact), remedy=_remedy(error))


def _remedy(error: EnqueteError) -> str | None:
    if isinstance(error, OverBudget):
        usd, enough = error.estimate["usd"], f"budget_tokens={error.estimate['sufficient_tokens']}"
        if error.estimate["exceeds"] == "usd" and isinstance(usd, dict):
            enough = f"budget_usd={usd['high']:.2f}"
        return f"send {enough}, or confirm=true: the run then pauses at the cap and can be resumed; or fewer methods"
    return next((REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES), None)


def _response(
    code: int, success: bool, data: BaseModel | Mapping[str, Any] | None, problem: Problem | None
) -> Response:
    plain = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
    envelope = {"success": success, "data": finite(plain), "error": problem.model_dump() if problem else None}
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in what a client sent becomes its JSON escape: no answer may fail for what it quotes.
    return Response(text.encode("utf-8", "backslashreplace"), code, media_type="application/json")
