"""What there is to ask: methodologies with the instruments that ship, files of a server's own."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.instruments.instrument import Instrument
from enquete.instruments.load import load_shipped, shipped_file
from enquete.instruments.pack import pack_named, packs
from enquete.instruments.reading import LANGUAGES
from enquete.instruments.text import texts_of
from enquete.locale import languages, tell
from enquete.nodes.instrument_pins import ENDINGS
from enquete.state.errors import InstrumentError
from enquete.study.reviewing import reviewed

MOST_FILES = 200


@dataclass(frozen=True)
class Asked:
    """An instrument. `answers`: the question that its methodology answers; `needs_t0`: it is asked before the simulation, too.

    file: its name in a server's own folder, "" for one that ships. problem: why it cannot be asked.
    """

    methodology: str
    answers: str = ""
    needs_t0: bool = False
    topic: str = ""
    languages: tuple[str, ...] = ()
    items: int = 0
    packs: tuple[str, ...] = ()
    file: str = ""
    problem: str = ""


def list_instruments() -> dict[str, dict[str, str]]:
    """Methodologies and their titles by language."""
    return {
        name: {language: tell(methodology.title, language) for language in languages()}
        for name, methodology in methodologies().items()
    }


def shipped_instruments(language: str = "en") -> list[Asked]:
    """One a methodology: what is asked where neither pack nor file is named; `packs`: those that ask it, too."""
    found = []
    for name, methodology in methodologies().items():
        about = Asked(name, _answers(name), "T0" in methodology.phases)
        if shipped_file(methodology.instrument, name) is not None:
            about = _about(about, load_shipped(methodology.instrument, name), language)
        asking = tuple(pack for pack in packs() if name in pack_named(pack).instruments)
        found.append(Asked(**{**vars(about), "packs": asking}))
    return found


def own_instruments(shelf: Path, language: str = "en") -> list[Asked]:
    """The files in a server's own folder, by name, each read for the methodology that it fits; of the folders in it, such as those
    of drafts, those that are called like a methodology: others are what settings name."""
    files = sorted(shelf.glob("*")) + sorted(file for file in shelf.glob("*/*") if file.stem in methodologies())
    readable = [file for file in files if file.suffix in ENDINGS and file.is_file()]
    return [_own(file, file.relative_to(shelf).with_suffix("").as_posix(), language) for file in readable[:MOST_FILES]]


def _own(file: Path, name: str, language: str) -> Asked:
    try:
        read = reviewed(str(file))
    except InstrumentError as error:
        return Asked("", file=name, problem=error.problems[0].replace(str(file), file.name))
    phases = methodologies()[read.methodology].phases
    about = Asked(read.methodology, _answers(read.methodology), "T0" in phases, file=name)
    return _about(about, read.instrument, language)


def _about(about: Asked, instrument: object, language: str) -> Asked:
    if not isinstance(instrument, Instrument):
        return about
    wordings = [one for one in instrument.wordings() if one.kind != "text"]
    spoken = tuple(one for one in LANGUAGES if all(text.has(one) for _, text in texts_of(instrument)))
    more = {"topic": instrument.topic.in_(language), "languages": spoken, "items": len(wordings)}
    return Asked(**{**vars(about), **more})


def _answers(name: str) -> str:
    """The first line of its package, without its name."""
    said = importlib.import_module(dotted_paths()[name].partition(":")[0]).__doc__ or ""
    return said.partition("\n")[0].partition(": ")[2]
