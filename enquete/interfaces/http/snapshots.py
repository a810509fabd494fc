"""Statuses read once for everybody who asks within the same second: a hundred clients cost a run what one costs."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from enquete.study.threads import run_in_thread

T = TypeVar("T")
FRESH_S = 1.0
MOST_KEPT = 1000
Ready = Callable[[str, str | None], Response | None]
_STATUS = re.compile(r"/api/interview/([^/]+)/status")


@dataclass(frozen=True)
class _Snapshot(Generic[T]):
    at: float
    reading: asyncio.Task[T]


class Snapshots(Generic[T]):
    """Values by key, each at most FRESH_S old. Errors are told to those who waited, and not kept."""

    def __init__(self, fresh_s: float = FRESH_S):
        self._fresh_s = fresh_s
        self._kept: dict[Hashable, _Snapshot[T]] = {}

    async def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """`read` runs in a thread, once for all who ask meanwhile."""
        snapshot = self._fresh(key) or self._begin(key, read)
        return await asyncio.shield(snapshot.reading)  # who leaves does not take it from the others

    def ready(self, key: Hashable) -> T | None:
        """What `get` would give without waiting."""
        snapshot = self._fresh(key)
        return snapshot.reading.result() if snapshot is not None and snapshot.reading.done() else None

    def forget(self) -> None:
        """What was read is about to be wrong: a run was started or resumed."""
        self._kept.clear()

    def _fresh(self, key: Hashable) -> _Snapshot[T] | None:
        snapshot = self._kept.get(key)
        return snapshot if snapshot is not None and time.monotonic() - snapshot.at <= self._fresh_s else None

    def _begin(self, key: Hashable, read: Callable[[], T]) -> _Snapshot[T]:
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        reading = asyncio.create_task(run_in_thread(read))
        snapshot = self._kept[key] = _Snapshot(time.monotonic(), reading)
        reading.add_done_callback(lambda done: self._drop_if_failed(key, done))
        return snapshot

    def _drop_if_failed(self, key: Hashable, reading: asyncio.Task[T]) -> None:
        kept = self._kept.get(key)
        if (reading.cancelled() or reading.exception()) and kept is not None and kept.reading is reading:
            del self._kept[key]


class StatusShortcut:
    """ASGI middleware behind the guard: a status that lies ready goes past routing and validation, which cost more than the
    answer itself. `ready` gives the answer to a simulation and task that somebody asked for a moment ago, in the same
    words, so that these were found valid then; everything else goes on to the paths."""

    def __init__(self, app: ASGIApp, ready: Ready):
        self._app = app
        self._ready = ready

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answer(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        found = _STATUS.fullmatch(scope["path"])
        if found is None:
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if [name for name, _ in asked] not in ([], ["task_id"]):
            return None
        return self._ready(found[1], asked[0][1] if asked else None)
