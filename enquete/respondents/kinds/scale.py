"""One point of a scale, as a number."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import Kind, Members
from enquete.respondents.kinds.numerals import INTEGER, parse_number
from enquete.state.asking import Answer, Item, Option


class Scale(Kind):
    """Strict: "3", " 4 ", 3.0 and "-2" are points; true, 3.5 and "high" are not."""

    label: ClassVar[str] = N_("scale")
    has_steps = distributes = True

    def _value_schema(self, item: Item) -> JsonValue:
        return {"type": "integer", "enum": [option.value for option in item.options_in_shown_order()]}

    def _read(self, item: Item, members: Members) -> Answer | None:
        value = parse_number(members.get("value"), INTEGER)
        return Answer(item.id, "ok", value=value) if any(value == option.value for option in item.options) else None

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        """The nearest point, halves going outward, so that a moderate split stays one."""
        options = sorted(item.options, key=_numeric_first)
        value = options[nearest(position, len(options))].value
        return (float(value), None) if isinstance(value, int) else (None, value)


def _numeric_first(option: Option) -> tuple[bool, int]:
    return (False, option.value) if isinstance(option.value, int) else (True, 0)


def nearest(position: float, k: int) -> int:
    """The place, from 0, among `k` that is nearest to a latent position."""
    # Counted from the middle, so that a position and its opposite land on mirrored options in spite of rounding.
    steps = abs(position) * (k - 1) / 2
    from_middle = math.floor(steps + 0.5) if k % 2 else min(math.floor(steps), k // 2 - 1) + 0.5
    return round((k - 1) / 2 + math.copysign(from_middle, position))
