"""Connections whose headers come in time: uvicorn itself waits for ever for the rest of a request that was begun."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADERS_WITHIN_S = 10.0
LARGEST_HEADERS = 64 * 1024


class PromptHeaders(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # uvicorn's own choice, by what is installed
    """Ends a connection that has not sent the whole head of a request HEADERS_WITHIN_S after it began to, or after it was
    opened, and one whose head is larger than LARGEST_HEADERS. Between two requests uvicorn's own keep-alive holds."""

    _late: asyncio.TimerHandle | None = None
    _read = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # a request whose head is there
            self._calm()
            return
        if self._late is None:
            self._expect_head()
        if self.cycle is None or not self.cycle.more_body:  # else the rest of a body that was refused
            self._read += len(data)
        if self._read > LARGEST_HEADERS:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._read = 0
        self._late = asyncio.get_running_loop().call_later(HEADERS_WITHIN_S, self.transport.close)

    def _calm(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = None
