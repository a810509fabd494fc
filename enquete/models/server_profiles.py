"""What a model server's reply means, by the declared table in server_profiles.yaml.

Whoever sends a request reads an error with `read_error` and asks `understand` what it means. Nothing here sends,
waits or decides what is done about it (faults.py, transport.py).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from enquete.instruments.pack import read_yaml
from enquete.models.parsing import clean_text

TABLE = "server_profiles.yaml"
LONGEST_MESSAGE = 300
LONGEST_RETRY_AFTER_S = 60.0
"""A longer wait is cut: asking once a minute costs nothing, and a limit may be lifted."""


class Meaning(StrEnum):
    """What a reply comes to; server_profiles.yaml says what each is."""

    PROMPT_REFUSED = "prompt_refused"
    NO_CREDIT = "no_credit"
    KEY_WRONG = "key_wrong"
    MODEL_MISSING = "model_missing"
    WRONG_URL = "wrong_url"
    CONTEXT_TOO_LONG = "context_too_long"
    PARAMETER = "parameter"
    NO_SYSTEM_ROLE = "no_system_role"
    TOO_MANY = "too_many"
    OVERLOADED = "overloaded"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class ServerError:
    """What a server said instead of an answer, whichever of the usual shapes it has.

    `status`: of HTTP, or the one that an error inside a 200 names. `code`: its code, type and status fields.
    `context`: tokens of the model's context, where a field of its own says so. `retry_after`: seconds.
    """

    message: str
    param: str = ""
    code: str = ""
    status: int = 0
    metadata: frozenset[str] = frozenset()
    is_page: bool = False
    context: int | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply means, with what it tells about the parameter or the context that is meant."""

    means: Meaning
    parameter: str = ""
    limit: float | None = None
    context: int | None = None
    send: Mapping[str, JsonValue] = field(default_factory=dict)


def read_error(body: JsonValue, key: str, status: int = 0, headers: Mapping[str, str] | None = None) -> ServerError:
    """Reduce an error body to what the table asks about; the message is masked and cut to a readable length.

    Args:
        body: Parsed JSON, a text, or None where there was no body.
        key: The API key, which servers like to repeat.
        status: The HTTP status of the reply.
        headers: Of the reply, for Retry-After.
    """
    if isinstance(body, list) and body:  # Gemini sends a list with one error in it
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]

    wait = read_retry_after(headers or {})
    if not isinstance(body, dict):
        message = _readable(body)
        wait = wait if wait is not None else _wait_in_words(message)
        return ServerError(mask(message, key), status=status, is_page=_is_page(body), retry_after=wait)

    message = _readable(body.get("message") or body.get("detail") or body.get("error") or body)
    inner_status = body.get("code") if status < 400 and isinstance(body.get("code"), int) else None
    codes = [str(body[name]) for name in ("code", "type", "status") if body.get(name)]
    metadata = body.get("metadata")
    context = body.get("n_ctx")
    if wait is None:
        wait = _wait_in_details(body.get("details"))
    if wait is None:
        wait = _wait_in_words(message)
    return ServerError(
        mask(message, key),
        param=str(body.get("param") or ""),
        code=mask(" ".join(codes), key),
        status=int(str(inner_status)) if inner_status is not None else status,
        metadata=frozenset(metadata) if isinstance(metadata, dict) else frozenset(),
        context=context if isinstance(context, int) and not isinstance(context, bool) and context > 0 else None,
        retry_after=wait,
    )


def mask(text: str, key: str) -> str:
    """`text` without the key. Very short keys are placeholders of local servers, such as "x"."""
    return text.replace(key, "***") if len(key) >= 4 else text


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by `retry-after-ms` or `Retry-After` (seconds or an HTTP date), within 0 and a minute.

    None where neither can be read.
    """
    with suppress(ValueError):
        return _bounded(float(headers.get("retry-after-ms", "")) / 1000)
    header = headers.get("retry-after", "")
    with suppress(ValueError):
        return _bounded(float(header))
    with suppress(ValueError, OverflowError):
        return _bounded(parsedate_to_datetime(header).timestamp() - time.time())
    return None


_IN_WORDS = re.compile(
    r"(?:try again|retry|wait)\b[^.\d]{0,30}?(?P<number>[\d.]*\d) ?(?P<unit>milliseconds?|ms|min|m|sec|s)",
    re.IGNORECASE,
)
_SECONDS = {"ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001, "min": 60.0, "m": 60.0}


def _wait_in_words(message: str) -> float | None:
    """ "Please try again in 1.2s" and the like."""
    found = _IN_WORDS.search(message)
    if found is None:
        return None
    with suppress(ValueError):
        return _bounded(float(found["number"]) * _SECONDS.get(found["unit"].lower(), 1.0))
    return None


def _wait_in_details(details: JsonValue) -> float | None:
    """Gemini: `{"@type": "…RetryInfo", "retryDelay": "34s"}` among the details."""
    for detail in details if isinstance(details, list) else []:
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (found := re.fullmatch(r"([\d.]*\d)s", delay)):
            return _bounded(float(found[1]))
    return None


def _bounded(seconds: float) -> float | None:
    if seconds != seconds:  # nan
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)


def _readable(message: JsonValue) -> str:
    if isinstance(message, list):  # FastAPI: where and what, without the input that it echoes
        message = "; ".join(_field_and_fault(part) for part in message[:5])
    text = " ".join(clean_text(str(message or "")).split())
    return "an HTML page" if _is_page(text) else text[:LONGEST_MESSAGE]


def _field_and_fault(part: JsonValue) -> str:
    if not isinstance(part, dict):
        return str(part)
    location = part.get("loc")
    places = location if isinstance(location, list) else []
    return f"{'.'.join(map(str, places))}: {part.get('msg', '')}"


def _is_page(body: JsonValue) -> bool:
    return isinstance(body, str) and re.match(r"\s*<(?:!doctype|html|\?xml)", body, re.IGNORECASE) is not None


class ReplyRow(BaseModel):
    """One row of `replies`: what has to fit, and what it means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    means: Meaning
    server: str
    status: tuple[int | Literal["3xx", "4xx", "5xx"], ...] = ()
    code: re.Pattern[str] | None = None
    words: tuple[re.Pattern[str], ...] = ()
    param: re.Pattern[str] | None = None
    has: str = ""
    shape: Literal["", "html"] = ""
    send: dict[str, JsonValue] = {}

    @field_validator("words", mode="before")
    @classmethod
    def _listed(cls, given: object) -> object:
        return [given] if isinstance(given, str) else given

    @field_validator("code", "param", mode="after")
    @classmethod
    def _any_case(cls, pattern: re.Pattern[str] | None) -> re.Pattern[str] | None:
        return None if pattern is None else re.compile(pattern.pattern, re.IGNORECASE)

    @field_validator("words", mode="after")
    @classmethod
    def _all_any_case(cls, patterns: tuple[re.Pattern[str], ...]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern.pattern, re.IGNORECASE) for pattern in patterns)

    def match(self, said: ServerError) -> Verdict | None:
        """Return the verdict where all that the row names fits, else None."""
        if self.status and said.status not in self.status and f"{said.status // 100}xx" not in self.status:
            return None
        if self.has and self.has not in said.metadata:
            return None
        if self.shape == "html" and not said.is_page:
            return None
        if self.code is not None and not self.code.search(said.code):
            return None

        groups: dict[str, str | None] = {}
        if self.param is not None:
            found = self.param.search(said.param)
            if found is None:
                return None
            groups |= found.groupdict()
        if self.words:
            found = _first_match(self.words, said.message)
            if found is None:
                return None
            groups |= found.groupdict()
        return self._verdict(groups, said)

    def _verdict(self, groups: Mapping[str, str | None], said: ServerError) -> Verdict:
        limit, context = groups.get("limit"), groups.get("context")
        is_format = groups.get("response_format") is not None
        parameter = "response_format" if is_format else groups.get("parameter") or ""
        return Verdict(
            self.means,
            parameter=parameter.lower(),
            limit=float(limit) if limit else None,
            context=int(context.replace(",", "")) if context else said.context,
            send=self.send,
        )


def _first_match(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    """A message may name the alternative, too ("use max_completion_tokens instead"): what it names first is meant."""
    found = [match for pattern in patterns if (match := pattern.search(text)) is not None]
    return min(found, key=lambda match: match.start(), default=None)


class ThinkingRow(BaseModel):
    """How a server is told to leave thinking out: by its host, or by the kind of server that it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = ""
    kind: Literal["", "llama.cpp", "vllm", "ollama"] = ""
    send: dict[str, JsonValue]


class PrefixCache(BaseModel):
    """What a server caches of a prompt's beginning: see server_profiles.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = ""
    schema_first: bool = False
    key: bool = False


class ServerProfiles(BaseModel):
    """The whole table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    replies: tuple[ReplyRow, ...]
    thinking_off: tuple[ThinkingRow, ...]
    prefix_cache: tuple[PrefixCache, ...]


@cache
def server_profiles() -> ServerProfiles:
    """Return the shipped table, read once."""
    return ServerProfiles.model_validate(read_yaml(files("enquete.models") / TABLE))


def understand(said: ServerError) -> Verdict:
    """Return what an error means: by the first row that fits, else unclear."""
    verdicts: Iterator[Verdict | None] = (row.match(said) for row in server_profiles().replies)
    return next((verdict for verdict in verdicts if verdict is not None), Verdict(Meaning.UNCLEAR))


def thinking_off(base_url: str, kind: str) -> Mapping[str, JsonValue] | None:
    """Return the fields by which this server leaves thinking out; None where the table knows none."""
    host = urlsplit(base_url).hostname or ""
    for row in server_profiles().thinking_off:
        if (row.host and fnmatchcase(host, row.host)) or (row.kind and row.kind == kind):
            return row.send
    return None


def prefix_cache_of(base_url: str) -> PrefixCache:
    """Return what the server at this address caches of a prompt's beginning; of an unknown one, nothing to act on."""
    host = urlsplit(base_url).hostname or ""
    for row in server_profiles().prefix_cache:
        if fnmatchcase(host, row.host):
            return row
    return PrefixCache()
