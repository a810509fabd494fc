"""What of a ledger is not as it was written: the one function that a resume, a report, an export and `enquete doctor`
ask, so that they cannot disagree.

SQLite checks how its pages hang together; every row carries a checksum of what it holds, a text its hash; counters are
compared with the rows they count. Measured by flipping single bits of ledgers (tests/ledger/test_ledger_damage.py):
what is not found here changed no row.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from enquete.ledger import queries
from enquete.ledger.checksums import is_intact
from enquete.ledger.connection import connect, explained
from enquete.ledger.drives import LEDGER, is_remote
from enquete.ledger.integrity import DamagedLedger, damaged

SEALED = (
    "meta", "participants", "digests", "occasions", "answers", "texts", "calls", "frozen", "forms", "stages",
    "failures", "counters",
)  # fmt: skip
"""Tables in the order in which they are looked at."""
MAX_NAMED = 5

NAMED_BY = {
    "meta": ("key",),
    "participants": ("id",),
    "digests": ("phase", "participant"),
    "occasions": ("methodology", "phase", "arm", "participant", "round"),
    "answers": ("item",),
    "calls": ("methodology", "phase", "arm", "purpose", "subject", "attempt"),
    "frozen": ("methodology", "phase", "arm", "name"),
    "forms": ("methodology", "phase", "participant", "round", "turn"),
    "stages": ("methodology", "phase"),
    "failures": ("methodology", "phase", "unit"),
    "counters": ("methodology", "phase", "arm", "name"),
}
"""Columns that tell a person which row is meant."""


@dataclass(frozen=True)
class DamagedRow:
    """A row that is not as it was written. key: of its table, as it stands there now; name: for people."""

    table: str
    key: tuple[Any, ...]
    name: str

    def __str__(self) -> str:
        return f"{self.table} ({self.name})"


@dataclass(frozen=True)
class Damage:
    """What is wrong with a ledger. whole: a fault that is not that of single rows, "" where there is none."""

    whole: str = ""
    rows: tuple[DamagedRow, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.whole or self.rows)

    def __str__(self) -> str:
        if self.whole or not self.rows:
            return self.whole
        named = ", ".join(map(str, self.rows[:MAX_NAMED]))
        more = f" and {len(self.rows) - MAX_NAMED:,} more" if len(self.rows) > MAX_NAMED else ""
        are = "1 row is" if len(self.rows) == 1 else f"{len(self.rows):,} rows are"
        return f"{are} not as written: {named}{more}"


def find_damage(folder: Path) -> Damage:
    """Read the whole ledger of the run in this folder and return what is wrong with it.

    Raises LedgerError where that cannot be told: another version, a database that does not answer, a machine that is
    used up.
    """
    try:
        with explained(folder / LEDGER):
            return damage_of(folder / LEDGER)
    except DamagedLedger as error:
        return Damage(str(error.fact))


def require_sound(folder: Path) -> None:
    """Raise DamagedLedger naming what is wrong with the ledger of the run in this folder; else as `find_damage`."""
    path = folder / LEDGER
    with explained(path):
        damage = damage_of(path)
    if damage:
        raise damaged(path, LookupError(str(damage)))


def damage_of(path: Path) -> Damage:
    """Return what is wrong with this ledger or copy. Raises sqlite3.DatabaseError, LedgerError where it cannot be
    opened."""
    with closing(connect(path, read_only=True)) as connection:
        if not is_remote(path):
            whole = next(iter_file_faults(connection, path), "")
            if whole:
                return Damage(whole)
        rows = tuple(row for table in SEALED for row in find_damaged_rows(connection, table))
        if rows:
            return Damage(rows=rows)
        return Damage(next(iter_count_faults(connection), ""))


def iter_file_faults(connection: Any, path: Path) -> Iterator[str]:
    """Yield what is wrong with a file. A database of a server's sees that for itself."""
    with path.open("rb") as file:
        written, read = file.read(20)[18:]
    if written != read:  # SQLite would read the ledger and refuse to write to it
        yield f"its header names two versions of the file format, {written} and {read}"
    if _structure(connection) != _made_structure():
        yield "its tables are not those that a ledger is made with"
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        yield verdict.replace("\n", " ")


def find_damaged_rows(connection: Any, table: str) -> Iterator[DamagedRow]:
    """Yield the rows of a table that differ from their checksums."""
    from enquete.ledger.tables import key_columns, row_columns  # noqa: PLC0415 - who only reads needs no SQLAlchemy

    if isinstance(connection, sqlite3.Connection):
        connection.text_factory = _any_text
    if table == "texts":
        yield from _find_damaged_texts(connection)
        return
    keys, names = key_columns(table), row_columns(table)
    wanted = ", ".join((*keys, *names, "checksum"))
    for row in connection.stream(f"SELECT {wanted} FROM {table} ORDER BY {', '.join(keys)}"):
        key, values, checksum = row[: len(keys)], row[len(keys) : -1], row[-1]
        if not is_intact(table, tuple(values), checksum):
            named = dict(zip(names, values, strict=True))
            name = " ".join(str(named[column]) for column in NAMED_BY[table] if named[column] != "")
            yield DamagedRow(table, tuple(key), name)


TEXTS = """
SELECT t.hash, t.head, t.text, h.text FROM texts t LEFT JOIN texts h ON h.hash = t.head AND t.head <> ''
ORDER BY t.hash
"""


def _find_damaged_texts(connection: Any) -> Iterator[DamagedRow]:
    for hashed, head, text, head_text in connection.stream(TEXTS):
        whole = f"{head_text}{text}" if head else text
        is_whole = isinstance(whole, str) and (head == "" or head_text is not None)
        if not is_whole or sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16] != hashed:
            yield DamagedRow("texts", (hashed,), str(hashed))


def _any_text(raw: bytes) -> str:
    """Return a text whatever its bytes are: one that is no UTF-8 differs from its checksum."""
    return raw.decode("utf-8", "surrogateescape")


def iter_count_faults(connection: Any) -> Iterator[str]:
    """Yield what counters say otherwise than the rows: some were lost whole, or belong to one that was lost.

    And whether the record is there.
    """
    row = connection.execute(queries.MISCOUNTED).fetchone()
    if row is not None:
        *_, name, surplus = row
        yield f"{abs(surplus):,} {name} {'more' if surplus > 0 else 'fewer'} were counted than there are"
    if connection.execute(queries.RECORD).fetchone() is None:
        yield "the run's record is not in it"


# What tables, keys and conditions there are. SQLite reads a table whose declaration lost a letter as another table.

TABLES = """
SELECT t.name, t.strict, t.wr, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk
FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND t.name <> 'sqlite_schema'
"""
INDEXES = """
SELECT m.name, l."unique", l.origin, l.partial, x.seqno, x.name, x."desc", x.coll, x.key
FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x WHERE m.type = 'table'
"""
REFERENCES = "SELECT m.name, f.* FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
WRITTEN = "SELECT type, name, sql FROM sqlite_master"
CHECKED = re.compile(r"CHECK\s*(\((?:[^()]|\([^()]*\))*\))")


def _structure(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return tables, keys and conditions, in whatever words they were declared; without those of workers."""
    asked = [row for sql in (TABLES, INDEXES, REFERENCES) for row in connection.execute(sql)]
    written = connection.execute(WRITTEN).fetchall()
    checks = [(name, "".join(check.split())) for _, name, sql in written for check in CHECKED.findall(sql or "")]
    return {row for row in (*asked, *checks) if row[0] not in queries.WORKER_TABLES}


@lru_cache(maxsize=1)
def _made_structure() -> set[tuple[object, ...]]:
    from enquete.ledger.tables import statements  # noqa: PLC0415 - who only reads needs no SQLAlchemy

    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements("sqlite"):
            connection.execute(statement)
        return _structure(connection)
