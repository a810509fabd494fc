"""Drift minus placebo: what is left of the drift once that of a neutral memory is taken away."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.change.beyond_placebo import MinusPlacebo, minus_placebo
from enquete.analysis.change.drift import delta_matrix
from enquete.graphs.longitudinal.change import WAVES, Change, items_by_family, wide
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument


@dataclass(frozen=True)
class Placebo:
    """The placebo arm's two waves, of the agents that it asked at T1; rekeyed."""

    arm: str
    own_baseline: bool  # whether it has a T0 of its own; else both arms start from the main arm's
    before: pd.DataFrame
    after: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, change: Change, instrument: LongitudinalInstrument) -> Placebo | None:
        """rows: those of the placebo arms, of which the first by name is taken. None without an answer at T1."""
        answered = rows[rows["phase"].eq("T1") & rows["value_rekeyed"].notna()]
        if answered.empty:
            return None
        arm = min(answered["arm"])
        own = rows[rows["arm"].eq(arm)]
        first, second = (
            wide(own[own["phase"].eq(wave)], instrument, "value_rekeyed").dropna(how="all") for wave in WAVES
        )
        start = first if len(first) else change.rekeyed["T0"]
        return cls(arm, bool(len(first)), start.reindex(second.index), second)


def placebo_figures(
    arm: Placebo | None, change: Change, instrument: LongitudinalInstrument, weight: pd.Series[float]
) -> dict[str, Any] | None:
    """By item and family, rekeyed: drift of the main arm, of the placebo arm, and their difference with its interval.

    Over the agents that the placebo arm asked. weight: by participant. None without a placebo arm.
    """
    if arm is None:
        return None
    placebo = delta_matrix(arm.before, arm.after).reindex(arm.after.index)
    main = change.delta.reindex(arm.after.index)
    members = items_by_family(instrument)
    return {
        "arm": arm.arm,
        "own_baseline": arm.own_baseline,
        "n_agents": len(arm.after),
        "items": _compared("item", main, placebo, weight),
        "families": _compared("family", *_by_family(main, placebo, members), weight),
    }


def _by_family(
    main: pd.DataFrame, placebo: pd.DataFrame, members: dict[str, list[str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean Δ of each agent over the family's items that it answered in both arms."""
    both = main.notna() & placebo.notna()
    tables = (
        pd.DataFrame(
            {family: arm.where(both)[items].mean(axis=1) for family, items in members.items()}, index=arm.index
        )
        for arm in (main, placebo)
    )
    return next(tables), next(tables)


def _compared(name: str, main: pd.DataFrame, placebo: pd.DataFrame, weight: pd.Series[float]) -> list[dict[str, Any]]:
    return [
        {
            name: one.item,
            "main": _mean(main[one.item], placebo[one.item], weight),
            "placebo": _mean(placebo[one.item], main[one.item], weight),
            **_figures(one),
        }
        for one in minus_placebo(main, placebo, weight=weight)
    ]


def _mean(values: pd.Series[float], other: pd.Series[float], weight: pd.Series[float]) -> float | None:
    """Weighted mean over the agents that both arms have."""
    known = values[values.notna() & other.notna()]
    w = weight.reindex(known.index).fillna(1.0).to_numpy(dtype=float)
    return float(np.average(known, weights=w)) if w.sum() > 0 else None


def _figures(one: MinusPlacebo) -> dict[str, Any]:
    return {
        "n": one.n,
        "n_missing": one.n_missing,
        "difference": asdict(one.over_agents),
        "p": one.p,
        "p_holm": one.p_holm,
    }
