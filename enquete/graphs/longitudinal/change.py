"""Both waves of the same agents: change by item, family and stakeholder type, tested and described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.bootstrap import DRAWS, Interval, without
from enquete.analysis.change import by_item as changes
from enquete.analysis.change.drift import delta_matrix
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.reports import context
from enquete.reports.context import shallow
from enquete.state.asking import Language

WAVES = ("T0", "T1")
TESTS = ("p", "p_holm", "p_bh", "method")
FEWEST_DRAWS = 100  # where the intervals are not shown
EFFECTS = ("hodges_lehmann", "rank_biserial", "cliff", "mean_change")


@dataclass(frozen=True)
class Change:
    """Both waves; participants × items, raw and rekeyed, NaN where missing. Series are by participant."""

    raw: Mapping[str, pd.DataFrame]
    rekeyed: Mapping[str, pd.DataFrame]
    delta: pd.DataFrame  # rekeyed T1 − T0, in the population's order
    memory: pd.Series[bool]  # at T1
    types: pd.Series[str]
    names: pd.Series[str]

    @classmethod
    def between(cls, first: pd.DataFrame, second: pd.DataFrame, instrument: LongitudinalInstrument) -> Change:
        """first, second: the rows of T0 and T1."""
        rows = dict(zip(WAVES, (first, second), strict=True))
        raw, rekeyed = (
            {wave: wide(rows[wave], instrument, column) for wave in WAVES} for column in ("value", "value_rekeyed")
        )
        people = pd.concat([second, first]).drop_duplicates("participant").set_index("participant")
        memory = second.drop_duplicates("participant").set_index("participant")["memory_available"]
        delta = delta_matrix(rekeyed["T0"], rekeyed["T1"]).reindex(people.index)
        return cls(raw, rekeyed, delta, memory, people["stakeholder_type"], people["agent_name"])


def wide(rows: pd.DataFrame, instrument: LongitudinalInstrument, column: str) -> pd.DataFrame:
    """Participants in the population's order × items in the instrument's; NaN where there is no answer."""
    return context.wide(rows, [item.item_id for item in instrument.items], column=column)


def items_by_family(instrument: LongitudinalInstrument) -> dict[str, list[str]]:
    """Item ids of every family, in the instrument's order."""
    return {
        family: [item.item_id for item in instrument.items if item.family == family] for family in instrument.families
    }


def pairing(change: Change, waves: Mapping[str, pd.DataFrame], population: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Agents by the waves they answered, pairs of answers, and how the two populations were joined."""
    answered = {wave: set(change.raw[wave].dropna(how="all").index) for wave in WAVES}
    agents = {who for rows in waves.values() for who in rows["participant"].unique()}
    return {
        "agents_total": len(agents),
        "agents_paired": len(answered["T0"] & answered["T1"]),
        "agents_only_T0": len(answered["T0"] - answered["T1"]),
        "agents_only_T1": len(answered["T1"] - answered["T0"]),
        "agents_neither": len(agents - answered["T0"] - answered["T1"]),
        "pairs": int(change.delta.notna().to_numpy().sum()),
        "pairs_total": len(agents) * change.delta.shape[1],
        "population": dict(population),
    }


def items(change: Change, *, tested: bool) -> list[dict[str, Any]]:
    """Every item on raw values: over all agents, and `by_type`. Without `tested` neither p-values nor intervals."""
    found = changes.change_by_item(change.raw["T0"], change.raw["T1"], change.types, draws=_draws(tested))
    by_type = _grouped(found, tested)
    return [
        {"item": one.name, **_row(one, tested), "by_type": by_type.get(one.name, [])}
        for one in found
        if one.stakeholder_type is None
    ]


def families(
    change: Change, instrument: LongitudinalInstrument, agents: pd.DataFrame, language: Language, *, tested: bool
) -> list[dict[str, Any]]:
    """Families on rekeyed values: mean Δ of each agent's items, weighted and not, with the test of the agents' scores.

    agents: `agent_drift`, for the weights. An agent counts once however many items of the family it answered.
    """
    members = items_by_family(instrument)
    found = changes.change_by_family(
        change.rekeyed["T0"], change.rekeyed["T1"], members, change.types, draws=_draws(tested)
    )
    overall = {one.name: _row(one, tested) for one in found if one.stakeholder_type is None}
    by_type = _grouped(found, tested)
    listed = []
    for family, described in instrument.families.items():
        own = change.delta[members[family]].mean(axis=1)
        groups = [
            {**row, **_mean(own[change.types.eq(row["stakeholder_type"])], agents), "change": _without_type(row)}
            for row in by_type.get(family, [])
        ]
        kept = ("stakeholder_type", "n", "n_total", "mean", "mean_unweighted", "change")
        listed.append(
            {"family": family, "label": described.label.in_(language), "items": members[family], **_mean(own, agents),
             "change": overall[family], "by_type": [{key: row[key] for key in kept} for row in groups]}
        )  # fmt: skip
    return listed


def untestable(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Of rows by type: how many there are, and how many could not be significant and so were left out of the tests."""
    all_rows = list(rows)
    few = [row for row in all_rows if not changes.testable(row["n"] - row["n_zero"])]
    return {"n": len(all_rows), "n_untestable": len(few)}


def _draws(tested: bool) -> int:
    return DRAWS if tested else FEWEST_DRAWS


def _grouped(found: Iterable[changes.Change], tested: bool) -> dict[str, list[dict[str, Any]]]:
    """The rows by stakeholder type of each item or family."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        if one.stakeholder_type is not None:
            row = {"stakeholder_type": one.stakeholder_type, **_row(one, tested)}
            rows.setdefault(one.name, []).append(row)
    return rows


def _without_type(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "stakeholder_type"}


def _row(one: changes.Change, tested: bool) -> dict[str, Any]:
    """Test, effects and corrections of one line of a table."""
    effects = {name: shallow(getattr(one.effects, name)) for name in EFFECTS}
    row: dict[str, Any] = {**shallow(one.test), "p_holm": one.p_holm, "p_bh": one.p_bh, "effects": effects}
    if tested:
        return row
    bare = {name: shallow(_descriptive(getattr(one.effects, name))) for name in EFFECTS}
    return {**{key: value for key, value in row.items() if key not in TESTS}, "effects": bare}


def _descriptive(interval: Interval) -> Interval:
    estimate = np.nan if interval.estimate is None else interval.estimate
    return without(estimate, interval.level, "not shown: the design allows no inference")


def _mean(values: pd.Series[float], agents: pd.DataFrame) -> dict[str, Any]:
    """Weighted and unweighted mean over the agents that have a pair; n of them and of all."""
    known = values.dropna()
    weight = agents["weight"].reindex(known.index).to_numpy(dtype=float)
    weighted = float(np.average(known, weights=weight)) if weight.sum() > 0 else None
    unweighted = float(known.mean()) if len(known) else None
    return {"n": len(known), "n_total": len(values), "mean": weighted, "mean_unweighted": unweighted}
