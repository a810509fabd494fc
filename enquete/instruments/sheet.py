"""A table of items as an instrument: one row an item, a Q statement or an open question; the columns by their usual names.

id,text,family,reverse            de;en                          (no header: one statement a line)
trust_1,Banks are honest.,trust,  Banken sind ehrlich.;Banks …   Banks are honest.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import get_args

from enquete.instruments.derived import Note
from enquete.instruments.instrument import Instrument
from enquete.instruments.reading import suggestion
from enquete.instruments.source import MOST_BYTES, Path, Source, Value, decoded
from enquete.instruments.text import Part
from enquete.locale import N_
from enquete.state.errors import InstrumentError

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


def read_sheet(name: str, raw: bytes, model: type[Instrument]) -> Source:
    """The rows as the document of an instrument, lines kept. Raises InstrumentError."""
    if model.listed is None:
        raise InstrumentError([f"{name}: a table of items is no whole instrument here; write it as YAML"])
    if len(raw) > MOST_BYTES:
        raise InstrumentError([f"{name}: {len(raw)} bytes; an instrument has at most {MOST_BYTES}"])
    section, id_key = model.listed
    rows = _rows(name, decoded(name, raw))
    columns, told, first = _columns(name, rows, fields_of(model, section))
    problems: list[tuple[int, str]] = []
    lines: dict[Path, int] = {(section,): rows[0][0]}
    entries: list[Value] = []
    for line, cells in rows[first:]:
        if len(cells) > len(columns):
            problems.append(
                (line, f"{name}:{line}: {len(cells)} cells for {len(columns)} columns; put quotes around texts that hold one")
            )  # fmt: skip
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
    return Source(name, {section: entries}, lines, {}, tuple(problems), tuple(told))


def fields_of(model: type[Instrument], section: str) -> set[str]:
    """What an entry of the list may hold, as columns."""
    part = next((one for one in get_args(model.model_fields[section].annotation) if isinstance(one, type)), Part)
    own = set(part.model_fields) if issubclass(part, Part) else set()
    return {"id", "text", "de", "en"} | own & set(_NAMES)


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
    found = [meant.get(cell.casefold(), "") for cell in header]
    if not any(one in ("text", "de", "en") for one in found):
        if not any(found) and all(len(cells) == 1 for _, cells in rows):
            return ["text"], [Note(_HEADLESS)], 0
        raise InstrumentError([
            f"{name}:{line}: no column holds the words{suggestion(header[0].casefold(), ['text', 'de', 'en'])}; "
            f"others that are read: {', '.join(sorted(known - {'text', 'de', 'en'}))}"
        ])  # fmt: skip
    twice = next((one for one in found if one and found.count(one) > 1), "")
    if twice or ("text" in found and {"de", "en"} & set(found)):
        held = ", ".join(cell for cell, one in zip(header, found, strict=True) if one in (twice, "text", "de", "en"))
        raise InstrumentError([f"{name}:{line}: {held} say the same thing twice; keep one form"])
    unread = [Note(_UNREAD, {"column": cell}) for cell, one in zip(header, found, strict=True) if not one and cell]
    return found, unread, 1


def _number(cell: str) -> Value:
    """A number where it is one: a scale may have a name."""
    if re.fullmatch(r"-?[0-9]{1,15}", cell):
        return int(cell)
    return float(cell) if re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", cell) else cell


def _switch(name: str, line: int, column: str, cell: str, problems: list[tuple[int, str]]) -> bool:
    if cell.casefold() not in _YES | _NO:
        problems.append((line, f"{name}:{line}: {column}: is {cell[:40]!r}; write yes or no"))
    return cell.casefold() in _YES
