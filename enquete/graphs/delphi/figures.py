"""Delphi: where each theme stood in each round of ratings, and how far opinions lay apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from enquete.locale import N_, in_language
from enquete.reports.context import at, listed
from enquete.reports.figures.canvas import COLOURS, SHARED, counted, finish, nothing, wrapped
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language
from enquete.state.errors import InputError

ROW = 42  # pixels a theme
APART = 0.26  # of a row, between two rounds

WORDS: Mapping[str, str] = {
    "themes_title": N_("Delphi: median and quartiles by theme"),
    "round": N_("round {round}"),
    "no_ratings": N_("no ratings"),
}


def draw(findings: Mapping[str, Any], language: Language) -> go.Figure:
    """Median (dot) and quartiles (bar) by round, one row a theme, one column a dimension; in the last round's order of importance.

    Raises InputError where nothing was rated yet.
    """
    words = {**in_language(SHARED, language), **in_language(WORDS, language)}
    ratings = [rating for rating in listed(findings, "ratings") if at(rating, "median") is not None]
    if not ratings:
        raise InputError(nothing("delphi", words["no_ratings"], language))
    labels = {str(theme.get("id")): str(theme.get("label")) for theme in listed(findings, "themes")}
    dimensions = list(dict.fromkeys(str(rating["dimension"]) for rating in ratings))
    rounds = sorted({int(rating["round"]) for rating in ratings})
    themes = _in_order(ratings, dimensions[0], rounds[-1])
    figure = make_subplots(cols=len(dimensions), shared_yaxes=True, horizontal_spacing=0.03)
    for column, dimension in enumerate(dimensions, start=1):
        for number in rounds:
            shown = [each for each in ratings if (each["dimension"], each["round"]) == (dimension, number)]
            offset = (rounds.index(number) - (len(rounds) - 1) / 2) * APART
            figure.add_trace(
                _round(shown, themes, labels, number, offset, words, legend=column == 1), row=1, col=column
            )
        figure.update_xaxes(
            range=_scale(findings, dimension),
            dtick=1,
            title_text=dimension_name(dimension, language),
            row=1,
            col=column,
        )
    names = [wrapped(labels.get(theme, theme), 40) for theme in themes]
    figure.update_yaxes(
        zeroline=False, range=[len(themes) - 0.5, -0.5], tickvals=list(range(len(themes))), ticktext=names
    )
    asked = [
        counted(words["round"].format(round=number), at(findings, "rounds", str(number)))
        for number in rounds
        if at(findings, "rounds", str(number))
    ]
    return finish(figure, words["themes_title"], asked, language, plot=ROW * len(themes))


def _in_order(ratings: list[Mapping[str, Any]], dimension: str, last: int) -> list[str]:
    """Themes by the last round's median, then mean: the most important on top."""
    rank = {
        str(each["theme"]): (-float(each["median"]), -float(at(each, "mean") or 0))
        for each in ratings
        if (each["dimension"], each["round"]) == (dimension, last)
    }
    return sorted({str(each["theme"]) for each in ratings}, key=lambda theme: (rank.get(theme, (0.0, 0.0)), theme))


def _scale(findings: Mapping[str, Any], dimension: str) -> list[float] | None:
    for known in listed(findings, "dimensions"):
        if known.get("dimension") == dimension and at(known, "scale_max") is not None:
            return [float(known["scale_min"]) - 0.3, float(known["scale_max"]) + 0.3]
    return None


def _round(
    shown: list[Mapping[str, Any]],
    themes: list[str],
    labels: Mapping[str, str],
    number: int,
    offset: float,
    words: Mapping[str, str],
    *,
    legend: bool,
) -> go.Scatter:
    colour = COLOURS[number % len(COLOURS)]
    told = [
        f"{labels.get(str(each['theme']), '')}: {each['median']:g} ({each['q1']:g}–{each['q3']:g}), "
        f"n = {words['hover_n'].format(n=each['n_responded'], total=each['n_total'])}"
        for each in shown
    ]
    quartiles = {
        "type": "data", "symmetric": False, "thickness": 4, "width": 0, "color": colour,
        "array": [each["q3"] - each["median"] for each in shown],
        "arrayminus": [each["median"] - each["q1"] for each in shown],
    }  # fmt: skip
    return go.Scatter(
        x=[each["median"] for each in shown],
        y=[themes.index(str(each["theme"])) + offset for each in shown],
        mode="markers",
        marker={"size": 10, "color": colour},
        error_x=quartiles,
        name=words["round"].format(round=number),
        legendgroup=str(number),
        showlegend=legend,
        text=told,
        hovertemplate="%{text}<extra></extra>",
    )
