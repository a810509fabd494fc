"""What the ratings were tested for: whether feedback drew the panel together, and whether groups rate a theme differently.

The tests describe this run. Groups of fewer than FEWEST raters take part in none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.change.paired import holm, wilcoxon
from enquete.analysis.relations.association import kruskal_wallis
from enquete.graphs.delphi.ratings import FIRST_RATING, Panel, item_of, main_dimension
from enquete.reports.key_findings import FEWEST


def drawn_together(panel: Panel) -> dict[str, Any] | None:
    """Distance from the medians that were fed back, before and after: mean |rating − M| over an agent's ratings, M the median
    of the first round of rating; Wilcoxon's test over the agents who rated in both. None before a revision."""
    if panel.revised is None or FIRST_RATING not in panel.tables:
        return None
    first, last = panel.tables[FIRST_RATING].align(panel.tables[panel.revised], join="outer")
    medians = pd.Series({item: panel.shown(FIRST_RATING, str(item)) for item in first}, dtype=float).fillna(
        first.median()
    )
    both = first.notna() & last.notna()
    before, after = ((table.sub(medians).abs().where(both)).mean(axis=1).dropna() for table in (first, last))
    found = wilcoxon(before, after)
    return {
        "n": found.n,
        "n_total": len(first),
        "before": float(before.mean()) if found.n else None,
        "after": float(after.mean()) if found.n else None,
        "n_closer": int((after < before - 1e-9).sum()),
        "n_farther": int((after > before + 1e-9).sum()),
        "p": found.p,
        "scale_points": max(_width(panel, dimension) for dimension in panel.dimensions),
    }


def between_groups(panel: Panel, types: pd.Series[str]) -> list[dict[str, Any]]:
    """Each theme in the last round, on the dimension that themes are ranked by: Kruskal–Wallis over the stakeholder types,
    p by Holm over the themes. types: by participant."""
    if panel.last is None:
        return []
    dimension = main_dimension(panel.dimensions)
    tested = [_theme(panel, theme["id"], dimension, types) for theme in panel.themes]
    kept = [one for one in tested if one["p"] is not None]
    adjusted = holm([one["p"] for one in kept])
    return [{**one, "p_holm": p} for one, p in zip(kept, adjusted, strict=True)]


def _theme(panel: Panel, theme: str, dimension: str, types: pd.Series[str]) -> dict[str, Any]:
    assert panel.last is not None
    rated = panel.rated(theme, dimension, panel.last).dropna()
    kinds = types.reindex(rated.index)
    own = kinds[kinds.map(kinds.value_counts()) >= FEWEST]
    found = kruskal_wallis(rated.reindex(own.index), own)
    groups = [
        {"stakeholder_type": str(kind), "n": len(values), "mean": float(np.mean(values))}
        for kind, values in rated.reindex(own.index).groupby(own)
    ]
    return {
        "theme": theme, "dimension": dimension, "item": item_of(theme, dimension), "round": panel.last,
        "groups": sorted(groups, key=lambda one: -float(str(one["mean"]))), "n_total": len(types),
        **{key: getattr(found, key) for key in ("n", "statistic", "p", "method", "effect")},
    }  # fmt: skip


def _width(panel: Panel, dimension: str) -> int:
    scale = panel.instrument.scale_of(dimension)
    return scale.max - scale.min
