"""The roundtables of callers: a folder each under the root, with the runs that hold it and what was asked for. What was said
stands in the ledgers of its runs, of which each goes on from the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError

from enquete.checkpoints.folders import NeverStarted, write_atomically
from enquete.graphs.roundtable.discussion import Discussion, discussions
from enquete.graphs.roundtable.settings import RoundtableSettings
from enquete.state.errors import InputError
from enquete.state.operations import Port, RunSnapshot
from enquete.state.regular_files import read_regular
from enquete.state.visible_text import authorship

FOLDER = "roundtables"
FILE = "roundtable.json"
PEOPLE = "participants.json"
MOST_NAMED = 10


class Kept(BaseModel):
    """What is known of a roundtable beside its runs. `asked`: the arguments it was started with; `replaced`: runs that a later
    one went on from."""

    id: str
    question: str
    mode: str
    begun_at: str
    sim_id: str = ""
    language: str = "en"
    asked: dict[str, JsonValue] = {}
    replaced: list[str] = []


@dataclass(frozen=True)
class OpenTable:
    """A roundtable, with its current run; None before that was begun."""

    kept: Kept
    folder: Path
    standing: RunSnapshot | None

    @property
    def sim(self) -> str | Path:
        return self.kept.sim_id or self.folder / PEOPLE

    @property
    def held(self) -> RunSnapshot:
        """The current run. Raises InputError before there is one."""
        if self.standing is None:
            raise InputError(
                f"{self.kept.id}: the discussion has not begun; call start_roundtable again with the same arguments"
            )
        return self.standing

    @property
    def authorship(self) -> dict[str, JsonValue]:
        """Who answers. Persons at the table are none of the respondent's answers."""
        run = self.held
        behind = [run.respondent, *("human" for _ in self.settings.persons)]
        return {**authorship(run.respondent, run.model, run.language, behind=behind)}

    def authorship_of(self, *, person: bool) -> dict[str, JsonValue]:
        """Who gave one answer."""
        run = self.held
        respondent, model = ("human", "person") if person else (run.respondent, run.model)
        return {**authorship(respondent, model, run.language)}

    @property
    def settings(self) -> RoundtableSettings:
        settings: RoundtableSettings = self.held.settings
        return settings

    @property
    def groups(self) -> Sequence[Discussion]:
        return [talk for talk in discussions(self.held.frozen, self.settings.mode) if talk.seated]

    def group(self, unit: str) -> Discussion:
        """The one of this name; "": the first. Raises InputError."""
        groups = {talk.unit: talk for talk in self.groups}
        if not groups:
            raise InputError(f"{self.kept.id}: no group has been seated yet; see its status in list_roundtables")
        if unit and unit not in groups:
            raise InputError(f"no group {unit!r} in {self.kept.id}; there are {', '.join(groups)}")
        return groups[unit or next(iter(groups))]

    def name(self, who: str) -> str:
        return self.held.names.get(who, who)


class Tables:
    """Of one root. Raises InputError for a roundtable that there is not."""

    def __init__(self, port: Port):
        self._port, self._root = port, port.root / FOLDER

    def folder(self, id: str) -> Path:
        folder = self._root / id
        if folder.resolve() != self._port.root.resolve() / FOLDER / id:
            raise InputError(f"{FOLDER}/{id}: a symbolic link leads out of the root; put a folder in its place")
        return folder

    def known(self) -> list[str]:
        """Names, the latest change last."""
        found = [file for file in self._root.glob(f"*/{FILE}") if file.is_file()]
        return [
            file.parent.name for file in sorted(found, key=lambda file: (file.stat().st_mtime_ns, file.parent.name))
        ]

    def find(self, id: str) -> OpenTable | None:
        folder = self.folder(id)
        if not (folder / FILE).is_file():
            return None
        try:
            kept = Kept.model_validate_json(read_regular(folder / FILE))
        except (OSError, ValidationError) as error:
            raise InputError(f"{FOLDER}/{id}/{FILE}: cannot be read ({error}); move the folder aside") from None
        return OpenTable(kept, folder, self._current(kept, folder))

    def _current(self, kept: Kept, folder: Path) -> RunSnapshot | None:
        """The run that no other has gone on from; one that was killed before it asked anybody is none."""
        runs = [run for run in self._port.runs(str(folder)) if run not in kept.replaced]
        for run in reversed([*kept.replaced[-1:], *runs]):
            try:
                return self._port.look(str(folder), run)
            except NeverStarted:
                continue
        return None

    def table(self, id: str) -> OpenTable:
        found = self.find(id)
        if found is None:
            known = ", ".join(reversed(self.known()[-MOST_NAMED:])) or "none"
            raise InputError(f"no roundtable {id!r}; known: {known}. Begin it with start_roundtable")
        return found

    def keep(self, kept: Kept) -> None:
        write_atomically(self.folder(kept.id) / FILE, kept.model_dump_json(indent=1) + "\n")

    def drop(self, id: str) -> None:
        """One that could not be begun."""
        (self.folder(id) / FILE).unlink(missing_ok=True)
