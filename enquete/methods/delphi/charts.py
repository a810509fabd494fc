"""Delphi's charts: where each theme stood in each round, and how disputed ratings are spread."""

from __future__ import annotations

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.reports.charts import (
    COLOURS,
    MUTED,
    ChartData,
    along,
    beside,
    broken,
    intervals,
    stages,
    whole,
    worded,
)

PANELS, MOST = 3, 12
"""Histograms beside one another; at most."""
RATING = "theme dimension round median q1 q3 label n_of_n_total"


def convergence(data: ChartData) -> alt.TopLevelMixin:
    """A row a theme, the highest mean of the last round on top; a column a dimension. A disputed rating has no
    median."""
    ratings = data.rows(told=RATING.split())
    main = ratings["dimension_id"].eq(data.facts["main_dimension"])
    ratings = data.top(pd.concat([ratings[main], ratings[~main]]), "theme")
    rounds = sorted(ratings["round"].unique().tolist())
    colours, shapes = [MUTED] * len(rounds[1:]) + [COLOURS[0]], ["diamond"] * len(rounds[1:]) + ["circle"]
    legend = alt.Legend(labelExpr=worded({n: [f"{data.label('ratings', 'round')} {n}"] for n in rounds}))
    base = data.chart(ratings).encode(
        y=data.names(ratings, "theme"), yOffset=alt.YOffset("round:O",
            scale=alt.Scale(domain=rounds, paddingOuter=0.3)),
        color=alt.Color("round:O", scale=alt.Scale(domain=rounds, range=colours), legend=legend),
    )  # fmt: skip
    shape = alt.Shape("round:O", scale=alt.Scale(domain=rounds, range=shapes), legend=legend)
    at = whole("median", data.facts["scale_min"], data.facts["scale_max"])
    disputed = base.transform_filter("datum.label_id == 'disagreement'").mark_rule(
        strokeWidth=6 if len(rounds) < 3 else 5, opacity=0.4
    )
    points = intervals(base.transform_filter("datum.label_id != 'disagreement'").encode(shape=shape), at, "q1", "q3")
    data.note(data.tell(N_("point: median, line: quartiles; bar: quartiles where disputed")))
    names = dict(zip(ratings["dimension_id"], ratings["dimension"], strict=True))
    names = {dimension: names[dimension] for dimension in data.facts["dimensions"] if dimension in names}
    width, height = beside(len(names)), alt.Step(max(30, 10 * len(rounds)), **{"for": "position"})
    header = alt.Header(
        orient="bottom", labelExpr=worded({dimension: broken(name, width) for dimension, name in names.items()})
    )
    drawn = alt.layer(disputed.encode(x=along(at, "q1"), x2=alt.X2("q3:Q")), points).properties(
        width=width, height=height
    )
    return drawn.facet(column=alt.Column("dimension_id:N", sort=list(names), header=header))


def dissent(data: ChartData) -> alt.TopLevelMixin:
    """A histogram for each disputed rating, the most divided first."""
    rows = data.top(data.rows(), "item", MOST)
    counts = data.tables.select("distribution", round=data.facts["last_round"], item=rows["item"].tolist())
    counts = data.in_words("distribution", counts, told="theme dimension value n share")
    points = sorted(counts["value"].unique().tolist())
    width, heads = beside(PANELS, label=0), {}
    for item, theme, dimension, a in zip(
        *(rows[name] for name in ("item", "theme", "dimension", "agreement")), strict=True
    ):
        under = f"{dimension}, A = {data.told('dissent', 'agreement', a)}"
        heads[item] = [*broken(theme, width / 1.2, 3), *broken(under, width / 1.2)]  # bold text is wider
    data.note(
        data.tell(
            N_("round {n}; A: agreement, from 1 (unanimous) over 0 (even) to −1 (two camps)"),
            n=data.facts["last_round"],
        )
    )
    base = data.chart(counts).encode(
        x=alt.X(
            "value:O",
            title=data.label("distribution", "value"),
            axis=alt.Axis(labelAngle=0, domain=True, domainColor=MUTED),
        ),
        y=alt.Y("n:Q", axis=None, scale=alt.Scale(domain=[0, int(counts["n"].max()) * 1.2], nice=False)),
    )
    colour = alt.Color("value:O", scale=alt.Scale(domain=points, range=stages(len(points))), legend=None)
    bars = base.mark_bar(stroke=MUTED, strokeWidth=0.7).encode(color=colour)
    numbers = base.mark_text(dy=-7).encode(text=alt.Text("n:Q", format=",d"))
    header = alt.Header(labelExpr=worded(heads), labelAnchor="start", labelFontWeight="bold")
    panels = alt.Facet("item:N", sort=list(heads), header=header)
    drawn = alt.layer(bars, numbers).properties(width=width, height=96).facet(panels, columns=PANELS)
    return drawn.resolve_axis(x="independent")
