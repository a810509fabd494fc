"""The dissent map: where the panel falls into camps, who holds out against it on which side, and why, in their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from enquete.analysis.panel.holdouts import HoldOuts, camps, hold_outs
from enquete.graphs.delphi.ratings import Panel
from enquete.reports.context import tally

QUOTED = 20  # agents quoted a side; all are counted, all are in the response table

READ = ["participant", "item_id", "value", "text", "agent_name", "stakeholder_type"]

Kind = Literal["camps", "hold_outs", "scattered"]
"""Two sides of the panel; a minority that stayed off the median; neither, the ratings are merely spread."""


def dissent(panel: Panel, ratings: Sequence[Mapping[str, Any]], rounds: Mapping[int, pd.DataFrame]) -> dict[str, Any]:
    """Who stands where after the last revision; empty before one.

    disagreements: the ratings that stay disputed (IQR or A beyond the instrument's limits, or split). hold_outs: the other ratings on
    which somebody holds out. medians_shown: what the panel was told, by item.

    ratings: of `ratings.described`; rounds: the rows of each round, for names, types and reasons.
    """
    if panel.revised is None:
        return {"disagreements": [], "hold_outs": [], "medians_shown": {}}
    rows = rounds[panel.revised][READ]
    asked = set(rows["item_id"])
    last = [one for one in ratings if one["round"] == panel.revised and one["item"] in asked]
    stands = [_stand(one, panel, panel.revised) for one in last]
    # Most of a panel's ratings are shown nowhere: who stands where is told of those that are.
    disputed = [one for one in stands if one.rating["label"] == "disagreement"]
    held = [one for one in stands if one.rating["label"] != "disagreement" and one.n_holding_out]
    return {
        "disagreements": [_told(one, rows) for one in disputed],
        "hold_outs": [_told(one, rows) for one in held],
        "medians_shown": {one.rating["item"]: one.found.median for one in stands},
    }


@dataclass(frozen=True)
class _Stand:
    """Who stands below and above on one item, and who of them stood there in the round before. Distances are from the
    median that the panel was shown."""

    rating: Mapping[str, Any]
    found: HoldOuts
    before: pd.Series[float]
    kind: Kind
    below: tuple[str, ...]
    above: tuple[str, ...]
    stood: frozenset[str]
    n_between: int | None = None
    parts: tuple[float, float] | None = None  # highest rating of the lower camp, lowest of the upper

    @property
    def n_holding_out(self) -> int:
        return len(self.stood) if self.kind == "hold_outs" else 0


def _stand(rating: Mapping[str, Any], panel: Panel, number: int) -> _Stand:
    final, shown = panel.rated(rating["theme"], rating["dimension"], number), panel.shown(number - 1, rating["item"])
    before = _before(panel, rating, number, final)
    scale = panel.instrument.scale_of(rating["dimension"])
    found = hold_outs(final, before, median=shown, distance=(scale.max - scale.min) / 2)
    split = camps(final, polarised=bool(rating["polarised"]))
    if split is not None:
        stood = before.le(split.low) & final.le(split.low) | before.ge(split.high) & final.ge(split.high)
        there = frozenset(map(str, before.index[stood]))
        return _Stand(rating, found, before, "camps", split.below, split.above, there, split.n_between,
                      (split.low, split.high))  # fmt: skip
    both = (*found.below, *found.above)
    kind: Kind = "hold_outs" if both else "scattered"
    return _Stand(rating, found, before, kind, found.below, found.above, frozenset(both))


def _told(stand: _Stand, rows: pd.DataFrame) -> dict[str, Any]:
    """Both sides of one item, with names and words. rows: answers of the last round."""
    own = rows[rows["item_id"].eq(stand.rating["item"])].to_dict("records")
    people = {row["participant"]: row for row in own}
    earlier = dict(zip(stand.before.index, stand.before.tolist(), strict=True))
    below, above = ([people[who] for who in side] for side in (stand.below, stand.above))
    median = stand.found.median or 0.0
    return {
        **stand.rating,
        "kind": stand.kind,
        "median_shown": stand.found.median,
        "distance": stand.found.distance,
        "n_paired": stand.found.n_paired,
        "n_holding_out": stand.n_holding_out,
        "n_between": stand.n_between,
        "camps": stand.parts,
        "mean_gap": stand.found.mean_gap,
        "below": _side(below, stand.stood, earlier, median),
        "above": _side(above, stand.stood, earlier, median),
        "by_type": _by_type([row for row in own if pd.notna(row["value"])], stand),
    }


def _before(panel: Panel, rating: Mapping[str, Any], number: int, final: pd.Series[float]) -> pd.Series[float]:
    """The round before, for those who are in this one, too; NaN throughout where there is none."""
    if number - 1 not in panel.tables:
        return final * float("nan")
    return panel.rated(rating["theme"], rating["dimension"], number - 1).reindex(final.index)


def _side(
    members: Sequence[Mapping[Any, Any]], stood: frozenset[str], before: Mapping[str, float], median: float
) -> dict[str, Any]:
    """One side: everybody by id and type, some in their words: those first who gave a reason and came no closer."""

    def last(row: Mapping[Any, Any]) -> tuple[bool, bool, bool]:
        closer = abs(row["value"] - median) < abs(before[row["participant"]] - median)
        return row["text"] == "", closer, row["participant"] not in stood

    return {
        "n": len(members),
        "n_stayed": sum(row["participant"] in stood for row in members),
        "by_type": tally(row["stakeholder_type"] for row in members),
        "participants": [row["participant"] for row in members],
        "quoted": [
            _quoted(row, row["participant"] in stood, before[row["participant"]])
            for row in sorted(members, key=last)[:QUOTED]
        ],
    }


def _quoted(row: Mapping[Any, Any], stayed: bool, before: float) -> dict[str, Any]:
    return {
        "participant": row["participant"],
        "name": row["agent_name"],
        "stakeholder_type": row["stakeholder_type"],
        "value": row["value"],
        "before": None if pd.isna(before) else before,
        "stayed": stayed,
        "reason": row["text"],
    }


def _by_type(rated: Sequence[Mapping[Any, Any]], stand: _Stand) -> list[dict[str, Any]]:
    """By stakeholder type: who rated, and who of them stands on which side."""
    sides = {"n_below": set(stand.below), "n_above": set(stand.above)}
    counts = {
        name: tally(row["stakeholder_type"] for row in rated if row["participant"] in side)
        for name, side in sides.items()
    }
    everybody = tally(row["stakeholder_type"] for row in rated)
    return [
        {"stakeholder_type": kind, "n_rated": n, **{name: found.get(kind, 0) for name, found in counts.items()}}
        for kind, n in sorted(everybody.items())
    ]
