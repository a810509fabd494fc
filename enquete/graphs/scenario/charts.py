"""The scenarios' charts: where each lies between wish and expectation, and how it is rated, by all and by group."""

from __future__ import annotations

from typing import Any, Literal

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.reports.charts import COLOURS, LEVELS, MUTED, SHAPES, ChartData, along, beside, fitting, intervals, whole

SIDE = 440  # px of the quadrants' plot
PANELS = 2
"""Dimensions beside one another."""


def quadrants(data: ChartData) -> alt.TopLevelMixin:
    """A large mark a scenario with both intervals, small ones its groups; lines at the midpoints of the scales."""
    rows = data.rows(told=("label", "mean", "expectation", "quadrant", "n_of_n_total"))
    shown = rows["label"].tolist()
    scales = data.frame("dimensions").set_index("dimension")
    wish, expectation = (scales.loc[data.facts[role]] for role in ("desirability", "plausibility"))
    x = whole("expectation", expectation["scale_min"], expectation["scale_max"], expectation["label"])
    upright = whole("mean", wish["scale_min"], wish["scale_max"], wish["label"])
    shared: dict[str, Any] = {key: upright[key] for key in ("scale", "axis", "title")}
    y, y_low = alt.Y("mean:Q", **shared), alt.Y("mean_low:Q", **shared)
    colour = alt.Color("label:N", scale=alt.Scale(domain=shown, range=[COLOURS[i % len(COLOURS)] for i in range(len(shown))]),
                       legend=alt.Legend(columns=fitting(shown)))  # fmt: skip
    shape = alt.Shape(
        "label:N", scale=alt.Scale(domain=shown, range=[SHAPES[i % len(SHAPES)] for i in range(len(shown))])
    )
    middle = pd.DataFrame({"at": [(one["scale_min"] + one["scale_max"]) / 2 for one in (wish, expectation)]})
    across = data.chart(middle.iloc[:1]).mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y=alt.Y("at:Q"))
    down = data.chart(middle.iloc[1:]).mark_rule(color=MUTED, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    base = data.chart(rows).encode(color=colour)
    bars = base.mark_rule(strokeWidth=1.5)
    layers = [
        across, down, bars.encode(x=x, y=y_low, y2=alt.Y2("mean_high:Q")),
        bars.encode(y=y, x=along(x, "expectation_low"), x2=alt.X2("expectation_high:Q")),
    ]  # fmt: skip
    groups = _centroids(data, wish.name, expectation.name)
    if len(groups):
        layers.append(data.chart(groups).mark_point(size=30, opacity=0.45).encode(x=x, y=y, color=colour, shape=shape))
        data.note(data.tell(N_("small: groups of at least {n} agents"), n=data.facts["fewest"]))
    data.note(data.tell(N_("lines: 95% intervals; dashed: midpoints of the scales")))
    corners = pd.DataFrame(
        {
            "expectation": at,
            "mean": up,
            "said": data.told("scenarios", "quadrant", f"{wished}_{expected}"),
            "up": wished,
        }
        for at, expected in ((expectation["scale_max"], "expected"), (expectation["scale_min"], "unexpected"))
        for up, wished in ((wish["scale_max"], "wished"), (wish["scale_min"], "feared"))
    )
    for (at, wished), own in corners.groupby(["expectation", "up"]):
        aligned: Literal["left", "right"] = "right" if at == expectation["scale_max"] else "left"
        text = data.chart(own).mark_text(align=aligned, dy=-10 if wished == "wished" else 10, color=MUTED)
        layers.append(text.encode(x=x, y=y, text=alt.Text("said:N")))
    layers.append(base.mark_point(size=170).encode(x=x, y=y, shape=shape))
    return alt.layer(*layers).properties(height=SIDE)


def _centroids(data: ChartData, wish: str, expectation: str) -> pd.DataFrame:
    """Mean wish and expectation of every scenario by group."""
    groups = data.frame("groups", told=("scenario", "dimension", "group", "mean", "n"))
    if groups.empty:
        return groups
    wished, expected = (groups[groups["dimension_id"].eq(one)] for one in (wish, expectation))
    both = wished.merge(expected, on=["scenario_id", "group_id"], suffixes=("", "_expected"))
    links = dict(data.frame("scenarios")[["scenario", "link"]].to_numpy())
    return both.assign(
        label=both["scenario"], expectation=both["mean_expected"], told=both["told"] + " · " + both["told_expected"],
        link=both["scenario_id"].map(links),
    )  # fmt: skip


def ratings(data: ChartData) -> alt.TopLevelMixin:
    """A panel a dimension: means of all agents with their interval, groups as small marks beside them."""
    rows = data.frame(
        "ratings",
        "n > 0",
        order=("dimension", "scenario"),
        told=("scenario", "dimension", "mean", "mean_low_to_mean_high", "n_of_n_total"),
    )
    groups = data.frame("groups", order=("dimension", "scenario"), told=("scenario", "dimension", "group", "mean", "n"))
    groups = data.top(groups, "group", len(LEVELS))
    scales, panels = data.frame("dimensions").set_index("dimension"), []
    named = groups["group"].dropna().unique().tolist()
    colour = alt.Color("group:N", scale=alt.Scale(domain=named, range=[LEVELS[i % len(LEVELS)] for i in range(len(named))]),
                       legend=alt.Legend(columns=fitting(named)))  # fmt: skip
    dimensions = rows["dimension_id"].unique().tolist()
    many = min(PANELS, len(dimensions))
    for place, dimension in enumerate(dimensions):
        scale, own = scales.loc[dimension], rows[rows["dimension_id"].eq(dimension)]
        names = data.names(own, "scenario")
        if place % many:
            names = alt.Y("scenario_id:N", scale=alt.Scale(domain=own["scenario_id"].tolist()), axis=None)
        at = whole("mean", scale["scale_min"], scale["scale_max"], scale["label"])
        layers = [intervals(data.chart(own).encode(y=names), at, "mean_low", "mean_high")]
        of_groups = groups[groups["dimension_id"].eq(dimension)]
        if len(of_groups):
            layers.insert(
                0,
                data.chart(of_groups)
                .mark_point(size=42, opacity=0.8, shape="diamond", yOffset=9)
                .encode(x=at, y=names, color=colour),
            )
        panels.append(alt.layer(*layers).properties(width=beside(many), height=alt.Step(44)))
    if named:
        data.note(data.tell(N_("line: 95% interval; below it groups of at least {n} agents"), n=data.facts["fewest"]))
    return alt.concat(*panels, columns=many, spacing=20)
