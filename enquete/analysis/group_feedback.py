"""What a group is told about itself without names: how it answered as a whole, and a number for each member.

Delphi panels and anonymous roundtables show the same.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue


def summarise_ratings(values: Sequence[float]) -> dict[str, JsonValue]:
    """Return median, interquartile range (quantiles of type 7) and number of at least one rating."""
    low, high = 0.0, 0.0
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": statistics.median(values), "iqr": high - low, "n": len(values)}


def format_feedback(item: str, summary: Mapping[str, Any]) -> str:
    """Write a summary as participants read it."""
    return f"{item}: median {summary['median']:g}, IQR {summary['iqr']:g}, n {summary['n']}"


def number_members(group: str, members: Iterable[str]) -> dict[str, int]:
    """Give each member of a group a number from 1.

    The numbers are the same in every round, and do not follow the order in which the members speak.
    """
    shuffled = sorted(members, key=lambda member: hashlib.sha256(f"{group}\x1f{member}".encode()).digest())
    return {member: number for number, member in enumerate(shuffled, start=1)}
