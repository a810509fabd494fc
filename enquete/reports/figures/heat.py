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
    """The same with a column a group: those below FEWEST agents stay open and say so."""
    shown = [[one if one.n >= FEWEST else Cell(None) for one in row] for row in cells]
    names = [f"{wrapped(readable(name), 130)} ({n})" for name, n in groups]
    trace, layout = heat(labels, names, shown, scale, ends, upright=True)
    small = [place for place, (_, n) in enumerate(groups) if n < FEWEST]
    if small:
        why = told(
            f"n &lt; {FEWEST}", sum(small) / len(small), (len(labels) - 1) / 2, font={"size": 11, "color": MUTED}
        )
        layout["annotations"] = [why]
    return trace, layout
