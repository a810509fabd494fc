"""JSON that somebody else wrote: whatever is wrong with it is a ValueError, and its values take no more memory than planned."""

from __future__ import annotations

import json

from pydantic import JsonValue

MOST_PARTS = 4_000_000
"""Brackets, braces and commas: each can cost up to 70 bytes of memory as a value, so that a text of some megabytes could
otherwise take gigabytes. 20,000 agents with 40 fields have 800,000."""


def parse_json(text: str | bytes) -> JsonValue:
    """The JSON value of a text; ValueError also for what json itself answers with other exceptions."""
    signs = "[{," if isinstance(text, str) else (b"[", b"{", b",")
    if len(text) > MOST_PARTS and (parts := sum(map(text.count, signs))) > MOST_PARTS:  # type: ignore[arg-type]
        raise ValueError(f"more than {MOST_PARTS:,} parts ({parts:,} brackets and commas)")
    try:
        value: JsonValue = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value
