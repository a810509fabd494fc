"""Respondent A against respondent B: B's win rate by methodology and kind of question, with intervals around one half."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from enquete.locale import N_, tell
from enquete.reports import declarations as d
from enquete.reports.charts import ChartData, intervals
from enquete.reports.preference.found import Preference
from enquete.reports.views import Names, Results
from enquete.respondents.kinds import KINDS
from enquete.state.asking import Language

ALL = N_("all pairs that differ")
CRITIC = N_("critic: {critic}")
STAND_IN = N_("the critic is a stand-in without a model")

PRESENTATION = d.Presentation(
    tables=(
        d.Table(name="rates", title=N_("Win rates of respondent B"), key=("methodology", "question_type"), columns=(
            d.text("methodology"), d.text("question_type"), d.text("label", N_("Pairs")),
            d.share("rate", N_("win rate of B (one half: neither)")), d.share("low", N_("lower bound")),
            d.share("high", N_("upper bound")), d.integer("n", "n"))),
    ),
    facts=(d.text("critic"), d.flag("stand_in")),
    charts=(d.Chart(
        name="win-rates", title=N_("How often respondent B's answer is preferred to respondent A's"), needs=("rates",),
        draw="enquete.reports.preference.chart:rates",
        alt=N_("Respondent B wins {rate} of {n} pairs, ties counted half; 95% interval {low} to {high}."),
    ),),
)  # fmt: skip


def results(found: Preference | None, titles: Mapping[str, str], language: Language) -> Results | None:
    """None where the critic is unusable."""
    if found is None or not found.usable:
        return None
    rows = [
        {"methodology": one.methodology, "question_type": one.question_type, "rate": one.found.rate, "low": one.found.low,
         "high": one.found.high, "n": one.found.n, "label": _label(one.methodology, one.question_type, titles, language)}
        for one in found.rates if one.found.n
    ]  # fmt: skip
    analysis = d.shaped(PRESENTATION, {"rates": rows}, {"critic": found.critic, "stand_in": found.stand_in})
    return Results("preference", PRESENTATION, analysis, Names(), language)


def _label(methodology: str, kind: str, titles: Mapping[str, str], language: Language) -> str:
    if methodology and kind in KINDS:
        return f"{titles.get(methodology, methodology)}: {tell(KINDS[kind].label, language)}"
    return tell(ALL, language)


def rates(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("label", "rate", "low", "high", "n"))
    facts = data.facts
    data.note(data.tell(STAND_IN) if facts["stand_in"] else data.tell(CRITIC, critic=facts["critic"]))
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%")
    at = alt.X("rate:Q", title=data.label("rates", "rate"), scale=alt.Scale(domain=[0, 1]), axis=axis)
    half = data.chart(pd.DataFrame({"rate": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x=at)
    own = intervals(data.chart(rows).encode(y=data.names(rows, "label", px=290)), at, "low", "high")
    return alt.layer(half, own).properties(height=alt.Step(30))
