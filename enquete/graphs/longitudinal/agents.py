"""Drift of each agent, and whether it is more than what asking the same twice makes of it (reliable change index)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from enquete.analysis.drift import drift_per_agent
from enquete.analysis.reliable_change import Reliability, ReliableChange, reliable_change, retest_reliability
from enquete.graphs.longitudinal.change import WAVES, Change, items_by_family, wide
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument

OVERALL = ""
"""Stands for all items together where scores are by family."""


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


def agent_drift(change: Change, instrument: LongitudinalInstrument, memoryless_weight: float) -> pd.DataFrame:
    """`drift_per_agent` on the rekeyed Δ of all items."""
    return drift_per_agent(change.delta, _ranges(instrument), change.memory, memoryless_weight)


def reliability_figures(
    change: Change, instrument: LongitudinalInstrument, again: Retest | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Reliable change of every agent, overall and by family (columns; "" is overall), and what it rests on.

    A score is an agent's mean rekeyed rating over the items that it answered on both occasions. Without a retest there
    is no index, and the reason is given.
    """
    scales = {OVERALL: list(change.delta.columns), **items_by_family(instrument)}
    found = {name: _reliable(change, members, again) for name, members in scales.items()}
    index = pd.DataFrame(
        {name: one.rci for name, one in found.items() if one.rci is not None}, index=change.delta.index
    )
    figures = {name: _without_index(one) for name, one in found.items()}
    described = {
        "retest_phase": again.phase if again else None,
        "overall": figures.pop(OVERALL),
        "families": [{"family": family, **one} for family, one in figures.items()],
    }
    return index, described


def listed_agents(agents: pd.DataFrame, change: Change, index: pd.DataFrame | None) -> list[dict[str, Any]]:
    """One entry an agent, in the population's order; rci is None where there is no index."""
    rows = agents.assign(name=change.names, stakeholder_type=change.types)
    rows.index.name = "participant"
    entries = [{str(key): value for key, value in row.items()} for row in rows.reset_index().to_dict("records")]
    if index is None:
        return [{**entry, "rci": None, "rci_by_family": {}} for entry in entries]
    indices = index.reindex(rows.index).to_dict("records")
    return [
        {**entry, "rci": own.pop(OVERALL, None), "rci_by_family": own}
        for entry, own in zip(entries, indices, strict=True)
    ]


def _ranges(instrument: LongitudinalInstrument) -> dict[str, tuple[float, float]]:
    scales = {item.item_id: instrument.scale_of(item.item_id) for item in instrument.items}
    return {item: (float(scale.min), float(scale.max)) for item, scale in scales.items()}


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
    figures = {
        name: getattr(one, name) for name in ("n", "n_missing", "sd", "standard_error", "n_up", "n_down", "n_within")
    }
    return {**figures, "reliability": asdict(one.reliability), "reason": one.reason}
