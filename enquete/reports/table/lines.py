"""Answers as JSONL: a line for what an agent was asked at once. What holds for the whole run stands in instruments_used.json,
what holds for an item in codebook.json, and nowhere here; all of it on every row in all_responses.csv."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.reports.table.row import COLUMNS, OCCASION
from enquete.reports.writing import rows

SHARED = (
    *OCCASION, "agent_id", "agent_name", "stakeholder_type", "respondent", "memory_available", "baseline", "attempts",
    "prompt_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens",
)  # fmt: skip
"""Columns that all answers of a line have in common; one that differs (asked again, say) stands beside its answer too."""
OWN = ("status", "value", "choice", "text", "content", "confidence", "distribution", "item_position", "option_order")
NOTHING = (None, "", 0)
"""Left out of a line where its first row has them; of an answer only the first two, since 0 may be one."""


def lines(frame: pd.DataFrame) -> Iterator[dict[str, JsonValue]]:
    """One object a line, `answers` by item in the order shown.

    Left out: what is empty, the status "ok", a place that is that of the answer in its line, and options in ascending order.
    """
    shared = [name for name in SHARED if name in frame]
    own = [name for name in OWN if name in frame] + [str(name) for name in frame.columns if name not in COLUMNS]
    beside = slice(1, 1 + len(shared))
    together = itemgetter(*(1 + shared.index(name) for name in (*OCCASION, "prompt_hash") if name in shared))
    for _, found in groupby(rows(frame[["item_id", *shared, *own]]), key=together):
        block = list(found)
        first = block[0][beside]
        said = {name: value for name, value in zip(shared, first, strict=True) if value not in NOTHING}
        answers: dict[str, JsonValue] = {}
        for place, row in enumerate(block, start=1):
            answer = _answer(dict(zip(own, row[beside.stop :], strict=True)), place)
            if row[beside] != first:
                its = zip(shared, row[beside], strict=True)
                answer |= {name: value for name, value in its if name in said and value != said[name]}
            answers[str(row[0])] = {name: value for name, value in answer.items() if value is not None and value != ""}
        yield {**said, "answers": answers}


def _answer(found: dict[str, Any], place: int) -> dict[str, Any]:
    if found["status"] == "ok":
        del found["status"]
    if found["item_position"] == place:
        del found["item_position"]
    if _ascending(found["option_order"]):
        del found["option_order"]
    if isinstance(found["value"], float) and found["value"].is_integer():
        found["value"] = int(found["value"])
    return found


@lru_cache(maxsize=2**12)
def _ascending(order: str | None) -> bool:
    options = json.loads(order) if order else []
    return all(isinstance(option, int) for option in options) and options == sorted(options)
