"""What the answers give, question by question: means with intervals, shares of options, groups, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from enquete.analysis.inference import selected_intervals, share_intervals
from enquete.instruments.polls import QuestionEntry, QuestionsInstrument
from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.charts import LABEL, ChartData, beside, by_scale, intervals, step
from enquete.reports.context import AnalysisContext, ItemFacts, responded, wide
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST
from enquete.reports.markdown import number
from enquete.state.methodology import NoSettings

KINDS = {"likert": N_("rating"), "number": N_("number"), "choice": N_("choice"), "open": N_("open")}
LINE = N_("line: 95% interval for all means and options at once, hence wider")
BEFORE = LABEL - 100  # px of a question, before what stands behind it
PLACES = {"first": N_("most chosen"), "tied": N_("most chosen, shared")}
QUOTED = 5
"""Answers of an open question that the report quotes, evenly spread over the population."""

ITEM = d.reference("item", N_("Question"), to="questions")
N, TOTAL, N_OF = d.integer("n", "n"), d.integer("n_total", "N"), d.of("n", "n_total", "n / N")
QUESTIONS = d.Table(
    name="questions", title=N_("Questions"), key=("item",), label="wording",
    columns=(d.text("item", N_("id")), d.text("wording", N_("Question")), d.code("kind", N_("kind"), KINDS), N, TOTAL,
        N_OF),
)  # fmt: skip
MEANS = d.Table(
    name="means", title=N_("Mean answers"), key=("item",),
    columns=(
        ITEM, N, TOTAL, N_OF, d.number("mean", N_("mean")), d.number("low", N_("lower bound")),
        d.number("high", N_("upper bound")), d.interval("low", "high", "95%"),
        d.number("median", N_("median"), digits=1), d.number("sd", "SD"), d.text("scale", N_("scale")),
        d.number("lowest", N_("lowest answer"), digits=0), d.number("highest", N_("highest answer"), digits=0),
        d.number("scale_min", N_("scale from"), digits=0), d.number("scale_max", N_("scale to"), digits=0),
    ),
    views=(d.View(at="section", heading="", columns=d.names("item n_of_n_total mean low_to_high median sd lowest "
                                                            "highest scale")),
           d.View(at="digest", columns=d.names("item n mean low high"))),
)  # fmt: skip
OPTIONS = d.Table(
    name="options", title=N_("Shares of the options"), key=("item", "option"), label="label",
    columns=(
        ITEM, d.text("option", N_("id")), d.text("label", N_("Option")), d.integer("count", N_("agents")), N, TOTAL,
        N_OF, d.share("share", N_("share")), d.share("low", N_("lower bound")), d.share("high", N_("upper bound")),
        d.share("even", N_("share if all were chosen alike")), d.code("first", N_("place"), PLACES, replicates=True),
    ),
    views=(d.View(at="section", heading="", by=("item",), columns=d.names("label count share low high n_of_n_total")),
           d.View(at="digest", columns=d.names("item label count share"))),
)  # fmt: skip
DISTRIBUTION = d.Table(
    name="distribution", title=N_("Distribution of the answers"), key=("item", "value"),
    columns=(ITEM, d.number("value", N_("answer"), digits=0), d.integer("n", N_("agents"))),
)  # fmt: skip
SAID = d.Table(
    name="said", title=N_("Open answers"), key=("item", "participant"), one_agent=True,
    columns=(
        ITEM, d.reference("participant", N_("agent"), to="agent"),
        d.STAKEHOLDER_TYPE, d.text("text", N_("answer")),
        d.flag("quoted", N_("quoted in the report")),
    ),
    views=(d.View(at="appendix", where="quoted", by=("item",), quote="text",
        who=d.names("participant stakeholder_type"),
                  note=N_("Five of a question at most, evenly spread; all are in exports/poll/said.csv.")),),
)  # fmt: skip
FINDINGS = (
    d.group_finding(
        ITEM, N_("Groups answer “{item}” differently: mean {mean_highest} among {highest}, {mean_lowest} among "
                 "{lowest} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No question is answered differently by the groups ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="effect", chart="means",
    ),
    d.choice_group_finding(
        N_("Groups choose differently on “{item}”: “{option}” is chosen by {share_highest} among {highest}, by "
           "{share_lowest} among {lowest} (Cramér's V {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("On no question were options chosen differently by the groups ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total})."),
        chart="shares",
    ),
    d.Finding(
        name="chosen", table="options", where=f"n >= {FEWEST}", order=("-share",), top=3, word="first",
        size="(share - even) / (1 - even)", estimate="share", low="low", high="high", items="item", chart="shares",
        simultaneous=True,
        says={"first": N_("“{item}”: the option chosen most is “{label}”, {share} (simultaneous 95% interval {low} to "
                          "{high}; n = {n}/{n_total})."),
              "tied": N_("“{item}”: “{label}” is chosen by {share}, as often as another option (n = {n}/{n_total}).")},
    ),
    d.Finding(
        name="mean", table="means", where=f"n >= {FEWEST} and low == low and scale_min < scale_max", top=3,
        size="abs(mean - (scale_min + scale_max) / 2) / ((scale_max - scale_min) / 2)", estimate="mean", low="low",
            high="high", items="item", chart="means", scale="scale_min, scale_max", simultaneous=True,
        says=N_("“{item}”: mean {mean} (scale {scale}; simultaneous 95% interval {low} to {high}; n = "
                "{n}/{n_total})."),
    ),
)  # fmt: skip


def means(data: ChartData) -> alt.TopLevelMixin:
    rows = data.top(data.rows(told=("item", "mean", "low_to_high", "n_of_n_total")), "item")
    data.note(data.tell(N_("behind a question: mean")))
    data.note(data.tell(LINE))
    several = rows["scale"].nunique() > 1

    def panel(part: pd.DataFrame) -> alt.TopLevelMixin:
        drawn = _means_on_one_scale(data, part)
        return drawn.properties(width=beside(1)) if several else drawn

    return by_scale(rows, panel)


def _means_on_one_scale(data: ChartData, rows: pd.DataFrame) -> alt.LayerChart:
    language = data.results.language
    labels = {name: number(mean, language) for name, mean in zip(rows["item_id"], rows["mean"], strict=True)}
    ends = [float(rows["scale_min"].iloc[0]), float(rows["scale_max"].iloc[0])]
    at = alt.X("mean:Q", title=data.label("means", "mean"), scale=alt.Scale(domain=ends, nice=False))
    base = data.chart(rows).encode(y=data.names(rows, "item", more=labels, most=3))
    return intervals(base, at, "low", "high").properties(height=step(rows["item"], BEFORE))


def shares(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("item", "label", "share", "count", "n_of_n_total"))
    rows["name"], rows["name_id"] = rows["label"] + " – " + rows["item"], rows["item_id"] + "/" + rows["option"]
    rows, title = data.top(rows, "name"), data.label("options", "share")
    at = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    data.note(data.tell(LINE))
    labels = dict(zip(rows["name_id"], [data.told("options", "share", share) for share in rows["share"]], strict=True))
    base = data.chart(rows).encode(y=data.names(rows, "name", more=labels, most=3))
    return intervals(base, at, "low", "high").properties(height=step(rows["name"], BEFORE))


CHARTS = (
    d.Chart(name="means", title=N_("Poll: mean answers"), needs=("means",), draw=means,
            over=d.View(at="section", where="scale_min < scale_max"),
            alt=N_("Mean answers to {n_questions:question|questions}; first: “{item}”, {mean}.")),
    d.Chart(name="shares", title=N_("Poll: shares of the options"), needs=("options",),
        draw=shares,
            over=d.View(at="section", where="share == share"), alt=N_("Shares of options; first: “{item}”, “{label}”, "
                                                                      "{share}.")),
)  # fmt: skip
PRESENTATION = d.Presentation(
    tables=(QUESTIONS, MEANS, OPTIONS, DISTRIBUTION, *reversed(d.group_tables(ITEM, N_("Mean answers by group"))),
        *reversed(d.choice_group_tables(ITEM, N_("Options by group"))), SAID),
    facts=(d.integer("n_questions", N_("questions")),), findings=FINDINGS, charts=CHARTS,
    texts=(d.TextBlock(at="section", says=N_("Every agent was asked {n_questions:question|questions} once; 95% "
                                        "intervals over agents hold for all means and options together.")),),
)  # fmt: skip


def analyse(
    frame: pd.DataFrame, instrument: QuestionsInstrument, settings: NoSettings | None, context: AnalysisContext
) -> d.Analysis:
    """frame: one row an answer of the main arm."""
    answered = responded(frame)
    asked = {question.question_id: question for question in instrument.questions}
    rows = {item: answered[answered["item_id"].eq(item)] for item in asked}
    totals = frame["item_id"].value_counts()
    about = {item: {"item": item, "n": len(rows[item]), "n_total": totals.get(item, 0)} for item in asked}
    rated = [item for item, question in asked.items() if question.kind in ("likert", "number")]
    ends = {item: _ends(asked[item], instrument) for item in rated}
    people, groups = frame["participant"].unique().tolist(), context.groups_of(frame)
    values = wide(answered, rated, people=people)
    options = {
        item: {str(place): option.label.in_(context.language) for place, option in enumerate(question.options, 1)}
        for item, question in asked.items()
        if question.kind == "choice"
    }
    error = 0.05 / max(1, sum(question.kind != "open" for question in asked.values()))  # of a question's intervals
    tables: dict[str, Any] = {
        "questions": [
            {**about[item], "wording": question.wording.in_(context.language), "kind": question.kind}
            for item, question in asked.items()
        ],
        "means": _means(values, about, ends, _scale_names(asked, instrument, ends, context), error),
        "options": [
            row for item, question in asked.items()
            for row in _options(rows[item], question, about[item], error, context)
        ],
        "distribution": [
            {"item": item, "value": value, "n": n}
            for item in rated for value, n in values[item].value_counts().sort_index().items()
        ],
        "said": [row for item, question in asked.items() if question.kind == "open" for row in _said(item, rows[item])],
        **d.compared(values, groups, "item", ends=ends),
        **d.compared_choices(_chosen({item: rows[item] for item in options}, people), groups, "item", options),
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, {"n_questions": len(asked)})


def _chosen(rows: Mapping[str, pd.DataFrame], people: Sequence[str]) -> pd.DataFrame:
    """Participants × choice questions: the option chosen, None where there is none."""
    columns = {
        item: answered.set_index("participant")["choice"].astype(object).reindex(pd.Index(people))
        for item, answered in rows.items()
    }
    return pd.DataFrame(columns, index=pd.Index(people), dtype=object)


def _ends(question: QuestionEntry, instrument: QuestionsInstrument) -> d.Ends:
    scale = instrument.scale_of(question) if question.kind == "likert" else None
    return (scale.min, scale.max) if scale else (question.minimum, question.maximum)


def _scale_names(
    asked: Mapping[str, QuestionEntry], instrument: QuestionsInstrument, ends: Mapping[str, d.Ends],
    context: AnalysisContext,
) -> dict[str, str]:  # fmt: skip
    """What the scale of every rated question is called: its points, with the words at its ends where another has the
    same points."""
    words = {}
    for item in ends:
        question = asked[item]
        scale = instrument.scale_of(question) if question.kind == "likert" else None
        words[item] = tuple(scale.labels[end].in_(context.language) for end in (scale.min, scale.max)) if scale else ()
    names = {}
    for item, (low, high) in ends.items():
        span = "" if low is None or high is None else f"{low:g}–{high:g}".replace("-", "−")
        alike = {words[other] for other in ends if ends[other] == ends[item]}
        names[item] = f"{span}, {' … '.join(words[item])}" if len(alike) > 1 and words[item] else span
    return names


def _means(
    values: pd.DataFrame,
    about: dict[str, dict[str, Any]],
    ends: dict[str, d.Ends],
    names: Mapping[str, str],
    error: float,
) -> Iterator[dict[str, Any]]:
    """Intervals hold for whichever question is singled out; questions on one scale share what is known of their
    spread."""
    for scale in dict.fromkeys(ends.values()):
        items = [item for item in map(str, values) if ends[item] == scale]
        rated, level = values[items], 1 - error * len(items)
        bounds = selected_intervals(rated.notna().sum(), rated.mean(), rated.std(), level=level)
        lows, highs = bounds["low"].clip(scale[0]), bounds["high"].clip(upper=scale[1])
        for item, low, high in zip(items, lows, highs, strict=True):
            figures = {"mean": rated[item].mean(), "median": rated[item].median(), "sd": rated[item].std(),
                       "lowest": rated[item].min(), "highest": rated[item].max(), "scale": names[item]}  # fmt: skip
            yield {**about[item], **figures, "low": low, "high": high, "scale_min": scale[0], "scale_max": scale[1]}


def _options(
    answered: pd.DataFrame, question: QuestionEntry, about: dict[str, Any], error: float, context: AnalysisContext
) -> Iterator[dict[str, Any]]:
    counts = answered["choice"].astype(str).value_counts().to_dict() if question.options else {}
    names = [str(place) for place in range(1, len(question.options) + 1)]
    listed = [int(counts.get(name, 0)) for name in names]
    intervals = share_intervals(listed, about["n"], level=1 - error) if names else pd.DataFrame()
    most = max(listed, default=0)
    place = None if not most else "first" if listed.count(most) == 1 else "tied"
    for name, option, count, share, low, high in zip(
        names, question.options, listed, *(intervals.get(key, []) for key in ("estimate", "low", "high")), strict=True
    ):
        yield {**about, "option": name, "label": option.label.in_(context.language), "count": count, "share": share,
               "low": low, "high": high, "even": 1 / len(names), "first": place if count == most else None}  # fmt: skip


def _said(item: str, answered: pd.DataFrame) -> Iterator[dict[str, Any]]:
    step = max(1, -(-len(answered) // QUOTED))
    columns = (answered[name] for name in ("participant", "stakeholder_type", "text"))
    for place, (who, kind, text) in enumerate(zip(*columns, strict=True)):
        yield {"item": item, "participant": who, "stakeholder_type": kind, "text": text, "quoted": place % step == 0}


def item_facts(item_id: str, instrument: QuestionsInstrument) -> ItemFacts:
    question = instrument.question(item_id)
    if question.kind != "likert":
        return ItemFacts()
    scale = instrument.scale_of(question)
    return ItemFacts(scale_min=scale.min, scale_max=scale.max)


EVALUATION = Evaluation(analyse=analyse, presentation=PRESENTATION, item_facts=item_facts)
