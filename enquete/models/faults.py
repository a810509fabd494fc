"""What can go wrong with a request: worth another attempt (`Trouble`), refused (`Refused`), and what callers see of
either (`Unavailable`, `Rejected`). No message holds a key: whatever a server says is masked before it gets into one.
"""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from typing import Literal
from urllib.parse import urlsplit

from enquete.models.parsing import clean_text
from enquete.state.errors import ModelRejected, ModelUnavailable, SettingsError, advice_for

GATEWAY = frozenset({502, 503, 504, 529})
"""Statuses that say the server is missing or overloaded, not that it stumbled over this request."""
PASSING = frozenset({408, 409, 425, 429})

_NEXT_URL = re.compile(r",\s*(?=[a-z]+://)", re.IGNORECASE)
"""A password may hold a comma."""

Setting = Literal["LLM_API_KEY", "LLM_MODEL_NAME", "LLM_BASE_URL", ""]


@dataclass(slots=True)
class SendCounts:
    """What sending one prompt took. `timeouts` are charged at their reservation: the server may have billed them.

    `broken`: answered with a connection cut after sending or an unreadable body; may have been billed too.
    """

    sends: int = 0
    timeouts: int = 0
    broken: int = 0
    probes: int = 0  # health probes sent for its sake that may have been billed
    covered: int = 0  # sends without an answer for which another reservation was made

    @property
    def unanswered(self) -> int:
        return self.timeouts + self.broken + self.probes


class AwaitsBatch(Exception):
    """The request is in a batch, or may be, and the run pauses: whoever goes on with it fetches its reply. `why`: ""
    where the run was told to pause."""

    def __init__(self, why: str = ""):
        super().__init__(why)
        self.why = why


class Unavailable(ModelUnavailable):
    """Time-out, connection fault, 429 or 5xx that outlived the retries."""

    def __init__(
        self, message: str, counts: SendCounts, status: int | None = None, *, short: bool = False, outage: bool = False
    ):
        super().__init__(message, sends=counts.sends, timeouts=counts.timeouts)
        self.broken, self.status = counts.broken + counts.probes, status
        self.short, self.outage = short, outage


class Rejected(ModelRejected):
    """The server refuses the request for good; with a `setting` to blame it would refuse every other one too."""

    def __init__(self, message: str, counts: SendCounts, setting: Setting = ""):
        super().__init__(message, fatal=bool(setting), sends=counts.sends, timeouts=counts.timeouts)
        self.broken, self.setting = counts.broken + counts.probes, setting


@dataclass(eq=False)
class Trouble(Exception):
    """Worth another attempt. `unreachable`: there was no connection to send it over; `retry_after`: seconds."""

    message: str
    _: KW_ONLY
    status: int | None = None
    retry_after: float | None = None
    unreachable: bool = False

    @property
    def busy(self) -> bool:
        """The server is there and wants the same request later: nobody's fault."""
        return self.status in (429, 529) or (self.status == 503 and self.retry_after is not None)


@dataclass(frozen=True, slots=True)
class ServerError:
    """What a server said in an error body, whichever of the usual shapes it has."""

    message: str
    param: str = ""
    code: str = ""


class Refused(Exception):
    """A 4xx or 501."""

    def __init__(self, status: int, told: ServerError):
        super().__init__(told.message)
        self.status = status
        self.told = told

    @property
    def by_filter(self) -> bool:
        """The server's content filter: an answer about one agent, not a fault."""
        return "content_filter" in f"{self.told.code} {self.told.param}"


class NotRead(Exception):
    """A response that is not taken: a body beyond the limit, or a redirect (`status`) that is not followed."""

    def __init__(self, words: str, status: int | None = None):
        super().__init__(words)
        self.status = status


# --- what a server says ----------------------------------------------------------------------------------------------


def read_error(body: object, key: str) -> ServerError:
    """`body` is parsed JSON, a string or None. The message is masked and cut to a readable length."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return ServerError(mask(_short(body), key))
    message = body.get("message") or body.get("detail") or body.get("error") or body
    code = " ".join(str(body[name]) for name in ("code", "type") if body.get(name))
    return ServerError(mask(_short(message), key), str(body.get("param") or ""), mask(code, key))


def _short(message: object) -> str:
    if isinstance(message, list):  # FastAPI: where and what, without the input that it echoes
        message = "; ".join(
            f"{'.'.join(map(str, part.get('loc', ())))}: {part.get('msg', '')}" if isinstance(part, dict) else str(part)
            for part in message[:5]
        )
    text = " ".join(clean_text(str(message or "")).split())
    if re.match(r"<(?:!doctype|html)", text, re.IGNORECASE):
        return "an HTML page"
    return text[:300]


def mask(text: str, key: str) -> str:
    """`text` without the key. Very short keys are placeholders of local servers, such as "x"."""
    return text.replace(key, "***") if len(key) >= 4 else text


def checked_url(base_url: str) -> str:
    """The base URL without a slash at its end. Raises SettingsError, without repeating a password."""
    try:
        parts = urlsplit(base_url.strip())
        known = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and not parts.query
    except ValueError:  # an IPv6 address that is none
        known = False
    if not known or "," in base_url:
        raise SettingsError(
            f"LLM_BASE_URL {shown_url(base_url)!r} is no base URL: it must look like https://host/v1, "
            "without user, password or query (a key goes into LLM_API_KEY); several as https://a/v1=2,https://b/v1."
        )
    return base_url.strip().rstrip("/")


def shown_url(base_url: str) -> str:
    """The base URL, or each of several, as it may be shown: without user, password and query."""
    return ",".join(_shown(url) for url in _NEXT_URL.split(base_url))


def _shown(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2].partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    path = "/…" if "," in parts.path and "@" in parts.path else parts.path  # another URL, without its scheme
    return f"{parts.scheme}://{host}{path}" if host else url.rpartition("@")[2]


def split_urls(base_url: str) -> list[tuple[str, str]]:
    """Each server of `URL=WEIGHT,URL`, unchecked: its URL, and its weight as it was written ("": none)."""
    servers = []
    for part in _NEXT_URL.split(base_url):
        url, sign, weight = part.strip().rpartition("=")
        named = bool(sign) and "/" not in weight and "?" not in url
        servers.append(((url if named else part).strip().rstrip("/"), weight.strip() if named else ""))
    return servers


def servers_in(base_url: str) -> dict[str, float]:
    """Weight by base URL, of one server or several: `https://a/v1=2,https://b/v1`. Raises SettingsError naming the part
    that is wrong, without repeating a password."""
    weights: dict[str, float] = {}
    for written, weight in split_urls(base_url):
        url = checked_url(written)
        if url in weights:
            raise SettingsError(
                f"LLM_BASE_URL names {url!r} twice: name each server once, and its share by a weight: {url}=2"
            )
        try:
            weights[url] = float(weight or 1)
        except ValueError:
            weights[url] = math.nan
        if not 0 < weights[url] < math.inf:
            raise SettingsError(
                f"LLM_BASE_URL: {weight!r} is no weight of {url!r}: write a number above 0, such as {url}=2, or leave "
                f"it out"
            )
    return weights


def connection_fault(error: BaseException) -> tuple[bool, str]:
    """(whether the request may have been received, words for it).

    By aiohttp's own error at the end of the chain: its transport reports most of them as a connect time-out.
    """
    import aiohttp  # noqa: PLC0415 - it has been imported where a connection failed, and is slow where none was made

    cause = error
    while True:
        if isinstance(cause, aiohttp.ClientConnectorError):
            return False, f"could not be reached ({advice_for(cause) if cause.strerror else type(cause).__name__})"
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return False, "could not be connected to in time"
        if cause.__cause__ is None:
            return True, f"broke the connection ({type(cause).__name__})"
        cause = cause.__cause__


_FIELD = re.compile(
    r"(?P<response_format>response_format|json_schema|json_object|structured.?output|requested parameters|grammar)"
    r"|(?P<max_completion_tokens>max_completion_tokens)|(?P<max_tokens>max_tokens)"
    r"|(?P<temperature>temperature)|(?P<seed>\bseed\b)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"context.{0,3}length|context.{0,3}window|prompt is too long|too many tokens", re.IGNORECASE)
_MODEL = re.compile(r"model\b.{0,80}(?:not found|not exist|unknown|invalid|no access)|model_not_found", re.IGNORECASE)
_KEY = re.compile(r"api.?key|unauthori[sz]ed|authentication", re.IGNORECASE)
_TOO_LARGE = re.compile(r"request too large|tokens must be reduced", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"not support|unsupported|not implemented|not available", re.IGNORECASE)


def status_fault(status: int, told: ServerError, wait: float | None = None) -> Trouble | Refused:
    """What an error status comes to. `wait`: seconds, by the server's Retry-After.

    A "later" that will never come is none: no credit left, or a prompt larger than what a whole minute allows. A status
    below 400 is no answer to a question, nor an error.
    """
    hopeless = "insufficient_quota" in told.code or (status == 429 and _TOO_LARGE.search(told.message))
    passing = status in PASSING or status >= 500 or status < 400
    if passing and status != 501 and not hopeless:
        words = f"answered {status}" + (f": {told.message}" if told.message else "")
        return Trouble(words, status=status, retry_after=wait)
    return Refused(status, told)


def complaint(status: int, told: ServerError) -> str:
    """What a refusal is about: a droppable field, "response_format", "unknown" (worth a looser format) or ""."""
    text = f"{told.message} {told.code}"
    if status not in (400, 404, 415, 422, 501) or _TOO_LONG.search(text):
        return ""
    # A message may name the alternative too ("'max_tokens' is not supported, use 'max_completion_tokens'"):
    # the first name is the one complained about.
    field = _FIELD.match(told.param) or _FIELD.search(told.message)
    if field and field.lastgroup:
        return field.lastgroup
    if _MODEL.search(text) or _KEY.search(text):
        return ""
    if _UNSUPPORTED.search(text) and status != 404:
        return "response_format"
    return "" if status == 404 else "unknown"


def blamed_setting(status: int, told: ServerError) -> Setting:
    """Which setting the user should look at after a final refusal."""
    text = f"{told.message} {told.code}"
    if status in (401, 402, 403) or "insufficient_quota" in text:
        return "LLM_API_KEY"
    if _MODEL.search(text):
        return "LLM_MODEL_NAME"
    if status == 400 and _KEY.search(text):
        return "LLM_API_KEY"
    return "LLM_BASE_URL" if status in (301, 308, 404, 405, 501) else ""


# --- what is said of it ----------------------------------------------------------------------------------------------


def unavailable(
    server: str, trouble: Trouble | None, model: str, counts: SendCounts, patience_s: float | None = None
) -> Unavailable:
    """A request that failed alone; with `patience_s` the server takes nothing, and was waited for so long."""
    times = "once" if counts.sends == 1 else f"{counts.sends} times"
    did = trouble.message if trouble else "is not answering"
    words = f"The model server {server} {did} (model {model!r}, asked {times})"
    if patience_s is not None:
        words += f"; no request has got through for {patience_s:g} s (ENQUETE_PATIENCE_S)"
    return Unavailable(f"{words}.", counts, trouble.status if trouble else None, outage=patience_s is not None)


def rejected(server: str, refused: Refused, model: str, counts: SendCounts) -> Rejected:
    """A refusal for good, with the setting to look at."""
    setting = blamed_setting(refused.status, refused.told)
    advice = {
        "LLM_API_KEY": "Check LLM_API_KEY (or OPENAI_API_KEY): it must be a key of this server with credit left.",
        "LLM_MODEL_NAME": f"Check LLM_MODEL_NAME: this server does not offer {model!r} to this key.",
        "LLM_BASE_URL": "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint.",
        "": f"Check LLM_MODEL_NAME ({model!r}) and the size of the prompt against what this server accepts.",
    }[setting]
    told = refused.told.message or "no reason given"
    words = f"The model server {server} refused the request with {refused.status}: {told}"
    return Rejected(f"{words.rstrip('.')}. {advice}", counts, setting)


def without_room(server: str, counts: SendCounts) -> Unavailable:
    """It may have been billed already, and the budget has no room for another send."""
    return Unavailable(
        f"The model server {server} did not answer, and the budget has no room to ask again.", counts, short=True
    )


def halted(server: str, counts: SendCounts) -> Unavailable:
    """The run was paused while this request waited; nothing says that the server would not answer it."""
    words = f"The run was paused before the model server {server} was asked (again)."
    return Unavailable(words, counts, short=True)
