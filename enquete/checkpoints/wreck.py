"""Reading what is left of a damaged SQLite file: row by row, around the pages that cannot be read.

Python's sqlite3 has no `.recover`, so a table is read in the order of its key until a page fails, then on behind it:
by rowid, or by keys that other tables know. Damage that SQLite does not notice (a changed letter within a text) stays.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

Row = tuple[object, ...]

NEAR = 2_000
"""Rowids tried one by one behind a page that failed; beyond them the steps double."""

HEAD = 100  # bytes of the file header
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
HOLE = b"\x00" * 16
INNER_PAGE = 5
MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened_wreck(path: Path, sound: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the damaged file, made openable; its write-ahead log is applied as far as it is whole.

    sound: an undamaged file with the same tables made in the same order, whose first page replaces an unreadable one.
    Raises sqlite3.DatabaseError where it is no database at all.
    """
    with TemporaryDirectory(prefix=".salvage-", dir=sound.parent) as scratch:
        twin = Path(scratch) / path.name
        shutil.copyfile(path, twin)
        log = path.with_name(f"{path.name}-wal")
        if log.exists():
            shutil.copyfile(log, twin.with_name(f"{twin.name}-wal"))
        _completed(twin)
        try:
            connection = _looked_into(twin)
        except sqlite3.DatabaseError:
            _give_head(twin, sound)
            connection = _looked_into(twin)
        with closing(connection):
            yield connection


def _looked_into(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = _text
    try:
        connection.execute("PRAGMA cell_size_check=ON")
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        if "calls" not in names:
            raise sqlite3.DatabaseError("it holds no ledger")
    except BaseException:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    """Raises UnicodeDecodeError for a text that is torn: not UTF-8, or continued on a page that was emptied."""
    if HOLE in raw:
        raise UnicodeDecodeError("utf-8", raw, raw.index(HOLE), len(raw), "zeros")
    return raw.decode("utf-8")


def _completed(path: Path) -> None:
    """A file that was cut off is refused as a whole; filled up with empty pages, only these fail."""
    with path.open("r+b") as file:
        head = file.read(HEAD)
        if len(head) == HEAD and head.startswith(MAGIC):
            size = struct.unpack(">H", head[16:18])[0]
            pages = struct.unpack(">I", head[28:32])[0]
            wanted = min((65536 if size == 1 else size) * pages, 100 * path.stat().st_size)
            file.truncate(max(path.stat().st_size, wanted))


def _give_head(path: Path, sound: Path) -> None:
    """Every ledger is made alike, so a new one's header and list of tables fit one that lost its own."""
    content = sound.read_bytes()
    size = struct.unpack(">H", content[16:18])[0]
    with path.open("r+b") as file:
        file.seek(0, 2)
        pages = -(-file.tell() // size)
        file.truncate(pages * size)
        for number in _list_of_tables(content, size):
            page = bytearray(content[(number - 1) * size : number * size])
            if number == 1:
                page[28:32] = struct.pack(">I", pages)
                page[92:96] = page[24:28]  # the number of pages is valid for this change counter
            file.seek((number - 1) * size)
            file.write(page)


def _list_of_tables(content: bytes, size: int) -> list[int]:
    """The pages of sqlite_master: the first one, and where that is an inner page those that it points to."""
    kind, cells = content[HEAD], struct.unpack(">H", content[HEAD + 3 : HEAD + 5])[0]
    if kind != INNER_PAGE:
        return [1]
    places = struct.unpack(f">{cells}H", content[HEAD + 12 : HEAD + 12 + 2 * cells])
    children = [struct.unpack(">I", content[place : place + 4])[0] for place in places]
    return [1, *children, struct.unpack(">I", content[HEAD + 8 : HEAD + 12])[0]]


class Lost(list[str]):
    """What could not be read, in words."""


def by_rowid(connection: sqlite3.Connection, table: str, columns: str, lost: Lost) -> Iterator[Row]:
    """Rows of a table with rowid, in that order."""
    ceiling = _ceiling(connection)
    last = -2
    while last < ceiling:
        try:
            for rowid, *row in connection.execute(
                f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid", (last,)
            ):
                last = rowid
                yield tuple(row)
            return
        except UNREADABLE as error:
            # sqlite3 steps ahead before it hands out a row, so the one after `last` may well be readable.
            first = last + 1
            last, found = _next_readable(connection, table, columns, first, ceiling)
            if last > first:
                lost.append(f"{table}: rows {max(first, 0)} to {'the end' if last > ceiling else last - 1} ({error})")
            yield from found


def _next_readable(
    connection: sqlite3.Connection, table: str, columns: str, first: int, ceiling: int
) -> tuple[int, list[Row]]:
    """The first rowid from there on that can be looked up, and its row if there is one; beyond the ceiling: none can."""
    step, rowid = 1, first
    while rowid <= ceiling:
        try:
            sql = f"SELECT {columns} FROM {table} NOT INDEXED WHERE rowid=?"
            return rowid, connection.execute(sql, (rowid,)).fetchall()
        except UNREADABLE:
            step = step if rowid - first < NEAR else 2 * step
            rowid += step
    return ceiling + 1, []


def _ceiling(connection: sqlite3.Connection) -> int:
    """More rows than fit into the file: a row takes at least 8 bytes."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    return int(pages * connection.execute("PRAGMA page_size").fetchone()[0] // 8)


def by_keys(
    connection: sqlite3.Connection, table: str, columns: str, key: Sequence[str], values: Iterable[object], lost: Lost
) -> Iterator[Row]:
    """Rows of a table without rowid: as a whole if possible, else by each known value of its key's first column.

    Rows around a page that failed may come twice.
    """
    try:
        yield from connection.execute(f"SELECT {columns} FROM {table} ORDER BY {', '.join(key)}").fetchall()
        return
    except UNREADABLE:
        pass
    for value in values:
        sql = f"SELECT {columns} FROM {table} WHERE {key[0]}=?"
        try:
            yield from connection.execute(sql, (value,)).fetchall()
        except UNREADABLE as error:
            lost.append(f"{table}: rows of {key[0]} {value!r} ({error})")
            yield from _both_ends(connection, sql, key, value)


def _both_ends(connection: sqlite3.Connection, sql: str, key: Sequence[str], value: object) -> Iterator[Row]:
    """What lies before and behind the page that failed."""
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{column} {direction}" for column in key)
        yield from _until_failure(connection, f"{sql} ORDER BY {order}", value)


def _until_failure(connection: sqlite3.Connection, sql: str, value: object) -> Iterator[Row]:
    number = 0
    with suppress(*UNREADABLE):
        for row in connection.execute(sql, (value,)):
            number += 1
            yield row
        return
    with suppress(*UNREADABLE):  # the row that was not handed out
        yield from connection.execute(f"{sql} LIMIT 1 OFFSET {number}", (value,)).fetchall()
