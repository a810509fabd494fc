"""Scenario: which futures are wished for, which are expected, and where the groups differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from enquete.locale import N_, in_language
from enquete.reports.context import at, listed
from enquete.reports.figures.canvas import COLOURS, MUTED, SHARED, counted, finish, nothing
from enquete.state.asking import Language
from enquete.state.errors import InputError

CORNERS = (
    ("wished_expected", 1, 1, "right", "top"),
    ("wished_unexpected", -1, 1, "left", "top"),
    ("feared_expected", 1, -1, "right", "bottom"),
    ("feared_unexpected", -1, -1, "left", "bottom"),
)

WORDS: Mapping[str, str] = {
    "quadrant_title": N_("Scenarios: wished for and expected"),
    "wish": N_("wish (−1 to 1)"),
    "expect": N_("expectation (−1 to 1)"),
    "groups": N_("Small dots: stakeholder types"),
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "no_polarity": N_("no wishes and expectations"),
}


def draw(findings: Mapping[str, Any], language: Language) -> go.Figure:
    """Expectation against wish, both centred and scaled to −1…1: a large dot a scenario, small ones its stakeholder types.

    Raises InputError where the instrument asks for no wishes or expectations, or nobody has answered.
    """
    words = {**in_language(SHARED, language), **in_language(WORDS, language)}
    placed = [each for each in listed(findings, "polarity", "scenarios") if _is_placed(each)]
    if not placed:
        raise InputError(nothing("scenario", words["no_polarity"], language))
    labels = {str(each.get("scenario")): str(each.get("label")) for each in listed(findings, "scenarios")}
    figure = go.Figure()
    for number, scenario in enumerate(placed):
        label = labels.get(str(scenario["scenario"]), str(scenario["scenario"]))
        _scenario(figure, scenario, label, COLOURS[number % len(COLOURS)], words)
    for key, x, y, side, end in CORNERS:
        figure.add_annotation(
            x=x, y=y, xanchor=side, yanchor=end, text=words[key], showarrow=False, font={"color": MUTED, "size": 12}
        )
    figure.update_xaxes(range=[-1.04, 1.04], dtick=0.5, title_text=words["expect"], zeroline=True)
    figure.update_yaxes(range=[-1.04, 1.04], dtick=0.5, title_text=words["wish"], zeroline=True)
    asked = [counted(words["quadrant_title"].partition(":")[0], at(findings, "asked"))]
    return finish(figure, words["quadrant_title"], asked, language, plot=540, also=words["groups"])


def _is_placed(each: Mapping[str, Any]) -> bool:
    return at(each, "wish") is not None and at(each, "expectation") is not None


def _scenario(
    figure: go.Figure, scenario: Mapping[str, Any], label: str, colour: str, words: Mapping[str, str]
) -> None:
    groups = [each for each in listed(scenario, "by_type") if _is_placed(each)]
    told = [
        f"{label}, {each.get('stakeholder_type')} ({words['hover_n'].format(n=each['n_responded'], total=each['n_total'])})"
        for each in groups
    ]
    figure.add_scatter(
        x=[each["expectation"] for each in groups],
        y=[each["wish"] for each in groups],
        mode="markers",
        marker={"size": 7, "color": colour, "opacity": 0.4},
        text=told,
        hovertemplate="%{text}<extra></extra>",
        legendgroup=label,
        showlegend=False,
    )
    count = words["hover_n"].format(n=scenario["n_responded"], total=scenario["n_total"])
    figure.add_scatter(
        x=[scenario["expectation"]],
        y=[scenario["wish"]],
        mode="markers+text",
        marker={"size": 18, "color": colour, "line": {"color": "white", "width": 1.5}},
        text=[f"<b>{label}</b>"],
        textposition="top center",
        textfont={"color": colour, "size": 13},
        hovertemplate=f"{label} ({count})<extra></extra>",
        name=f"{label} ({count})",
        legendgroup=label,
    )
