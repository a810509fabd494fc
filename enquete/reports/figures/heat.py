"""Heat maps of rows by groups: a shade and a number a cell, open where a group is too small to say anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enquete.reports.figures.canvas import Spec, columns, rows
from enquete.reports.figures.frame import WIDTH
from enquete.reports.figures.palette import Scale
from enquete.reports.figures.text import SIZE, width, wrapped
from enquete.reports.key_findings import FEWEST

ROW, LABEL = 30, 255  # px: a row, its label
MOST_GROUPS = 14  # side by side


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
    """Those of FEWEST agents or more, the largest first."""
    return sorted((one for one in groups if one[1] >= FEWEST), key=lambda group: (-group[1], group[0]))[:MOST_GROUPS]


def heat(
    labels: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[Cell]], scale: Scale, ends: tuple[float, float],
    *, upright: bool = False,
) -> tuple[Spec, Spec]:  # fmt: skip
    """Trace and layout. labels of rows and names of columns: a figure's text; upright: names are turned. cells: by row."""
    trace: Spec = {
        "type": "heatmap", "x": list(range(len(names))), "y": list(range(len(labels))),
        "z": [[one.value for one in row] for row in cells],
        "text": [[one.text for one in row] for row in cells], "texttemplate": "%{text}",
        "textfont": {"size": 10 if len(names) > 8 else 11},
        "hoverinfo": "text", "hoverongaps": False, "hovertext": [[one.told for one in row] for row in cells],
        "meta": {"links": [[one.link for one in row] for row in cells]},
        "colorscale": [list(stop) for stop in scale], "zmin": ends[0], "zmax": ends[1], "showscale": False, "xgap": 2, "ygap": 2,
    }  # fmt: skip
    turned = {"tickangle": -90} if upright else {}
    return trace, {"yaxis": rows(labels), "xaxis": columns(names, side="top", **turned)}


def by_group(
    labels: Sequence[str],
    groups: Sequence[Group],
    cells: Sequence[Sequence[Cell]],
    scale: Scale,
    ends: tuple[float, float],
) -> tuple[Spec, Spec]:
    """The same with a column a group; a cell of fewer than FEWEST answers stays open."""
    shown = [[one if one.n >= FEWEST else Cell(None) for one in row] for row in cells]
    room = (WIDTH - LABEL - 60) / len(groups)
    upright = any(width(word, SIZE - 1) > room for name, _ in groups for word in name.split())
    room = 130 if upright else room
    names = [wrapped(f"{name} ({n})", room) for name, n in groups]
    return heat(labels, names, shown, scale, ends, upright=upright)
