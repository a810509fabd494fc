"""Answers of one arm on one occasion as participants × items, read from tidy rows, and several of them aligned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from enquete.analysis.estimates import Floats
from enquete.state.asking import RESPONDED

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts: TypeAlias = "NDArray[np.object_] | pd.Categorical[Any]"
"""A column as it is: categories take a byte or four a row where objects take eight."""


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
    """Several arms or waves over the participants and items that all hold; an answer missing in one is NaN in all."""

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
            item = items[differs][0]
            raise ValueError(f"item {item!r} has another scale in another arm; only like scales are compared")
    values = [t.centred[np.ix_(r, c)] for t, r, c in zip(tables, rows, columns, strict=True)]
    known = np.logical_and.reduce([~np.isnan(x) for x in values])
    filled = tuple(np.where(known, x, np.nan) for x in values)
    return Aligned(participants, items, filled, first.reverse[columns[0]], rows, columns)


def row_means(x: Floats) -> Floats:
    """Over what is known of a row; NaN where nothing is."""
    known = ~np.isnan(x)
    n = known.sum(axis=1)
    sums = np.where(known, x, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, n, out=np.full(len(x), np.nan), where=n > 0)
    return means


GAPS = ("refused", "invalid", "failed")
STATUSES = (*RESPONDED, *GAPS, "not_reached")

_NEEDED = ("participant", "stakeholder_type", "item", "value", "scale_min", "scale_max", "status")


@dataclass(frozen=True)
class _AnswerRows:
    """The columns that a table is read from, in arrays: frames cost more to handle than these numbers to read."""

    participant: Texts
    stakeholder_type: Texts
    item: Texts
    status: Texts
    value: Floats
    scale_min: Floats
    scale_max: Floats
    family: Texts
    reverse: Flags
    position: Floats
    order: Texts
    block: Texts

    def where(self, kept: Flags) -> _AnswerRows:
        """All of them are not copied."""
        return self if kept.all() else self.taking(kept)

    def taking(self, kept: Flags | Codes) -> _AnswerRows:
        return _AnswerRows(*(getattr(self, column.name)[kept] for column in fields(self)))

    def refuse(self, wrong: Flags, problem: str, column: str = "") -> None:
        """ValueError about the first row that is wrong."""
        if wrong.any():
            row = int(wrong.argmax())
            given = getattr(self, column)[row] if column else ""
            value = f", {column} {given:g}" if isinstance(given, float) else f", {column} {given!r}" if column else ""
            scale = f" {self.scale_min[row]:g}–{self.scale_max[row]:g}" if problem.endswith("scale") else ""
            raise ValueError(f"participant {self.participant[row]!r}, item {self.item[row]!r}{value}: {problem}{scale}")


def read_answers(frame: pd.DataFrame) -> Answers:
    """Rows of one arm on one occasion (phase, round): one per participant and item.

    Needed columns: participant, stakeholder_type, item, value, scale_min, scale_max, status. Read where there: family,
    reverse_keyed, item_position (1-based; 0 or NaN unknown), option_order (JSON list or tuple of option values as
    shown), block (what was shown together). Rows without a scale are left out; a value counts only where the status
    carries an answer. Raises ValueError naming the column, participant, item and value that are wrong, and what would
    be right.
    """
    closed = _read(frame)
    closed = closed.where(~np.isnan(closed.scale_min))
    who, participants = pd.factorize(closed.participant, sort=True)
    what, items = pd.factorize(closed.item, sort=True)
    _check(closed, who, what)
    facts = closed.taking(_alike(closed, what))
    value = np.where(np.isin(closed.status, RESPONDED), closed.value, np.nan)
    orders, order, chosen = _options(closed, value)

    def matrix(values: Floats) -> Floats:
        filled = np.full((len(participants), len(items)), np.nan)
        filled[who, what] = values
        return filled

    return Answers(
        participants=pd.Index(np.asarray(participants)),
        items=pd.Index(np.asarray(items)),
        types=np.asarray(closed.stakeholder_type[_firsts(who)], dtype=object),
        families=np.asarray(facts.family, dtype=object),
        low=facts.scale_min,
        high=facts.scale_max,
        reverse=facts.reverse,
        value=matrix(value),
        position=matrix(np.where(closed.position >= 1, closed.position, np.nan)),
        block=_whole(matrix(pd.factorize(closed.block)[0].astype(float))),
        option_order=_whole(matrix(order.astype(float))),
        chosen=matrix(chosen),
        orders=orders,
    )


def _whole(matrix: Floats) -> Codes:
    return np.nan_to_num(matrix, nan=-1).astype(np.int64)


def _read(frame: pd.DataFrame) -> _AnswerRows:
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")

    def texts(name: str) -> Texts:
        if name not in frame.columns:
            return np.full(len(frame), "", dtype=object)
        column = frame[name].array
        return column if isinstance(column, pd.Categorical) else frame[name].to_numpy(dtype=object)

    def numbers(name: str, errors: Literal["raise", "coerce"] = "raise") -> Floats:
        if name not in frame.columns:
            return np.full(len(frame), np.nan)
        return np.asarray(pd.to_numeric(frame[name], errors=errors).to_numpy(dtype=np.float64, na_value=np.nan))

    family = texts("family")
    if pd.isna(family).any():
        family = np.where(pd.isna(family), "", np.asarray(family, dtype=object))
    return _AnswerRows(
        texts("participant"), texts("stakeholder_type"), texts("item"), texts("status"), numbers("value"),
        numbers("scale_min"), numbers("scale_max"), family,
        np.asarray(texts("reverse_keyed") == True, dtype=bool),  # noqa: E712 - by element
        numbers("item_position", "coerce"), texts("option_order"), texts("block"),
    )  # fmt: skip


def _check(rows: _AnswerRows, person: Codes, item: Codes) -> None:
    """ValueError where something is answered twice, of unknown status, off its scale, or by an agent of two types."""
    rows.refuse(_doubled(person, item), "answered twice; give one arm, phase and round at a time")
    rows.refuse(~np.isin(rows.status, STATUSES), f"has an unknown status; known are {', '.join(STATUSES)}", "status")
    rows.refuse(~(rows.scale_max > rows.scale_min), "needs scale_max > scale_min", "scale_max")
    off = (rows.value < rows.scale_min) | (rows.value > rows.scale_max) | ((rows.value - rows.scale_min) % 1 > 0)
    rows.refuse(off & np.isin(rows.status, RESPONDED), "is not a point of the item's scale", "value")
    kind = pd.factorize(rows.stakeholder_type)[0]
    rows.refuse(_differs(person, kind), "has two stakeholder types", "stakeholder_type")


def _doubled(person: Codes, item: Codes) -> Flags:
    cell = person * (item.max(initial=0) + 1) + item
    return np.asarray(_firsts(cell)[cell] != np.arange(len(cell)), dtype=bool)


def _firsts(group: Codes) -> Codes:
    """The first row of each group, by its number: where a place is written several times, the last stays."""
    first = np.zeros(group.max(initial=-1) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def _differs(group: Codes, *columns: NDArray[Any] | Texts) -> Flags:
    """Rows that are not in every column as the first of their group."""
    first = _firsts(group)[group]
    return np.asarray(np.logical_or.reduce([column != column[first] for column in columns]), dtype=bool)


def _alike(closed: _AnswerRows, what: Codes) -> Codes:
    """The first row of each item, whose scale, keying and family all its rows have."""
    differs = _differs(what, closed.scale_min, closed.scale_max, closed.reverse, closed.family)
    closed.refuse(differs, "scale, keying or family differs between the item's rows; it must be one")
    return _firsts(what)


def _options(closed: _AnswerRows, value: Floats) -> tuple[tuple[tuple[float, ...], ...], Codes, Floats]:
    """The distinct option orders, each row's index into them (−1 unknown), and the place of its answer."""
    shown: Any = closed.order
    if not isinstance(shown, pd.Categorical):
        shown = pd.Series(shown, dtype=object).map(lambda order: tuple(order) if isinstance(order, list) else order)
    code, distinct = pd.factorize(shown)
    orders = tuple(_parsed(order) for order in distinct)
    known = np.array([*map(bool, orders), False])  # code −1, pandas' own for missing, is the last
    code = np.where(known[code], code, -1).astype(np.int64)
    table = np.full((len(orders) + 1, max([1, *map(len, orders)])), np.nan)
    for row, order in enumerate(orders):
        table[row, : len(order)] = order
    chosen = np.full(len(code), np.nan)
    for place in reversed(range(table.shape[1])):
        chosen[table[code, place] == value] = place
    closed.refuse((code >= 0) & ~np.isnan(value) & np.isnan(chosen), "is not among the options shown", "value")
    return orders, code, chosen


def _parsed(order: object) -> tuple[float, ...]:
    """Option values as shown; () where unknown or not numbers."""
    try:
        values = json.loads(order) if isinstance(order, str) and order else order
        return tuple(float(value) for value in values) if isinstance(values, list | tuple) else ()
    except json.JSONDecodeError:
        raise ValueError(f"option_order {order!r} is not a JSON list such as [1, 2, 3]") from None
    except (TypeError, ValueError):
        return ()
