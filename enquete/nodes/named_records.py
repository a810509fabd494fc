"""What operations keep under a name: a folder each below the root (interviews, roundtables, comparisons), and in it one
JSON file, beside the runs that belong to it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from enquete.ledger.folders import write_atomically
from enquete.state.errors import InputError
from enquete.state.methodology import Port
from enquete.state.regular_files import read_regular

RecordT = TypeVar("RecordT", bound=BaseModel)
FoundT = TypeVar("FoundT")
MOST_NAMED = 10
"""Others, where a name is not known."""


class NamedRecords(Generic[RecordT]):
    """Of one root. kind, begun_with: what a record is called, and the operation that begins one."""

    place: ClassVar[str]
    file: ClassVar[str]
    kind: ClassVar[str]
    begun_with: ClassVar[str]
    record: type[RecordT]

    def __init__(self, port: Port):
        self._port, self._root = port, port.root / self.place

    def folder(self, name: str) -> Path:
        """Raises InputError where a link leads elsewhere."""
        folder = self._root / name
        if folder.resolve() != self._port.root.resolve() / self.place / name:
            raise InputError(f"{self.place}/{name}: a symbolic link leads out of the root; put a folder in its place")
        return folder

    def known(self) -> list[str]:
        """Names, the latest change first."""
        files = [file for file in self._root.glob(f"*/{self.file}") if file.is_file()]
        return [
            file.parent.name for file in sorted(files, key=lambda file: (-file.stat().st_mtime_ns, file.parent.name))
        ]

    def read(self, name: str) -> RecordT | None:
        """None where there is none. Raises InputError where it cannot be read."""
        file = self.folder(name) / self.file
        if not file.is_file():
            return None
        try:
            return self.record.model_validate_json(read_regular(file))
        except (OSError, ValidationError) as error:
            raise InputError(
                f"{self.place}/{name}/{self.file}: cannot be read ({error}); move the folder aside"
            ) from None

    def keep(self, name: str, record: RecordT) -> None:
        write_atomically(self.folder(name) / self.file, record.model_dump_json(indent=1) + "\n")

    def drop(self, name: str) -> None:
        """One that could not be begun."""
        (self.folder(name) / self.file).unlink(missing_ok=True)

    def required(self, name: str, find: Callable[[str], FoundT | None]) -> FoundT:
        """What `find` finds. Raises InputError naming those that there are."""
        record = find(name)
        if record is None:
            known = ", ".join(self.known()[:MOST_NAMED]) or "none"
            raise InputError(f"no {self.kind} {name!r}; known: {known}. Begin it with {self.begun_with}")
        return record
