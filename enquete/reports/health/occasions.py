"""Rows of the response table as the health checks want them: one arm on one occasion, the block beside each answer."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from enquete.analysis.answers import Answers, read_answers
from enquete.analysis.health.expected import Expected, read_expected
from enquete.reports.reading import RunReading

KEY = ["methodology", "phase", "arm", "session", "round", "turn", "participant", "item_id"]


def with_blocks(reading: RunReading, frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `block`: the instrument part that an item was shown in; "" where the ledger has no answer.

    Positions count within a part, so that without it no order over several parts is known.
    """
    stages = frame[["methodology", "phase"]].drop_duplicates().itertuples(index=False)
    parts = [_parts(reading, str(name), str(phase)) for name, phase in stages]
    known = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*KEY, "block"])
    given = frame[KEY].astype({"round": "int64", "turn": "int64"})
    return frame.assign(block=given.merge(known, how="left", on=KEY)["block"].fillna("").to_numpy())


def _parts(reading: RunReading, name: str, phase: str) -> pd.DataFrame:
    answers = reading.answers(name, phase).rename(columns={"item": "item_id", "part": "block"})
    return answers.assign(methodology=name, phase=phase)[[*KEY, "block"]]


def answers(rows: pd.DataFrame) -> Answers:
    """Closed items of one arm, methodology, phase and round. An item asked again in a later turn counts as first asked."""
    once = rows.drop_duplicates(["participant", "item_id"])
    return read_answers(once.rename(columns={"item_id": "item"}))


def expected(rows: pd.DataFrame) -> Expected | None:
    """The probabilities behind `answers`; None where single answers were asked for."""
    once = rows.drop_duplicates(["participant", "item_id"]).rename(columns={"item_id": "item"})
    return read_expected(read_answers(once), once)


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows for `nonresponse`: an item that is asked in several rounds or turns is several items."""
    places = [
        rows[place].astype(str).radd(f"{place} ") + "/"
        for place in ("session", "round", "turn")
        if rows[place].nunique() > 1
    ]
    item = rows["item_id"].astype(str)
    for place in reversed(places):
        item = place + item
    return rows.assign(item=item)


def occasion(rows: pd.DataFrame, phase: str, number: int | None = None) -> pd.DataFrame:
    """Rows of one phase, and of one round where it is named."""
    own = rows[rows["phase"].eq(phase)]
    return own if number is None else own[own["round"].eq(number)]


def closed(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["scale_min"].notna()]


def rounds(rows: pd.DataFrame) -> list[int]:
    """Rounds with closed items that somebody answered, in order."""
    return _sorted(closed(rows).loc[closed(rows)["value"].notna(), "round"])


def phases(rows: pd.DataFrame) -> list[str]:
    return sorted(str(phase) for phase in rows["phase"].unique())


def _sorted(values: Iterable[object]) -> list[int]:
    return sorted({int(str(value)) for value in values})
