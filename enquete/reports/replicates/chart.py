"""Replicates: the figure of each headline finding in the main arm and in every further run, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at
from enquete.reports.evaluation import Evaluation
from enquete.reports.figures.canvas import Canvas, Figure, answers, note, rows, told
from enquete.reports.figures.palette import COLOURS, MUTED, PALE, PAPER
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.reports.markdown import number
from enquete.state.asking import Language

ROW, LABEL, HEAD, FOOT = 28, 340, 24, 34  # px: a finding, its label, above and below a methodology's plot
MOST = 12  # findings of a methodology; the first that it states

WORDS = {
    "title": N_("Replicates: headline findings in the main arm and in every further run"),
    "asked": N_("{n} further runs of the whole study"),
    "held": N_("{agree} of {n} agree"),
    "main": N_("main arm"),
    "further": N_("further runs"),
    "range": N_("from the lowest to the highest further run"),
    "hover": N_("{finding}: {main} in the main arm, {further} in further runs; {held}"),
    "alt": N_("{n} findings over {runs} further runs; {all} of them are found again in all."),
}

Row = Mapping[str, Any]


def figures(
    found: Found, own: Mapping[str, Evaluation], titles: Mapping[str, str], language: Language
) -> Iterator[Figure]:
    """found: replicates.json; own, titles: by methodology. Findings that have a figure in every run; a plot a methodology."""
    words, runs = in_language(WORDS, language), max(0, len(at(found, "arms") or []) - 1)
    by_method = _by_method(found)
    if not by_method or not runs:
        return
    heights = [ROW * len(some) for some in by_method.values()]
    total = sum(heights) + len(heights) * HEAD + (len(heights) - 1) * FOOT
    canvas = Canvas(words["title"], note(language, words["asked"].format(n=runs)), language, total)
    top = 0.0
    for place, (name, some) in enumerate(by_method.items()):
        top += HEAD
        axis = str(place + 1) if place else ""
        sentences = in_language(own[name].sentences, language)
        labels = [sentences[str(one["kind"])].format(*one["about"]) for one in some]
        canvas.data.extend(_runs(some, labels, axis, words, language, is_first=not place))
        span = [float(value) for one in some for value in (one["main"], *one["further"])]
        room = (max(span) - min(span) or 1.0) * 0.06
        whole = {"dtick": 1} if all(value % 1 == 0 for value in span) and max(span) - min(span) < MOST else {}
        canvas.layout[f"xaxis{axis}"] = {"anchor": f"y{axis}", "range": [min(span) - room, max(span) + room], **whole}
        domain = [1 - (top + heights[place]) / total, 1 - top / total]
        canvas.layout[f"yaxis{axis}"] = rows([wrapped(one, LABEL) for one in labels], anchor=f"x{axis}", domain=domain)
        head = told(bold(escaped(titles.get(name, name))), 0, 1, xref="paper", yref=f"y{axis} domain")
        canvas.layout.setdefault("annotations", []).append(
            {**head, "xanchor": "left", "yanchor": "bottom", "yshift": 4}
        )
        top += heights[place] + FOOT
    every = [one for some in by_method.values() for one in some]
    alike = sum(one["n_agreeing"] == one["n"] for one in every)
    yield canvas.figure("findings", words["alt"].format(n=len(every), runs=runs, all=alike))


def _by_method(found: Found) -> dict[str, list[Row]]:
    """The first findings of each methodology whose figures are all numbers."""
    by_method: dict[str, list[Row]] = {}
    for one in (at(found, "headlines") or {}).values():
        values = [one["main"], *one["further"]]
        some = by_method.setdefault(str(one["methodology"]), [])
        if all(isinstance(value, int | float) for value in values) and len(values) > 1 and len(some) < MOST:
            some.append(one)
    return {name: some for name, some in by_method.items() if some}


def _runs(
    some: Sequence[Row],
    labels: Sequence[str],
    axis: str,
    words: Mapping[str, str],
    language: Language,
    *,
    is_first: bool,
) -> Iterator[dict[str, Any]]:
    axes = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "showlegend": is_first}
    low, high = [min(one["further"]) for one in some], [max(one["further"]) for one in some]
    yield {
        "type": "bar", "orientation": "h", "base": low, "x": [b - a for a, b in zip(low, high, strict=True)], "y": list(range(len(some))),
        "width": [0.3] * len(some), "marker": {"color": PALE[MUTED]}, "name": words["range"], "hoverinfo": "skip", **axes,
    }  # fmt: skip
    yield {
        "type": "scatter", "mode": "markers", "x": [value for one in some for value in one["further"]],
        "y": [row for row, one in enumerate(some) for _ in one["further"]], "name": words["further"], "hoverinfo": "skip",
        "marker": {"color": MUTED, "symbol": "circle-open", "size": 7}, **axes,
    }  # fmt: skip
    yield {
        "type": "scatter", "mode": "markers", "x": [one["main"] for one in some], "y": list(range(len(some))), "name": words["main"],
        "marker": {"color": COLOURS[0], "symbol": "diamond", "size": 9, "line": {"color": PAPER, "width": 1}},
        "hoverinfo": "text", "hovertext": [_told(one, label, words, language) for one, label in zip(some, labels, strict=True)],
        "meta": {"links": [answers(str(one["methodology"]), arm="any") for one in some]}, **axes,
    }  # fmt: skip


def _told(one: Row, label: str, words: Mapping[str, str], language: Language) -> str:
    held = words["held"].format(agree=one["n_agreeing"], n=one["n"])
    further = "; ".join(number(value, language) for value in one["further"])
    return words["hover"].format(
        finding=wrapped(label, 400, 3), main=number(one["main"], language), further=further, held=held
    )
