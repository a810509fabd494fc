"""All measures of a Delphi panel by item and round: consensus, stability and polarisation, apart from one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from enquete.analysis.change.paired import benjamini_hochberg, holm, require_unique
from enquete.analysis.panel.convergence import CONSENSUS_IQR, DISAGREEMENT_A, Convergence, converge, is_consensus
from enquete.analysis.panel.dispersion import Dispersion, describe
from enquete.analysis.panel.stability import Stability, stability


@dataclass(frozen=True, slots=True)
class PanelMeasure:
    """One item in one round. The last two are None in the first round and where the item was not asked before."""

    item: str
    round: int
    spread: Dispersion  # among them A, Tastle–Wierman, bimodality
    consensus: bool | None  # IQR ≤ 1; None without ratings
    polarised: bool | None  # A < 0.2; None where A is not defined
    convergence: Convergence | None  # against the round before
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
            polarised=None if spread.agreement is None else spread.agreement < polarised_below,
            convergence=converge(before[item], table[item]) if before is not None and item in before else None,
            stability=stood,
            p_holm=p_holm,
            p_bh=p_bh,
        )
        for item, spread, stood, p_holm, p_bh in zip(
            items, spreads, settled, holm(p), benjamini_hochberg(p), strict=True
        )
    ]
