"""What every answer looks like: `{success, data, error, details}`, and what a problem looks like."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from enquete.interfaces.cli.output import finite
from enquete.interfaces.service.replies import advice
from enquete.state.errors import EnqueteError, OverBudget

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """What went wrong, before it is an answer."""

    type: str
    message: str
    remedy: str | None = None


class Details(BaseModel):
    """`type`: the name of the error in docs/errors.md. `remedy`: what a client of this API can do, where there is something."""

    type: str
    remedy: str | None


class Envelope(BaseModel, Generic[T]):
    """Every JSON answer. `error` is a sentence, null where there is none. `data` of a failure is what helps to go on: the
    estimate, the status with its resume token."""

    success: bool
    data: T | None
    error: str | None
    details: Details | None


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


def problem_of(error: EnqueteError, mask: Callable[[str], str] = str) -> Problem:
    """The error in this API's words: what is wrong, and what a client can do about it."""
    return Problem(type=type(error).__name__, message=mask(error.fact), remedy=_remedy(error))


def _remedy(error: EnqueteError) -> str | None:
    if isinstance(error, OverBudget):
        if error.remedy:
            return error.remedy
        usd, enough = error.estimate["usd"], f"budget_tokens={error.estimate['sufficient_tokens']}"
        if error.estimate["exceeds"] == "usd" and isinstance(usd, dict):
            enough = f"budget_usd={usd['high']:.2f}"
        return f"send {enough}, or confirm=true: the run then pauses at the cap and can be resumed; or fewer methods"
    return advice(error, "http") or None


def _response(
    code: int, success: bool, data: BaseModel | Mapping[str, Any] | None, problem: Problem | None
) -> Response:
    plain = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
    details = {"type": problem.type, "remedy": problem.remedy} if problem else None
    envelope = {
        "success": success,
        "data": finite(plain),
        "error": problem.message if problem else None,
        "details": details,
    }
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in what a client sent becomes its JSON escape: no answer may fail for what it quotes.
    return Response(text.encode("utf-8", "backslashreplace"), code, media_type="application/json")
