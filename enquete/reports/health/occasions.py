"""Rows of the response table as the health checks want them: one arm on one occasion, the block beside each answer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from enquete.analysis.answers import Answers, read_answers
from enquete.analysis.health.expected import Expected, read_expected
from enquete.reports.context import chosen
from enquete.reports.run_reading import RunReading

READ = [
    "phase", "arm", "arm_role", "session", "round", "turn", "participant", "stakeholder_type", "item_id", "family",
    "dimension", "reverse_keyed", "scale_min", "scale_max", "status", "value", "content", "temperature", "elicitation",
    "distribution", "item_position", "option_order", "attempts", "block",
]  # fmt: skip
"""The columns that the checks in this house read."""
OF_ANSWERS = [
    "participant", "stakeholder_type", "item_id", "family", "reverse_keyed", "scale_min", "scale_max", "status",
    "value", "item_position", "option_order", "block",
]  # fmt: skip
"""Those of them that `answers` reads."""
PLACES = ("round", "turn")
KEY = ["methodology", "phase", "arm", "session", "round", "turn", "participant", "item_id"]


def with_blocks(reading: RunReading, frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `block`: the instrument part that an item was shown in; "" where the ledger has no answer.

    Positions count within a part, so that without it no order over several parts is known.
    """
    if "block" in frame:
        return frame
    known: dict[tuple[object, ...], str] = {}
    for name, phase in set(zip(frame["methodology"], frame["phase"], strict=True)):
        known |= {(name, phase, *place): part for *place, part in reading.parts(name, phase)}
    keys = zip(*(frame[column].tolist() for column in KEY), strict=True)
    return frame.assign(block=np.array([known.get(key, "") for key in keys], dtype=object))


def checkable(rows: pd.DataFrame) -> pd.DataFrame:
    """What the checks read of the table: choosing rows of it costs a fraction."""
    return rows[rows.columns.intersection(READ)]


def answers(rows: pd.DataFrame) -> Answers:
    """Closed items of one arm, methodology, phase and round. An item asked again in a later turn counts as first asked."""
    return read_answers(_once(rows, OF_ANSWERS))


def expected(rows: pd.DataFrame) -> Expected | None:
    """The probabilities behind `answers`; None where single answers were asked for."""
    if (
        "distribution" not in rows
        or not closed(rows[["scale_min", "distribution"]])["distribution"].fillna("").ne("").any()
    ):
        return None
    once = _once(rows, [*OF_ANSWERS, "distribution"])
    return read_expected(read_answers(once), once)


def _once(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """These columns alone; read_answers leaves out what has no scale."""
    own = rows[rows.columns.intersection(columns)]
    if any(rows[place].nunique() > 1 for place in ("session", "turn") if place in rows):
        own = own[~own.duplicated(["participant", "item_id"])]
    return own.rename(columns={"item_id": "item"})


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows for `nonresponse`: an item that is asked in several rounds or turns is several items."""
    places = [
        rows[place].astype(str).radd(f"{place} ") + "/" for place in ("session", *PLACES) if rows[place].nunique() > 1
    ]
    item = rows["item_id"].astype(str)
    for place in reversed(places):
        item = place + item
    return rows.assign(item=item)


def occasion(rows: pd.DataFrame, phase: str, number: int | None = None) -> pd.DataFrame:
    """Rows of one phase, and of one round where it is named."""
    own = chosen(rows, rows["phase"].eq(phase))
    return own if number is None else chosen(own, own["round"].eq(number))


def closed(rows: pd.DataFrame) -> pd.DataFrame:
    return chosen(rows, rows["scale_min"].notna())


def rounds(rows: pd.DataFrame) -> list[int]:
    """Rounds with closed items that somebody answered, in order."""
    return _sorted(rows.loc[rows["scale_min"].notna() & rows["value"].notna(), "round"].unique())


def phases(rows: pd.DataFrame) -> list[str]:
    return sorted(str(phase) for phase in rows["phase"].unique())


def _sorted(values: Iterable[object]) -> list[int]:
    return sorted({int(str(value)) for value in values})
