"""Roundtable's charts: agreement by stage, and where everybody stood."""

from __future__ import annotations

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.methods.roundtable.stages import AFTER, BEFORE, ROUND, STAGES
from enquete.reports.charts import COLOURS, MUTED, ChartData, worded

MOST = 30
"""Rows of a picture."""


def agreement(data: ChartData) -> alt.TopLevelMixin:
    """A thin line a group, the mean on top, and the agreement from which a discussion is over."""
    curve = data.rows(told=("stage", "agreement", "talking", "n"))
    places = dict(zip(curve["stage"], curve["place"], strict=True))
    rounds, discussions = data.tables["rounds"], data.tables["discussions"]
    rounds = rounds.assign(place=rounds["round"].astype(str).map(places))
    private = [
        discussions.assign(place=places[stage], agreement=discussions[stage])
        for stage in (BEFORE, AFTER)
        if stage in places
    ]
    groups = pd.concat([rounds, *private])[["group", "place", "agreement"]].dropna()
    words = {place: [_stage(data, stage)] for stage, place in places.items()}
    at = alt.X("place:Q", title=None, scale=alt.Scale(domain=[-0.3, len(places) - 0.7], nice=False),
               axis=alt.Axis(values=list(places.values()), labelExpr=worded(words), grid=False))  # fmt: skip
    level = alt.Y("agreement:Q", title=data.label("curve", "agreement"), scale=alt.Scale(domain=[0, 1]))
    faint = max(0.04, 0.35 / max(1, groups["group"].nunique() / 10))  # many lines on one another are no darker than few
    each = data.chart(groups).mark_line(opacity=faint, color=MUTED).encode(x=at, y=level, detail=alt.Detail("group:N"))
    mean = data.chart(curve).mark_line(point=True, strokeWidth=3, color=COLOURS[0]).encode(x=at, y=level)
    limit = (
        data.chart(pd.DataFrame({"agreement": [data.facts["consensus_limit"]]}))
        .mark_rule(strokeDash=[3, 3])
        .encode(y=level)
    )
    data.note(data.tell(N_("dotted: agreement from which a discussion ends; thin: each group, thick: their mean")))
    return alt.layer(limit, each, mean).properties(height=230)


def positions(data: ChartData) -> alt.TopLevelMixin:
    """A row a participant, a column a stage: the side taken, fainter where less sure."""
    every = data.tables.select("positions", reads=False)
    every = data.in_words("positions", every, told="participant stage stance confidence")
    seen = dict.fromkeys(every["stage"])
    order = [BEFORE, *sorted((stage for stage in seen if stage not in STAGES), key=int), AFTER]
    every = every.assign(sure=every["confidence"].fillna(0.5))
    sides = every.pivot_table(index=["group", "participant_id"], columns="stage", values="stance", aggfunc="first")
    sides = (
        sides.reindex(columns=order).astype(object).fillna("").sort_values(["group", *order])
    )  # who stood alike stands together
    places = {who: place for place, (_, who) in enumerate(sides.index)}
    every = every.iloc[every["participant_id"].map(places).argsort(kind="stable")]
    rows = data.top(every, "participant", MOST)
    stages = alt.X("stage:N", sort=[stage for stage in order if stage in seen], title=None,
                   axis=alt.Axis(labelExpr=worded({stage: [_stage(data, stage)] for stage in seen}), labelAngle=0,
                       orient="top"))  # fmt: skip
    groups = dict(zip(rows["participant_id"], rows["group"].str.removeprefix("group_").str.lstrip("0"), strict=True))
    data.note(data.tell(N_("behind a name: its group")))
    base = data.chart(rows).encode(y=data.names(rows, "participant", more=groups), x=stages)
    if rows["stance_id"].isna().all():  # no stance was asked for: the same number, the same position in a group
        return base.mark_text().encode(text=alt.Text("cluster:O")).properties(height=alt.Step(24))
    data.note(data.tell(N_("fainter: less sure")))
    colour = data.levels(rows, "positions", "stance")[0]
    return (
        base.mark_rect()
        .encode(
            color=colour, opacity=alt.Opacity("sure:Q", scale=alt.Scale(domain=[0, 1], range=[0.25, 1]), legend=None)
        )
        .properties(height=alt.Step(24))
    )


def _stage(data: ChartData, stage: str) -> str:
    return data.tell(STAGES[stage]) if stage in STAGES else data.tell(ROUND, round=stage)
