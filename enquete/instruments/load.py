"""Load, validate, freeze and hash instruments."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from enquete.instruments.derived import Draft, Note
from enquete.instruments.instrument import Instrument
from enquete.instruments.pack import pack_named
from enquete.instruments.problems import validation_problems
from enquete.instruments.reading import suggestion
from enquete.instruments.sheet import SHEETS, read_sheet
from enquete.instruments.source import MOST_BYTES, Source, read_source
from enquete.state.errors import InstrumentError
from enquete.state.regular_files import NO_WORKBOOK, WORKBOOKS, read_regular

T = TypeVar("T", bound=BaseModel)

OWN = "instrument.yaml"


@dataclass(frozen=True)
class Frozen(Generic[T]):
    """An instrument as a run used it: validated, with its hash and where it came from."""

    instrument: T
    hash: str
    source: str


def load_instrument(model: type[T], path: Path) -> T:
    """The instrument in the YAML or CSV file at `path`.

    Raises InstrumentError with every problem of the file: name, line, field, bad value, what would be right.
    """
    return load_own(model, path)[0]


def load_own(model: type[T], path: Path) -> tuple[T, tuple[Note, ...]]:
    """The same, and what was derived because the file does not say it."""
    if path.suffix.lower() in WORKBOOKS:
        raise InstrumentError([f"{path}: {NO_WORKBOOK}"])
    raw = _bytes(path)
    if path.suffix.lower() in SHEETS and issubclass(model, Instrument):
        return complete_instrument(model, read_sheet(str(path), raw, model))
    return complete_instrument(model, read_source(str(path), raw))


def shipped_file(model: type[BaseModel], name: str, pack: str = "") -> Traversable | None:
    """What the pack asks with the methodology `name`; else instrument.yaml beside the model, which a methodology of another
    package brings along. Raises SettingsError for another pack."""
    package = sys.modules[model.__module__].__package__
    own = files(package) / OWN if package else None
    return pack_named(pack).instruments.get(name) or (own if own and own.is_file() else None)


def load_shipped(model: type[T], name: str, pack: str = "") -> T:
    """The instrument for the methodology `name` that ships in a pack, the default one unless named, or with the methodology.

    Raises InstrumentError for another name, SettingsError for another pack.
    """
    file = shipped_file(model, name, pack)
    if file is None:
        raise InstrumentError(
            [f"{name!r} is no shipped instrument{suggestion(name, sorted(pack_named(pack).instruments))}"]
        )
    return cast(T, _shipped(model, file.name, file.read_bytes()))


@lru_cache
def _shipped(model: type[BaseModel], name: str, raw: bytes) -> BaseModel:
    """Read once in a process: a pack's files stay as they are, and reading takes a third of what a small run does."""
    return validate_instrument(model, read_source(name, raw))


def validate_instrument(model: type[T], source: Source) -> T:
    """`source` as a `model`; raises InstrumentError with the problems in the order of their lines."""
    return complete_instrument(model, source)[0]


def complete_instrument(model: type[T], source: Source) -> tuple[T, tuple[Note, ...]]:
    """The same, and what was derived because the source does not say it."""
    problems = list(source.problems)
    document, told = source.document, source.told
    if issubclass(model, Instrument):
        draft = Draft(source.document, Path(source.name).stem)
        model.complete(draft)
        document, told = draft.values, (*told, *draft.notes)
    try:
        instrument = model.model_validate(document)
    except ValidationError as error:
        problems += validation_problems(error, model, source)
        raise InstrumentError(_in_order(problems)) from None
    if problems:
        raise InstrumentError(_in_order(problems))
    return instrument, told


def freeze_instrument(instrument: T, source: str) -> Frozen[T]:
    """`instrument` with its hash; `source` says where it came from (a path, or 'shipped')."""
    return Frozen(instrument, instrument_hash(instrument), source)


def instrument_hash(instrument: BaseModel) -> str:
    """sha256 (its first 16 hex digits) of the validated instrument as canonical JSON: key order, comments and layout do not matter."""
    values = instrument.model_dump(mode="json", exclude_none=True)
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _in_order(problems: list[tuple[int, str]]) -> list[str]:
    return [problem for _, problem in sorted(problems, key=lambda entry: entry[0])]


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, MOST_BYTES)
    except FileNotFoundError:
        raise InstrumentError([f"{path}: no such file{_sibling(path)}"]) from None
    except IsADirectoryError:
        raise InstrumentError([f"{path}: is a folder; name a YAML file in it"]) from None
    except OSError as error:
        raise InstrumentError([f"{path}: cannot be read ({error.strerror or error})"]) from None


def _sibling(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in (".yaml", ".yml")]
    except OSError:
        return f"; the folder {path.parent} does not exist either"
    return suggestion(path.name, sorted(names)).replace("Known:", "YAML files there:")
