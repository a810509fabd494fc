"""Marks of a figure as SVG: bars, points and lines, heat maps. What is drawn here is what figures may use.

Per point a trace may have `hovertext`, read as a tooltip, and in `meta.links` a reference to the answers behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from enquete.reports.figures.axes import Axis, Spec
from enquete.reports.figures.frame import Frame
from enquete.reports.figures.ink import Ink, element, plain
from enquete.reports.figures.palette import INK, PAPER, on_scale, readable_on
from enquete.reports.figures.text import width

BAR = 0.8  # of a category, where a bar does not say
POINT = 6  # px
DASHES = {"dot": "2 3", "dash": "6 4", "solid": None}
PLACES = {"top": ("bottom", -1), "middle": ("middle", 0), "bottom": ("top", 1)}
SIDES = {"left": ("end", -1), "center": ("middle", 0), "right": ("start", 1)}

Href = Callable[[str], str | None]


@dataclass(frozen=True)
class Pen:
    """What draws one trace: its two axes on the page, colours, and where references lead."""

    frame: Frame
    trace: Spec
    ink: Ink
    href: Href

    def axis(self, letter: str) -> Axis:
        return self.frame.axes[self.trace.get(f"{letter}axis", letter)]

    def x(self, value: Any) -> float:
        return self.frame.x(self.axis("x").share(value))

    def y(self, value: Any) -> float:
        return self.frame.y(self.axis("y").share(value))

    def of(self, path: str, number: int, default: Any = None) -> Any:
        """An attribute of a point: the trace's list at its number, or the trace's one value."""
        value: Any = self.trace
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        value = value[number] if isinstance(value, list | tuple) else value
        return default if value is None else value

    def mark(self, drawn: str, number: int) -> str:
        """With its tooltip, as a link to the answers behind it where there are any."""
        told = self.of("hovertext", number)
        if told:
            drawn = element("g", element("title", plain(str(told))) + drawn)
        links = self.trace.get("meta", {}).get("links")
        to = self.href(links[number]) if links and links[number] else None
        return element("a", drawn, href=to, aria_label=plain(str(told)) if told else None) if to else drawn


def marks(pen: Pen) -> Iterator[str]:
    """Raises ValueError for a kind of trace that is not drawn here."""
    kinds = {"bar": bars, "scatter": points, "heatmap": cells}
    if pen.trace["type"] not in kinds:
        raise ValueError(f"a trace of type {pen.trace['type']!r} is not drawn as SVG, only {', '.join(kinds)}")
    yield from kinds[pen.trace["type"]](pen)


# --- bars ------------------------------------------------------------------------------------------------------------


def bars(pen: Pen) -> Iterator[str]:
    """From `base`, else 0. Several bar traces lie over one another: stacked ones say each its base."""
    lying = pen.trace.get("orientation") == "h"
    values, places = pen.trace["x" if lying else "y"], pen.trace["y" if lying else "x"]
    along, across = (pen.x, pen.y) if lying else (pen.y, pen.x)
    axis = pen.axis("y" if lying else "x")
    for number, (value, place) in enumerate(zip(values, places, strict=True)):
        if value is None:
            continue
        start = pen.of("base", number, 0)
        ends = sorted((along(start), along(start + value)))
        half = pen.of("width", number, BAR) / 2
        middle = axis.place(place) + (pen.of("offset", number) + half if "offset" in pen.trace else 0)
        sides = sorted((across(middle - half), across(middle + half)))
        (x1, x2), (y1, y2) = (ends, sides) if lying else (sides, ends)
        colour = pen.of("marker.color", number, INK)
        edge, thick = pen.of("marker.line.color", number), pen.of("marker.line.width", number)
        box = element(
            "rect", x=x1, y=y1, width=x2 - x1, height=y2 - y1, fill=pen.ink(colour),
            stroke=pen.ink(edge) if edge and thick else None, stroke_width=thick if edge else None,
        )  # fmt: skip
        yield pen.mark(box + _within(pen, number, (x1, x2, y1, y2), colour), number)
    yield from reaches(pen)


def _within(pen: Pen, number: int, box: Sequence[float], colour: str) -> str:
    """A bar's text in its middle, if it fits."""
    text = str(pen.of("text", number, ""))
    size = pen.trace.get("textfont", {}).get("size", 10)
    x1, x2, y1, y2 = box
    if not text or pen.trace.get("textposition") == "none" or width(text, size) > x2 - x1 - 2:
        return ""
    return pen.ink.text(text, (x1 + x2) / 2, (y1 + y2) / 2, anchor="middle", size=size, colour=readable_on(colour))


# --- points ----------------------------------------------------------------------------------------------------------


def points(pen: Pen) -> Iterator[str]:
    mode = pen.trace.get("mode", "markers")
    if "lines" in mode:
        yield line(pen)
    yield from reaches(pen)
    for number, (x, y) in enumerate(zip(pen.trace["x"], pen.trace["y"], strict=True)):
        if x is None or y is None:
            continue
        drawn = symbol(pen, number, pen.x(x), pen.y(y)) if "markers" in mode else ""
        if "text" in mode and pen.of("text", number):
            drawn += _beside(pen, number, pen.x(x), pen.y(y), has_marker="markers" in mode)
        if drawn:
            yield pen.mark(drawn, number)


def line(pen: Pen) -> str:
    """Through all points, broken where one is missing."""
    style = pen.trace.get("line", {})
    known = [
        None if x is None or y is None else f"{pen.x(x):.1f},{pen.y(y):.1f}"
        for x, y in zip(pen.trace["x"], pen.trace["y"], strict=True)
    ]
    moves = ("M" if before is None else "L" for before, _ in pairwise([None, *known]))
    path = "".join(f"{move}{point}" for move, point in zip(moves, known, strict=True) if point)
    return element(
        "path", d=path, fill="none", stroke=pen.ink(style.get("color", INK)), stroke_width=style.get("width", 2),
        stroke_dasharray=DASHES[style.get("dash", "solid")], stroke_opacity=pen.trace.get("opacity"),
    )  # fmt: skip


def symbol(pen: Pen, number: int, x: float, y: float) -> str:
    """Circles, squares, diamonds and triangles, hollow ones as `…-open`; `line-ns` is an upright stroke."""
    kind, r = str(pen.of("marker.symbol", number, "circle")), pen.of("marker.size", number, POINT) / 2
    colour = pen.ink(pen.of("marker.color", number, INK))
    edge, thick = pen.of("marker.line.color", number), pen.of("marker.line.width", number, 0)
    look: dict[str, object] = {"fill": colour, "fill_opacity": pen.of("marker.opacity", number)}
    if edge and thick:
        look |= {"stroke": pen.ink(edge), "stroke_width": thick}
    if kind.endswith("-open"):
        look = {"fill": pen.ink(PAPER), "stroke": colour, "stroke_width": 1.6}
    match kind.removesuffix("-open"):
        case "circle":
            return element("circle", cx=x, cy=y, r=r, **look)
        case "square":
            return element("rect", x=x - r, y=y - r, width=2 * r, height=2 * r, **look)
        case "diamond":
            return element("path", d=_closed((x, y - r), (x + r, y), (x, y + r), (x - r, y)), **look)
        case "triangle-up":
            return element("path", d=_closed((x, y - r), (x + r, y + 0.8 * r), (x - r, y + 0.8 * r)), **look)
        case "line-ns":
            return element("path", d=f"M{x:.1f},{y - r:.1f}V{y + r:.1f}", stroke=colour, stroke_width=2)
    raise ValueError(f"a marker {kind!r} is not drawn as SVG")


def _closed(*corners: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in corners) + "Z"


def _beside(pen: Pen, number: int, x: float, y: float, *, has_marker: bool) -> str:
    upright, _, sideways = str(pen.of("textposition", number, "middle center")).partition(" ")
    (valign, down), (anchor, right) = PLACES[upright], SIDES[sideways]
    away = pen.of("marker.size", number, POINT) / 2 + 3 if has_marker else 0
    font = pen.trace.get("textfont", {})
    return pen.ink.text(
        str(pen.of("text", number)), x + right * away, y + down * away * (not right or 0.5), anchor=anchor, valign=valign,
        size=font.get("size", 11), colour=font.get("color", INK),
    )  # fmt: skip


def reaches(pen: Pen) -> Iterator[str]:
    """Error bars: a stroke from `arrayminus` below to `array` above, without caps."""
    for letter in "xy":
        reach = pen.trace.get(f"error_{letter}")
        if not reach or reach.get("visible") is False:
            continue
        down = reach.get("arrayminus", reach["array"])
        look = {
            "stroke": pen.ink(reach.get("color") or pen.of("marker.color", 0, INK)),
            "stroke_width": reach.get("thickness", 1.5),
        }
        for x, y, more, less in zip(pen.trace["x"], pen.trace["y"], reach["array"], down, strict=True):
            if x is None or y is None or more is None or less is None:
                continue
            if letter == "x":
                yield element("path", d=f"M{pen.x(x - less):.1f},{pen.y(y):.1f}H{pen.x(x + more):.1f}", **look)
            else:
                yield element("path", d=f"M{pen.x(x):.1f},{pen.y(y - less):.1f}V{pen.y(y + more):.1f}", **look)


# --- heat maps -------------------------------------------------------------------------------------------------------


def cells(pen: Pen) -> Iterator[str]:
    """A missing value leaves its cell open."""
    trace = pen.trace
    gap = trace.get("xgap", 1) / 2
    size = trace.get("textfont", {}).get("size", 11)
    for row, values in enumerate(trace["z"]):
        for column, value in enumerate(values):
            x, y = pen.axis("x").place(trace["x"][column]), pen.axis("y").place(trace["y"][row])
            (x1, x2), (y1, y2) = sorted((pen.x(x - 0.5), pen.x(x + 0.5))), sorted((pen.y(y - 0.5), pen.y(y + 0.5)))
            text = trace["text"][row][column] if "text" in trace else ""
            colour = shade(trace, value) if value is not None else None
            drawn = ""
            if colour:
                drawn = element(
                    "rect", x=x1 + gap, y=y1 + gap, width=x2 - x1 - 2 * gap, height=y2 - y1 - 2 * gap, fill=colour
                )
            if text:
                on = readable_on(colour) if colour else INK
                drawn += pen.ink.text(str(text), (x1 + x2) / 2, (y1 + y2) / 2, anchor="middle", size=size, colour=on)
            if drawn:
                yield _cell(pen, drawn, row, column)


def _cell(pen: Pen, drawn: str, row: int, column: int) -> str:
    flat = {**pen.trace, "hovertext": [pen.of("hovertext", row, [None] * (column + 1))[column]]}
    links = pen.trace.get("meta", {}).get("links")
    flat["meta"] = {"links": [links[row][column]]} if links else {}
    return Pen(pen.frame, flat, pen.ink, pen.href).mark(drawn, 0)


def shade(trace: Spec, value: float) -> str:
    low, high = float(trace["zmin"]), float(trace["zmax"])
    return on_scale(trace["colorscale"], (value - low) / (high - low))
