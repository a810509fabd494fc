"""Replicates: what each further run says of every verdict of the main arm, the least found again on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from enquete.locale import N_, tell
from enquete.reports import declarations as d
from enquete.reports.charts import ChartData, fitting
from enquete.reports.evaluation import Evaluation
from enquete.reports.figures.palette import COLOURS, MUTED, PAPER
from enquete.reports.markdown import number
from enquete.reports.replicates.again import Replicates
from enquete.reports.replicates.told import sentences
from enquete.reports.views import Names, Results
from enquete.state.asking import Language

LABEL = 330  # px of a finding
SAYS = {
    "same": N_("as in the main arm"),
    "other": N_("something else"),
    "missing": N_("not measured"),
}
LOOKS = {"same": (COLOURS[0], "circle"), "other": (COLOURS[1], "diamond"), "missing": (MUTED, "cross")}

PRESENTATION = d.Presentation(
    tables=(
        d.Table(name="runs", title=N_("Findings by run"), key=("finding", "run"), columns=(
            d.text("finding"), d.text("label", N_("Finding")), d.reference("methodology", N_("Methodology"), to="methodology"),
            d.integer("run", N_("further run")), d.text("main", N_("main arm")), d.text("said", N_("further run")),
            d.code("says", N_("further run"), SAYS), d.share("agreeing", N_("found again in")))),
    ),
    facts=(d.integer("n_findings"), d.integer("n_alike"), d.integer("n_runs")),
    charts=(d.Chart(
        name="findings", title=N_("Replicates: what further runs say of the main arm's findings"), needs=("runs",),
        draw="enquete.reports.replicates.chart:findings", at="appendix", over=d.View(at="appendix", order=("agreeing", "finding")),
        alt=N_("{n_findings} findings over {n_runs} further runs; {n_alike} of them are found again in all."),
    ),),
)  # fmt: skip


def results(
    replicates: Replicates, own: Mapping[str, Evaluation], titles: Mapping[str, str], language: Language
) -> Results:
    judged = replicates.judged
    facts = {
        "n_findings": len(judged), "n_alike": sum(one.held.n_agreeing == one.held.n for one in judged),
        "n_runs": max(0, len(replicates.arms) - 1),
    }  # fmt: skip
    analysis = d.shaped(PRESENTATION, {"runs": _rows(replicates, own, language)}, facts)
    return Results("replicates", PRESENTATION, analysis, Names(methodologies=titles), language)


def _rows(replicates: Replicates, own: Mapping[str, Evaluation], language: Language) -> Iterator[dict[str, Any]]:
    for one, found in replicates.headlines:
        label = tell(sentences(own[one.methodology], language)[one.kind], language).format(*one.about)
        for run, (said, agrees) in enumerate(zip(found.further, found.agreeing, strict=True), start=1):
            yield {
                "finding": f"{one.methodology}/{one.id}", "label": label, "methodology": one.methodology, "run": run,
                "main": _told(found.main, language), "said": _told(said, language),
                "says": "missing" if agrees is None else "same" if agrees else "other",
                "agreeing": found.held.n_agreeing / found.held.n if found.held.n else None,
            }  # fmt: skip


def _told(value: object, language: Language) -> str | None:
    return None if value is None else value if isinstance(value, str) else number(value, language)


def findings(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("methodology", "label", "main", "run", "said", "says"))
    rows = data.top(rows.assign(link=[f"#{name}?arm=any" for name in rows["methodology_id"]]), "finding")
    names = dict(zip(rows["finding"], rows["label"], strict=True))
    rows = rows.assign(finding_id=rows["finding"], finding=rows["finding"].map(names))
    levels = {code: data.told("runs", "says", code) for code in LOOKS}
    legend = alt.Legend(columns=fitting(list(levels.values())))
    colours, shapes = (
        alt.Scale(domain=list(levels.values()), range=[look[k] for look in LOOKS.values()]) for k in (0, 1)
    )
    colour = alt.Color("says:N", scale=colours, legend=legend)
    shape = alt.Shape("says:N", scale=shapes, legend=legend)
    runs = sorted(rows["run"].unique().tolist())
    at = alt.X("run:O", title=data.label("runs", "run"), axis=alt.Axis(orient="top", labelAngle=0), sort=runs)
    base = data.chart(rows).encode(x=at, y=data.names(rows, "finding", px=LABEL), color=colour, shape=shape)
    drawn: alt.Chart = base.mark_point(size=90, stroke=PAPER).properties(height=alt.Step(28))
    return drawn
