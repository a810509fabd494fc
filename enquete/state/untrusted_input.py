"""Files that somebody else wrote: opened without ever waiting, read up to a size, parsed within bounds, and what was
made of them kept as long as they stay the same.

Text of unknown origin as it may be shown, and who answered, as every reply says it that shows answers.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

from enquete.locale import N_, SOURCE, tell

if TYPE_CHECKING:
    from pydantic import JsonValue

    from enquete.state.asking import Language


# --- Text of unknown origin as it may be shown: what would act on a terminal, a page or a spreadsheet is seen instead

_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Control characters, line separators and marks that turn the direction of writing as \u001b: in JSON that is the
    character itself, everywhere else it is what stands there. Tabs and ends of lines stay."""
    return text if text.isprintable() else _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


EXECUTED = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""A cell beginning so is run as a formula by spreadsheets; the full-width ones in East Asian versions."""
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Unicode categories of control, format and space characters: spreadsheets drop some of them before they look."""


def as_cell(text: str) -> str:
    """A text of a CSV: with an apostrophe before it where a spreadsheet would run it."""
    seen = next((place for place, sign in enumerate(text) if unicodedata.category(sign) not in UNSEEN), len(text))
    runs = text.startswith(EXECUTED, seen) or text.startswith(("\t", "\r", "\n"))
    return f"'{visible(text)}" if runs else visible(text)


# --- Who answered, as every reply says it that shows answers ---------------------------------------------------------

SYNTHETIC = N_(
    "ANSWERED BY THE SYNTHETIC RESPONDENT: every answer was computed from planted positions, not given by a "
    "model or a person. The figures show that the instruments work; they say nothing about the world."
)
SOME_SYNTHETIC = N_(
    "Some of these answers were computed by the synthetic respondent, not given by a model or a person."
)


def authorship(
    respondent: str, model: str, language: Language = SOURCE, *, behind: Collection[str] = ()
) -> dict[str, str | None]:
    """respondent: llm, synthetic or human; behind: who gave the answers that are shown, where others did, too."""
    return {"respondent": respondent, "model": model, "warning": warning(behind or (respondent,), language)}


def warning(respondents: Collection[str], language: Language = SOURCE) -> str | None:
    """None where models or persons gave all of the answers."""
    computed = [kind == "synthetic" for kind in respondents]
    if not any(computed):
        return None
    return tell(SYNTHETIC if all(computed) else SOME_SYNTHETIC, language)


# --- Opening files that somebody else put there: regular ones only, up to a size, without ever waiting ---------------
# A named pipe blocks whoever opens it, a device has no end, a huge file takes all memory. What is wrong is an OSError
# whose `strerror` is a sentence, so that a reader names the file and says why as with any other file that it cannot
# read. Measured by: a pipe, a device, a socket, a folder and a sparse terabyte are each refused within milliseconds.

MOST_BYTES = 64_000_000
"""Of a file that is read as a whole: 20,000 agents of 3 kB. In memory it is a few times that."""

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
NO_WORKBOOK = "a spreadsheet's workbook is not read; save its sheet as CSV (UTF-8) and name that file"

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_WITHOUT_WAITING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def require_regular(path: Path) -> os.stat_result:
    """What the system says of the file, links followed. Raises OSError unless it is a regular one; opens nothing."""
    try:
        return _regular(path.stat())
    except FileNotFoundError as error:
        if path.is_symlink():
            raise FileNotFoundError(errno.ENOENT, "a link that leads to no file") from error
        raise
    except ValueError as error:  # a null character in the name
        raise OSError(errno.EINVAL, str(error)) from error


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading; of any size, for who reads it piece by piece. Raises OSError."""
    require_regular(path)
    number = os.open(path, _WITHOUT_WAITING)
    try:
        _regular(os.fstat(number))  # what is open now, whatever was put there meanwhile
    except OSError:
        os.close(number)
        raise
    return os.fdopen(number, "rb")


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """All bytes that a regular file has now. Raises OSError, also where there are more than `most`."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {_megabytes(size)} MB; at most {_megabytes(most)} are read")
        return file.read(size)


def _regular(status: os.stat_result) -> os.stat_result:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a folder is there instead of a file")
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"{kind} is there instead of a file")
    return status


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}".removesuffix(".0")


# --- JSON that somebody else wrote: what is wrong with it is a ValueError, and it takes no more memory than planned

MOST_PARTS = 4_000_000
"""Brackets, braces and commas: each can cost up to 70 bytes of memory as a value, so that a text of some megabytes
could otherwise take gigabytes. 20,000 agents with 40 fields have 800,000."""


def parse_json(text: str | bytes) -> JsonValue:
    """The JSON value of a text; ValueError also for what json itself answers with other exceptions."""
    signs = "[{," if isinstance(text, str) else (b"[", b"{", b",")
    if len(text) > MOST_PARTS and (parts := sum(map(text.count, signs))) > MOST_PARTS:  # type: ignore[arg-type]
        raise ValueError(f"more than {MOST_PARTS:,} parts ({parts:,} brackets and commas)")
    try:
        value: JsonValue = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


# --- What was made of files, kept as long as they stay the same: a large run's table is not parsed for every page

T = TypeVar("T")
Stamp = tuple[tuple[Path, int, int] | None, ...]
"""Of each file its path, time of change in ns and size; None for one that is not there."""


class FileCache(Generic[T]):
    """The last `most` things by key, the longest unused given up first. Thread-safe: one makes, others wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, tuple[Stamp, T]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, files: Iterable[Path], make: Callable[[], T]) -> T:
        """What `make` gave for these files as they are now."""
        stamp = stamp_of(files)
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                held = self._held.get(key)
                if held is not None and held[0] == stamp:
                    self._held.move_to_end(key)
                    return held[1]
            made = make()
            self.keep(key, stamp, made)
            return made

    def held(self, key: Hashable, stamp: Stamp) -> T | None:
        """What is kept of files that are as they were."""
        with self._lock:
            held = self._held.get(key)
            return held[1] if held is not None and held[0] == stamp else None

    def keep(self, key: Hashable, stamp: Stamp, made: T) -> None:
        with self._lock:
            self._held[key] = (stamp, made)
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                given_up, _ = self._held.popitem(last=False)
                self._making.pop(given_up, None)


def stamp_of(files: Iterable[Path]) -> Stamp:
    return tuple(_stat(file) for file in files)


def _stat(file: Path) -> tuple[Path, int, int] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return file, stat.st_mtime_ns, stat.st_size
