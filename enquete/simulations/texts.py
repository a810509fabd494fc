"""Values of unknown origin as clean text, comparable names and whole numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from enquete.state.visible_text import visible


def clean(value: JsonValue) -> str:
    """Text with control characters made visible and without lone surrogates, which neither SQLite nor an HTTP body would take.

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
