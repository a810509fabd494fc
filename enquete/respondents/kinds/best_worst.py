"""The best and the worst of several options, two different ones (best–worst scaling: Louviere, Flynn & Marley 2015)."""

from __future__ import annotations

import json
from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_
from enquete.respondents.kinds.kind import Kind, Members, by_nearness, label_of, option_given, option_schema
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item


class BestWorst(Kind):
    """`data` is {"best": value, "worst": value}. One option for both, or only one of them, is no answer."""

    label: ClassVar[str] = N_("best and worst")

    def problem(self, item: Item) -> str:
        return super().problem(item) or ("" if len(item.options) > 1 else "has one option, and best and worst are two")

    def wanted(self, item: Item, words: Wording) -> str:
        return words.best_worst

    def schema(self, item: Item) -> Members:
        return {"best": option_schema(item), "worst": option_schema(item)}

    def form(self, item: Item) -> list[str]:
        return ['"best": …', '"worst": …']

    def _read(self, item: Item, members: Members) -> Answer | None:
        inner = members.get("value")
        given = inner if isinstance(inner, dict) else members
        best, worst = (option_given(item, given.get(name)) for name in ("best", "worst"))
        if best is None or worst is None or best == worst:
            return None
        return Answer(item.id, "ok", data={"best": best, "worst": worst})

    def written(self, item: Item, answer: Answer) -> Members:
        return dict(answer.data) if isinstance(answer.data, dict) else {}

    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        order = by_nearness(position, item.options)
        return None, {"best": order[0], "worst": order[-1]}

    def choice(self, data: JsonValue) -> str:
        return json.dumps(data, ensure_ascii=False)

    def chosen(self, item: Item, data: JsonValue) -> str:
        if not isinstance(data, dict):
            return ""
        return f"+ {label_of(item, data.get('best'))}, − {label_of(item, data.get('worst'))}"
