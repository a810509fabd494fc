"""Is a model's server there? Asked once, before anything else is, and without a request that anybody is billed for.

GET {base}/models. Where no list is to be had (not every server has one, and a wrong path or a web page has none
either), the endpoint itself is asked without a question: POST {base}/chat/completions with `{}`, which a model server
refuses.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

import httpx2
from pydantic import SecretStr

from enquete.models.faults import GATEWAY, NotRead, connection_fault, mask
from enquete.models.openai_chat import body_of, find_cause, make_client
from enquete.models.server_profiles import Meaning, ServerError, read_error, understand

WITHIN_S = 3.5
"""For both requests together; with what a command needs to start, its user hears within five seconds."""


@dataclass(frozen=True)
class Absence:
    """Why no question can be asked now. `did`: what was tried and what answered, without the key. `loading`: it will be
    there soon; `wrong_key`, `wrong_url`: no waiting helps."""

    did: str
    loading: bool = False
    wrong_key: bool = False
    wrong_url: bool = False


async def absence(base_url: str, api_key: SecretStr | None) -> Absence | None:
    """None where the server is there, as far as can be known without a paid request. Takes at most `WITHIN_S`."""
    key = api_key.get_secret_value() if api_key else ""
    headers = {"Authorization": f"Bearer {key or 'none'}", "Accept": "application/json"}
    client, tried = make_client(base_url), "GET …/models"
    try:
        async with asyncio.timeout(WITHIN_S):
            answer = await client.get(f"{base_url}/models", headers=headers)
            status, told = answer.status_code, _told(answer, key)
            if status == 503 and "loading" in told.message.lower():
                return Absence(f"is there and answers 503: {told.message}", loading=True)
            # A key that may answer questions and not list models is refused with 401 too.
            scoped = re.search("scope|permission", f"{told.message} {told.code}", re.IGNORECASE)
            wrong_key = status == 401 and not scoped
            if status in GATEWAY or wrong_key:
                return Absence(f"answered {tried} with {status}{_because(told.message)}", wrong_key=wrong_key)
            if status not in (404, 405) and not (status == 200 and _is_page(answer)):
                return None
            tried = "POST …/chat/completions"
            answer = await client.post(f"{base_url}/chat/completions", headers=headers, json={})
    except TimeoutError:
        return Absence(f"did not answer {tried} within {WITHIN_S:g} s")
    except Exception as error:  # whatever httpx and aiohttp make of it
        if find_cause(error, NotRead) is not None:
            return None  # something is there: the first question says what
        return Absence(mask(connection_fault(error)[1], key))
    finally:
        await client.aclose()
    status, told, is_page = answer.status_code, _told(answer, key), _is_page(answer)
    misses = status in (404, 405) and understand(told).means is Meaning.WRONG_URL
    if misses or (status < 300 and is_page):
        words = _because("a web page" if is_page else told.message)
        return Absence(f"answered GET …/models and POST …/chat/completions with {status}{words}", wrong_url=True)
    return None


def _told(answer: httpx2.Response, key: str) -> ServerError:
    return read_error(body_of(answer), key, answer.status_code)


def _is_page(answer: httpx2.Response) -> bool:
    return answer.content.lstrip().startswith(b"<")  # whatever it calls itself: no JSON begins so


def _because(message: str) -> str:
    return f": {message.rstrip('.')}" if message else ""
