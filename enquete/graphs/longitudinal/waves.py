"""One wave at a time: who answered, every closed item as it was answered, and the open comments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from enquete.analysis.panel.dispersion import frequencies
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.reports.context import answering, counted, responded
from enquete.state.asking import Language

COMMENTS_LISTED = 40


def counts(rows: pd.DataFrame) -> dict[str, Any]:
    """Answers and agents of a wave, and where its rows come from."""
    return {
        **answering(rows),
        "agents_with_memory": int(rows.loc[rows["memory_available"], "participant"].nunique()),
        "run_ids": sorted(rows["run_id"].unique()),
        "baseline": sorted({word for word in rows["baseline"].unique() if word}),
    }


def described_items(
    waves: Mapping[str, pd.DataFrame], instrument: LongitudinalInstrument, language: Language
) -> list[dict[str, Any]]:
    """Every closed item in the instrument's order, each wave described on raw values."""
    groups = {
        wave: dict(list(rows[["item_id", "value", "confidence"]].groupby("item_id")))
        for wave, rows in waves.items()
        if len(rows)
    }
    described = []
    for item in instrument.items:
        scale = instrument.scale_of(item.item_id)
        described.append(
            {
                "item": item.item_id,
                "wording": item.wording.in_(language),
                "family": item.family,
                "reverse_keyed": item.reverse_coded,
                "control": item.control,
                "scale_min": scale.min,
                "scale_max": scale.max,
                "scale_labels": {str(point): text.in_(language) for point, text in sorted(scale.labels.items())},
                "waves": {
                    wave: _described(by_item.get(item.item_id), scale.min, scale.max)
                    for wave, by_item in groups.items()
                },
            }
        )
    return described


def _described(rows: pd.DataFrame | None, low: int, high: int) -> dict[str, Any]:
    """n, mean, median, SD (n − 1) and the distribution over the scale's own points."""
    if rows is None:
        return {"n_responded": 0, "n_total": 0, "mean": None, "median": None, "sd": None, "distribution": {}}
    values = rows["value"].dropna()
    counts = frequencies(values.to_numpy(dtype=float), low, high)
    return {
        "n_responded": len(values),
        "n_total": len(rows),
        "mean": float(values.mean()) if len(values) else None,
        "median": float(values.median()) if len(values) else None,
        "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        "mean_confidence": float(rows["confidence"].mean()) if rows["confidence"].notna().any() else None,
        "distribution": {str(low + step): int(n) for step, n in enumerate(counts)},
    }


def comments(
    waves: Mapping[str, pd.DataFrame], instrument: LongitudinalInstrument, language: Language
) -> dict[str, Any] | None:
    """The open comments, in the population's order; of a large population evenly spread ones."""
    if instrument.comment is None:
        return None
    item = instrument.comment
    found: dict[str, Any] = {"item": item.item_id, "wording": item.wording.in_(language), "waves": {}}
    for wave, rows in waves.items():
        asked = rows[rows["item_id"].eq(item.item_id)]
        if len(asked):
            answered = responded(asked)
            step = max(1, -(-len(answered) // COMMENTS_LISTED))
            columns = {"participant": "participant", "agent_name": "name", "stakeholder_type": "stakeholder_type"}
            listed = answered.iloc[::step][[*columns, "text"]].rename(columns=columns).to_dict("records")
            found["waves"][wave] = {**counted(asked), "listed": listed}
    return found
