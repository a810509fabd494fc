"""What was made of files, kept as long as they stay the same: a table of a large run is parsed once, not for every page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
Stamp = tuple[tuple[Path, int, int] | None, ...]
"""Of each file its path, time of change in ns and size; None for one that is not there."""


class FileCache(Generic[T]):
    """The last `most` things by key, the longest unused given up first. Safe between threads: one makes, others wait."""

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
        found = file.stat()
    except OSError:
        return None
    return file, found.st_mtime_ns, found.st_size
