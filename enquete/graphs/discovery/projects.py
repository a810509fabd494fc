"""The project store: a SQLite file beside the simulations, with projects, conversations, the state of their schemas, records
and messages. What an interview asked and was told stands in its run's ledger; here is where a conversation is.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from enquete.checkpoints.connection import is_locked
from enquete.state.errors import Busy, InputError

FILE = "projects.sqlite"
WRITE = "BEGIN IMMEDIATE"
"""A transaction that reads before it writes fails "locked" at once."""
PATIENCE_S, LOOKED_S = 10.0, 0.05

SCHEMA = """
CREATE TABLE IF NOT EXISTS projects(id TEXT PRIMARY KEY, title TEXT NOT NULL, begun_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS interviews(
    project TEXT NOT NULL REFERENCES projects(id), conversation TEXT NOT NULL, ds TEXT NOT NULL, respondent TEXT NOT NULL,
    record TEXT NOT NULL, complete INTEGER NOT NULL, marked INTEGER NOT NULL, status TEXT NOT NULL, token TEXT NOT NULL,
    questions INTEGER NOT NULL, budget_left TEXT NOT NULL, missing TEXT NOT NULL, answered_by TEXT NOT NULL, model TEXT NOT NULL,
    PRIMARY KEY(project, conversation, ds)) STRICT;
CREATE TABLE IF NOT EXISTS messages(
    id INTEGER PRIMARY KEY, project TEXT NOT NULL, conversation TEXT NOT NULL, ds TEXT NOT NULL, turn INTEGER NOT NULL,
    question TEXT NOT NULL, answer TEXT NOT NULL, answered_by TEXT NOT NULL, model TEXT NOT NULL,
    UNIQUE(project, conversation, ds, turn)) STRICT;
"""


class Conversed(BaseModel):
    """Where one conversation is with one schema. `token`: of the run that goes on; "" where none does."""

    project: str
    conversation: str
    ds: str
    respondent: dict[str, JsonValue] = {}
    record: dict[str, JsonValue] = {}
    complete: bool = False
    marked: bool = False  # complete because somebody said so
    status: str = "open"
    token: str = ""
    questions: int = 0  # asked before the run that goes on; all of them where none does
    budget_left: str = "0"
    missing: list[str] = []
    answered_by: str = ""  # llm, synthetic or human, in its latest run
    model: str = ""

    @property
    def goes_on(self) -> bool:
        """Whether its run has not come to its end."""
        return bool(self.token) and self.status != "completed"


class Turn(NamedTuple):
    question: str
    answer: str
    answered_by: str
    model: str


class Projects:
    """Raises InputError for a project or conversation that there is not, Busy where another process holds the store."""

    def __init__(self, root: Path, *, patience_s: float = PATIENCE_S):
        """patience_s: how long another process is waited for."""
        self._file, self._patience_s = root / FILE, patience_s
        if self._file.is_symlink():
            raise InputError(f"{FILE}: a symbolic link; the project store must be a file of its own")

    @asynccontextmanager
    async def _open(self, begin: str = "BEGIN") -> AsyncIterator[sqlite3.Connection]:
        """In a transaction. Another process may be at the store: that is waited for without blocking the loop."""
        connection = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        try:
            await self._begun(connection, begin)
            with connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if is_locked(error):
                raise Busy(
                    f"{FILE}: another process has held the project store for {self._patience_s:g} s; ask again later"
                ) from error
            raise InputError(f"{FILE}: cannot be used ({error}); move it aside, runs are not affected") from error
        finally:
            connection.close()

    async def _begun(self, connection: sqlite3.Connection, begin: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience_s
        while True:
            try:
                connection.executescript(f"PRAGMA journal_mode=WAL;{SCHEMA}")
                connection.execute(begin)
                return
            except sqlite3.OperationalError as error:
                if not is_locked(error) or loop.time() >= deadline:
                    raise
            await asyncio.sleep(LOOKED_S)

    async def begin(self, project: str, title: str) -> None:
        """A project; one that there is keeps its title unless another is given."""
        async with self._open(WRITE) as connection:
            connection.execute(
                "INSERT INTO projects VALUES(?, ?, datetime('now')) ON CONFLICT(id) DO UPDATE SET title=excluded.title"
                " WHERE excluded.title != ''",
                (project, title),
            )

    async def projects(self) -> dict[str, str]:
        """Titles by id."""
        async with self._open() as connection:
            return dict(connection.execute("SELECT id, title FROM projects ORDER BY begun_at, id"))

    async def require(self, project: str) -> None:
        known = await self.projects()
        if project not in known:
            raise InputError(
                f"no project {project!r}; known: {', '.join(known) or 'none'}. Begin it with start_project"
            )

    async def interviews(self, project: str) -> list[Conversed]:
        """In the order they were begun."""
        await self.require(project)
        async with self._open() as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM interviews WHERE project=? ORDER BY rowid", (project,)).fetchall()
        return [_read(row) for row in rows]

    async def interview(self, project: str, conversation: str, ds: str) -> Conversed | None:
        found = [one for one in await self.interviews(project) if (one.conversation, one.ds) == (conversation, ds)]
        return found[0] if found else None

    async def keep(self, interview: Conversed, turns: Sequence[Turn] = ()) -> None:
        """The state, and the conversation's turns so far: both at once, whatever was there."""
        row = interview.model_dump()
        for name in ("respondent", "record", "missing"):
            row[name] = json.dumps(row[name], ensure_ascii=False)
        place = (interview.project, interview.conversation, interview.ds)
        async with self._open(WRITE) as connection:
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            updates = ", ".join(f"{name}=excluded.{name}" for name in row)
            connection.execute(
                f"INSERT INTO interviews({names}) VALUES({marks}) ON CONFLICT(project, conversation, ds) DO UPDATE SET {updates}",
                row,
            )
            connection.executemany(
                "INSERT OR REPLACE INTO messages(project, conversation, ds, turn, question, answer, answered_by, model)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                [(*place, number, *turn) for number, turn in enumerate(turns, 1)],
            )

    async def messages(self, project: str, conversation: str = "", text: str = "") -> list[dict[str, Any]]:
        """Turns, of one conversation or all, that hold a text."""
        await self.require(project)
        async with self._open() as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute(
                "SELECT conversation, ds, turn, question, answer, answered_by, model FROM messages WHERE project=?"
                " AND (?='' OR conversation=?)"
                " AND (?='' OR instr(lower(question || ' ' || answer), lower(?))) ORDER BY id",
                (project, conversation, conversation, text, text),
            ).fetchall()
        return [dict(row) for row in rows]


def _read(row: sqlite3.Row) -> Conversed:
    found = dict(row)
    for name in ("respondent", "record", "missing"):
        found[name] = json.loads(found[name])
    return Conversed.model_validate(found)
