"""What both Zep clients need: a connection that notes how long the server asks to wait, and their errors as one."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import monotonic, sleep, time
from typing import Any, TypeVar

import httpx

from enquete.memory.recall import LEAST_WAIT_S, TIMEOUT_S, MemoryFault
from enquete.simulations.sources import clip, one_line

RATE_LIMIT_WAIT_S = 60.0
"""Where a 429 does not say how long."""
ONCE: Any = {"max_retries": 0}
"""The clients' own retries wait unseen and not as long as they are asked to."""
REFUSED = (400, 413, 422)
ResultT = TypeVar("ResultT")
log = logging.getLogger("enquete")


class Waiting:
    """How long a reading waits in all where its server asks for it: threads that wait at once wait once."""

    def __init__(
        self,
        patience_s: float = 0.0,
        wait: Callable[[float], object] = sleep,
        clock: Callable[[], float] = monotonic,
    ):
        self._left, self._wait, self._clock = patience_s, wait, clock
        self._until, self._lock = 0.0, threading.Lock()

    def spent_on(self, fault: MemoryFault) -> bool:
        """After the wait that a 429 asks for; False where it asks for none, or for more than is left."""
        if fault.wait_s is None:
            return False
        with self._lock:
            now = self._clock()
            until = now + max(fault.wait_s, LEAST_WAIT_S)
            further = until - max(now, self._until)
            if further > self._left:
                return False
            self._left -= max(0.0, further)
            self._until = max(self._until, until)
        log.warning("memory: %s; waiting %.0f s, as the server asks", fault, until - now)
        self._wait(until - now)
        return True


MOST_BYTES = 8 * 2**20
"""Of one unpacked body. A page of a hundred nodes with long summaries has a tenth of that."""
_PACKED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Overlong(Exception):
    """A body beyond the limit, or packed more than once; it was not read to its end."""


class BoundedHttp(httpx.Client):
    """Bodies are read piece by piece and dropped at the limit: neither a gigabyte nor what unpacks to one is ever in
    memory."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The response, its body read. Raises Overlong, and whatever httpx does."""
        response = super().send(request, **{**options, "stream": True})
        content = bytearray()
        try:
            if "," in response.headers.get("content-encoding", ""):
                raise Overlong("sent a body that is packed more than once")
            for piece in response.iter_bytes():
                content += piece
                if len(content) > MOST_BYTES:
                    raise Overlong(f"sent a body of more than {MOST_BYTES // 2**20} MB")
        finally:
            response.close()
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _PACKED]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content), request=request)


class Wire:
    """An HTTP client for one of the Zep libraries. Redirects are not followed: they could lead the key elsewhere.

    `waiting`: of what is read; whoever delivers episodes waits between them.
    """

    def __init__(self, secret: str, timeout_s: float = TIMEOUT_S, waiting: Waiting | None = None):
        self._wait, self._secret = "", secret
        self._waiting = waiting or Waiting()
        self.client = BoundedHttp(
            timeout=timeout_s, follow_redirects=False, event_hooks={"response": [self._note_wait]}
        )

    def _note_wait(self, response: httpx.Response) -> None:
        self._wait = response.headers.get("retry-after", "")

    def reading(self, what: str, request: Callable[[], ResultT]) -> ResultT:
        """The result, sent again where the server asks to be waited for. Raises MemoryFault."""
        while True:
            try:
                with self.talking(what):
                    return request()
            except MemoryFault as fault:
                if not self._waiting.spent_on(fault):
                    raise

    @contextmanager
    def talking(self, what: str) -> Iterator[None]:
        """Raises MemoryFault for anything that goes wrong inside. No message names the key or the server's address."""
        try:
            yield
        except MemoryFault:
            raise
        except Overlong as error:
            raise MemoryFault(f"{what}: the server {error}", unsure=True) from error
        except httpx.ConnectError as error:
            raise MemoryFault(f"{what}: no connection") from error
        except httpx.HTTPError as error:
            raise MemoryFault(f"{what}: {type(error).__name__}", unsure=True) from error
        except Exception as error:
            raise self._fault(what, error) from error

    def _fault(self, what: str, error: Exception) -> MemoryFault:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            return MemoryFault(f"{what}: an answer that cannot be read ({type(error).__name__})", unsure=True)
        body = one_line(str(getattr(error, "body", "")))
        said = clip(body.replace(self._secret, "…"), 200)  # a server may echo it
        wait = (seconds(self._wait) or RATE_LIMIT_WAIT_S) if status == 429 else None
        return MemoryFault(
            f"{what}: {status} {said}".strip(), wait_s=wait, unsure=status >= 500, refused=status in REFUSED
        )

    def close(self) -> None:
        self.client.close()


def seconds(retry_after: str) -> float | None:
    """Of a Retry-After header, a number or a date."""
    if re.fullmatch(r"\s*\d+\s*", retry_after):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (TypeError, ValueError):
        return None
