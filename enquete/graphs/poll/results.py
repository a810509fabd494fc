"""What the answers give, question by question: means with intervals, shares of options, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from enquete.analysis.means import mean_of, share_interval
from enquete.instruments.polls import Question, QuestionsInstrument
from enquete.locale import N_, in_language
from enquete.reports.context import (
    AnalysisContext,
    Found,
    ItemFacts,
    answering,
    counted,
    figure,
    findings,
    listed,
    responded,
)
from enquete.reports.evaluation import Evaluation
from enquete.reports.figures.canvas import Canvas, Figure, answers, note, rows, titled
from enquete.reports.figures.canvas import counted as of_all
from enquete.reports.figures.palette import COLOURS
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence
from enquete.reports.markdown import number, share
from enquete.state.asking import Language
from enquete.state.methodology import NoSettings

WORDS = {
    "shares": N_("Poll: shares of the options"),
    "means": N_("Poll: mean answers"),
    "axis": N_("mean, as a part of the scale, with 95% interval"),
}
MEAN = N_("“{item}”: mean {mean} (scale {low}–{high}; 95% interval {from_} to {to}; n = {n}/{total}).")
CHOSEN = N_("“{item}”: most choose “{option}”, {share} (95% interval {from_} to {to}; n = {n}/{total}).")


def analyse(
    frame: pd.DataFrame, instrument: QuestionsInstrument, settings: NoSettings | None, context: AnalysisContext
) -> Mapping[str, Any]:
    """frame: one row an answer of the main arm; see reports/findings.py for the contract."""
    questions = [
        _one(frame[frame["item_id"].eq(one.question_id)], one, instrument, context) for one in instrument.questions
    ]
    return findings(context, {**answering(frame), "questions": questions})


def _one(
    rows: pd.DataFrame, question: Question, instrument: QuestionsInstrument, context: AnalysisContext
) -> dict[str, Any]:
    answered = responded(rows)
    about: dict[str, Any] = {
        "item": question.question_id,
        "wording": question.wording.in_(context.language),
        "kind": question.kind,
    }
    made = {**about, **counted(rows)}
    if question.kind == "open":
        return {**made, "answers": _said(answered)}
    if question.kind == "choice":
        return {**made, "options": _shares(answered, question, context.language)}
    scale = instrument.scale_of(question) if question.kind == "likert" else None
    ends = (scale.min, scale.max) if scale else (question.minimum, question.maximum)
    return {**made, "low": ends[0], "high": ends[1], **_figures(answered), "types": _types(answered)}


def _said(answered: pd.DataFrame) -> list[Mapping[str, Any]]:
    columns = ["participant", "agent_name", "stakeholder_type", "text"]
    return [
        dict(zip(("participant", "name", "stakeholder_type", "text"), row, strict=True))
        for row in answered[columns].itertuples(index=False)
    ]


def _shares(answered: pd.DataFrame, question: Question, language: Language) -> list[Mapping[str, Any]]:
    chosen = answered["choice"].astype(str).value_counts()
    n = len(answered)
    return [
        {
            "option": str(place),
            "label": option.label.in_(language),
            "n": (count := int(chosen.get(str(place), 0))),
            **(share_interval(count, n) if n else {"share": None, "low": None, "high": None}),
        }
        for place, option in enumerate(question.options, start=1)
    ]


def _figures(answered: pd.DataFrame) -> dict[str, Any]:
    values = answered["value"].astype(float)
    mean = mean_of(values)
    return {
        "mean": mean.mean,
        "from": mean.low,
        "to": mean.high,
        "median": float(values.median()) if len(values) else None,
        "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        "distribution": {f"{value:g}": int(n) for value, n in values.value_counts().sort_index().items()},
    }


def _types(answered: pd.DataFrame) -> list[Mapping[str, Any]]:
    """Means of the types with enough agents."""
    groups = answered.assign(value=answered["value"].astype(float)).groupby("stakeholder_type", sort=True)["value"]
    return [
        {"stakeholder_type": str(kind), "n": len(own), "mean": float(own.mean())}
        for kind, own in groups
        if len(own) >= FEWEST
    ]


# --- told ------------------------------------------------------------------------------------------------------------


def key_findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """Every closed question with an interval, those furthest from the middle or from an even split first."""
    made = [one for question in listed(found, "questions") for one in _key(question, language)]
    yield from sorted(made, key=lambda one: -one.size)[:5]


def _key(one: Mapping[str, Any], language: Language) -> Iterator[KeyFinding]:
    n, total, wording = int(one["n_responded"]), int(one["n_total"]), str(one["wording"])
    about: dict[str, Any] = {"n": n, "n_total": total, "items": (str(one["item"]),)}
    if one["kind"] == "choice":
        top = max(one["options"], key=lambda option: option["n"])
        if n > 1 and sum(option["n"] == top["n"] for option in one["options"]) == 1:
            ends = {"from_": share(top["low"], language), "to": share(top["high"], language)}
            text = sentence(CHOSEN, language, item=wording, option=top["label"], share=share(top["share"], language), n=n,
                            total=total, **ends)  # fmt: skip
            even = 1 / len(one["options"])
            size = (top["share"] - even) / (1 - even)
            numbers = {"share": top["share"], "low": top["low"], "high": top["high"]}
            yield KeyFinding(f"chosen.{one['item']}", text, "position", size, figure="shares", numbers=numbers, **about)
    mean, low, high = figure(one, "mean"), figure(one, "low"), figure(one, "high")
    if mean is not None and low is not None and high is not None and figure(one, "from") is not None:
        ends = {"from_": number(one["from"], language), "to": number(one["to"], language)}
        scale = {"low": f"{low:g}", "high": f"{high:g}"}
        text = sentence(MEAN, language, item=wording, mean=number(mean, language), n=n, total=total, **ends, **scale)
        size = abs(mean - (low + high) / 2) / ((high - low) / 2)
        numbers = {"mean": mean, "low": one["from"], "high": one["to"]}
        yield KeyFinding(f"mean.{one['item']}", text, "position", size, figure="means", numbers=numbers, **about)


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    questions = listed(found, "questions")
    return {
        "rated": [one for one in questions if one["kind"] in ("likert", "number")],
        "choices": [one for one in questions if one["kind"] == "choice"],
        "opened": [one for one in questions if one["kind"] == "open"],
    }


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    rated = [
        one for one in listed(found, "questions") if figure(one, "from") is not None and figure(one, "high") is not None
    ]
    if rated:
        yield _means(found, rated, words, language)
    chosen = [
        (one, option) for one in listed(found, "questions") if one["kind"] == "choice" for option in one["options"]
    ]
    if any(option["n"] for _, option in chosen):
        canvas = Canvas(words["shares"], note(language, of_all(found, language)), language, plot=26 * len(chosen))
        said = [
            f"{one['wording']} – {option['label']}: {share(option['share'] or 0, language)}" for one, option in chosen
        ]
        links = [answers("poll", item_id=one["item"], chosen=option["label"]) for one, option in chosen]
        lengths, labels = [option["share"] or 0 for _, option in chosen], [option["label"] for _, option in chosen]
        _bars(canvas, lengths, labels, said, links)
        canvas.layout["xaxis"] = {"range": [0, 1], "tickformat": ".0%"}
        yield canvas.figure("shares", f"{words['shares']}: {'; '.join(said)}.", lead=not rated)


def _means(found: Found, rated: list[Mapping[str, Any]], words: Mapping[str, str], language: Language) -> Figure:
    canvas = Canvas(words["means"], note(language, of_all(found, language)), language, plot=34 * len(rated))
    said = [f"{one['wording']}: {number(one['mean'], language)} ({one['low']:g}–{one['high']:g})" for one in rated]
    links = [answers("poll", item_id=one["item"]) for one in rated]
    _bars(canvas, [_part(one, "mean") for one in rated], [one["wording"] for one in rated], said, links)
    canvas.data[0]["error_x"] = {
        "type": "data", "symmetric": False, "color": "#1c2329",
        "array": [max(0.0, min(1.0, _part(one, "to")) - _part(one, "mean")) for one in rated],
        "arrayminus": [max(0.0, _part(one, "mean") - max(0.0, _part(one, "from"))) for one in rated],
    }  # fmt: skip
    canvas.layout["xaxis"] = titled(words["axis"], range=[0, 1])
    return canvas.figure("means", f"{words['means']}: {'; '.join(said)}.", lead=True)


def _part(one: Mapping[str, Any], key: str) -> float:
    """A value of a question as a part of its scale, 0 to 1."""
    return float((one[key] - one["low"]) / (one["high"] - one["low"]))


def _bars(canvas: Canvas, lengths: list[float], labels: list[str], said: list[str], links: list[str]) -> None:
    canvas.data.append({
        "type": "bar", "orientation": "h", "x": lengths, "y": list(range(len(lengths))), "marker": {"color": COLOURS[0]},
        "hoverinfo": "text", "hovertext": [escaped(text) for text in said], "meta": {"links": links},
    })  # fmt: skip
    canvas.layout["yaxis"] = rows([wrapped(label, 240, 3) for label in labels])


def item_facts(item_id: str, instrument: QuestionsInstrument) -> ItemFacts:
    question = instrument.question(item_id)
    if question.kind != "likert":
        return ItemFacts()
    scale = instrument.scale_of(question)
    return ItemFacts(scale_min=scale.min, scale_max=scale.max)


EVALUATION = Evaluation(
    analyse=analyse,
    findings=key_findings,
    section="enquete.graphs.poll:section.md.j2",
    appendix="enquete.graphs.poll:appendix.md.j2",
    shown=shown,
    figures=figures,
    item_facts=item_facts,
)
