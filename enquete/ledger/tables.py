"""The ledger's tables, declared once for SQLite and PostgreSQL.

One SQLite file or one PostgreSQL schema per run, so that archiving, deletion and corruption stay contained. STRICT
tables and NOT NULL everywhere: with INSERT OR IGNORE and nullable keys, errors and duplicates passed unseen. An
answer's key is its occasion (the block key without `part`, interned as an integer) and its item. What was sent is in
`texts`, once each: a panel is asked in the same words, agents have a system prompt of their own for all rounds, whose
first paragraph, its `head`, they share.

Rows carry a checksum of what they hold (checksums.py); of a text its hash is one.

Version of the ledger's tables: which this program writes and reads, and what it says of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    ForeignKey,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeEngine

from enquete.state.errors import LedgerError

# --- Versions --------------------------------------------------------------------------------------------------------

VERSION = "5"
"""In `meta`, where every version of Enquete looks for it."""


class NoSuchRun(LedgerError):
    """Its store holds no tables of it."""


class NewerLedger(LedgerError):
    """A newer version of Enquete wrote it: nothing is wrong with it, and nothing is to be repaired."""


def require_readable(stored: str, path: Path) -> None:
    """Raise an error that names the version where it is another: LedgerError, NewerLedger."""
    if stored == VERSION:
        return
    fact = f"{path}: ledger schema {stored!r}, this version of Enquete reads {VERSION}"
    if stored.isdecimal() and int(stored) > int(VERSION):
        fact = f"{fact}: a newer version wrote it"
        raise NewerLedger(f"{fact}. Update Enquete to go on with or read this run", fact=fact)
    raise LedgerError(f"{fact}. Begin another run with --new")


# --- Tables ----------------------------------------------------------------------------------------------------------

METADATA = MetaData()
TEXT = Text().with_variant(Text(collation="C"), "postgresql")  # ordered by its bytes, as in SQLite
WHOLE = Integer().with_variant(BigInteger(), "postgresql")
NUMBER: TypeEngine[float] = REAL().with_variant(postgresql.DOUBLE_PRECISION(), "postgresql")

DIALECTS: Mapping[str, Dialect] = {
    "sqlite": sqlite.dialect(),
    "postgresql": postgresql.dialect(),  # type: ignore[no-untyped-call]
}


def _text(name: str, **options: Any) -> Column[str]:
    return Column(name, TEXT, nullable=False, **options)


def _whole(name: str, **options: Any) -> Column[int]:
    return Column(name, WHOLE, nullable=False, **options)


def _texts(*names: str) -> Iterator[Column[str]]:
    return (_text(name) for name in names)


def _numbered() -> Column[int]:
    return _whole("id", primary_key=True)


def _checksum() -> Column[int]:
    return _whole("checksum")


def _table(name: str, *parts: Any, rowid: bool = True) -> Table:
    return Table(name, METADATA, *parts, sqlite_strict=True, sqlite_with_rowid=rowid)


_table("meta", _text("key", primary_key=True), _text("value"), _checksum())
_table(
    "participants", _whole("position", primary_key=True, autoincrement=False), _text("id", unique=True),
    Column("agent_id", WHOLE), *_texts("name", "stakeholder_type", "persona"), _checksum(),
)  # fmt: skip
_table(
    "digests", *_texts("phase", "participant"), Column("text", TEXT), _checksum(),
    PrimaryKeyConstraint("phase", "participant"), rowid=False,
)  # fmt: skip
_table(
    "occasions", _numbered(), *_texts("arm", "methodology", "phase", "participant", "session"), _whole("round"),
    _whole("turn"), _checksum(),
    UniqueConstraint("arm", "methodology", "phase", "participant", "session", "round", "turn"),
)  # fmt: skip
_table(
    "answers", Column("occasion", WHOLE, ForeignKey("occasions.id"), nullable=False), *_texts("item", "part", "status"),
    Column("value", NUMBER), _text("text"), Column("confidence", NUMBER), *_texts("data", "notes"), _whole("position"),
    _text("options_shown"), _whole("asked_at"), _checksum(), PrimaryKeyConstraint("occasion", "item"),
    CheckConstraint("status IN ('ok', 'repaired', 'refused', 'invalid', 'failed')"),
    CheckConstraint("confidence BETWEEN 0 AND 1"), rowid=False,
)  # fmt: skip
_table("texts", _text("hash", primary_key=True), *_texts("head", "text"), rowid=False)
_table(
    "calls", _numbered(), *_texts("methodology", "phase", "arm", "purpose", "subject"), _whole("attempt"),
    *_texts("status", "model", "system_hash", "messages_hash", "prompt_hash"), _whole("reserved"),
    *(_whole(name, server_default=text("0")) for name in ("allowance", "input_tokens", "output_tokens", "sends")),
    *(_text(name, server_default="") for name in ("response", "finish", "raw", "fingerprint", "error")),
    _whole("latency_ms", server_default=text("0")), _whole("reserved_at"),
    _whole("settled_at", server_default=text("0")), _checksum(),
    UniqueConstraint("methodology", "phase", "arm", "purpose", "subject", "attempt"),
    CheckConstraint("status IN ('reserved', 'settled', 'failed', 'lost')"),
)  # fmt: skip
_table(
    "frozen", *_texts("methodology", "phase", "arm", "name", "value", "at"), _checksum(),
    PrimaryKeyConstraint("methodology", "phase", "arm", "name"), rowid=False,
)  # fmt: skip
_table(
    "forms", _numbered(), *_texts("arm", "methodology", "phase", "session"), _whole("round"), _whole("turn"),
    *_texts("participant", "part", "state", "block", "draft", "opened_at", "changed_at"), _checksum(),
    UniqueConstraint("arm", "methodology", "phase", "participant", "session", "round", "turn", "part"),
    CheckConstraint("state IN ('open', 'submitted', 'withdrawn')"),
)  # fmt: skip
_table(
    "stages", *_texts("methodology", "phase", "outcome", "note", "at"), _checksum(),
    PrimaryKeyConstraint("methodology", "phase"), rowid=False,
)  # fmt: skip
_table(
    "failures", _numbered(), *_texts("arm", "methodology", "phase"), _whole("round"),
    *_texts("unit", "error", "traceback", "at"), _checksum(),
)  # fmt: skip
_table(
    "counters", *_texts("arm", "methodology", "phase"), _whole("round"), _text("name"), _whole("value"), _checksum(),
    PrimaryKeyConstraint("arm", "methodology", "phase", "round", "name"), rowid=False,
)  # fmt: skip


WORKERS = MetaData()
"""Of runs that several processes work on, made when the first does (workers.py); over with the driver."""

Table(
    "workers", WORKERS, _text("owner", primary_key=True), _text("address"), _whole("tokens"),
    *(Column(name, NUMBER, nullable=False) for name in ("usd", "spent_usd")), _text("stopped"), _whole("failed"),
    sqlite_strict=True,
)  # fmt: skip
Table(
    "worker_calls", WORKERS, _whole("call", primary_key=True, autoincrement=False), _text("owner"), sqlite_strict=True
)
Table("shards", WORKERS, _text("shard", primary_key=True), _text("owner"), sqlite_strict=True)
Table(
    "pace", WORKERS, _text("model", primary_key=True),
    *(Column(name, NUMBER, nullable=False) for name in ("requests", "tokens")), sqlite_strict=True,
)  # fmt: skip


@lru_cache
def statements(dialect: str) -> Sequence[str]:
    """That make the tables, those that others refer to first."""
    return [str(CreateTable(table).compile(dialect=DIALECTS[dialect])) for table in METADATA.sorted_tables]


@lru_cache
def worker_statements(dialect: str) -> Sequence[str]:
    """That make those of `WORKERS`."""
    made = (CreateTable(table, if_not_exists=True) for table in WORKERS.sorted_tables)
    return [str(statement.compile(dialect=DIALECTS[dialect])) for statement in made]


@lru_cache
def columns(table: str) -> list[str]:
    return [column.name for column in METADATA.tables[table].columns]


def key_columns(table: str) -> list[str]:
    return [column.name for column in METADATA.tables[table].primary_key]


@lru_cache
def row_columns(table: str) -> list[str]:
    """Return what a row holds of its own: its columns without a number of the database's and without its checksum."""
    numbers = ("id",) if table in numbered() else ()
    return [name for name in columns(table) if name not in (*numbers, "checksum")]


@lru_cache
def numbered() -> list[str]:
    """Tables whose rows the database numbers."""
    return [name for name, table in METADATA.tables.items() if table.autoincrement_column is not None]
