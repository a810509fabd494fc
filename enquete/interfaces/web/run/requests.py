"""What was sent to a model for one answer and what came back, word for word, from the run's ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enquete.checkpoints.entries import text_of, time_of
from enquete.checkpoints.folders import reading

STORED = f"""
SELECT a.part, a.data, a.notes, a.position, a.options_shown, {time_of("a.asked_at")} FROM occasions o JOIN answers a ON a.occasion = o.id
WHERE o.arm = ? AND o.methodology = ? AND o.phase = ? AND o.session = ? AND o.round = ? AND o.turn = ? AND o.participant = ?
  AND a.item = ?
"""
CALLS = f"""
SELECT c.purpose, c.subject, c.attempt, c.status, c.model, c.finish, c.input_tokens, c.output_tokens, c.allowance, c.sends,
  c.latency_ms, c.fingerprint, c.prompt_hash, {text_of("c.messages_hash")} AS messages, c.response, c.raw, c.error,
  {time_of("c.reserved_at")} AS reserved_at, {time_of("c.settled_at")} AS settled_at, {text_of("c.system_hash")} AS system
FROM calls c WHERE c.methodology = ? AND c.phase = ? AND c.arm = ?
"""
OF_ANSWER = f"{CALLS} AND c.purpose = 'answer' AND c.subject = ? ORDER BY c.attempt"
OF_TURN = f"{CALLS} AND c.purpose <> 'answer' AND c.subject = ? ORDER BY c.purpose, c.attempt"


@dataclass(frozen=True)
class Key:
    """Of an answer, as docs/files-on-disk.md names it."""

    run: str
    arm: str
    methodology: str
    phase: str
    session: str
    round: int
    turn: int
    participant: str
    item: str

    @classmethod
    def parse(cls, text: str) -> Key:
        """Raises ValueError for what is no id of an answer."""
        run, arm, methodology, phase, session, number, turn, rest = text.split("/", 7)
        participant, item = rest.split("/", 1)
        return cls(run, arm, methodology, phase, session, int(number), int(turn), participant, item)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Key:
        run, arm, methodology, phase, session, participant, item = (
            str(row[name]) for name in ("run_id", "arm", "methodology", "phase", "session", "participant", "item_id")
        )
        return cls(run, arm, methodology, phase, session, int(row["round"]), int(row["turn"]), participant, item)

    def __str__(self) -> str:
        return (
            f"{self.run}/{self.arm}/{self.methodology}/{self.phase}/{self.session}/{self.round}/{self.turn}/"
            f"{self.participant}/{self.item}"
        )


@dataclass(frozen=True)
class Asked:
    """What the ledger holds of an answer: as it is stored, the requests that brought it, and what else was asked of a model
    about the same turn. `stored` is None where it was never answered."""

    stored: Mapping[str, Any] | None
    answering: list[dict[str, Any]]
    beside: list[dict[str, Any]]


def asked(folder: Path, key: Key) -> Asked:
    """Raises LedgerError where the run's ledger cannot be read."""
    with reading(folder) as ledger:
        occasion = (key.arm, key.methodology, key.phase, key.session, key.round, key.turn, key.participant, key.item)
        row = ledger.execute(STORED, occasion).fetchone()
        if row is None:
            return Asked(None, [], [])
        stored = dict(zip(("part", "data", "notes", "position", "options_shown", "asked_at"), row, strict=True))
        stage = (key.methodology, key.phase, key.arm)
        subject = f"{key.participant}|{key.session}|{key.round}|{key.turn}|{stored['part']}"
        answering = _calls(ledger.execute(OF_ANSWER, (*stage, subject)))
        turn = f"{key.participant}|turn {key.turn}"  # how conversations name what they ask of an interviewer's model
        return Asked(stored, answering, _calls(ledger.execute(OF_TURN, (*stage, turn))))


def _calls(cursor: Any) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    return [
        {
            **one,
            "messages": _messages(one["messages"]),
            "response": indented(one["response"]),
            "raw": indented(one["raw"]),
        }
        for one in found
    ]


def _messages(text: str) -> list[tuple[str, str]]:
    """Role and words of each."""
    try:
        given = json.loads(text)
    except ValueError:
        return [("", text)]
    return [
        (str(one.get("role", "")), str(one.get("content", ""))) if isinstance(one, dict) else ("", json.dumps(one))
        for one in (given if isinstance(given, list) else [given])
    ]


def indented(text: str) -> str:
    """JSON as it is read, anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
