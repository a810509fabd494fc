"""What can go wrong with a request, sorted: worth a retry, refused in this form, or refused for good.

`Unavailable` and `Rejected` are what callers see; `Trouble` and `Refused` stay between the client and the transport.
No message holds a key: whatever a server says is masked before it gets into one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from enquete.models.cleaning import clean_text
from enquete.models.dialect import Form
from enquete.state.errors import ModelRejected, ModelUnavailable, SettingsError

GATEWAY = frozenset({502, 503, 504, 529})
"""Statuses that say the server is missing or overloaded, not that it stumbled over this request."""

PASSING = frozenset({408, 409, 425, 429})

Setting = Literal["LLM_API_KEY", "LLM_MODEL_NAME", "LLM_BASE_URL", ""]


@dataclass(slots=True)
class Tally:
    """What sending one prompt took. `timeouts` are charged at their reservation: the server may have billed them.

    `broken`: answered with a connection cut after sending or an unreadable body; may have been billed too.
    """

    sends: int = 0
    timeouts: int = 0
    broken: int = 0
    checks: int = 0  # canaries sent for its sake that may have been billed
    covered: int = 0  # sends without an answer for which another reservation was made

    @property
    def unanswered(self) -> int:
        return self.timeouts + self.broken + self.checks


class Away(Exception):
    """Waited for as long as the run is patient. `outage`: it is the server; else nothing but this request proves it."""

    def __init__(self, *, outage: bool):
        super().__init__()
        self.outage = outage


class NoRoom(Exception):
    """The budget has no room to send once more what may already have been billed."""


class Halted(Exception):
    """The run stops: nothing is waited for any more."""


class Standing(Exception):
    """The request stands in a batch, or may, and the run pauses: whoever goes on with it fetches its reply. `why`: "" where the run
    was told to pause."""

    def __init__(self, why: str = ""):
        super().__init__(why)
        self.why = why


class Unavailable(ModelUnavailable):
    """Time-out, connection fault, 429 or 5xx that outlived the retries."""

    def __init__(self, message: str, tally: Tally, status: int | None = None):
        super().__init__(message, sends=tally.sends, timeouts=tally.timeouts)
        self.broken = tally.broken + tally.checks
        self.status = status


class Rejected(ModelRejected):
    """The server refuses the request for good; with a `setting` to blame it would refuse every other one too."""

    def __init__(self, message: str, tally: Tally, status: int, setting: Setting = ""):
        super().__init__(message, fatal=bool(setting), sends=tally.sends, timeouts=tally.timeouts)
        self.broken = tally.broken + tally.checks
        self.status = status
        self.setting = setting


class Trouble(Exception):
    """Worth another attempt. `unreachable`: there was no connection to send it over; `answered`: something came back over
    HTTP that no missing server sends, so that it may be this request's own doing."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
        answered: bool = False,
    ):
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.unreachable = unreachable
        self.answered = answered
        self.form: Form | None = None

    @property
    def busy(self) -> bool:
        """The server is there and wants the same request later: nobody's fault."""
        return self.status in (429, 529) or (self.status == 503 and self.retry_after is not None)


class Oversized(Exception):
    """A body beyond the limit; it was not read to its end."""

    def __init__(self, most: int):
        super().__init__(f"sent a body of more than {most // 2**20} MB")


class Redirected(Exception):
    """The server wants the request to go elsewhere: it did not."""

    def __init__(self, status: int, to: str):
        super().__init__(f"redirects {to}, which is not followed")
        self.status = status

    @property
    def for_good(self) -> bool:
        """Moved permanently, so that the address named is the wrong one."""
        return self.status in (301, 308)


class Refused(Exception):
    """A 4xx or 501. `about`: the field it complains about, "response_format", "unknown" or "" (nothing to adapt)."""

    def __init__(self, status: int, message: str, about: str, code: str = "", *, form: Form):
        super().__init__(message)
        self.status = status
        self.message = message
        self.about = about
        self.code = code
        self.form = form


@dataclass(frozen=True, slots=True)
class Said:
    """What a server said in an error body, whichever of the usual shapes it has."""

    message: str
    param: str = ""
    code: str = ""


def read_error(body: object, key: str) -> Said:
    """`body` is parsed JSON, a string or None. The message is masked and cut to a readable length."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return Said(mask(_short(body), key))
    message = body.get("message") or body.get("detail") or body.get("error") or body
    code = " ".join(str(body[name]) for name in ("code", "type") if body.get(name))
    return Said(mask(_short(message), key), str(body.get("param") or ""), mask(code, key))


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
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise SettingsError(
            f"LLM_BASE_URL {shown_url(base_url)!r} is no base URL: it must look like https://host/v1, "
            "without user, password or query (a key goes into LLM_API_KEY)."
        )
    return base_url.strip().rstrip("/")


def shown_url(base_url: str) -> str:
    """The base URL as it may be shown: without user, password and query."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" if host else base_url.rpartition("@")[2]


def connection_fault(error: BaseException) -> tuple[bool, str]:
    """(whether the request may have been received, words for it).

    By aiohttp's own error at the end of the chain: the SDK's transport reports most of them as a connect time-out.
    """
    import aiohttp  # noqa: PLC0415 - it has been imported where a connection failed, and is slow where none was made

    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, aiohttp.ClientConnectorError):
            return False, f"could not be reached ({cause.strerror or type(cause).__name__})"
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return False, "could not be connected to in time"
    return True, f"broke the connection ({type(causes[-1]).__name__})"


def unknown_fault(error: Exception) -> Trouble:
    """What no library has a name of its own for. It may have been billed."""
    import aiohttp  # noqa: PLC0415

    cause = _causes(error)[-1]
    if isinstance(cause, aiohttp.ClientError | OSError):
        return Trouble(f"broke the connection ({type(cause).__name__})")
    return Trouble(f"sent a body that is no chat completion ({type(cause).__name__})", answered=True)


def _causes(error: BaseException) -> list[BaseException]:
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    return causes


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


def hopeless(status: int, said: Said) -> bool:
    """A "later" that will never come: no credit left, or a prompt larger than what a whole minute allows."""
    return "insufficient_quota" in said.code or (status == 429 and _TOO_LARGE.search(said.message) is not None)


def is_passing(status: int) -> bool:
    """Whether the same request may be answered another time."""
    return status in PASSING or status >= 500


def status_fault(status: int, said: Said, form: Form, *, passing: bool, wait: float | None = None) -> Trouble | Refused:
    """What an error status comes to. `wait`: seconds, by the server's Retry-After."""
    if passing and status != 501 and not hopeless(status, said):
        words = f"answered {status}" + (f": {said.message}" if said.message else "")
        return Trouble(words, status=status, retry_after=wait, answered=status not in GATEWAY | {429})
    return Refused(status, said.message, complaint(status, said), f"{said.code} {said.param}", form=form)


def complaint(status: int, said: Said) -> str:
    """What a refusal is about: a droppable field, "response_format", "unknown" (worth the next rung) or ""."""
    text = f"{said.message} {said.code}"
    if status not in (400, 404, 415, 422, 501) or _TOO_LONG.search(text):
        return ""
    # A message may name the alternative too ("'max_tokens' is not supported, use 'max_completion_tokens'"):
    # the first name is the one complained about.
    field = _FIELD.match(said.param) or _FIELD.search(said.message)
    if field and field.lastgroup:
        return field.lastgroup
    if _MODEL.search(text) or _KEY.search(text):
        return ""
    if _UNSUPPORTED.search(text) and status != 404:
        return "response_format"
    return "" if status == 404 else "unknown"


def blamed_setting(status: int, said: Said) -> Setting:
    """Which setting the user should look at after a final refusal."""
    text = f"{said.message} {said.code}"
    if status in (401, 402, 403) or "insufficient_quota" in text:
        return "LLM_API_KEY"
    if _MODEL.search(text):
        return "LLM_MODEL_NAME"
    if status == 400 and _KEY.search(text):
        return "LLM_API_KEY"
    return "LLM_BASE_URL" if status in (301, 308, 404, 405, 501) else ""
