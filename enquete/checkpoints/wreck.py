"""A copy of a damaged SQLite file, made openable. Damage that SQLite does not notice (a changed letter within a text) stays."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from enquete.checkpoints.connection import whole_text
from enquete.checkpoints.leaves import HEAD

INNER_PAGE = 5
MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened_wreck(path: Path, sound: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """A connection to a copy, and where it is, of the damaged file, made openable; its write-ahead log is applied as far as it is whole.

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
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # rows are read from the file's own pages too
            yield connection, twin


def _looked_into(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = whole_text
    try:
        connection.execute("PRAGMA cell_size_check=ON")
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        if "calls" not in names:
            raise sqlite3.DatabaseError("it holds no ledger")
    except BaseException:
        connection.close()
        raise
    return connection


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
