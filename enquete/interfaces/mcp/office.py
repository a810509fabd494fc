"""What every MCP request works with: the simulations under the root, and the runs that this server drives."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from enquete.interfaces.mcp.errors import explained
from enquete.state.errors import EnqueteError
from enquete.study import Run
from enquete.study.rooted import Rooted
from enquete.study.tasks import Task, Tasks


@dataclass(frozen=True)
class Office:
    """One per process, shared by all sessions."""

    rooted: Rooted
    tasks: Tasks

    def task_of(self, run: Run) -> Task | None:
        """What drives the run in this server right now."""
        return self.tasks.driven(run.run_id)


Ctx: TypeAlias = Context[Office, Any]


def office(ctx: Ctx) -> Office:
    found = ctx.request_context.lifespan_context
    assert isinstance(found, Office)
    return found


@contextmanager
def told(ctx: Ctx) -> Iterator[Office]:
    """What goes wrong inside reaches the calling model in words that it can act on. Bugs are left to the SDK, which
    hides their text from the client and logs it."""
    desk = office(ctx)
    try:
        yield desk
    except (EnqueteError, OSError, sqlite3.OperationalError) as error:
        raise ToolError(explained(error, desk.rooted.root)) from error
