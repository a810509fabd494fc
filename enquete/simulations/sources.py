"""Files of a simulation: texts as they can be used, and where each came from."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from enquete.state.errors import SimulationError
from enquete.state.regular_files import parse_json, read_regular
from enquete.state.visible_text import visible

# --- Values of unknown origin as clean text, comparable names and whole numbers.


def clean(value: JsonValue) -> str:
    """Text with control characters made visible and without lone surrogates, which neither SQLite nor an HTTP body
    would take.

    Numbers become text, lists are joined with commas; null, booleans and objects hold no text and become "".
    """
    if isinstance(value, str):
        scrubbed = visible(value).encode("utf-8", "replace").decode("utf-8")
        return scrubbed.strip()
    if isinstance(value, list):
        return ", ".join(text for text in map(clean, value) if text)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return clean_number(value)
    return ""


def clean_number(value: float) -> str:
    """A number as text; integers beyond Python's digit limit for printing hold no text."""
    try:
        return str(value)
    except ValueError:
        return ""


def one_line(text: str) -> str:
    return " ".join(text.split())


def clip(text: str, length: int) -> str:
    """At most `length` characters, ending in an ellipsis where something was cut."""
    if len(text) <= length:
        return text
    return text[: length - 1].rstrip() + "…" if length > 0 else ""


def whole(value: JsonValue) -> int | None:
    """An index written as 3, 3.0, "3" or "3.0" (pandas writes the last); None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}(\.0)?\s*", value):
        return int(float(value)) if "." in value else int(value)
    return None


def first(fields: Mapping[str, JsonValue], names: tuple[str, ...]) -> str:
    """The first of the named fields that holds text."""
    return next((text for name in names if (text := clean(fields.get(name)))), "")


# --- Reading JSON and CSV that others wrote. Whatever is wrong with a file becomes a SimulationError that names it.
# What is wrong inside is collected as issues, so that all of it can be shown at once.

MOST_ROWS = 100_000
"""Agents in one file. Twice the largest population that was ever interviewed here."""
LIST_KEYS = ("personas", "profiles", "agents", "users")


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file: where it stands (for messages) and its fields by lower-case name."""

    where: str
    fields: dict[str, JsonValue]


def read_text(path: Path) -> str:
    try:
        return read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise SimulationError(f"{path.name}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        problem = f"byte 0x{error.object[error.start]:02x} at offset {error.start} is no UTF-8; save the file as UTF-8"
        raise SimulationError(f"{path.name}: {problem}") from error


def read_json(path: Path) -> JsonValue:
    text = read_text(path)
    try:
        return parse_json(text)
    except ValueError as error:
        raise SimulationError(f"{path.name}: not valid JSON: {clip(str(error), 200)}") from error


def read_object(path: Path) -> dict[str, JsonValue]:
    """A file that holds one JSON object."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise SimulationError(f"{path.name}: a JSON object is expected, found {kind_of(value)}")
    return value


def read_rows(path: Path) -> list[Row]:
    """The records of a .csv, .jsonl or .json file, in their order."""
    rows: Iterator[Row]
    if path.suffix.lower() in (".csv", ".tsv"):
        rows = csv_rows(path)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        rows = (as_row(path, f"line {number}", value) for number, value in jsonl_values(path))
    else:
        values = listed(path, read_json(path))
        rows = (as_row(path, f"entry {position}", value) for position, value in enumerate(values))
    found = list(islice(rows, MOST_ROWS + 1))
    if len(found) > MOST_ROWS:
        raise SimulationError(f"{path.name}: more than {MOST_ROWS:,} rows; give a sample of the population")
    return found


def listed(path: Path, value: JsonValue) -> list[JsonValue]:
    """The list in a JSON file, or under one of the usual keys."""
    if isinstance(value, dict):
        inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        value = value if inner is None else inner
    if not isinstance(value, list):
        raise SimulationError(f"{path.name}: a list of objects is expected, found {kind_of(value)}")
    return value


def jsonl_values(path: Path) -> Iterator[tuple[int, JsonValue]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, parse_json(line)
        except ValueError as error:
            raise SimulationError(f"{path.name}, line {number}: not valid JSON: {clip(str(error), 200)}") from error


def as_row(path: Path, where: str, value: JsonValue) -> Row:
    if not isinstance(value, dict):
        raise SimulationError(f"{path.name}, {where}: an object is expected, found {kind_of(value)}")
    return Row(where, {key.strip().casefold(): field for key, field in value.items()})


def csv_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header; comma, semicolon or tab, whichever the header uses."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        header = [column.strip().casefold() for column in next(reader, [])]
        require_header(path, header)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield csv_row(path, reader.line_num, header, cells)
    except csv.Error as error:
        raise SimulationError(f"{path.name}, line {reader.line_num}: not valid CSV: {error}") from error


def delimiter_of(text: str) -> str:
    head = text.partition("\n")[0]
    return max(",;\t", key=head.count)


def require_header(path: Path, header: list[str]) -> None:
    named = [column for column in header if column]
    if not named:
        raise SimulationError(f"{path.name}, line 1: a header with column names is expected")
    twice = sorted({column for column in named if named.count(column) > 1}) if len(named) != len(set(named)) else []
    if twice:
        raise SimulationError(f"{path.name}, line 1: column {twice[0]!r} appears twice")


def csv_row(path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) > len(header):
        problem = f"{len(cells)} fields, but the header names {len(header)}; put quotes around text that holds a comma"
        raise SimulationError(f"{path.name}, line {line}: {problem}")
    return Row(f"line {line}", dict(zip(header, cells, strict=False)))


def kind_of(value: JsonValue) -> str:
    """A value's JSON kind, with its beginning where that helps to find it."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"{type(value).__name__} {clip(repr(value), 40)}" if isinstance(value, str) else type(value).__name__


MOST_SHOWN = 20


@dataclass(frozen=True)
class Issue:
    """One finding. An error stops a strict load; a warning was worked around as the message says; an info is a fact."""

    severity: Literal["error", "warning", "info"]
    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


def refuse_errors(issues: Iterable[Issue]) -> None:
    """Raise SimulationError with every error among `issues`, if there is one."""
    errors = [str(issue) for issue in issues if issue.severity == "error"]
    if not errors:
        return
    more = [f"... and {len(errors) - MOST_SHOWN} more errors"] if len(errors) > MOST_SHOWN else []
    raise SimulationError("\n".join(errors[:MOST_SHOWN] + more))
