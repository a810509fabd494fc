"""Discovery's charts: how records fill question by question, and which fields are known in which group."""

from __future__ import annotations

import altair as alt
import pandas as pd

from enquete.reports.charts import LABEL, WIDER, WIDTH, ChartData, by_group, group_heads


def completeness(data: ChartData) -> alt.TopLevelMixin:
    """Shares of complete records and of known fields, after each question."""
    curve = data.rows(told=("question", "complete", "n_total", "known"))
    lines = {name: data.label("curve", name) for name in ("complete_share", "known")}
    columns = ["question", "told"]
    tidy = pd.concat([curve[columns].assign(line=words, share=curve[name]) for name, words in lines.items()])
    shape = alt.StrokeDash("line:N", sort=list(lines.values()), legend=None)  # the colours' says it
    return (
        data.chart(tidy)
        .mark_line(point=True)
        .encode(
            x=alt.X("question:Q", title=data.label("curve", "question"), axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color("line:N", sort=list(lines.values())), strokeDash=shape,
        )
        .properties(height=220)
    )  # fmt: skip


def coverage(data: ChartData) -> alt.TopLevelMixin:
    """Fields × groups of five agents or more: the share of agents of whom something is known; everybody first."""
    room, fields = WIDTH - LABEL * WIDER - 20, data.top(data.rows(told=("label", "n_of_n_total")), "label")
    everybody = fields.assign(n=fields["n_total"], share=fields["n"] / fields["n_total"])
    largest = data.tables["groups"].sort_values("n", ascending=False, kind="stable")
    groups = data.in_words("groups", largest, told="path group n mean")
    groups = groups.assign(label=groups["path"], share=groups["mean"])[groups["path_id"].isin(fields["path"])]
    colour = alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], range=["#f7f7f7", "#2166ac"]), legend=None)
    words = alt.ColorValue(**alt.condition("datum.share > .6", alt.value("white"), alt.value("#1c2329")))
    panels = []
    for cells in by_group(data, everybody, groups, room):
        base = data.chart(cells).encode(y=data.names(fields, "label"), x=group_heads(data, cells, room))
        text = base.mark_text().encode(text=alt.Text("share:Q", format=".0%"), color=words)
        panels.append(
            alt.layer(base.mark_rect().encode(color=colour), text).properties(width=room, height=alt.Step(30))
        )
    return alt.vconcat(*panels)
