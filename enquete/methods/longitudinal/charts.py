"""The waves' charts: means before and after with their change, all answers, and groups."""

from __future__ import annotations

from functools import partial

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.methods.longitudinal.evaluation import choose_answers, choose_changes
from enquete.reports.charts import (
    INK,
    LABEL,
    MUTED,
    PAPER,
    WIDER,
    WIDTH,
    ChartData,
    along,
    beside,
    by_group,
    by_scale,
    fitting,
    intervals,
    matrix,
    readable_on,
    stacked,
    stages,
    step,
    whole,
    width,
    worded,
)

LEAST_REACH = 1.0  # scale points to each side of no change
FEW = 20
"""Agents below whom bars say how many, not what share."""
BESIDE, SMALL = 30, 10
"""px between names and bars, where the wave stands; and of its text."""


def drift(data: ChartData) -> alt.TopLevelMixin:
    """A row a statement, the greatest rise on top: the means of both waves, and beside them the change."""
    rows = data.top(data.rows(told=("item", "before", "after", "change", "low_to_high", "n_of_n_total")), "item")
    ends = data.tables["items"].set_index("item")[["scale_min", "scale_max"]]
    _note_changes(data, rows)
    return by_scale(rows.join(ends, on="item_id"), partial(_means_and_changes, data))


def _means_and_changes(data: ChartData, rows: pd.DataFrame) -> alt.TopLevelMixin:
    title = data.tell(N_("means: ring T0, dot T1"))
    at = whole("after", int(rows["scale_min"].min()), int(rows["scale_max"].max()), title)
    base = data.chart(rows).encode(y=data.names(rows, "item", most=3))
    line = base.mark_rule(strokeWidth=2).encode(x=along(at, "before"), x2=alt.X2("after:Q"))
    t0 = base.mark_point(stroke=MUTED, strokeWidth=2, size=150, fill=PAPER).encode(x=along(at, "before"))
    t1 = base.mark_point(size=50).encode(x=at)
    means = alt.layer(line, t0, t1).properties(width=beside(2), height=step(rows["item"]))
    changed = _changes(data, rows, data.tell(N_("T1 − T0 in scale points")), named=False)
    return alt.hconcat(means, changed.properties(width=beside(2)), spacing=20)


def placebo(data: ChartData) -> alt.TopLevelMixin:
    """A row a statement: what the own memory changed beyond a neutral one."""
    rows = data.top(data.rows(told=("item", "main", "placebo", "change", "low_to_high", "n_of_n_total")), "item")
    _note_changes(data, rows)
    title = data.tell(N_("difference of mean changes, scale points"))
    several = rows["scale"].nunique() > 1

    def panel(part: pd.DataFrame) -> alt.TopLevelMixin:
        changes = _changes(data, part, title, named=True)
        return changes.properties(width=beside(1)) if several else changes

    return by_scale(rows, panel)


def _note_changes(data: ChartData, rows: pd.DataFrame) -> None:
    data.note(
        data.tell(N_("lines: 95% intervals for all {n} statements at once, hence wider"), n=data.facts["n_items"])
    )
    data.note(data.tell(
        N_("filled: p<.05, corrected for all tests of the report (Holm)") if rows["p_adjusted"].lt(0.05).any()
        else N_("no change with p<.05, corrected for all tests of the report (Holm)")
    ))  # fmt: skip


def _changes(data: ChartData, rows: pd.DataFrame, title: str, *, named: bool) -> alt.LayerChart | alt.FacetChart:
    """Change with its interval; filled where the adjusted p is below .05."""
    reach = max(LEAST_REACH, 1.05 * float(rows[["low", "high", "change"]].abs().max().max()))
    rows = rows.assign(sure=rows["p_adjusted"].lt(0.05))
    y = data.names(rows, "item", most=3)
    at = alt.X("change:Q", title=title, scale=alt.Scale(domain=[-reach, reach], nice=False),
               axis=alt.Axis(tickCount=4))  # fmt: skip
    filled = alt.FillValue(**alt.condition("datum.sure", alt.value(INK), alt.value(PAPER)))
    base = data.chart(rows).encode(
        y=y if named else alt.Y(y["shorthand"], scale=y["scale"], axis=None), stroke=alt.value(INK), fill=filled
    )
    zero = data.chart(pd.DataFrame({"zero": [0]})).mark_rule(strokeDash=[3, 3]).encode(x=along(at, "zero"))
    return alt.layer(zero, intervals(base, at, "low", "high")).properties(height=step(rows["item"]))


def answers(data: ChartData) -> alt.TopLevelMixin:
    """Bars to either side of the scale's middle, one a wave, T0 above T1; the highest mean on top."""
    shown = data.top(data.rows(), "item")
    order, scales = shown["item_id"].tolist(), dict(zip(shown["item_id"], shown["scale"], strict=True))
    every = data.in_words("distribution", data.tables["distribution"], told="item phase value n share")
    every = every[every["item_id"].isin(order)].assign(bar=every["item_id"] + " " + every["phase"])
    every = every.assign(place=every["item_id"].map(order.index), scale=every["item_id"].map(scales))
    waves = data.tables["waves"]
    few = int(waves["n"].max()) < FEW
    data.note(data.tell(N_("in the bars: agents") if few else N_("in the bars: per cent")))
    data.note(", ".join(f"{phase}: n = {data.count(n)}" for phase, n in zip(waves["phase"], waves["n"], strict=True)))
    several = every["scale"].nunique() > 1

    def panel(rows: pd.DataFrame) -> alt.TopLevelMixin:
        bars = _bars(data, rows, few=few)
        return bars.properties(width=beside(1)) if several else bars

    return by_scale(every.sort_values("place", kind="stable"), panel)


def _bars(data: ChartData, every: pd.DataFrame, *, few: bool) -> alt.LayerChart | alt.FacetChart:
    """Of the statements on one scale."""
    rows = stacked(every, "bar", "value", "share").sort_values(["place", "phase", "value"], kind="stable")
    points, waves = sorted(rows["value"].unique().tolist()), data.tables["waves"]
    words = dict(zip(points, data.facts["points"] or map(str, points), strict=False))
    legend = alt.Legend(columns=fitting(list(words.values())), symbolType="square",
                        labelExpr=worded({point: [word] for point, word in words.items()}))  # fmt: skip
    shades = dict(zip(points, stages(len(points)), strict=True))
    colour = alt.Color("value:O", scale=alt.Scale(domain=points, range=list(shades.values())), legend=legend)
    reach = min(1.0, 1.1 * float(rows[["left", "right"]].abs().max().max()))
    ticks = [k / 4 for k in range(-4, 5) if abs(k / 4) <= reach]
    at = alt.X("left:Q", title=data.tell(N_("share of answers to either side of the scale's middle")),
               scale=alt.Scale(domain=[-reach, reach], nice=False),
               axis=alt.Axis(labelExpr="format(abs(datum.value), '.0%')", values=ticks,
                             tickCount=len(ticks)))  # fmt: skip
    offset = alt.YOffset("phase:N", scale=alt.Scale(domain=sorted(waves["phase"]), paddingInner=0.1))
    numbers = rows["n"] if few else (100 * rows["share"]).round()
    room = WIDTH - LABEL * WIDER - BESIDE
    fits = rows["share"] * room / (2 * reach) > [width(f"{n:.0f}") for n in numbers]
    rows["middle"] = (rows["left"] + rows["right"]) / 2
    rows["ink"] = [readable_on(shades[value]) for value in rows["value"]]
    rows["said"] = [f"{n:.0f}" if fit else "" for n, fit in zip(numbers, fits, strict=True)]
    y = data.names(rows, "item", most=3)
    y["axis"]["labelPadding"] = BESIDE
    base = data.chart(rows[rows["n"] > 0]).encode(y=y, yOffset=offset)
    zero = data.chart(pd.DataFrame({"zero": [0]})).mark_rule(color=MUTED).encode(x=along(at, "zero"))
    bars = base.mark_bar(stroke=MUTED, strokeWidth=0.4).encode(x=at, x2=alt.X2("right:Q"), color=colour)
    shown = rows[rows["said"] != ""].drop(columns=["told", "link"], errors="ignore")  # a click on one is for its bar
    counts = data.chart(shown).mark_text(fontSize=SMALL).encode(
        y=y, yOffset=offset, x=along(at, "middle"), text=alt.Text("said:N"), color=alt.Color("ink:N", scale=None)
    )  # fmt: skip
    named = data.chart(rows.drop_duplicates("bar")[["item_id", "phase"]].assign(start=-reach))
    phases = named.mark_text(align="right", dx=-6, fontSize=SMALL, color=MUTED).encode(
        y=y, yOffset=offset, x=along(at, "start"), text=alt.Text("phase:N")
    )
    return alt.layer(zero, bars, counts, phases).properties(
        height=alt.Step(max(17 * len(waves) + 6, step(rows["item"]).step), **{"for": "position"})
    )


def groups(data: ChartData) -> alt.TopLevelMixin:
    """A matrix of the last wave's means."""
    everybody = data.in_words("answers", choose_answers(data.tables), told="item mean n")
    return _matrices(data, "groups", everybody, data.label("groups", "mean"))


def change_groups(data: ChartData) -> alt.TopLevelMixin:
    """A matrix of mean changes."""
    everybody = data.in_words("changes", choose_changes(data.tables), told="item change n")
    reach = max(LEAST_REACH, float(data.tables["change_groups"]["mean"].abs().max()))
    title = data.tell(N_("mean change, scale points"))
    rows = everybody.assign(mean=everybody["change"], scale_min=-reach, scale_max=reach)
    return _matrices(data, "change_groups", rows, title)


def _matrices(data: ChartData, table: str, everybody: pd.DataFrame, title: str) -> alt.TopLevelMixin:
    """Statements × all agents and every group of at least five, the mean in each cell; the highest of all on top."""
    room, everybody = WIDTH - LABEL * WIDER - 20, data.top(everybody, "item")
    largest_first = data.tables[table].sort_values("n", ascending=False, kind="stable")
    groups = data.in_words(table, largest_first, told="item group mean n")
    groups = groups[groups["item_id"].isin(everybody["item_id"])]
    data.note(data.tell(N_("the highest mean of all on top")))
    matrices = by_group(data, everybody, groups, room)
    scales = dict(zip(everybody["item_id"], everybody["scale"], strict=True))

    def panel(rows: pd.DataFrame) -> alt.TopLevelMixin:
        y, height = data.names(rows, "item", most=3), step(rows["item"])
        low, high = float(rows["scale_min"].min()), float(rows["scale_max"].max())
        parts = [cells[cells["item_id"].map(scales).eq(rows["scale"].iloc[0])] for cells in matrices]
        drawn = [matrix(data, cells, y, room, low, high, title).properties(height=height) for cells in parts]
        return alt.vconcat(*drawn)

    return by_scale(everybody, panel)
