"""A run's writes on a disk that fills up: `python -m tests.support.small_disk FOLDER IN_FLIGHT BALLAST_BYTES`.

Calls begin, take a moment and settle, IN_FLIGHT at a time, until the disk is full. Prints what was sent and what is
stored, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

from enquete.ledger.connection import connect
from enquete.ledger.drives import DiskFull, DiskReserve
from enquete.ledger.writer import GroupWriter
from enquete.state.errors import LedgerError

RESPONSE = "x" * 8000
TABLE = "CREATE TABLE calls(n INTEGER PRIMARY KEY, status TEXT NOT NULL, response TEXT NOT NULL) STRICT"


async def fill(folder: Path, in_flight: int, size: int) -> dict[str, object]:
    path, disk_reserve, sent, lost, told = folder / "ledger.sqlite", DiskReserve(folder, size), [], [], []
    with closing(connect(path)) as connection, disk_reserve.held():
        connection.execute(TABLE)
        disk_reserve.on_full = told.append
        writer = GroupWriter(connection, str(path), disk_reserve)
        numbers = iter(range(1_000_000))

        async def agent() -> None:
            while not told:
                n = next(numbers)
                try:
                    await writer.submit(reserve(n), begins=True)
                except DiskFull:
                    return
                sent.append(n)
                await asyncio.sleep(0.002)
                try:
                    await writer.submit(settle(n), f"answer {n}")
                except LedgerError as error:
                    lost.append(str(error))

        await asyncio.gather(*(agent() for _ in range(in_flight)))
        await writer.close()
        held = disk_reserve.path.exists()
        with closing(connect(path, read_only=True)) as reader:
            stored = [n for (n,) in reader.execute("SELECT n FROM calls WHERE status='settled'")]
    return {
        "sent": len(sent),
        "missing": len(set(sent) - set(stored)),
        "lost": lost,
        "told": told,
        "reserve_left": held,
        "bytes": sum(each.stat().st_size for each in folder.iterdir()),
    }


def reserve(n: int):
    def write(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO calls VALUES(?, 'reserved', '')", (n,))

    return write


def settle(n: int):
    def write(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE calls SET status='settled', response=? WHERE n=?", (RESPONSE, n))

    return write


def refused(folder: Path, size: int) -> str:
    """What is said where the disk is full before anything begins, and that reading works there all the same."""
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    with closing(connect(folder / "ledger.sqlite", read_only=True)) as reader:
        reader.execute("SELECT count(*) FROM calls").fetchone()
    try:
        with DiskReserve(folder, size).held():
            return ""
    except DiskFull as error:
        return str(error)


if __name__ == "__main__":
    where, calls, reserve_size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    result = asyncio.run(fill(where, calls, reserve_size))
    print(json.dumps(result | {"refused": refused(where, reserve_size)}))
