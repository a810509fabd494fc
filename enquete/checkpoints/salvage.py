"""Saving what is readable of a damaged ledger, so that what was paid for is not asked again.

Every readable row goes into a new ledger; the damaged file stays beside it. Where rows were lost, stages, closed rounds
and position are forgotten too: the next resume walks through the whole run, finds the settled calls, parses lost
answers from them, and asks only for what is missing.
Measured by: with any one page overwritten, all rows of the other pages are in the new ledger, and counters equal counts.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from enquete.checkpoints import write_counter
from enquete.checkpoints.ballast import disk_fault
from enquete.checkpoints.connection import connect, damaged
from enquete.checkpoints.entries import now
from enquete.checkpoints.folders import CHECKPOINTS, LEDGER, RECORD, held, set_aside
from enquete.checkpoints.leaves import Row, Shape, rows_on_pages
from enquete.checkpoints.record import RunRecord
from enquete.checkpoints.schema import SCHEMA_VERSION, TABLES, NewerLedger
from enquete.checkpoints.wreck import opened_wreck
from enquete.state.asking import Participant
from enquete.state.errors import LedgerError
from enquete.state.regular_files import read_regular

PEOPLE = TypeAdapter(list[Participant])
TABLE_ORDER = (
    "participants", "occasions", "calls", "forms", "failures", "texts", "answers", "digests", "frozen", "stages"
)  # fmt: skip
"""What is copied, in the order of what refers to what; meta and counters are made anew."""

COUNTED = """
SELECT arm, methodology, phase, 0, 'calls', sum(status='settled') FROM calls GROUP BY 1, 2, 3
UNION ALL SELECT arm, methodology, phase, 0, 'tokens', sum(input_tokens + output_tokens + allowance) FROM calls
  GROUP BY 1, 2, 3
UNION ALL SELECT o.arm, o.methodology, o.phase, o.round, 'answers_' || a.status, count(*)
  FROM answers a JOIN occasions o ON o.id=a.occasion GROUP BY 1, 2, 3, 4, 5
UNION ALL SELECT arm, methodology, phase, round, 'blocks', count(*) FROM
  (SELECT DISTINCT o.arm, o.methodology, o.phase, o.round, a.occasion, a.part
   FROM answers a JOIN occasions o ON o.id=a.occasion) GROUP BY 1, 2, 3, 4
"""
"""The counters that rows determine."""


@dataclass
class SalvageReport:
    """What became of a damaged ledger. `kept`: where the damaged file is now; None where nothing was wrong with it."""

    ledger: Path
    kept: Path | None = None
    rows: dict[str, int] = field(default_factory=dict)
    settled: int = 0
    lost: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For people: what was saved, what was not, what to do next."""
        run, interviews = self.ledger.parent.name, self.ledger.absolute().parents[2]
        if self.kept is None:
            return [f"{self.ledger}: nothing is wrong with it, nothing was changed"]
        saved = ", ".join(f"{number:,} {table}" for table, number in self.rows.items() if number)
        return [
            f"{self.ledger}: made anew from what was readable ({saved}; {self.settled:,} paid answers are not asked again)",
            f"the damaged file is kept as {self.kept.name}",
            *(f"not readable: {line}" for line in self.lost),
            *self.notes,
            f"go on with it: {shlex.join(['enquete', 'resume', run, '--out', str(interviews)])}",
        ]


def salvage(folder: Path) -> SalvageReport:
    """Replace the damaged ledger of a run by a new one with all rows that can be read. Takes the run's lock.

    Raises RunLocked, DiskFull, NewerLedger, and LedgerError where too little is left to go on with; then nothing was
    changed.
    """
    path = folder / LEDGER
    if not path.is_file() or not path.stat().st_size:
        raise damaged(path, LookupError("there is nothing in it"))
    with held(folder):
        if is_sound(path):
            return SalvageReport(path)
        draft = path.with_name(".ledger.salvaged.sqlite")
        try:
            report = _salvage(folder, draft)
        except (OSError, sqlite3.Error) as error:
            draft.unlink(missing_ok=True)
            raise disk_fault(error, path) or LedgerError(f"{path}: nothing can be saved ({error})") from error
        except LedgerError:
            draft.unlink(missing_ok=True)
            raise
        report.kept = set_aside(path)
        draft.replace(path)
        (folder / write_counter.NAME).unlink(missing_ok=True)  # what was lost is said here
        if (folder / CHECKPOINTS).exists():
            set_aside(folder / CHECKPOINTS)
    return report


def is_sound(path: Path) -> bool:
    """Whether every page and row is as it should be. Reads the whole file. Raises NewerLedger."""
    try:
        with closing(connect(path, read_only=True)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return False
            for table in TABLE_ORDER:  # SQLite finds nothing wrong with texts that go on on an emptied page
                for _ in connection.execute(f"SELECT * FROM {table}"):
                    pass
            return connection.execute("SELECT 1 FROM frozen WHERE name='record'").fetchone() is not None
    except NewerLedger:
        raise
    except (sqlite3.DatabaseError, LedgerError, OSError):
        return False


def _salvage(folder: Path, draft: Path) -> SalvageReport:
    report = SalvageReport(folder / LEDGER)
    lost = report.lost
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(draft, isolation_level=None)) as fresh:
        for statement in TABLES.split(";\n"):
            fresh.execute(statement)
    with opened_wreck(report.ledger, draft) as (connection, copy):
        wreck = Wreck(connection, copy)
        _require_known(connection, report.ledger)
        with closing(sqlite3.connect(draft, isolation_level=None)) as fresh:
            fresh.execute("PRAGMA foreign_keys=ON")
            fresh.execute("BEGIN")
            meta = [("schema_version", str(SCHEMA_VERSION)), ("run", folder.name)]
            fresh.executemany("INSERT INTO meta VALUES(?, ?)", meta)
            _copy_notes(wreck, fresh)
            for table in TABLE_ORDER:
                report.rows[table] = _copy(wreck, fresh, table, lost)
            _require_enough(fresh, folder, report, lost)
            _recount(wreck, fresh)
            if lost:
                _forget_position(fresh)
            report.settled = fresh.execute("SELECT count(*) FROM calls WHERE status='settled'").fetchone()[0]
            fresh.execute("COMMIT")
    return report


def _require_known(wreck: sqlite3.Connection, path: Path) -> None:
    """Raises NewerLedger: nobody here knows which of its tables refer to which."""
    try:
        row = wreck.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone()
    except sqlite3.DatabaseError:
        return
    if row and str(row[0]).isdecimal() and int(row[0]) > SCHEMA_VERSION:
        raise NewerLedger(f"{path}: a newer version of Enquete wrote it (schema {row[0]}); update Enquete to repair it")


@dataclass(frozen=True)
class Wreck:
    """The damaged file: what SQLite still reads of it, and its pages."""

    connection: sqlite3.Connection
    path: Path

    def rows(self, table: str, fresh: sqlite3.Connection, lost: list[str]) -> Iterator[Row]:
        """As SQLite has them; where it stumbles, those on the table's pages too, so that some come twice."""
        names = ", ".join(row[1] for row in fresh.execute(f"PRAGMA table_info({table})"))
        try:
            yield from self.connection.execute(f"SELECT {names} FROM {table} NOT INDEXED")
        except sqlite3.DatabaseError as error:
            found = 0
            for row in rows_on_pages(self.path, Shape.of(fresh, table)):
                found += 1
                yield row
            lost.append(f"{table}: part of it ({error}); {found:,} rows stand on pages that can be read")


def _copy_notes(wreck: Wreck, fresh: sqlite3.Connection) -> None:
    """What else meta holds, such as the run's cap; it can be said again."""
    for row in wreck.rows("meta", fresh, []):
        fresh.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT DO NOTHING", row)


def _copy(wreck: Wreck, fresh: sqlite3.Connection, table: str, lost: list[str]) -> int:
    """Rows copied. One that breaks a rule of the table is damaged too."""
    columns = len(fresh.execute(f"PRAGMA table_info({table})").fetchall())
    insert = f"INSERT INTO {table} VALUES({', '.join('?' * columns)}) ON CONFLICT DO NOTHING"
    copied, broken = 0, 0
    for row in wreck.rows(table, fresh, lost):
        try:
            copied += fresh.execute(insert, row).rowcount
        except sqlite3.IntegrityError:
            broken += 1
    if broken:
        lost.append(f"{table}: {broken} rows whose values are damaged, or that belong to a row that was lost")
    return copied


def _require_enough(fresh: sqlite3.Connection, folder: Path, report: SalvageReport, lost: list[str]) -> None:
    """Agents and the run's record, if they are lost, from instruments_used.json, which holds both since it was begun.

    Raises LedgerError where there are none: without them nobody can go on.
    """
    whole_record = fresh.execute("SELECT 1 FROM frozen WHERE methodology='' AND name='record'").fetchone()
    agents = fresh.execute("SELECT count(*) FROM participants").fetchone()[0]
    whole_agents = agents and not any(line.startswith("participants") for line in lost)
    if whole_record and whole_agents:
        return
    try:
        text = read_regular(folder / RECORD).decode()
        record = RunRecord.model_validate_json(text)
        people = PEOPLE.validate_python(json.loads(text).get("population", {}).get("agents", []))
    except (OSError, ValueError) as error:
        if not whole_record or not agents:
            what = "agents" if whole_record else "record"
            raise LedgerError(
                f"{folder / LEDGER}: the run's {what} can be read neither there nor in {RECORD} ({error}); restore one of them"
            ) from error
        people = []
    if not whole_record:
        fresh.execute("INSERT INTO frozen VALUES('', '', '', 'record', ?, ?)", (record.model_dump_json(), now()))
        report.notes.append(f"the run's record was taken from {RECORD}")
    if not whole_agents:
        _restore_agents(fresh, folder, report, people)


def _restore_agents(
    fresh: sqlite3.Connection, folder: Path, report: SalvageReport, people: Sequence[Participant]
) -> None:
    rows = [(i, who.id, who.agent_id, who.name, who.stakeholder_type, who.persona) for i, who in enumerate(people)]
    fresh.executemany("INSERT INTO participants VALUES(?,?,?,?,?,?) ON CONFLICT DO NOTHING", rows)
    (number,) = fresh.execute("SELECT count(*) FROM participants").fetchone()
    if not number:
        raise LedgerError(
            f"{folder / LEDGER}: the run's agents can be read neither there nor in {RECORD}; restore one of them"
        )
    if number == len(people):
        report.notes.append(f"agents that could not be read were taken from {RECORD}")
    else:
        report.notes.append(f"of the agents only {number} could be read: the run goes on with these")


def _recount(wreck: Wreck, fresh: sqlite3.Connection) -> None:
    """Counters as the rows have them; events without rows (lost calls) as far as they can be read."""
    _copy(wreck, fresh, "counters", [])
    fresh.execute("DELETE FROM counters WHERE name IN ('calls', 'tokens', 'blocks') OR name LIKE 'answers_%'")
    fresh.execute(f"INSERT INTO counters SELECT * FROM ({COUNTED}) WHERE 1")


def _forget_position(fresh: sqlite3.Connection) -> None:
    """Lost answers are noticed only by who walks through closed rounds and finished stages once more."""
    fresh.execute("DELETE FROM stages")
    fresh.execute("DELETE FROM frozen WHERE name LIKE 'closed/%'")
    fresh.execute("INSERT INTO stages VALUES('', '', 'paused', 'the damaged ledger was repaired', ?)", (now(),))
