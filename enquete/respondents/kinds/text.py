"""An answer in one's own words."""

from __future__ import annotations

from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import ROOM_IN_WORDS, Kind, Members
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item


class FreeText(Kind):
    """Anything with a letter or a digit in it is an answer."""

    label: ClassVar[str] = N_("open")

    def problem(self, item: Item) -> str:
        return "has options, which an answer in words does not take" if item.options else ""

    def lines(self, item: Item, words: Wording) -> list[str]:
        return [f"({words.text})"]

    def schema(self, item: Item) -> Members:
        return {"text": {"type": "string"}}

    def form(self, item: Item) -> list[str]:
        return ['"text": "…"']

    def room(self, item: Item) -> int:
        return ROOM_IN_WORDS

    def _read(self, item: Item, members: Members) -> Answer | None:
        given = members.get("text", members.get("value"))
        text = given.strip() if isinstance(given, str) else ""
        return Answer(item.id, "ok", text=text) if any(map(str.isalnum, text)) else None

    def written(self, item: Item, answer: Answer) -> Members:
        return {"text": answer.text}

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        raise ValueError(f"item {item.id!r} is answered in words, which no position gives")
