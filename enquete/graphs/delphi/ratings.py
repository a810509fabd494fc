"""What the panel makes of its themes, round by round: consensus, stability and polarisation, apart from one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement.concordance import kendall_w
from enquete.analysis.panel.dispersion import Dispersion
from enquete.analysis.panel.measures import (
    PanelMeasure,
    converge,
    is_consensus,
    is_disagreement,
    panel_measures,
    rank_consensus,
)
from enquete.analysis.panel.ranking import By, rank_robustness
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.themes import Themes
from enquete.reports.context import shallow

FIRST_RATING = 2
TOP = 5  # places whose occupation is bootstrapped
ORDERS: tuple[By, ...] = ("mean", "consensus")


@dataclass(frozen=True)
class Panel:
    """Ratings of the themes by round: participants × item ids, NaN where there is none."""

    themes: Themes
    instrument: DelphiInstrument
    tables: Mapping[int, pd.DataFrame]
    frozen: Mapping[str, JsonValue]

    @classmethod
    def of(
        cls,
        rounds: Mapping[int, pd.DataFrame],
        themes: Themes,
        instrument: DelphiInstrument,
        frozen: Mapping[str, JsonValue],
    ) -> Panel:
        """rounds: the rows of each round."""
        tables = {number: _table(rows, themes, instrument) for number, rows in rounds.items() if number >= FIRST_RATING}
        return cls(themes, instrument, tables, frozen)

    @property
    def dimensions(self) -> list[str]:
        return [dimension.dimension_id for dimension in self.instrument.dimensions]

    @cached_property
    def last(self) -> int | None:
        """The last round in which anybody rated."""
        return max((n for n, table in self.tables.items() if table.notna().to_numpy().any()), default=None)

    @property
    def revised(self) -> int | None:
        """The last round, if it is one of revision."""
        return self.last if self.last is not None and self.last > FIRST_RATING else None

    def rated(self, theme: str, dimension: str, number: int) -> pd.Series[float]:
        """One item's ratings in a round, NaN where there is none."""
        table, item = self.tables[number], item_of(theme, dimension)
        return table[item] if item in table else pd.Series(np.nan, index=table.index)

    def shown(self, number: int, item: str) -> float | None:
        """The median of a round as the panel was shown it; late answers have not changed it."""
        feedback = self.frozen.get(f"feedback/{number}")
        figures = feedback.get(item) if isinstance(feedback, dict) else None
        median = figures.get("median") if isinstance(figures, dict) else None
        return float(median) if isinstance(median, int | float) else None


def item_of(theme: str, dimension: str) -> str:
    return f"theme:{theme}/{dimension}"


def _table(rows: pd.DataFrame, themes: Themes, instrument: DelphiInstrument) -> pd.DataFrame:
    table = rows.pivot(index="participant", columns="item_id", values="value").astype(float)
    items = [item_of(theme["id"], d.dimension_id) for theme in themes for d in instrument.dimensions]
    return table.reindex(index=rows["participant"].unique(), columns=[item for item in items if item in table])


def described(panel: Panel) -> list[dict[str, Any]]:
    """Per theme, dimension and round of rating: figures of the spread, and three verdicts that none derives from another.

    agreed: IQR within the instrument's limit. polarised: A below its limit, or a split. stability: against the round before, among those
    who rated in both. `label` sums up for the reader: disagreement, consensus, or open in between.
    """
    limits, themes, dimensions = panel.instrument.disagreement, panel.themes, panel.dimensions
    named = {item_of(theme["id"], d): (theme["id"], d) for theme in themes for d in dimensions}
    scales = {item: panel.instrument.scale_of(dimension) for item, (_, dimension) in named.items()}
    measures = panel_measures(
        panel.tables,
        {item: (scale.min, scale.max) for item, scale in scales.items()},
        consensus_iqr=limits.consensus_iqr,
        polarised_below=limits.polarised_below,
    )
    return [_rating(one, *named[one.item], panel) for one in measures]


def _rating(one: PanelMeasure, theme: str, dimension: str, panel: Panel) -> dict[str, Any]:
    figures, instrument = shallow(one.spread), panel.instrument
    scale = instrument.scale_of(dimension)
    counts = panel.rated(theme, dimension, one.round).value_counts()
    n, missing = figures.pop("n"), figures.pop("n_missing")
    corrected = {"p_holm": one.p_holm, "p_bh": one.p_bh}
    return {
        "theme": theme,
        "dimension": dimension,
        "item": one.item,
        "round": one.round,
        "n_responded": n,
        "n_total": n + missing,
        **figures,
        "distribution": {str(point): int(counts.get(point, 0)) for point in range(scale.min, scale.max + 1)},
        "label": label(one.spread, instrument),
        "agreed": one.consensus if n > 1 else None,
        "polarised": one.polarised if n > 1 else None,
        "stability": {**shallow(one.stability), **corrected} if one.stability else None,
    }


def label(spread: Dispersion, instrument: DelphiInstrument) -> str | None:
    """disagreement, consensus, or open in between. Two camps are never a consensus; fewer than two raters are neither."""
    limits = instrument.disagreement
    if spread.n < 2:
        return None
    if is_disagreement(spread, iqr_above=limits.disagreement_iqr, polarised_below=limits.polarised_below):
        return "disagreement"
    return "consensus" if is_consensus(spread.iqr, at_most=limits.consensus_iqr) else "open"


def convergence(panel: Panel) -> list[dict[str, Any]]:
    """From the first rating to the last revision, over the panelists who gave both."""
    if panel.revised is None or FIRST_RATING not in panel.tables:
        return []
    found = []
    for theme in panel.themes:
        for dimension in panel.dimensions:
            item = item_of(theme["id"], dimension)
            first, second = (panel.rated(theme["id"], dimension, n) for n in (FIRST_RATING, panel.revised))
            figures = shallow(converge(first, second, median=panel.shown(FIRST_RATING, item)))
            known = {"theme": theme["id"], "dimension": dimension, "item": item}
            found.append(
                {**known, "from_round": FIRST_RATING, "to_round": panel.revised, **figures, "n_total": len(second)}
            )
    return found


def unchanged(panel: Panel) -> dict[str, Any] | None:
    """Panelists, and single ratings, that the last revision left as they first were."""
    if panel.revised is None or FIRST_RATING not in panel.tables:
        return None
    first, second = panel.tables[FIRST_RATING].align(panel.tables[panel.revised], join="outer")
    paired, same = first.notna() & second.notna(), first.eq(second)
    agents = paired.any(axis=1)
    return {
        "n_agents": int((agents & ~(paired & ~same).any(axis=1)).sum()),
        "n_agents_paired": int(agents.sum()),
        "n_agents_total": len(agents),
        "n_ratings": int((paired & same).to_numpy().sum()),
        "n_ratings_paired": int(paired.to_numpy().sum()),
    }


def concordance(panel: Panel) -> list[dict[str, Any]]:
    """Kendall's W over the themes, per dimension and round; raters with a gap are left out and counted."""
    found = []
    for number, table in panel.tables.items():
        for dimension in panel.dimensions:
            items = [item_of(theme["id"], dimension) for theme in panel.themes]
            figures = shallow(kendall_w(table.reindex(columns=items).to_numpy(dtype=float)))
            found.append({"round": number, "dimension": dimension, **figures})
    return found


def consensus(panel: Panel, ratings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Themes agreed upon in importance (else the first dimension), by IQR, then median; of the last round rated."""
    dimension = main_dimension(panel.dimensions)
    rated = {
        one["theme"]: one
        for one in ratings
        if one["round"] == panel.last and one["dimension"] == dimension and one["label"] == "consensus"
    }
    if not rated:
        return []
    frame = pd.DataFrame.from_dict(rated, orient="index")[["iqr", "median"]].astype(float)
    ranked = rank_consensus(frame, at_most=panel.instrument.disagreement.consensus_iqr)
    labels = {theme["id"]: theme["label"] for theme in panel.themes}
    return [
        {"rank": int(first), "rank_to": int(last), "label_of_theme": labels[theme], **rated[theme]}
        for theme, first, last in zip(ranked.index, ranked["rank"], ranked["rank_to"], strict=True)
    ]


def ranking(panel: Panel) -> list[dict[str, Any]]:
    """How firm the order of the themes is in the last round, per dimension: by mean rating, and by IQR then median."""
    if panel.last is None:
        return []
    names = {item_of(theme["id"], d): theme["id"] for theme in panel.themes for d in panel.dimensions}
    found = []
    for dimension in panel.dimensions:
        items = [item for item in map(str, panel.tables[panel.last]) if item.endswith(f"/{dimension}")]
        table = panel.tables[panel.last][items].rename(columns=names)
        for by in ORDERS if items else ():
            robust = shallow(rank_robustness(table, k=min(TOP, len(items)), by=by))
            found.append({"dimension": dimension, "round": panel.last, **robust})
    return found


def main_dimension(dimensions: Sequence[str]) -> str:
    """Consensus is ranked by importance where it is asked."""
    return "importance" if "importance" in dimensions else dimensions[0]
