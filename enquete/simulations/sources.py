"""Files of a simulation: texts as they can be used, and where each came from."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from enquete.state.errors import SimulationError
from enquete.state.untrusted_input import open_regular, parse_json, read_regular, require_regular, visible

# --- Values of unknown origin as clean text, comparable names and whole numbers.


def clean(value: JsonValue) -> str:
    """Text with control characters made visible and without lone surrogates, which neither SQLite nor an HTTP body
    would take.

    Numbers become text, lists are joined with commas; null, booleans and objects hold no text and become "".
    """
    if isinstance(value, str):
        if value.isprintable():  # most are; nothing to make visible, and no surrogate
            return value.strip()
        return visible(value).encode("utf-8", "replace").decode("utf-8").strip()
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
    for name in names:
        value = fields.get(name)
        if value is not None and (text := clean(value)):
            return text
    return ""


# --- Reading JSON and CSV that others wrote. Whatever is wrong with a file becomes a SimulationError that names it.
# What is wrong inside is collected as issues, so that all of it can be shown at once.

MOST_ROWS = 100_000
"""Of a file that is read as a whole: a simulation's. Personas are read row by row, as many as there are."""
LONGEST_LINE = 16_000_000
"""Characters of one line of a file that is read line by line."""
AT_ONCE = 1000
"""Rows of Parquet or of a table that are fetched together."""
LINES, TABLES, PARQUET, TABLE_FILE = (".jsonl", ".ndjson"), (".csv", ".tsv"), (".parquet",), (".toml",)
LIST_KEYS = ("personas", "profiles", "agents", "users")


NAMES = ("name", "realname", "real_name", "full_name", "entity_name", "agent_name")
USERNAMES = ("username", "user_name", "handle")
MOST_TITLE_LINES = 10
"""Rows among which a header is looked for, where the first one names nobody."""


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
        raise not_utf8(path, error.object[error.start], error.start) from error


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
    """The records of a .csv, .jsonl or .json file, in their order, all at once."""
    rows = list(islice(stream_rows(path), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise SimulationError(f"{path.name}: more than {MOST_ROWS:,} rows; give a sample of the population")
    return rows


def stream_rows(path: Path) -> Iterator[Row]:
    """The records of a file, or of the table that it names, one after another. A JSON list alone is held whole."""
    suffix = path.suffix.lower()
    if suffix in TABLES:
        return csv_rows(path)
    if suffix in LINES:
        return (as_row(path, f"line {number}", value) for number, value in jsonl_values(path))
    if suffix in PARQUET:
        return parquet_rows(path)
    if suffix in TABLE_FILE:
        return table_rows(path)
    values = listed(path, read_json(path))
    return (as_row(path, f"entry {position}", value) for position, value in enumerate(values))


def text_lines(path: Path, end: Literal["", "\n"] = "") -> Iterator[str]:
    """Lines of a file in UTF-8 with their ends ("": any), never all in memory."""
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline=end) as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
                    raise SimulationError(f"{path.name}, line {number}: longer than {LONGEST_LINE:,} characters")
                yield line
    except OSError as error:
        raise SimulationError(f"{path.name}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise not_utf8(path, *_first_fault(path, error)) from error


def _first_fault(path: Path, error: UnicodeDecodeError) -> tuple[int, int]:
    """The byte that is no UTF-8, and where it is in the file: the error knows where it is in a piece of it."""
    decoder, offset = codecs.getincrementaldecoder("utf-8")(), 0
    with open_regular(path) as file:
        while piece := file.read(2**20):
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as fault:
                return fault.object[fault.start], offset - waiting + fault.start
            offset += len(piece)
    return error.object[error.start], offset - len(decoder.getstate()[0])  # the file ends within a character


def not_utf8(path: Path, byte: int, offset: int) -> SimulationError:
    return SimulationError(f"{path.name}: byte 0x{byte:02x} at offset {offset} is no UTF-8; save the file as UTF-8")


def parquet_rows(path: Path) -> Iterator[Row]:
    """The rows of a Parquet file, some at a time."""
    from arro3 import io as arrow  # noqa: PLC0415 - for this format alone

    try:
        require_footer(path)
        reader = arrow.read_parquet(path, batch_size=AT_ONCE)
        names, place = reader.schema.names, 0
        require_columns(path, names)
        for batch in reader:
            columns = [batch.column(index).to_pylist() for index in range(batch.num_columns)]
            for values in zip(*columns, strict=True):
                place += 1
                yield as_row(path, f"row {place}", dict(zip(names, map(as_json, values), strict=True)))
    except OSError as error:
        raise SimulationError(f"{path.name}: cannot be read ({error.strerror or error})") from error
    except (SimulationError, GeneratorExit):
        raise
    except BaseException as error:  # arro3 has no class for what is no Parquet, and where it panics no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise SimulationError(f"{path.name}: cannot be read as Parquet: {clip(one_line(str(error)), 200)}") from error


def require_footer(path: Path) -> None:
    """A Parquet file begins and ends with its mark: arro3 says of others more than a user wants to read."""
    with open_regular(path) as file:
        begins = file.read(4)
        file.seek(-4, 2) if os.fstat(file.fileno()).st_size >= 12 else file.seek(0, 2)
        if begins != b"PAR1" or file.read(4) != b"PAR1":
            raise SimulationError(f"{path.name}: cannot be read as Parquet: its beginning or its end is missing")


def table_rows(path: Path) -> Iterator[Row]:
    """The rows of the database's table that a file names, `url` and `table`, some at a time, by the table's key.

    The file holds no password unless its writer wants one there: the database's driver finds PGPASSWORD and ~/.pgpass.
    """
    url, name = named_table(path)
    import sqlalchemy as sa  # noqa: PLC0415 - for tables alone; it takes a quarter of a second

    where = f"{path.name}, table {name!r}"
    try:
        address = sa.engine.make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        if address.get_backend_name() == "sqlite":
            file = Path(address.database or "")
            file = file if file.is_absolute() else path.parent / file
            require_regular(file)
            address = address.set(database=str(file))
        engine = sa.create_engine(address, poolclass=sa.pool.NullPool)
        schema, _, bare = name.rpartition(".")
        with engine.connect().execution_options(stream_results=True, yield_per=AT_ONCE) as connection:
            table = sa.Table(bare, sa.MetaData(), autoload_with=connection, schema=schema or None)
            names = [column.name for column in table.columns]
            require_columns(path, names)
            for place, row in enumerate(connection.execute(sa.select(table).order_by(*table.primary_key)), start=1):
                yield as_row(path, f"row {place}", dict(zip(names, map(as_json, row), strict=True)))
    except OSError as error:
        raise SimulationError(f"{where}: cannot be read ({error.strerror or error})") from error
    except ModuleNotFoundError as error:
        hint = "pip install 'enquete[scale]'" if error.name == "psycopg" else f"install the package {error.name}"
        raise SimulationError(f"{where}: its database needs {error.name}, which is not installed: {hint}") from error
    except sa.exc.NoSuchTableError as error:
        raise SimulationError(f"{where}: there is no such table in {address.render_as_string()}") from error
    except sa.exc.SQLAlchemyError as error:
        why = clip(one_line(str(getattr(error, "orig", None) or error)), 200)
        raise SimulationError(f"{where}: cannot be read: {why}") from error


def named_table(path: Path) -> tuple[str, str]:
    """`url` and `table` of a file that names a table."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise SimulationError(f"{path.name}: not valid TOML: {error}") from error
    for name in ("url", "table"):
        if not isinstance(table.get(name), str) or not table[name].strip():
            like = 'url = "postgresql://user@host/database" and table = "people"'
            raise SimulationError(f"{path.name}: {name!r} is missing; a file that names a table says {like}")
    unknown = sorted(table.keys() - {"url", "table"})
    if unknown:
        raise SimulationError(f"{path.name}: {unknown[0]!r} is unknown; there are url and table")
    return table["url"].strip(), table["table"].strip()


def require_columns(path: Path, names: list[str]) -> None:
    """As of a CSV's header: a field is known by its name in small letters."""
    folded = [name.strip().casefold() for name in names]
    twice = sorted({name for name in folded if folded.count(name) > 1})
    if twice:
        raise SimulationError(f"{path.name}: column {twice[0]!r} appears twice")


def as_json(value: Any) -> JsonValue:
    """A database's or Parquet's value as a personas file would hold it: dates, decimals and the like as text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return None if value != value else value
    if isinstance(value, dict):
        return {str(name): as_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    return None if isinstance(value, (bytes, memoryview)) else str(value)


def listed(path: Path, value: JsonValue) -> list[JsonValue]:
    """The list in a JSON file, or under one of the usual keys."""
    if isinstance(value, dict):
        inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        value = value if inner is None else inner
    if not isinstance(value, list):
        raise SimulationError(f"{path.name}: a list of objects is expected, found {kind_of(value)}")
    return value


def jsonl_values(path: Path) -> Iterator[tuple[int, JsonValue]]:
    for number, line in enumerate(text_lines(path, "\n"), start=1):
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
    lines = text_lines(path)
    head = next(lines, "")
    skipped = 0
    if named := _SEPARATOR_LINE.fullmatch(head.strip()):  # Excel's own line; the header follows
        head, skipped = next(lines, ""), 1
    require_table(path, head)
    delimiter = named[1] if named else max(",;\t", key=head.count)
    reader = csv.reader(chain((head,), lines), delimiter=delimiter, strict=True)
    try:
        header = [column.strip().casefold() for column in next(reader, [])]
        require_header(path, header)
        ahead = [(reader.line_num + skipped, cells) for cells in islice(reader, MOST_TITLE_LINES)]
        require_first_line(path, header, ahead)
        rest = ((reader.line_num + skipped, cells) for cells in reader)
        for line, cells in chain(ahead, rest):
            if any(cell.strip() for cell in cells):
                yield csv_row(path, line, header, cells)
    except csv.Error as error:
        raise SimulationError(f"{path.name}, line {reader.line_num + skipped}: not valid CSV: {error}") from error


_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)


def require_table(path: Path, head: str) -> None:
    """Raise SimulationError where the content is JSON, whatever the file is called."""
    begins = head.lstrip()
    if begins.startswith("{") and begins.rstrip().endswith("}"):
        raise SimulationError(f"{path.name}: its content is JSON, one object a line; call it {path.stem}.jsonl")
    if begins.startswith(("[", "{")):
        raise SimulationError(f"{path.name}: its content is JSON, no table; call it {path.stem}.json")


def require_first_line(path: Path, header: list[str], ahead: Iterable[tuple[int, list[str]]]) -> None:
    """Raise SimulationError where the column names stand below a title."""
    known = {*NAMES, *USERNAMES}
    if known & set(header):
        return
    for line, cells in ahead:
        if known & {cell.strip().casefold() for cell in cells}:
            named = ", ".join(filter(None, map(str.strip, cells)))
            raise SimulationError(
                f"{path.name}: the header stands in line {line} ({clip(named, 80)}); remove the lines above it"
            )


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
