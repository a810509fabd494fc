"""Taking methodologies over from one run into another: rows are copied, so that a run's ledger stays whole by itself.

What was spent on them was spent by the run that asked: counters of calls and tokens are copied under other names, so
that no cap counts them again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from enquete.ledger import queries
from enquete.ledger.connection import Connection, ReadableConnection, WriteConnection, connect
from enquete.ledger.ledger import Ledger

BLOCK = 1000
SPENT = {"tokens": "carried_tokens", "calls": "carried_calls", "lost": "carried_lost"}


async def carry(source: Path, target: Ledger, methodologies: Collection[str]) -> None:
    """Copy all rows of these methodologies from the ledger file `source` into a ledger that has none of them."""
    names = sorted(methodologies)

    def write(connection: WriteConnection) -> None:
        with closing(connect(source, read_only=True)) as origin:
            for table, rows in chosen_rows(origin, names):
                renamed = ((*row[:4], SPENT.get(str(row[4]), row[4]), row[5]) for row in rows)
                copy_rows(connection, table, renamed if table == "counters" else rows)
            connection.renumber()

    await target.write(write)


def chosen_rows(origin: ReadableConnection, methodologies: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Rows of these methodologies, by table; a table's before those that refer to it."""
    for table, where in queries.OF_METHODOLOGIES.items():
        values = (json.dumps(methodologies),) * where.count("?")
        yield table, origin.stream(f"SELECT {names_of(table)} FROM {table} WHERE {where}", values)


def names_of(table: str) -> str:
    from enquete.ledger.tables import columns  # noqa: PLC0415 - who reads a ledger needs no SQLAlchemy

    return ", ".join(columns(table))


def copy_rows(connection: Connection | sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """A block at a time."""
    names, rest = names_of(table), iter(rows)
    while block := list(islice(rest, BLOCK)):
        marks = ",".join("?" * len(block[0]))
        connection.executemany(f"INSERT INTO {table}({names}) VALUES({marks})", block)
