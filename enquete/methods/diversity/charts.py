"""The sorts' charts: agents on a plane by type, statements on each view, eigenvalues beside chance, types by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from enquete.locale import N_
from enquete.reports.charts import (
    COLOURS,
    GRID,
    MUTED,
    SHAPES,
    WIDTH,
    ChartData,
    along,
    answers,
    broken,
    fitting,
    intervals,
    whole,
    worded,
)

MOST_TOLD = 300
"""Agents up to which each stands apart; of more the marks are smaller."""
MOST_DRAWN = 1_000
"""Agents of the plane: of more, dots cover one another, and each takes memory where it is drawn and read."""
MOST_LINKED = 12
"""Agents of a bar up to which it leads to their answers."""


def plane(data: ChartData) -> alt.TopLevelMixin:
    """A dot an agent, in the colour of its type; the letter of a type where its agents are on average."""
    rows = data.rows(told=("participant", "stakeholder_type", "archetype"), sample=MOST_DRAWN)
    agents, components = data.tables["agents"], data.tables["components"]
    explained = dict(zip(components["component"], components["explained"], strict=True))
    x, y = (
        alt.X(f"pc{k}:Q", title=data.tell(N_("component {n} ({share} of variance)"), n=k,
            share=data.told("components", "explained", explained.get(k))))
        for k in (1, 2)
    )  # fmt: skip
    letters = sorted(agents["archetype"].dropna().unique())
    legend = alt.Legend(columns=1, labelExpr=worded(_described(data, letters)))
    colour = alt.Color("archetype:N", scale=_in_turn(letters, COLOURS), legend=legend)
    shape = alt.Shape("archetype:N", scale=_in_turn(letters, SHAPES), legend=legend)
    base = data.chart(rows).encode(x=x, y=alt.Y(y["shorthand"], title=y["title"]))
    marks = base.mark_point(size=75 if len(rows) <= MOST_TOLD else 20, opacity=0.6)
    if not letters:
        plain: alt.Chart = marks.encode(color=alt.value(MUTED)).properties(height=380)
        return plain
    middles = agents.groupby("archetype", as_index=False)[["pc1", "pc2"]].mean()
    named = data.chart(middles).mark_text(fontSize=18, fontWeight="bold", stroke="white", strokeWidth=0.4)
    drawn = alt.layer(
        marks.encode(color=colour, shape=shape), named.encode(x=x, y=base.encoding.y, text=alt.Text("archetype:N"))
    )
    return drawn.properties(height=380)


def _in_turn(names: Sequence[str], marks: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=names, range=[marks[k % len(marks)] for k in range(len(names))])


def _described(data: ChartData, letters: Sequence[str]) -> dict[str, list[str]]:
    """What sets each type apart, for the legend; its agents alone where it is too small to be described."""
    types = data.in_words("types", data.tables["types"]).set_index("type")
    words = {}
    for letter in letters:
        row, told = types.loc[letter], N_("{type}: n = {n}")
        if row["pro_id"] is not None and row["con_id"] is not None:
            told = N_("{type}, {n} agents: for “{pro}”, against “{con}”")
        facts = {"type": letter, "n": data.count(row["n"]), "pro": row["pro"], "con": row["con"]}
        words[letter] = broken(data.tell(told, **facts), WIDTH - 60, 1)
    return words


def statements(data: ChartData) -> alt.TopLevelMixin:
    """A row a statement, the views' marks below one another in it, filled where the statement distinguishes one."""
    rows = data.top(data.rows(told=("label", "mean", "sd")), "item")
    scores = data.tables.select("scores", item=rows["item"].tolist())
    scores = data.in_words("scores", scores, told="item view z place direction p")
    y = data.names(rows.assign(item_id=rows["item"], item=rows["label"]), "item")
    views = list(dict.fromkeys(scores["view_id"]))
    words = {row.view: _sorted_by(data, row) for row in data.tables["views"].itertuples()}
    legend = alt.Legend(labelExpr=worded({v: [words[v]] for v in views}), columns=fitting(list(words.values())))
    colour = alt.Color("view_id:N", scale=_in_turn(views, COLOURS), legend=legend)
    shape = alt.Shape("view_id:N", scale=_in_turn(views, SHAPES), legend=legend)
    at = alt.X("z:Q", title=data.tell(N_("z-score on the view")))
    offset = alt.YOffset("view_id:N", scale=alt.Scale(domain=views, paddingOuter=1))
    base = data.chart(scores.assign(told_apart=scores["direction_id"].notna())).encode(y=y, yOffset=offset)
    zero = data.chart(scores.head(1).assign(zero=0)).mark_rule(color=MUTED).encode(x=along(at, "zero"))
    ends = scores.groupby("item_id", as_index=False)["z"].agg(["min", "max"])
    span = data.chart(ends).mark_rule(strokeWidth=3, color=GRID).encode(y=y, x=along(at, "min"), x2=alt.X2("max:Q"))
    data.note(data.tell(N_("on top: what sets the views apart most; filled: distinguishes the view (p<.05)")))
    filled = alt.FillOpacityValue(**alt.condition("datum.told_apart", alt.value(1), alt.value(0)))
    points = base.mark_point(size=60).encode(x=at, color=colour, shape=shape, fillOpacity=filled)
    drawn = alt.layer(zero, span, points.encode(stroke=colour.copy()))
    return drawn.properties(height=alt.Step(max(30, 11 * len(views)), **{"for": "position"}))


def _sorted_by(data: ChartData, view: Any) -> str:
    """A view with the sorts that define it, and how many of them reverse it."""
    told = N_("view {view} (sorts: {n})")
    if view.n_reversed:
        told = N_("view {view} (sorts: {n}, of them reversed: {reversed})")
    n, turned = data.count(view.n_held + view.n_reversed), data.count(view.n_reversed)
    return data.tell(told, view=view.view, n=n, reversed=turned)


def places(data: ChartData) -> alt.TopLevelMixin:
    """The mean place of every statement, with an interval that holds for all of them at once."""
    rows = data.top(data.rows(told=("label", "mean", "low_to_high", "n_of_n_total")), "item")
    y = data.names(rows.assign(item_id=rows["item"], item=rows["label"]), "item")
    at = whole("mean", data.facts["grid_low"], data.facts["grid_high"], data.label("items", "mean"))
    return intervals(data.chart(rows.assign(item_id=rows["item"])).encode(y=y), at, "low", "high")


def scree(data: ChartData) -> alt.TopLevelMixin:
    """Eigenvalues of the sorts, filled above chance, on the band of those of sorts dealt at random."""
    rows = data.rows(told=("rank", "eigenvalue", "chance_95", "p"))
    at = whole("rank", 1, int(rows["rank"].max()), data.tell(N_("rank of the eigenvalue")))
    base = data.chart(rows).encode(x=at)
    title = data.label("parallel", "eigenvalue")
    chance, y = alt.Y("chance_mean:Q", title=title), alt.Y("eigenvalue:Q", title=title)
    band = base.mark_area(color=MUTED, opacity=0.4).encode(y=chance, y2=alt.Y2("chance_95:Q"))
    line = base.mark_line(color=COLOURS[0], strokeWidth=2).encode(y=y)
    fill = alt.FillOpacityValue(**alt.condition("datum.above", alt.value(1), alt.value(0)))
    dots = base.mark_point(color=COLOURS[0], size=80).encode(y=y, fillOpacity=fill, stroke=alt.value(COLOURS[0]))
    data.note(data.tell(N_("band: mean to 95th percentile of sorts dealt at random; filled: above chance")))
    return alt.layer(band, line, dots).properties(height=240)


def groups(data: ChartData) -> alt.TopLevelMixin:
    """A bar a group, parted by type."""
    rows = data.in_words("type_groups", data.tables["type_groups"], told="group type n_of_n_group share")
    sizes = dict(zip(rows["group_id"], rows["n_group"], strict=True))
    rows = rows.sort_values(["n_group", "group_id"], ascending=[False, True], kind="stable")
    rows = data.top(rows, "group")
    members = data.tables["agents"].groupby(["group", "archetype"])["participant"].agg(list)
    some = {of: who for of, who in members.items() if len(who) <= MOST_LINKED}
    rows["link"] = [
        f"#{answers(data.results.methodology, participant=','.join(some[of]))}" if of in some else None
        for of in zip(rows["group_id"], rows["type_id"], strict=True)
    ]
    y = data.names(rows, "group", more={name: f"({n})" for name, n in sizes.items()})
    letters = sorted(rows["type"].unique())
    colour = alt.Color("type:N", scale=_in_turn(letters, COLOURS))
    at = alt.X(
        "share:Q", title=data.label("type_groups", "share"), axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
    )
    bars: alt.Chart = data.chart(rows).mark_bar().encode(y=y, x=at, color=colour, order=alt.Order("type:N"))
    return bars
