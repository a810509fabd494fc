"""How answers and keys become rows of the ledger and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from enquete.state.seam import Answer, BlockKey, CallKey

CALL = "methodology=? AND phase=? AND arm=? AND purpose=? AND subject=? AND attempt=?"
OCCASION = "arm=? AND methodology=? AND phase=? AND participant=? AND session=? AND round=? AND turn=?"


def call_values(key: CallKey) -> tuple[str, str, str, str, str, int]:
    return key.methodology, key.phase, key.arm, key.purpose, key.subject, key.attempt


def occasion_values(key: BlockKey) -> tuple[str, str, str, str, str, int, int]:
    return key.arm, key.methodology, key.phase, key.participant, key.session, key.round, key.turn


def short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


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
    return json.dumps(options, ensure_ascii=False) if options else ""


def answer_to_row(part: str, answer: Answer) -> tuple[object, ...]:
    return (
        answer.item, part, answer.status, answer.value, answer.text, answer.confidence,
        "" if answer.data is None else json.dumps(answer.data, ensure_ascii=False),
        json.dumps(answer.notes, ensure_ascii=False) if answer.notes else "",
        answer.position,
        options_text(answer.options_shown),
    )  # fmt: skip
