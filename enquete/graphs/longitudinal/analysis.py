"""What moved between T0 and T1: items, agents, families, stakeholder types; and what agents said in their own words.

Only a T0 that was measured before the simulation gives drift. A reconstructed T0 gives an experience effect: the same
figures without tests. Measured by: every figure stands beside its n; missing data is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.dispersion import frequencies
from enquete.analysis.drift import delta_matrix, drift_per_agent, population_drift
from enquete.analysis.paired import ItemTest, paired_by_item
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.reports.context import AnalysisContext, counted, jsonable, responded
from enquete.state.seam import Language

WAVES = ("T0", "T1")
COMMENTS_LISTED = 40
TESTS = ("p", "p_holm", "p_bh", "method")


@dataclass(frozen=True)
class _Change:
    """Both waves of the same agents; participants × items, raw and rekeyed, NaN where missing."""

    raw: dict[str, pd.DataFrame]
    rekeyed: dict[str, pd.DataFrame]
    memory: pd.Series[bool]
    types: pd.Series[str]
    names: pd.Series[str]


def analyse(
    frame: pd.DataFrame, instrument: LongitudinalInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows of one or two waves; see reports/findings.py for the contract."""
    waves = {wave: frame[frame["phase"].eq(wave)] for wave in WAVES}
    asked = [wave for wave in WAVES if len(waves[wave])]
    kind = _kind(asked, context)
    change = _change(waves, instrument) if kind else None
    figures = _figures(change, instrument, context, with_tests=kind == "drift" and not context.incomparable)
    drift = {"interpretable": not context.incomparable, "reasons": list(context.incomparable), **figures}
    return _as_mapping(
        {
            "baseline": context.baseline,
            "kind": kind,
            "partial": context.partial,
            "outcomes": dict(context.outcomes),
            "waves": {wave: _wave(waves[wave]) for wave in asked},
            "pairing": _pairing(change, waves, context) if change else None,
            "items": _items(waves, instrument, context.language),
            "drift": drift if kind == "drift" else None,
            "experience_effect": figures if kind == "experience_effect" else None,
            "comments": _comments(waves, instrument, context.language),
            "flags": _flags(kind, context),
        }
    )


def _kind(asked: list[str], context: AnalysisContext) -> str | None:
    """What a difference between the waves may be called; None where there is only one wave."""
    if len(asked) < len(WAVES):
        return None
    return "experience_effect" if context.baseline == "reconstructed" else "drift"


def _flags(kind: str | None, context: AnalysisContext) -> list[str]:
    flags = ["longitudinal: baseline reconstructed"] if kind == "experience_effect" else []
    return [*flags, *(f"longitudinal: drift not interpretable: {why}" for why in context.incomparable)]


def _as_mapping(value: dict[str, Any]) -> Mapping[str, JsonValue]:
    found = jsonable(value)
    assert isinstance(found, dict)
    return found


# --- one wave at a time ----------------------------------------------------------------------------------------------


def _wave(rows: pd.DataFrame) -> dict[str, Any]:
    answered = responded(rows)
    return {
        **counted(rows),
        "agents_responded": int(answered["participant"].nunique()),
        "agents_total": int(rows["participant"].nunique()),
        "agents_with_memory": int(rows.loc[rows["memory_available"], "participant"].nunique()),
        "run_ids": sorted(rows["run_id"].unique()),
        "baseline": sorted({word for word in rows["baseline"].unique() if word}),
    }


def _items(
    waves: Mapping[str, pd.DataFrame], instrument: LongitudinalInstrument, language: Language
) -> list[dict[str, Any]]:
    """Every closed item in the instrument's order, each wave described on raw values."""
    groups = {wave: dict(list(rows.groupby("item_id"))) for wave, rows in waves.items() if len(rows)}
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


def _comments(
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


# --- both waves ------------------------------------------------------------------------------------------------------


def _change(waves: Mapping[str, pd.DataFrame], instrument: LongitudinalInstrument) -> _Change:
    items = [item.item_id for item in instrument.items]
    raw, rekeyed = (
        {wave: _pivot(waves[wave], items, column) for wave in WAVES} for column in ("value", "value_rekeyed")
    )
    people = pd.concat([waves["T1"], waves["T0"]]).drop_duplicates("participant").set_index("participant")
    memory = waves["T1"].drop_duplicates("participant").set_index("participant")["memory_available"]
    return _Change(raw, rekeyed, memory, people["stakeholder_type"], people["agent_name"])


def _pivot(rows: pd.DataFrame, items: list[str], column: str) -> pd.DataFrame:
    """Participants in the population's order × items in the instrument's; NaN where there is no answer."""
    closed = rows[rows["item_id"].isin(items)]
    wide = closed.pivot(index="participant", columns="item_id", values=column).astype(float)
    return wide.reindex(index=closed["participant"].unique(), columns=items)


def _pairing(change: _Change, waves: Mapping[str, pd.DataFrame], context: AnalysisContext) -> dict[str, Any]:
    """Agents by the waves they answered, pairs of answers, and how the two populations were joined."""
    answered = {wave: set(change.raw[wave].dropna(how="all").index) for wave in WAVES}
    both = change.raw["T1"].reindex(change.raw["T0"].index)
    pairs = int((both.notna() & change.raw["T0"].notna()).to_numpy().sum())
    agents = {who for rows in waves.values() for who in rows["participant"].unique()}
    return {
        "agents_total": len(agents),
        "agents_paired": len(answered["T0"] & answered["T1"]),
        "agents_only_T0": len(answered["T0"] - answered["T1"]),
        "agents_only_T1": len(answered["T1"] - answered["T0"]),
        "agents_neither": len(agents - answered["T0"] - answered["T1"]),
        "pairs": pairs,
        "pairs_total": len(agents) * change.raw["T0"].shape[1],
        "population": dict(context.pairing),
    }


def _figures(
    change: _Change | None, instrument: LongitudinalInstrument, context: AnalysisContext, *, with_tests: bool
) -> dict[str, Any]:
    """Change by item, family, type and agent. Without tests where a test would claim what the design cannot show."""
    if change is None:
        return {}
    ranges = {item.item_id: _range(instrument, item.item_id) for item in instrument.items}
    delta = delta_matrix(change.rekeyed["T0"], change.rekeyed["T1"])
    delta = delta.reindex(change.types.index)  # population order instead of sorted ids
    agents = drift_per_agent(delta, ranges, change.memory, context.memoryless_weight)
    return {
        "population": population_drift(agents, context.memoryless_weight),
        "items": [_tested(test, with_tests) for test in paired_by_item(change.raw["T0"], change.raw["T1"])],
        "families": _families(delta, agents, instrument, change.types, context.language),
        "agents": _agents(agents, change),
        "delta": {
            "rekeyed": True,
            "items": list(delta.columns),
            "participants": list(delta.index),
            "values": delta.to_numpy().tolist(),
        },
    }


def _range(instrument: LongitudinalInstrument, item: str) -> tuple[float, float]:
    scale = instrument.scale_of(item)
    return float(scale.min), float(scale.max)


def _tested(found: ItemTest, with_tests: bool) -> dict[str, Any]:
    """Change of one item on raw values; the tests' p-values only where they may be read as drift."""
    figures = jsonable(found.test)
    assert isinstance(figures, dict)
    row: dict[str, Any] = {"item": found.item, **figures, "p_holm": found.p_holm, "p_bh": found.p_bh}
    return row if with_tests else {key: value for key, value in row.items() if key not in TESTS}


def _families(
    delta: pd.DataFrame,
    agents: pd.DataFrame,
    instrument: LongitudinalInstrument,
    types: pd.Series[str],
    language: Language,
) -> list[dict[str, Any]]:
    """Mean rekeyed Δ of the items of a family, over all agents and by stakeholder type; each agent counts once."""
    found = []
    for family, described in instrument.families.items():
        items = [item.item_id for item in instrument.items if item.family == family]
        own = delta[items].mean(axis=1)
        by_type = [{"stakeholder_type": kind, **_mean(own[types.eq(kind)], agents)} for kind in sorted(types.unique())]
        found.append(
            {"family": family, "label": described.label.in_(language), "items": items, **_mean(own, agents),
             "by_type": by_type}
        )  # fmt: skip
    return found


def _mean(values: pd.Series[float], agents: pd.DataFrame) -> dict[str, Any]:
    """Weighted and unweighted mean over the agents that have a pair; n of them and of all."""
    known = values.dropna()
    weight = agents["weight"].reindex(known.index).to_numpy(dtype=float)
    weighted = float(np.average(known, weights=weight)) if weight.sum() > 0 else None
    unweighted = float(known.mean()) if len(known) else None
    return {"n": len(known), "n_total": len(values), "mean": weighted, "mean_unweighted": unweighted}


def _agents(agents: pd.DataFrame, change: _Change) -> list[dict[str, Any]]:
    rows = agents.assign(name=change.names, stakeholder_type=change.types)
    rows.index.name = "participant"
    return [{str(key): value for key, value in row.items()} for row in rows.reset_index().to_dict("records")]
