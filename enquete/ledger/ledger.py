"""The ledger: calls, answers, frozen values, forms, stages and counters of one run. The truth; checkpoints are
position.

A paid request is a row before it is sent (`reserve`) and keeps its raw response after (`settle`), so the ledger is the
audit, the cassette and the budget at once. Reads are short and synchronous on their own connection; writes are awaited
and committed in groups (writer.py). A read sees everything whose write was awaited.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, Self, TypeVar

from pydantic import JsonValue

from enquete.ledger.connection import SCHEMA_VERSION, TABLES, connect, explained
from enquete.ledger.entries import (
    CALL,
    OCCASION,
    Failure,
    StageOutcome,
    Usage,
    answer_from_row,
    answer_to_row,
    call_values,
    count,
    now,
    now_ms,
    occasion_values,
    short_hashes,
    store_answers,
    text_rows,
)
from enquete.ledger.folders import CHECKPOINTS, record_in, require_outcomes, set_aside
from enquete.ledger.record import RunRecord
from enquete.ledger.usage import lose, note_cached, note_unanswered
from enquete.ledger.workers import landed, require_registered, sent_by
from enquete.ledger.writer import GroupWriter, Room, Write, WriteCounter, counted, told_by_checkpoints
from enquete.state.asking import Answer, BlockKey, CallKey, Participant
from enquete.state.errors import LedgerError
from enquete.state.interview_context import Completion, Prompt

__all__ = ["Failure", "Ledger", "StageOutcome", "Usage", "connect", "now"]

T = TypeVar("T")
log = logging.getLogger("enquete")

FAILURE = "arm=? AND methodology=? AND phase=? AND round=? AND unit=?"
_parsed = lru_cache(maxsize=16)(json.loads)  # a panel's themes grow with it and are read for each of its agents


class Ledger:
    """One run's ledger. Open it inside the event loop that will use it."""

    def __init__(self, path: Path, run: str = "", *, create: bool = False, room: Room | None = None, worker: str = ""):
        """`run`: whose it must be; the one that it names itself unless given. `worker`: of a process that works for the
        run's driver; it writes only as long as it is registered (workers.py). Raises LedgerError if the file is
        damaged, of another run or of another schema version."""
        self.path = path
        self.run = run
        self._worker = worker
        if not create and not path.exists():
            raise LedgerError(f"{path}: this run has no ledger")
        with ExitStack() as opened:
            with explained(path):
                self._write_connection = opened.enter_context(closing(connect(path)))
                if create:
                    self._create()
                self._check(self._write_connection)
                self._read = opened.enter_context(closing(connect(path, read_only=True)))
                self._counter = WriteCounter(path, 0 if worker else self._set_checkpoints_right())
            opened.pop_all()
        self._writer = GroupWriter(self._write_connection, str(path), room, self._counter)

    def guard(self) -> None:
        """From now on this worker, which has just been registered, writes nothing unless it still is."""
        self._writer.guard = lambda connection: require_registered(connection, self._worker)

    @classmethod
    def reading(cls, path: Path, run: str = "") -> Self:
        """A ledger to read only, beside whoever drives the run: reports, exports, an earlier baseline."""
        if not path.is_file():
            raise LedgerError(f"{path}: this run has no ledger")
        ledger = cls.__new__(cls)
        ledger.path, ledger.run = path, run
        with ExitStack() as opened:
            with explained(path):
                ledger._read = opened.enter_context(closing(connect(path, read_only=True)))
                ledger._check(ledger._read)
            opened.pop_all()
        return ledger

    def close_reading(self) -> None:
        self._read.close()

    def _create(self) -> None:
        connection = self._write_connection
        connection.execute("BEGIN IMMEDIATE")
        for statement in TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.executemany(
            "INSERT INTO meta VALUES(?, ?)", [("schema_version", str(SCHEMA_VERSION)), ("run", self.run)]
        )
        connection.execute("COMMIT")

    def _set_checkpoints_right(self) -> int:
        """The ledger is the truth: a position from after writes that it has lost would lead past them, so it is set
        aside before anything more is written. Returns the ledger's count."""
        checkpoints = self.path.with_name(CHECKPOINTS)
        told = told_by_checkpoints(checkpoints)  # first: a driver goes on
        writes = counted(self._write_connection.execute)
        if told > writes:
            kept = set_aside(checkpoints)
            log.warning("%s: its checkpoints are ahead of the ledger and were set aside as %s", self.run, kept.name)
        return writes

    def _check(self, connection: sqlite3.Connection) -> None:
        meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        self.run = self.run or str(meta.get("run"))
        if meta.get("run") != self.run:
            raise LedgerError(f"{self.path}: ledger of run {meta.get('run')!r}, not {self.run!r}")

    @property
    def record(self) -> RunRecord:
        """What the run is. Raises LedgerError where that cannot be read, NeverStarted."""
        return record_in(self.read, self.path.parent)

    async def close(self) -> None:
        await self._writer.close()
        self._read.close()
        self._write_connection.close()
        self._counter.close()

    async def drain(self) -> None:
        await self._writer.drain()

    def write(self, write: Write[T]) -> asyncio.Future[T]:
        """A write of another module's (forms), in the same groups and with the same guarantees."""
        return self._writer.submit(write)

    def read(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """A short read on the ledger's own reading connection; fetch it whole, an open one hides later writes.

        Raises LedgerError where the file is damaged.
        """
        with explained(self.path):
            return self._read.execute(sql, values)

    def look(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """A short read of another module's (workers), like `read`."""
        with explained(self.path):
            return read(self._read)

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with explained(self.path):
            return self._read.execute(sql, values).fetchall()

    def _row(self, sql: str, values: Sequence[object] = ()) -> Any:
        return next(iter(self._rows(sql, values)), None)

    def keep_log(self) -> None:
        """From now on the write-ahead log is written back to the ledger's file by `write_back` and `snapshot` alone."""
        self._write_connection.execute("PRAGMA wal_autocheckpoint=0")

    def write_back(self) -> None:
        """The log, as far as it has come. In any thread."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def snapshot(self) -> sqlite3.Connection:
        """Reads the ledger as it is now, whatever is written meanwhile. The log is written back before, unless others
        are reading it; what `write_back` left of it takes a moment."""
        self._write_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection = connect(self.path, read_only=True)
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM meta").fetchone()
        return connection

    @property
    def writes(self) -> int:
        """Ever committed to this ledger."""
        return self._counter.value

    @property
    def commits(self) -> int:
        return self._writer.commits

    def noted(self, name: str) -> str | None:
        """A remark of the run that may change, such as its cap; None where there is none."""
        row = self._row("SELECT value FROM meta WHERE key=?", (name,))
        return str(row[0]) if row else None

    async def note(self, name: str, value: str) -> None:
        """Set such a remark."""
        await self._writer.submit(
            lambda connection: connection.execute(
                "INSERT INTO meta VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value", (name, value)
            )
        )

    # --- calls -----------------------------------------------------------------------------------------------------

    def settled(self, key: CallKey) -> Completion | None:
        """The stored response to this call, if it was ever paid for."""
        row = self._row(
            f"SELECT response, finish, model FROM calls WHERE {CALL} AND status='settled'", call_values(key)
        )
        return Completion(*row) if row else None

    async def reserve(self, key: CallKey, prompt: Prompt, model: str, tokens: int) -> None:
        """File the request before it is sent. A failed or lost one is taken up again; a settled one is refused
        (bug)."""
        messages = json.dumps(prompt.messages, ensure_ascii=False)
        hashes = short_hashes(prompt.system, messages)
        texts = [*text_rows(prompt.system, hashes[0]), (hashes[1], "", messages)]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO texts VALUES(?, ?, ?) ON CONFLICT(hash) DO NOTHING", texts)
            changed = connection.execute(
                "INSERT INTO calls(methodology, phase, arm, purpose, subject, attempt, status, model, system_hash, messages_hash,"
                " prompt_hash, reserved, reserved_at) VALUES(?,?,?,?,?,?,'reserved',?,?,?,?,?,?)"
                " ON CONFLICT(methodology, phase, arm, purpose, subject, attempt) DO UPDATE SET status='reserved',"
                " model=excluded.model, system_hash=excluded.system_hash, messages_hash=excluded.messages_hash,"
                " prompt_hash=excluded.prompt_hash, reserved=excluded.reserved, reserved_at=excluded.reserved_at, error=''"
                " WHERE calls.status IN ('failed', 'lost')",
                (*call_values(key), model, *hashes, tokens, now_ms()),
            ).rowcount
            if changed != 1:
                raise RuntimeError(f"call {key} is already settled or in flight")
            if self._worker:
                sent_by(connection, self._worker, CALL, call_values(key))

        await self._writer.submit(write, begins=True)

    async def settle(self, key: CallKey, completion: Completion, usage: Usage) -> None:
        """Store what came back, with what it cost. Each on its own: a settled response is never bought again."""

        def write(connection: sqlite3.Connection) -> None:
            changed = connection.execute(
                f"UPDATE calls SET status='settled', response=?, finish=?, input_tokens=?, output_tokens=?,"
                f" allowance=allowance+?, sends=sends+?, latency_ms=?, fingerprint=?, raw=?, settled_at=?"
                f" WHERE {CALL} AND status='reserved' RETURNING model",
                (
                    completion.text,
                    completion.finish,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.allowance,
                    usage.sends,
                    usage.latency_ms,
                    usage.fingerprint,
                    usage.raw,
                    now_ms(),
                    *call_values(key),
                ),
            ).fetchall()
            if not changed:
                raise RuntimeError(f"call {key} was settled twice or never reserved")
            if self._worker:
                landed(connection, CALL, call_values(key))
            note_unanswered(connection, key, changed[0][0], usage.allowance, usage.allowance_read)
            note_cached(connection, key, changed[0][0], usage.cached_tokens)
            spent = usage.input_tokens + usage.output_tokens + usage.allowance
            odd = {"unbelieved": usage.unbelieved, "overlong": usage.overlong, "shortened": usage.shortened}
            count(connection, key, {"tokens": spent, "calls": 1, **odd})

        await self._writer.submit(write, f"the paid response to {key.purpose} {key.subject}")

    async def fail(self, key: CallKey, error: str, usage: Usage) -> None:
        """The request failed for good. What may have been billed (time-outs) stays as an allowance."""

        def write(connection: sqlite3.Connection) -> None:
            changed = connection.execute(
                f"UPDATE calls SET status='failed', error=?, allowance=allowance+?, sends=sends+?, latency_ms=?,"
                f" settled_at=? WHERE {CALL} AND status='reserved' RETURNING model",
                (error, usage.allowance, usage.sends, usage.latency_ms, now_ms(), *call_values(key)),
            ).fetchall()
            if not changed:
                raise RuntimeError(f"call {key} is not in flight")
            if self._worker:
                landed(connection, CALL, call_values(key))
            note_unanswered(connection, key, changed[0][0], usage.allowance, usage.allowance_read)
            count(connection, key, {"tokens": usage.allowance})

        await self._writer.submit(write)

    async def sweep(self) -> int:
        """Calls in flight when a process died become allowances (`lose`). Returns their number. Only for the holder of
        the run's lock."""
        if self._row("SELECT 1 FROM calls WHERE status='reserved'") is None:
            return 0

        return await self._writer.submit(lambda connection: lose(connection, self.run))

    # --- answers ---------------------------------------------------------------------------------------------------

    def answers_to(self, key: BlockKey, *, part: bool = False) -> dict[str, Answer]:
        """Stored answers of this occasion, by item. part: those to this part of it alone."""
        rows = self._rows(
            "SELECT item, status, value, text, confidence, data, notes, position, options_shown FROM answers"
            f" WHERE occasion=(SELECT id FROM occasions WHERE {OCCASION}){' AND part=?' if part else ''}",
            (*occasion_values(key), key.part) if part else occasion_values(key),
        )
        with explained(self.path):
            return {row[0]: answer_from_row(row) for row in rows}

    async def store(self, key: BlockKey, answers: Sequence[Answer]) -> None:
        """Commit answers and counters in one transaction. A failed row may be replaced; any other rewrite is a bug."""
        rows, asked_at = [answer_to_row(key.part, answer) for answer in answers], now_ms()
        await self._writer.submit(lambda connection: store_answers(connection, key, rows, asked_at))

    def iterate_answers(
        self, methodology: str, *, arm: str | None = None, phase: str | None = None, round: int | None = None
    ) -> Iterator[tuple[BlockKey, Answer]]:
        """Stored answers in a stable order: phase, round, participant, session, turn, position."""
        where, values = ["o.methodology=?"], [methodology]
        for column, value in (("arm", arm), ("phase", phase), ("round", round)):
            if value is not None:
                where.append(f"o.{column}=?")
                values.append(value)  # type: ignore[arg-type]  # sqlite takes str and int alike
        sql = (
            "SELECT a.item, a.status, a.value, a.text, a.confidence, a.data, a.notes, a.position, a.options_shown,"
            " o.arm, o.methodology, o.phase, o.session, o.round, o.turn, o.participant, a.part FROM occasions o"
            f" JOIN answers a ON a.occasion=o.id WHERE {' AND '.join(where)}"
            " ORDER BY o.arm, o.phase, o.round, o.participant, o.session, o.turn, a.position, a.item"
        )
        # A connection of its own: a read that is still open would keep the ledger's other reads at its own snapshot,
        # and a call settled meanwhile would look unpaid.
        with explained(self.path), closing(connect(self.path, read_only=True)) as connection:
            for row in connection.execute(sql, values):
                yield BlockKey(self.run, *row[9:]), answer_from_row(row[:9])

    # --- frozen values, stages, failures ---------------------------------------------------------------------------

    async def freeze(self, arm: str, methodology: str, phase: str, name: str, value: JsonValue) -> JsonValue:
        """First writer wins. Returns what is stored."""
        where = (methodology, phase, arm, name)
        text = json.dumps(value, ensure_ascii=False)

        def write(connection: sqlite3.Connection) -> str:
            connection.execute(
                "INSERT INTO frozen(methodology, phase, arm, name, value, at) VALUES(?,?,?,?,?,?)"
                " ON CONFLICT(methodology, phase, arm, name) DO NOTHING",
                (*where, text, now()),
            )
            row = connection.execute(
                "SELECT value FROM frozen WHERE methodology=? AND phase=? AND arm=? AND name=?", where
            ).fetchone()
            return str(row[0])

        stored: JsonValue = json.loads(await self._writer.submit(write))
        return stored

    def frozen(self, arm: str, methodology: str, phase: str, name: str) -> JsonValue:
        """None where there is none. Not to be changed by who reads it."""
        row = self._row(
            "SELECT value FROM frozen WHERE methodology=? AND phase=? AND arm=? AND name=?",
            (methodology, phase, arm, name),
        )
        with explained(self.path):
            return _parsed(row[0]) if row else None

    async def set_stage(self, methodology: str, phase: str, outcome: str, note: str = "") -> None:
        await self._writer.submit(
            lambda connection: connection.execute(
                "INSERT INTO stages VALUES(?,?,?,?,?) ON CONFLICT(methodology, phase)"
                " DO UPDATE SET outcome=excluded.outcome, note=excluded.note, at=excluded.at",
                (methodology, phase, outcome, note, now()),
            )
        )

    def stages(self) -> dict[tuple[str, str], StageOutcome]:
        rows = self._rows("SELECT methodology, phase, outcome, note, at FROM stages")
        require_outcomes(self.path, (row[2] for row in rows))
        return {(row[0], row[1]): StageOutcome(*row) for row in rows}

    async def record_failure(self, failure: Failure) -> None:
        """One row a unit: a repeated failure replaces the earlier one."""

        def write(connection: sqlite3.Connection) -> None:
            key = (failure.arm, failure.methodology, failure.phase, failure.round, failure.unit)
            connection.execute(f"DELETE FROM failures WHERE {FAILURE}", key)
            connection.execute(
                "INSERT INTO failures(arm, methodology, phase, round, unit, error, traceback, at) VALUES(?,?,?,?,?,?,?,?)",
                (*key, failure.error, failure.traceback, now()),
            )

        await self._writer.submit(write)

    async def clear_failure(self, arm: str, methodology: str, phase: str, round: int, unit: str) -> None:
        """The unit went through after all."""
        key = (arm, methodology, phase, round, unit)
        if self._rows(f"SELECT 1 FROM failures WHERE {FAILURE}", key):
            await self._writer.submit(
                lambda connection: connection.execute(f"DELETE FROM failures WHERE {FAILURE}", key)
            )

    def failures(self) -> list[Failure]:
        rows = self._rows("SELECT arm, methodology, phase, round, unit, error, traceback FROM failures ORDER BY id")
        return [Failure(*row) for row in rows]

    # --- population, counters --------------------------------------------------------------------------------------

    async def store_population(self, participants: Sequence[Participant]) -> None:
        rows = [(i, p.id, p.agent_id, p.name, p.stakeholder_type, p.persona) for i, p in enumerate(participants)]
        await self._writer.submit(
            lambda connection: connection.executemany("INSERT INTO participants VALUES(?,?,?,?,?,?)", rows)
        )

    def population(self) -> list[Participant]:
        rows = self._rows("SELECT id, agent_id, name, stakeholder_type, persona FROM participants ORDER BY position")
        return [
            Participant(identity, name, intern(kind), persona, agent_id=number)
            for identity, number, name, kind, persona in rows
        ]

    async def store_digests(self, phase: str, digests: dict[str, str | None]) -> None:
        """What each agent remembers in this phase; frozen with the first call of the phase."""
        await self._writer.submit(
            lambda connection: connection.executemany(
                "INSERT INTO digests VALUES(?,?,?) ON CONFLICT(phase, participant) DO NOTHING",
                [(phase, participant, text) for participant, text in digests.items()],
            )
        )

    def digests(self, phase: str) -> dict[str, str | None]:
        return dict(self._rows("SELECT participant, text FROM digests WHERE phase=?", (phase,)))

    def counters(self) -> dict[tuple[str, str, str, int, str], int]:
        """By (arm, methodology, phase, round, name): calls, tokens, lost, answers by status, and calls of odd usage."""
        rows = self._rows("SELECT arm, methodology, phase, round, name, value FROM counters")
        return {row[:5]: row[5] for row in rows}

    def total(self, name: str) -> int:
        row = self._row("SELECT coalesce(sum(value), 0) FROM counters WHERE name=?", (name,))
        return int(row[0]) if row else 0
