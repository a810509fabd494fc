"""How far participants moved between two waves: the Δ-matrix and drift per agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.joining import joined

ScaleRanges = Mapping[str, tuple[float, float]]
"""Lowest and highest scale point by item."""


@dataclass(frozen=True, slots=True)
class PopulationDrift:
    """Population means of the agents' drift, weighted and unweighted side by side; None where no agent has a drift."""

    n_agents: int  # agents with at least one complete pair
    n_without_pairs: int  # agents in the matrix that have none
    n_memoryless: int  # of n_agents
    memoryless_weight: float
    mean_abs: float | None
    mean_abs_unweighted: float | None
    mean_signed: float | None
    mean_signed_unweighted: float | None
    share_changed: float | None
    share_changed_unweighted: float | None


def delta_matrix(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Δ = after − before, participants × items, NaN where either wave is missing.

    Rows are all participants of either wave (sorted), columns all items (order of `before`, then of `after`).
    Raises ValueError on a doubled participant or item.
    """
    x, y = joined(before, after)
    return y - x


def drift_per_agent(
    delta: pd.DataFrame,
    scale_ranges: ScaleRanges,
    memory: pd.Series[bool],
    memoryless_weight: float = 0.5,
) -> pd.DataFrame:
    """Drift of each agent over the items it answered in both waves.

    For agent a with nₐ complete pairs Δₐᵢ on items of range Rᵢ = highᵢ − lowᵢ:
    mean_abs = Σ|Δₐᵢ|/nₐ and mean_signed = ΣΔₐᵢ/nₐ in scale points; mean_abs_share = Σ(|Δₐᵢ|/Rᵢ)/nₐ, comparable
    over items of different scales; share_changed = share of items with Δ ≠ 0; n_items = nₐ; weight = 1 with memory,
    `memoryless_weight` without.

    delta: participants × items, of rekeyed values, or opposite items cancel out in mean_signed.
    memory: whether the agent had a memory at the second wave, by participant; absent means none.
    Agents without a complete pair have n_items 0 and NaN figures.
    Raises ValueError for an item without a range, a change larger than its scale, or a weight outside 0–1.
    """
    if not 0 <= memoryless_weight <= 1:
        raise ValueError(f"memoryless_weight must lie between 0 and 1, not {memoryless_weight}")
    range_of = pd.Series(
        {item: np.subtract(*_range_of(item, scale_ranges)[::-1]) for item in delta.columns}, dtype=float
    )
    _require_within(delta, range_of)
    size = delta.abs()
    has_memory = memory.reindex(delta.index).eq(True)
    return pd.DataFrame(
        {
            "mean_abs": size.mean(axis=1),
            "mean_abs_share": (size / range_of).mean(axis=1),
            "mean_signed": delta.mean(axis=1),
            "share_changed": size.gt(0).where(size.notna()).astype(float).mean(axis=1),
            "n_items": delta.notna().sum(axis=1),
            "memory": has_memory,
            "weight": has_memory.map({True: 1.0, False: memoryless_weight}).astype(float),
        },
        index=delta.index,
    )


def population_drift(per_agent: pd.DataFrame, memoryless_weight: float = 0.5) -> PopulationDrift:
    """Means over agents of `drift_per_agent`, weighted Σwₐxₐ/Σwₐ beside the plain mean.

    Agents without a complete pair are left out and counted. A weighted mean whose weights are all 0 is None.
    """
    paired = per_agent[per_agent["n_items"] > 0]
    weight = paired["weight"].to_numpy(dtype=float)

    def mean(column: str, *, weighted: bool) -> float | None:
        x, w = paired[column].to_numpy(dtype=float), weight if weighted else np.ones(len(paired))
        return float(np.average(x, weights=w)) if w.sum() > 0 else None

    return PopulationDrift(
        n_agents=len(paired),
        n_without_pairs=len(per_agent) - len(paired),
        n_memoryless=int((~paired["memory"].astype(bool)).sum()),
        memoryless_weight=memoryless_weight,
        mean_abs=mean("mean_abs", weighted=True),
        mean_abs_unweighted=mean("mean_abs", weighted=False),
        mean_signed=mean("mean_signed", weighted=True),
        mean_signed_unweighted=mean("mean_signed", weighted=False),
        share_changed=mean("share_changed", weighted=True),
        share_changed_unweighted=mean("share_changed", weighted=False),
    )


def _range_of(item: str, scale_ranges: ScaleRanges) -> tuple[float, float]:
    if item not in scale_ranges:
        raise ValueError(f"item {item!r} has no scale range; known: {', '.join(map(repr, scale_ranges)) or 'none'}")
    low, high = scale_ranges[item]
    if not low < high:
        raise ValueError(
            f"item {item!r}: scale range {low}–{high} is empty; the lowest point must be below the highest"
        )
    return low, high


def _require_within(delta: pd.DataFrame, range_of: pd.Series[float]) -> None:
    size = delta.abs().to_numpy(dtype=float)
    rows, columns = np.nonzero(size > range_of.to_numpy(dtype=float))
    if rows.size:
        row, column = int(rows[0]), int(columns[0])
        agent, item = repr(delta.index[row]), repr(delta.columns[column])
        change, width = float(size[row, column]), float(range_of.iloc[column])
        raise ValueError(f"{agent}, item {item}: a change of {change:g} exceeds the width of its scale, {width:g}")
