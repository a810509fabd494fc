"""What the ledger files: calls' cost, stages, bugs that were caught; how answers and keys become rows and back.

Answers and their counters are written in one transaction. Measured by: after any sequence of writes each counter equals
a COUNT or SUM over the rows it stands for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from time import time

from enquete.state.asking import Answer, BlockKey, CallKey

CALL = "methodology=? AND phase=? AND arm=? AND purpose=? AND subject=? AND attempt=?"
OCCASION = "arm=? AND methodology=? AND phase=? AND participant=? AND session=? AND round=? AND turn=?"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a settled call cost and how it went."""

    input_tokens: int
    output_tokens: int
    allowance: int = 0  # tokens of sends that never answered
    sends: int = 1
    latency_ms: int = 0
    fingerprint: str = ""
    raw: str = ""
    model: str = ""
    allowance_read: int = 0  # how much of `allowance` was question
    unbelieved: bool = False  # the server reported a usage that cannot be; what stands here is an estimate
    cached_tokens: int = 0  # of `input_tokens`, those that the server had read before
    overlong: bool = False  # more was written than the request allowed
    shortened: bool = False  # asked in the short form, which the model's context had room for


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """How far a methodology got in a phase."""

    methodology: str
    phase: str
    outcome: str
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A bug that was caught: the unit has no answers."""

    arm: str
    methodology: str
    phase: str
    round: int
    unit: str
    error: str
    traceback: str


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def now_ms() -> int:
    """As calls and answers keep it, of which there are more than of anything else."""
    return round(time() * 1000)


def time_of(column: str) -> str:
    """SQL for the time in this column, as `now_ms` made it; "" where there is none yet."""
    return f"iif({column} = 0, '', strftime('%Y-%m-%dT%H:%M:%fZ', {column} / 1000.0, 'unixepoch'))"


def call_values(key: CallKey) -> tuple[str, str, str, str, str, int]:
    return key.methodology, key.phase, key.arm, key.purpose, key.subject, key.attempt


def occasion_values(key: BlockKey) -> tuple[str, str, str, str, str, int, int]:
    return key.arm, key.methodology, key.phase, key.participant, key.session, key.round, key.turn


def short_hashes(first: str, second: str) -> list[str]:
    """Of both texts, and of one after the other."""
    running, other = sha256(first.encode()), second.encode()
    alone = running.hexdigest()
    running.update(other)
    return [digest[:16] for digest in (alone, sha256(other).hexdigest(), running.hexdigest())]


def text_rows(text: str, hashed: str) -> list[tuple[str, str, str]]:
    """Of `texts`: without its first paragraph where it has more, which is a row of its own."""
    first, gap, own = text.partition("\n\n")
    if not own:
        return [(hashed, "", text)]
    head = _head(first + gap)
    return [head, (hashed, head[0], own)]


@lru_cache(maxsize=256)
def _head(text: str) -> tuple[str, str, str]:
    return sha256(text.encode()).hexdigest()[:16], "", text


def text_of(column: str) -> str:
    """SQL for the whole text whose hash stands in this column."""
    return (
        "(SELECT iif(t.head = '', '', h.text) || t.text FROM texts t LEFT JOIN texts h ON h.hash = t.head"
        f" WHERE t.hash = {column})"
    )


def answer_from_row(row: Sequence[object]) -> Answer:
    item, status, value, text, confidence, data, notes, position, options = row
    return Answer(
        item=item, status=status, value=value, text=text, confidence=confidence, position=position,  # type: ignore[arg-type]  # STRICT columns
        data=json.loads(data) if data else None,  # type: ignore[arg-type]
        notes=tuple(json.loads(notes)) if notes else (),  # type: ignore[arg-type]
        options_shown=tuple(json.loads(options)) if options else (),  # type: ignore[arg-type]
    )  # fmt: skip


@lru_cache(maxsize=4096)
def options_text(options: tuple[int | str, ...]) -> str:
    """Options in the order shown. Few orders, millions of rows: written once each."""
    return json.dumps(options, ensure_ascii=False, separators=(",", ":")) if options else ""


def answer_to_row(part: str, answer: Answer) -> tuple[object, ...]:
    return (
        answer.item, part, answer.status, answer.value, answer.text, answer.confidence,
        "" if answer.data is None else json.dumps(answer.data, ensure_ascii=False),
        json.dumps(answer.notes, ensure_ascii=False) if answer.notes else "", answer.position,
        options_text(answer.options_shown),
    )  # fmt: skip


def store_answers(
    connection: sqlite3.Connection, key: BlockKey, rows: Sequence[tuple[object, ...]], asked_at: int
) -> None:
    """Rows as `answer_to_row` makes them. A failed row is replaced; raises RuntimeError for any other rewrite."""
    occasion, part_is_new, replaced = _occasion(connection, key, rows)
    changed = _upsert(connection, [(occasion, *row, asked_at) for row in rows])
    if changed != len(rows):
        raise RuntimeError(f"{len(rows) - changed} answers of {key} are already stored")
    counts = {"blocks": int(part_is_new), "answers_failed": -replaced}
    for row in rows:
        name = f"answers_{row[2]}"
        counts[name] = counts.get(name, 0) + 1
    count(connection, key, counts)


def _occasion(
    connection: sqlite3.Connection, key: BlockKey, rows: Sequence[tuple[object, ...]]
) -> tuple[int, int, int]:
    """The occasion's number, whether the part is new (1 or 0), and how many failed rows will be replaced."""
    made = connection.execute(
        "INSERT INTO occasions(arm, methodology, phase, participant, session, round, turn) VALUES(?,?,?,?,?,?,?)"
        " ON CONFLICT DO NOTHING RETURNING id",
        occasion_values(key),
    ).fetchone()
    if made:
        return made[0], 1, 0
    occasion = connection.execute(f"SELECT id FROM occasions WHERE {OCCASION}", occasion_values(key)).fetchone()[0]
    part_is_new, replaced = connection.execute(
        "SELECT NOT EXISTS(SELECT 1 FROM answers WHERE occasion=?1 AND part=?2), (SELECT count(*) FROM answers"
        " WHERE occasion=?1 AND status='failed' AND item IN (SELECT value FROM json_each(?3)))",
        (occasion, key.part, json.dumps([row[0] for row in rows])),
    ).fetchone()
    return occasion, part_is_new, replaced


def _upsert(connection: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> int:
    return connection.executemany(
        "INSERT INTO answers(occasion, item, part, status, value, text, confidence, data, notes, position, options_shown,"
        " asked_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(occasion, item)"
        " DO UPDATE SET status=excluded.status, value=excluded.value, text=excluded.text,"
        " confidence=excluded.confidence, data=excluded.data, notes=excluded.notes, position=excluded.position,"
        " options_shown=excluded.options_shown, asked_at=excluded.asked_at WHERE answers.status='failed'",
        rows,
    ).rowcount


def count(connection: sqlite3.Connection, key: BlockKey | CallKey, counts: dict[str, int]) -> None:
    """Add to the counters of this arm, methodology, phase and (for answers) round."""
    round_ = key.round if isinstance(key, BlockKey) else 0
    connection.executemany(
        "INSERT INTO counters VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET value=value+excluded.value",
        [(key.arm, key.methodology, key.phase, round_, name, value) for name, value in counts.items() if value],
    )
