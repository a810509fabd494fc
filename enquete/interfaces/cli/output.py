"""Where output goes: results to stdout, everything else to stderr; with --json exactly one object on stdout."""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def prepare_streams() -> None:
    """A terminal that cannot show an umlaut gets an escape, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def result(text: str) -> None:
    """A line of the result, for stdout."""
    sys.stdout.write(printable(text) + "\n")


def remark(text: str) -> None:
    """A line about the work, for stderr."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def printable(text: str) -> str:
    """Control characters written out: names and notes come from files, and a terminal obeys escape sequences."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def one_object(value: dict[str, Any]) -> None:
    """The one JSON object of --json. NaN and infinities become null: they are not JSON."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(finite(value), ensure_ascii=plain, indent=2, default=str, allow_nan=False) + "\n")
    sys.stdout.flush()


def finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Columns aligned to the left, two spaces apart: readable in a terminal, a log and a mail."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    return ["  " + line.rstrip() for line in lines]


def number(value: int) -> str:
    return f"{value:,}"
