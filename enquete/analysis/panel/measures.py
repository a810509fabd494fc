"""All measures of a Delphi panel by item and round: consensus, stability and polarisation, apart from one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.agreement.kappa import Kappa, weighted_kappa
from enquete.analysis.change.paired import PairedTest, benjamini_hochberg, holm, wilcoxon
from enquete.analysis.joining import Floats, known, paired_scores, require_unique
from enquete.analysis.panel.dispersion import Dispersion, describe, frequencies, iqr

DISAGREEMENT_IQR = 2.0
DISAGREEMENT_A = 0.2
CONSENSUS_IQR = 1.0


@dataclass(frozen=True, slots=True)
class Convergence:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    iqr_first: float | None
    iqr_second: float | None
    delta_iqr: float | None  # negative: the panel drew together
    n_off_median: int  # panelists whose first rating was not the median: only they can move toward it
    n_moved: int
    n_toward: int
    n_away: int
    share_toward: float | None  # n_toward / n_off_median


def converge(first: pd.Series[float], second: pd.Series[float], *, median: float | None = None) -> Convergence:
    """ΔIQR = IQR(second) − IQR(first) over the same panelists, and who moved toward the first round's median M.

    A panelist moves toward M where |second − M| < |first − M|, away where it is larger.
    first, second: ratings by participant id, NaN where missing. median: the M that was fed back; by default the median
    of all first-round ratings, those of later drop-outs included, because that is what the panel was shown.
    Raises ValueError if a participant occurs twice.
    """
    x, y, first_only, second_only = _both(first, second)
    m = float(first.median()) if median is None else median
    before, after = np.abs(x - m), np.abs(y - m)
    n_off, n_toward = int((before > 0).sum()), int((after < before).sum())
    iqr_first, iqr_second = iqr(x), iqr(y)
    return Convergence(
        n_paired=x.size,
        n_first_only=first_only,
        n_second_only=second_only,
        iqr_first=iqr_first,
        iqr_second=iqr_second,
        delta_iqr=None if iqr_first is None or iqr_second is None else iqr_second - iqr_first,
        n_off_median=n_off,
        n_moved=int((x != y).sum()),
        n_toward=n_toward,
        n_away=int((after > before).sum()),
        share_toward=n_toward / n_off if n_off else None,
    )


def _both(first: pd.Series[float], second: pd.Series[float]) -> tuple[Floats, Floats, int, int]:
    """Ratings of those present in both rounds, and how many rated only in the first, only in the second."""
    x, y, _ = paired_scores(first, second, ("first round", "second round"))
    only = [int(one.count()) - x.size for one in (first, second)]
    return x.to_numpy(dtype=float), y.to_numpy(dtype=float), only[0], only[1]


def is_polarised(spread: Dispersion, *, below: float = DISAGREEMENT_A) -> bool | None:
    """Van der Eijk's A < 0.2, or two sides that lie apart; None where there are no ratings."""
    if not spread.n:
        return None
    return spread.split or (spread.agreement is not None and spread.agreement < below)


def is_disagreement(
    spread: Dispersion, *, iqr_above: float = DISAGREEMENT_IQR, polarised_below: float = DISAGREEMENT_A
) -> bool:
    """IQR > 2 or polarised: the IQR alone misses a panel split half and half on 2 and 4 (IQR 2)."""
    wide = spread.iqr is not None and spread.iqr > iqr_above
    return wide or bool(is_polarised(spread, below=polarised_below))


def is_consensus(iqr: float | None, *, at_most: float = CONSENSUS_IQR) -> bool:
    """The usual label on five-point scales: IQR ≤ 1. Without ratings there is none."""
    return iqr is not None and iqr <= at_most


def rank_consensus(statements: pd.DataFrame, *, at_most: float = CONSENSUS_IQR) -> pd.DataFrame:
    """Consensus statements, the closest agreement first: by IQR ascending, then median importance descending.

    statements: index = theme id, columns iqr and median (of importance). Equal ones share their places and keep the order of
    their ids, so the ranking does not depend on the order given. Returns the rows with IQR ≤ at_most and columns rank and
    rank_to, the first and the last place that a theme shares, from 1.
    """
    chosen = statements[statements["iqr"] <= at_most].sort_index(kind="stable")
    ranked = chosen.sort_values(["iqr", "median"], ascending=[True, False], kind="stable")
    alike = ranked.assign(rank=range(1, len(ranked) + 1)).groupby(["iqr", "median"])["rank"]
    return ranked.assign(rank=alike.transform("min"), rank_to=alike.transform("max"))


STABLE_UP_TO = 0.15
"""Share of the panel that may have changed its place, net, in a stable item (Scheibe, Skutsch & Schofer 1975)."""


@dataclass(frozen=True, slots=True)
class Stability:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    n_changed: int
    share_changed: float | None
    net_change: float | None  # 0 … 1
    stable: bool | None  # net_change ≤ .15
    kappa: Kappa
    wilcoxon: PairedTest
    cv_first: float | None
    cv_second: float | None
    delta_cv: float | None  # negative: less spread for its level


def stability(
    first: pd.Series[float], second: pd.Series[float], low: int, high: int, *, up_to: float = STABLE_UP_TO
) -> Stability:
    """Change between two rounds within panelists: κ, Wilcoxon, net change of the histogram, ΔCV.

    net_change = ½Σₖ|nₖ,₂ − nₖ,₁|/n over scale points k: the share of the panel that would have to move to turn the one
    histogram into the other; the item is stable up to 15 %. Individuals may swap places all the same: share_changed and κ
    tell. CV = SD/mean (n − 1); it takes the scale's zero for a real one. Describes this run.

    first, second: ratings by participant on the integer scale low … high, NaN where missing.
    Raises ValueError if a participant occurs twice or a rating is off the scale.
    Source: Scheibe, Skutsch & Schofer 1975; Dajani, Sincoff & Talley 1979; von der Gracht 2012 for a review.
    """
    x, y, first_only, second_only = _both(first, second)
    moved = np.abs(frequencies(y, low, high) - frequencies(x, low, high)).sum() / 2
    net = float(moved / x.size) if x.size else None
    cv_first, cv_second = variation(x), variation(y)
    return Stability(
        n_paired=x.size,
        n_first_only=first_only,
        n_second_only=second_only,
        n_changed=int((x != y).sum()),
        share_changed=float((x != y).mean()) if x.size else None,
        net_change=net,
        stable=None if net is None else net <= up_to,
        kappa=weighted_kappa(x, y),
        wilcoxon=wilcoxon(x, y),
        cv_first=cv_first,
        cv_second=cv_second,
        delta_cv=None if cv_first is None or cv_second is None else cv_second - cv_first,
    )


def variation(ratings: np.ndarray) -> float | None:
    """Coefficient of variation SD/mean, n − 1, NaN left out; None below two ratings or for a mean of 0 or less."""
    x = known(ratings)
    return float(x.std(ddof=1) / x.mean()) if x.size > 1 and x.mean() > 0 else None


@dataclass(frozen=True, slots=True)
class PanelMeasure:
    """One item in one round. Stability and p are None in the first round and where the item was not asked before."""

    item: str
    round: int
    spread: Dispersion  # among them A, Tastle–Wierman, bimodality
    consensus: bool | None  # IQR ≤ 1; None without ratings
    polarised: bool | None  # A < 0.2 or split; None without ratings
    stability: Stability | None
    p_holm: float | None  # of stability.wilcoxon, over the items of this round
    p_bh: float | None


def panel_measures(
    rounds: Mapping[int, pd.DataFrame],
    scales: Mapping[str, tuple[int, int]],
    *,
    consensus_iqr: float = CONSENSUS_IQR,
    polarised_below: float = DISAGREEMENT_A,
) -> list[PanelMeasure]:
    """Every measure of every item and round, rounds ascending, items in the order of their table.

    A panel may agree without having settled, settle without agreeing, and split into camps inside a small IQR (half and
    half on 2 and 4 has IQR 2, A ⅙): so three answers, none derived from another.

    rounds: by round number, participants × items, NaN where missing. scales: lowest and highest point by item.
    Raises ValueError for an item without a scale, a rating off it, or a doubled participant or item.
    """
    found: list[PanelMeasure] = []
    before: pd.DataFrame | None = None
    for number in sorted(rounds):
        table = rounds[number]
        require_unique(table, f"round {number}")
        found += _round(number, table, before, scales, consensus_iqr, polarised_below)
        before = table
    return found


def _round(
    number: int,
    table: pd.DataFrame,
    before: pd.DataFrame | None,
    scales: Mapping[str, tuple[int, int]],
    consensus_iqr: float,
    polarised_below: float,
) -> list[PanelMeasure]:
    items = [str(item) for item in table.columns]
    for item in items:
        if item not in scales:
            raise ValueError(
                f"round {number}: item {item!r} has no scale; known: {', '.join(map(repr, scales)) or 'none'}"
            )
    spreads = [describe(table[item].to_numpy(dtype=float), *scales[item]) for item in items]
    settled = [None if before is None or i not in before else stability(before[i], table[i], *scales[i]) for i in items]
    p = [None if one is None else one.wilcoxon.p for one in settled]
    return [
        PanelMeasure(
            item=item,
            round=number,
            spread=spread,
            consensus=is_consensus(spread.iqr, at_most=consensus_iqr) if spread.n else None,
            polarised=is_polarised(spread, below=polarised_below),
            stability=stood,
            p_holm=p_holm,
            p_bh=p_bh,
        )
        for item, spread, stood, p_holm, p_bh in zip(
            items, spreads, settled, holm(p), benjamini_hochberg(p), strict=True
        )
    ]
