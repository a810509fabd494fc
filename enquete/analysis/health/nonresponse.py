"""Refused, repaired and missing answers: how many, where, and whether types of agents differ in them.

Formulas, bounds and minima are those of `health_thresholds.QUALITY`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from enquete.analysis.answers import STATUSES, Codes, Flags, Floats
from enquete.analysis.change.paired import holm
from enquete.analysis.health.diagnostics import Detail, Diagnostic, Ruling, compared, judged
from enquete.analysis.health.thresholds import ALPHA, LEAST_OF_A_TYPE, MOST_GAPS, THRESHOLDS

KINDS = {"refusal": ("refused",), "repair": ("repaired",), "missing": ("invalid", "failed")}
MOST_CELLS = 20  # named in a detail

_NEEDED = ("participant", "stakeholder_type", "item", "status")


@dataclass(frozen=True)
class _Asked:
    """What was asked: participant, item and type of each answer as numbers, and by kind whether it is a gap of that kind."""

    person: Codes
    item: Codes
    kind: Codes  # stakeholder type
    items: pd.Index[Any]
    types: pd.Index[Any]
    hits: Mapping[str, Flags]
    attempts: float | None  # mean
    n_not_reached: int

    @property
    def n(self) -> int:
        return len(self.person)


def nonresponse(frame: pd.DataFrame) -> list[Diagnostic]:
    """Rates of each kind, overall and by item × type, and their difference between types.

    frame: one row per answer, open questions included; rows 'not_reached' were never asked and are left out. Raises
    ValueError naming a missing column or an unknown status.
    """
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")
    status = frame["status"].to_numpy(dtype=object)
    if len(unknown := status[~np.isin(status, STATUSES)]):
        raise ValueError(f"status {unknown[0]!r} is unknown; known are {', '.join(STATUSES)}")
    asked = _read(frame, status)
    return [*_rates(asked), *_by_type(asked)]


def _read(frame: pd.DataFrame, status: NDArray[np.object_]) -> _Asked:
    reached = status != "not_reached"
    columns = (frame[name].to_numpy(dtype=object)[reached] for name in ("participant", "item", "stakeholder_type"))
    (person, _), (item, items), (kind, types) = (pd.factorize(column, sort=True) for column in columns)
    hits = {name: np.isin(status[reached], of) for name, of in KINDS.items()}
    attempts = frame["attempts"].to_numpy(dtype=float)[reached] if "attempts" in frame.columns else np.empty(0)
    mean = float(attempts.mean()) if len(attempts) else None
    names = (pd.Index([str(name) for name in found]) for found in (items, types))
    return _Asked(person, item, kind, next(names), next(names), hits, mean, int((~reached).sum()))


def _rates(asked: _Asked) -> list[Diagnostic]:
    cell = asked.item * len(asked.types) + asked.kind
    size = np.bincount(cell, minlength=len(asked.items) * len(asked.types))
    cells = pd.MultiIndex.from_product([asked.items, asked.types], names=["item", "stakeholder_type"])[size > 0]
    found = []
    for kind, hits in asked.hits.items():
        cases = np.bincount(cell, weights=hits, minlength=size.size)
        above = cells_above(pd.DataFrame({"sum": cases[size > 0], "size": size[size > 0]}, index=cells))
        value = float(hits.mean()) if asked.n else None
        detail: Detail = {
            "n_cells": len(cells),
            "n_cells_above": len(above),
            "cells_above": above[:MOST_CELLS],
            "n_not_reached": asked.n_not_reached,
            "mean_attempts": asked.attempts,
        }
        rule = THRESHOLDS[f"{kind}_rate"]
        ruling = compared(value, rule.caution, rule.bad) if value is not None else None
        if above and ruling is not None and ruling.verdict == "fine":
            ruling = Ruling("caution", "cells_above")
        found.append(judged(f"{kind}_rate", value, {"answers": asked.n}, detail=detail, ruling=ruling))
    return found


def cells_above(cells: pd.DataFrame) -> list[dict[str, str | float | int]]:
    """Cells whose rate lies above 5%: exact binomial test, one-sided, Holm over the cells, p < .05; the surest first.

    cells: index (item, stakeholder_type), columns sum (cases) and size (asked). Within a cell every agent answers once.
    """
    k, n = cells["sum"].to_numpy(dtype=float), cells["size"].to_numpy(dtype=int)
    adjusted = holm(np.asarray(scipy.special.bdtrc(k - 1, n, MOST_GAPS)).tolist()) if len(cells) else []
    sure = sorted((p, i) for i, p in enumerate(adjusted) if p is not None and p < ALPHA)
    names = cells.index.to_list()
    return [
        {"item": str(names[i][0]), "type": str(names[i][1]), "rate": float(k[i] / n[i]), "n": int(n[i]), "p_holm": p}
        for p, i in sure
    ]


def _by_type(asked: _Asked) -> list[Diagnostic]:
    """Agents are the unit: one who refuses everything is one case, not fifty."""
    first, n = np.unique(asked.person, return_index=True, return_counts=True)[1:]
    kind = asked.kind[first]
    rates = pd.DataFrame({name: np.bincount(asked.person, weights=hits) / n for name, hits in asked.hits.items()})
    large = np.flatnonzero(np.bincount(kind, minlength=len(asked.types)) >= LEAST_OF_A_TYPE)
    kept = np.isin(kind, large)
    counts = {"agents": int(kept.sum()), "types": len(large), "agents_of_small_types": int((~kept).sum())}
    means = rates[kept].groupby(asked.types[kind[kept]]).mean()
    ps = [_kruskal([rates[name].to_numpy()[kind == one] for one in large]) for name in KINDS]
    return [_difference(name, means[name], counts, p, q) for name, p, q in zip(KINDS, ps, holm(ps), strict=True)]


def _kruskal(rates: Sequence[Floats]) -> float | None:
    """p of Kruskal–Wallis (tie-corrected) of the agents' rates between types; None without variation or a second type."""
    if len(rates) < 2 or np.ptp(np.concatenate(rates)) == 0:
        return None
    return float(scipy.stats.kruskal(*rates).pvalue)


def _difference(
    kind: str, means: pd.Series[float], counts: dict[str, int], p: float | None, adjusted: float | None
) -> Diagnostic:
    """means: of the agents' rates, by type."""
    name = f"{kind}_by_type"
    value = float(np.ptp(means.to_numpy(dtype=float))) if len(means) else None
    rule, ruling = THRESHOLDS[name], None
    if value is not None:
        sure = adjusted is not None and adjusted < ALPHA
        ruling = compared(value, rule.caution, rule.bad) if sure else Ruling("fine", "")
    detail: Detail = {"rates": {str(one): float(mean) for one, mean in means.items()}, "p": p, "p_holm": adjusted}
    return judged(name, value, counts, detail=detail, ruling=ruling)
