"""Which runs there are, how far each is, and which cannot be read: a damaged run is no run that was never begun.

What operations keep under a name: a folder each below the root (interviews, roundtables, comparisons), and in it one
JSON file, beside the runs that belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from enquete.ledger.folders import RECORD, NeverStarted, StoredRun, read_run, run_folders, write_atomically
from enquete.ledger.record import RunRecord
from enquete.ledger.tables import NewerLedger
from enquete.runs.result_folders import own_folder, results_folder
from enquete.simulations.population import Population
from enquete.state.errors import InputError, LedgerError
from enquete.state.methodology import Port
from enquete.state.untrusted_input import parse_json, read_regular

# --- Records under a name --------------------------------------------------------------------------------------------

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


# --- Runs ------------------------------------------------------------------------------------------------------------

_TIME = re.compile(r"run_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)_")


@dataclass(frozen=True)
class UnreadableRun:
    """A run whose ledger cannot be read. `error`: why, and what can be done. `told`: its record by the file beside."""

    folder: Path
    error: LedgerError
    told: RunRecord | None

    @property
    def status(self) -> Literal["damaged", "newer"]:
        return "newer" if isinstance(self.error, NewerLedger) else "damaged"

    @property
    def created_at(self) -> str:
        """ISO 8601, from its name where nothing else is left; "" where that says nothing."""
        if self.told is not None:
            return self.told.created_at
        match = _TIME.match(self.folder.name)
        return "{}-{}-{}T{}:{}:{}+00:00".format(*match.groups()) if match else ""


@dataclass(frozen=True)
class Survey:
    """The runs of a results folder, each list oldest first. One killed before its first question is in neither."""

    runs: Sequence[StoredRun]
    lost: Sequence[UnreadableRun]

    @property
    def unfinished(self) -> list[StoredRun]:
        return [run for run in self.runs if not run.is_finished]

    def require_readable(self, chosen: StoredRun | None, canonical: str = "") -> None:
        """Raises LedgerError where a run that cannot be read is `canonical`, or was begun after the one chosen in its
        place: what is shown must not be taken for the state of things."""
        for run in reversed(self.lost):
            if chosen is None or run.folder.name == canonical or run.created_at >= chosen.created_at:
                raise run.error


def interviews_folder(population: Population, out: str | None) -> Path:
    """Where results go: the simulation's own folder, or the population's folder below --out. Raises SettingsError."""
    if out:
        return results_folder(out, population.path)
    return own_folder(population.path, has_simulation=population.has_simulation)


def survey(interviews: Path) -> Survey:
    """Looking creates nothing."""
    runs, lost = [], []
    for folder in run_folders(interviews):
        try:
            runs.append(read_run(folder))
        except NeverStarted:
            continue
        except LedgerError as error:
            lost.append(UnreadableRun(folder, error, _told(folder)))
    return Survey(  # names of one second are in no order
        sorted(runs, key=lambda run: run.created_at), sorted(lost, key=lambda run: run.created_at)
    )


def _told(folder: Path) -> RunRecord | None:
    """The record as instruments_used.json has it, which a damaged ledger leaves untouched."""
    try:
        content = parse_json(read_regular(folder / RECORD))
        return RunRecord.model_validate(content)
    except (OSError, ValueError):
        return None


def undamaged_runs(interviews: Path) -> Sequence[StoredRun]:
    """Oldest first. Raises LedgerError for one that cannot be read: the same run could be paid for again unnoticed."""
    listed = survey(interviews)
    if listed.lost:
        run = listed.lost[-1]
        what = "damaged" if run.status == "damaged" else "of a newer version"
        fact = f"run {run.folder.name} is {what}, so nobody can tell whether it is the run you ask for"
        raise LedgerError(f"{fact}: {run.error}\nStart another run beside it: new=True", fact=fact)
    return listed.runs
