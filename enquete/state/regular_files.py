"""Opening files that somebody else put there: regular ones only, up to a size, without ever waiting.

A named pipe blocks whoever opens it, a device has no end, a huge file takes all memory. What is wrong is an OSError whose
`strerror` is a sentence, so that a reader names the file and says why as with any other file that it cannot read.
Measured by: a pipe, a device, a socket, a folder and a sparse terabyte are each refused within milliseconds.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

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


def _regular(found: os.stat_result) -> os.stat_result:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a folder is there instead of a file")
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"{kind} is there instead of a file")
    return found


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}".removesuffix(".0")
