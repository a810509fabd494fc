"""Instruments and settings of a new run, pinned before anything is asked: complete, validated, with their hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from enquete.instruments.document import suggestion
from enquete.instruments.instrument import Note
from enquete.instruments.load import complete_instrument, instrument_hash, load_own, load_shipped, shipped_file
from enquete.instruments.pack import pack_named
from enquete.instruments.source import SourceFile
from enquete.instruments.text import instrument_notices
from enquete.ledger.record import UsedInstrument
from enquete.locale import N_, tell
from enquete.nodes.planning import load_methodology
from enquete.state.asking import Language
from enquete.state.complaints import complaint
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.methodology import Methodology
from enquete.state.request import SHIPPED, RunRequest

DRAFT = N_("drafts as they were written, read by nobody yet (`enquete draft --accept` or an edit ends that): {files}")
IN_PYTHON = "own"
"""In place of a file's name, where questions were given as objects."""


ENDINGS = (".yaml", ".yml", ".csv", ".tsv")
SHELVED = re.compile(r"([A-Za-z0-9][\w-]*/)?[A-Za-z0-9][\w-]*", re.ASCII)
"""How a client names a file of a server's own folder."""


def pin_instruments(
    request: RunRequest,
    methods: Mapping[str, str],
    language: Language,
    kept: Mapping[str, UsedInstrument] = MappingProxyType({}),
) -> tuple[dict[str, UsedInstrument], list[str]]:
    """One's own file where named, else that of an earlier run where kept, else the pack's.

    Raises InstrumentError, SettingsError.
    """
    pack = pack_named(request.pack)
    source = SHIPPED if pack.default else pack.name
    for name in request.instruments:
        if name not in methods:
            raise SettingsError(f"instruments: {name!r} is not among the methods of this run ({', '.join(methods)})")
    used: dict[str, UsedInstrument] = {}
    notices: list[str] = []
    problems: list[str] = []
    for name, dotted in methods.items():
        model = load_methodology(dotted).instrument
        if name in kept:
            used[name], instrument = kept[name], _as_asked(model, name, kept[name])
            notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
            continue
        own_file = request.own_instruments.get(name)
        if own_file is None and shipped_file(model, name, pack.name) is None:
            raise SettingsError(
                f"the pack {pack.name} asks {', '.join(pack.instruments)}; for {name} name a file of your own "
                f"(instruments={{'{name}': FILE}})"
            )
        try:
            instrument, told = (
                _of_ones_own(model, own_file, request.shelf) if own_file else (load_shipped(model, name, pack.name), ())
            )
        except InstrumentError as error:  # every file is read before the first problem is told
            problems += error.problems
            continue
        notices += [f"{name}: {note.told(language)}" for note in told]
        notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
        content = instrument.model_dump(mode="json", exclude_none=True)
        named = IN_PYTHON if isinstance(own_file, dict) else own_file or source
        used[name] = UsedInstrument(hash=instrument_hash(instrument), source=Path(named).name, content=content)
    if problems:
        raise InstrumentError(problems)
    return used, notices


def drafts_named(request: RunRequest, language: Language) -> list[str]:
    """A notice, where instruments or files that settings name are drafts."""
    given = (request.own_instruments, *request.settings.values())
    named = [value for values in given for value in values.values() if isinstance(value, str)]
    if request.shelf is None:
        files = [Path(value).expanduser() for value in named if value.endswith(ENDINGS)]
    else:
        files = [Path(request.shelf, f"{value}.yaml") for value in named if SHELVED.fullmatch(value)]
    drafts = [file.name for file in files if is_draft(file)]
    return [tell(DRAFT, language).format(files=", ".join(drafts))] if drafts else []


def _of_ones_own(
    model: type[BaseModel], given: str | dict[Any, Any], shelf: str | None
) -> tuple[BaseModel, tuple[Note, ...]]:
    """The file of that name, with a `shelf` one that lies there; or the file that this content would be."""
    if isinstance(given, str):
        return load_own(model, Path(given) if shelf is None else shelved(shelf, given))
    return complete_instrument(model, SourceFile(IN_PYTHON, given, {}, {}, ()))


def shelved(shelf: str, name: str) -> Path:
    """A file in the folder, by its name without its ending, or in one below it as FOLDER/NAME. Raises InstrumentError,
    which lists the names there are."""
    files = [file for depth in ("*", "*/*") for file in sorted(Path(shelf).glob(depth))]
    there = {
        file.relative_to(shelf).with_suffix("").as_posix(): file
        for file in files
        if file.suffix in ENDINGS and file.is_file()
    }
    if name not in there:
        raise InstrumentError(
            [f"instruments: {name[:100]!r} is no file of this server{suggestion(name, sorted(there))}"]
        )
    return there[name]


def _as_asked(model: type[BaseModel], name: str, used: UsedInstrument) -> BaseModel:
    """Raises SettingsError where today's version does not know all of what was asked."""
    try:
        return model.model_validate(used.content)
    except ValidationError as error:
        where = "; ".join(".".join(map(str, e["loc"])) for e in error.errors()[:3])
        fact = (
            f"{name}: the instrument {used.source} of the earlier run cannot be asked again by this version ({where})"
        )
        raise SettingsError(
            f"{fact}; name one: instruments={{'{name}': FILE}}, or {SHIPPED} in its place", fact=fact
        ) from error


def method_settings(
    request: RunRequest, methods: Mapping[str, str], language: Language, used: Mapping[str, UsedInstrument]
) -> dict[str, dict[str, Any]]:
    """Each methodology's own settings, complete with defaults, so that the record says what was used.

    A methodology may take defaults from its instrument, and refuse files that are not in the run's language. With a
    `shelf` it takes files from there alone.
    """
    for name in request.settings:
        if name not in methods:
            raise SettingsError(f"settings: {name!r} is not among the methods of this run ({', '.join(methods)})")
    settings_by = {}
    for name, dotted in methods.items():
        methodology: Methodology = load_methodology(dotted)
        try:
            given = request.settings.get(name, {})
            instrument = _as_asked(methodology.instrument, name, used[name])
            context = {"language": language, "instrument": instrument, "shelf": request.shelf}
            settings = methodology.settings.model_validate(given, context=context)
            settings_by[name] = settings.model_dump(mode="json")
        except ValidationError as error:
            lines = [f"settings: {name}.{complaint(each)}" for each in error.errors(include_url=False)]
            raise SettingsError("; ".join(lines)) from None
    return settings_by


# --- Which files are drafts as written: `drafts.json` beside them holds their hashes. An edit or `accept` ends that

MARKS = "drafts.json"


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def is_draft(file: Path) -> bool:
    """Whether these are the bytes that a draft was written with, and nobody accepted them."""
    marks = _marks(file.parent)
    try:
        return file.name in marks and marks[file.name] == digest(file.read_bytes())
    except OSError:
        return False


def accept(folder: Path) -> list[str]:
    """The drafts in a folder are instruments from now on; their names. Raises SettingsError where there are none."""
    marks = _marks(folder)
    if not marks:
        raise SettingsError(f"{folder}: there are no drafts to accept; `enquete draft SIM --into {folder}` writes some")
    (folder / MARKS).unlink()
    return sorted(marks)


def _marks(folder: Path) -> dict[str, str]:
    try:
        marks = json.loads((folder / MARKS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in marks.items()} if isinstance(marks, dict) else {}
