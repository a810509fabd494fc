"""What a form says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from enquete.state.errors import SettingsError

Fields: TypeAlias = Sequence[tuple[str, str]]
"""(name, value), in order; a name as often as it has values."""
M = TypeVar("M", bound=BaseModel)


async def fields_of(request: Request) -> list[tuple[str, str]]:
    """Every field of a form, in order; what is no UTF-8 is seen as such."""
    body = await request.body()
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=10_000)


async def form_of(request: Request) -> dict[str, str]:
    """Of a name that is said several times, the last."""
    return dict(await fields_of(request))


def checked(body: type[M], said: dict[str, Any]) -> M:
    """Raises SettingsError naming each field that is wrong."""
    try:
        return body.model_validate(said)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise SettingsError("; ".join(wrong)) from None
