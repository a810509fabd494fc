"""The waves' charts: means before and after with their change, all answers, and groups."""

from __future__ import annotations

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.reports.charts import (
    COLOURS,
    LABEL,
    MUTED,
    WIDER,
    WIDTH,
    ChartData,
    along,
    beside,
    broken,
    heat,
    intervals,
    stacked,
    stages,
    whole,
    worded,
)

STEP = 34  # px a row
LEAST_REACH = 1.0  # scale points to each side of no change
MOST_GROUPS = 8


def drift(data: ChartData) -> alt.TopLevelMixin:
    """A row a statement, the greatest rise on top: the means of both waves, and beside them the change."""
    rows = data.top(data.rows(told=("item", "before", "after", "change", "low_to_high", "n_of_n_total")), "item")
    scales = data.frame("answers")
    title = data.tell(N_("means: grey T0, blue T1"))
    at = whole("after", int(scales["scale_min"].min()), int(scales["scale_max"].max()), title)
    base = data.chart(rows).encode(y=data.names(rows, "item"))
    line = base.mark_rule(strokeWidth=2).encode(x=along(at, "before"), x2=alt.X2("after:Q"))
    t0, t1 = (
        base.mark_point(color=colour).encode(x=along(at, wave))
        for wave, colour in (("before", MUTED), ("after", COLOURS[0]))
    )
    means = alt.layer(line, t0, t1).properties(width=beside(2), height=alt.Step(STEP))
    return alt.hconcat(means, _changes(data, rows, "changes", named=False).properties(width=beside(2)), spacing=20)


def placebo(data: ChartData) -> alt.TopLevelMixin:
    """A row a statement: what the own memory changed beyond a neutral one."""
    rows = data.top(data.rows(told=("item", "main", "placebo", "change", "low_to_high", "n_of_n_total")), "item")
    return _changes(data, rows, "placebo", named=True)


def _changes(data: ChartData, rows: pd.DataFrame, table: str, *, named: bool) -> alt.LayerChart | alt.FacetChart:
    """Change with its interval; in colour where the adjusted p is below .05."""
    reach = max(LEAST_REACH, 1.05 * float(rows[["low", "high", "change"]].abs().max().max()))
    rows = rows.assign(sure=rows["p_adjusted"].lt(0.05))
    y = data.names(rows, "item")
    at = alt.X("change:Q", title=data.label(table, "change"), scale=alt.Scale(domain=[-reach, reach], nice=False))
    colour = alt.condition("datum.sure", alt.value(COLOURS[0]), alt.value(MUTED))
    if rows["sure"].any():
        data.note(data.tell(N_("change in blue: adjusted p < .05")))
    base = data.chart(rows).encode(y=y if named else alt.Y(y["shorthand"], scale=y["scale"], axis=None), color=colour)
    zero = data.chart(pd.DataFrame({"zero": [0]})).mark_rule(strokeDash=[3, 3]).encode(x=along(at, "zero"))
    return alt.layer(zero, intervals(base, at, "low", "high")).properties(height=alt.Step(STEP))


def answers(data: ChartData) -> alt.TopLevelMixin:
    """Bars to either side of the scale's middle, one a wave, T0 above T1; the highest mean on top."""
    order = data.top(data.rows(), "item")["item_id"].tolist()
    every = data.frame("distribution", told=("item", "phase", "value", "n", "share"))
    every = every[every["item_id"].isin(order)].assign(bar=every["item_id"] + " " + every["phase"])
    rows = pd.concat(stacked(own, "bar", "value", "share") for _, own in every.groupby("item_id"))
    rows = rows.assign(place=rows["item_id"].map(order.index)).sort_values(["place", "phase", "value"], kind="stable")
    points, waves = sorted(rows["value"].unique().tolist()), sorted(rows["phase"].unique().tolist())
    legend = alt.Legend(columns=min(len(points), 11), symbolType="square")
    if data.facts["low_end"]:
        scales = data.frame("answers")
        of_scale = {"least": int(scales["scale_min"].min()), "most": int(scales["scale_max"].max())}
        low, high = data.facts["low_end"], data.facts["high_end"]
        data.note(data.tell(N_("{least}: {low}, {most}: {high}"), low=low, high=high, **of_scale))
    colour = alt.Color("value:O", scale=alt.Scale(domain=points, range=stages(len(points))), legend=legend)
    axis = alt.Axis(labelExpr="format(abs(datum.value), '.0%')", tickCount=5)
    reach = min(1.0, 1.1 * float(rows[["left", "right"]].abs().max().max()))
    title = data.tell(N_("share of answers to either side of the scale's middle"))
    at = alt.X("left:Q", title=title, scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    offset = alt.YOffset("phase:N", scale=alt.Scale(domain=waves, paddingInner=0.1))
    base = data.chart(rows[rows["n"] > 0]).encode(y=data.names(rows, "item"), yOffset=offset)
    bars = base.mark_bar(stroke=MUTED, strokeWidth=0.4).encode(x=at, x2=alt.X2("right:Q"), color=colour)
    last = data.chart(rows.groupby("bar", sort=False).tail(1)[["item_id", "phase", "right"]])
    named = last.mark_text(align="left", dx=4, fontSize=10, color=MUTED).encode(
        y=data.names(rows, "item"), yOffset=offset, x=along(at, "right"), text=alt.Text("phase:N")
    )
    layers = [bars, named] if len(waves) > 1 else [bars]
    return alt.layer(*layers).properties(height=alt.Step(max(17 * len(waves) + 6, STEP), **{"for": "position"}))


def groups(data: ChartData) -> alt.TopLevelMixin:
    scales = data.frame("answers")
    return _matrix(data, "groups", float(scales["scale_min"].min()), float(scales["scale_max"].max()))


def change_groups(data: ChartData) -> alt.TopLevelMixin:
    reach = max(LEAST_REACH, float(data.frame("change_groups")["mean"].abs().max()))
    return _matrix(data, "change_groups", -reach, reach)


def _matrix(data: ChartData, table: str, low: float, high: float) -> alt.TopLevelMixin:
    """Statements in the order of the instrument × the largest groups of at least five agents, the mean in each cell."""
    every = data.top(data.frame(table, order=("-n",), told=("item", "group", "mean", "n")), "item")
    rows = data.top(every, "group", MOST_GROUPS)
    rows = rows.assign(said=[data.told(table, "mean", value) for value in rows["mean"]])
    order = list(dict.fromkeys(rows["group_id"]))
    most, words = rows.groupby("group_id")["n"].max(), dict(zip(rows["group_id"], rows["group"], strict=True))
    px = (WIDTH - LABEL * WIDER) / len(order)
    heads = {one: [*broken(words[one], px, 3), f"n = {most[one]}"] for one in order}
    axis = alt.Axis(title=None, labelAngle=0, labelExpr=worded(heads))
    base = data.chart(rows).encode(y=data.names(rows, "item"), x=alt.X("group_id:N", sort=order, axis=axis))
    return heat(base, "mean", low, high, "said", data.label(table, "mean")).properties(height=alt.Step(STEP))
