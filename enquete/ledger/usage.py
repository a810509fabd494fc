"""What a run's calls used, by who asked for them and which model answered.

An allowance (tokens of a request that was never answered) counts question and reply at once, but models sell the two at
different prices: how much of it was question is noted beside it, in the same transaction. So is how much of a question
the server had in its cache, which many sell for less.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from enquete.ledger.entries import count, text_of
from enquete.state.asking import CallKey

TOTAL, QUESTIONS, CACHED = "unanswered", "unanswered_read", "cached"
NOTED = """
INSERT INTO meta VALUES(?, ?) ON CONFLICT(key)
DO UPDATE SET value=CAST(CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER) AS TEXT)
"""


class CallGroup(NamedTuple):
    """Whose calls: of which methodology, phase and arm, by which model."""

    methodology: str
    phase: str
    arm: str
    model: str


class Used(NamedTuple):
    """Tokens. `unanswered`: allowances; `unanswered_read`: the questions among them, as far as that is known; `cached`:
    those of `read` that the server says it had read before."""

    read: int
    written: int
    unanswered: int = 0
    unanswered_read: int = 0
    cached: int = 0


def note_unanswered(connection: sqlite3.Connection, key: CallKey, model: str, tokens: int, read: int) -> None:
    """Add to what was never answered, inside the transaction that files the allowance."""
    asked = CallGroup(key.methodology, key.phase, key.arm, model)
    for name, value in ((TOTAL, tokens), (QUESTIONS, read)):
        if value:
            connection.execute(NOTED, (json.dumps([name, *asked]), str(value)))


def note_cached(connection: sqlite3.Connection, key: CallKey, model: str, tokens: int) -> None:
    """Add to what the server had in its cache, inside the transaction that settles the call."""
    if tokens:
        asked = CallGroup(key.methodology, key.phase, key.arm, model)
        connection.execute(NOTED, (json.dumps([CACHED, *asked]), str(tokens)))


def lose(connection: sqlite3.Connection, run: str, which: str = "1", values: Sequence[object] = ()) -> int:
    """Calls in flight when a process died: each may have been billed, so its reservation is an allowance (of which a
    token for two bytes of its texts is question). `which`: a condition on `calls`; all unless given. Returns their
    number."""
    lost = connection.execute(
        "UPDATE calls SET status='lost', allowance=allowance+reserved, sends=sends+1"
        f" WHERE status='reserved' AND {which}"
        " RETURNING arm, methodology, phase, purpose, subject, attempt, reserved, model,"
        f" length(CAST({text_of('system_hash')} || {text_of('messages_hash')} AS BLOB))",
        values,
    ).fetchall()
    for *names, tokens, model, size in lost:
        key = CallKey(run, *names)
        note_unanswered(connection, key, model, tokens, min(tokens, (size or 0) // 2))
        count(connection, key, {"tokens": tokens, "lost": 1})
    return len(lost)


def cached(query: Callable[..., sqlite3.Cursor]) -> dict[CallGroup, int]:
    rows = query("SELECT key, value FROM meta WHERE key LIKE ?", (f'["{CACHED}"%',)).fetchall()
    return {CallGroup(*json.loads(key)[1:]): int(value) for key, value in rows}


def unanswered(query: Callable[..., sqlite3.Cursor]) -> dict[CallGroup, tuple[int, int]]:
    """Allowances and the questions among them. `query`: a ledger's `read`."""
    found: dict[CallGroup, tuple[int, int]] = {}
    for key, value in query("SELECT key, value FROM meta WHERE key LIKE ?", (f'["{TOTAL}%',)).fetchall():
        name, *asked = json.loads(key)
        tokens, questions = found.get(CallGroup(*asked), (0, 0))
        found[CallGroup(*asked)] = (int(value), questions) if name == TOTAL else (tokens, int(value))
    return found


def usage(query: Callable[..., sqlite3.Cursor], without: Collection[str] = ()) -> dict[CallGroup, Used]:
    """All calls but those of the methodologies `without`."""
    questions = {asked: tokens for asked, (_, tokens) in unanswered(query).items()}
    before = cached(query)
    values: Sequence[str] = tuple(without)
    rows = query(
        "SELECT methodology, phase, arm, model, sum(input_tokens), sum(output_tokens), sum(allowance) FROM calls"
        f" WHERE methodology NOT IN ({','.join('?' * len(values))}) GROUP BY methodology, phase, arm, model",
        values,
    ).fetchall()
    found = {}
    for methodology, phase, arm, model, read, written, lost in rows:
        asked = CallGroup(methodology, phase, arm, model)
        found[asked] = Used(read, written, lost, min(lost, questions.get(asked, 0)), min(read, before.get(asked, 0)))
    return found
