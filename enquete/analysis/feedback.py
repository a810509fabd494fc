"""What feedback does to a panel: agents held out, and the pull of the median that was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from enquete.analysis.answers import Flags
from enquete.analysis.change import smallest_p
from enquete.analysis.estimates import Floats, joined, known, mean_interval, require_single
from enquete.analysis.inference import ALPHA
from enquete.analysis.panel import agreements, frequencies, parting

DRAWS = 9_999  # where it matters: p, two-sided, has to survive Holm over a hundred tests
FIRST = 999
NEAR = 0.05  # p of the first ones, below which the others are drawn too
HELD = 4_000_000  # exchanges × items × pairs of ratings held at once
SIGNS = 3_000_000  # signs of agents that are drawn at a time
WORK = 400_000_000  # the same in all
TIED = 1e-9

Movement = Literal["closer", "middle", "farther", "unmoved", "untestable"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A panel's movement toward the medians of the others. Figures that the data do not define are None."""

    n: int  # agents with a rating of the same item in both rounds
    n_total: int
    n_items: int  # that have one middle to draw toward
    n_changed: int  # agents who changed any of these ratings
    before: float | None  # mean distance from the leave-one-out medians of the first round
    after: float | None
    estimate: float | None  # before − after: points that the ratings came nearer
    low: float | None  # Student's interval over agents
    high: float | None
    specific: float | None  # the same, less how much nearer they came to the medians of the other items
    p: float | None  # two-sided, by exchanging an agent's rounds
    movement: Movement
    draws: int


def drawn_toward(
    first: pd.DataFrame, last: pd.DataFrame, scales: Mapping[str, tuple[int, int]], *, draws: int = DRAWS, seed: int = 0
) -> Drawn:
    """T = Σ (|x_ij − M_ij| − |y_ij − M_ij|)/m over the m pairs of first and last ratings x, y of agent i on item j.

    M_ij is the median of the *others'* first ratings of item j. The median of all, the agent's own rating among them,
    is nearer to x than to a y that was drawn anew; and who is singled out for standing off it comes nearer by
    regression alone. So all pairs count, and M leaves the agent out.

    H₀: an agent answers twice about the same position, so that (x_i, y_i) and (y_i, x_i) are as likely, for any of the
    agents. Exchanging the rounds of a random set of agents, with all their items, changes their first ratings and so
    the others' medians, which are taken again: the p of T among its exchanged values is exact, (b + 1)/(m + 1) on
    either side, twice the smaller (999 exchanges, and up to `draws` where those leave p below .05). Since the ratings
    are few points, the exchanged data are counts of ratings and of pairs by item, linear in the signs of the agents.

    Noise that is added to the first ratings spreads a panel that has one middle: "farther" is no effect of feedback. It
    draws together a panel of two ends: so items where the ratings of both rounds, which an exchange leaves as they are,
    lie at the ends (van der Eijk's A below 0) do not count. So does whatever draws all answers to the middle of the
    scale, to whichever item's median alike: so movement is "closer" where p < .05 and `specific`, T less its mean over
    the medians of the other items, is above 0 (with one item there is no such mean, and it is not asked for), else to
    the "middle" of the scale. "untestable": fewer than six agents changed a rating, where no p below .05 can be.

    first, last: participants × items, integers on `scales` (lowest and highest by item), NaN where missing, joined by
    label. A rating that has no partner counts in the medians of the first round alone. Describes this run. Raises
    ValueError for an item without a scale, a rating off it, or a doubled label. "closer" at 10 / 20 / 50 agents × 12
    items of five points, 150 to 250 panels each: drawn anew .01 / .04 / .01, with noise 0, with noise at two ends 0 /
    .03 / .01, shrunk to the scale's middle 0 / .02 / .03; drawn by .3 of the distance .35 / .70 / .98, by .5 .83 / .98
    / 1.
    Source: leave-one-out as in Quenouille 1956; exchange of paired observations, Fisher 1935.
    """
    x, y = joined(first, last, ("first round", "last round"))
    for item in x.columns:
        if item not in scales:
            raise ValueError(f"item {item!r} has no scale; known: {', '.join(map(repr, scales)) or 'none'}")
        for table in (x, y):
            frequencies(table[item], *scales[item])
    low = np.array([scales[item][0] for item in x.columns], dtype=np.float64)
    points = max((scales[item][1] - scales[item][0] + 1 for item in x.columns), default=0)
    start, end = ((table.to_numpy(dtype=np.float64) - low) for table in (x, y))
    both = ~(np.isnan(start) | np.isnan(end))
    both &= _has_middle(start, end, both, points)
    items = int(both.any(axis=0).sum())
    has_partner = both.any(axis=1)
    n, changed = int(has_partner.sum()), int((both & (start != end)).any(axis=1).sum())
    if n == 0:
        return Drawn(0, len(x), 0, 0, None, None, None, None, None, None, None, "untestable", 0)
    panel = _RatingCounts(start, end, both, points)
    medians = panel.medians(panel.counts(np.ones((1, len(x)))))[0]
    targets = np.take_along_axis(medians, np.where(both, start, 0).astype(int).T, axis=1).T
    with np.errstate(invalid="ignore"):
        before, after = (np.where(both, np.abs(table - targets), np.nan) for table in (start, end))
    usable = ~np.isnan(before)
    if not usable.any():
        return Drawn(n, len(x), items, changed, None, None, None, None, None, None, None, "untestable", 0)
    by_agent = [float(np.mean((b - a)[u])) for b, a, u in zip(before, after, usable, strict=True) if u.any()]
    estimate = float((before - after)[usable].mean())
    interval = mean_interval(len(by_agent), estimate, float(np.std(by_agent, ddof=1)) if len(by_agent) > 1 else None)
    specific = None if items == 1 else estimate - _elsewhere(start, end, usable)
    most = min(draws, max(FIRST, WORK // (x.shape[1] * points**2)))
    p, drawn = _p(panel, estimate, most, seed) if changed else (None, 0)
    movement: Movement = "untestable" if changed and smallest_p(changed) >= ALPHA else "unmoved"
    if p is not None and p < ALPHA and movement == "unmoved":
        movement = "farther" if estimate < 0 else "closer" if specific is None or specific > 0 else "middle"
    return Drawn(
        n=n,
        n_total=len(x),
        n_items=items,
        n_changed=changed,
        before=float(before[usable].mean()),
        after=float(after[usable].mean()),
        estimate=estimate,
        low=interval.low,
        high=interval.high,
        specific=specific,
        p=p,
        movement=movement,
        draws=drawn,
    )


def _has_middle(start: Floats, end: Floats, both: Flags, points: int) -> Flags:
    """Of each item."""
    rated = (np.concatenate([x[u], y[u]]).astype(int) for x, y, u in zip(start.T, end.T, both.T, strict=True))
    counts = np.array([np.bincount(ratings, minlength=points) for ratings in rated]).reshape(-1, points)
    return ~(agreements(counts) < 0)


class _RatingCounts:
    """Ratings as counts: what exchanging rounds of some agents (−1 among ±1) does is linear in the signs."""

    def __init__(self, start: Floats, end: Floats, both: NDArray[np.bool_], points: int) -> None:
        n, items = start.shape
        self.shape = (items, points)
        # Sums of halves are exact in four bytes for 16 million agents, in whatever order they are added.
        at = np.eye(points + 1, dtype=np.float32)[:, :points]  # the last row: missing
        x, y = (at[np.where(np.isnan(table), points, table).astype(int)] for table in (start, end))
        x_paired, y_paired = x * both[:, :, None], y * both[:, :, None]
        self.unpaired = (x - x_paired).sum(axis=0).ravel()
        self.sum, self.difference = _halves(x_paired.reshape(n, -1), y_paired.reshape(n, -1))
        pairs = (  # the second rating before item and first, since it is summed over
            first[:, None] * np.moveaxis(second, 2, 1)[..., None]
            for first, second in ((x_paired, y_paired), (y_paired, x_paired))
        )
        self.pair_sum, self.pair_difference = _halves(*(of_all.reshape(n, -1) for of_all in pairs))
        self.scale = np.arange(points, dtype=np.float32)

    def counts(self, signs: Floats) -> Floats:
        """First ratings: exchanges × items × points."""
        sums = self.unpaired + self.sum + signs.astype(np.float32) @ self.difference
        return np.asarray(sums).reshape(-1, *self.shape)

    def medians(self, counts: Floats) -> Floats:
        """Exchanges × items × points: the others' median, for an agent who gave that rating; else NaN.

        The others are all but one at that point: below it as many of them lie as of all, from it on one fewer.
        """
        reached = list(accumulate(np.moveaxis(counts, 2, 0)))  # exchanges × items, up to each point
        n = reached[-1] - 1
        lower, upper = (
            np.minimum(_short(reached, k), self.scale) + np.maximum(_short(reached, k + 1) - self.scale, 0)
            for k in (np.floor((n + 1) / 2), np.floor(n / 2 + 1))
        )
        return np.where(n[..., None] > TIED, (lower + upper) / 2, np.nan)

    def nearer(self, signs: Floats) -> Floats:
        """T of each exchange."""
        counts = self.counts(signs)
        medians, first = self.medians(counts), counts - self.unpaired.reshape(self.shape)
        pairs = self.pair_sum + signs.astype(np.float32) @ self.pair_difference
        gained = first * np.abs(self.scale - medians)
        for point, second in enumerate(np.moveaxis(pairs.reshape(len(signs), -1, *self.shape), 1, 0)):
            gained -= second * np.abs(point - medians)
        there = ~np.isnan(medians)
        total, pairs_there = (np.where(there, each, 0).sum(axis=(1, 2), dtype=np.float64) for each in (gained, first))
        return np.asarray(total / pairs_there)


def _short(reached: Sequence[Floats], k: Floats) -> Floats:
    """Exchanges × items × 1: points at which the k-th rating is not reached."""
    short = np.zeros_like(k)
    for up_to in reached:
        short += up_to < k
    return short[..., None]


def _elsewhere(start: Floats, end: Floats, usable: NDArray[np.bool_]) -> float:
    """How much nearer the ratings came, on average, to the first medians of the other items."""
    middle = np.array([np.median(known(column)) if known(column).size else np.nan for column in start.T])
    gained = []
    for item in range(start.shape[1]):
        x, y = (table[usable[:, item], item][:, None] for table in (start, end))
        targets = known(np.delete(middle, item))
        gained.append((np.abs(x - targets) - np.abs(y - targets)).mean(axis=1) if targets.size else np.zeros(len(x)))
    return float(np.concatenate(gained).mean())


def _halves(kept: Floats, exchanged: Floats) -> tuple[Floats, Floats]:
    """Of Σᵢ (kept if the sign is 1 else exchanged): the constant, and what the signs are multiplied with."""
    return (kept + exchanged).sum(axis=0) / 2, (kept - exchanged) / 2


def _p(panel: _RatingCounts, estimate: float, draws: int, seed: int) -> tuple[float, int]:
    """p, and of how many exchanges: all of them only where the first leave it below .05."""
    rng, above, below, drawn = np.random.default_rng(seed), 0, 0, 0
    agents = len(panel.difference)
    step = min(FIRST, max(1, HELD // (panel.shape[0] * panel.shape[1] ** 2)), max(1, SIGNS // agents))
    while drawn < draws:
        count = min(step, draws - drawn, FIRST - drawn if drawn < FIRST else step)
        exchanged = panel.nearer(rng.choice([-1.0, 1.0], size=(count, agents)))
        above += int((exchanged >= estimate - TIED).sum())
        below += int((exchanged <= estimate + TIED).sum())
        drawn += count
        if drawn == FIRST and 2 * (min(above, below) + 1) > NEAR * (drawn + 1):
            break
    return min(1.0, 2 * (min(above, below) + 1) / (drawn + 1)), drawn


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
