"""Whose sorts and axes can be analysed, and how far the sorts are the agents' own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.panel.dispersion import frequencies
from enquete.analysis.qmethod.sorts import legal
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.reports.context import counted, tally, wide
from enquete.state.asking import Language


@dataclass(frozen=True)
class Sorts:
    """sort, axes: agents × items in the instrument's order, NaN where there is no answer; all agents, in the population's
    order. reason: why an agent is left out of the analysis, "" where it is not. people: name, stakeholder_type."""

    sort: pd.DataFrame
    axes: pd.DataFrame
    reason: pd.Series[str]
    people: pd.DataFrame

    def analysed(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Sort and axes of the agents that have both, complete and legal."""
        kept = self.reason.eq("")
        return self.sort[kept], self.axes[kept]


def read_sorts(frame: pd.DataFrame, instrument: DiversityInstrument) -> Sorts:
    """The response table as vectors of numbers, one an agent."""
    everybody = frame["participant"].unique()
    sort = wide(frame, [statement.statement_id for statement in instrument.statements], people=everybody)
    axes = wide(frame, [axis.axis_id for axis in instrument.likert_axes], people=everybody)
    missing = sort.isna().any(axis=1)
    illegal = ~missing & ~legal(sort.to_numpy(), instrument.distribution)
    reason = pd.Series("", index=sort.index, dtype="str")
    reason[axes.isna().any(axis=1)] = "axes incomplete"
    reason[illegal] = "sort off the grid"
    reason[missing] = "sort incomplete"
    people = frame.drop_duplicates("participant").set_index("participant")
    return Sorts(sort, axes, reason, people[["agent_name", "stakeholder_type"]].rename(columns={"agent_name": "name"}))


def participation(frame: pd.DataFrame, sorts: Sorts, instrument: DiversityInstrument) -> dict[str, Any]:
    """Answers and agents by part, and who is left out why."""
    statements = frame["item_id"].isin(sorts.sort.columns)
    left_out = sorts.people[sorts.reason.ne("")].assign(reason=sorts.reason)
    counts = sorts.reason.value_counts()
    return {
        "sort": {**counted(frame[statements]), "agents_complete": int(sorts.sort.notna().all(axis=1).sum())},
        "axes": {**counted(frame[~statements]), "agents_complete": int(sorts.axes.notna().all(axis=1).sum())},
        "agents_total": len(sorts.reason),
        "agents_analysed": int(counts.get("", 0)),
        "left_out": {str(reason): int(n) for reason, n in sorted(counts.items()) if reason},
        "agents_left_out": left_out.reset_index().to_dict("records"),
    }


def own_sorts(frame: pd.DataFrame, sorts: Sorts, instrument: DiversityInstrument) -> dict[str, Any]:
    """How many placements of the complete sorts were moved to fit the grid, or placed again by the agent when asked.

    Read from the rows: column `placed` holds an agent's own placements; where the last of them is not the value, the
    statement was moved.
    """
    complete = sorts.sort.index[sorts.sort.notna().all(axis=1)]
    rows = frame[frame["item_id"].isin(sorts.sort.columns) & frame["participant"].isin(complete)]
    own = [_placements(text) for text in rows["placed"]] if "placed" in rows else [[] for _ in range(len(rows))]
    found = pd.DataFrame(
        {
            "participant": rows["participant"].to_numpy(),
            "moved": [bool(p) and p[-1] != value for p, value in zip(own, rows["value"], strict=True)],
            "again": [len(p) > 1 for p in own],
        }
    )
    agents = found.groupby("participant", sort=False)[["moved", "again"]].sum().reindex(complete, fill_value=0)
    touched = sorts.people.join(agents[agents.any(axis=1)].astype(int), how="inner")
    total = int(sorts.sort.loc[complete].size)
    return {
        "distribution": {str(column): places for column, places in instrument.distribution.items()},
        "placements": total,
        "agents": len(complete),
        "moved": int(agents["moved"].sum()),
        "share_moved": float(agents["moved"].sum() / total) if total else None,
        "again": int(agents["again"].sum()),
        "agents_moved": int(agents["moved"].gt(0).sum()),
        "agents_again": int(agents["again"].gt(0).sum()),
        "by_agent": touched.rename_axis("participant").reset_index().to_dict("records"),
    }


def _placements(text: object) -> list[int]:
    found: object = json.loads(text) if isinstance(text, str) and text else None
    return [int(column) for column in found] if isinstance(found, list) else []


def described(sorts: Sorts, instrument: DiversityInstrument, language: Language) -> Mapping[str, list[dict[str, Any]]]:
    """Every statement and axis: n, mean, SD (n − 1), distribution over its points; of all answers there are."""
    columns = list(instrument.distribution)
    statements = [
        {
            "item": s.statement_id,
            "wording": s.label.in_(language),
            "short": s.brief(language),
            **_figures(sorts.sort[s.statement_id], columns[0], columns[-1]),
        }
        for s in instrument.statements
    ]
    axes = [
        {
            "item": a.axis_id,
            "wording": a.label.in_(language),
            "low": a.low.in_(language),
            "high": a.high.in_(language),
            "points": a.points,
            **_figures(sorts.axes[a.axis_id], 1, a.points),
        }
        for a in instrument.likert_axes
    ]
    return {"statements": statements, "axes": axes}


def _figures(column: pd.Series[float], low: int, high: int) -> dict[str, Any]:
    values = column.dropna().to_numpy(dtype=float)
    return {
        "n_responded": len(values),
        "n_total": len(column),
        "mean": float(values.mean()) if len(values) else None,
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "distribution": {str(low + step): int(n) for step, n in enumerate(frequencies(values, low, high))},
    }


def by_type(types: pd.Series[str], inside: np.ndarray[Any, np.dtype[np.bool_]], whole: str) -> list[dict[str, Any]]:
    """How many of a group are of a stakeholder type, and how many of that type are in the group.

    whole: what the group is called in "share_of_<whole>".
    """
    everybody = tally(types)
    return [
        {
            "stakeholder_type": kind,
            "n": n,
            "n_of_type": everybody[kind],
            f"share_of_{whole}": float(n / inside.sum()),
            "share_of_type": float(n / everybody[kind]),
        }
        for kind, n in tally(types[inside]).items()
    ]
