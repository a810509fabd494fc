"""Tests over the ratings: which scenarios differ, and whether stakeholder types rate or wish differently.

Agents of one run share a model and a wording: p describes this run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from enquete.analysis.agreement.concordance import pairwise_wilcoxon
from enquete.analysis.change.paired import holm
from enquete.analysis.relations.association import GroupTest, eta_squared, kruskal_wallis
from enquete.analysis.relations.polarity import polarity
from enquete.graphs.scenario.wishes import Points
from enquete.reports.context import shallow
from enquete.reports.key_findings import FEWEST


def pairwise(ratings: pd.DataFrame) -> list[dict[str, Any]]:
    """Every two scenarios on one dimension, p adjusted by Holm within it. ratings: participants × '<scenario>/<dimension>'."""
    found = []
    for one in pairwise_wilcoxon(ratings):
        (first, dimension), second = _parts(one.first), _parts(one.second)[0]
        test = shallow(one.test)
        found.append(
            {"dimension": dimension, "first": first, "second": second, **test, "n_total": len(ratings), "p_holm": one.p_holm}
        )  # fmt: skip
    return found


def group_tests(ratings: pd.DataFrame, types: pd.Series[str]) -> list[dict[str, Any]]:
    """Kruskal–Wallis with ε² by stakeholder type for each rating, p adjusted by Holm over all of them.

    Only types with FEWEST ratings or more: smaller ones say little about a group, but make ε² large. Up to 200 agents p is
    from permutations (see analysis/groups).
    """
    found = []
    for item in map(str, ratings.columns):
        scenario, dimension = _parts(item)
        figures = _figures(
            kruskal_wallis(ratings[item], _large(types, ratings[item])), "h", "epsilon_squared", len(ratings)
        )
        found.append({"scenario": scenario, "dimension": dimension, "item": item, **figures})
    return _corrected(found)


def polarity_tests(points: Points | None, types: pd.Series[str]) -> list[dict[str, Any]]:
    """η² by stakeholder type: which share of the variance of polarity lies between types, by scenario.

    [] where polarity is not defined. Types and p as in `group_tests`.
    """
    found = []
    for scenario, point in points.raw.items() if points else ():
        values = pd.Series(polarity(point["wish"], point["expectation"]), index=point.index)
        figures = _figures(eta_squared(values, _large(types, values)), "f", "eta_squared", len(values))
        found.append({"scenario": scenario, **figures})
    return _corrected(found)


def _large(types: pd.Series[str], values: pd.Series[float]) -> pd.Series[str]:
    """The types of agents whose type has enough values; NaN for the others."""
    rated = types.where(values.notna())
    return rated.where(rated.map(rated.value_counts()).ge(FEWEST))


def _parts(item: str) -> tuple[str, str]:
    scenario, _, dimension = item.rpartition("/")
    return scenario, dimension


def _figures(test: GroupTest, statistic: str, effect: str, n_total: int) -> dict[str, Any]:
    return {
        "n": test.n, "n_total": n_total, "groups": dict(test.groups), statistic: test.statistic, "df": list(test.df),
        "p": test.p, "method": test.method, effect: test.effect, "reason": test.reason,
    }  # fmt: skip


def _corrected(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    adjusted = holm([entry["p"] for entry in entries])
    return [{**entry, "p_holm": p} for entry, p in zip(entries, adjusted, strict=True)]
