"""What a group is told of itself without names: a number for each member, and how it answered as a whole.

Delphi panels and anonymous roundtables show the same.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue


def summary(values: Sequence[float]) -> dict[str, JsonValue]:
    """Median, interquartile range (type 7) and number of what was given; of at least one value."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (0.0, 0.0, 0.0)
    return {"median": statistics.median(values), "iqr": high - low, "n": len(values)}


def feedback_line(name: str, numbers: Mapping[str, Any]) -> str:
    """A summary as participants read it."""
    return f"{name}: median {numbers['median']:g}, IQR {numbers['iqr']:g}, n {numbers['n']}"


def anonymous_numbers(group: str, members: Iterable[str]) -> dict[str, int]:
    """member → number from 1, the same in every round of this group and unlike the order in which its members speak."""
    drawn = sorted(members, key=lambda member: hashlib.sha256(f"{group}\x1f{member}".encode()).digest())
    return {member: number for number, member in enumerate(drawn, start=1)}
