"""What can go wrong with a request: worth another attempt (`Trouble`), refused (`Refused`), to be put otherwise
(`AskOtherwise`), and what callers see of it (`Unavailable`, `Rejected`). No message holds a key: whatever a server says
is masked before it gets into one.

    Exception
    ├── Trouble            another attempt may help: time-out, cut connection, "later", a server's own fault
    ├── Refused            the server refuses this request; `verdict` says what it means (server_profiles.yaml)
    ├── NotRead            a reply that is not taken: too large, or a redirect to somebody else
    └── ModelError         (state/errors.py)
        ├── AskOtherwise   asked again at once with a shorter prompt, or with more room for the reply
        ├── Unavailable    out of attempts; with `outage` the run pauses
        └── Rejected       refused for good; with `setting` the run stops
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from enquete.models.server_profiles import Meaning, ServerError, Verdict, mask, understand
from enquete.state.errors import ModelError, ModelRejected, ModelUnavailable, SettingsError, advice_for

__all__ = ["mask"]  # where most of its readers look for it

GATEWAY = frozenset({502, 503, 504, 529})
"""Statuses that say the server is missing or overloaded, not that it stumbled over this request."""

Setting = Literal["LLM_API_KEY", "LLM_MODEL_NAME", "LLM_BASE_URL", ""]


@dataclass(slots=True)
class SendCounts:
    """What sending one prompt took. `timeouts` are charged at their reservation: the server may have billed them.

    `broken`: answered with a connection cut after sending or an unreadable body; may have been billed too.
    `booked_read`, `booked_written`: tokens that the server reported for replies that could not be used.
    `notes`: what was learnt on the way, for the audit.
    """

    sends: int = 0
    timeouts: int = 0
    broken: int = 0
    probes: int = 0  # health probes sent for its sake that may have been billed
    covered: int = 0  # sends without an answer for which another reservation was made
    booked_read: int = 0
    booked_written: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def unanswered(self) -> int:
        return self.timeouts + self.broken + self.probes


class AskOtherwise(ModelError):
    """The same question has to be put otherwise: `reason` says why. What was sent so far is counted."""

    def __init__(self, reason: str, counts: SendCounts):
        super().__init__(reason, sends=counts.sends, timeouts=counts.timeouts)
        self.broken = counts.broken + counts.probes
        self.booked = (counts.booked_read, counts.booked_written)


class Unavailable(ModelUnavailable):
    """Time-out, connection fault, 429 or 5xx that outlived the retries."""

    def __init__(
        self, message: str, counts: SendCounts, status: int | None = None, *, short: bool = False, outage: bool = False
    ):
        super().__init__(message, sends=counts.sends, timeouts=counts.timeouts)
        self.broken, self.status = counts.broken + counts.probes, status
        self.booked = (counts.booked_read, counts.booked_written)
        self.short, self.outage = short, outage


class Rejected(ModelRejected):
    """The server refuses the request for good; with a `setting` to blame it would refuse every other one too."""

    def __init__(self, message: str, counts: SendCounts, setting: Setting = ""):
        super().__init__(message, fatal=bool(setting), sends=counts.sends, timeouts=counts.timeouts)
        self.broken, self.setting = counts.broken + counts.probes, setting
        self.booked = (counts.booked_read, counts.booked_written)


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


class Refused(Exception):
    """An error that no repetition of the same request would cure."""

    def __init__(self, told: ServerError, verdict: Verdict):
        super().__init__(told.message)
        self.told = told
        self.verdict = verdict


class NotRead(Exception):
    """A response that is not taken: a body beyond the limit, or a redirect (`status`) that is not followed."""

    def __init__(self, words: str, status: int | None = None):
        super().__init__(words)
        self.status = status


def fault_of(told: ServerError, longest_wait_s: float) -> Trouble | Refused:
    """Return what an error comes to: worth another attempt, or refused."""
    verdict = understand(told)
    if verdict.means not in (Meaning.TOO_MANY, Meaning.OVERLOADED):
        return Refused(told, verdict)
    words = f"answered {told.status}" + (f": {told.message}" if told.message else "")
    status = 429 if verdict.means is Meaning.TOO_MANY and told.status != 529 else told.status
    wait = None if told.retry_after is None else min(told.retry_after, longest_wait_s)
    return Trouble(words, status=status, retry_after=wait)


# --- base URLs -------------------------------------------------------------------------------------------------------


def checked_url(base_url: str) -> str:
    """The base URL without a slash at its end. Raises SettingsError, without repeating a password."""
    try:
        parts = urlsplit(base_url.strip())
        known = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and not parts.query
    except ValueError:  # an IPv6 address that is none
        known = False
    if not known or "," in base_url:
        several = "; one server (in front of several stands a proxy: docs/models.md)" if "," in base_url else ""
        raise SettingsError(
            f"LLM_BASE_URL {shown_url(base_url)!r} is no base URL: it must look like https://host/v1, "
            f"without user, password or query (a key goes into LLM_API_KEY){several}."
        )
    return base_url.strip().rstrip("/")


_NEXT_URL = re.compile(r",\s*(?=[a-z]+://)", re.IGNORECASE)
"""A password may hold a comma."""


def shown_url(base_url: str) -> str:
    """The base URL as it may be shown: without user, password and query. So is each of several, which are refused."""
    return ",".join(_shown(url) for url in _NEXT_URL.split(base_url))


def _shown(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2].partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    path = "/…" if "," in parts.path and "@" in parts.path else parts.path  # another URL, without its scheme
    return f"{parts.scheme}://{host}{path}" if host else url.rpartition("@")[2]


def connection_fault(error: BaseException) -> tuple[bool, str]:
    """(whether the request may have been received, words for it).

    By aiohttp's own error at the end of the chain: its transport reports most of them as a connect time-out. Clients
    without aiohttp say by a name that they could not connect.
    """
    import aiohttp  # noqa: PLC0415 - it has been imported where a connection failed, and is slow where none was made

    cause = error
    while True:
        if isinstance(cause, aiohttp.ClientConnectorError):
            return False, f"could not be reached ({advice_for(cause) if cause.strerror else type(cause).__name__})"
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return False, "could not be connected to in time"
        if isinstance(cause, ConnectionRefusedError) or "connecterror" in type(cause).__name__.lower():
            return False, f"could not be reached ({type(cause).__name__})"
        below = cause.__cause__ or (cause.__context__ if not cause.__suppress_context__ else None)
        if below is None:
            return True, f"broke the connection ({type(cause).__name__})"
        cause = below


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


_BLAMED: dict[Meaning, Setting] = {
    Meaning.KEY_WRONG: "LLM_API_KEY",
    Meaning.MODEL_MISSING: "LLM_MODEL_NAME",
    Meaning.WRONG_URL: "LLM_BASE_URL",
}


def rejected(server: str, refused: Refused, model: str, counts: SendCounts, key_name: str = "") -> Rejected:
    """A refusal for good, in the server's own words, with the setting to look at.

    Args:
        key_name: The environment variable that holds the key, where it is a provider's own.
    """
    setting = _BLAMED.get(refused.verdict.means, "")
    key = key_name or "LLM_API_KEY (or OPENAI_API_KEY)"
    advice = {
        "LLM_API_KEY": f"Check {key}: it must be a key of this server that may ask this model.",
        "LLM_MODEL_NAME": f"Check LLM_MODEL_NAME: this server does not offer {model!r} to this key.",
        "LLM_BASE_URL": "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint.",
        "": "",
    }[setting]
    return Rejected(f"{_quoted(server, refused)} {advice}".rstrip(), counts, setting)


def paused_by(server: str, refused: Refused, counts: SendCounts) -> Unavailable:
    """A refusal that pauses the run: no credit left, or one that nobody understands and that befalls everybody."""
    if refused.verdict.means is Meaning.NO_CREDIT:
        advice = "No credit is left there, or a budget is spent. Once there is more, resume: nothing was lost."
    else:
        advice = "It is unclear what would help, so nobody else was asked. Nothing was lost: resume once it is."
    words = f"{_quoted(server, refused)} {advice}"
    return Unavailable(words, counts, refused.told.status, outage=True)


def _quoted(server: str, refused: Refused) -> str:
    told, status = refused.told.message or "no reason given", refused.told.status
    with_status = f" with {status}" if status else ""  # a package that refuses it has none
    return f"The model server {server} refused the request{with_status}: {told.rstrip('.')}."


def without_room(server: str, counts: SendCounts) -> Unavailable:
    """It may have been billed already, and the budget has no room for another send."""
    return Unavailable(
        f"The model server {server} did not answer, and the budget has no room to ask again.", counts, short=True
    )


def halted(server: str, counts: SendCounts) -> Unavailable:
    """The run was paused while this request waited; nothing says that the server would not answer it."""
    words = f"The run was paused before the model server {server} was asked (again)."
    return Unavailable(words, counts, short=True)
