"""Writing result files: streamed, atomic, the same bytes for the same content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
from pydantic import JsonValue
from pydantic_core import to_json

from enquete.checkpoints.folders import draft_of
from enquete.reports.context import Files, jsonable
from enquete.reports.table.row import INTEGERS
from enquete.state.visible_text import as_cell, visible

_SPECIAL = re.compile('[,"\r\n]')
"""What a cell is quoted for."""


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file to write to; readers see the old one until all is written, and still if writing fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_of(path)
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def records(frame: pd.DataFrame) -> Iterator[dict[str, JsonValue]]:
    """`rows` as JSON objects."""
    names = [str(name) for name in frame.columns]
    return (dict(zip(names, row, strict=True)) for row in rows(frame))


def rows(frame: pd.DataFrame, chunk: int = 5000) -> Iterator[tuple[JsonValue, ...]]:
    """Made as they are read: a large table is never a list. Missing is null; columns of INTEGERS are whole numbers, missing or
    not."""
    for start in range(0, len(frame), chunk):
        piece = frame.iloc[start : start + chunk]
        yield from zip(*(_values(piece[name]) for name in frame.columns), strict=True)


def _values(column: pd.Series[Any]) -> list[Any]:
    if column.name in INTEGERS:
        column = column.astype("Int64")
    known, values = column.notna().to_numpy(), column.tolist()
    return values if known.all() else [value if there else None for value, there in zip(values, known, strict=True)]


def write_json(path: Path, value: object) -> None:
    """Indented, without NaN. By pydantic: the standard library indents in Python, many times as slowly."""
    with replacing(path) as file:
        file.write(visible(to_json(value, indent=1, inf_nan_mode="null", fallback=jsonable).decode()) + "\n")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    with replacing(path) as file:
        file.writelines(_line(row) for row in rows)


def _line(row: Mapping[str, object]) -> str:
    return visible(to_json(row, inf_nan_mode="null", fallback=jsonable).decode()) + "\n"


def write_files(folder: Path, files: Files) -> None:
    """What `Evaluation.files` returned: a text as it is, an object as JSON, rows as JSONL, a frame as CSV."""
    for name, content in files.items():
        if isinstance(content, str):
            with replacing(folder / name) as file:
                file.write(content)
        elif isinstance(content, pd.DataFrame):
            write_csv(folder / name, content)
        elif isinstance(content, Mapping):
            write_json(folder / name, content)
        else:
            write_jsonl(folder / name, content)


def write_csv(path: Path, frame: pd.DataFrame, chunk: int = 20_000, *, bom: bool = False) -> None:
    """UTF-8, RFC 4180: comma, CRLF, quotes where needed. Missing is an empty cell; numbers stay numbers. bom: for Excel.

    A text that a spreadsheet would execute gets a leading apostrophe; control characters are written out.
    """
    with replacing(path) as file:
        file.write("\ufeff" * bom + ",".join(map(_quoted, frame.columns)) + "\r\n")
        for start in range(0, len(frame), chunk):
            file.write(csv_rows(frame.iloc[start : start + chunk]))


def csv_rows(frame: pd.DataFrame) -> str:
    """Without a header. By hand: the standard library looks at every character of every cell."""
    lines = map(",".join, zip(*(_cells(frame[name]) for name in frame.columns), strict=True))
    return "".join((line or '""') + "\r\n" for line in lines)  # an only cell that is empty is no empty line


def _cells(column: pd.Series[Any]) -> list[str]:
    """A column as text; a column has few different values, and each is formatted once."""
    if pd.api.types.is_bool_dtype(column):
        return ["true" if value else "false" for value in column]
    values = _values(column)
    known = {value: "" if value is None else _quoted(_cell(value)) for value in set(values)}
    return [known[value] for value in values]


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""')) if _SPECIAL.search(text) else text


def _cell(value: object) -> str:
    if isinstance(value, str):
        return as_cell(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
