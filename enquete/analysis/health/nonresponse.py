"""Refused, repaired and missing answers: how many, where, and whether types of agents differ in them.

Formulas, bounds and minima are those of `health_thresholds.QUALITY`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from enquete.analysis.answers import STATUSES
from enquete.analysis.change.paired import holm
from enquete.analysis.health.diagnostics import Detail, Diagnostic, Ruling, compared, judged
from enquete.analysis.health.thresholds import ALPHA, LEAST_OF_A_TYPE, MOST_GAPS, THRESHOLDS

KINDS = {"refusal": ("refused",), "repair": ("repaired",), "missing": ("invalid", "failed")}
MOST_CELLS = 20  # named in a detail

_NEEDED = ("participant", "stakeholder_type", "item", "status")


def nonresponse(frame: pd.DataFrame) -> list[Diagnostic]:
    """Rates of each kind, overall and by item × type, and their difference between types.

    frame: one row per answer, open questions included; rows 'not_reached' were never asked and are left out. Raises
    ValueError naming a missing column or an unknown status.
    """
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")
    if len(unknown := frame.loc[~frame["status"].isin(STATUSES), "status"]):
        raise ValueError(f"status {unknown.iloc[0]!r} is unknown; known are {', '.join(STATUSES)}")
    asked = frame[frame["status"].ne("not_reached")]
    read = asked[asked.columns.intersection([*_NEEDED, "attempts"])]
    hits = read.assign(**{kind: read["status"].isin(of).astype(float) for kind, of in KINDS.items()})
    return [*_rates(hits, len(frame) - len(asked)), *_by_type(hits)]


def _rates(hits: pd.DataFrame, n_not_reached: int) -> list[Diagnostic]:
    cells = hits.groupby(["item", "stakeholder_type"], sort=True)
    cases, size = cells[list(KINDS)].sum(), cells.size()
    attempts = float(hits["attempts"].mean()) if "attempts" in hits.columns and len(hits) else None
    found = []
    for kind in KINDS:
        above = cells_above(pd.DataFrame({"sum": cases[kind], "size": size}))
        value = float(hits[kind].mean()) if len(hits) else None
        detail: Detail = {
            "n_cells": len(size),
            "n_cells_above": len(above),
            "cells_above": above[:MOST_CELLS],
            "n_not_reached": n_not_reached,
            "mean_attempts": attempts,
        }
        rule = THRESHOLDS[f"{kind}_rate"]
        ruling = compared(value, rule.caution, rule.bad) if value is not None else None
        if above and ruling is not None and ruling.verdict == "fine":
            ruling = Ruling("caution", "cells_above")
        found.append(judged(f"{kind}_rate", value, {"answers": len(hits)}, detail=detail, ruling=ruling))
    return found


def cells_above(cells: pd.DataFrame) -> list[dict[str, str | float | int]]:
    """Cells whose rate lies above 5%: exact binomial test, one-sided, Holm over the cells, p < .05; the surest first.

    cells: index (item, stakeholder_type), columns sum (cases) and size (asked). Within a cell every agent answers once.
    """
    k, n = cells["sum"].to_numpy(dtype=float), cells["size"].to_numpy(dtype=float)
    adjusted = holm(np.asarray(stats.binom.sf(k - 1, n, MOST_GAPS)).tolist()) if len(cells) else []
    sure = sorted((p, i) for i, p in enumerate(adjusted) if p is not None and p < ALPHA)
    names = cells.index.to_list()
    return [
        {"item": str(names[i][0]), "type": str(names[i][1]), "rate": float(k[i] / n[i]), "n": int(n[i]), "p_holm": p}
        for p, i in sure
    ]


def _by_type(hits: pd.DataFrame) -> list[Diagnostic]:
    """Agents are the unit: one who refuses everything is one case, not fifty."""
    of_agents = hits.groupby("participant", sort=True)
    agents = of_agents[list(KINDS)].mean().assign(stakeholder_type=of_agents["stakeholder_type"].first())
    sizes = agents["stakeholder_type"].value_counts()
    large = sorted(sizes.index[sizes >= LEAST_OF_A_TYPE])
    kept = agents[agents["stakeholder_type"].isin(large)]
    counts = {"agents": len(kept), "types": len(large), "agents_of_small_types": len(agents) - len(kept)}
    ps = [_kruskal(kept, kind) for kind in KINDS]
    means = kept.groupby("stakeholder_type")[list(KINDS)].mean()
    return [_difference(kind, means[kind], counts, p, q) for kind, p, q in zip(KINDS, ps, holm(ps), strict=True)]


def _kruskal(agents: pd.DataFrame, kind: str) -> float | None:
    """p of Kruskal–Wallis (tie-corrected) of the agents' rates between types; None without variation or a second type."""
    if agents[kind].nunique() < 2 or agents["stakeholder_type"].nunique() < 2:
        return None
    groups = [group.to_numpy(dtype=float) for _, group in agents.groupby("stakeholder_type")[kind]]
    return float(stats.kruskal(*groups).pvalue)


def _difference(
    kind: str, means: pd.Series[float], counts: dict[str, int], p: float | None, adjusted: float | None
) -> Diagnostic:
    """means: rate by type."""
    name = f"{kind}_by_type"
    value = float(np.ptp(means.to_numpy(dtype=float))) if len(means) else None
    rates = {str(one): float(mean) for one, mean in means.items()}
    rule, ruling = THRESHOLDS[name], None
    if value is not None:
        sure = adjusted is not None and adjusted < ALPHA
        ruling = compared(value, rule.caution, rule.bad) if sure else Ruling("fine", "")
    detail: Detail = {"rates": rates, "p": p, "p_holm": adjusted}
    return judged(name, value, counts, detail=detail, ruling=ruling)
