"""Where things stand on a figure: title and note, legend, plot, and margins wide enough for the labels of the axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from enquete.reports.figures.axes import Axis, Spec, axes
from enquete.reports.figures.text import LINE, SIZE, height, width

WIDTH = 760
"""px of every figure that does not say otherwise: the column of a report."""
EDGE, GAP = 14, 6  # px around everything; between a label and what it stands at
TITLE, NOTE = 16, 12  # px of text
ROW, KEY = 20, 30  # px of a legend's row, and of an entry beside its text


@dataclass(frozen=True)
class Frame:
    """px, from the figure's upper left corner."""

    spec: Spec
    axes: Mapping[str, Axis]
    left: float
    right: float
    above: float  # from the top to the plot
    below: float
    plot: float

    @property
    def width(self) -> float:
        return float(self.spec["layout"].get("width", WIDTH))

    @property
    def height(self) -> float:
        return self.above + self.plot + self.below

    def x(self, share: float) -> float:
        return self.left + share * (self.width - self.left - self.right)

    def y(self, share: float) -> float:
        return self.above + (1 - share) * self.plot

    @cached_property
    def legend(self) -> list[list[tuple[float, Spec]]]:
        """Traces by row of the legend, each with where it begins."""
        return legend(self.spec, self.width)


def framed(spec: Spec) -> Frame:
    """`layout.meta.plot`: height of the plot, else what is left of `layout.height`."""
    layout, found = spec["layout"], axes(spec)
    sides = {"left": 0.0, "right": 0.0, "top": 0.0, "bottom": 0.0}
    for axis in found.values():
        side = str(axis.spec.get("side", "left" if axis.name[0] == "y" else "bottom"))
        edge = axis.spec.get("anchor_edge", _anchor(axis, found).domain[side in ("right", "top")])
        if edge == (1.0 if side in ("right", "top") else 0.0):  # labels within the plot stand in its gaps
            sides[side] = max(sides[side], _room(axis))
    overhang = _overhang(found, sides["left"])
    head = heading(spec) + ROW * len(legend(spec, float(layout.get("width", WIDTH)))) + GAP
    given = layout.get("margin", {})
    above, below = EDGE + head + sides["top"], EDGE + sides["bottom"]
    plot = layout.get("meta", {}).get("plot") or float(layout.get("height", 420)) - above - below
    left, right = EDGE + sides["left"], EDGE + max(sides["right"], overhang)
    return Frame(spec, found, given.get("l", left), given.get("r", right), above, below, float(plot))


def heading(spec: Spec) -> float:
    """px of title and note."""
    title = spec["layout"].get("title", {})
    note = str(title.get("subtitle", {}).get("text", ""))
    return height(str(title.get("text", "")), TITLE) + (height(note, NOTE) + GAP if note else 0)


def _anchor(axis: Axis, found: Mapping[str, Axis]) -> Axis:
    other = str(axis.spec.get("anchor", "y" if axis.name[0] == "x" else "x"))
    return found.get(other, found["y" if axis.name[0] == "x" else "x"])


def _room(axis: Axis) -> float:
    """px that labels and title of an axis take beside the plot."""
    texts = [text for _, text in axis.ticks] if axis.is_labelled else []
    across = axis.name[0] == "x" and not axis.spec.get("tickangle")
    size = label_size(axis)
    label = max((height(text, size) if across else width(text, size) for text in texts), default=0.0)
    title = height(axis.title) if axis.name[0] == "x" else LINE * SIZE
    return (label + GAP if label else 0.0) + (title + GAP if axis.title else 0.0)


def _overhang(found: Mapping[str, Axis], left: float) -> float:
    """px by which the last label of a horizontal axis reaches beyond the plot."""
    texts = [a.ticks[-1][1] for a in found.values() if a.name[0] == "x" and a.is_labelled and a.ticks]
    upright = any(a.spec.get("tickangle") for a in found.values())
    return 0.0 if upright else max((width(text) / 2 - 4 for text in texts), default=0.0)


def label_size(axis: Axis) -> float:
    return float(axis.spec.get("tickfont", {}).get("size", SIZE - 1))


def legend(spec: Spec, px: float) -> list[list[tuple[float, Spec]]]:
    rows: list[list[tuple[float, Spec]]] = []
    x = px
    for trace in _named(spec):
        own = KEY + width(str(trace["name"])) + 2 * GAP
        if x + own > px - EDGE:
            rows.append([])
            x = EDGE
        rows[-1].append((x, trace))
        x += own
    return rows


def _named(spec: Spec) -> Iterator[Spec]:
    layout: Mapping[str, Any] = spec["layout"]
    traces: Sequence[Spec] = spec["data"]
    if layout.get("showlegend", len(traces) > 1):
        yield from (
            one for one in traces if one.get("name") and one.get("showlegend", True) and one["type"] != "heatmap"
        )
