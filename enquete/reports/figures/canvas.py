"""What all figures share: looks, and the note about who answered. Needs plotly, an extra."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from enquete.locale import N_, in_language
from enquete.reports.context import at
from enquete.state.asking import Language

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#555555")
"""Okabe and Ito's palette: told apart by colour-blind readers as well."""
MUTED, INK, GRID = "#8a8f98", "#24292f", "#e4e7eb"

SHARED: Mapping[str, str] = {
    "simulated": N_("simulated respondents"),
    "answered": N_("{what}: {n} of {total} answers"),
    "hover_n": N_("{n} of {total}"),
    "nothing": N_("figure {name!r}: nothing to draw yet ({why})"),
}

Counted = tuple[str, int, int]
"""What was asked, answers, planned answers."""


def nothing(name: str, why: str, language: Language) -> str:
    """The message of a figure that cannot be drawn."""
    return in_language(SHARED, language)["nothing"].format(name=name, why=why)


def counted(what: str, value: Any) -> Counted:
    return what, int(at(value, "n_responded") or 0), int(at(value, "n_total") or 0)


def wrapped(text: str, width: int = 44, lines: int = 2) -> str:
    """A label in at most so many lines."""
    return "<br>".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" …"))


def finish(
    figure: go.Figure,
    title: str,
    asked: Sequence[Counted],
    language: Language,
    *,
    plot: int,
    also: str = "",
    keys: int = 1,
) -> go.Figure:
    """Title, looks, and the line that says who answered and how many of how many. `plot`: pixels; `keys`: legend lines."""
    words = in_language(SHARED, language)
    notes = [words["simulated"], *(words["answered"].format(what=w, n=n, total=total) for w, n, total in asked)]
    note = " · ".join([*notes, *([also] if also else [])])
    above, below = 92, 58 + 22 * keys
    height = above + plot + below
    subtitle = {"text": note, "font": {"size": 12, "color": MUTED}}
    figure.update_layout(
        title={
            "text": title,
            "subtitle": subtitle,
            "x": 0.01,
            "xanchor": "left",
            "yref": "container",
            "y": 1 - 32 / height,
        },
        template="plotly_white",
        font={"family": "system-ui, sans-serif", "size": 12, "color": INK},
        height=height,
        width=940,
        margin={"l": 20, "r": 20, "t": above, "b": below},
        legend={
            "orientation": "h" if keys == 1 else "v",
            "yref": "container",
            "y": 6 / height,
            "yanchor": "bottom",
            "x": 0,
            "xanchor": "left",
        },
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=MUTED, automargin=True, title_standoff=6)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=MUTED, automargin=True)
    return figure
