"""The way of a status that lies ready: past routing and validation, which cost more than the answer itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Ready = Callable[[str, str | None], Response | None]
_STATUS = re.compile(r"/api/interview/([^/]+)/status")


class StatusShortcut:
    """ASGI middleware behind the guard. `ready` gives the answer to a simulation and task that somebody asked for a
    moment ago, in the same words, so that these were found valid then; everything else goes on to the paths."""

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
