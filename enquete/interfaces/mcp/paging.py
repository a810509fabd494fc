"""Findings and reports in pieces that fit a context window."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pydantic import JsonValue

from enquete.interfaces.mcp.results import Entry
from enquete.state.errors import InputError

PAGE_CHARS = 6000
ENTRY_CHARS = 2000
"""A longer value is taken apart into its members."""
PATH_CHARS = 300
CUT_CHARS = 500
FRAME_CHARS = 24  # {"path":"","value":},

BEGINNING = "beginning"
FACTS = "facts"

K = TypeVar("K", str, int)


def as_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entries(value: JsonValue, path: str = "") -> Iterator[Entry]:
    """The value, taken apart as far as no entry is longer than ENTRY_CHARS.

    Members that are short stay together: part of a mapping under the mapping's own path, part of a list under
    `path[first:end]`. Texts that are longer are cut, and say so.
    """
    if len(as_json(value)) <= ENTRY_CHARS:
        yield Entry(path=shown_path(path), value=value)
    elif isinstance(value, dict):
        for part in gathered(list(value.items())):
            (name, inner), *more = part
            if more or size_of(name, inner) <= ENTRY_CHARS:
                yield Entry(path=shown_path(path), value=dict(part))
            else:
                yield from entries(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for slice_ in gathered(list(enumerate(value))):
            (first, inner), *others = slice_
            if others or size_of(first, inner) <= ENTRY_CHARS:
                yield Entry(
                    path=shown_path(f"{path}[{first}:{first + len(slice_)}]"), value=[each for _, each in slice_]
                )
            else:
                yield from entries(inner, f"{path}[{first}]")
    else:
        text = str(value)
        yield Entry(path=shown_path(path), value=f"{text[:CUT_CHARS]}… ({len(text)} characters; whole in the resource)")


def gathered(members: Sequence[tuple[K, JsonValue]]) -> Iterator[list[tuple[K, JsonValue]]]:
    """Neighbours that together are no longer than ENTRY_CHARS; a longer one stands alone."""
    part: list[tuple[K, JsonValue]] = []
    room = ENTRY_CHARS
    for name, inner in members:
        size = size_of(name, inner)
        if part and size > room:
            yield part
            part, room = [], ENTRY_CHARS
        part.append((name, inner))
        room -= size
    if part:
        yield part


def size_of(name: str | int, inner: JsonValue) -> int:
    return len(as_json({str(name): inner}))


def shown_path(path: str) -> str:
    return path if len(path) <= PATH_CHARS else f"…{path[1 - PATH_CHARS :]}"


def pages_of(values: Sequence[Entry]) -> list[list[Entry]]:
    """Entries in their order, as many a page as PAGE_CHARS allow. At least one page."""
    pages: list[list[Entry]] = [[]]
    room = PAGE_CHARS
    for entry in values:
        size = len(as_json(entry.value)) + len(entry.path) + FRAME_CHARS
        if pages[-1] and size > room:
            pages.append([])
            room = PAGE_CHARS
        pages[-1].append(entry)
        room -= size
    return pages


def in_sections(result: JsonValue) -> dict[str, JsonValue]:
    """A methodology's results: what is one value each together as `facts`, then every table that has rows."""
    result = result if isinstance(result, dict) else {}
    lists = {name: value for name, value in result.items() if isinstance(value, list) and value}
    tables: dict[str, JsonValue] = {name: rows for name, rows in lists.items() if isinstance(rows[0], dict)}
    return {FACTS: {name: value for name, value in result.items() if name not in tables}, **tables}


def report_sections(markdown: str) -> dict[str, str]:
    """By heading of the second level, in order; what stands before the first is the beginning."""
    sections: dict[str, str] = {}
    name = BEGINNING
    for line in markdown.splitlines(keepends=True):
        if line.startswith("## "):
            name = line[3:].strip()
        sections[name] = sections.get(name, "") + line
    return sections


def text_pages(text: str) -> list[str]:
    """At line ends where there are any. At least one page."""
    pages = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), PAGE_CHARS):
            piece = line[start : start + PAGE_CHARS]
            if pages[-1] and len(pages[-1]) + len(piece) > PAGE_CHARS:
                pages.append("")
            pages[-1] += piece
    return pages


class NoSuchPart(InputError):
    """A section or page that there is none of; the message lists those there are."""


def require_section(section: str, known: Sequence[str]) -> str:
    """By name, upper or lower case. Raises NoSuchPart listing the sections."""
    for name in known:
        if name.casefold() == section.strip().casefold():
            return name
    raise NoSuchPart(f"section: {section[:100]!r} is none of {', '.join(known)}.")


def require_page(page: int, pages: int) -> int:
    """Counted from 1. Raises NoSuchPart."""
    if not 1 <= page <= pages:
        known = "there is only page 1" if pages == 1 else f"there are pages 1 to {pages}"
        raise NoSuchPart(f"page: {page} is none; {known}.")
    return page
