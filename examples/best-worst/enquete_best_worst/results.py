"""What choices give. Score = (times best − times worst) / times shown, −1 … 1 (counts of Marley & Louviere 2005)."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from enquete.analysis.diagnostics import FREE, Threshold, judged
from enquete.analysis.inference import selected_intervals
from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.charts import ChartData, intervals
from enquete.reports.context import AnalysisContext
from enquete.reports.evaluation import Evaluation
from enquete.reports.health_checks import Arms, Made, OwnCheck, phases
from enquete.state.methodology import NoSettings
from enquete_best_worst import BestWorstInstrument

OBJECT = d.reference("object", N_("object"), to="objects")
OBJECTS = d.Table(
    name="objects", title=N_("What matters how much"), key=("object",), label="label", columns=(
        d.text("object", N_("id")), d.text("label", N_("object")), d.number("score", N_("score")),
        d.number("low", N_("lower bound")), d.number("high", N_("upper bound")), d.interval("low", "high", "95%"),
        d.integer("best", N_("most")), d.integer("worst", N_("least")), d.integer("n", "n"), d.integer("n_total", "N"),
        d.of("n", "n_total", "n / N"), d.flag("first", N_("highest score"), replicates=True),
    ),
    views=(d.View(at="section", columns=d.names("label score low_to_high best worst n_of_n_total"), order=("-score",)),)
)  # fmt: skip
AGENTS = d.Table(
    name="agents", title=N_("Agents"), key=("participant",), one_agent=True, columns=(
        d.reference("participant", N_("agent"), to="agent"),
        d.reference("best_object", N_("most important (best–worst)"), to="objects", agents=True),
    ),
)  # fmt: skip
MOST = d.Finding(
    name="most", table="objects", where="first", order=("-score",), size="abs(score)", estimate="score", low="low",
    high="high", chart="scores", scale="-1, 1",
    says=N_("Most important of all is “{label}”: {score} (−1 to 1; 95% interval {low} to {high}; n = {n}/{n_total})."),
)  # fmt: skip
DIFFER = d.group_finding(
    OBJECT, size="(mean_highest - mean_lowest) / 2", chart="scores",
    says=N_("“{object}” differs: {mean_highest} among {highest}, {mean_lowest} among {lowest} ({p}; n = {n})."),
    null=N_("No object matters to groups differently ({p}); {power}."),
)  # fmt: skip


def scores(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("label", "score", "low_to_high", "n_of_n_total"))
    at = alt.X("score:Q", title=data.label("objects", "score"), scale=alt.Scale(domain=[-1, 1]))
    return intervals(data.chart(rows).encode(y=data.names(rows, "label")), at, "low", "high")


PRESENTATION = d.Presentation(
    tables=(OBJECTS, AGENTS, *d.group_tables(OBJECT, N_("Scores by group"))), findings=(DIFFER, MOST),
    charts=(d.Chart(
        name="scores", title=N_("Best–worst: what matters how much"), needs=("objects",), over=OBJECTS.views[0],
        draw=scores, alt=N_("Scores of all objects; highest: {label}, {score}.")),),
    texts=(d.TextBlock(at="section", says=N_("Score: (most − least) / times shown; 95% intervals over agents.")),),
)  # fmt: skip


def analyse(
    frame: pd.DataFrame, instrument: BestWorstInstrument, settings: NoSettings, context: AnalysisContext
) -> d.Analysis:
    """An agent enters with the sets that it answered. Intervals hold for the object with the highest score of all."""
    chosen = choices(frame)
    scored = by_agent(chosen, instrument)
    mean = scored.mean().round(9)
    objects = pd.DataFrame({
        "object": scored.columns, "label": [instrument.objects[name].in_(context.language) for name in scored],
        "score": mean, "best": chosen["best"].value_counts(), "worst": chosen["worst"].value_counts(),
        "n": scored.notna().sum(), "n_total": frame["participant"].nunique(), "first": mean.eq(mean.max()),
    }, index=scored.columns).fillna({"best": 0, "worst": 0})  # fmt: skip
    bounds = selected_intervals(objects["n"], mean, scored.std(), selected="highest", ends=(-1, 1))
    objects[["low", "high"]] = bounds[["low", "high"]].to_numpy()
    top = scored.idxmax(axis=1)[scored.eq(scored.max(axis=1), axis=0).sum(axis=1).eq(1)]
    agents = top.rename_axis("participant").reset_index(name="best_object")
    compare = d.compared(scored, context.groups_of(frame), "object", ends=dict.fromkeys(scored, (-1, 1)))
    return d.shaped(PRESENTATION, {"objects": objects, "agents": agents, **compare}, {})


def choices(frame: pd.DataFrame) -> pd.DataFrame:
    """One row an answered set: participant, item_id, best and worst (object ids)."""
    answered = frame.loc[frame["choice"].ne(""), ["participant", "item_id", "choice"]].reset_index(drop=True)
    return answered.join(pd.DataFrame(map(json.loads, answered.pop("choice")), columns=["best", "worst"]))


def by_agent(chosen: pd.DataFrame, instrument: BestWorstInstrument) -> pd.DataFrame:
    """Scores: participants × objects; NaN for an object that an agent answered no set of."""
    sets = {f"set_{number}": shown for number, shown in enumerate(instrument.sets, start=1)}
    shown = chosen.assign(object=chosen["item_id"].map(sets)).explode("object")
    shown["score"] = shown["object"].eq(shown["best"]).astype(int) - shown["object"].eq(shown["worst"])
    return shown.pivot_table("score", "participant", "object").reindex(columns=list(instrument.objects))


KEPT = OwnCheck(
    Threshold("share of sets with the same best when options are reversed", (0.70, None), FREE,
              {"answers": 50, "agents": 5}, "SE ≤ .5/√50 = .07", "proposal", "this package's",
              "what matters most does not depend on its place", None),
    "share", (N_("the same choice with options reversed"),
              N_("The choice depends on where something stands in the list.")),
)  # fmt: skip


def probed(arms: Arms) -> Made:
    """Options reversed: is the best of a set still the best?"""
    if "options_reversed" in arms.asked:
        both = choices(arms.main).merge(choices(arms.asked["options_reversed"]), on=["participant", "item_id"])
        same, who = both["best_x"].eq(both["best_y"]).mean(), both["participant"].nunique()
        yield phases(arms.main)[0], judged("option_order", same, {"answers": len(both), "agents": who}, rule=KEPT.rule)


EVALUATION = Evaluation(analyse=analyse, presentation=PRESENTATION, probed=probed, checks={"option_order": KEPT})
