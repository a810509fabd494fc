"""All options in an order, the first one first. Measured by: an order that was meant is taken, none is made up.

An option named twice counts where it was named first; one that alone was left out comes last. Both are noted and make the
answer "repaired". With more left out, or with something that is no option, there is no order: it is asked for again.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import (
    ROOM,
    ROOM_PER_OPTION,
    Kind,
    Members,
    by_nearness,
    label_of,
    option_given,
    option_schema,
)
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item

_SEPARATOR = re.compile(r"\s*[>,;\n]\s*")


class Ranking(Kind):
    """`data` lists the options' values."""

    label: ClassVar[str] = N_("ranking")

    def wanted(self, item: Item, words: Wording) -> str:
        return words.ranking

    def _value_schema(self, item: Item) -> JsonValue:
        n = len(item.options)
        return {"type": "array", "items": option_schema(item), "minItems": n, "maxItems": n}

    def form(self, item: Item) -> list[str]:
        return ['"value": […, …]']

    def room(self, item: Item) -> int:
        return ROOM + ROOM_PER_OPTION * len(item.options)

    def _read(self, item: Item, members: Members) -> Answer | None:
        given = members.get("value")
        listed = _SEPARATOR.split(given.strip()) if isinstance(given, str) else given
        named = [option_given(item, one) for one in listed] if isinstance(listed, list) else []
        order = list(dict.fromkeys(value for value in named if value is not None))
        missing = [option.value for option in item.options if option.value not in order]
        if None in named or len(missing) > 1:
            return None
        notes = [f"{value} named twice" for value in order if named.count(value) > 1]
        notes += [f"{value} left out, ranked last" for value in missing]
        return Answer(item.id, "repaired" if notes else "ok", data=[*order, *missing], notes=tuple(notes))

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        return None, [*by_nearness(position, item.options)]

    def choice(self, data: JsonValue) -> str:
        return json.dumps(data, ensure_ascii=False)

    def chosen(self, item: Item, data: JsonValue) -> str:
        return " > ".join(label_of(item, value) for value in data) if isinstance(data, list) else ""
