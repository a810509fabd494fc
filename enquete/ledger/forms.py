"""Forms: blocks that wait for a person. A draft is saved on every change; submitting closes the form once and for all.

The answers of a submitted form are committed by the context like any other; the form keeps what was shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from enquete.ledger import queries
from enquete.ledger.connection import explained
from enquete.ledger.ledger import Ledger, now
from enquete.state.asking import Block, BlockKey


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
    row = (*block.key[1:], block.model_dump_json(), opened, opened)
    await ledger.write(lambda connection: connection.execute(queries.FILE_FORM, row))


async def save_draft(ledger: Ledger, key: BlockKey, draft: dict[str, JsonValue]) -> bool:
    """Replace the draft; False where there is no open form (never filed, submitted, withdrawn)."""
    return await _change(ledger, key, queries.SAVE_DRAFT, json.dumps(draft, ensure_ascii=False))


async def close_form(ledger: Ledger, key: BlockKey, state: Literal["submitted", "withdrawn"]) -> bool:
    """Submit or withdraw an open form; False where there is none."""
    return await _change(ledger, key, queries.CLOSE_FORM, state)


async def _change(ledger: Ledger, key: BlockKey, sql: str, value: str) -> bool:
    values = (value, now(), *key[1:])
    return await ledger.write(lambda connection: bool(connection.execute(sql, values).rowcount == 1))


def form(ledger: Ledger, key: BlockKey) -> Form | None:
    """The form of this block, or None."""
    return next(iter(_forms(ledger, queries.FORM_OF, key[1:])), None)


def open_forms(ledger: Ledger) -> list[Form]:
    """Everything that waits for a person, oldest first."""
    return _forms(ledger, queries.FORMS_IN, ("open",))


def last_submitted(ledger: Ledger) -> dict[str, dict[str, JsonValue]]:
    """What each person of whom nothing is asked now entered in the last form that they submitted, by participant."""
    asked = {form.block.key.participant for form in open_forms(ledger)}
    entered = {form.block.key.participant: form.draft for form in _forms(ledger, queries.FORMS_IN, ("submitted",))}
    return {who: draft for who, draft in entered.items() if who not in asked}


def _forms(ledger: Ledger, sql: str, values: Sequence[object]) -> list[Form]:
    """Raises LedgerError where one is not readable."""
    with explained(ledger.path):
        rows = ledger.read(sql, values).fetchall()
        return [Form(r[0], Block.model_validate_json(r[1]), json.loads(r[2]), r[3], r[4]) for r in rows]


def persons(ledger: Ledger) -> list[str]:
    """Everybody who has been given a form, answered or not, the first one first."""
    return [who for (who,) in ledger.read(queries.PERSONS)]
