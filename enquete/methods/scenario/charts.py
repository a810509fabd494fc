"""The scenarios' charts: where each lies between wish and expectation, and how it is rated, by all and by group."""

from __future__ import annotations

from typing import Any, Literal

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.methods.scenario.evaluation import choose_ratings
from enquete.reports.charts import (
    COLOURS,
    INK,
    LABEL,
    MUTED,
    PALE,
    SHAPES,
    WIDER,
    WIDTH,
    ChartData,
    along,
    beside,
    by_group,
    fitting,
    matrix,
    whole,
    width,
)

SIDE = 440  # px of the quadrants' plot
PANELS, MEANS = 2, 150
"""Dimensions beside one another; px of the means beside a matrix."""


def quadrants(data: ChartData) -> alt.TopLevelMixin:
    """A large mark a scenario with both intervals, small ones its groups; lines at the midpoints of the scales."""
    rows = data.rows(told=("label", "mean", "expectation", "quadrant", "n_of_n_total"))
    shown = rows["label"].tolist()
    scales = data.tables["dimensions"].set_index("dimension")
    wish, expectation = (scales.loc[data.facts[role]] for role in ("desirability", "plausibility"))
    x = whole("expectation", expectation["scale_min"], expectation["scale_max"], expectation["label"])
    upright = whole("mean", wish["scale_min"], wish["scale_max"], wish["label"])
    shared: dict[str, Any] = {key: upright[key] for key in ("scale", "axis", "title")}
    y, y_low = alt.Y("mean:Q", **shared), alt.Y("mean_low:Q", **shared)
    colour = alt.Color("label:N", scale=alt.Scale(domain=shown,
        range=[COLOURS[i % len(COLOURS)] for i in range(len(shown))]),
                       legend=alt.Legend(columns=fitting(shown)))  # fmt: skip
    shape = alt.Shape(
        "label:N", scale=alt.Scale(domain=shown, range=[SHAPES[i % len(SHAPES)] for i in range(len(shown))])
    )
    middle = pd.DataFrame({"at": [(scale["scale_min"] + scale["scale_max"]) / 2 for scale in (wish, expectation)]})
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
    for (at, wished), corner in corners.groupby(["expectation", "up"]):
        aligned: Literal["left", "right"] = "right" if at == expectation["scale_max"] else "left"
        text = data.chart(corner).mark_text(align=aligned, dy=-10 if wished == "wished" else 10, color=MUTED)
        layers.append(text.encode(x=x, y=y, text=alt.Text("said:N")))
    layers.append(base.mark_point(size=170).encode(x=x, y=y, shape=shape))
    return alt.layer(*layers).properties(height=SIDE)


def _centroids(data: ChartData, wish: str, expectation: str) -> pd.DataFrame:
    """Mean wish and expectation of every scenario by group."""
    groups = data.in_words("groups", data.tables["groups"], told="scenario dimension group mean n")
    if groups.empty:
        return groups
    wished, expected = (groups[groups["dimension_id"].eq(dimension)] for dimension in (wish, expectation))
    both = wished.merge(expected, on=["scenario_id", "group_id"], suffixes=("", "_expected"))
    links = dict(data.in_words("scenarios", data.tables["scenarios"])[["scenario", "link"]].to_numpy())
    return both.assign(
        label=both["scenario"], expectation=both["mean_expected"], told=both["told"] + " · " + both["told_expected"],
        link=both["scenario_id"].map(links),
    )  # fmt: skip


def ratings(data: ChartData) -> alt.TopLevelMixin:
    """A row a dimension: means of all agents with their interval, and beside them a matrix of all and every group.

    Without groups of at least five agents the means alone, two dimensions beside one another."""
    told = "scenario dimension mean mean_low_to_mean_high n_of_n_total"
    rows = data.in_words("ratings", choose_ratings(data.tables), told=told)
    largest_first = data.tables["groups"].sort_values("n", ascending=False, kind="stable")
    groups = data.in_words("groups", largest_first, told="scenario dimension group mean n")
    scales = data.tables["dimensions"].set_index("dimension")
    data.note(data.tell(N_("tick: all agents; band: 95% interval for all scenarios of a dimension at once")))
    if groups.empty:
        panels = [
            _means(data, cells, scales.loc[str(dimension)], named=not place % PANELS).properties(width=beside(PANELS))
            for place, (dimension, cells) in enumerate(rows.groupby("dimension_id", sort=False))
        ]
        return alt.concat(*panels, columns=PANELS, spacing=20)
    alike = scales["scale_min"].nunique() == scales["scale_max"].nunique() == 1
    low, high = scales.iloc[0][["scale_min", "scale_max"]] if alike else (0, 1)
    title = data.label("ratings", "mean") if alike else data.tell(N_("mean, as a part of the scale"))
    room, lines = WIDTH - MEANS - 50 - WIDER * min(LABEL, max(map(width, rows["scenario"]))), []
    for cells in by_group(data, rows, groups, room):
        for place, (axis, means) in enumerate(rows.groupby("dimension_id", sort=False)):
            scale, shown = scales.loc[str(axis)], cells[cells["dimension_id"].eq(axis)]
            if not alike:
                least, most = scale["scale_min"], scale["scale_max"]
                shown = shown.assign(shade=(shown["mean"] - least) / (most - least))
            bare = alt.Y("scenario_id:N", scale=alt.Scale(domain=means["scenario_id"].tolist()), axis=None)
            map_ = matrix(data, shown, bare, room, low, high, title, headed=not place).properties(height=alt.Step(26))
            lines.append(alt.hconcat(_means(data, means, scale).properties(width=MEANS, height=alt.Step(26)), map_))
    return alt.vconcat(*lines, spacing=16)


def _means(data: ChartData, cells: pd.DataFrame, scale: Any, *, named: bool = True) -> alt.LayerChart | alt.FacetChart:
    names = data.names(cells, "scenario")
    y = names if named else alt.Y(names["shorthand"], scale=names["scale"], axis=None)
    at = whole("mean", scale["scale_min"], scale["scale_max"], scale["label"])
    base, ends = data.chart(cells).encode(y=y), "isValid(datum.mean_low) && isValid(datum.mean_high)"
    band = base.transform_filter(ends).mark_rule(strokeWidth=10, color=PALE[COLOURS[0]], point=False)
    ticks = base.mark_tick(thickness=1.5, size=18, opacity=1, color=INK).encode(x=at)
    return alt.layer(band.encode(x=along(at, "mean_low"), x2=alt.X2("mean_high:Q")), ticks)
