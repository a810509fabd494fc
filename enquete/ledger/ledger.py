"""The ledger: calls, answers, pinned values, forms, stages and counters of one run. The truth; checkpoints are
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
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any, Self, TypeVar

from pydantic import JsonValue

from enquete.ledger import queries
from enquete.ledger.checksums import is_intact, seal, seal_note
from enquete.ledger.connection import Connection, connect, explained
from enquete.ledger.drives import STORE, is_remote
from enquete.ledger.entries import (
    CallInFlight,
    Ended,
    Failure,
    Reservation,
    StageOutcome,
    Usage,
    answer_from_row,
    answer_to_row,
    call_values,
    noted_of,
    now,
    now_ms,
    occasion_values,
    short_hashes,
    text_rows,
    write_answers,
    write_failed,
    write_lost,
    write_reservations,
    write_settled,
)
from enquete.ledger.folders import CHECKPOINTS, record_in, set_aside
from enquete.ledger.integrity import damaged
from enquete.ledger.record import RunRecord
from enquete.ledger.tables import VERSION
from enquete.ledger.workers import Batches, require_registered, worker_batches
from enquete.ledger.writer import FolderWatch, GroupWriter, Room, Write, WriteCounter, counted, told_by_checkpoints
from enquete.state.asking import FEW, Answer, BlockKey, CallKey, PagedPeople, Participant
from enquete.state.errors import LedgerError
from enquete.state.interview_context import Completion, Prompt

__all__ = ["Failure", "Ledger", "StageOutcome", "Usage", "connect", "now"]

T = TypeVar("T")
log = logging.getLogger("enquete")

_parsed = lru_cache(maxsize=16)(json.loads)  # a panel's themes grow with it and are read for each of its agents


def _participant(row: Sequence[Any]) -> Participant:
    identity, number, name, kind, persona = row
    return Participant(identity, name, intern(kind), persona, agent_id=number)


def _add_participants(rows: Sequence[tuple[Any, ...]], connection: Connection) -> None:
    connection.executemany(queries.ADD_PARTICIPANT, rows)


class Ledger:
    """One run's ledger. Open it inside the event loop that will use it."""

    def __init__(self, path: Path, run: str = "", *, create: bool = False, room: Room | None = None, worker: str = ""):
        """`run`: whose it must be; the one that it names itself unless given. `worker`: of a process that works for the
        run's driver; it writes only as long as it is registered (workers.py). Raises LedgerError if the file is
        damaged, of another run or of another schema version."""
        self.path = path
        self._worker = worker
        self._filing = worker_batches(worker) if worker else Batches(write_reservations, write_settled, write_failed)
        self.run = run
        self._in_flight: dict[CallKey, CallInFlight] = {}
        self.remote = is_remote(path)
        self._counter: WriteCounter | None = None
        if not create and not self.remote and not path.exists():
            raise LedgerError(f"{path}: this run has no ledger")
        with ExitStack() as opened:
            with explained(path):
                self._write_connection = opened.enter_context(closing(connect(path)))
                if create:
                    self._create()
                self._check(self._write_connection)
                self._read = opened.enter_context(closing(connect(path, read_only=True)))
                if not self.remote:
                    self._counter = WriteCounter(path, 0 if worker else self._set_checkpoints_right())
            opened.pop_all()
        self._writer = GroupWriter(self._write_connection, str(path), room, self._counter)
        if not worker:  # one of a cluster need not see the folder
            self._writer.require_folder = FolderWatch(path.with_name(STORE) if self.remote else path).require_there

    def guard(self) -> None:
        """From now on this worker, which has just been registered, writes nothing unless it still is."""
        self._writer.guard = lambda connection: require_registered(connection, self._worker)

    @classmethod
    def reading(cls, path: Path, run: str = "") -> Self:
        """A ledger to read only, beside whoever drives the run: reports, exports, an earlier baseline."""
        if not is_remote(path) and not path.is_file():
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
        from enquete.ledger.tables import statements  # noqa: PLC0415 - who reads a ledger needs no SQLAlchemy

        connection = self._write_connection

        def make() -> None:
            connection.make_schema()
            for statement in statements(connection.dialect):
                connection.execute(statement)
            rows = [seal_note("schema_version", VERSION), seal_note("run", self.run)]
            connection.executemany(queries.NOTE, rows)

        connection.transact(make)

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

    def _check(self, connection: Connection) -> None:
        row = connection.execute(queries.NOTED, ("run",)).fetchone()
        if row is None:
            raise damaged(self.path, LookupError("it does not say of which run it is"))
        run = str(row[0])
        self.run = self.run or run
        if run != self.run:
            raise LedgerError(f"{self.path}: ledger of run {run!r}, not {self.run!r}")

    @property
    def record(self) -> RunRecord:
        """What the run is. Raises LedgerError where that cannot be read, NeverStarted."""
        return record_in(self.read, self.path.parent)

    async def close(self) -> None:
        await self._writer.close()
        self._read.close()
        self._write_connection.close()
        if self._counter is not None:
            self._counter.close()

    async def drain(self) -> None:
        await self._writer.drain()

    def write(self, write: Write[T]) -> asyncio.Future[T]:
        """A write of another module's (forms), in the same groups and with the same guarantees."""
        return self._writer.submit(write)

    def read(self, sql: str, values: Sequence[object] = ()) -> Any:
        """A short read on the ledger's own reading connection; fetch it whole, an open one hides later writes.

        Raises LedgerError where the file is damaged.
        """
        with explained(self.path):
            return self._read.execute(sql, values)

    def look(self, read: Callable[[Connection], T]) -> T:
        """A short read of another module's (workers), like `read`."""
        with explained(self.path):
            return read(self._read)

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with explained(self.path):
            rows: list[Any] = self._read.execute(sql, values).fetchall()
            return rows

    def _sealed_rows(self, table: str, sql: str) -> list[Any]:
        """Read rows with their checksums. Raise DamagedLedger where one is not as it was written: also who only looks
        where a run stands, and reads few rows for it, is not told of others."""
        rows = self._rows(sql)
        for row in rows:
            if not is_intact(table, tuple(row[:-1]), row[-1]):
                raise damaged(self.path, LookupError(f"a row of {table} is not as it was written"))
        return [row[:-1] for row in rows]

    def _row(self, sql: str, values: Sequence[object] = ()) -> Any:
        return next(iter(self._rows(sql, values)), None)

    def keep_log(self) -> None:
        """From now on the write-ahead log is written back to the ledger's file by `write_back` and `snapshot` alone."""
        if not self.remote:
            self._write_connection.execute("PRAGMA wal_autocheckpoint=0")

    def write_back(self) -> None:
        """The log, as far as it has come. In any thread."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def snapshot(self) -> Any:
        """Reads the ledger as it is now, whatever is written meanwhile. The log is written back before, unless others
        are reading it; what `write_back` left of it takes a moment."""
        self._write_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection = connect(self.path, read_only=True)
        connection.execute("BEGIN")
        counted(connection.execute)
        return connection

    @property
    def writes(self) -> int:
        """Ever committed to this ledger, by workers too. 0 in a store, which loses none."""
        return counted(self.read) if self._counter is not None else 0

    def noted(self, name: str) -> str | None:
        """A remark of the run that may change, such as its cap; None where there is none."""
        row = self._row(queries.NOTED, (name,))
        return str(row[0]) if row else None

    async def note(self, name: str, value: str) -> None:
        """Set such a remark."""
        await self._writer.submit(lambda connection: connection.execute(queries.NOTE, seal_note(name, value)))

    # --- calls -----------------------------------------------------------------------------------------------------

    def settled(self, key: CallKey) -> Completion | None:
        """The stored response to this call, if it was ever paid for."""
        row = self._row(queries.SETTLED, call_values(key))
        return Completion(*row) if row else None

    def answered_by(self, key: BlockKey) -> str:
        """The model whose response to this block came last; "" where none was had."""
        call = CallKey(key.run, key.arm, key.methodology, key.phase, "answer", key.subject, 0)
        row = self._row(queries.LAST_MODEL, call_values(call)[:-1])
        return str(row[0]) if row else ""

    async def reserve(self, key: CallKey, prompt: Prompt, model: str, tokens: int) -> None:
        """File the request before it is sent. A failed or lost one is taken up again; a settled one is a bug."""
        messages = json.dumps(prompt.messages, ensure_ascii=False)
        hashes = short_hashes(prompt.system, messages)
        texts = [*text_rows(prompt.system, hashes[0]), (hashes[1], "", messages)]
        call = CallInFlight(key, model, hashes[0], hashes[1], hashes[2], tokens, now_ms())
        await self._writer.add(self._filing.reserved, Reservation(call, texts), begins=True)
        self._in_flight[key] = call

    async def settle(self, key: CallKey, completion: Completion, usage: Usage) -> None:
        """Store what came back, with what it cost. Each on its own: a settled response is never bought again."""
        call = self._call_in_flight(key)
        row = call.ended_row("settled", usage, completion.text, completion.finish, "")
        noted = noted_of(key, call.model, usage.allowance, usage.allowance_read, usage.cached_tokens)
        what = f"the paid response to {key.purpose} {key.subject}"
        await self._writer.add(self._filing.settled, Ended(key, usage, row, noted), what)

    async def fail(self, key: CallKey, error: str, usage: Usage) -> None:
        """The request failed for good. What may have been billed (time-outs) stays as an allowance."""
        call = self._call_in_flight(key)
        spent = Usage(0, 0, usage.allowance, usage.sends, usage.latency_ms)
        row = call.ended_row("failed", spent, "", "", error)
        noted = noted_of(key, call.model, usage.allowance, usage.allowance_read)
        await self._writer.add(self._filing.failed, Ended(key, usage, row, noted))

    def _call_in_flight(self, key: CallKey) -> CallInFlight:
        """Return a call that ends now. One that an earlier session reserved stands in the ledger alone."""
        call = self._in_flight.pop(key, None)
        if call is not None:
            return call
        row = self._row(queries.RESERVED, call_values(key))
        if row is None:
            raise RuntimeError(f"call {key} was never reserved")
        return CallInFlight(key, *row)

    async def sweep(self) -> int:
        """Calls in flight when a process died become allowances (`write_lost`); their number. For the lock's holder."""
        if self._row(queries.ANY_RESERVED) is None:
            return 0
        return await self._writer.submit(lambda connection: write_lost(connection, self.run))

    # --- answers ---------------------------------------------------------------------------------------------------

    def answers_to(self, key: BlockKey, *, part: bool = False) -> dict[str, Answer]:
        """Stored answers of this occasion, by item. part: those to this part of it alone."""
        values: tuple[object, ...] = occasion_values(key)
        where = ""
        if part:
            where = queries.OF_PART
            values = (*values, key.part)
        rows = self._rows(f"{queries.ANSWERS_TO}{where}{queries.IN_ORDER}", values)
        with explained(self.path):
            return {row[0]: answer_from_row(row) for row in rows}

    async def store(self, key: BlockKey, answers: Sequence[Answer]) -> None:
        """Commit answers and counters in one transaction. A failed row may be replaced; any other rewrite is a bug."""
        rows = [answer_to_row(key.part, answer) for answer in answers]
        await self._writer.add(write_answers, (key, rows, now_ms()))

    def iterate_answers(
        self, methodology: str, *, arm: str | None = None, phase: str | None = None, round: int | None = None
    ) -> Iterator[tuple[BlockKey, Answer]]:
        """Stored answers in a stable order: phase, round, participant, session, turn, position."""
        named = {"arm": arm, "phase": phase, "round": round}
        wanted = {column: value for column, value in named.items() if value is not None}
        where = "".join(queries.ITERATED_WHERE[column] for column in wanted)
        for row in self.stream(f"{queries.ITERATED}{where}{queries.ITERATED_ORDER}", (methodology, *wanted.values())):
            yield BlockKey(self.run, *row[9:]), answer_from_row(row[:9])

    def stream(self, sql: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """Many rows, as they are now, never all in memory. On a connection of its own: a read that is still open would
        keep the ledger's other reads at its own snapshot, and a call settled meanwhile would look unpaid."""
        with explained(self.path), closing(connect(self.path, read_only=True)) as connection:
            connection.hold_still()
            yield from connection.stream(sql, values)

    # --- pinned values, stages, failures ---------------------------------------------------------------------------

    async def pin(self, arm: str, methodology: str, phase: str, name: str, value: JsonValue) -> JsonValue:
        """First writer wins. Returns what is stored."""
        where = (methodology, phase, arm, name)
        text = json.dumps(value, ensure_ascii=False)

        def write(connection: Connection) -> str:
            connection.execute(queries.PIN, seal((*where, text, now())))
            return str(connection.execute(queries.PINNED_VALUE, where).fetchone()[0])

        stored: JsonValue = json.loads(await self._writer.submit(write))
        return stored

    def pinned(self, arm: str, methodology: str, phase: str, name: str) -> JsonValue:
        """None where there is none. Not to be changed by who reads it."""
        row = self._row(queries.PINNED_VALUE, (methodology, phase, arm, name))
        with explained(self.path):
            return _parsed(row[0]) if row else None

    async def set_stage(self, methodology: str, phase: str, outcome: str, note: str = "") -> None:
        row = seal((methodology, phase, outcome, note, now()))
        await self._writer.submit(lambda connection: connection.execute(queries.SET_STAGE, row))

    def stages(self) -> dict[tuple[str, str], StageOutcome]:
        rows = self._sealed_rows("stages", queries.STAGES)
        return {(row[0], row[1]): StageOutcome(*row) for row in rows}

    async def record_failure(self, failure: Failure) -> None:
        """One row a unit: a repeated failure replaces the earlier one."""

        def write(connection: Connection) -> None:
            key = (failure.arm, failure.methodology, failure.phase, failure.round, failure.unit)
            connection.execute(queries.CLEAR_FAILURE, key)
            connection.execute(queries.FILE_FAILURE, seal((*key, failure.error, failure.traceback, now())))

        await self._writer.submit(write)

    async def clear_failure(self, arm: str, methodology: str, phase: str, round: int, unit: str) -> None:
        """The unit went through after all."""
        key = (arm, methodology, phase, round, unit)
        if self._rows(queries.HAS_FAILURE, key):
            await self._writer.submit(lambda connection: connection.execute(queries.CLEAR_FAILURE, key))

    def failures(self) -> list[Failure]:
        return [Failure(*row) for row in self._rows(queries.FAILURES)]

    # --- population, counters --------------------------------------------------------------------------------------

    async def store_population(self, participants: Sequence[Participant]) -> None:
        people = enumerate(participants)
        while rows := [
            seal((place, who.id, who.agent_id, who.name, who.stakeholder_type, who.persona))
            for place, who in islice(people, FEW)
        ]:
            await self._writer.submit(partial(_add_participants, rows))

    def population(self) -> Sequence[Participant]:
        """A list; of more than FEW agents they are read as they are needed."""
        size = int(self._row(queries.POPULATION_SIZE)[0])
        if size > FEW:
            return PagedPeople(size, self.people_between, self.person)
        return [_participant(row) for row in self._rows(queries.POPULATION)]

    def people_between(self, low: int, high: int) -> list[Participant]:
        """Those at places from `low` below `high`."""
        return [_participant(row) for row in self._rows(queries.POPULATION_PAGE, (low, high))]

    def person(self, participant: str) -> Participant | None:
        row = self._row(queries.PARTICIPANT, (participant,))
        return _participant(row) if row else None

    def remembering(self, population: Sequence[Participant], phase: str) -> Sequence[Participant]:
        """The same agents with what they remember in this phase; "": with no memory."""
        if isinstance(population, PagedPeople):
            return population.changed(lambda page: self._remembering(page, phase)) if phase else population
        digests = self.digests(phase) if phase else {}
        return [who.remembering(digests.get(who.id)) for who in population]

    def _remembering(self, page: Sequence[Participant], phase: str) -> list[Participant]:
        ids = json.dumps([who.id for who in page])
        digests = dict(self._rows(queries.DIGESTS_AMONG, (phase, ids)))
        return [who.remembering(digests.get(who.id)) for who in page]

    async def store_digests(self, phase: str, digests: dict[str, str | None], memory: JsonValue = None) -> None:
        """What each agent remembers in this phase. memory: pinned under that name with them, both or neither: a run
        whose memories are not those that were pinned is not gone on with."""
        rows = [seal((phase, participant, text)) for participant, text in digests.items()]
        pinned = seal(("", phase, "", "memory", json.dumps(memory, ensure_ascii=False), now()))

        def write(connection: Connection) -> None:
            if rows:
                connection.executemany(queries.ADD_DIGEST, rows)
            if memory is not None:
                connection.execute(queries.PIN, pinned)

        await self._writer.submit(write)

    def digests(self, phase: str) -> dict[str, str | None]:
        return dict(self._rows(queries.DIGESTS, (phase,)))

    def counters(self) -> dict[tuple[str, str, str, int, str], int]:
        """By (arm, methodology, phase, round, name): calls, tokens, lost, answers by status, and calls of odd usage."""
        return {tuple(row[:5]): row[5] for row in self._sealed_rows("counters", queries.COUNTERS)}

    def total(self, name: str) -> int:
        row = self._row(queries.TOTAL, (name,))
        return int(row[0]) if row else 0
