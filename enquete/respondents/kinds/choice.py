"""One of several options, which need not be numbers nor stand in an order."""

from __future__ import annotations

from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import Kind, Members, label_of, option_given
from enquete.respondents.kinds.scale import nearest
from enquete.state.asking import Answer, Item


class Choice(Kind):
    """`data` is the option's value, or a distribution whose `mode` is."""

    label: ClassVar[str] = N_("choice")
    distributes = True

    def _read(self, item: Item, members: Members) -> Answer | None:
        choice = option_given(item, members.get("value"))
        return None if choice is None else Answer(item.id, "ok", data=choice)

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        value = item.options[nearest(position, len(item.options))].value
        return (float(value) if isinstance(value, int) else None), value

    def choice(self, data: JsonValue) -> str:
        return str(_option(data))

    def chosen(self, item: Item, data: JsonValue) -> str:
        return label_of(item, _option(data))


def _option(data: JsonValue) -> JsonValue:
    return data.get("mode") if isinstance(data, dict) else data
