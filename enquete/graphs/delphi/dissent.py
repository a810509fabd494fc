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

Kind = Literal["camps", "hold_outs", "scattered"]
"""Two sides of the panel; a minority that stayed off the median; neither, the ratings are merely spread."""


def dissent(panel: Panel, ratings: Sequence[Mapping[str, Any]], rounds: Mapping[int, pd.DataFrame]) -> dict[str, Any]:
    """Who stands where after the last revision; empty before one.

    disagreements: the ratings that stay disputed (IQR or A beyond the instrument's limits). hold_outs: the other ratings on
    which somebody holds out. medians_shown: what the panel was told, by item.

    ratings: of `ratings.described`; rounds: the rows of each round, for names, types and reasons.
    """
    if panel.revised is None:
        return {"disagreements": [], "hold_outs": [], "medians_shown": {}}
    rows = dict(list(rounds[panel.revised].groupby("item_id")))
    last = [one for one in ratings if one["round"] == panel.revised and one["item"] in rows]
    stands = [_stand(one, panel, panel.revised) for one in last]
    # Most of a panel's ratings are shown nowhere: who stands where is told of those that are.
    disputed = [one for one in stands if one.rating["label"] == "disagreement"]
    held = [one for one in stands if one.rating["label"] != "disagreement" and one.n_holding_out]
    return {
        "disagreements": [_told(one, rows[one.rating["item"]]) for one in disputed],
        "hold_outs": [_told(one, rows[one.rating["item"]]) for one in held],
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
    split = camps(final, rating["agreement"], polarised_below=panel.instrument.disagreement.polarised_below)
    if split is not None:
        stood = before.le(split.low) & final.le(split.low) | before.ge(split.high) & final.ge(split.high)
        there = frozenset(map(str, before.index[stood]))
        return _Stand(rating, found, before, "camps", split.below, split.above, there, split.n_between,
                      (split.low, split.high))  # fmt: skip
    both = (*found.below, *found.above)
    kind: Kind = "hold_outs" if both else "scattered"
    return _Stand(rating, found, before, kind, found.below, found.above, frozenset(both))


def _told(stand: _Stand, rows: pd.DataFrame) -> dict[str, Any]:
    """Both sides of one item, with names and words. rows: its answers of the last round."""
    people = rows.set_index("participant")
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
        "below": _side(people.loc[list(stand.below)], stand.stood, stand.before, median),
        "above": _side(people.loc[list(stand.above)], stand.stood, stand.before, median),
        "by_type": _by_type(people[people["value"].notna()], set(stand.below), set(stand.above)),
    }


def _before(panel: Panel, rating: Mapping[str, Any], number: int, final: pd.Series[float]) -> pd.Series[float]:
    """The round before, for those who are in this one, too; NaN throughout where there is none."""
    if number - 1 not in panel.tables:
        return final * float("nan")
    return panel.rated(rating["theme"], rating["dimension"], number - 1).reindex(final.index)


def _side(members: pd.DataFrame, stood: frozenset[str], before: pd.Series[float], median: float) -> dict[str, Any]:
    """One side: everybody by id and type, some in their words: those first who gave a reason and came no closer."""
    stayed = pd.Series([who in stood for who in members.index], index=members.index, dtype=bool)
    earlier = before.reindex(members.index)
    closer = (members["value"] - median).abs() < (earlier - median).abs()
    keys = pd.DataFrame({"silent": members["text"].eq(""), "closer": closer, "moved": ~stayed})
    order = keys.sort_values(list(keys.columns), kind="stable").index
    quoted = [_quoted(who, members.loc[who], bool(stayed[who]), earlier[who]) for who in order[:QUOTED]]
    return {
        "n": len(members),
        "n_stayed": int(stayed.sum()),
        "by_type": tally(members["stakeholder_type"]),
        "participants": [str(who) for who in members.index],
        "quoted": quoted,
    }


def _quoted(who: str, row: pd.Series[Any], stayed: bool, before: float) -> dict[str, Any]:
    return {
        "participant": who,
        "name": row["agent_name"],
        "stakeholder_type": row["stakeholder_type"],
        "value": row["value"],
        "before": None if pd.isna(before) else before,
        "stayed": stayed,
        "reason": row["text"],
    }


def _by_type(rated: pd.DataFrame, below: set[str], above: set[str]) -> list[dict[str, Any]]:
    """By stakeholder type: who rated, and who of them stands on which side."""
    return [
        {
            "stakeholder_type": str(kind),
            "n_rated": len(members),
            "n_below": len(below.intersection(members.index)),
            "n_above": len(above.intersection(members.index)),
        }
        for kind, members in rated.groupby("stakeholder_type")
    ]
