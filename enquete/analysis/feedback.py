"""What is measured of a panel around its feedback: the medians of the others, and agents who hold out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.answers import Flags
from enquete.analysis.estimates import Floats, require_single
from enquete.analysis.panel import parting


def medians_of_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the median of the others' ratings of each item, for every participant; NaN where there are no others.

    The median of all, the own rating among them, is nearer to that rating than to one that was drawn anew.

    Args:
        ratings: participants × items, NaN where missing. Source: leave-one-out as in Quenouille 1956.
    """
    medians = {item: _median_without_own(ratings[item].to_numpy(dtype=np.float64)) for item in ratings}
    return pd.DataFrame(medians, index=ratings.index, dtype=float)


def _median_without_own(given: Floats) -> Floats:
    medians = np.full(given.size, np.nan)
    rated = np.flatnonzero(~np.isnan(given))
    others = rated.size - 1
    if others < 1:
        return medians
    order = np.argsort(given[rated], kind="stable")
    ascending, place = given[rated][order], np.empty(rated.size, dtype=np.int64)
    place[order] = np.arange(rated.size)
    # Without the own rating, everything from its place on moves up by one.
    low, high = (ascending[middle + (middle >= place)] for middle in ((others - 1) // 2, others // 2))
    medians[rated] = (low + high) / 2
    return medians


# --- Who holds out against a Delphi panel, and where the panel falls into two camps instead ---------------------------

DISTANCE = 2.0  # half the width of a five-point scale: the neighbour of the median still agrees with it
MAJORITY = 0.5  # of the raters; whoever is that many does not hold out, the others do
CAMP = 0.25  # of the raters on either side: fewer are a minority within a panel, not its other half


@dataclass(frozen=True, slots=True)
class HoldOuts:
    """The hold-outs on one item. Ids in the order of the ratings."""

    n_rated: int
    n_missing: int
    n_paired: int  # rated in the round before, too: of nobody else can be said whether they stayed
    median: float | None  # what the distance is from
    distance: float
    below: tuple[str, ...]
    above: tuple[str, ...]
    share: float | None  # hold-outs / n_paired
    mean_gap: float | None  # mean |rating − median| over all who rated, scale points


@dataclass(frozen=True, slots=True)
class Camps:
    """The two sides of a panel. Ids in the order of the ratings."""

    below: tuple[str, ...]
    above: tuple[str, ...]
    n_between: int  # on points that either side could claim
    low: float  # highest rating of the lower camp
    high: float  # lowest rating of the upper camp


def hold_outs(
    final: pd.Series[float], before: pd.Series[float], *, median: float | None = None, distance: float = DISTANCE
) -> HoldOuts:
    """A minority that stayed away from the median it was shown, on the same side in both rounds, and came no closer.

    Panelist i holds out if |bᵢ − M| ≥ d, sign(fᵢ − M) = sign(bᵢ − M), |fᵢ − M| ≥ |bᵢ − M|, and fewer than half of those
    who rated lie d or more off M on that side. Of a panel that falls into `camps` this is not to be asked.

    final, before: ratings f and b of the last round and the one before it by participant, NaN where missing. median:
    the M that was fed back; by default that of `before`. distance: d in scale points, half the scale's width. Without
    ratings M, share and gap are None. Raises ValueError for a distance of 0 or less or a doubled participant.
    """
    if distance <= 0:
        raise ValueError(f"distance must be above 0 scale points, not {distance:g}")
    require_single(final.index, "final ratings")
    require_single(before.index, "before ratings")
    f, there = final.to_numpy(dtype=float), final.notna().to_numpy()
    same = before if before.index.equals(final.index) else before.reindex(final.index)
    m = float(before.median()) if median is None and before.notna().any() else median
    earlier, names = same.to_numpy(dtype=float)[there], final.index[there]
    n_missing, paired = len(f) - len(names), int((~np.isnan(earlier)).sum())
    if not len(names) or m is None:
        return HoldOuts(len(names), n_missing, paired, m, distance, (), (), None, None)
    gap, gap_before = f[there] - m, earlier - m
    off = np.abs(gap)
    stayed = (np.abs(gap_before) >= distance) & (gap * gap_before > 0) & (off >= np.abs(gap_before))
    below, above = (
        stayed & side if (side & (off >= distance)).mean() < MAJORITY else np.zeros_like(stayed)
        for side in (gap < 0, gap > 0)
    )
    return HoldOuts(
        n_rated=len(names),
        n_missing=n_missing,
        n_paired=paired,
        median=m,
        distance=distance,
        below=_ids(names, below),
        above=_ids(names, above),
        share=int((below | above).sum()) / paired if paired else None,
        mean_gap=float(off.mean()),
    )


def camps(ratings: pd.Series[float], *, polarised: bool) -> Camps | None:
    """The two sides of a polarised item, with at least a quarter of the raters on each; else None.

    The sides part where the ratings do: at the cut with the most variance between the two (n₁·n₂·(x̄₁ − x̄₂)² largest).
    Points between two cuts that do so alike (3 of 1, 3, 5) belong to neither side.

    ratings: by participant, NaN where missing. Raises ValueError for a doubled participant.
    """
    require_single(ratings.index, "final ratings")
    if not polarised:
        return None
    there = ratings.notna().to_numpy()
    rated: Floats = np.asarray(ratings, dtype=np.float64)[there]
    names = ratings.index[there]
    if not rated.size or np.ptp(rated) == 0:
        return None
    points, counts = np.unique(rated, return_counts=True)
    low, high = parting(points, counts.astype(np.float64))
    below, above = rated <= low, rated >= high
    if min(below.mean(), above.mean()) < CAMP:
        return None
    return Camps(_ids(names, below), _ids(names, above), int((~below & ~above).sum()), low, high)


def _ids(names: pd.Index[str], chosen: Flags) -> tuple[str, ...]:
    return tuple(map(str, names[chosen]))
