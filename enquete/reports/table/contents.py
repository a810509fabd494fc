"""The column `content`: what answers that were given lack (enquete/analysis/content.py). Derived when a table is made, so that
earlier runs and people's answers have it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from enquete.analysis.content import ALONE, Beside, normal, one_valued, text_note
from enquete.state.asking import Item

Columns = Mapping[str, Sequence[Any]]
_ROW = ("arm", "session", "round", "turn", "participant", "scale_min", "scale_max")
"""A row of closed answers: what an agent was asked on one occasion on one scale, in however many requests."""
_AGENT = ("arm", "session", "participant")
_ANSWER = ("arm", "session", "round", "turn", "participant", "item_id")


def beside(item: Item, items: Sequence[Item]) -> Beside:
    """What stood beside an item that is answered in words."""
    others = (other.wording for other in items if other.id != item.id)
    scales = (item, *(other for other in items if other.kind == "scale"))
    labels = dict.fromkeys(option.label for one in scales for option in one.options if option.label)
    return _beside((*(text for text in (item.wording, item.about) if text), *others), tuple(labels))


_beside = lru_cache(maxsize=2**12)(Beside)  # the same for all agents of a panel


class Contents:
    """Of one methodology in one phase, whose rows come some at a time: an agent is known by what it said before."""

    def __init__(self) -> None:
        self._said: dict[int, str] = {}  # item by a hash of who said what: texts of all agents would fill the memory

    def of(self, table: Columns, seen: Mapping[Any, Beside]) -> list[str]:
        """One code a row, "" where there is nothing to say."""
        codes = _one_valued(table)
        keys = zip(*(table[name] for name in _ANSWER), strict=True)
        agents = zip(*(table[name] for name in _AGENT), strict=True)
        for place, (key, agent, text) in enumerate(zip(keys, agents, table["text"], strict=True)):
            if not text or codes[place]:
                continue
            codes[place] = text_note(text, table["language"][place], seen.get(key, ALONE))
            # Reasons for a rating may well be the same for several.
            plain, item = normal(text) if table["value"][place] is None else "", table["item_id"][place]
            if plain and self._said.setdefault(hash((agent, plain)), item) != item:
                codes[place] = codes[place] or "same_text"
        return codes


def _one_valued(table: Columns) -> list[str]:
    """Answers given as probabilities are left out: their medians lie near to one another."""
    rows: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(table[name] for name in _ROW), strict=True)
    for place, (key, value, how) in enumerate(zip(keys, table["value"], table["elicitation"], strict=True)):
        if value is not None and key[-1] is not None and how == "point":
            rows.setdefault(key, []).append(place)
    codes = [""] * len(table["value"])
    for places in rows.values():
        if one_valued(np.array([table["value"][place] for place in places], dtype=float)):
            for place in places:
                codes[place] = "one_value"
    return codes
