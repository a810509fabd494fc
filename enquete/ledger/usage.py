"""What a run's calls used, by who asked for them and which model answered.

An allowance (tokens of a request that was never answered) counts question and reply at once, but models sell the two at
different prices: how much of it was question is noted beside it, in the same transaction. So is how much of a question
the server had in its cache, which many sell for less.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from enquete.ledger import queries
from enquete.state.asking import CallKey

Query = Callable[..., Any]

TOTAL, QUESTIONS, CACHED = "unanswered", "unanswered_read", "cached"


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


def noted_of(key: CallKey, model: str, tokens: int, read: int, before: int = 0) -> list[tuple[str, str]]:
    """What is to be added to the ledger's remarks in the transaction that files an allowance of `tokens` (of which
    `read` were question) or settles a call of whose question the server had `before` in its cache."""
    asked = CallGroup(key.methodology, key.phase, key.arm, model)
    named = ((TOTAL, tokens), (QUESTIONS, read), (CACHED, before))
    return [(json.dumps([name, *asked]), str(value)) for name, value in named if value]


def cached(query: Query) -> dict[CallGroup, int]:
    rows = query(queries.NOTES_LIKE, (f'["{CACHED}"%',)).fetchall()
    return {CallGroup(*json.loads(key)[1:]): int(value) for key, value in rows}


def unanswered(query: Query) -> dict[CallGroup, tuple[int, int]]:
    """Allowances and the questions among them. `query`: a ledger's `read`."""
    by_group: dict[CallGroup, tuple[int, int]] = {}
    for key, value in query(queries.NOTES_LIKE, (f'["{TOTAL}%',)).fetchall():
        name, *asked = json.loads(key)
        tokens, questions = by_group.get(CallGroup(*asked), (0, 0))
        by_group[CallGroup(*asked)] = (int(value), questions) if name == TOTAL else (tokens, int(value))
    return by_group


def usage(query: Query, without: Collection[str] = ()) -> dict[CallGroup, Used]:
    """All calls but those of the methodologies `without`."""
    questions = {asked: tokens for asked, (_, tokens) in unanswered(query).items()}
    before = cached(query)
    by_group = {}
    rows = query(queries.USED, (json.dumps(list(without)),)).fetchall()
    for *group, read, written, lost in rows:
        asked = CallGroup(*group)
        by_group[asked] = Used(read, written, lost, min(lost, questions.get(asked, 0)), min(read, before.get(asked, 0)))
    return by_group
