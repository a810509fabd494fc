"""Diversity: who thinks alike, or, where there is no plane to show it on, what is ranked high and low."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from enquete.locale import N_, in_language
from enquete.reports.context import at, listed
from enquete.reports.figures.canvas import COLOURS, MUTED, SHARED, counted, finish, nothing, wrapped
from enquete.state.asking import Language
from enquete.state.errors import InputError

ROW = 30  # pixels a statement

WORDS: Mapping[str, str] = {
    "types_title": N_("Diversity: agents on the first two components"),
    "component": N_("component {n} ({share} of variance)"),
    "type": N_("type {type}: {n} agents"),
    "untyped": N_("of no type"),
    "statements_title": N_("Diversity: mean rank by statement"),
    "rank": N_("mean rank (bars: ± 1 SD)"),
    "no_sorts": N_("no sorts"),
}


def draw(findings: Mapping[str, Any], language: Language) -> go.Figure:
    """Agents on the first two principal components, coloured by type of view; mean ranks of the statements where fewer exist.

    Raises InputError where nobody has sorted yet.
    """
    words = {**in_language(SHARED, language), **in_language(WORDS, language)}
    scores = [each for each in listed(findings, "pca", "scores") if len(at(each, "scores") or []) >= 2]
    statements = [each for each in listed(findings, "statements") if at(each, "mean") is not None]
    if not scores and not statements:
        raise InputError(nothing("diversity", words["no_sorts"], language))
    asked = [counted(words["types_title"].partition(":")[0], at(findings, "participation", "sort"))]
    if not scores:
        figure = _ranks(statements, words)
        return finish(figure, words["statements_title"], asked, language, plot=ROW * len(statements))
    types = len(listed(findings, "archetypes")) or 1
    return finish(_plane(findings, scores, words), words["types_title"], asked, language, plot=500, keys=types)


def _plane(findings: Mapping[str, Any], scores: list[Mapping[str, Any]], words: Mapping[str, str]) -> go.Figure:
    members = {str(each.get("participant")): each for each in listed(findings, "members")}
    types = {str(each.get("archetype")): str(each.get("name") or "") for each in listed(findings, "archetypes")}
    by_type: dict[str, list[Mapping[str, Any]]] = {name: [] for name in [*types, ""]}
    for each in scores:
        of = str(at(members.get(str(each["participant"])), "archetype") or "")
        by_type.setdefault(of, []).append(each)
    figure = go.Figure()
    for number, (name, there) in enumerate(by_type.items()):
        if there:
            colour = COLOURS[number % len(COLOURS)] if name else MUTED
            label = words["type"].format(type=name, n=len(there)) if name else words["untyped"]
            _type(figure, there, members, label, types.get(name, ""), colour)
    explained = [at(each, "explained") for each in listed(findings, "pca", "components")]
    for axis, share in zip((figure.update_xaxes, figure.update_yaxes), [*explained, None, None], strict=False):
        number = 1 if axis == figure.update_xaxes else 2
        axis(
            title_text=words["component"].format(n=number, share="–" if share is None else f"{share:.0%}"),
            zeroline=True,
        )
    return figure


def _type(
    figure: go.Figure,
    there: list[Mapping[str, Any]],
    members: Mapping[str, Mapping[str, Any]],
    label: str,
    meaning: str,
    colour: str,
) -> None:
    told = [members.get(str(each["participant"]), {}) for each in there]
    figure.add_scatter(
        x=[each["scores"][0] for each in there],
        y=[each["scores"][1] for each in there],
        mode="markers",
        marker={"size": 11, "color": colour, "opacity": 0.75, "line": {"color": "white", "width": 1}},
        name=label + (f": {wrapped(meaning, 100, 1)}" if meaning else ""),
        text=[f"{who.get('name', '')}, {who.get('stakeholder_type', '')}" for who in told],
        hovertemplate="%{text}<extra></extra>",
    )


def _ranks(statements: list[Mapping[str, Any]], words: Mapping[str, str]) -> go.Figure:
    ordered = sorted(statements, key=lambda each: float(each["mean"]))
    figure = go.Figure(
        go.Scatter(
            x=[each["mean"] for each in ordered],
            y=[wrapped(str(each.get("short") or each.get("wording")), 50) for each in ordered],
            mode="markers",
            marker={"size": 10, "color": COLOURS[0]},
            error_x={"type": "data", "array": [float(at(each, "sd") or 0) for each in ordered], "width": 0},
            text=[words["hover_n"].format(n=each["n_responded"], total=each["n_total"]) for each in ordered],
            hovertemplate="%{y}: %{x:.2f} (n = %{text})<extra></extra>",
        )
    )
    figure.update_xaxes(title_text=words["rank"], zeroline=True)
    return figure
