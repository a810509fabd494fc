"""What joining across methods reads of each methodology's findings. A methodology author sees here what to provide.

Whatever is missing gives None with a reason, never an empty table: a claim that cannot be made is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.reports.crossing.claims import ARCHETYPE

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
        "disagreements[*], hold_outs[*]: item, theme, dimension, agreement, kind ('camps', 'hold_outs', 'scattered'); "
        "below.participants, above.participants (of a camp, or all who hold out)",
        "convergence: not empty once ratings have been revised",
        "medians_shown: by item rated in the last round",
        "last_round, themes[*]: id, label",
    ),
    "scenario": (
        "scenarios[*]: scenario, label",
        "polarity.desirability: id of the dimension that asks how desirable a scenario is",
        "dimensions[*]: dimension, scale_min, scale_max",
    ),
}
"""Findings that crossing reads, by methodology. Participants are ids as in the response table."""

SIDES = ("disagreements", "hold_outs")
"""Delphi findings that say who stands where."""


@dataclass(frozen=True)
class Drift:
    """How far each agent moved, or what memory changed in its answers."""

    kind: str  # drift, experience_effect
    moved: pd.Series[float]  # by participant, mean absolute change in scale points


@dataclass(frozen=True)
class HoldOuts:
    """Who holds out after the last revision; items on which the panel falls into camps are left out."""

    share: pd.Series[float]  # of its ratings in the last round, by participant who gave one
    held: Mapping[str, frozenset[str]]  # item → those who hold out on it; no item without one
    last_round: int
    parts: tuple[str, ...] = ()  # of the findings that name them: disagreements, hold_outs


@dataclass(frozen=True)
class Camps:
    """The item that splits the panel most (least A), and the two sides."""

    item: str
    theme: str  # its label
    dimension: str
    below: frozenset[str]
    above: frozenset[str]
    last_round: int
    n_items: int  # on which there are camps


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


def revised(results: Results) -> int | Missing:
    """The last round of a Delphi whose ratings have been revised: before that nobody holds out."""
    found = results.get("delphi")
    if found is None:
        return Missing("no_delphi")
    last = found.get("last_round")
    return last if found.get("convergence") and isinstance(last, int) else Missing("no_revision")


def last_ratings(frame: pd.DataFrame, last: int) -> pd.DataFrame:
    """Rows of the last round's ratings. frame: rows of the main arm."""
    return frame[frame["methodology"].eq("delphi") & frame["round"].eq(last) & frame["value"].notna()]


def hold_outs(results: Results, frame: pd.DataFrame) -> HoldOuts | Missing:
    """As `analysis.holdouts.hold_outs` defines them, over all ratings of the last round. frame: rows of the main arm."""
    last = revised(results)
    if isinstance(last, Missing):
        return last
    sides = _sides(results)
    standing = [one for one in sides if one.get("kind") == "hold_outs" and _members(one)]
    held = {str(one["item"]): frozenset(_members(one)) for one in standing}
    parts = tuple(
        name for name in SIDES if any(one in standing for one in _list(_mapping(results["delphi"]).get(name)))
    )
    split = [str(one["item"]) for one in sides if one.get("kind") == "camps"]
    rows = last_ratings(frame, last)
    rows = rows[~rows["item_id"].isin(split)]
    if rows.empty:
        return Missing("no_single_panel")
    out = [float(who in held.get(item, ())) for who, item in zip(rows["participant"], rows["item_id"], strict=True)]
    share = pd.Series(out, index=rows["participant"].tolist(), dtype=float)
    return HoldOuts(share.groupby(level=0, sort=False).mean(), held, last, parts)


def camps(results: Results) -> Camps | Missing:
    """The two sides of the item that splits the panel most."""
    last = revised(results)
    if isinstance(last, Missing):
        return last
    split = [one for one in _sides(results) if one.get("kind") == "camps"]
    if not split:
        return Missing("no_camps")
    one = min(split, key=lambda one: (float(one.get("agreement") or 0.0), str(one["item"])))
    labels = {theme.get("id"): theme.get("label") for theme in _list(_mapping(results.get("delphi")).get("themes"))}
    below, above = (frozenset(map(str, one[side]["participants"])) for side in ("below", "above"))
    theme, dimension = str(labels.get(one.get("theme")) or one.get("theme")), str(one.get("dimension"))
    return Camps(str(one["item"]), theme, dimension, below, above, last, len(split))


def _sides(results: Results) -> list[Mapping[str, Any]]:
    """Items of which the Delphi says who stands where."""
    found = _mapping(results.get("delphi"))
    listed = [one for name in SIDES for one in _list(found.get(name))]
    both = ("below", "above")
    return [one for one in listed if "item" in one and all("participants" in _mapping(one.get(k)) for k in both)]


def _members(one: Mapping[str, Any]) -> list[str]:
    return [str(who) for side in ("below", "above") for who in one[side]["participants"]]


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
