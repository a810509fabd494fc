"""A number between two bounds, either of which may be missing."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import Kind, Members
from enquete.respondents.kinds.numerals import DECIMAL, parse_number
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item


class Number(Kind):
    """Out of its bounds it is no answer."""

    label: ClassVar[str] = N_("number")

    def problem(self, item: Item) -> str:
        low, high = _bounds(item)
        return "" if low <= high else f"has nothing between {low:g} and {high:g}"

    def lines(self, item: Item, words: Wording) -> list[str]:
        """None where there are no bounds: then the wording says what is wanted."""
        if item.minimum is None and item.maximum is None:
            return []
        low, high = ("" if bound is None else f"{bound:g}" for bound in (item.minimum, item.maximum))
        return [f"({words.number.format(low=low, high=high)})"]

    def _value_schema(self, item: Item) -> JsonValue:
        bounds: Members = {"type": "number"}
        bounds |= {"minimum": item.minimum} if item.minimum is not None else {}
        return bounds | ({"maximum": item.maximum} if item.maximum is not None else {})

    def _read(self, item: Item, members: Members) -> Answer | None:
        value = parse_number(members.get("value"), DECIMAL)
        low, high = _bounds(item)
        return Answer(item.id, "ok", value=value) if value is not None and low <= value <= high else None

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        """0–100 where there are no bounds; a decimal where they are near to one another."""
        low = item.minimum if item.minimum is not None else 0.0
        high = item.maximum if item.maximum is not None else max(100.0, low)
        value = low + (position + 1) / 2 * (high - low)
        return float(min(max(round(value, 0 if high - low >= 10 else 1), low), high)), None


def _bounds(item: Item) -> tuple[float, float]:
    return (
        -math.inf if item.minimum is None else item.minimum,
        math.inf if item.maximum is None else item.maximum,
    )
