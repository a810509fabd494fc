"""A ledger in PostgreSQL: one schema a run, by its name. The statements are SQLite's (queries.py), translated.

A connection that is lost, because the server was restarted or the network was cut, is made again for `PATIENCE_S`; a
transaction whose commit got no answer is looked up by its number, so that nothing is written twice. The run's lock is
an advisory one and ends with its connection: who writes while holding it asks in every transaction whether it still
stands, and takes it again or stops.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

try:
    import psycopg
    from psycopg.types.numeric import IntLoader
except ImportError:
    psycopg = None  # type: ignore[assignment]

from enquete.ledger.drives import LEDGER, store_of
from enquete.ledger.integrity import STORED_VERSION, StoreUnreachable, require_version
from enquete.ledger.tables import NoSuchRun
from enquete.state.errors import LedgerError, RunLocked, SettingsError
from enquete.state.request import secret_of, with_credentials

T = TypeVar("T")
PATIENCE_S = 30.0
"""Seconds for which a database that does not answer is waited for: by this process, whatever it wants to write."""
RETRIED_S = 0.5
LAST_LOOK_S = 2
"""So long one more attempt may take once the patience is at its end."""
KEEPALIVE: Mapping[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "connect_timeout": 10,
    "tcp_user_timeout": 25_000,
}
"""A machine that vanished is noticed by then, and its lock is free. The last is for what was sent and nobody took,
which no keepalive looks at: Linux would wait for a quarter of an hour."""
SESSION = "SET tcp_keepalives_idle=10; SET tcp_keepalives_interval=5; SET tcp_keepalives_count=3"
LEAST_SERVER = 130000
"""Whose transactions can be looked up by their number."""
AT_ONCE = 2000
"""Rows that a cursor fetches together."""

TIME = re.compile(r"strftime\('%Y-%m-%dT%H:%M:%fZ', ([\w.]+) / 1000\.0, 'unixepoch'\)")
AS_TIME = r"""to_char(to_timestamp(\1 / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""

LOCK = "hashtextextended('enquete/' || current_database() || '/' || %s, 0)"
LOCKED = f"""
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32) | objid::bigint = {LOCK}
"""


def require_driver() -> None:
    """Raises SettingsError where the extra is not installed."""
    if psycopg is None:
        raise SettingsError("store: PostgreSQL needs packages that are not installed: pip install 'enquete[scale]'")


@lru_cache(maxsize=512)
def translated(sql: str) -> str:
    """SQLite's words as PostgreSQL's."""
    text = TIME.sub(AS_TIME, sql).replace("json_each(?)", "json_array_elements_text(CAST(? AS json))")
    return text.replace("%", "%%").replace("?", "%s")


class PostgresConnection:
    """To one run's schema, which need not exist yet. May be used from any thread, one at a time."""

    dialect, remote = "postgresql", True

    def __init__(self, shown: str, schema: str, *, read_only: bool = False):
        """shown: the store's address without a password. Raises StoreUnreachable, SettingsError."""
        require_driver()
        self.shown, self.schema, self.read_only = shown, schema, read_only
        self._closed, self._holding = False, False
        self._streams: list[Stream] = []
        self._connection = self._connected()

    def _connected(self, within_s: int = KEEPALIVE["connect_timeout"]) -> psycopg.Connection[Any]:
        url = with_credentials(self.shown)
        options = {**KEEPALIVE, "connect_timeout": within_s}
        with self.explained():
            connection = psycopg.connect(url, autocommit=True, application_name="enquete", **options)
        _given_up_at.pop(self.shown, None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        with self.explained():
            connection.adapters.register_loader("numeric", IntLoader)  # sums of whole numbers
            with suppress(psycopg.errors.InvalidParameterValue):  # of a socket of this machine
                connection.execute(SESSION)
            name = psycopg.sql.Identifier(self.schema)
            connection.execute(psycopg.sql.SQL("SET search_path TO {}").format(name))
            if self.read_only:
                connection.execute("SET default_transaction_read_only TO on")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What the database says as errors that a run knows; a broken constraint is a bug and stays one."""
        try:
            yield
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            fact = f"{self.shown}: holds no ledger of run {self.schema}"
            raise NoSuchRun(f"{fact}. Restore it there, or delete the run", fact=fact) from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnreachable(f"{self.shown}: {self._told(error)}. Try again once the database answers") from error
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction) as error:
            raise LedgerError(f"{self.shown}: {self._told(error)}. Ask whoever runs the database") from error

    def _told(self, error: Exception) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        secret = secret_of(with_credentials(self.shown))
        return text.replace(secret, "***") if secret else text

    @property
    def is_lost(self) -> bool:
        return bool(self._connection.closed)

    def execute(self, sql: str, values: Any = (), /) -> Any:
        return self._run(
            lambda: self._connection.execute(translated(sql), values or None if "?" not in sql else values)
        )

    def executemany(self, sql: str, rows: Any, /) -> Any:
        """In one round trip."""

        def run() -> Any:
            cursor = self._connection.cursor()
            cursor.executemany(translated(sql), rows)
            return cursor

        return self._run(run)

    def each(self, sql: str, rows: Sequence[Any], /) -> list[Any]:
        """Likewise."""

        def run() -> list[Any]:
            cursor = self._connection.cursor()
            cursor.executemany(translated(sql), rows, returning=True)
            firsts = [cursor.fetchone()]
            while cursor.nextset():
                firsts.append(cursor.fetchone())
            return firsts

        return self._run(run) if rows else []

    def stream(self, sql: str, values: Any = (), /) -> Any:
        """A cursor of the server's; holds still from its first use on."""
        self.hold_still()
        with self.explained():
            cursor = self._connection.cursor(name=f"c{time.monotonic_ns()}")
            cursor.itersize = AT_ONCE
            cursor.execute(translated(sql), values)
        self._streams = [stream for stream in self._streams if not stream.cursor.closed]
        self._streams.append(Stream(self, cursor))
        return self._streams[-1]

    def hold_still(self) -> None:
        if not self._holding:
            self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._holding = True

    def _run(self, work: Callable[[], T]) -> T:
        """Once more on a new connection where this one was lost outside any transaction."""
        inside = self._holding or self._is_inside()
        try:
            with self.explained():
                return work()
        except StoreUnreachable:
            if inside or self._closed or not self.is_lost:
                raise
            self.reconnect()
            with self.explained():
                return work()

    def _is_inside(self) -> bool:
        return not self.is_lost and self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def reconnect(self) -> None:
        """Connect anew. Raise StoreUnreachable once the database has not answered this process for PATIENCE_S: whoever
        comes later, of all the writes that were queued meanwhile, finds that time over, and looks once."""
        until = _given_up_at.setdefault(self.shown, time.monotonic() + PATIENCE_S)
        while True:
            is_over = time.monotonic() >= until
            try:
                self._connection = self._connected(LAST_LOOK_S if is_over else KEEPALIVE["connect_timeout"])
                return
            except StoreUnreachable:
                if is_over:
                    raise
            time.sleep(RETRIED_S)

    def wait_for_others(self, seconds: float) -> None:
        """Rows are locked, not files."""

    def transact(self, work: Callable[[], T]) -> T:
        until = time.monotonic() + PATIENCE_S
        while True:
            number, value, finished = None, None, False
            try:
                if self.is_lost:
                    self.reconnect()
                self._connection.execute("BEGIN")
                current = self._connection.execute("SELECT pg_current_xact_id()::text")
                number = current.fetchone()[0]  # type: ignore[index]
                self._require_lock()
                value = work()
                finished = True
                self._connection.execute("COMMIT")
                return value
            except BaseException as error:
                if not self.is_lost:
                    with suppress(psycopg.Error):
                        self._connection.execute("ROLLBACK")
                    if isinstance(error.__cause__, psycopg.errors.TransactionRollback) and time.monotonic() < until:
                        continue  # another writer was in the way
                elif isinstance(error, StoreUnreachable | psycopg.OperationalError) and time.monotonic() < until:
                    self.reconnect()
                    if finished and self._was_committed(number):
                        return value  # type: ignore[return-value]
                    continue
                with self.explained():
                    raise

    def _was_committed(self, number: str | None) -> bool:
        with self.explained():
            row = self._connection.execute("SELECT pg_xact_status(%s::text::xid8)", (number,)).fetchone()
        return row is not None and row[0] == "committed"

    def _require_lock(self) -> None:
        """Within a transaction of who holds the run's lock. Raises RunLocked where another process has taken it."""
        lock = _held.get((self.shown, self.schema))
        if lock is None:
            return
        rows = self._connection.execute(LOCKED, (self.schema,)).fetchall()
        if (lock.pid,) not in rows:
            lock.take_again()

    def renumber(self) -> None:
        from enquete.ledger.tables import numbered  # noqa: PLC0415

        for table in numbered():
            self.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM "
                f"{table}), false)"
            )

    def make_schema(self) -> None:
        """Raises LedgerError where there is one of this name."""
        name = psycopg.sql.Identifier(self.schema)
        try:
            with self.explained():
                self._connection.execute(psycopg.sql.SQL("CREATE SCHEMA {}").format(name))
        except psycopg.errors.DuplicateSchema as error:
            raise LedgerError(f"{self.shown}: holds a run {self.schema} already") from error

    def set_schema_aside(self) -> str:
        """Within a transaction. Gives the name under which it is kept, "" where there is none."""
        names = {name for (name,) in self.execute("SELECT nspname FROM pg_namespace").fetchall()}
        if self.schema not in names:
            return ""
        kept = next(name for n in count() if (name := f"{self.schema}.damaged{n or ''}") not in names)
        renamed = psycopg.sql.SQL("ALTER SCHEMA {} RENAME TO {}")
        self._connection.execute(renamed.format(psycopg.sql.Identifier(self.schema), psycopg.sql.Identifier(kept)))
        return kept

    def drop_schema(self) -> None:
        name = psycopg.sql.Identifier(self.schema)
        with self.explained():
            self._connection.execute(psycopg.sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))

    def close(self) -> None:
        self._closed = True
        for stream in self._streams:  # that somebody did not read to its end
            if not (self.is_lost or stream.cursor.closed):
                with suppress(psycopg.Error):
                    stream.cursor.close()
        self._connection.close()


_given_up_at: dict[str, float] = {}
"""Until when a database that is gone is waited for, by its address. One deadline for everything that waits for it."""


def seconds_left(shown: str) -> float:
    """Return how long a database may still be waited for: all of the patience where nothing is known to be wrong."""
    until = _given_up_at.get(shown)
    return PATIENCE_S if until is None else max(0.0, until - time.monotonic())


def give_up(shown: str) -> None:
    """Whoever comes next need not wait for this database: somebody has waited long enough."""
    _given_up_at.setdefault(shown, time.monotonic())


class Stream:
    """Rows that are fetched as they are read."""

    def __init__(self, connection: PostgresConnection, cursor: psycopg.ServerCursor[Any]):
        self.cursor, self._connection = cursor, connection
        self.description = cursor.description

    def __iter__(self) -> Iterator[Any]:
        with self._connection.explained():
            yield from self.cursor
            self.cursor.close()


def connect(folder: Path, *, read_only: bool = False) -> PostgresConnection:
    """To the ledger of the run in this folder. Raises StoreUnreachable, and LedgerError for one of another version."""
    connection = PostgresConnection(store_of(folder), folder.name, read_only=read_only)
    try:
        if connection.execute("SELECT to_regclass('meta')").fetchone()[0] is not None:
            require_version(connection.execute(STORED_VERSION).fetchone(), folder / LEDGER)
    except BaseException:
        connection.close()
        raise
    return connection


class RunLock:
    """A run's lock in its store, on a connection of its own."""

    def __init__(self, shown: str, schema: str):
        self._connection = PostgresConnection(shown, schema)
        self._key = (shown, schema)
        self._guard = threading.Lock()
        self.pid = 0

    def take(self, wait_s: float) -> None:
        """Raises RunLocked."""
        until = time.monotonic() + wait_s
        while not self._try():
            if time.monotonic() >= until:
                self._connection.close()
                raise RunLocked(f"run {self._key[1]} is being driven by another process; wait for it or stop it")
            time.sleep(RETRIED_S / 10)
        _held[self._key] = self

    def _try(self) -> bool:
        sql = f"SELECT pg_try_advisory_lock({LOCK}), pg_backend_pid()".replace("%s", "?")
        taken, self.pid = self._connection.execute(sql, (self._key[1],)).fetchone()
        return bool(taken)

    def take_again(self) -> None:
        """Its connection was lost. Raises RunLocked where another process was quicker."""
        with self._guard:
            self._connection.close()
            self._connection = PostgresConnection(*self._key)
            if not self._try():
                raise RunLocked(
                    f"run {self._key[1]}: the connection to its store was lost, and another process drives it now"
                )

    def release(self) -> None:
        _held.pop(self._key, None)
        self._connection.close()


_held: dict[tuple[str, str], RunLock] = {}


def examined(shown: str) -> tuple[int, float]:
    """The server's version, as a number, and how many seconds its clock is ahead of this machine's. Raises LedgerError
    where a run's schema could not be made there."""
    with closing(PostgresConnection(shown, f"doctor_{time.time_ns()}")) as connection:
        asked = time.time()
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        connection.transact(connection.make_schema)
        connection.drop_schema()
        return connection._connection.info.server_version, row[0] - (asked + time.time()) / 2


def is_locked(shown: str, schema: str) -> bool:
    """Whether somebody drives this run; False where the store does not say."""
    try:
        with closing(PostgresConnection(shown, schema, read_only=True)) as connection:
            return connection.execute(LOCKED.replace("%s", "?"), (schema,)).fetchone() is not None
    except (LedgerError, SettingsError):
        return False
