"""Taking methodologies over from one run into another: rows are copied, so that a run's ledger stays whole by itself.

What was spent on them was spent by the run that asked: counters of calls and tokens are copied under other names, so
that no cap counts them again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

from enquete.ledger.connection import connect
from enquete.ledger.ledger import Ledger

SPENT = {"tokens": "carried_tokens", "calls": "carried_calls", "lost": "carried_lost"}
SENT = """hash IN (
  SELECT system_hash FROM calls WHERE methodology IN ({marks}) UNION
  SELECT messages_hash FROM calls WHERE methodology IN ({marks}) UNION
  SELECT head FROM texts JOIN calls ON hash = system_hash WHERE methodology IN ({marks}))"""
OF_METHODOLOGY = ("occasions", "calls", "frozen", "stages", "failures")


async def carry(source: Path, target: Ledger, methodologies: Collection[str]) -> None:
    """Copy all rows of these methodologies from the ledger file `source` into a ledger that has none of them."""
    names = sorted(methodologies)

    def write(connection: sqlite3.Connection) -> None:
        with closing(connect(source, read_only=True)) as origin:
            for table in OF_METHODOLOGY:
                _copy(connection, table, _rows(origin, table, "methodology", names))
            occasions = "occasion IN (SELECT id FROM occasions WHERE methodology IN ({marks}))"
            _copy(connection, "answers", _where(origin, "answers", occasions, names))
            _copy(connection, "texts", _where(origin, "texts", SENT, names))
            counters = (
                (*row[:4], SPENT.get(str(row[4]), row[4]), row[5])
                for row in _rows(origin, "counters", "methodology", names)
            )
            _copy(connection, "counters", counters)

    await target.write(write)


def _rows(origin: sqlite3.Connection, table: str, column: str, names: list[str]) -> Iterator[tuple[object, ...]]:
    return _where(origin, table, f"{column} IN ({{marks}})", names)


def _where(origin: sqlite3.Connection, table: str, condition: str, names: list[str]) -> Iterator[tuple[object, ...]]:
    marks = ",".join(f"?{number}" for number in range(1, len(names) + 1))
    yield from origin.execute(f"SELECT * FROM {table} WHERE {condition.format(marks=marks)}", names)


def _copy(connection: sqlite3.Connection, table: str, rows: Iterator[tuple[object, ...]]) -> None:
    for row in rows:
        connection.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)
