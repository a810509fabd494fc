"""Answers as JSONL: a line for what an agent was asked at once. What holds for the whole run stands in instruments_used.json,
what holds for an item in codebook.json, and nowhere here; all of it on every row in all_responses.csv."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.reports.table.row import COLUMNS, OCCASION
from enquete.reports.writing import records

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
    own = [*OWN, *(str(name) for name in frame.columns if name not in COLUMNS)]
    rows = records(frame[["item_id", *(name for name in (*SHARED, *own) if name in frame)]])
    for _, together in groupby(rows, key=lambda row: [row.get(name) for name in (*OCCASION, "prompt_hash")]):
        block = list(together)
        first = {name: value for name in SHARED if (value := block[0].get(name)) not in NOTHING}
        answers: dict[str, JsonValue] = {}
        for place, row in enumerate(block, start=1):
            answers[str(row["item_id"])] = _answer(row, own, first, place)
        yield {**first, "answers": answers}


def _answer(row: dict[str, Any], own: list[str], first: dict[str, Any], place: int) -> dict[str, JsonValue]:
    found = {name: row.get(name) for name in own}
    if found["status"] == "ok":
        del found["status"]
    if found["item_position"] == place:
        del found["item_position"]
    if _ascending(found["option_order"]):
        del found["option_order"]
    if isinstance(found["value"], float) and found["value"].is_integer():
        found["value"] = int(found["value"])
    found |= {name: row[name] for name, value in first.items() if row[name] != value}
    return {name: value for name, value in found.items() if value is not None and value != ""}


def _ascending(order: str | None) -> bool:
    options = json.loads(order) if order else []
    return all(isinstance(option, int) for option in options) and options == sorted(options)
