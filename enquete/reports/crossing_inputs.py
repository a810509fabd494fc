"""What joining across methods reads of each methodology's findings. A methodology author sees here what to provide.

Whatever is missing gives None with a reason, never an empty table: a claim that cannot be made is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.reports.claims import ARCHETYPE

Results = Mapping[str, Mapping[str, JsonValue]]

NEEDS: Mapping[str, tuple[str, ...]] = {
    "longitudinal": (
        "kind: 'drift' or 'experience_effect', the key of what follows",
        "drift.agents[*]: participant, mean_abs (scale points), n_items (complete pairs)",
    ),
    "diversity": (
        "members[*]: participant, archetype (its id); empty where there is no typology",
        "archetypes[*]: archetype (id), name",
    ),
    "delphi": (
        "disagreements[*]: item, round, theme; below.participants, above.participants (all who hold out)",
        "convergence: not empty once ratings have been revised",
        "last_round, themes[*]: id, label",
    ),
    "scenario": (
        "scenarios[*]: scenario, label",
        "polarity.desirability: id of the dimension that asks how desirable a scenario is",
        "dimensions[*]: dimension, scale_min, scale_max",
    ),
}
"""Findings that crossing reads, by methodology. Participants are ids as in the response table."""


@dataclass(frozen=True)
class Drift:
    """How far each agent moved, or what memory changed in its answers."""

    kind: str  # drift, experience_effect
    moved: pd.Series[float]  # by participant, mean absolute change in scale points


@dataclass(frozen=True)
class HoldOuts:
    """Who holds out off the median after the last revision."""

    share: pd.Series[float]  # of the disputed ratings that it gave, by participant who gave one in the last round
    disputed: Mapping[str, frozenset[str]]  # item → those who hold out on it
    last_round: int


@dataclass(frozen=True)
class Wishes:
    """How desirable each scenario is to each agent."""

    ratings: pd.DataFrame  # participants × scenario ids
    labels: Mapping[str, str]  # by scenario id
    dimension: str
    scale: tuple[int, int]


@dataclass(frozen=True)
class Missing:
    """Why there is nothing to join: a key of crossing_text.ABSENT."""

    why: str


def _list(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def drift(results: Results) -> Drift | Missing:
    """Agents with at least one complete pair; not where the waves cannot be compared."""
    found = results.get("longitudinal")
    if found is None:
        return Missing("no_longitudinal")
    kind = found.get("kind")
    if not isinstance(kind, str):
        return Missing("one_wave")
    change = _mapping(found.get(kind))
    if change.get("interpretable") is False:
        return Missing("incomparable")
    agents = [agent for agent in _list(change.get("agents")) if agent.get("n_items")]
    moved = {str(agent["participant"]): agent.get("mean_abs") for agent in agents if "participant" in agent}
    return Drift(kind, pd.Series(moved, dtype=float).dropna()) if moved else Missing("no_pairs")


def archetypes(results: Results) -> pd.Series[str] | Missing:
    """Archetype by participant, for members of one, as `archetype:<id>`."""
    found = results.get("diversity")
    if found is None:
        return Missing("no_diversity")
    known = {str(one["archetype"]) for one in _list(found.get("archetypes")) if "archetype" in one}
    members = {
        str(agent["participant"]): f"{ARCHETYPE}{agent.get('archetype')}"
        for agent in _list(found.get("members"))
        if "participant" in agent and str(agent.get("archetype")) in known
    }
    return pd.Series(members, dtype="str") if members else Missing("no_typology")


def hold_outs(results: Results, frame: pd.DataFrame) -> HoldOuts | Missing:
    """frame: answered rows of the main arm. A panel without a disputed theme has no hold-outs to speak of."""
    found = results.get("delphi")
    if found is None:
        return Missing("no_delphi")
    last = found.get("last_round")
    if not found.get("convergence") or not isinstance(last, int):
        return Missing("no_revision")
    camps = {
        str(one["item"]): frozenset(str(who) for side in ("below", "above") for who in one[side]["participants"])
        for one in _list(found.get("disagreements"))
        if all("participants" in _mapping(one.get(side)) for side in ("below", "above"))
    }
    if not any(camps.values()):
        return Missing("no_dispute")
    last_rows = frame["methodology"].eq("delphi") & frame["round"].eq(last)
    rows = frame[last_rows & frame["item_id"].isin(list(camps)) & frame["value"].notna()]
    out = [float(who in camps[item]) for who, item in zip(rows["participant"], rows["item_id"], strict=True)]
    share = pd.Series(out, index=rows["participant"].tolist(), dtype=float)
    return HoldOuts(share.groupby(level=0, sort=False).mean(), camps, last)


def wishes(results: Results, frame: pd.DataFrame) -> Wishes | Missing:
    """frame: answered rows of the main arm."""
    found = results.get("scenario")
    if found is None:
        return Missing("no_scenario")
    dimension = _mapping(found.get("polarity")).get("desirability")
    scales = {
        one.get("dimension"): (one.get("scale_min"), one.get("scale_max")) for one in _list(found.get("dimensions"))
    }
    low, high = scales.get(dimension, (None, None))
    if not isinstance(dimension, str) or not isinstance(low, int) or not isinstance(high, int):
        return Missing("no_desirability")
    labels = {str(one["scenario"]): str(one.get("label") or one["scenario"]) for one in _list(found.get("scenarios"))}
    items = {f"{scenario}/{dimension}": scenario for scenario in labels}
    rows = frame[frame["methodology"].eq("scenario") & frame["item_id"].isin(list(items)) & frame["value"].notna()]
    if rows.empty:
        return Missing("no_ratings")
    wide = rows.pivot(index="participant", columns="item_id", values="value").astype(float).rename(columns=items)
    return Wishes(wide, labels, dimension, (low, high))
