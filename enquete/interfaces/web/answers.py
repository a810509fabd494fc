"""A run as its pages read it: its answers, filtered and searched in memory; what was sent to a model for one of them;
its files, parsed once.

Measured by: 129,000 rows are filtered and searched within 100 ms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from urllib.parse import parse_qs, urlencode
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd

from enquete.instruments.pack import names_of_types
from enquete.instruments.text import Text
from enquete.interfaces.views import WRITTEN, NothingYet
from enquete.interfaces.web.rendering import url
from enquete.ledger import queries
from enquete.ledger.folders import ledger_stamp, reading
from enquete.locale import N_, tell
from enquete.reports.charts import Picture
from enquete.reports.markdown import readable
from enquete.reports.pictures import FILE, read
from enquete.reports.run_reading import read_result
from enquete.runs.planning import load_methodology
from enquete.state.asking import RESPONDED, Language
from enquete.state.untrusted_input import FileCache, Stamp, as_cell, read_regular
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox

FEW = (
    "run_id", "arm", "arm_role", "methodology", "phase", "session", "participant", "agent_name", "stakeholder_type",
    "item_id", "status", "content", "choice", "chosen", "model",
)  # fmt: skip
"""Columns with few different texts."""
NUMBERS = ("round", "turn", "value", "confidence", "scale_min", "scale_max")
COLUMNS = (*FEW, *NUMBERS, "text")
FILTERS = (
    "methodology", "stakeholder_type", "item_id", "phase", "session", "participant", "round", "turn", "value", "chosen",
)  # fmt: skip
"""Columns that an address may choose by."""
BETWEEN = "\0"
"""Between the words of one row and the next: nobody looks for it."""
GIVEN, ANY = "given", "any"
MAIN = "main"
_PHRASE = re.compile(r'"([^"]+)"|(\S+)')
Places = npt.NDArray[np.intp]


Chosen = Mapping[str, tuple[str, ...]]
"""Column → values, any of which will do."""


@dataclass(frozen=True)
class Where:
    """Which answers. status: one, GIVEN (those that carry an answer) or ANY; arm: MAIN, ANY, or one by its id or role.

    mark: of a figure, whose answers may be too many to be named in an address; `behind` is what it stands for.
    """

    chosen: Chosen = field(default_factory=dict)
    status: str = GIVEN
    arm: str = MAIN
    words: str = ""
    mark: str = ""
    behind: Chosen = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Iterable[tuple[str, str]], marks: Mapping[str, str] = {}) -> Where:
        """As an address says it; what it does not know is left aside. marks: reference to answers by mark."""
        values: dict[str, list[str]] = {}
        for name, value in asked:
            if value:
                values.setdefault(name, []).append(value)
        status, arm, words, mark = (values.get(name, [""])[-1] for name in ("status", "arm", "q", "mark"))
        behind = chosen_by(marks.get(mark, ""))
        chosen = {name: tuple(values[name]) for name in FILTERS if name in values}
        return cls(chosen, status or GIVEN, arm or MAIN, words.strip(), mark if behind else "", behind)

    @property
    def all_chosen(self) -> Chosen:
        return {**self.behind, **self.chosen}

    def only(self, name: str) -> str:
        """The value of a column where there is one, else ""."""
        values = self.all_chosen.get(name, ())
        return values[0] if len(values) == 1 else ""

    def query(self, **more: object) -> str:
        """The same as part of an address; more: what differs, None for what is left out."""
        usual = {
            "status": (self.status, GIVEN),
            "arm": (self.arm, MAIN),
            "q": (self.words, ""),
            "mark": (self.mark, ""),
        }
        stated = {name: value for name, (value, default) in usual.items() if value != default}
        params: dict[str, object] = {**self.chosen, **stated, **more}
        return urlencode({name: value for name, value in params.items() if value is not None}, doseq=True)


def chosen_by(reference: str) -> Chosen:
    """What a figure's reference to answers chooses (see `reports.charts.answers`)."""
    if not reference:
        return {}
    methodology, _, query = reference.partition("?")
    columns = {name: tuple(values) for name, values in parse_qs(query).items() if name in FILTERS}
    if "participant" in columns:
        columns["participant"] = tuple(columns["participant"][0].split(","))
    return {"methodology": (methodology,), **columns}


@dataclass(eq=False)
class AnswerTable:
    """All rows of a run's table, without the columns that no page shows."""

    frame: pd.DataFrame

    @classmethod
    def read(cls, path: Path | TextIO) -> AnswerTable:
        kinds = {**dict.fromkeys(FEW, "category"), **dict.fromkeys(NUMBERS, "float64"), "text": "object"}
        empty = {name: [""] for name in NUMBERS}
        frame = pd.read_csv(path, usecols=list(COLUMNS), dtype=kinds, keep_default_na=False, na_values=empty)
        for name in FEW:
            column = frame[name].astype("category")
            frame[name] = column.cat.rename_categories({kind: as_written(str(kind)) for kind in column.cat.categories})
        frame["text"] = [as_written(text) for text in frame["text"]]
        return cls(frame)

    @cached_property
    def _folded(self) -> tuple[str, npt.NDArray[np.intp]]:
        """All words in one text, and where each row's begin: looking through it takes a tenth of looking row by row."""
        folded = [text.casefold().replace(BETWEEN, " ") for text in self.frame["text"]]
        return BETWEEN.join(folded), np.cumsum([0, *(len(text) + 1 for text in folded)])[:-1]

    def _with(self, word: str) -> npt.NDArray[np.bool_]:
        """Whose words hold this."""
        text, starts = self._folded
        kept, at = np.zeros(len(starts), dtype=bool), text.find(word)
        while at >= 0:
            row = int(np.searchsorted(starts, at, side="right")) - 1
            kept[row] = True
            at = text.find(word, starts[row + 1]) if row + 1 < len(starts) else -1
        return kept

    def places(self, where: Where) -> Places:
        """Numbers of the rows, in the table's order."""
        frame, kept = self.frame, np.ones(len(self.frame), dtype=bool)
        for name, values in where.all_chosen.items():
            kept &= self._is(name, values)
        if where.status == GIVEN:
            kept &= frame["status"].isin(RESPONDED).to_numpy()
        elif where.status != ANY:
            kept &= self._is("status", (where.status,))
        if where.arm == MAIN:
            kept &= self._is("arm_role", (MAIN,))
        elif where.arm != ANY:
            kept &= self._is("arm", (where.arm,)) | self._is("arm_role", (where.arm,))
        for word in phrases(where.words):
            kept &= self._with(word)
        return np.flatnonzero(kept)

    def _is(self, name: str, values: Sequence[str]) -> npt.NDArray[np.bool_]:
        column = self.frame[name]
        if name not in NUMBERS:
            return column.isin(values).to_numpy()
        try:
            return column.isin([float(value) for value in values]).to_numpy()
        except ValueError:
            return np.zeros(len(column), dtype=bool)

    def rows(self, places: Iterable[int]) -> list[dict[str, object]]:
        """By column; None for a number that is not there."""
        chosen = self.frame.iloc[list(places)]
        columns = [[None if value != value else value for value in chosen[name].tolist()] for name in COLUMNS]
        return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]

    def place_of(self, key: Key) -> int | None:
        """The row of an answer by its key; None where there is none."""
        kept = np.ones(len(self.frame), dtype=bool)
        for column, part in zip(KEY, key, strict=True):
            kept &= (self.frame[column] == part).to_numpy()
        places = np.flatnonzero(kept)
        return int(places[0]) if len(places) else None

    def kinds(self, name: str) -> list[str]:
        """Values of a column that occur, in the table's order."""
        return [str(value) for value in self.frame[name].unique()]

    def counts(self, name: str, where: Where) -> dict[str, int]:
        """How often each value of a column occurs."""
        counts = self.frame[name].iloc[self.places(where)].value_counts()
        return {str(value): int(n) for value, n in counts.items() if n}


def as_written(cell: str) -> str:
    """A text without the apostrophe that keeps a spreadsheet from running it."""
    return cell[1:] if cell.startswith("'") and as_cell(cell[1:]) == cell else cell


def phrases(words: str) -> list[str]:
    """What is looked for: every word, or what stands between quotation marks as a whole; case does not matter."""
    return [(quoted or word).casefold() for quoted, word in _PHRASE.findall(words)]


def marked(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """The text in pieces: as it is, and those that were looked for."""
    if not words:
        return [(text, False)]
    parts = re.split("(" + "|".join(map(re.escape, words)) + ")", text, flags=re.IGNORECASE)
    return [(part, bool(n % 2)) for n, part in enumerate(parts) if part]


TURN = "turn"
"""The dimension of what is asked in a turn of a conversation."""
_TURN = N_("Question of the conversation ({item})")


@dataclass(frozen=True)
class ItemWording:
    """An item as it was asked, from the run's codebook. is_turn: of a conversation, where questions differ."""

    methodology: str
    item_id: str
    kind: str
    text: str
    labels: Mapping[str, str]
    scale: tuple[float, float] | None
    reverse_keyed: bool = False
    is_turn: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, object], language: Language) -> ItemWording:
        wording, scale = _mapping(entry.get("wording")), _mapping(entry.get("scale"))
        labels = _mapping(_told(_mapping(scale.get("labels") or entry.get("options")), language))
        low, high, item = scale.get("min"), scale.get("max"), str(entry["item_id"])
        is_turn = entry.get("dimension") == TURN
        return cls(
            str(entry["methodology"]), item, str(entry.get("kind", "")),
            tell(_TURN, language).format(item=item) if is_turn else str(_told(wording, language) or item),
            {str(key): str(text) for key, text in labels.items()},
            (float(low), float(high)) if isinstance(low, int | float) and isinstance(high, int | float) else None,
            bool(entry.get("reverse_keyed")), is_turn,
        )  # fmt: skip


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _told(texts: Mapping[str, object], language: Language) -> object:
    return texts.get(language) or next(iter(texts.values()), "")


# --- What was sent to a model for one answer and what came back, word for word, from the run's ledger


KEY = ("run_id", "arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id")
"""The columns of a key."""


class Key(NamedTuple):
    """Of an answer, as docs/files-on-disk.md names it."""

    run: str
    arm: str
    methodology: str
    phase: str
    session: str
    round: int
    turn: int
    participant: str
    item: str

    @classmethod
    def parse(cls, text: str) -> Key:
        """Raises ValueError for what is no id of an answer."""
        run, arm, methodology, phase, session, number, turn, rest = text.split("/", 7)
        participant, item = rest.split("/", 1)
        return cls(run, arm, methodology, phase, session, int(number), int(turn), participant, item)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Key:
        return cls(*(int(row[name]) if name in NUMBERS else str(row[name]) for name in KEY))  # type: ignore[arg-type]

    def __str__(self) -> str:
        return "/".join(map(str, self))


@dataclass(frozen=True)
class AnswerRequests:
    """What the ledger holds of an answer: as it is stored, the requests that brought it, and what else was asked of a
    model about the same turn. `stored` is None where it was never answered."""

    stored: Mapping[str, Any] | None
    answering: list[dict[str, Any]]
    beside: list[dict[str, Any]]


def requests_behind(folder: Path, key: Key) -> AnswerRequests:
    """Raises LedgerError where the run's ledger cannot be read."""
    with reading(folder) as ledger:
        row = ledger.execute(queries.STORED, key[1:]).fetchone()
        if row is None:
            return AnswerRequests(None, [], [])
        stored = dict(zip(("part", "data", "notes", "position", "options_shown", "asked_at"), row, strict=True))
        stage = (key.methodology, key.phase, key.arm)
        subject = f"{key.participant}|{key.session}|{key.round}|{key.turn}|{stored['part']}"
        answering = _calls(ledger.execute(queries.CALLS_OF_ANSWER, (*stage, subject)))
        turn = f"{key.participant}|turn {key.turn}"  # how conversations name what they ask of an interviewer's model
        return AnswerRequests(stored, answering, _calls(ledger.execute(queries.CALLS_OF_TURN, (*stage, turn))))


def _calls(cursor: Any) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    calls = [dict(zip(names, row, strict=True)) for row in cursor]
    for call in calls:
        call |= {"messages": _messages(call["messages"]), "raw": indented(call["raw"])}
        call["response"] = indented(call["response"])
    return calls


def _messages(text: str) -> list[tuple[str, str]]:
    """Role and words of each."""
    try:
        given = json.loads(text)
    except ValueError:
        return [("", text)]
    return [
        (str(part.get("role", "")), str(part.get("content", ""))) if isinstance(part, dict) else ("", json.dumps(part))
        for part in (given if isinstance(given, list) else [given])
    ]


def indented(text: str) -> str:
    """JSON as it is read, anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


# --- A run as its pages read it: its files, parsed once, and addresses of what stands in them


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
        links = {mark.link for each in pictures for mark in each.marks() if len(mark.link) > LONGEST_LINK}
        return cls(pictures, {mark_of(link): link for link in links})

    @property
    def figures(self) -> list[Picture]:
        return [picture for picture in self.all if picture.at != "page_one"]


def mark_of(reference: str) -> str:
    return f"{crc32(reference.encode()):08x}"


@dataclass(frozen=True)
class OpenRun:
    """One run at one moment. Every part is read when a page first needs it."""

    cache: RunCache
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
        return {name: tell(load_methodology(path).title, language) for name, path in self.run.record.methods.items()}

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
            raise NothingYet(f"run {self.run.run_id} has no report yet: {WRITTEN}")
        return read_regular(path, LARGEST_TEXT).decode("utf-8", "replace")

    def json(self, *parts: str) -> dict[str, Any]:
        """An object that the synthesis wrote, read once; {} before the first."""
        path = self.file(*parts)
        content: dict[str, Any] = self.cache.objects.get(path, [path], lambda: read_result(path))
        return content

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
        return self.cache.tables.get(path, [path], lambda: AnswerTable.read(path))

    @cached_property
    def wordings(self) -> dict[tuple[str, str], ItemWording]:
        """By methodology and item, as they were asked."""
        items = self.json("exports", "codebook.json").get("items", [])
        wordings = (ItemWording.of(item, self.language) for item in items)
        return {(wording.methodology, wording.item_id): wording for wording in wordings}

    def wording(self, methodology: str, item: str) -> ItemWording:
        return self.wordings.get((methodology, item)) or ItemWording(methodology, item, "", item, {}, None)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Of the agents, by participant."""
        told = self.table.frame[["participant", "agent_name"]].drop_duplicates()
        return {str(who): str(name or who) for who, name in zip(told["participant"], told["agent_name"], strict=True)}

    @cached_property
    def drawings(self) -> Drawings:
        """Rendered anew, so that marks lead somewhere and colours follow the page; the rendered are kept with them."""
        files, make = [self.file(FILE)], lambda: Drawings.of(read(self.run.path))
        return self.cache.drawings.get(self.run.folder, files, make)

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
    def written(self) -> Stamp:
        """Changes when anybody goes on with the run. Raises LedgerError."""
        return ledger_stamp(self.run.folder)

    def folder_of(self, run_id: str) -> Path:
        """Of a run whose answers stand in this one's table: its own, or the one that took T0."""
        known = {self.run.run_id, self.run.record.baseline_run_id, *self.run.record.carried.values()}
        return self.run.folder.parent / run_id if run_id in known else self.run.folder
