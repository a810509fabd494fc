"""One request to an OpenAI-compatible server: in the form it understands, within limits, with retries.

    wait for the server's pause → hold a slot → send, at most `timeout_s` → let go → answer, back off, or adapt

The clock starts once the slot is held and a back-off never holds one. Only `send` is public; what the text means
is the business of `reading`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai
from langchain_core.outputs import ChatResult
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from enquete.models import dialect as dialects
from enquete.models.clients import Clients
from enquete.models.dialect import Dialect, Form, Rung
from enquete.models.faults import (
    NoRoom,
    Refused,
    Rejected,
    Said,
    Tally,
    Trouble,
    Unavailable,
    blamed_setting,
    checked_url,
    complaint,
    connection_fault,
    mask,
    read_error,
    shown_url,
)
from enquete.models.limits import Limiter, Pause
from enquete.models.response import Response, filtered, response_from
from enquete.state.seam import Prompt

__all__ = ["Response", "Transport"]

LONGEST_WAIT = 60.0
"""Seconds. A longer Retry-After is cut: three attempts are over sooner than a run is given up on."""
RETRIED = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class _Request:
    prompt: Prompt
    model: str
    temperature: float
    seed: int
    room: Callable[[], bool] | None = None
    lowest: Rung = Rung.JSON_SCHEMA  # what this request had to step down to; the dialect may be lower still


class Transport:
    """Requests to one server, through one shared client per model and one process-wide limit."""

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr | None,
        *,
        limiter: Limiter,
        timeout_s: float = 120.0,
        attempts: int = 3,
        backoff_s: float = 1.0,
    ):
        """`backoff_s`: the first wait between attempts, doubled each time, plus up to as much of jitter.

        Raises SettingsError for a base URL that is none.
        """
        self.base_url = checked_url(base_url)
        self._key = api_key.get_secret_value() if api_key else ""
        self._clients = Clients(self.base_url, api_key)
        self._limiter = limiter
        self._pause = Pause()
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._backoff = wait_exponential_jitter(multiplier=backoff_s, max=LONGEST_WAIT, jitter=backoff_s)

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool] | None = None
    ) -> Response:
        """The server's answer, whatever it says. Raises Unavailable (ModelUnavailable) or Rejected (ModelRejected).

        `room`: asked before a request is sent again that may already have been billed (time-out, cut connection);
        where it says no, Unavailable is raised with `short`.
        """
        dialect = dialects.dialect_of(self.base_url, model)
        tally = Tally()
        request = _Request(prompt, model, temperature, seed, room)
        while True:
            try:
                response = await self._with_retries(request, dialect, tally)
                return replace(response, sends=tally.sends, timeouts=tally.timeouts, broken=tally.broken)
            except NoRoom:
                raise self._without_room(model, tally) from None
            except Refused as refused:
                if "content_filter" in refused.code:
                    return filtered(refused.message, model, tally)
                lowest = dialects.adapt(dialect, refused)
                fault: Trouble | Refused = refused
            except Trouble as trouble:
                lowest = _rung_to_try(dialect, trouble)
                fault = trouble
            if lowest is None:
                raise self._final(fault, model, tally) from None
            request = replace(request, lowest=max(lowest, request.lowest))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._clients.aclose()

    async def _with_retries(self, request: _Request, dialect: Dialect, tally: Tally) -> Response:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts),
            wait=self._wait,
            retry=retry_if_exception_type(Trouble),
            reraise=True,
        )
        return await retrying(self._attempt, request, dialect, tally)

    async def _attempt(self, request: _Request, dialect: Dialect, tally: Tally) -> Response:
        async with self._slot():
            form = dialect.form(request.lowest)
            if tally.unanswered > tally.covered and request.room is not None:
                if not request.room():
                    raise NoRoom
                tally.covered += 1
            tally.sends += 1
            started = time.monotonic()
            try:
                result = await self._exchange(request, form, tally)
            except Trouble as trouble:
                trouble.form = form
                if trouble.status == 429 and trouble.retry_after:
                    self._pause.extend(trouble.retry_after)
                raise
        dialect.worked(form)
        return response_from(result, request.model, round(1000 * (time.monotonic() - started)), self._key)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        while True:
            await self._pause.over()
            async with self._limiter:
                if self._pause.remaining <= 0:  # another request may have been told to wait while this one queued
                    yield
                    return

    async def _exchange(self, request: _Request, form: Form, tally: Tally) -> ChatResult:
        body = form.body(request.prompt, temperature=request.temperature, seed=request.seed)
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await self._clients.exchange(request.model, dialects.messages(request.prompt), body)
        except TimeoutError:
            tally.timeouts += 1
            raise Trouble(f"did not answer within {self._timeout_s:g} s") from None
        except openai.APIStatusError as error:
            raise self._status_fault(error, form) from None
        except openai.APIConnectionError as error:
            sent, words = connection_fault(error)
            tally.broken += sent
            raise Trouble(words) from None
        except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError) as error:
            tally.broken += 1  # the SDK and langchain read the body; these are what an unreadable one gives
            raise Trouble(f"sent a body that is no chat completion ({type(error).__name__})") from None
        if not result.generations:
            tally.broken += 1
            raise Trouble("sent a chat completion without choices")
        return result

    def _status_fault(self, error: openai.APIStatusError, form: Form) -> Trouble | Refused:
        status, said = error.status_code, read_error(error.body, self._key)
        if (status in RETRIED or status >= 500) and status != 501 and "insufficient_quota" not in said.code:
            words = f"answered {status}" + (f": {said.message}" if said.message else "")
            return Trouble(words, status=status, retry_after=retry_after(error.response.headers.get("retry-after")))
        return Refused(status, said.message, complaint(status, said), f"{said.code} {said.param}", form=form)

    def _wait(self, state: RetryCallState) -> float:
        """Exponential with jitter; never sooner than the server asked for."""
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.retry_after if isinstance(fault, Trouble) else None
        backoff: float = self._backoff(state)
        return backoff if asked is None else max(asked, min(backoff, asked * 1.1))

    def _without_room(self, model: str, tally: Tally) -> Unavailable:
        server = mask(shown_url(self.base_url), self._key)
        error = Unavailable(
            f"The model server {server} did not answer, and the budget has no room to ask again.", tally
        )
        error.short = True
        return error

    def _final(self, fault: Trouble | Refused, model: str, tally: Tally) -> Unavailable | Rejected:
        server = mask(shown_url(self.base_url), self._key)
        if isinstance(fault, Trouble):
            times = "once" if tally.sends == 1 else f"{tally.sends} times"
            words = f"The model server {server} {fault.message} (model {model!r}, asked {times})."
            return Unavailable(words, tally, fault.status)
        setting = blamed_setting(fault.status, Said(fault.message, "", fault.code))
        advice = {
            "LLM_API_KEY": "Check LLM_API_KEY (or OPENAI_API_KEY): it must be a key of this server with credit left.",
            "LLM_MODEL_NAME": f"Check LLM_MODEL_NAME: this server does not offer {model!r} to this key.",
            "LLM_BASE_URL": "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint.",
            "": f"Check LLM_MODEL_NAME ({model!r}) and the size of the prompt against what this server accepts.",
        }[setting]
        words = (
            f"The model server {server} refused the request with {fault.status}: {fault.message or 'no reason given'}"
        )
        return Rejected(f"{words.rstrip('.')}. {advice}", tally, fault.status, setting)


def _rung_to_try(dialect: Dialect, trouble: Trouble) -> Rung | None:
    """Some servers answer 500 to json_schema: the next rung, as long as this one has never worked there."""
    form = trouble.form
    overloaded = trouble.retry_after is not None or trouble.status in (503, 529)
    if form is None or trouble.status is None or trouble.status < 500 or overloaded or dialect.has_worked(form.rung):
        return None
    return form.rung.below


def retry_after(header: str | None) -> float | None:
    """Seconds to wait by a Retry-After header in seconds or as an HTTP date, within 0 and 60; None if unreadable."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None
