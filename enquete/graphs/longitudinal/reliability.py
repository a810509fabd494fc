"""Whether an agent's drift is more than noise: against a retest (reliable change index), and against a placebo arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from enquete.analysis.change.beyond_placebo import minus_placebo
from enquete.analysis.change.reliable import (
    BY_CHANCE,
    Reliability,
    ReliableChange,
    beyond,
    reliable_change,
    retest_reliability,
)
from enquete.graphs.longitudinal.change import WAVES, Change, items_by_family, wide
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.placebo import Placebo

OVERALL = ""
"""Stands for all items together where scores are by family."""

Scales = Mapping[str, Sequence[str]]
"""Item ids by family; "" is all items."""

KEPT = ("n", "n_missing", "sd", "standard_error", "limit", "n_up", "n_down", "n_within", "chance_low", "chance_high")


@dataclass(frozen=True)
class Retest:
    """A second asking with nothing in between, beside the main arm's answers of the same wave; rekeyed."""

    phase: str
    first: pd.DataFrame
    repeat: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, change: Change, instrument: LongitudinalInstrument) -> Retest | None:
        """From the rows of the retest arm: of T0 where it was asked then, else of T1. None without an answer."""
        for phase in WAVES:
            asked = rows[rows["phase"].eq(phase)]
            repeat = wide(asked, instrument, "value_rekeyed").dropna(how="all") if len(asked) else pd.DataFrame()
            if len(repeat):
                return cls(phase, change.rekeyed[phase].reindex(repeat.index), repeat)
        return None


def reliability_figures(
    change: Change, instrument: LongitudinalInstrument, again: Retest | None, placebo: Placebo | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Reliable change of every agent, overall and by family (columns; "" is overall), and what it rests on.

    A score is an agent's mean rekeyed rating over the items that it answered on both occasions. Without a retest there
    is no index, and the reason is given. With a placebo arm its share beyond the same limits stands beside the main arm's.
    """
    scales = {OVERALL: list(change.delta.columns), **items_by_family(instrument)}
    found = {name: _reliable(change, members, again) for name, members in scales.items()}
    index = pd.DataFrame(
        {name: one.rci for name, one in found.items() if one.rci is not None}, index=change.delta.index
    )
    against = {} if placebo is None else _against(placebo, change, scales, found)
    figures = {name: {**_without_index(one), "placebo": against.get(name)} for name, one in found.items()}
    described = {
        "retest_phase": again.phase if again else None,
        "by_chance": BY_CHANCE,
        "overall": figures.pop(OVERALL),
        "families": [{"family": family, **one} for family, one in figures.items()],
    }
    return index, described


def _reliable(change: Change, members: Sequence[str], again: Retest | None) -> ReliableChange:
    known: Reliability | None = None
    if again is not None:
        known = retest_reliability(*_scores(again.first, again.repeat, members))
    return reliable_change(*_scores(change.rekeyed["T0"], change.rekeyed["T1"], members), known)


def _scores(
    first: pd.DataFrame, second: pd.DataFrame, members: Sequence[str]
) -> tuple[pd.Series[float], pd.Series[float]]:
    """Each agent's mean over those of the items that it answered both times."""
    x, y = first[list(members)].align(second[list(members)], join="outer")
    both = x.notna() & y.notna()
    return x.where(both).mean(axis=1), y.where(both).mean(axis=1)


def _without_index(one: ReliableChange) -> dict[str, Any]:
    share = None if one.n_within is None else (one.n - one.n_within) / one.n
    figures = {name: getattr(one, name) for name in KEPT}
    return {**figures, "share_beyond": share, "reliability": asdict(one.reliability), "reason": one.reason}


def _against(
    placebo: Placebo, change: Change, scales: Scales, found: Mapping[str, ReliableChange]
) -> dict[str, dict[str, Any]]:
    """By scale with an index: the shares beyond its limits in both arms, over the agents that the placebo arm asked."""
    known = {name: members for name, members in scales.items() if found[name].rci is not None}
    asked = placebo.after.index
    arms = [
        pd.DataFrame(
            {name: beyond(*_scores(*waves, items), found[name]).reindex(asked) for name, items in known.items()},
            index=asked,
        )
        for waves in ((change.rekeyed["T0"], change.rekeyed["T1"]), (placebo.before, placebo.after))
    ]
    both = arms[0].notna() & arms[1].notna()
    shares = [arm.where(both).mean() for arm in arms]
    return {
        one.item: {
            "n": one.n,
            "n_missing": one.n_missing,
            "share_main": float(shares[0][one.item]) if one.n else None,
            "share_placebo": float(shares[1][one.item]) if one.n else None,
            "difference": asdict(one.over_agents),
            "p_holm": one.p_holm,
        }
        for one in minus_placebo(*arms)
    }
