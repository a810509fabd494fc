"""A run as its pages read it: its files, parsed once, and addresses of what stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd

from enquete.checkpoints.folders import LEDGER
from enquete.instruments.pack import names_of_types
from enquete.instruments.text import Text
from enquete.interfaces.service.replies import NothingYet
from enquete.interfaces.web.rendering import url
from enquete.interfaces.web.run.requests import Key
from enquete.interfaces.web.run.table import AnswerTable, Where, Wording
from enquete.locale import tell
from enquete.nodes.planning import load_methodology
from enquete.reports.charts import Picture
from enquete.reports.markdown import readable
from enquete.reports.pictures import FILE, read
from enquete.reports.run_reading import read_result
from enquete.state.regular_files import FileCache, read_regular
from enquete.study.run import Run
from enquete.study.sandbox import PathSandbox

LONGEST_LINK = 300
"""Characters of a reference that stands in an address as it is."""
CHECKS = "health"
LARGEST_TEXT = 64_000_000


class RunCache:
    """The runs under a root, and what was made of their files."""

    def __init__(self, sandbox: PathSandbox) -> None:
        self.sandbox = sandbox
        self.tables: FileCache[AnswerTable] = FileCache(3)
        self.drawings: FileCache[Drawings] = FileCache(6)
        self.objects: FileCache[Any] = FileCache(24)
        self.pages: FileCache[str] = FileCache(200)
        self.frames: FileCache[pd.DataFrame] = FileCache(6)

    def open(self, sim_id: str, run_id: str, reader: str = "") -> OpenRun:
        """reader: the language of the page. Raises SimulationNotFound, RunNotFound, OutsideRoot."""
        run = self.sandbox.run(sim_id, run_id)
        self.sandbox.require_inside(run.path)
        return OpenRun(self, sim_id, run, reader or run.record.language)


@dataclass(frozen=True)
class Drawings:
    """A run's figures, the small ones of page one among them, and the references of their marks by a short name."""

    all: Sequence[Picture]
    marks: Mapping[str, str]

    @classmethod
    def of(cls, pictures: Sequence[Picture]) -> Drawings:
        links = {one.link for each in pictures for one in each.marks() if len(one.link) > LONGEST_LINK}
        return cls(pictures, {mark_of(link): link for link in links})

    @property
    def figures(self) -> list[Picture]:
        return [one for one in self.all if one.at != "page_one"]


def mark_of(reference: str) -> str:
    return f"{crc32(reference.encode()):08x}"


@dataclass(frozen=True)
class OpenRun:
    """One run at one moment. Every part is read when a page first needs it."""

    shelf: RunCache
    sim_id: str
    run: Run
    reader: str

    @property
    def language(self) -> str:
        """Of the interviews and the report."""
        return self.run.record.language

    @cached_property
    def titles(self) -> dict[str, str]:
        """Of the methodologies, in the run's order and the reader's language."""
        return self._titled(self.reader)

    @cached_property
    def reported(self) -> dict[str, str]:
        """The same as the report has them."""
        return self._titled(self.language)

    def _titled(self, language: str) -> dict[str, str]:
        return {
            name: tell(load_methodology(dotted).title, language) for name, dotted in self.run.record.methods.items()
        }

    # --- addresses -------------------------------------------------------------------------------------------------

    def at(self, *parts: str, **query: str | None) -> str:
        return url("runs", self.sim_id, self.run.run_id, *parts, **query)

    def answers(self, where: Where) -> str:
        return f"{self.at('answers')}?{where.query()}"

    def answer(self, row: Mapping[str, Any]) -> str:
        return self.at("answer", id=str(Key.of(row)))

    def agent(self, participant: str) -> str:
        return self.at("agent", id=participant)

    def href(self, reference: str) -> str | None:
        """Where a figure's reference leads."""
        methodology, _, query = reference.partition("?")
        if methodology == CHECKS:
            return f"{self.at('health')}#more-1"
        if len(reference) > LONGEST_LINK:
            return f"{self.at('answers')}?mark={mark_of(reference)}"
        return f"{self.at('answers')}?methodology={methodology}&{query}"

    # --- files -----------------------------------------------------------------------------------------------------

    def file(self, *parts: str) -> Path:
        return self.run.path.joinpath(*parts)

    def text(self, name: str) -> str:
        """Of a file beside the report. Raises NothingYet."""
        path = self.file(name)
        if not path.is_file():
            raise NothingYet(
                f"run {self.run.run_id} has no report yet: it is written at the run's end and at every stop"
            )
        return read_regular(path, LARGEST_TEXT).decode("utf-8", "replace")

    def json(self, *parts: str) -> dict[str, Any]:
        """An object that the synthesis wrote, read once; {} before the first."""
        path = self.file(*parts)
        found: dict[str, Any] = self.shelf.objects.get(path, [path], lambda: read_result(path))
        return found

    @property
    def has_report(self) -> bool:
        return self.file("report.md").is_file()

    @cached_property
    def table(self) -> AnswerTable:
        """Raises NothingYet before the first stop."""
        path = self.file("exports", "all_responses.csv")
        if not path.is_file():
            raise NothingYet(
                f"run {self.run.run_id} has no answers to show yet: they are written at the run's end and at every stop"
            )
        return self.shelf.tables.get(path, [path], lambda: AnswerTable.read(path))

    @cached_property
    def wordings(self) -> dict[tuple[str, str], Wording]:
        """By methodology and item, as they were asked."""
        made = (Wording.of(one, self.language) for one in self.json("exports", "codebook.json").get("items", []))
        return {(one.methodology, one.item_id): one for one in made}

    def wording(self, methodology: str, item: str) -> Wording:
        return self.wordings.get((methodology, item)) or Wording(methodology, item, "", item, {}, None)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Of the agents, by participant."""
        told = self.table.frame[["participant", "agent_name"]].drop_duplicates()
        return {str(who): str(name or who) for who, name in zip(told["participant"], told["agent_name"], strict=True)}

    @cached_property
    def drawings(self) -> Drawings:
        """Rendered anew, so that marks lead somewhere and colours follow the page; what is rendered is kept with them."""
        kept = self.shelf.drawings
        return kept.get(self.run.folder, [self.file(FILE)], lambda: Drawings.of(read(self.run.path)))

    @cached_property
    def type_names(self) -> Mapping[str, str]:
        """What the report calls stakeholder types, where somebody named them."""
        topics = [used.content.get("topic") for used in self.run.record.instruments.values()]
        return names_of_types({Text.model_validate(topic) for topic in topics if topic}, self.language)

    def type_name(self, kind: str) -> str:
        return self.type_names.get(kind) or readable(kind)

    def stage_folders(self, methodology: str) -> Iterator[tuple[str, Path]]:
        """(phase, folder) of a methodology's own files; of one that was taken over, those of the run that asked."""
        asked_by = self.run.record.asked_by(methodology)
        interviews = self.run.folder.parent.parent
        for phase in load_methodology(self.run.record.methods[methodology]).phases:
            folder = interviews / phase / methodology / asked_by
            if folder.is_dir():
                yield phase, folder

    @property
    def ledger(self) -> list[Path]:
        """What changes when anybody goes on with the run."""
        return [self.run.folder / name for name in (LEDGER, f"{LEDGER}-wal")]

    def folder_of(self, run_id: str) -> Path:
        """Of a run whose answers stand in this one's table: its own, or the one that took T0."""
        known = {self.run.run_id, self.run.record.baseline_run_id, *self.run.record.carried.values()}
        return self.run.folder.parent / run_id if run_id in known else self.run.folder
