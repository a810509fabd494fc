"""Drift of each agent, as a table and as entries with the reliable change index."""

from __future__ import annotations

from typing import Any

import pandas as pd

from enquete.analysis.change.drift import drift_per_agent
from enquete.graphs.longitudinal.change import Change
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.reliability import OVERALL


def agent_drift(change: Change, instrument: LongitudinalInstrument, memoryless_weight: float) -> pd.DataFrame:
    """`drift_per_agent` on the rekeyed Δ of all items."""
    return drift_per_agent(change.delta, _ranges(instrument), change.memory, memoryless_weight)


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
