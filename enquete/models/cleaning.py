"""Text and values as they can be stored: UTF-8 without lone surrogates, no NUL, finite numbers, bounded depth."""

from __future__ import annotations

import json
import math

from pydantic import JsonValue

DEEPEST = 64
"""Levels kept of a parsed value. No instrument needs ten; more is an accident or an attack."""

LONGEST_INTEGER = 300
"""Digits. Above that a number cannot be read as a double either."""


def clean_text(text: str) -> str:
    """Surrogate pairs joined, lone surrogates replaced by U+FFFD, NUL removed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def compact(value: object) -> str:
    """A value as JSON without spaces, fit for UTF-8."""
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def clean_value(value: object, depth: int = 0) -> JsonValue:
    """`value` as JSON can hold it; NaN, infinities and whatever lies deeper than `DEEPEST` become None."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**LONGEST_INTEGER else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEEPEST:
        return None
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [clean_value(part, depth + 1) for part in value]
    return None
