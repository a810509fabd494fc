"""Answers of one arm on one occasion, as participants × items, and several of them aligned: what the health checks read."""

from __future__ import annotations

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
