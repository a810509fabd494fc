"""A figure's Plotly JSON as SVG: real text, colours that a page may set, tooltips and links, no browser and no library.

Draws what our figures use (see marks.py) and raises ValueError for anything else.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from enquete.reports.figures.axes import Axis, Spec
from enquete.reports.figures.frame import EDGE, GAP, NOTE, ROW, TITLE, Frame, framed, heading, label_size
from enquete.reports.figures.ink import Ink, element
from enquete.reports.figures.ink import plain as written
from enquete.reports.figures.marks import DASHES, Href, Pen, marks, symbol
from enquete.reports.figures.palette import GRID, INK, MUTED, PAPER
from enquete.reports.figures.text import SIZE, height, width

FONT = "Helvetica, Arial, 'Liberation Sans', Roboto, system-ui, sans-serif"
"""Helvetica and fonts as wide: room for text is measured by it (see `figures.text`)."""
VALIGN = {"top": "top", "middle": "middle", "bottom": "bottom"}
ANCHOR = {"left": "start", "center": "middle", "right": "end"}


def nowhere(reference: str) -> None:
    return None


def svg(spec: Spec, alt: str, *, plain: bool = False, href: Href = nowhere) -> str:
    """plain: a file of its own, on white. href: where a reference to answers leads, None for nowhere; what leads somewhere is no
    image to those who hear it, or its links would be lost to them."""
    frame, ink = framed(spec), Ink(plain)
    pens = [Pen(frame, trace, ink, href) for trace in spec["data"]]
    layout = spec["layout"]
    role = "img" if href is nowhere else "group"
    parts = [
        element("title", written(str(layout.get("title", {}).get("text", "")))),
        element("desc", html.escape(alt, quote=False)),
        element("rect", width=frame.width, height=frame.height, fill="#ffffff") if plain else "",
        *(_shape(frame, ink, one) for one in layout.get("shapes", ()) if one.get("layer") == "below"),
        *_grids(frame, ink),
        *(mark for pen in pens for mark in marks(pen)),
        *(_shape(frame, ink, one) for one in layout.get("shapes", ()) if one.get("layer") != "below"),
        *(part for axis in frame.axes.values() for part in _axis(frame, ink, axis)),
        *(_annotation(frame, ink, one) for one in layout.get("annotations", ())),
        *_head(frame, ink),
        *_legend(frame, ink, href),
    ]
    return element(
        "svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", role=role, font_family=FONT, font_size=SIZE,
        viewBox=f"0 0 {frame.width:g} {frame.height:g}", width=frame.width, height=frame.height, fill=ink(INK),
    )  # fmt: skip


def _head(frame: Frame, ink: Ink) -> Iterator[str]:
    title = frame.spec["layout"].get("title", {})
    text, note = str(title.get("text", "")), str(title.get("subtitle", {}).get("text", ""))
    yield ink.text(text, EDGE, EDGE, valign="top", size=TITLE, bold=True)
    yield ink.text(note, EDGE, EDGE + height(text, TITLE) + GAP / 2, valign="top", size=NOTE, colour=MUTED)


def _legend(frame: Frame, ink: Ink, href: Href) -> Iterator[str]:
    top = EDGE + heading(frame.spec) + ROW / 2
    for number, row in enumerate(frame.legend):
        for x, trace in row:
            y = top + number * ROW
            yield _key(Pen(frame, trace, ink, href), x + 11, y)
            yield ink.text(str(trace["name"]), x + 26, y)


def _key(pen: Pen, x: float, y: float) -> str:
    trace = pen.trace
    if trace["type"] == "bar":
        return element("rect", x=x - 9, y=y - 6, width=18, height=12, fill=pen.ink(pen.of("marker.color", 0, INK)))
    drawn = ""
    if "lines" in trace.get("mode", ""):
        style = trace.get("line", {})
        look = {"stroke": pen.ink(style.get("color", INK)), "stroke_dasharray": DASHES[style.get("dash", "solid")]}
        drawn = element("path", d=f"M{x - 10:g},{y:g}h20", stroke_width=style.get("width", 2), **look)
    return drawn + (symbol(pen, 0, x, y) if "markers" in trace.get("mode", "markers") else "")


# --- axes ------------------------------------------------------------------------------------------------------------


def _grids(frame: Frame, ink: Ink) -> Iterator[str]:
    for axis in frame.axes.values():
        if not axis.is_shown:
            continue
        zero = axis.spec.get("zeroline") and min(axis.low, axis.high) <= 0 <= max(axis.low, axis.high)
        if axis.spec.get("showgrid", True):
            yield from (
                _across(frame, axis, value, ink(GRID), 1) for value, _ in axis.ticks if not (zero and value == 0)
            )
        if zero:
            yield _across(frame, axis, 0, ink(MUTED), 1.2)


def _across(frame: Frame, axis: Axis, value: float, colour: str, thick: float) -> str:
    start, end = _other(frame, axis).domain
    if axis.name[0] == "x":
        path = f"M{frame.x(axis.share(value)):.1f},{frame.y(start):.1f}V{frame.y(end):.1f}"
    else:
        path = f"M{frame.x(start):.1f},{frame.y(axis.share(value)):.1f}H{frame.x(end):.1f}"
    return element("path", d=path, stroke=colour, stroke_width=thick)


def _other(frame: Frame, axis: Axis) -> Axis:
    letter = "y" if axis.name[0] == "x" else "x"
    return frame.axes[axis.spec.get("anchor", letter)]


def _axis(frame: Frame, ink: Ink, axis: Axis) -> Iterator[str]:
    if not axis.is_shown:
        return
    lying, size = axis.name[0] == "x", label_size(axis)
    far = axis.spec.get("side") in ("top", "right")
    edge = _other(frame, axis).domain[far]
    away = 1 if far != lying else -1  # px grow rightwards and downwards
    base = (frame.y(edge) if lying else frame.x(edge)) + away * GAP
    if axis.is_labelled:
        for value, text in axis.ticks:
            at = (frame.x if lying else frame.y)(axis.share(value))
            yield _label(ink, axis, text, at, base, size)
    if axis.title:
        widest = max((_extent(axis, text, size) for _, text in axis.ticks), default=0.0) if axis.is_labelled else 0.0
        middle = sum(axis.domain) / 2
        out = base + away * (widest + (GAP if widest else 0))
        if lying:
            yield ink.text(axis.title, frame.x(middle), out, anchor="middle", valign="top" if away > 0 else "bottom")
        else:
            yield ink.text(axis.title, out, frame.y(middle), anchor="middle", valign="bottom", turned=-90)


def _extent(axis: Axis, text: str, size: float) -> float:
    return height(text, size) if axis.name[0] == "x" and not axis.spec.get("tickangle") else width(text, size)


def _label(ink: Ink, axis: Axis, text: str, at: float, base: float, size: float) -> str:
    far = axis.spec.get("side") in ("top", "right")
    if axis.name[0] == "y":
        return ink.text(text, base, at, anchor="start" if far else "end", size=size)
    if axis.spec.get("tickangle"):  # upright
        return ink.text(text, at, base, anchor="start" if far else "end", size=size, turned=-90)
    return ink.text(text, at, base, anchor="middle", valign="bottom" if far else "top", size=size)


# --- annotations and shapes ------------------------------------------------------------------------------------------


def _point(frame: Frame, one: Spec, letter: str, key: str) -> float:
    """px of a coordinate of an annotation or a shape: on an axis, in an axis' domain, or in the whole plot."""
    name, _, domain = str(one.get(f"{letter}ref", letter)).partition(" ")
    to = frame.x if letter == "x" else frame.y
    if name == "paper":
        return to(float(one[key]))
    axis = frame.axes[name]
    if domain:
        start, end = axis.domain
        return to(start + float(one[key]) * (end - start))
    return to(axis.share(one[key]))


def _annotation(frame: Frame, ink: Ink, one: Spec) -> str:
    if one.get("showarrow", True):
        raise ValueError("an annotation with an arrow is not drawn as SVG: showarrow=False")
    x = _point(frame, one, "x", "x") + one.get("xshift", 0)
    y = _point(frame, one, "y", "y") - one.get("yshift", 0)
    font, text = one.get("font", {}), str(one["text"])
    size = font.get("size", SIZE)
    anchor, valign = ANCHOR[one.get("xanchor", "center")], VALIGN[one.get("yanchor", "middle")]
    behind = ""
    if one.get("bgcolor"):
        w, h = width(text, size) + 4, height(text, size)
        left = {"start": x - 2, "middle": x - w / 2, "end": x - w + 2}[anchor]
        top = {"top": y, "middle": y - h / 2, "bottom": y - h}[valign]
        behind = element("rect", x=left, y=top, width=w, height=h, fill=ink(PAPER), fill_opacity="0.85")
    turned = float(one.get("textangle", 0))
    return behind + ink.text(
        text, x, y, anchor=anchor, valign=valign, size=size, colour=font.get("color", INK), turned=turned
    )


def _shape(frame: Frame, ink: Ink, one: Spec) -> str:
    x1, x2 = (_point(frame, one, "x", key) for key in ("x0", "x1"))
    y1, y2 = (_point(frame, one, "y", key) for key in ("y0", "y1"))
    style = one.get("line", {})
    stroke = (
        {"stroke": ink(style["color"]), "stroke_width": style.get("width", 1)}
        if style.get("width", 1) and "color" in style
        else {}
    )
    if one["type"] == "line":
        dash = DASHES[style.get("dash", "solid")]
        return element("path", d=f"M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}", fill="none", stroke_dasharray=dash, **stroke)
    if one["type"] == "rect":
        fill = ink(one["fillcolor"]) if "fillcolor" in one else "none"
        box = {"x": min(x1, x2), "y": min(y1, y2), "width": abs(x2 - x1), "height": abs(y2 - y1)}
        return element("rect", fill=fill, fill_opacity=one.get("opacity"), **box, **stroke)
    raise ValueError(f"a shape of type {one['type']!r} is not drawn as SVG")
