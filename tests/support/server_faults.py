"""The faults of the model server: which one a request gets, and what each does to a good answer.

Which is a hash of (seed, fault, body, how often this body was seen), so a run can be repeated exactly and a retry
is a new draw.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

REFUSED_FIELDS = ("max_tokens", "max_completion_tokens", "temperature", "seed")

BEFORE = (
    "timeout",
    "disconnect",
    "cut_body",
    "http_500",
    "http_503_retry_after",
    "http_429",
    "http_429_text",
    "http_429_too_large",
    "http_401",
    "http_404_model",
    "http_400",
    "quota",
    "content_filter_400",
    "no_json_schema",
    "json_schema_500",
    "no_json_object",
    *(f"reject_{name}" for name in REFUSED_FIELDS),
    "empty_body",
    "html_body",
    "no_choices",
    "garbled",
    "big_body",
    "redirect",
)
"""Instead of an answer; the first that is drawn happens. The json_ and reject_ ones need the field in the request."""

CONTENT = (
    "wrong_keys",
    "missing_items",
    "out_of_range",
    "wrong_types",
    "control_chars",
    "bad_json",
    "code_fence",
    "think",
    "trailing_prose",
    "refusal_prose",
    "length_stop",
)
"""Done to the text of a good answer, in this order; several may be drawn."""

AROUND = (
    "slow",
    "refusal",
    "content_filter",
    "missing_usage",
    "odd_usage",
    "ignore_max_tokens",
    "ignore_max_completion_tokens",
)
"""Beside the text: delay, message fields, usage, limits that the server does not know."""

FAULTS = (*BEFORE, *CONTENT, *AROUND)


@dataclass(frozen=True)
class Draw:
    """What befalls one request."""

    seed: int
    body_hash: str
    seen: int
    rates: Mapping[str, float]

    def number(self, name: str) -> int:
        text = f"{self.seed}|{name}|{self.body_hash}|{self.seen}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def hit(self, name: str) -> bool:
        return self.number(name) < self.rates.get(name, 0.0) * 2**64


def check(rates: Mapping[str, float]) -> None:
    """Raises ValueError for a fault that does not exist or a rate outside 0..1."""
    for name, rate in rates.items():
        if name not in FAULTS:
            raise ValueError(f"no fault {name!r}; there are {', '.join(FAULTS)}")
        if not 0 <= rate <= 1:
            raise ValueError(f"fault {name!r}: rate {rate} is not within 0..1")


def instead(draw: Draw, body: Mapping[str, Any]) -> str | None:
    """The fault that replaces the answer, if any."""
    return next((name for name in BEFORE if draw.hit(name) and _applies(name, body)), None)


def _applies(name: str, body: Mapping[str, Any]) -> bool:
    asked = (body.get("response_format") or {}).get("type")
    if name in ("no_json_schema", "json_schema_500"):
        return bool(asked == "json_schema")
    if name == "no_json_object":
        return bool(asked == "json_object")
    return not name.startswith("reject_") or name.removeprefix("reject_") in body


def spoil(text: str, draw: Draw) -> tuple[str, list[str], bool]:
    """(text with the drawn content faults, their names, whether it was cut off)."""
    hit = [name for name in CONTENT if draw.hit(name)]
    for name in hit:
        text = _SPOILERS[name](text, draw)
    return text, hit, "length_stop" in hit


def _reshape(change: Callable[[Any], Any]) -> Callable[[str, Draw], str]:
    def spoiler(text: str, draw: Draw) -> str:
        try:
            return json.dumps(change(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return text

    return spoiler


def _wrong_keys(value: Any) -> Any:
    return {f"question_{n}": part for n, part in enumerate(value.values())} if isinstance(value, dict) else value


def _missing_items(value: Any) -> Any:
    """Every second member of the object that holds the items: the only inner one, or the outer."""
    if not isinstance(value, dict):
        return value
    inner = list(value.values())
    if len(inner) == 1 and isinstance(inner[0], dict) and len(inner[0]) > 1:
        return {key: _missing_items(part) for key, part in value.items()}
    return {key: part for n, (key, part) in enumerate(value.items()) if n % 2 == 0 and len(value) > 1}


def _leaves(value: Any, change: Callable[[float], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _leaves(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_leaves(part, change) for part in value]
    return change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _control_chars(text: str, draw: Draw) -> str:
    """Raw control characters and a lone surrogate inside strings, as grammar-constrained models make them."""
    return text.replace(': "', ': "\x01\t\\ud83d', 1) if ': "' in text else text.replace('"', '"\x02', 1)


def _cut(text: str, draw: Draw) -> str:
    return text[: 1 + draw.number("cut") % max(1, len(text) - 1)]


_SPOILERS: dict[str, Callable[[str, Draw], str]] = {
    "wrong_keys": _reshape(_wrong_keys),
    "missing_items": _reshape(_missing_items),
    "out_of_range": _reshape(lambda value: _leaves(value, lambda number: number * 1000 + 999)),
    "wrong_types": _reshape(lambda value: _leaves(value, str)),
    "control_chars": _control_chars,
    "bad_json": lambda text, draw: f"@@ {draw.number('garbage'):x} ,,, :: not json",
    "code_fence": lambda text, draw: f"Here you are:\n```json\n{text}\n```",
    "think": lambda text, draw: f'<think>They want {{numbers}}. Perhaps {{"draft": 1}}?</think>\n{text}',
    "trailing_prose": lambda text, draw: f"{text}\n\nI hope this helps {{at least a little}}!",
    "refusal_prose": lambda text, draw: "I'm sorry, but I can't help with that request.",
    "length_stop": _cut,
}


def error_of(fault: str, body: Mapping[str, Any], authorization: str) -> tuple[int, dict[str, Any]]:
    """Status and error object in the words that real servers use."""
    if fault.startswith("reject_"):
        name = fault.removeprefix("reject_")
        words = f"Unsupported parameter: '{name}' is not supported with this model."
        return 400, {"message": words, "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}
    told = {
        "http_500": (500, "The server had an error while processing your request"),
        "json_schema_500": (500, "Internal server error"),
        "http_503_retry_after": (503, "Overloaded"),
        "http_429": (429, "Rate limit reached"),
        "http_429_too_large": (429, "Request too large on tokens per min: the input or output tokens must be reduced"),
        "quota": (429, "You exceeded your current quota"),
        "http_400": (400, "Bad request"),
        "http_401": (401, f"Incorrect API key provided: {authorization.removeprefix('Bearer ')}"),
        "http_404_model": (404, f"The model '{body.get('model')}' does not exist or you do not have access to it."),
        "content_filter_400": (400, "The response was filtered"),
        "no_json_schema": (400, "This response_format type is unavailable now"),
        "no_json_object": (400, "'response_format.type' must be 'text'"),
    }
    codes = {"quota": "insufficient_quota", "content_filter_400": "content_filter", "http_404_model": "model_not_found"}
    status, words = told.get(fault, (500, fault))
    return status, {"message": words, "type": "error", "param": None, "code": codes.get(fault)}


GARBLED = (
    b"SSH-2.0-OpenSSH_9\r\n\r\n",
    b"HTTP/1.1 fine OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20000\r\n\r\n" + b"[" * 20_000,
)
"""What no library writes: headers and status lines that are none, a body nested without end."""
ODD_USAGES: tuple[Any, ...] = (10**30, 10**12, "many", [1, 2], True, -5)


def garble(request: web.Request, draw: Draw) -> web.Response:
    if request.transport:
        request.transport.write(GARBLED[draw.number("garbled") % len(GARBLED)])
        request.transport.close()
    return web.Response()


async def cut_body(request: web.Request) -> web.StreamResponse:
    """Half a body: the header promises more than comes."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
    await response.prepare(request)
    await response.write(b'{"id": "x", "choices": [{"message": {"content": "{')
    if request.transport:
        request.transport.close()
    return response
