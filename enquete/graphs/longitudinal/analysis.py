"""What moved between T0 and T1: items, families, stakeholder types, agents; and what agents said in their own words.

Only a T0 that was measured before the simulation gives drift. A reconstructed T0 gives an experience effect: the same
figures without tests and intervals. Every figure stands beside its n; missing data is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.change.drift import drift_per_agent, population_drift
from enquete.graphs.longitudinal.change import WAVES, Change, families, items, pairing, untestable
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.placebo import Placebo, placebo_figures
from enquete.graphs.longitudinal.reliability import OVERALL, Retest, reliability_figures
from enquete.graphs.longitudinal.waves import comments, counts, described_items
from enquete.locale import N_, in_language
from enquete.reports.context import UNIT, AnalysisContext, chosen, findings

RETEST = "retest"
"""Id of the probe arm that asks the same again with nothing in between."""

FLAGS: Mapping[str, str] = {
    "reconstructed": N_(
        "Longitudinal: nothing happened in the simulation between T0 (the same personas without memory) and T1. Differences "
        "are an experience effect, not drift."
    ),
    "incomparable": N_("Longitudinal: the change cannot be interpreted. {why}."),
    "no_memory": N_("No agent that answered at T1 had a memory, so nothing of the simulation can show in the answers"),
}


def analyse(
    frame: pd.DataFrame, instrument: LongitudinalInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over one or two waves; see reports/findings.py for the contract.

    Rows of the arm "retest" and of an arm whose role is "placebo" may stand in the frame: they are read for the reliable
    change index and for drift minus placebo alone. Every other row counts as the main arm's.
    """
    main, retest, placebo = _by_use(frame)
    waves = {wave: chosen(main, main["phase"].eq(wave)) for wave in WAVES}
    asked = [wave for wave in WAVES if len(waves[wave])]
    kind = _kind(asked, context)
    change = Change.between(waves["T0"], waves["T1"], instrument) if kind else None
    reasons = [*context.incomparable, *_without_memory(waves["T1"], context)] if kind else []
    figures: dict[str, Any] = {}
    if change:
        arms = {"retest": retest, "placebo": placebo}
        figures = _figures(change, instrument, context, **arms, kind=kind, reasons=reasons)
    return findings(
        context,
        {
            "baseline": context.baseline,
            "kind": kind,
            "unit_of_inference": UNIT,
            "waves": {wave: counts(waves[wave]) for wave in asked},
            "pairing": pairing(change, waves, context.pairing) if change else None,
            "items": described_items(waves, instrument, context.language),
            "drift": figures if kind == "drift" else None,
            "experience_effect": figures if kind == "experience_effect" else None,
            "comments": comments(waves, instrument, context.language),
            "flags": _flags(kind, reasons, context),
        },
    )


def _by_use(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Main arm, retest arm, placebo arm; the last two are empty where the run has none."""
    retest, placebo = frame["arm"].eq(RETEST), frame["arm_role"].eq("placebo")
    return chosen(frame, ~retest & ~placebo), frame[retest], frame[placebo]


def _kind(asked: list[str], context: AnalysisContext) -> str | None:
    """What a difference between the waves may be called; None where there is only one wave."""
    if len(asked) < len(WAVES):
        return None
    return "experience_effect" if context.baseline == "reconstructed" else "drift"


def _without_memory(rows: pd.DataFrame, context: AnalysisContext) -> list[str]:
    """Why a difference says nothing of the simulation: those who answered at T1 were the same persona with nothing to remember."""
    answered = rows[rows["value"].notna()]
    remembered = answered.empty or answered["memory_available"].any()
    return [] if remembered else [in_language(FLAGS, context.language)["no_memory"]]


def _flags(kind: str | None, reasons: Sequence[str], context: AnalysisContext) -> list[str]:
    words = in_language(FLAGS, context.language)
    flags = [words["reconstructed"]] if kind == "experience_effect" else []
    return [*flags, *(words["incomparable"].format(why=why.removesuffix(".")) for why in reasons)]


def _figures(
    change: Change,
    instrument: LongitudinalInstrument,
    context: AnalysisContext,
    *,
    retest: pd.DataFrame,
    placebo: pd.DataFrame,
    kind: str | None,
    reasons: Sequence[str],
) -> dict[str, Any]:
    """Change by item, family, type and agent. Nothing inferential where it would claim what the design cannot show.

    Against a placebo that starts from the same T0, T0 cancels out: what is compared is T1 with the own and with a neutral
    memory, which a reconstructed T0 does not spoil.

    reasons: why the change cannot be interpreted; [] where it can.
    """
    tested = kind == "drift" and not reasons
    agents = agent_drift(change, instrument, context.memoryless_weight)
    again, neutral = Retest.of(retest, change, instrument), Placebo.of(placebo, change, instrument)
    index, reliable = reliability_figures(change, instrument, again, neutral) if tested else (None, None)
    by_item = items(change, tested=tested)
    by_family = families(change, instrument, agents, context.language, tested=tested)
    return {
        "interpretable": not reasons,
        "reasons": list(reasons),
        "population": population_drift(agents, context.memoryless_weight),
        "items": by_item,
        "families": by_family,
        "tests_by_type": _tests_by_type(by_item, by_family) if tested else None,
        "agents": listed_agents(agents, change, index),
        "reliable_change": reliable,
        "minus_placebo": None if reasons else placebo_figures(neutral, change, instrument, agents["weight"]),
        "delta": {
            "rekeyed": True,
            "items": list(change.delta.columns),
            "participants": list(change.delta.index),
            "values": change.delta.to_numpy().tolist(),
        },
    }


def _tests_by_type(by_item: list[dict[str, Any]], by_family: list[dict[str, Any]]) -> dict[str, Any]:
    """How many rows of each table by type there are, and how many could not be significant: see `change_by_item`."""
    return {
        "items": untestable(row for item in by_item for row in item["by_type"]),
        "families": untestable(row["change"] for family in by_family for row in family["by_type"]),
    }


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
