"""Load, validate, pin and hash instruments."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, cast, get_args

from pydantic import AfterValidator, BaseModel, ModelWrapValidatorHandler, ValidationError, model_validator

from enquete.instruments.instrument import Draft, Instrument, Note
from enquete.instruments.pack import FOLDER, pack_named, packs, yaml_files
from enquete.instruments.source import (
    MOST_BYTES,
    FieldPath,
    SourceFile,
    Value,
    decoded,
    read_source,
    validation_problems,
)
from enquete.instruments.text import (
    LANGUAGE_NAMES,
    Line,
    Part,
    Text,
    identifier,
    not_empty,
    reading,
    suggestion,
    texts_of,
)
from enquete.locale import N_
from enquete.state.asking import Language, Spoken
from enquete.state.errors import InstrumentError
from enquete.state.untrusted_input import NO_WORKBOOK, WORKBOOKS, read_regular

T = TypeVar("T", bound=BaseModel)

OWN = "instrument.yaml"


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
    """What the pack asks with the methodology `name`; else instrument.yaml beside the model, which a methodology of
    another package brings along. Raises SettingsError for another pack."""
    package = sys.modules[model.__module__].__package__
    folder = files(package) / OWN if package else None
    return pack_named(pack).instruments.get(name) or (folder if folder and folder.is_file() else None)


def load_shipped(model: type[T], name: str, pack: str = "") -> T:
    """The instrument for the methodology `name` that ships in a pack, the default one unless named, or with itself.

    Raises InstrumentError for another name, SettingsError for another pack.
    """
    file = shipped_file(model, name, pack)
    if file is None:
        hint = suggestion(name, sorted(pack_named(pack).instruments))
        raise InstrumentError([f"{name!r} is no shipped instrument{hint}"])
    return cast(T, _shipped(model, file.name, file.read_bytes()))


@lru_cache
def _shipped(model: type[BaseModel], name: str, raw: bytes) -> BaseModel:
    """Read once in a process: a pack's files stay as they are, and reading takes a third of what a small run does."""
    return validate_instrument(model, read_source(name, raw))


def validate_instrument(model: type[T], source: SourceFile) -> T:
    """`source` as a `model`; raises InstrumentError with the problems in the order of their lines."""
    return complete_instrument(model, source)[0]


def complete_instrument(model: type[T], source: SourceFile) -> tuple[T, tuple[Note, ...]]:
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


def instrument_hash(instrument: BaseModel) -> str:
    """sha256 (16 hex digits) of the validated instrument as canonical JSON: order, comments, layout do not matter."""
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


# --- A table of items as an instrument: one row an item, a Q statement or an open question; the columns by their
# usual names
# id,text,family,reverse            de;en                          (no header: one statement a line)
# trust_1,Banks are honest.,trust,  Banken sind ehrlich.;Banks …   Banks are honest.

SHEETS = (".csv", ".tsv")
MOST_ROWS = 1000

_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "statement_id", "question_id", "item", "nr", "no", "code"),
    "text": ("text", "wording", "statement", "question", "label", "aussage", "frage", "wortlaut", "item_text"),
    "de": ("de", "text_de", "wording_de", "label_de", "deutsch", "german"),
    "en": ("en", "text_en", "wording_en", "label_en", "englisch", "english"),
    "family": ("family", "familie", "construct", "konstrukt", "subscale"), "scale": ("scale", "skala"),
    "reverse_coded": ("reverse_coded", "reverse", "reversed", "reverse_keyed", "umgepolt"),
    "control": ("control", "kontrolle"), "short": ("short", "kurz"), "kind": ("kind", "type", "art"),
    "options": ("options", "optionen"), "minimum": ("minimum", "min"), "maximum": ("maximum", "max"),
}  # fmt: skip
"""What a column may be called, by what it is."""
_YES, _NO = {"1", "true", "yes", "y", "x", "ja", "j", "-1"}, {"", "0", "false", "no", "n", "nein"}
_NUMBERS = ("scale", "minimum", "maximum")
_SWITCHES = ("reverse_coded", "control")
_UNREAD = N_("column “{column}” is not read")
_HEADLESS = N_("no header: every line is read as one item")


def read_sheet(name: str, raw: bytes, model: type[Instrument]) -> SourceFile:
    """The rows as the document of an instrument, lines kept. Raises InstrumentError."""
    if model.listed is None:
        raise InstrumentError([f"{name}: a table of items is no whole instrument here; write it as YAML"])
    section, id_key = model.listed
    rows = _rows(name, decoded(name, raw))
    columns, told, first = _columns(name, rows, fields_of(model, section))
    problems: list[tuple[int, str]] = []
    lines: dict[FieldPath, int] = {(section,): rows[0][0]}
    entries: list[Value] = []
    for line, cells in rows[first:]:
        if len(cells) > len(columns):
            cells_for = f"{len(cells)} cells for {len(columns)} columns"
            problems.append((line, f"{name}:{line}: {cells_for}; put quotes around texts that hold one"))
        place = len(entries)
        entry: dict[str | int, Value] = {id_key: f"{section.removesuffix('s')}_{place + 1}"}
        for column, cell in zip(columns, cells, strict=False):
            if column in _SWITCHES:
                entry[column] = _switch(name, line, column, cell, problems)
            elif column and cell:
                entry[id_key if column == "id" else column] = _number(cell) if column in _NUMBERS else cell
            lines[(section, place, id_key if column == "id" else column)] = line
        lines[(section, place)] = line
        entries.append(entry)
    return SourceFile(name, {section: entries}, lines, {}, tuple(problems), tuple(told))


def unread_columns(notes: Sequence[Note]) -> int:
    """Return how many columns of a table were not read, by what is said of it."""
    return sum(note.text == _UNREAD for note in notes)


def fields_of(model: type[Instrument], section: str) -> set[str]:
    """What an entry of the list may hold, as columns."""
    part = next((kind for kind in get_args(model.model_fields[section].annotation) if isinstance(kind, type)), Part)
    fields = set(part.model_fields) if issubclass(part, Part) else set()
    return {"id", "text", "de", "en"} | fields & set(_NAMES)


def _rows(name: str, text: str) -> list[tuple[int, list[str]]]:
    """(line, cells) of every line that says something. Raises InstrumentError."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max("\t;,", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        raise InstrumentError([f"{name}:{reader.line_num}: no valid CSV: {error}"]) from None
    if not rows:
        raise InstrumentError([f"{name}: the file is empty; write one item a line"])
    if len(rows) > MOST_ROWS:
        raise InstrumentError([f"{name}: {len(rows)} rows; an instrument has at most {MOST_ROWS}"])
    return rows


def _columns(name: str, rows: Sequence[tuple[int, list[str]]], known: set[str]) -> tuple[list[str], list[Note], int]:
    """What each column is ("": not read), what is to be said of it, and the first row that is an item."""
    line, header = rows[0]
    meant = {alias: what for what, aliases in _NAMES.items() for alias in aliases if what in known}
    names = [meant.get(cell.casefold(), "") for cell in header]
    if not any(name in ("text", "de", "en") for name in names):
        if not any(names) and all(len(cells) == 1 for _, cells in rows):
            return ["text"], [Note(_HEADLESS)], 0
        raise InstrumentError([
            f"{name}:{line}: no column holds the words{suggestion(header[0].casefold(), ['text', 'de', 'en'])}; "
            f"others that are read: {', '.join(sorted(known - {'text', 'de', 'en'}))}"
        ])  # fmt: skip
    twice = next((name for name in names if name and names.count(name) > 1), "")
    if twice or ("text" in names and {"de", "en"} & set(names)):
        held = ", ".join(cell for cell, name in zip(header, names, strict=True) if name in (twice, "text", "de", "en"))
        raise InstrumentError([f"{name}:{line}: {held} say the same thing twice; keep one form"])
    unread = [Note(_UNREAD, {"column": cell}) for cell, name in zip(header, names, strict=True) if not name and cell]
    return names, unread, 1


def _number(cell: str) -> Value:
    """A number where it is one: a scale may have a name."""
    if re.fullmatch(r"-?[0-9]{1,15}", cell):
        return int(cell)
    return float(cell) if re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", cell) else cell


def _switch(name: str, line: int, column: str, cell: str, problems: list[tuple[int, str]]) -> bool:
    if cell.casefold() not in _YES | _NO:
        problems.append((line, f"{name}:{line}: {column}: is {cell[:40]!r}; write yes or no"))
    return cell.casefold() in _YES


# --- Layers: files that a methodology reads beside its instrument (concepts, ways of asking, discovery schemas).
# Found by the name of a shipped one or by path, read with lines, validated as a whole

FileId = Annotated[Line, AfterValidator(identifier("file"))]


class LayerFile(Part):
    """Head of such a file. Within validation every part can look up what the file defines."""

    id: FileId
    version: Line
    title: Text
    language_default: Spoken = "de"
    languages: Annotated[tuple[Spoken, ...], AfterValidator(not_empty)] | None = None

    @classmethod
    def in_own_terms(cls, data: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """The document in this model's own terms, where it is one of another program; else as it is."""
        return data

    @model_validator(mode="wrap")
    @classmethod
    def _read_as_one_file(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        data = cls.in_own_terms(data)
        with reading(data):
            return handler(data)


FileT = TypeVar("FileT", bound=LayerFile)


def load_layer(model: type[FileT], layer: str, name: str, own_folder: str | None = None) -> FileT:
    """The file that `name` means: one that ships (in a pack, or for all of them), else a path to a YAML file; with
    `own_folder` one that lies there as LAYER/NAME.yaml, or FOLDER/NAME.yaml where FOLDER/NAME is said, and no
    path.

    Raises InstrumentError naming file and line, or the names that there are where there is no such file.
    """
    files = {} if own_folder is None else {file.stem: file for file in sorted(Path(own_folder, layer).glob("*.yaml"))}
    if own_folder is not None:
        files = {file.stem: file for file in sorted(Path(own_folder).glob("*.yaml"))} | files
        files |= {f"{file.parent.name}/{file.stem}": file for file in sorted(Path(own_folder).glob("*/*.yaml"))}
    if own_folder is None and Path(name).suffix in (".yaml", ".yml"):
        return load_instrument(model, Path(name).expanduser())
    if name in files:
        return load_instrument(model, files[name])
    if name not in shipped(layer):
        hint = suggestion(name, sorted({*shipped(layer), *files}))
        otherwise = "; or give the path of a .yaml file" if own_folder is None else "; nothing else can be named here"
        raise InstrumentError([f"{name!r} is no shipped file of {layer}{hint}{otherwise}"])
    shipped_layer: FileT = _load_shipped(model, layer, name)
    return shipped_layer


@cache
def shipped(layer: str) -> tuple[str, ...]:
    """The names that ship in a layer ("concepts", say), sorted."""
    return tuple(sorted(_files(layer)))


@cache
def _files(layer: str) -> dict[str, Traversable]:
    return yaml_files([files("enquete.instruments") / layer, *(FOLDER / pack / layer for pack in packs())])


@cache
def _load_shipped(model: type[FileT], layer: str, name: str) -> FileT:
    file = _files(layer)[name]
    return validate_instrument(model, read_source(file.name, file.read_bytes()))


def require_language(setting: str, name: str, layer: LayerFile, language: Language) -> None:
    """Raises InstrumentError for a file that could not be asked in the run's language. `setting`: that named it."""
    wanted = LANGUAGE_NAMES[language]
    if layer.languages and language not in layer.languages:
        held = " and ".join(LANGUAGE_NAMES[language] for language in layer.languages)
        raise InstrumentError(
            [f"{setting}: {name} is in {held} only (`languages`), but the run is in {wanted}; give every text "
             f"in {wanted} and add it to `languages`, or run it with language={layer.languages[0]}"]
        )  # fmt: skip
    lacking = next((place for place, text in texts_of(layer) if not text.has(language)), None)
    if lacking is not None:
        raise InstrumentError(
            [f"{setting}: {name} has no {wanted} text at {lacking}, but the run is in {wanted}; add it there and "
             "wherever else it is missing, or run the interviews in the language of the file (language=…)"]
        )  # fmt: skip
