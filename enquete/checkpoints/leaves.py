"""Rows of a damaged SQLite file as they lie on its pages, whatever became of the tree that leads to them.

Every page is looked at once, so it ends in time that grows with the file alone: rows that a tree promises may lead in
circles. Rows are told apart by the number and types of their columns. https://sqlite.org/fileformat2.html
Measured by: of a ledger cut off anywhere, every row on a whole page is found, at 10 MB/s or more.
"""

from __future__ import annotations

import mmap
import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE_LEAF, INDEX_LEAF, INDEX_INNER = 13, 10, 2
HEAD = 100  # bytes of the file header
TYPES = {"TEXT": (str,), "INTEGER": (int,), "REAL": (float, int)}
Row = tuple[object, ...]


class _Torn(ValueError):
    """A cell that is no whole row."""


@dataclass(frozen=True)
class Shape:
    """What a table's rows look like. `stored`: its columns in the order they are stored (a key comes first WITHOUT ROWID),
    by place, type and whether they must be there; `rowid`: the column that is the rowid."""

    stored: tuple[tuple[int, str, bool], ...]
    rowid: int | None
    ordered: bool

    @classmethod
    def of(cls, sound: sqlite3.Connection, table: str) -> Shape:
        """From an undamaged database with this table."""
        columns = sound.execute(f"PRAGMA table_info({table})").fetchall()
        (without,) = sound.execute("SELECT wr FROM pragma_table_list(?)", (table,)).fetchone()
        keys = [column for column in columns if column[5]]
        alone = len(keys) == 1 and keys[0][2] == "INTEGER" and not without
        first = sorted(keys, key=lambda column: column[5]) if without else []
        order = first + [column for column in columns if column not in first]
        stored = tuple((place, kind, bool(needed or key)) for place, _, kind, needed, _, key in order)
        return cls(stored, keys[0][0] if alone else None, not without)

    def row(self, values: list[object], rowid: int) -> Row | None:
        """The values in the table's order; None where they are not those of this table."""
        if len(values) != len(self.stored):
            return None
        row: list[object] = [None] * len(values)
        for value, (place, kind, needed) in zip(values, self.stored, strict=True):
            if place == self.rowid:
                row[place] = rowid
            elif isinstance(value, TYPES[kind]) or (value is None and not needed):
                row[place] = value
            else:
                return None
        return tuple(row)


def rows_on_pages(path: Path, shape: Shape) -> Iterator[Row]:
    """Every whole row of this shape; one that was moved may come twice."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        pages = _Pages(content)
        for number in range(1, pages.count + 1):
            yield from pages.rows(number, shape)


class _Pages:
    """The pages of a file, numbered from 1."""

    def __init__(self, content: mmap.mmap):
        self.content = content
        (size,) = struct.unpack(">H", content[16:18])
        self.size = 65536 if size == 1 else size
        self.usable = self.size - content[20]
        self.count = len(content) // self.size if self.size >= 512 else 0

    def rows(self, number: int, shape: Shape) -> Iterator[Row]:
        page = self.content[(number - 1) * self.size : number * self.size]
        start = HEAD if number == 1 else 0
        kind, cells = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
        if kind not in ((TABLE_LEAF,) if shape.ordered else (INDEX_LEAF, INDEX_INNER)):
            return
        first = start + (12 if kind == INDEX_INNER else 8)
        for at in range(first, min(first + 2 * cells, self.size - 1), 2):
            try:
                rowid, record = self._cell(page, int.from_bytes(page[at : at + 2], "big"), kind, len(shape.stored))
                row = shape.row(_values(record), rowid)
            except (_Torn, IndexError, UnicodeDecodeError):
                continue
            if row is not None:
                yield row

    def _cell(self, page: bytes, at: int, kind: int, columns: int) -> tuple[int, bytes]:
        """(rowid, record), of a record with so many columns."""
        size, at = _varint(page, at + (4 if kind == INDEX_INNER else 0))
        rowid = 0
        if kind == TABLE_LEAF:
            rowid, at = _varint(page, at)
            rowid -= (rowid >> 63) << 64
        if not 0 < size <= len(self.content):
            raise _Torn
        local = self._local(size, kind)
        record = page[at : at + local]
        if len(_kinds(record)[0]) != columns:  # before its further pages are read: most are another table's
            raise _Torn
        if local < size:
            record += self._overflow(int.from_bytes(page[at + local : at + local + 4], "big"), size - local)
        if len(record) < size:
            raise _Torn
        return rowid, record

    def _local(self, size: int, kind: int) -> int:
        """How many bytes of a record stand on its own page."""
        most = self.usable - 35 if kind == TABLE_LEAF else (self.usable - 12) * 64 // 255 - 23
        least = (self.usable - 12) * 32 // 255 - 23
        if size <= most:
            return size
        wanted = least + (size - least) % (self.usable - 4)
        return wanted if wanted <= most else least

    def _overflow(self, number: int, size: int) -> bytes:
        parts = []
        while size > 0:
            if not 0 < number <= self.count:
                raise _Torn
            page = self.content[(number - 1) * self.size : number * self.size]
            number, part = int.from_bytes(page[:4], "big"), page[4 : 4 + min(size, self.usable - 4)]
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends. Raises IndexError."""
    value = 0
    for place in range(8):
        byte = page[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | page[at + 8], at + 9


def _kinds(record: bytes) -> tuple[list[int], int]:
    """A record's head: the kind of each value, and where the values begin."""
    end, at = _varint(record, 0)
    kinds = []
    while at < end:
        kind, at = _varint(record, at)
        kinds.append(kind)
    return kinds, at


def _values(record: bytes) -> list[object]:
    kinds, at = _kinds(record)
    values: list[object] = []
    for kind in kinds:
        value, at = _value(record, at, kind)
        values.append(value)
    return values


def _value(record: bytes, at: int, kind: int) -> tuple[object, int]:
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], at
    size = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8)[kind]
    raw, at = record[at : at + size], at + size
    if len(raw) < size or kind in (10, 11) or (kind >= 13 and kind % 2 and 0 in raw):
        raise _Torn
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True), at
    if kind == 7:
        return struct.unpack(">d", raw)[0], at
    return raw.decode("utf-8") if kind % 2 else raw, at
