"""Forms: blocks that wait for a person. A draft is saved on every change; submitting closes the form once and for all.

The answers of a submitted form are committed by the context like any other; the form keeps what was shown.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from enquete.ledger.connection import explained
from enquete.ledger.ledger import Ledger, now
from enquete.state.asking import Block, BlockKey

KEY = "arm=? AND methodology=? AND phase=? AND session=? AND round=? AND turn=? AND participant=? AND part=?"


@dataclass(frozen=True)
class Form:
    """A form as it stands. `draft`: item id → what was entered."""

    state: Literal["open", "submitted", "withdrawn"]
    block: Block
    draft: dict[str, JsonValue]
    opened_at: str
    changed_at: str


async def file_form(ledger: Ledger, block: Block) -> None:
    """Open a form for this block; filing it again changes nothing."""
    opened = now()

    def write(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO forms(arm, methodology, phase, session, round, turn, participant, part, state, block, draft,"
            " opened_at, changed_at) VALUES(?,?,?,?,?,?,?,?,'open',?,'{}',?,?) ON CONFLICT DO NOTHING",
            (*block.key[1:], block.model_dump_json(), opened, opened),
        )

    await ledger.write(write)


async def save_draft(ledger: Ledger, key: BlockKey, draft: dict[str, JsonValue]) -> bool:
    """Replace the draft; False where there is no open form (never filed, submitted, withdrawn)."""
    return await _change(ledger, key, "draft=?", json.dumps(draft, ensure_ascii=False))


async def close_form(ledger: Ledger, key: BlockKey, state: Literal["submitted", "withdrawn"]) -> bool:
    """Submit or withdraw an open form; False where there is none."""
    return await _change(ledger, key, "state=?", state)


async def _change(ledger: Ledger, key: BlockKey, assignment: str, value: str) -> bool:
    return await ledger.write(
        lambda connection: (
            connection.execute(
                f"UPDATE forms SET {assignment}, changed_at=? WHERE {KEY} AND state='open'", (value, now(), *key[1:])
            ).rowcount
            == 1
        )
    )


def form(ledger: Ledger, key: BlockKey) -> Form | None:
    """The form of this block, or None."""
    return next(iter(_forms(ledger, KEY, key[1:])), None)


def open_forms(ledger: Ledger) -> list[Form]:
    """Everything that waits for a person, oldest first."""
    return _forms(ledger, "state='open' ORDER BY id")


def last_submitted(ledger: Ledger) -> dict[str, dict[str, JsonValue]]:
    """What each person of whom nothing is asked now entered in the last form that they submitted, by participant."""
    asked = {one.block.key.participant for one in open_forms(ledger)}
    entered = {one.block.key.participant: one.draft for one in _forms(ledger, "state='submitted' ORDER BY id")}
    return {who: draft for who, draft in entered.items() if who not in asked}


def _forms(ledger: Ledger, where: str, values: Sequence[object] = ()) -> list[Form]:
    """Raises LedgerError where one is not readable."""
    with explained(ledger.path):
        rows = ledger.read(
            f"SELECT state, block, draft, opened_at, changed_at FROM forms WHERE {where}", values
        ).fetchall()
        return [Form(r[0], Block.model_validate_json(r[1]), json.loads(r[2]), r[3], r[4]) for r in rows]


def persons(ledger: Ledger) -> list[str]:
    """Everybody who has been given a form, answered or not, the first one first."""
    rows = ledger.read("SELECT participant FROM forms GROUP BY participant ORDER BY min(id)")
    return [who for (who,) in rows]
