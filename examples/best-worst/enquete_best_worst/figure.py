"""Scores of all objects with their intervals."""

from __future__ import annotations

import plotly.graph_objects as go

from enquete.locale import N_, tell
from enquete.reports.context import Found
from enquete.state.asking import Language
from enquete.state.errors import InputError
from enquete_best_worst.results import ranked


def draw(found: Found, language: Language) -> go.Figure:
    """One bar an object, the most important on top. Raises InputError where nobody has answered."""
    objects = list(reversed(ranked(found)))
    if not objects:
        raise InputError("figure 'best_worst': nobody has answered yet")
    score = [float(one["score"]) for one in objects]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [float(one["high"] or value) - value for one, value in zip(objects, score, strict=True)],
        "arrayminus": [value - float(one["low"] or value) for one, value in zip(objects, score, strict=True)],
    }
    bars = go.Bar(x=score, y=[str(one["label"]) for one in objects], orientation="h", error_x=error)
    title = tell(N_("score; simulated respondents"), language)
    return go.Figure(bars, layout={"xaxis": {"title": title, "range": [-1, 1]}})
