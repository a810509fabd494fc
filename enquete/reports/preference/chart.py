"""Respondent A against respondent B: B's win rate by methodology and kind of question, with intervals around one half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.locale import N_, in_language, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, dots, note, rows, titled
from enquete.reports.figures.palette import COLOURS, MUTED
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.markdown import share
from enquete.respondents.kinds import KINDS
from enquete.state.asking import Language

ROW, LABEL = 30, 300  # px
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)

WORDS = {
    "title": N_("How often respondent B's answer is preferred to respondent A's"),
    "critic": N_("critic: {critic}"),
    "stand_in": N_("the critic is a stand-in without a model"),
    "axis": N_("win rate of B (one half: neither)"),
    "all": N_("all pairs that differ"),
    "hover": N_("{label}: {rate} ({low} to {high}), n = {n}"),
    "alt": N_("Respondent B wins {rate} of {n} pairs, ties counted half; 95% interval {low} to {high}."),
}


def figures(found: Found, titles: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """found: preference.json. None where the critic is unusable or nothing was judged."""
    known = [one for one in listed(found, "win_rates") if at(one, "found", "n")]
    if not at(found, "usable") or not known:
        return
    words = in_language(WORDS, language)
    labels = [_label(one, titles, words["all"], language) for one in known]
    rate, low, high = ([float(at(one, "found", name)) for one in known] for name in ("rate", "low", "high"))
    told = [
        words["hover"].format(
            label=label, rate=share(rate[row], language), low=share(low[row], language), high=share(high[row], language),
            n=at(known[row], "found", "n"),
        )
        for row, label in enumerate(labels)
    ]  # fmt: skip
    half = {"type": "scatter", "mode": "lines", "x": [0.5, 0.5], "y": [-0.5, len(known) - 0.5], "hoverinfo": "skip",
            "line": {"color": MUTED, "width": 1, "dash": "dash"}, "showlegend": False}  # fmt: skip
    points = dots(
        rate, list(range(len(known))), low, high, colour=COLOURS[0], hovertext=[escaped(one) for one in told], showlegend=False
    )  # fmt: skip
    said = words["stand_in"] if at(found, "stand_in") else words["critic"].format(critic=at(found, "critic"))
    canvas = Canvas(
        words["title"],
        note(language, said),
        language,
        ROW * len(known),
        [half, points],
        _layout(labels, words, language),
    )
    first = {name: share(values[0], language) for name, values in (("rate", rate), ("low", low), ("high", high))}
    yield canvas.figure("win-rates", words["alt"].format(n=at(known[0], "found", "n"), **first))


def _layout(labels: Sequence[str], words: Mapping[str, str], language: Language) -> dict[str, Any]:
    axis = {"range": [0, 1], "tickvals": list(TICKS), "ticktext": [share(one, language) for one in TICKS]}
    return {"xaxis": titled(words["axis"], **axis), "yaxis": rows([wrapped(one, LABEL, 2) for one in labels])}


def _label(one: Any, titles: Mapping[str, str], every: str, language: Language) -> str:
    name, kind = str(at(one, "methodology") or ""), str(at(one, "question_type") or "")
    return f"{titles.get(name, name)}: {tell(KINDS[kind].label, language)}" if name and kind in KINDS else every
