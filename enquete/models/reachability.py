"""Is a model's server there? Asked once, before anything else is, and without a request that anybody could be billed for.

GET {base}/models. Where no list is to be had (not every server has one, and a wrong path or a web page has none either), the
endpoint itself is asked without a question: POST {base}/chat/completions with `{}`, which a model server refuses.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from enquete.models.faults import (
    GATEWAY,
    Oversized,
    Redirected,
    Said,
    blamed_setting,
    connection_fault,
    mask,
    read_error,
)

if TYPE_CHECKING:
    import httpx2

WITHIN_S = 3.5
"""For both requests together; with what a command needs to start, its user hears within five seconds."""
MISSING = frozenset({404, 405})
_LOADING = re.compile(r"\bloading\b", re.IGNORECASE)
_SCOPE = re.compile(r"scope|permission", re.IGNORECASE)
"""A key that may answer questions and not list models is refused with 401 too."""


@dataclass(frozen=True)
class Absence:
    """Why no question can be asked now. `did`: what was tried and what answered, without the key. `loading`: it will be there
    soon; `wrong_key`, `wrong_url`: no waiting helps."""

    did: str
    loading: bool = False
    wrong_key: bool = False
    wrong_url: bool = False


async def absence(base_url: str, api_key: SecretStr | None) -> Absence | None:
    """None where the server is there, as far as can be known without a paid request. Takes at most `WITHIN_S`."""
    from enquete.models import wire  # noqa: F401, PLC0415 - seconds of import, which are not the server's
    from enquete.models.clients import Clients  # noqa: PLC0415

    key = api_key.get_secret_value() if api_key else ""
    clients, tried = Clients(base_url, api_key), "GET …/models"
    try:
        async with asyncio.timeout(WITHIN_S):
            found = _of_list(await clients.ask("GET", "/models"), key)
            if found is not None and found.wrong_url:
                tried = "POST …/chat/completions"
                found = _of_endpoint(await clients.ask("POST", "/chat/completions"), key)
    except TimeoutError:
        return Absence(f"did not answer {tried} within {WITHIN_S:g} s")
    except (Oversized, Redirected):
        return None  # something is there: the first question says what
    except Exception as error:  # whatever httpx and aiohttp make of it
        return Absence(mask(connection_fault(error)[1], key))
    finally:
        await clients.aclose()
    return found


def _of_list(answer: httpx2.Response, key: str) -> Absence | None:
    said, status = _said(answer, key), answer.status_code
    if status == 503 and _LOADING.search(said.message):
        return Absence(f"is there and answers 503: {said.message}", loading=True)
    if status in GATEWAY:
        return Absence(_answered("GET …/models", status, said.message))
    if status == 401 and not _SCOPE.search(f"{said.message} {said.code}"):
        return Absence(_answered("GET …/models", status, said.message), wrong_key=True)
    if status in MISSING or (status == 200 and _is_page(answer)):
        return Absence("", wrong_url=True)  # the endpoint says whether it is
    return None


def _of_endpoint(answer: httpx2.Response, key: str) -> Absence | None:
    said, status = _said(answer, key), answer.status_code
    words = "a web page" if _is_page(answer) else said.message
    misses = status in MISSING and blamed_setting(status, said) == "LLM_BASE_URL"
    if misses or (status < 300 and _is_page(answer)):
        return Absence(_answered("GET …/models and POST …/chat/completions", status, words), wrong_url=True)
    return None


def _said(answer: httpx2.Response, key: str) -> Said:
    if answer.is_success:
        return Said("")
    try:
        return read_error(answer.json(), key)
    except (ValueError, RecursionError):
        return read_error(answer.text, key)


def _is_page(answer: httpx2.Response) -> bool:
    return answer.content.lstrip().startswith(b"<")  # whatever it calls itself: no JSON begins so


def _answered(tried: str, status: int, message: str) -> str:
    return f"answered {tried} with {status}" + (f": {message.rstrip('.')}" if message else "")
