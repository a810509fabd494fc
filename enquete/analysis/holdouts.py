"""Who holds out: panelists whose final rating stays away from the group's median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.paired import require_unique

DISTANCE = 2.0  # scale points; on a five-point scale the neighbour of the median still agrees with it


@dataclass(frozen=True, slots=True)
class HoldOuts:
    """The dissent on one item. Ids in the order of the ratings."""

    n_rated: int
    n_missing: int
    median: float | None  # what the distance is from
    distance: float
    below: tuple[str, ...]
    above: tuple[str, ...]
    stayed: tuple[str, ...]  # of both: were as far off, on the same side, in the round before
    share: float | None  # hold-outs / n_rated
    mean_gap: float | None  # mean |rating − median| over all who rated, scale points


def hold_outs(
    final: pd.Series[float],
    *,
    before: pd.Series[float] | None = None,
    median: float | None = None,
    distance: float = DISTANCE,
) -> HoldOuts:
    """Panelists with |final − M| ≥ distance, by side, and which of them stood there already in the round before.

    final, before: ratings by participant, NaN where missing. median: the M that the panel was shown; by default the
    median of `final`. Without ratings M, share and gap are None. Raises ValueError for a distance of 0 or less or a
    doubled participant.
    """
    if distance <= 0:
        raise ValueError(f"distance must be above 0 scale points, not {distance:g}")
    for name, ratings in (("final", final), ("before", before)):
        if ratings is not None and ratings.index.has_duplicates:
            doubled = ratings.index[ratings.index.duplicated()][0]
            raise ValueError(f"{name} ratings: participant {doubled!r} occurs more than once")
    rated = final.dropna().astype(float)
    if rated.empty:
        return HoldOuts(0, len(final), median, distance, (), (), (), None, None)
    m = float(rated.median()) if median is None else median
    side = _side(rated, m, distance)
    out = side[side != 0]
    earlier = _side(before.reindex(out.index).astype(float), m, distance) if before is not None else out * 0
    return HoldOuts(
        n_rated=len(rated),
        n_missing=len(final) - len(rated),
        median=m,
        distance=distance,
        below=tuple(map(str, out.index[out < 0])),
        above=tuple(map(str, out.index[out > 0])),
        stayed=tuple(map(str, out.index[(earlier == out).to_numpy()])),
        share=len(out) / len(rated),
        mean_gap=float((rated - m).abs().mean()),
    )


def dissent_by_panelist(ratings: pd.DataFrame, *, distance: float = DISTANCE) -> pd.DataFrame:
    """On how many items each panelist holds out: an agent-level finding for `cross_table`.

    ratings: participants × items of the final round, NaN where missing; distances are from each item's median.
    Returns by participant n_items (rated), n_held_out, share (NaN without a rating), mean_gap (scale points, NaN likewise).
    Raises ValueError for a distance of 0 or less or a doubled label.
    """
    if distance <= 0:
        raise ValueError(f"distance must be above 0 scale points, not {distance:g}")
    require_unique(ratings, "ratings")
    gap = (ratings.astype(float) - ratings.astype(float).median()).abs()
    out, rated = gap.ge(distance).sum(axis=1), gap.notna().sum(axis=1)
    return pd.DataFrame(
        {"n_items": rated, "n_held_out": out, "share": out / rated.where(rated > 0), "mean_gap": gap.mean(axis=1)},
        index=ratings.index,
    )


def _side(ratings: pd.Series[float], m: float, distance: float) -> pd.Series[int]:
    """−1 below, 1 above, 0 nearer than `distance` or not rated."""
    gap = ratings - m
    return pd.Series(np.where(gap.abs() >= distance, np.sign(gap), 0), index=ratings.index).fillna(0).astype(int)
