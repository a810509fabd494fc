"""Whole studies for tests: populations on disk, what a run stored, what its plan allows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from enquete.ledger.backup import copies
from enquete.ledger.checksums import expected_checksum
from enquete.ledger.connection import connect
from enquete.ledger.damage import SEALED
from enquete.ledger.folders import LEDGER
from enquete.ledger.tables import key_columns, row_columns
from enquete.reports.context import ids, responded

TYPES = ("Küstenfischer", "Umweltverband", "Wissenschaft", "Angler", "Verwaltung")


def personas(folder: Path, agents: int) -> Path:
    """A personas file with distinct agents of five types."""
    people = [
        {
            "name": f"Person {i}",
            "persona": f"Nr. {i}, lebt in Heiligenhafen und äußert sich zur Fischerei.",
            "type": TYPES[i % 5],
        }
        for i in range(agents)
    ]
    path = folder / f"personas_{agents}.json"
    path.write_text(json.dumps(people, ensure_ascii=False), "utf-8")
    return path


def rows(folder: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """A query over the run's ledger, wherever that is."""
    with closing(connect(folder / LEDGER, read_only=True)) as connection:
        fetched: list[tuple[Any, ...]] = connection.execute(sql, values).fetchall()
    return fetched


@contextmanager
def edited(folder: Path) -> Iterator[sqlite3.Connection]:
    """The run's ledger, to be changed by hand: as if it had been written so."""
    with closing(sqlite3.connect(folder / LEDGER)) as connection, connection:
        yield connection
        reseal(connection)
    for copy in copies(folder / LEDGER):
        copy.unlink()


def reseal(connection: sqlite3.Connection) -> None:
    """Give every row the checksum of what it holds now."""
    for table in SEALED:
        if table == "texts":
            continue
        keys, names = key_columns(table), row_columns(table)
        same = " AND ".join(f"{key} = ?" for key in keys)
        for row in connection.execute(f"SELECT {', '.join((*keys, *names))} FROM {table}").fetchall():
            key, values = row[: len(keys)], tuple(row[len(keys) :])
            checksum = expected_checksum(table, values)
            connection.execute(f"UPDATE {table} SET checksum = ? WHERE {same}", (checksum, *key))


def stored_answers(folder: Path, arm: str = "main") -> list[tuple[Any, ...]]:
    """Every answer of an arm without times: what must not depend on kills, pauses or concurrency."""
    return rows(
        folder,
        "SELECT o.methodology, o.phase, o.round, o.participant, a.item, a.status, a.value, a.text, a.confidence, "
        "a.position FROM answers a JOIN occasions o ON o.id=a.occasion WHERE o.arm=?"
        " ORDER BY o.methodology, o.phase, o.round, o.participant, a.item",
        arm,
    )


def call_keys(folder: Path, status: str = "settled") -> list[tuple[Any, ...]]:
    return rows(
        folder,
        "SELECT methodology, phase, arm, purpose, subject, attempt FROM calls WHERE status=? ORDER BY id",
        status,
    )


def spent(folder: Path) -> int:
    """Tokens, summed over calls: input, output and allowances."""
    return int(rows(folder, "SELECT coalesce(sum(input_tokens + output_tokens + allowance), 0) FROM calls")[0][0])


def results_of(out: Path) -> Path:
    """The folder of the only population below a folder that was named with out."""
    (marked,) = out.glob("*/population.json")
    return marked.parent


def run_folder(out: Path) -> Path:
    """The only run in a simulation's own results folder, or below a folder that was named with out."""
    (folder,) = (*out.glob("runs/*"), *out.glob("*/runs/*"))
    return folder


def with_ids(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that carry an answer, with a column `answer_id`. Two answers never share one."""
    answered = responded(frame)
    return answered.assign(answer_id=list(ids(answered)))
