"""What the ledger files: calls' cost, stages, bugs that were caught; how answers and keys become rows and back.

Answers and their counters are written in one transaction. Measured by: after any sequence of writes each counter equals
a COUNT or SUM over the rows it stands for.

What a run's calls used, by who asked for them and which model answered.

An allowance (tokens of a request that was never answered) counts question and reply at once, but models sell the two at
different prices: how much of it was question is noted beside it, in the same transaction. So is how much of a question
the server had in its cache, which many sell for less.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from time import time
from typing import Any, NamedTuple

from enquete.ledger import queries
from enquete.ledger.checksums import checksum_of, seal, seal_count, seal_note
from enquete.ledger.connection import Connection, WriteConnection
from enquete.state.asking import Answer, BlockKey, CallKey

# --- What calls used -------------------------------------------------------------------------------------------------

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


# --- Rows ------------------------------------------------------------------------------------------------------------

Rows = Sequence[tuple[object, ...]]
Counts = dict[tuple[str, str, str, int, str], int]
"""What is to be added, by arm, methodology, phase, round and name."""


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
    first, gap, rest = text.partition("\n\n")
    if not rest:
        return [(hashed, "", text)]
    head = _head(first + gap)
    return [head, (hashed, head[0], rest)]


@lru_cache(maxsize=256)
def _head(text: str) -> tuple[str, str, str]:
    return sha256(text.encode()).hexdigest()[:16], "", text


def answer_from_row(row: Sequence[object]) -> Answer:
    item, status, value, text, confidence, data, notes, position, options = row
    return Answer(
        # STRICT columns.
        item=item, status=status, value=value, text=text,  # type: ignore[arg-type]
        confidence=confidence, position=position,  # type: ignore[arg-type]
        data=json.loads(data) if data else None,  # type: ignore[arg-type]
        notes=tuple(json.loads(notes)) if notes else (),  # type: ignore[arg-type]
        options_shown=tuple(json.loads(options)) if options else (),  # type: ignore[arg-type]
    )  # fmt: skip


@lru_cache(maxsize=4096)
def options_text(options: tuple[int | str, ...]) -> str:
    """Options in the order shown. Few orders, millions of rows: written once each."""
    return json.dumps(options, ensure_ascii=False, separators=(",", ":")) if options else ""


def _as_stored(number: float | None) -> float | None:
    """Return a number as a database gives it back: whole ones as floats, and no negative zero."""
    return float(number) + 0.0 if isinstance(number, int | float) else number


def answer_to_row(part: str, answer: Answer) -> tuple[object, ...]:
    return (
        answer.item, part, answer.status, _as_stored(answer.value), answer.text, _as_stored(answer.confidence),
        "" if answer.data is None else json.dumps(answer.data, ensure_ascii=False),
        json.dumps(answer.notes, ensure_ascii=False) if answer.notes else "", answer.position,
        options_text(answer.options_shown),
    )  # fmt: skip


@dataclass(slots=True)
class CallInFlight:
    """A call that was reserved, with what of its row stays when it ends.

    allowance, sends: of earlier attempts that were lost or failed under the same key; known once it is reserved.
    """

    key: CallKey
    model: str
    system_hash: str
    messages_hash: str
    prompt_hash: str
    reserved: int
    reserved_at: int
    allowance: int = 0
    sends: int = 0

    def reserved_row(self) -> tuple[object, ...]:
        """Return the values of the statement that reserves it; what else its row holds is empty then."""
        row = (
            *call_values(self.key), "reserved", self.model, self.system_hash, self.messages_hash, self.prompt_hash,
            self.reserved, self.allowance, 0, 0, self.sends, "", "", "", "", "", 0, self.reserved_at, 0,
        )  # fmt: skip
        values = (self.model, self.system_hash, self.messages_hash, self.prompt_hash, self.reserved, self.reserved_at)
        return (*call_values(self.key), *values, checksum_of(row))

    def ended_row(self, status: str, usage: Usage, text: str, finish: str, error: str) -> tuple[object, ...]:
        """Return the values of the statement that ends it, with the checksum of the whole row."""
        key = call_values(self.key)
        sent = (self.model, self.system_hash, self.messages_hash, self.prompt_hash, self.reserved)
        ended_at = now_ms()
        got = (
            self.allowance + usage.allowance, usage.input_tokens, usage.output_tokens, self.sends + usage.sends, text,
            finish, usage.raw, usage.fingerprint, error, usage.latency_ms,
        )  # fmt: skip
        checksum = checksum_of((*key, status, *sent, *got, self.reserved_at, ended_at))
        return (status, *got, ended_at, checksum, *key)


class Reservation(NamedTuple):
    """A call that is to be reserved, and the texts of its prompt as rows of `texts`."""

    call: CallInFlight
    texts: list[tuple[str, str, str]]


class Ended(NamedTuple):
    """A call that came to its end: what it cost, its row as the statement wants it, what is to be noted beside."""

    key: CallKey
    usage: Usage
    row: tuple[object, ...]
    noted: list[tuple[str, str]]


def write_reservations(connection: WriteConnection, reserved: Sequence[Reservation]) -> None:
    """Reserve calls; each is told what its earlier attempts cost. Raise RuntimeError where one is settled or in
    flight."""
    texts = sorted({text for reservation in reserved for text in reservation.texts})
    connection.executemany(queries.ADD_TEXT, texts)
    # As of a first attempt, which nearly every call is; also where the transaction is tried once more.
    for call, _ in reserved:
        call.allowance, call.sends = 0, 0
    rows = connection.each(queries.RESERVE, [call.reserved_row() for call, _ in reserved])
    again = []
    for (call, _), row in zip(reserved, rows, strict=True):
        if row is None:
            raise RuntimeError(f"call {call.key} is already settled or in flight")
        number, call.allowance, call.sends = row
        if call.allowance or call.sends:
            again.append((call.reserved_row()[-1], number))
    if again:
        connection.executemany(queries.SEAL_CALL, again)


def seal_calls(connection: Connection, rows: Sequence[Sequence[object]]) -> None:
    """Give calls that a statement has changed their checksums. rows: their numbers, and all that they hold now."""
    if rows:
        connection.executemany(queries.SEAL_CALL, [(checksum_of(tuple(values)), number) for number, *values in rows])


def write_settled(connection: Connection, ended: Sequence[Ended]) -> None:
    """Raises RuntimeError where one was not in flight."""
    counts = _write_ended(connection, ended, "was settled twice or never reserved")
    for key, usage, _, _ in ended:
        spent = usage.input_tokens + usage.output_tokens + usage.allowance
        odd = {"unbelieved": usage.unbelieved, "overlong": usage.overlong, "shortened": usage.shortened}
        add_counts(counts, key, {"tokens": spent, "calls": 1, **odd})
    write_counts(connection, counts)


def write_failed(connection: Connection, ended: Sequence[Ended]) -> None:
    """Likewise."""
    counts = _write_ended(connection, ended, "is not in flight")
    for key, usage, _, _ in ended:
        add_counts(counts, key, {"tokens": usage.allowance})
    write_counts(connection, counts)


def _write_ended(connection: Connection, ended: Sequence[Ended], fault: str) -> Counts:
    if connection.executemany(queries.END_CALL, [call.row for call in ended]).rowcount != len(ended):
        raise RuntimeError(f"call {ended[0].key} {fault}")
    add_notes(connection, [row for call in ended for row in call.noted])
    return {}


def add_notes(connection: Connection, notes: Sequence[tuple[str, str]]) -> None:
    """Add these numbers to the ledger's remarks of these names."""
    if notes:
        connection.executemany(queries.ADD_NOTED, [seal_note(*note) for note in sorted(notes)])


def write_lost(connection: Connection, run: str, sql: str = queries.LOSE, values: Sequence[object] = ()) -> int:
    """Calls in flight when a process died: each may have been billed, so its reservation is an allowance (of which a
    token for two bytes of its texts is question). Returns their number."""
    lost = connection.execute(sql, values).fetchall()
    seal_calls(connection, lost)
    counts: Counts = {}
    noted: list[tuple[str, str]] = []
    for row in lost:
        methodology, phase, arm, *asked, _status, model, system, messages, _prompt, tokens = row[1:13]
        texts = [connection.execute(queries.TEXT_OF, (hashed,)).fetchone()[0] for hashed in (system, messages)]
        size = sum(len((text or "").encode()) for text in texts) if None not in texts else 0
        key = CallKey(run, arm, methodology, phase, *asked)
        noted += noted_of(key, model, tokens, min(tokens, size // 2))
        add_counts(counts, key, {"tokens": tokens, "lost": 1})
    add_notes(connection, noted)
    write_counts(connection, counts)
    return len(lost)


def write_answers(connection: WriteConnection, stored: Sequence[tuple[BlockKey, Rows, int]]) -> None:
    """Blocks: key, rows as `answer_to_row` makes them, when they were asked. A failed row is replaced; raises
    RuntimeError for any other rewrite."""
    made = connection.each(queries.ADD_OCCASION, [seal(occasion_values(key)) for key, _, _ in stored])
    there = [block for block, new in zip(stored, made, strict=True) if new is None]
    wanted = [(key.part, _listed(rows), *occasion_values(key)) for key, rows, _ in there]
    standing = iter(connection.each(queries.STANDING, wanted) if there else ())
    counts: Counts = {}
    answers: list[tuple[object, ...]] = []
    for (key, rows, asked_at), new in zip(stored, made, strict=True):
        occasion, part_is_new, replaced = (new[0], True, 0) if new is not None else next(standing)
        answers += [seal((occasion, *row, asked_at)) for row in rows]
        add_counts(counts, key, {"blocks": int(part_is_new), "answers_failed": -replaced})
        for row in rows:
            add_counts(counts, key, {f"answers_{row[2]}": 1})
    changed = connection.executemany(queries.STORE_ANSWER, answers).rowcount if answers else 0
    if changed != len(answers):
        raise RuntimeError(f"{len(answers) - changed} answers of {stored[0][0]} are already stored")
    write_counts(connection, counts)


def _listed(rows: Rows) -> str:
    return json.dumps([row[0] for row in rows], ensure_ascii=False)


def add_counts(counts: Counts, key: BlockKey | CallKey, more: Mapping[str, int]) -> None:
    """To what is to be added to the counters of this arm, methodology, phase and (for answers) round."""
    place = (key.arm, key.methodology, key.phase, key.round if isinstance(key, BlockKey) else 0)
    for name, value in more.items():
        if value:
            counts[*place, name] = counts.get((*place, name), 0) + int(value)


def write_counts(connection: Connection, counts: Counts) -> None:
    added = sorted((*place, value) for place, value in counts.items() if value)  # else two writers may deadlock
    if added:
        connection.executemany(queries.COUNT, [seal_count(row[:-1], row[-1]) for row in added])
