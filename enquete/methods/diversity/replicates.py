"""Types of a further run under the names of the main run's: letters go by size, which differs from run to run."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import scipy

from enquete.reports.declarations import Analysis

TYPE_COLUMNS = {"types": "type", "type_items": "type", "type_groups": "type", "agents": "archetype"}
"""The column with a type's name, by table."""


def rename_types(analysis: Analysis, main: Analysis) -> Analysis:
    """Return the tables with each type named as the type of the main arm that it shares most members with.

    Each is matched at most once (Kuhn 1955); a type without a match keeps its letter with a mark, "A′".
    """
    theirs, mains = (_types_of_agents(arm) for arm in (analysis, main))
    if theirs.empty or mains.empty:
        return analysis
    shared = pd.crosstab(theirs, mains.reindex(theirs.index))
    rows, columns = scipy.optimize.linear_sum_assignment(-shared.to_numpy())

    names = {str(name): f"{name}′" for name in analysis.tables["types"]["type"]}
    for place, main_place in zip(rows.tolist(), columns.tolist(), strict=True):
        if shared.iat[place, main_place]:
            names[str(shared.index[place])] = str(shared.columns[main_place])

    tables = dict(analysis.tables)
    for table, column in TYPE_COLUMNS.items():
        renamed = [names.get(letter, letter) for letter in tables[table][column]]
        tables[table] = tables[table].assign(**{column: pd.Series(renamed, tables[table].index, dtype=object)})
    return replace(analysis, tables=tables)


def _types_of_agents(analysis: Analysis) -> pd.Series[str]:
    return analysis.tables["agents"].set_index("participant")["archetype"].dropna()
