"""Heat maps of rows by groups: a shade and a number a cell, open where a group is too small to say anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enquete.reports.figures.canvas import Spec, columns, rows, told
from enquete.reports.figures.palette import MUTED, Scale
from enquete.reports.figures.text import wrapped
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import readable

ROW, LABEL = 30, 255  # px: a row, its label
MOST_GROUPS = 14  # side by side; beyond, those too small to be shown are left out


@dataclass(frozen=True)
class Cell:
    """`value` is None where there is none to show; n: agents it rests on."""

    value: float | None
    text: str = ""
    told: str = ""
    link: str = ""
    n: int = 0


Group = tuple[str, int]
"""A column: its name, and how many agents it has."""


def kept(groups: Sequence[Group]) -> list[Group]:
    """The largest first; all that can be read side by side, small ones among them, else those large enough."""
    ordered = sorted(groups, key=lambda group: (-group[1], group[0]))
    return ordered if len(ordered) <= MOST_GROUPS else [group for group in ordered if group[1] >= FEWEST][:MOST_GROUPS]


def heat(
    labels: Sequence[str],
    groups: Sequence[Group],
    cells: Sequence[Sequence[Cell]],
    scale: Scale,
    ends: tuple[float, float],
) -> tuple[Spec, Spec]:
    """Trace and layout. cells: by row, one a group."""
    open_ = [[one.n < FEWEST or one.value is None for one in row] for row in cells]
    pairs = [list(zip(row, hidden, strict=True)) for row, hidden in zip(cells, open_, strict=True)]
    trace: Spec = {
        "type": "heatmap", "x": list(range(len(groups))), "y": list(range(len(labels))),
        "z": [[None if hidden else one.value for one, hidden in row] for row in pairs],
        "text": [["" if hidden else one.text for one, hidden in row] for row in pairs], "texttemplate": "%{text}",
        "textfont": {"size": 10 if len(groups) > 8 else 11},
        "hoverinfo": "text", "hoverongaps": False, "hovertext": [["" if hidden else one.told for one, hidden in row] for row in pairs],
        "meta": {"links": [["" if hidden else one.link for one, hidden in row] for row in pairs]},
        "colorscale": [list(stop) for stop in scale], "zmin": ends[0], "zmax": ends[1], "showscale": False, "xgap": 2, "ygap": 2,
    }  # fmt: skip
    names = [f"{wrapped(readable(name), 130, 1)} ({n})" for name, n in groups]
    layout: Spec = {
        "yaxis": rows([wrapped(label, LABEL) for label in labels]),
        "xaxis": columns(names, side="top", tickangle=-90),
    }
    small = [place for place, (_, n) in enumerate(groups) if n < FEWEST]
    if small:
        layout["annotations"] = [
            told(f"n &lt; {FEWEST}", sum(small) / len(small), (len(labels) - 1) / 2, font={"size": 11, "color": MUTED})
        ]
    return trace, layout
