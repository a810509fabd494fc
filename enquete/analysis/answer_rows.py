"""Tidy rows of answers, checked, as a table of participants × items."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from enquete.analysis.answer_table import Answers, Codes, Floats

RESPONDED = ("ok", "repaired")
GAPS = ("refused", "invalid", "failed")
STATUSES = (*RESPONDED, *GAPS, "not_reached")

_NEEDED = ("participant", "stakeholder_type", "item", "value", "scale_min", "scale_max", "status")
_READ = ("family", "reverse_keyed", "item_position", "option_order", "block")
_OF_AN_ITEM = ["scale_min", "scale_max", "reverse_keyed", "family"]


def read_answers(frame: pd.DataFrame) -> Answers:
    """Rows of one arm on one occasion (phase, round): one per participant and item.

    Needed columns: participant, stakeholder_type, item, value, scale_min, scale_max, status. Read where there: family,
    reverse_keyed, item_position (1-based; 0 or NaN unknown), option_order (JSON list or tuple of option values as shown),
    block (what was shown together). Rows without a scale are left out; a value counts only where the status carries an
    answer. Raises ValueError naming the column, participant, item and value that are wrong, and what would be right.
    """
    rows = _checked(frame)
    person, participants = pd.factorize(rows["participant"], sort=True)
    types = rows.drop_duplicates("participant").set_index("participant")["stakeholder_type"].reindex(participants)
    closed = rows[rows["scale_min"].notna()]
    who = person[rows["scale_min"].notna().to_numpy()]
    what, items = pd.factorize(closed["item"], sort=True)
    facts = _item_facts(closed, items)
    value = closed["value"].where(closed["status"].isin(RESPONDED)).to_numpy(dtype=float)
    orders, order, chosen = _options(closed, value)
    shape = (len(participants), len(items))

    def matrix(values: Floats) -> Floats:
        filled = np.full(shape, np.nan)
        filled[who, what] = values
        return filled

    position = pd.to_numeric(closed["item_position"], errors="coerce").to_numpy(dtype=float)
    return Answers(
        participants=pd.Index(participants),
        items=pd.Index(items),
        types=types.to_numpy(dtype=object),
        families=facts["family"].to_numpy(dtype=object),
        low=facts["scale_min"].to_numpy(dtype=float),
        high=facts["scale_max"].to_numpy(dtype=float),
        reverse=facts["reverse_keyed"].to_numpy(dtype=bool),
        value=matrix(value),
        position=matrix(np.where(position >= 1, position, np.nan)),
        block=_whole(matrix(pd.factorize(closed["block"])[0].astype(float))),
        option_order=_whole(matrix(order.astype(float))),
        chosen=matrix(chosen),
        orders=orders,
    )


def _whole(matrix: Floats) -> Codes:
    return np.nan_to_num(matrix, nan=-1).astype(np.int64)


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy with every column of the right type, or ValueError."""
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")
    rows = frame[[name for name in (*_NEEDED, *_READ) if name in frame.columns]].assign(
        **{name: pd.to_numeric(frame[name]).astype(float) for name in ("value", "scale_min", "scale_max")}
    )
    defaults: dict[str, str | float] = {"family": "", "block": "", "option_order": "", "item_position": np.nan}
    rows = rows.assign(**{name: value for name, value in defaults.items() if name not in rows.columns})
    keyed = rows["reverse_keyed"].eq(True) if "reverse_keyed" in rows.columns else False
    rows = rows.assign(reverse_keyed=keyed, family=rows["family"].astype(object).fillna("").astype(str))
    doubled = rows.duplicated(["participant", "item"])
    _refuse(rows, doubled, "answered twice; give one arm, phase and round at a time")
    _refuse(rows, ~rows["status"].isin(STATUSES), f"has an unknown status; known are {', '.join(STATUSES)}", "status")
    _refuse(
        rows,
        rows["scale_min"].notna() & ~(rows["scale_max"] > rows["scale_min"]),
        "needs scale_max > scale_min",
        "scale_max",
    )
    off = rows["value"].lt(rows["scale_min"]) | rows["value"].gt(rows["scale_max"])
    broken = rows["scale_min"].notna() & rows["value"].sub(rows["scale_min"]).mod(1).gt(0)
    _refuse(rows, (off | broken) & rows["status"].isin(RESPONDED), "is not a point of the item's scale", "value")
    kinds = rows.drop_duplicates(["participant", "stakeholder_type"])
    _refuse(kinds, kinds.duplicated("participant"), "has two stakeholder types", "stakeholder_type")
    return rows


def _refuse(rows: pd.DataFrame, wrong: pd.Series[bool], problem: str, column: str = "") -> None:
    if wrong.any():
        row = rows[wrong].iloc[0]
        given = row[column] if column else ""
        value = f", {column} {given:g}" if isinstance(given, float) else f", {column} {given!r}" if column else ""
        scale = f" {row['scale_min']:g}–{row['scale_max']:g}" if problem.endswith("scale") else ""
        raise ValueError(f"participant {row['participant']!r}, item {row['item']!r}{value}: {problem}{scale}")


def _item_facts(closed: pd.DataFrame, items: pd.Index[str]) -> pd.DataFrame:
    facts = closed.drop_duplicates(["item", *_OF_AN_ITEM])
    doubled = facts.duplicated("item")
    _refuse(facts, doubled, "scale, keying or family differs between the item's rows; it must be one")
    return facts.set_index("item")[_OF_AN_ITEM].reindex(items)


def _options(closed: pd.DataFrame, value: Floats) -> tuple[tuple[tuple[float, ...], ...], Codes, Floats]:
    """The distinct option orders, each row's index into them (−1 unknown), and the place of its answer."""
    shown = closed["option_order"].map(lambda order: tuple(order) if isinstance(order, list) else order)
    code, distinct = pd.factorize(shown)
    orders = tuple(_parsed(order) for order in distinct)
    known = np.array([*map(bool, orders), False])  # code −1, pandas' own for missing, is the last
    code = np.where(known[code], code, -1).astype(np.int64)
    table = np.full((len(orders) + 1, max([1, *map(len, orders)])), np.nan)
    for row, order in enumerate(orders):
        table[row, : len(order)] = order
    match = table[code] == value[:, None]
    found = match.any(axis=1)
    unknown = pd.Series((code >= 0) & ~np.isnan(value) & ~found, index=closed.index)
    _refuse(closed, unknown, "is not among the options shown", "value")
    return orders, code, np.where(found, match.argmax(axis=1), np.nan)


def _parsed(order: object) -> tuple[float, ...]:
    """Option values as shown; () where unknown or not numbers."""
    try:
        values = json.loads(order) if isinstance(order, str) and order else order
        return tuple(float(value) for value in values) if isinstance(values, list | tuple) else ()
    except json.JSONDecodeError:
        raise ValueError(f"option_order {order!r} is not a JSON list such as [1, 2, 3]") from None
    except (TypeError, ValueError):
        return ()
