"""A poll's charts: mean answers, and shares of the options."""

from __future__ import annotations

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.reports.charts import LABEL, ChartData, beside, by_scale, intervals, step
from enquete.reports.markdown import number

LINE = N_("line: 95% interval for all means and options at once, hence wider")
BEFORE = LABEL - 100  # px of a question, before what stands behind it


def means(data: ChartData) -> alt.TopLevelMixin:
    rows = data.top(data.rows(told=("item", "mean", "low_to_high", "n_of_n_total")), "item")
    data.note(data.tell(N_("behind a question: mean")))
    data.note(data.tell(LINE))
    several = rows["scale"].nunique() > 1

    def panel(part: pd.DataFrame) -> alt.TopLevelMixin:
        drawn = _means_on_one_scale(data, part)
        return drawn.properties(width=beside(1)) if several else drawn

    return by_scale(rows, panel)


def _means_on_one_scale(data: ChartData, rows: pd.DataFrame) -> alt.LayerChart:
    language = data.results.language
    labels = {name: number(mean, language) for name, mean in zip(rows["item_id"], rows["mean"], strict=True)}
    ends = [float(rows["scale_min"].iloc[0]), float(rows["scale_max"].iloc[0])]
    at = alt.X("mean:Q", title=data.label("means", "mean"), scale=alt.Scale(domain=ends, nice=False))
    base = data.chart(rows).encode(y=data.names(rows, "item", more=labels, most=3))
    return intervals(base, at, "low", "high").properties(height=step(rows["item"], BEFORE))


def shares(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("item", "label", "share", "count", "n_of_n_total"))
    rows["name"], rows["name_id"] = rows["label"] + " – " + rows["item"], rows["item_id"] + "/" + rows["option"]
    rows, title = data.top(rows, "name"), data.label("options", "share")
    at = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    data.note(data.tell(LINE))
    labels = dict(zip(rows["name_id"], [data.told("options", "share", share) for share in rows["share"]], strict=True))
    base = data.chart(rows).encode(y=data.names(rows, "name", more=labels, most=3))
    return intervals(base, at, "low", "high").properties(height=step(rows["name"], BEFORE))
