"""Checksums of a ledger's rows: each row says beside its values what they were when it was written.

SQLite notices a torn page, but not a letter that changed within a text. Whoever reads a run for a resume, a report or
an export compares every row with its checksum first (damage.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from enquete.ledger.tables import row_columns

Row = tuple[object, ...]


SEPARATOR, NOT_TEXT = "\x1f", "\x1e"


def checksum_of(values: Sequence[object]) -> int:
    """Return the CRC-32 of a row's values in the order of its table's columns, without a number of the database's.

    It finds every change of up to 32 neighbouring bits. Numbers and NULL are marked, so that they differ from a text
    that reads the same; both databases give them back as they were written.
    """
    parts = [value if type(value) is str else f"{NOT_TEXT}{value!r}" for value in values]
    return crc32(SEPARATOR.join(parts).encode())


def seal(values: Row) -> Row:
    """Return the values with their checksum behind them."""
    return (*values, checksum_of(values))


def seal_count(place: Row, value: int) -> Row:
    """Return a row of `counters`. The value is added to the checksum of its place, and so is whatever is counted later:
    no statement that counts has to read the row first."""
    return (*place, value, checksum_of(place) + value)


def seal_note(key: str, value: str) -> tuple[str, str, int]:
    """Return a row of `meta`. A number is added as in `seal_count`, since some remarks are added up."""
    is_number = value.isascii() and value.isdecimal()
    return key, value, checksum_of((key,)) + (int(value) if is_number else crc32(value.encode()))


def is_intact(table: str, values: Row, checksum: object) -> bool:
    """Return whether a row of this table, as it was read (see `row_columns`), is as it was written."""
    try:
        return expected_checksum(table, values) == checksum
    except (TypeError, ValueError):  # a value of a type that the table does not have
        return False


def expected_checksum(table: str, values: Row) -> int:
    """Return the checksum that belongs to these values."""
    if table == "counters":
        return int(str(seal_count(values[:-1], int(str(values[-1])))[-1]))
    if table == "meta":
        return seal_note(*map(str, values))[-1]
    return checksum_of(values)


def select_sealed(table: str, where: str) -> str:
    """Return the statement for whole rows of a table with their checksums, for a read of few rows by key."""
    return f"SELECT {', '.join(row_columns(table))}, checksum FROM {table} WHERE {where}"
