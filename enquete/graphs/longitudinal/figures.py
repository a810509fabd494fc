"""Longitudinal: what agents answered at T0 and T1, item by item, and how far the answers shifted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from enquete.locale import N_, in_language
from enquete.reports.context import at, listed
from enquete.reports.figures.canvas import COLOURS, GRID, MUTED, SHARED, counted, finish, nothing, wrapped
from enquete.state.asking import Language
from enquete.state.errors import InputError

T0, T1 = COLOURS[0], COLOURS[1]
ROW = 34  # pixels an item

WORDS: Mapping[str, str] = {
    "change_title": N_("Longitudinal: means by item, T0 → T1"),
    "mean": N_("mean"),
    "shift": N_("shift (Hodges–Lehmann)"),
    "interval": N_("95% interval"),
    "no_interval": N_("estimate without interval"),
    "one_wave": N_("Longitudinal: means by item"),
    "no_items": N_("no means"),
    "experience": N_("T0 reconstructed: experience effect, no drift"),
}


def draw(findings: Mapping[str, Any], language: Language) -> go.Figure:
    """Dumbbells of the means (raw scale points), beside them the Hodges–Lehmann shift with its interval where there is one.

    Raises InputError where no item has an answer.
    """
    words = {**in_language(SHARED, language), **in_language(WORDS, language)}
    items = [item for item in listed(findings, "items") if _waves(item)]
    if not items:
        raise InputError(nothing("longitudinal", words["no_items"], language))
    labels = [wrapped(str(item.get("wording") or item.get("item")), 62) for item in items]
    change = "drift" if at(findings, "drift", "items") else "experience_effect"
    shifts = {str(shift.get("item")): shift for shift in listed(findings, change, "items")}
    figure = make_subplots(
        cols=2 if shifts else 1,
        shared_yaxes=True,
        column_widths=[0.6, 0.4] if shifts else None,
        horizontal_spacing=0.03,
    )
    _dumbbells(figure, items, labels, words)
    if shifts:
        _shifts(figure, items, labels, shifts, words)
    figure.update_yaxes(zeroline=False, autorange="reversed", tickfont={"size": 11})
    asked = [counted(wave, found) for wave, found in (at(findings, "waves") or {}).items()]
    also = words["experience"] if change == "experience_effect" and shifts else ""
    title = words["change_title" if shifts else "one_wave"]
    return finish(figure, title, asked, language, plot=ROW * len(items), also=also)


def _waves(item: Mapping[str, Any]) -> list[str]:
    return [wave for wave in ("T0", "T1") if at(item, "waves", wave, "mean") is not None]


def _dumbbells(figure: go.Figure, items: list[Mapping[str, Any]], labels: list[str], words: Mapping[str, str]) -> None:
    for label, item in zip(labels, items, strict=True):
        ends = [at(item, "waves", wave, "mean") for wave in _waves(item)]
        line = {"color": GRID, "width": 5}
        figure.add_scatter(
            x=ends, y=[label] * len(ends), mode="lines", line=line, showlegend=False, hoverinfo="skip", row=1, col=1
        )
    for wave, colour in (("T0", T0), ("T1", T1)):
        there = [
            (label, at(item, "waves", wave)) for label, item in zip(labels, items, strict=True) if wave in _waves(item)
        ]
        figure.add_scatter(
            x=[found["mean"] for _, found in there],
            y=[label for label, _ in there],
            mode="markers",
            marker={"size": 11, "color": colour},
            name=wave,
            customdata=[words["hover_n"].format(n=found["n_responded"], total=found["n_total"]) for _, found in there],
            hovertemplate=wave + ": %{x:.2f} (n = %{customdata})<extra></extra>",
            row=1,
            col=1,
        )
    ends = [at(item, end) for item in items for end in ("scale_min", "scale_max") if at(item, end) is not None]
    span = [min(ends) - 0.15, max(ends) + 0.15] if ends else None
    figure.update_xaxes(range=span, title_text=words["mean"], row=1, col=1)


def _shifts(
    figure: go.Figure,
    items: list[Mapping[str, Any]],
    labels: list[str],
    shifts: Mapping[str, Mapping[str, Any]],
    words: Mapping[str, str],
) -> None:
    """With an interval filled, without one hollow: the two must not look alike."""
    found = [
        (label, at(shifts.get(str(item.get("item"))), "effects", "hodges_lehmann"))
        for label, item in zip(labels, items, strict=True)
    ]
    there = [(label, each) for label, each in found if at(each, "estimate") is not None]
    for name, sure in (("interval", True), ("no_interval", False)):
        shown = [(label, each) for label, each in there if (at(each, "low") is not None) == sure]
        if not shown:
            continue
        reach = {
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 4, "visible": sure,
            "array": [each["high"] - each["estimate"] if sure else 0 for _, each in shown],
            "arrayminus": [each["estimate"] - each["low"] if sure else 0 for _, each in shown],
        }  # fmt: skip
        marker = {"size": 9, "color": MUTED, "symbol": "circle" if sure else "circle-open"}
        figure.add_scatter(
            x=[each["estimate"] for _, each in shown],
            y=[label for label, _ in shown],
            mode="markers",
            marker=marker,
            error_x=reach,
            name=words[name],
            hovertemplate="%{x:.2f}<extra></extra>",
            row=1,
            col=2,
        )
    ends = [abs(float(at(each, key) or 0)) for _, each in there for key in ("estimate", "low", "high")]
    widest = max([0.5, *ends]) * 1.2
    figure.update_xaxes(range=[-widest, widest], title_text=words["shift"], row=1, col=2)
