"""What there is to ask: instruments that ship, files of one's own, read by the rules and tried on a few agents."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from enquete.instruments.instrument import Instrument, Note
from enquete.instruments.load import load_shipped, shipped_file
from enquete.instruments.pack import pack_named, packs
from enquete.instruments.review import ReviewFinding, review
from enquete.instruments.text import LANGUAGES, texts_of
from enquete.locale import languages, tell
from enquete.methods.registry import dotted_paths, methodologies
from enquete.runs.own_files import (
    ENDINGS,
    count_strange_keys,
    file_in,
    find_fitting,
    find_methodology,
    join_names,
    read_own_file,
)
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.request import RunRequest
from enquete.study.run import Run

if TYPE_CHECKING:
    import pandas as pd


MOST_FILES = 200


class InstrumentSummary(BaseModel):
    """What a methodology asks: one that ships, or a file of a server's own folder (`file`)."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    methodology: str
    answers: Annotated[str, Field(description="what its methodology finds out")] = ""
    needs_t0: Annotated[bool, Field(description="asked before the simulation, too, to measure change")] = False
    topic: str = ""
    languages: tuple[str, ...] = ()
    items: Annotated[int, Field(description="questions or statements; 0 where an interview has no fixed ones")] = 0
    packs: Annotated[tuple[str, ...], Field(description="values of `pack` that ask it")] = ()
    file: Annotated[str, Field(description="its name, for `instruments`; empty for one that ships")] = ""
    problem: Annotated[str, Field(description="why it cannot be asked; empty where it can")] = ""


def list_instruments() -> dict[str, dict[str, str]]:
    """Methodologies and their titles by language."""
    return {
        name: {language: tell(methodology.title, language) for language in languages()}
        for name, methodology in methodologies().items()
    }


def shipped_instruments(language: str = "en") -> list[InstrumentSummary]:
    """One a methodology: what is asked where neither pack nor file is named; `packs`: those that ask it, too."""
    summaries = []
    for name, methodology in methodologies().items():
        about = _of_methodology(name)
        if shipped_file(methodology.instrument, name) is not None:
            about = _about(about, load_shipped(methodology.instrument, name), language)
        asking = tuple(pack for pack in packs() if name in pack_named(pack).instruments)
        summaries.append(about.model_copy(update={"packs": asking}))
    return summaries


def own_instruments(own_folder: Path, language: str = "en") -> list[InstrumentSummary]:
    """The files in a server's own folder, by name, each read for the methodologies that it fits; of the folders in it,
    such as those of drafts, those that are called like a methodology: others are what settings name."""
    files = sorted(own_folder.glob("*")) + sorted(
        file for file in own_folder.glob("*/*") if file.stem in methodologies()
    )
    readable = [file for file in files if file.suffix in ENDINGS and file.is_file()]
    summaries = []
    for file in readable[:MOST_FILES]:
        summaries += _own(file, file.relative_to(own_folder).with_suffix("").as_posix(), language)
    return summaries


def _own(file: Path, name: str, language: str) -> list[InstrumentSummary]:
    """Return what a file is for: an entry for each methodology that it may be for, or one that says why for none."""
    try:
        fitting = find_fitting(methodologies(), str(file))
    except InstrumentError as error:
        problem = error.problems[0].replace(str(file), file.name)
        return [InstrumentSummary(methodology="", file=name, problem=problem)]
    return [_about(_of_methodology(read.methodology, file=name), read.content, language) for read in fitting]


def _of_methodology(name: str, file: str = "") -> InstrumentSummary:
    needs_t0 = "T0" in methodologies()[name].phases
    return InstrumentSummary(methodology=name, answers=_answers(name), needs_t0=needs_t0, file=file)


def _about(about: InstrumentSummary, instrument: object, language: str) -> InstrumentSummary:
    if not isinstance(instrument, Instrument):
        return about
    wordings = [wording for wording in instrument.wordings() if wording.kind != "text"]
    spoken = tuple(language for language in LANGUAGES if all(text.has(language) for _, text in texts_of(instrument)))
    told = {"topic": instrument.topic.in_(language), "languages": spoken, "items": len(wordings)}
    return about.model_copy(update=told)


def _answers(name: str) -> str:
    """The first paragraph of its package, without its name."""
    about = importlib.import_module(dotted_paths()[name].partition(":")[0]).__doc__ or ""
    return " ".join(about.partition("\n\n")[0].split()).partition(": ")[2]


# --- An instrument before it is used: read by the rules, and tried on a few agents


SHUFFLED = "items_shuffled"
ORDER_EFFECT = 0.5
"""Mean absolute difference, in scale points, between the two orders from which an item is told; a proposal."""
FEWEST = 3
"""Answers without which an item says nothing of its variance."""


@dataclass(frozen=True)
class Reviewed:
    """An instrument file: for which methodology, what was derived, what the rules find.

    `setting`: the setting that the file is for, where it is no instrument but such as a schema.
    """

    methodology: str
    instrument: BaseModel
    notes: tuple[Note, ...]
    findings: list[ReviewFinding]
    setting: str = ""


def review_file(file: str, methodology: str = "") -> Reviewed:
    """Read a file as a run would, and review its items by the rules.

    Raises:
        InstrumentError: every problem of the file; where no methodology is named and it is not clear for which it is,
            those that it may be for.
        SettingsError: there is no such methodology.
    """
    known = methodologies()
    if methodology and methodology not in known:
        raise SettingsError(f"instruments: there is no methodology {methodology!r}; there are {', '.join(known)}")
    if methodology:
        try:
            read = read_own_file(known[methodology], file)
        except InstrumentError as error:
            raise of_another(file, Path(file).expanduser(), methodology) or error from None
        name = methodology
    else:
        reading = find_methodology(known, file)
        read, name = reading.file, reading.methodology
    wordings = list(read.content.wordings()) if isinstance(read.content, Instrument) else []
    return Reviewed(name, read.content, read.notes, review(wordings), read.setting)


def pilot_request(about: Reviewed, file: str, agents: int, **request: Any) -> dict[str, Any]:
    """Arguments of `conduct_interviews` for a pilot of so many agents."""
    probes = [SHUFFLED] if SHUFFLED in methodologies()[about.methodology].probes else []
    asked = {"methods": [about.methodology], "instruments": {about.methodology: file}, "probes": probes, "fit": "any"}
    return {"sample": agents, "stratify": True, "probe_sample": agents, **asked, **request}


@dataclass(frozen=True)
class ItemHealth:
    """What a pilot shows of an item. `apart`: mean absolute difference between two orders of the items, or None."""

    item: str
    asked: int
    answered: int
    values: int  # different answers
    sd: float | None
    apart: float | None

    @property
    def troubles(self) -> tuple[str, ...]:
        """Keys of what is wrong with it."""
        checks = {
            "unread": self.answered < self.asked,
            "no_variance": self.values == 1 and self.answered >= FEWEST,
            "order_effect": self.apart is not None and self.apart >= ORDER_EFFECT,
        }
        return tuple(name for name, holds in checks.items() if holds)


def item_health(run: Run) -> list[ItemHealth]:
    """Of every item that was asked, in the order of the table; the latest wave."""
    rows = run.all_responses  # with those who saw the items in another order
    rows = rows[rows["phase"].eq(rows["phase"].max())]
    main = rows[rows["arm_role"].eq("main")]
    again = rows[rows["arm"].eq(SHUFFLED)]
    items = main.groupby("item_id", sort=False)
    return [_of_item(str(item), asked, again[again["item_id"].eq(item)]) for item, asked in items]


def _of_item(item: str, asked: pd.DataFrame, again: pd.DataFrame) -> ItemHealth:
    from enquete.reports.context import responded  # noqa: PLC0415 - pulls in pandas, which lists do without

    answered = responded(asked)
    values = answered["value"].dropna().astype(float)
    chosen = answered["choice"].fillna("")
    given = values if len(values) else chosen if chosen.ne("").any() else answered["text"].astype(str)
    first, second = (rows.set_index("participant")["value"].astype(float) for rows in (answered, responded(again)))
    apart = (first - second).abs().mean()
    return ItemHealth(
        item=item, asked=len(asked), answered=len(answered), values=int(given.nunique()),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None, apart=None if math.isnan(apart) else float(apart),
    )  # fmt: skip


# --- An instrument file named for a methodology that it is not for: which one it is for


@contextmanager
def other_methodology_named(request: RunRequest) -> Iterator[None]:
    """Of a file that cannot be read for the methodology it was named for: whether it is another one's."""
    try:
        yield
    except InstrumentError:
        for name, file in request.own_instruments.items():
            if isinstance(file, str) and name in methodologies():
                path = Path(file).expanduser() if request.own_folder is None else file_in(request.own_folder, file)
                if (meant := of_another(file, path, name)) is not None:
                    raise meant from None
        raise


def of_another(file: str, path: Path, named: str) -> InstrumentError | None:
    """None where the file says nothing that the methodology it was named for does not know."""
    meant = likeliest(path)
    if not meant or named in meant:
        return None
    fitting = [name for name in meant if _loads(name, path)]
    which = join_names(fitting or meant)
    is_one = "is an instrument" if fitting else "is nearer to an instrument"
    right = f"instruments={{'{(fitting or meant)[0]}': {file}}}"
    return InstrumentError([f"{file}: {is_one} for {which}, not for {named}: {right}"])


def likeliest(path: Path) -> list[str]:
    """Methodologies of which the file says the most that they know; all where it cannot be read."""
    known = methodologies()
    strange = {name: count_strange_keys(method, path) for name, method in known.items()}
    counts = {name: count for name, count in strange.items() if count is not None}
    if len(counts) < len(known):
        return [name for name in known if name not in counts or counts[name] == 0]
    return [name for name, count in counts.items() if count == min(counts.values())]


def _loads(name: str, path: Path) -> bool:
    with suppress(InstrumentError):
        read_own_file(methodologies()[name], str(path))
        return True
    return False
