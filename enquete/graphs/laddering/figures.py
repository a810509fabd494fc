"""Laddering: the hierarchical value map, concepts on the levels of the ladder and the links that enough agents gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from enquete.locale import N_, in_language
from enquete.reports.context import at, listed
from enquete.reports.figures.canvas import COLOURS, MUTED, SHARED, counted, finish, nothing, wrapped
from enquete.state.asking import Language
from enquete.state.errors import InputError

LEVEL_PX = 120

WORDS: Mapping[str, str] = {
    "map_title": N_("Laddering: hierarchical value map"),
    "no_links": N_("no links"),
    "cut_off": N_("links that at least {n} agents gave"),
}


def draw(findings: Mapping[str, Any], language: Language) -> go.Figure:
    """A dot a concept, larger the more agents named it; a line a link, from the lower level upwards, wider by agents.

    Places are those of the map that the run has written (value_map.svg). Raises InputError where no link is on it.
    """
    words = {**in_language(SHARED, language), **in_language(WORDS, language)}
    boxes = {str(box["id"]): box for box in listed(findings, "value_map", "boxes")}
    links = [link for link in listed(findings, "value_map", "links") if {link["source"], link["target"]} <= set(boxes)]
    if not links:
        raise InputError(nothing("laddering", words["no_links"], language))
    figure = go.Figure()
    strongest = max(int(link["direct"]) for link in links)
    for link in links:
        _link(figure, boxes[link["source"]], boxes[link["target"]], int(link["direct"]), strongest)
    for level, name in enumerate(at(findings, "value_map", "levels") or []):
        _level(figure, [box for box in boxes.values() if box["level"] == level], str(name), level)
    levels = 1 + max(int(box["level"]) for box in boxes.values())
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, range=[-0.5, levels - 0.3])
    also = words["cut_off"].format(n=at(findings, "value_map", "cut_off"))
    asked = [counted(words["map_title"].partition(":")[0], at(findings, "answers"))]
    return finish(figure, words["map_title"], asked, language, plot=LEVEL_PX * levels, also=also)


def _link(figure: go.Figure, source: Mapping[str, Any], target: Mapping[str, Any], agents: int, strongest: int) -> None:
    """With a point in its middle: a line says what it is only where it has one."""
    middle = ((source["x"] + target["x"]) / 2, (source["level"] + target["level"]) / 2)
    figure.add_scatter(
        x=[source["x"], middle[0], target["x"]],
        y=[source["level"], middle[1], target["level"]],
        mode="lines",
        line={"color": MUTED, "width": 1 + 5 * agents / strongest},
        opacity=0.55,
        hovertemplate=f"{source['label']} → {target['label']}: n = {agents}<extra></extra>",
        showlegend=False,
    )


def _level(figure: go.Figure, boxes: list[Mapping[str, Any]], name: str, level: int) -> None:
    figure.add_scatter(
        x=[box["x"] for box in boxes],
        y=[level] * len(boxes),
        mode="markers",
        marker={
            "size": [10 + 2 * float(box["agents"]) ** 0.5 for box in boxes],
            "color": COLOURS[level % len(COLOURS)],
            "opacity": 1,
            "line": {"color": "white", "width": 1.5},
        },
        customdata=[[box["label"], box["agents"]] for box in boxes],
        hovertemplate="%{customdata[0]} (n = %{customdata[1]})<extra></extra>",
        name=name,
    )
    for box in boxes:  # not a trace's text: that could not be read over the lines
        figure.add_annotation(
            x=box["x"], y=level, yshift=-10, yanchor="top", showarrow=False, borderpad=0,
            text=wrapped(str(box["label"]), 17, 3), font={"size": 10}, bgcolor="rgba(255,255,255,0.85)",
        )  # fmt: skip
