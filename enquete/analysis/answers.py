"""Answers of one arm on one occasion as participants × items, read from tidy rows, and several of them aligned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Answers:
    """Closed items only. Matrices are participants × items, both sorted by name; NaN (or −1) where there is none."""

    participants: pd.Index[str]
    items: pd.Index[str]
    types: NDArray[np.object_]  # stakeholder type by participant
    families: NDArray[np.object_]  # by item
    low: Floats  # lowest and highest scale point, by item
    high: Floats
    reverse: Flags
    value: Floats  # raw
    position: Floats  # 1-based, in the order the items were shown
    block: Codes  # items shown together have one code
    option_order: Codes  # index into `orders`; −1 unknown
    chosen: Floats  # 0-based place of the chosen option in the order shown
    orders: tuple[tuple[float, ...], ...]  # option values as shown

    @property
    def points(self) -> Codes:
        """Number of scale points by item."""
        return (self.high - self.low + 1).astype(np.int64)

    @property
    def centred(self) -> Floats:
        """Distance from the midpoint in points of a five-point scale, as answered: −2 … 2."""
        return (self.value - (self.low + self.high) / 2) * 4 / (self.high - self.low)

    @property
    def rekeyed(self) -> Floats:
        """`centred` with reverse-keyed items turned round."""
        return np.where(self.reverse, -1.0, 1.0) * self.centred


@dataclass(frozen=True)
class Aligned:
    """Several arms or waves over the participants and items that all of them hold; an answer missing in one is NaN in all."""

    participants: pd.Index[str]
    items: pd.Index[str]
    values: tuple[Floats, ...]  # centred, in points of a five-point scale; reverse-keyed items as answered
    reverse: Flags
    rows: tuple[Codes, ...]  # where the common participants stand in each table
    columns: tuple[Codes, ...]

    @property
    def counts(self) -> dict[str, int]:
        known = ~np.isnan(self.values[0])
        return {
            "answers": int(known.sum()),
            "agents": int(known.any(axis=1).sum()),
            "items": int(known.any(axis=0).sum()),
        }

    def keeping(self, kept: Flags) -> Aligned:
        """With the answers outside `kept` (participants × items, or broadcast to it) taken out."""
        values = tuple(np.where(kept, x, np.nan) for x in self.values)
        return Aligned(self.participants, self.items, values, self.reverse, self.rows, self.columns)

    def part(self, matrices: Sequence[Floats]) -> list[Floats]:
        """The common rows and columns of one matrix of each table."""
        return [x[np.ix_(r, c)] for x, r, c in zip(matrices, self.rows, self.columns, strict=True)]


def aligned(tables: Sequence[Answers]) -> Aligned:
    """Tables over their common participants and items. Raises ValueError if an item's scale differs between them."""
    participants, items = tables[0].participants, tables[0].items
    for table in tables[1:]:
        participants, items = participants.intersection(table.participants), items.intersection(table.items)
    rows = tuple(t.participants.get_indexer(participants).astype(np.int64) for t in tables)
    columns = tuple(t.items.get_indexer(items).astype(np.int64) for t in tables)
    first = tables[0]
    for table, c in zip(tables, columns, strict=True):
        differs = (table.low[c] != first.low[columns[0]]) | (table.high[c] != first.high[columns[0]])
        if differs.any():
            raise ValueError(
                f"item {items[differs][0]!r} has another scale in another arm; only like scales are compared"
            )
    values = [t.centred[np.ix_(r, c)] for t, r, c in zip(tables, rows, columns, strict=True)]
    known = np.logical_and.reduce([~np.isnan(x) for x in values])
    filled = tuple(np.where(known, x, np.nan) for x in values)
    return Aligned(participants, items, filled, first.reverse[columns[0]], rows, columns)


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
