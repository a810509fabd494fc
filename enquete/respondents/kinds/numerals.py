"""What counts as a number in a model's reply: "3", " 4 ", 3.0 and "-2"; not true, "high" or infinity."""

from __future__ import annotations

import math
import re
import sys

from pydantic import JsonValue

INTEGER = re.compile(r"\s*[+-]?\d+(\.0+)?\s*")
DECIMAL = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")
LARGEST = sys.float_info.max


def parse_number(given: JsonValue, pattern: re.Pattern[str]) -> float | None:
    """`pattern`: INTEGER or DECIMAL. None for anything else."""
    if isinstance(given, bool):
        return None
    if isinstance(given, str):
        value = float(given) if pattern.fullmatch(given) else math.nan
    elif isinstance(given, int | float) and abs(given) <= LARGEST:
        value = float(given) if pattern is DECIMAL or float(given).is_integer() else math.nan
    else:
        return None
    return value if math.isfinite(value) else None
