"""The dissent map: on which themes the panel stays divided, who holds out on which side, and why, in their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from enquete.analysis.holdouts import hold_outs
from enquete.graphs.delphi.ratings import Panel

QUOTED = 20  # hold-outs quoted a side; all are counted, all are in the response table
NEAREST, FARTHEST = 1.0, 2.0  # scale points


def disagreements(
    panel: Panel, ratings: Sequence[Mapping[str, Any]], rounds: Mapping[int, pd.DataFrame]
) -> list[dict[str, Any]]:
    """What the last revision still leaves disputed: IQR or A beyond the instrument's limits. None before a revision.

    ratings: of `ratings.described`; rounds: the rows of each round, for names, types and reasons.
    """
    if panel.revised is None:
        return []
    rows = dict(list(rounds[panel.revised].groupby("item_id")))
    disputed = [one for one in ratings if one["round"] == panel.revised and one["label"] == "disagreement"]
    return [{**one, **_divided(one, panel, panel.revised, rows[one["item"]])} for one in disputed]


def distance_of(iqr: float | None) -> float:
    """From how many scale points off the median someone holds out: half the IQR, at least one, at most two.

    Camps at the ends (IQR 4) are told from those who merely lean; camps on 2 and 4 (IQR 2) are not lost.
    """
    return FARTHEST if iqr is None else min(max(iqr / 2, NEAREST), FARTHEST)


def _divided(rating: Mapping[str, Any], panel: Panel, number: int, rows: pd.DataFrame) -> dict[str, Any]:
    """Both sides of one disputed item. Distances are from the median that the panel was shown."""
    final, shown = panel.rated(rating["theme"], rating["dimension"], number), panel.shown(number - 1, rating["item"])
    earlier = panel.rated(rating["theme"], rating["dimension"], number - 1) if number - 1 in panel.tables else None
    found = hold_outs(final, before=earlier, median=shown, distance=distance_of(rating["iqr"]))
    people = rows.set_index("participant")
    stayed = set(found.stayed)
    sides = {
        side: _camp(people.loc[list(members)], stayed, earlier, found.median or 0.0)
        for side, members in (("below", found.below), ("above", found.above))
    }
    return {
        "median_shown": shown,
        "distance": found.distance,
        "n_holding_out": len(found.below) + len(found.above),
        "n_stayed": len(found.stayed),
        "share_holding_out": found.share,
        "mean_gap": found.mean_gap,
        **sides,
        "by_type": _by_type(people[people["value"].notna()], set(found.below), set(found.above)),
    }


def _camp(members: pd.DataFrame, stayed: set[str], earlier: pd.Series[float] | None, median: float) -> dict[str, Any]:
    """One side: everybody by id and type, some in their words: those first who gave a reason and came no closer."""
    types = members["stakeholder_type"].value_counts()
    stood = pd.Series([who in stayed for who in members.index], index=members.index, dtype=bool)
    silent = members["text"].eq("")
    before = members["value"] if earlier is None else earlier.reindex(members.index)
    closer = (members["value"] - median).abs() < (before - median).abs()
    keys = pd.DataFrame({"silent": silent, "closer": closer, "moved": ~stood})
    order = keys.sort_values(list(keys.columns), kind="stable").index
    quoted = [_quoted(who, members.loc[who], bool(stood[who]), earlier) for who in order[:QUOTED]]
    return {
        "n": len(members),
        "n_stayed": int(stood.sum()),
        "by_type": dict(sorted(((str(k), int(n)) for k, n in types.items()), key=lambda pair: (-pair[1], pair[0]))),
        "participants": [str(who) for who in members.index],
        "quoted": quoted,
    }


def _quoted(who: str, row: pd.Series[Any], stayed: bool, earlier: pd.Series[float] | None) -> dict[str, Any]:
    return {
        "participant": who,
        "name": row["agent_name"],
        "stakeholder_type": row["stakeholder_type"],
        "value": row["value"],
        "before": earlier.get(who) if earlier is not None else None,
        "stayed": stayed,
        "reason": row["text"],
    }


def _by_type(rated: pd.DataFrame, below: set[str], above: set[str]) -> list[dict[str, Any]]:
    """By stakeholder type: who rated, and who of them holds out on which side."""
    return [
        {
            "stakeholder_type": str(kind),
            "n_rated": len(members),
            "n_below": len(below.intersection(members.index)),
            "n_above": len(above.intersection(members.index)),
        }
        for kind, members in rated.groupby("stakeholder_type")
    ]
