"""Connections to a ledger."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from json import JSONDecodeError
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Self, TypeVar

from pydantic import ValidationError

from enquete.ledger.drives import disk_fault, is_remote, require_local
from enquete.ledger.integrity import STORED_VERSION, DamagedLedger, damaged, repair_hint, require_version
from enquete.state.errors import NO_ROOM_FOR_MORE, LedgerError, advice_for
from enquete.state.untrusted_input import require_regular

T = TypeVar("T")
DatabaseError = sqlite3.Error
"""What a database itself complains of, where nothing typed it."""


def require_current(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an error for a ledger of another version or with a program in it: LedgerError, DamagedLedger. Where there
    are no tables, whoever opens it is about to make them, or finds none."""
    program = connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone()
    if program is not None:  # a view without end would be read for ever
        raise DamagedLedger(f"{path}: holds a {program[0]}, {program[1][:60]!r}; no ledger does. Restore it")
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if "meta" in there:
        require_version(connection.execute(STORED_VERSION).fetchone(), path)


# --- Connections to a run's ledger file, and what is wrong where there can be none.

LONGEST_VALUE = 64_000_000  # bytes of a text; a response is a few MB at most
WAL_MARK = 2  # bytes 18 and 19 of a database in WAL mode
BUSY, READONLY, IOERR, CORRUPT, CANTOPEN, TOOBIG, NOTADB = 5, 8, 10, 11, 14, 18, 26  # SQLite's primary result codes
PERM, LOCKED, NOMEM, FULL, PROTOCOL = 3, 6, 7, 13, 15
ELSEWHERE = (PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL)
"""What is wrong with the machine, and says nothing of the file."""
PAGE = 8192  # bytes: of prompts of 2 kB, a page of 4,096 holds one
FILES = 3  # of a connection: the database, its log, their shared memory
SHORT_READ = 522  # an IOERR: the file ends within a page


class ReadConnection(sqlite3.Connection):
    """A ledger that is read: a page that turns out to be damaged, however late, is a LedgerError whoever fetches it."""

    ledger, dialect = Path(), "sqlite"

    def __init__(self, *place: Any, **options: Any):
        super().__init__(*place, **options)
        self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)

    def execute(self, sql: str, values: Any = (), /) -> Any:
        return self.cursor().execute(sql, values)

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or _Rows)

    stream = execute

    def hold_still(self) -> None:
        self.execute("BEGIN")

    def typed(self, error: sqlite3.DatabaseError) -> Exception:
        return damaged(self.ledger, error) if is_damage(error) else error


class _Rows(sqlite3.Cursor):
    connection: ReadConnection

    def execute(self, sql: str, values: Any = (), /) -> Self:
        try:
            return super().execute(sql, values)
        except sqlite3.DatabaseError as error:
            raise self.connection.typed(error) from error

    def fetchone(self) -> Any:
        try:
            return super().fetchone()
        except sqlite3.DatabaseError as error:
            raise self.connection.typed(error) from error

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except sqlite3.DatabaseError as error:
            raise self.connection.typed(error) from error

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except sqlite3.DatabaseError as error:
            raise self.connection.typed(error) from error


class Connection(Protocol):
    """What a ledger's statements (queries.py) are run on: SQLite's own connection, or PostgresConnection."""

    dialect: str

    def execute(self, sql: str, values: Any = (), /) -> Any: ...

    def executemany(self, sql: str, rows: Any, /) -> Any: ...

    def close(self) -> None: ...


class ReadableConnection(Connection, Protocol):
    """One that is only read."""

    def hold_still(self) -> None:
        """From now on it shows the ledger as it is now."""

    def stream(self, sql: str, values: Any = (), /) -> Any:
        """A cursor over many rows, never all in memory."""


class WriteConnection(Connection, Protocol):
    """`remote`: each statement is a round trip to another process."""

    remote: bool

    def each(self, sql: str, rows: Sequence[Any], /) -> list[Any]:
        """The first row of a statement's result for each of these, or None."""

    def wait_for_others(self, seconds: float) -> None:
        """So long, from now on, where another process writes."""

    def transact(self, work: Callable[[], T]) -> T:
        """In one transaction."""

    def make_schema(self) -> None:
        """Where tables can be made."""

    def renumber(self) -> None:
        """After rows that brought numbers of their own."""


class WriteFile(sqlite3.Connection):
    """A ledger's file that is written to."""

    dialect, remote = "sqlite", False

    def each(self, sql: str, rows: Sequence[Any], /) -> list[Any]:
        return [self.execute(sql, row).fetchone() for row in rows]

    def wait_for_others(self, seconds: float) -> None:
        self.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")

    def make_schema(self) -> None:
        """Nothing to do: it is the file."""

    def renumber(self) -> None:
        """Nothing to do: the next number follows the largest."""

    def transact(self, work: Callable[[], T]) -> T:
        try:
            self.execute("BEGIN IMMEDIATE")
            value = work()
            self.execute("COMMIT")
        except BaseException:
            if self.in_transaction:
                self.execute("ROLLBACK")
            raise
        return value


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is damaged, not how it is used."""
    return _code(error) in (CORRUPT, TOOBIG, NOTADB) or getattr(error, "sqlite_errorcode", 0) == SHORT_READ


def is_locked(error: Exception) -> bool:
    """Whether another process is at the file, and nothing is wrong."""
    return isinstance(error, sqlite3.OperationalError) and _code(error) == BUSY


def connect(path: Path, *, read_only: bool = False) -> Any:
    """A connection to a ledger: a WriteConnection or a ReadableConnection, to the file or to the store that is named
    beside it.

    Raises sqlite3.DatabaseError for a damaged file, LedgerError for one that cannot be written, is of another version
    or in a store that does not answer, SettingsError on a network drive.
    """
    if is_remote(path):
        from enquete.ledger import postgres  # noqa: PLC0415 - an extra brings what it needs

        return postgres.connect(path.parent, read_only=read_only)
    _require_file(path)
    return _for_reading(path) if read_only else _for_writing(path)


def _require_file(path: Path) -> None:
    """SQLite would wait for a named pipe for ever."""
    try:
        require_regular(path)
    except FileNotFoundError:
        if path.is_symlink():
            raise
    except OSError as error:
        if error.errno in NO_ROOM_FOR_MORE:
            raise LedgerError(f"{path}: cannot be read ({advice_for(error)})") from error
        raise DamagedLedger(f"{path}: {error.strerror}; restore the ledger, or {repair_hint(path)}") from error


def _for_writing(path: Path) -> WriteFile:
    """In WAL mode; on a network drive (where it is allowed) with a rollback journal."""
    local = require_local(path)
    uri = f"{path.absolute().as_uri()}?mode=rwc"
    connection = WriteFile(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA page_size={PAGE}")  # of a new file; one that there is keeps its own
        connection.execute("BEGIN IMMEDIATE")  # SQLite opens a file that it may not write to without a word
        connection.execute("ROLLBACK")
        connection.execute(f"PRAGMA journal_mode={'WAL' if local else 'DELETE'}")
        connection.execute(f"PRAGMA synchronous={'NORMAL' if local else 'FULL'}")
        require_current(connection, path)
    except sqlite3.OperationalError as error:
        connection.close()
        if _code(error) in (READONLY, CANTOPEN):
            raise LedgerError(
                f"{path}: cannot be written ({reason(error)}), so the run cannot go on there; status, report and list "
                "still work. Make file and folder writable, or copy the results folder and name the copy with out=DIR"
            ) from error
        raise disk_fault(error, path) or error from error
    except BaseException:
        connection.close()
        raise
    return connection


def _for_reading(path: Path) -> ReadConnection:
    connection = _readable(path)
    connection.ledger = path
    try:
        require_current(connection, path)
        connection.execute("PRAGMA foreign_keys=ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _readable(path: Path) -> ReadConnection:
    """Creates no file where nobody drives the run.

    A reader of a WAL file creates `-wal` and `-shm` beside it, and fails on read-only media. Where there is no `-wal`
    nobody drives the run, so it is read as the unchanging file it is; a `-wal` that a killed run left on read-only
    media or a full disk is read in a private copy, because without it the last answers would be missing.
    """
    if not path.with_name(f"{path.name}-wal").exists() and _in_wal_mode(path):
        return _opened(path, "ro&immutable=1")
    connection = _opened(path, "ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if _code(error) not in (BUSY, READONLY, IOERR, CANTOPEN) or reason(error) != str(error):
            raise  # nor is there a file for a copy where too many are open
        return _private_copy(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _private_copy(path: Path) -> ReadConnection:
    with TemporaryDirectory(prefix="enquete-") as scratch:
        twin = Path(scratch) / path.name
        for suffix in ("", "-wal", "-journal"):
            if path.with_name(path.name + suffix).exists():
                shutil.copyfile(path.with_name(path.name + suffix), twin.with_name(twin.name + suffix))
        source, copy = _opened(twin, "rw"), ReadConnection("", isolation_level=None, check_same_thread=False)
        try:
            source.backup(copy)
        except BaseException:
            copy.close()
            raise
        finally:
            source.close()
    copy.execute("PRAGMA query_only=ON")
    return copy


def _opened(path: Path, mode: str) -> ReadConnection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = ReadConnection(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    connection.ledger = path
    return connection


def reason(error: sqlite3.Error) -> str:
    """Return what a database complains of. SQLite says of a process that has too many files open only that it could
    not open the database."""
    if _code(error) == NOMEM:
        return advice_for(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))
    if _code(error) == CANTOPEN:
        try:
            with ExitStack() as opened:
                for _ in range(FILES):
                    opened.enter_context(Path(os.devnull).open("rb"))
        except OSError as fault:
            return advice_for(fault)
    return str(error)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def sqlite_version() -> str:
    return sqlite3.sqlite_version


def journal_mode(folder: Path) -> str:
    """What SQLite answers when asked for a write-ahead log, in a folder within that is removed again."""
    with TemporaryDirectory(prefix=".enquete_doctor_", dir=folder) as made:
        with closing(sqlite3.connect(Path(made) / "probe.sqlite")) as connection:
            mode = str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
            connection.execute("CREATE TABLE probe(x)")
            connection.commit()
        return mode


def _in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        return WAL_MARK in file.read(20)[18:]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raises LedgerError where the file that is read inside is missing, damaged or may not be read."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not is_damage(error) and _code(error) in ELSEWHERE:
            raise LedgerError(f"{path}: cannot be read ({reason(error)})") from error
        raise damaged(path, error) from error
    except (UnicodeDecodeError, JSONDecodeError, ValidationError, FileNotFoundError) as error:
        raise damaged(path, error) from error
    except (OSError, MemoryError) as error:
        raise LedgerError(f"{path}: cannot be read ({advice_for(error)})") from error
