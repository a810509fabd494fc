"""Answers and counters, written in one transaction.

Measured by: after any sequence of writes each counter equals a COUNT or SUM over the rows it stands for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from enquete.checkpoints.codec import OCCASION, occasion_values
from enquete.state.seam import BlockKey, CallKey


def store_answers(
    connection: sqlite3.Connection, key: BlockKey, rows: Sequence[tuple[object, ...]], asked_at: str
) -> None:
    """Rows as `codec.answer_to_row` makes them. A failed row is replaced; raises RuntimeError for any other rewrite."""
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
