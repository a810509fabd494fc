"""One prompt sent once, in one form: as long as its server takes, and whatever goes wrong sorted into Trouble and Refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai

from enquete.models.clients import Clients
from enquete.models.dialect import Form, messages
from enquete.models.faults import (
    Oversized,
    Redirected,
    Refused,
    Tally,
    Trouble,
    connection_fault,
    is_passing,
    mask,
    read_error,
    status_fault,
    unknown_fault,
)
from enquete.models.response import Completed, completed
from enquete.models.retry_state import Request

LONGEST_WAIT = 60.0
"""Seconds. A longer Retry-After is cut: asking once a minute costs nothing, and a limit may be lifted. Nor is it waited for longer
than the run is patient: it would only be found then that it has to pause."""


class Exchange:
    """Sends over one server's clients. The caller holds a slot: the clock starts here."""

    def __init__(self, clients: Clients, key: str, patience_s: float = LONGEST_WAIT):
        self._clients = clients
        self._key = key
        self._longest_wait = min(patience_s, LONGEST_WAIT)

    async def once(self, request: Request, form: Form, tally: Tally, patience: Callable[[], float]) -> Completed:
        """Raises Trouble or Refused; counts in `tally` what may have been billed.
        `patience`: seconds that it may take, by what is known when they are over."""
        body = form.body(request.prompt, temperature=request.temperature, seed=request.seed)
        asked = messages(request.prompt, form.rung)
        try:
            async with _within(patience):
                told = await self._clients.exchange(request.model, asked, body)
        except TimeoutError:
            tally.timeouts += 1
            raise Trouble(f"did not answer within {round(patience(), 2):g} s") from None
        except openai.APIStatusError as error:
            raise self._status_fault(error, form) from None
        except openai.APIConnectionError as error:
            sent, words = connection_fault(error)
            tally.broken += sent
            raise Trouble(words, unreachable=not sent) from None
        except Redirected as error:
            raise self._redirect_fault(error, form) from None
        except Oversized as error:
            tally.broken += 1
            raise Trouble(str(error), answered=True) from None
        except Exception as error:  # SDK, langchain and aiohttp read what came; nothing of our own is called in here
            tally.broken += 1
            raise unknown_fault(error) from None
        return completed(told, tally)

    def _redirect_fault(self, error: Redirected, form: Form) -> Trouble | Refused:
        words = mask(str(error), self._key)
        if error.for_good:
            return Refused(error.status, words, "", form=form)
        return Trouble(words, status=error.status, answered=True)

    def _status_fault(self, error: openai.APIStatusError, form: Form) -> Trouble | Refused:
        status, said = error.status_code, read_error(error.body, self._key)
        passing = is_passing(status) or status < 400  # below 400: no answer to a question, nor an error
        wait = retry_after(error.response.headers.get("retry-after"), self._longest_wait)
        return status_fault(status, said, form, passing=passing, wait=wait)


@asynccontextmanager
async def _within(patience: Callable[[], float]) -> AsyncIterator[None]:
    """A time-out that looks again when it is due: the server may have proved slow meanwhile, and be at work on this."""
    loop, clock = asyncio.get_running_loop(), asyncio.timeout(None)
    began, first = loop.time(), patience()
    due = loop.call_at(began + first, lambda: look(first))

    def look(given: float) -> None:
        nonlocal due
        now = patience()
        if now > given:
            due = loop.call_at(began + now, look, now)
        else:
            clock.reschedule(loop.time())

    try:
        async with clock:
            yield
    finally:
        due.cancel()


def retry_after(header: str | None, longest: float = LONGEST_WAIT) -> float | None:
    """Seconds to wait by a Retry-After header in seconds or as an HTTP date, within 0 and `longest`; None if unreadable."""
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
    return min(max(seconds, 0.0), longest) if seconds == seconds else None
