"""Responses to identical requests of earlier runs, in one SQLite file that several processes may share.

Reading takes one look-up by primary key; writing is left to a thread of its own, which commits whatever has gathered.
Neither waits for another process, and no fault of the file reaches the run: a response that cannot be read is a miss,
one that cannot be written is counted in `lost`, and both are noted once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_dir

from enquete.models.faults import split_urls
from enquete.state.asking import CallKey
from enquete.state.errors import SettingsError
from enquete.state.interview_context import Prompt

# --- The file of the response cache: for its owner alone, and set aside instead of trusted once it is damaged --------

APPLICATION = 0x456E7143  # "EnqC", in the file's header
VERSION = 1
LOCK_S = 5.0
BUSY_S = 5.0

_TABLE = """
CREATE TABLE responses(
  key TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL, finish TEXT NOT NULL, raw TEXT NOT NULL,
  fingerprint TEXT NOT NULL, model TEXT NOT NULL,
  input_tokens INTEGER, output_tokens INTEGER,  -- NULL: the server reported none
  stored_at REAL NOT NULL  -- seconds since 1970, UTC
) STRICT
"""
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _OtherVersion(Exception):
    """The file was written by another version of the cache."""


def prepare(path: Path) -> str:
    """Have a usable file at `path`. Returns a notice where another one was set aside for it, else "".

    Raises SettingsError where nothing can be written there, or where the file is a database of something else.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(path):
            return _prepare(path)
    except (OSError, Timeout, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"response cache {path}: {reason}; set ENQUETE_CACHE_DIR to a local folder that you may write to, "
            "or leave the cache off"
        ) from None


def connect(path: Path) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=NORMAL")  # a power cut may lose the last responses, not the file
    return connection


def is_damaged(error: BaseException) -> bool:
    """Whether SQLite says that the file is no longer a sound database."""
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _BROKEN


def identity(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino


def set_aside(path: Path, opened: tuple[int, int]) -> None:
    """Move a file out of the way, unless another process has put a fresh one there since it was `opened`."""
    with _lock(path):
        if path.exists() and identity(path) == opened:
            _move(path)


def _lock(path: Path) -> FileLock:
    return FileLock(path.with_name(f"{path.name}.lock"), timeout=LOCK_S, mode=0o600)


def _prepare(path: Path) -> str:
    try:
        _set_up(path)
        return ""
    except _OtherVersion as other:
        reason = str(other)
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        reason = f"damaged ({error})"
    aside = _move(path)
    _set_up(path)
    return f"The response cache was {reason}: set aside as {aside.name}, and a new one begun."


def _move(path: Path) -> Path:
    stem = f"{path.name}.aside-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    for ending in ("-wal", "-shm", ""):  # a log that stayed behind would be played into the next file
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(path.with_name(stem + ending))
    return path.with_name(stem)


def _set_up(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives -wal and -shm the same mode
    path.chmod(0o600)
    with closing(connect(path)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables:
            _check(path, connection)
        connection.execute("PRAGMA journal_mode=WAL")
        if not tables:
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")
            connection.execute(_TABLE)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise SettingsError(f"response cache {path}: the database of another program; set ENQUETE_CACHE_DIR elsewhere")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise _OtherVersion(f"written by another version of Enquete (schema {version}, here {VERSION})")


_COLUMNS = "text, finish, raw, fingerprint, model, input_tokens, output_tokens, stored_at"
_SELECT = f"SELECT {_COLUMNS} FROM responses WHERE key=?"
_UPSERT = (
    f"INSERT INTO responses(key, {_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET "
    + ", ".join(f"{column}=excluded.{column}" for column in _COLUMNS.split(", "))
)


@dataclass(frozen=True, slots=True)
class Cached:
    """A response as it was once paid for. Token counts are None where none were reported. `stored_at` is in UTC."""

    text: str
    finish: str
    raw: str
    fingerprint: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    stored_at: datetime


def default_folder() -> Path:
    """Where the cache is kept unless ENQUETE_CACHE_DIR says otherwise."""
    return Path(user_cache_dir("enquete", appauthor=False))


def request_key(
    prompt: Prompt, *, base_url: str, model: str, temperature: float, seed: int, occasion: CallKey | None = None
) -> str:
    """sha256 of all that decides about a response, but not of the form in which a server wants to be asked.

    `occasion`: what the request is made for; its run does not count. With it, the same words on another occasion (T1
    for an agent without memories, a second attempt, a replicate) are another request, so that within a run no answer is
    a copy of another one. The schema counts with its order: that order is shown to the model.
    """
    request = {
        "version": 1,
        "base_url": ",".join(url for url, _ in split_urls(base_url)),
        "model": model,
        "temperature": float(temperature),
        "seed": seed,
        "system": prompt.system,
        "messages": [sorted(message.items()) for message in prompt.messages],
        "schema": prompt.schema,
        "max_output_tokens": prompt.max_output_tokens,
        "occasion": occasion[1:] if occasion else None,
    }
    return sha256(json.dumps(request, allow_nan=False).encode()).hexdigest()


class ResponseCache:
    """One file of responses by `request_key`. For any thread and event loop; `get` and `put` return at once."""

    def __init__(self, path: Path):
        """Raises SettingsError where `path` cannot be written or belongs to another program. A damaged file is set
        aside, and `notices` says so."""
        self.path = path
        self.hits = self.misses = 0
        self.lost = 0  # responses that could not be written
        notice = prepare(path)
        self._notices = [notice] if notice else []
        self._opened = identity(path)
        self._reader = connect(path)
        self._writer = connect(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="enquete-cache")
        self._lock = threading.RLock()
        self._waiting: dict[str, Cached] = {}  # put, but not yet committed
        self._writing = self._off = self._closed = False

    @property
    def notices(self) -> tuple[str, ...]:
        """What people should know: a file set aside, responses that could not be read or written."""
        with self._lock:
            return tuple(self._notices)

    def get(self, key: str) -> Cached | None:
        """The response stored under `key`, or None; counted as a hit or a miss."""
        with self._lock:
            self._check_open()
            cached = self._waiting.get(key) or self._read(key)
            self.hits += cached is not None
            self.misses += cached is None
            return cached

    def put(
        self,
        key: str,
        *,
        text: str,
        finish: str,
        raw: str,
        fingerprint: str,
        model: str,
        input_tokens: int | None,
        output_tokens: int | None,
    ) -> None:
        """Store a response; the last one under a key counts. Only finish "stop" is kept: nobody wants
        again what may be cut, or was refused."""
        if finish != "stop":
            return
        response = Cached(text, finish, raw, fingerprint, model, input_tokens, output_tokens, datetime.now(UTC))
        with self._lock:
            self._check_open()
            if self._off:
                self.lost += 1
                return
            self._waiting[key] = response
            if not self._writing:
                self._writing = True
                self._thread.submit(self._write_waiting)

    def close(self) -> None:
        """Write what is waiting and let go of the file."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._thread.shutdown(wait=True)
        self._reader.close()
        self._writer.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"response cache {self.path}: used after it was closed")

    def _read(self, key: str) -> Cached | None:
        if self._off:
            return None
        try:
            row = self._reader.execute(_SELECT, (key,)).fetchone()
        except sqlite3.Error as error:
            self._fault("read", error)
            return None
        if row is None:
            return None
        text, finish, raw, fingerprint, model, read, written, stored_at = row
        stored = datetime.fromtimestamp(stored_at, UTC)
        return Cached(text, finish, raw, fingerprint, model, read, written, stored)

    def _write_waiting(self) -> None:
        """Commit what has gathered, until nothing is left. Runs on the thread."""
        while True:
            with self._lock:
                group = dict(self._waiting)
                if not group:
                    self._writing = False
                    return
            self._write(group)
            with self._lock:
                for key, response in group.items():
                    if self._waiting.get(key) is response:
                        del self._waiting[key]

    def _write(self, group: dict[str, Cached]) -> None:
        rows = [(key, *astuple(response)[:-1], response.stored_at.timestamp()) for key, response in group.items()]
        try:
            with self._writer:
                self._writer.execute("BEGIN IMMEDIATE")
                self._writer.executemany(_UPSERT, rows)
        except (sqlite3.Error, UnicodeError) as error:
            with self._lock:
                self.lost += len(group)
            self._fault("written", error)

    def _fault(self, what: str, error: Exception) -> None:
        """Note it once; a damaged file is not used any more, and is out of the way for the next run."""
        with self._lock:
            notice = f"The response cache {self.path.name} could not be {what}: {error}."
            if is_damaged(error) and not self._off:
                self._off = True
                notice += " It is off for the rest of this run."
                try:
                    set_aside(self.path, self._opened)
                except (OSError, Timeout):
                    notice += f" Delete {self.path} before the next one."
            if notice not in self._notices:
                self._notices.append(notice)
