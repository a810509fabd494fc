"""Whether a ledger is as it was written.

SQLite checks its pages, but keeps no checksum of what stands on them: a letter that was changed within a text is sound to
it. A ledger's own backup copy tells that, since what was settled once never changes; rows younger than the copy stand in
the write-ahead log, whose frames do have checksums (backup.py).
Measured by: of hundreds of damaged ledgers (tests/checkpoints/test_checkpoints_damage.py) none is gone on with to other
answers than an undamaged one's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from enquete.checkpoints.connection import connect, damaged, explained
from enquete.checkpoints.folders import LEDGER
from enquete.checkpoints.schema import TABLES, NewerLedger
from enquete.checkpoints.write_counter import counted
from enquete.state.errors import LedgerError

COPIES = ".backup-"
"""What follows the ledger's name in that of a copy, before the beginning of its SHA-256."""
DIGITS = 16

SETTLED = {
    "participants": "1", "digests": "1", "occasions": "1", "texts": "1", "frozen": "1", "answers": "status <> 'failed'",
    "calls": "status = 'settled'", "forms": "state <> 'open'",
}  # fmt: skip
"""Rows that are never changed again, by table."""
CHANGING = ("meta", "counters", "stages", "failures")

JSON = {"answers": ("data", "notes", "options_shown"), "frozen": ("value",), "forms": ("block", "draft")}
"""Columns that hold JSON, or nothing."""
NOTED = "(key LIKE 'batch/%' OR key LIKE 'order/%') AND value <> '' AND NOT json_valid(value)"

MISCOUNTED = """
WITH there(arm, methodology, phase, round, name, n) AS (
  SELECT arm, methodology, phase, 0, 'calls', sum(status='settled') FROM calls GROUP BY 1, 2, 3
  UNION ALL SELECT arm, methodology, phase, 0, 'tokens', sum(input_tokens + output_tokens + allowance) FROM calls
    GROUP BY 1, 2, 3
  UNION ALL SELECT o.arm, o.methodology, o.phase, o.round, 'answers_' || a.status, count(*)
    FROM answers a JOIN occasions o ON o.id=a.occasion GROUP BY 1, 2, 3, 4, 5),
counted AS (SELECT arm, methodology, phase, round, replace(name, 'carried_', '') AS name, value AS n FROM counters)
SELECT name, sum(n) AS surplus FROM (
  SELECT * FROM counted WHERE name IN ('calls', 'tokens') OR name LIKE 'answers!_%' ESCAPE '!'
  UNION ALL SELECT arm, methodology, phase, round, name, -n FROM there)
GROUP BY arm, methodology, phase, round, name HAVING surplus <> 0
"""
"""Counters that are not what the rows say; of methodologies that were taken over they have names of their own (carrying.py)."""


def require_sound(folder: Path) -> None:
    """Reads the whole ledger of the run in this folder. Raises LedgerError naming what is wrong with it, NewerLedger."""
    path = folder / LEDGER
    with explained(path):
        copy = whole_copy(path)
        wrong = fault(path) or (difference(path, copy) if copy else "")
    if wrong:
        raise damaged(path, LookupError(wrong))


def is_sound(folder: Path) -> bool:
    """Whether the run's ledger can be gone on with. Raises NewerLedger."""
    try:
        require_sound(folder)
    except NewerLedger:
        raise
    except LedgerError:
        return False
    return True


def fault(path: Path) -> str:
    """The first thing that is wrong with a ledger's file by itself; "" where nothing is.

    Raises sqlite3.DatabaseError, LedgerError where it cannot even be opened.
    """
    with closing(connect(path, read_only=True)) as connection:
        return next(_faults(connection), "")


def difference(path: Path, copy: Path) -> str:
    """What of an earlier copy is not in the ledger, as it was; "" where all of it is. Raises likewise."""
    with closing(connect(path, read_only=True)) as connection:
        connection.execute("ATTACH ? AS copy", (f"{copy.absolute().as_uri()}?mode=ro&immutable=1",))
        return next(_differences(connection), "")


def _faults(connection: sqlite3.Connection) -> Iterator[str]:
    if _schema(connection) != _made_schema():
        yield "its tables are not those that a ledger is made with"
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        yield found.replace("\n", " ")
    if (row := connection.execute("PRAGMA foreign_key_check").fetchone()) is not None:
        yield f"a row of {row[0]} belongs to a row of {row[2]} that is missing"
    for table, columns in JSON.items():
        for column in columns:
            where = f"{column} <> '' AND NOT json_valid({column})"
            if (row := connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()) != (0,):
                yield f"{table}.{column}: no JSON in {row[0]} of its rows"
    if connection.execute(f"SELECT 1 FROM meta WHERE {NOTED}").fetchone():
        yield "meta.value: an order that is no JSON"
    if (row := connection.execute(MISCOUNTED).fetchone()) is not None:
        yield f"{abs(row[1]):,} {row[0]} {'more' if row[1] > 0 else 'fewer'} were counted than there are"
    if connection.execute("SELECT 1 FROM frozen WHERE name='record'").fetchone() is None:
        yield "the run's record is not in it"


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    """Tables and indexes as they are declared: text like any other, and just as easily damaged."""
    return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()


@lru_cache(maxsize=1)
def _made_schema() -> list[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        return _schema(connection)


def _differences(connection: sqlite3.Connection) -> Iterator[str]:
    """From the copy: settled rows that are gone or changed, and any row at all where nothing was written since."""
    for table, settled in SETTLED.items():
        if n := _unlike(connection, table, "copy", "main", settled):
            yield f"{table}: {n:,} rows that its backup copy has are missing or changed"
    if counted(connection.execute) != counted(lambda sql: connection.execute(sql.replace("meta", "copy.meta"))):
        return
    for table in (*SETTLED, *CHANGING):
        if n := _unlike(connection, table, "main", "copy") or _unlike(connection, table, "copy", "main"):
            yield f"{table}: {n:,} rows are not as they were written"


def _unlike(connection: sqlite3.Connection, table: str, rows: str, among: str, where: str = "1") -> int:
    """How many rows of a table are not in the other, as they are."""
    columns = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
    keys = [name for _, name, _, _, _, key in columns if key]
    same = " AND ".join(f"b.{name} IS a.{name}" for name in [*keys, *(c[1] for c in columns if not c[5])])
    sql = f"SELECT count(*) FROM {rows}.{table} a WHERE ({where}) AND NOT EXISTS (SELECT 1 FROM {among}.{table} b WHERE {same})"
    return int(connection.execute(sql).fetchone()[0])


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}{COPIES}*"))


def name_of(path: Path, draft: Path) -> str:
    """Of a copy of `path` with the draft's content: its own checksum, so that copy and checksum are replaced as one."""
    with draft.open("rb") as file:
        return f"{path.name}{COPIES}{file_digest(file, 'sha256').hexdigest()[:DIGITS]}"


def whole_copy(path: Path) -> Path | None:
    """The newest copy of this ledger that is as it was written; None where there is none."""
    whole = [copy for copy in copies(path) if name_of(path, copy) == copy.name]
    return max(whole, key=writes_in, default=None)


def writes_in(copy: Path) -> int:
    """How many writes the ledger had when it was copied."""
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        return counted(connection.execute)
