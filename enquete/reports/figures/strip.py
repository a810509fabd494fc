"""The small figure beside a finding of page one: its numbers with their intervals on the scale that they are on."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from enquete.reports.figures.ink import Ink, element
from enquete.reports.figures.palette import COLOURS, GRID, MUTED
from enquete.reports.figures.svg import FONT
from enquete.reports.key_findings import KeyFinding
from enquete.reports.markdown import number, share
from enquete.state.asking import Language

WIDTH, HEIGHT = 360, 54
LEFT, RIGHT, LINE, RADIUS = 34, 326, 24, 6
SUFFIXES = ("", "_lowest", "_expected")
"""Of means that a finding sets beside one another: its first, and the other."""


@dataclass(frozen=True)
class Strip:
    """Values with their intervals on an axis from `low` to `high`."""

    low: float
    high: float
    marks: tuple[tuple[float, float | None, float | None], ...]
    is_share: bool = False


def strip_of(finding: KeyFinding, scale: tuple[float, float] | None) -> Strip | None:
    """scale: of the items that it rests on. None where its numbers lie on no scale."""
    numbers = finding.numbers
    if "share" in numbers:
        return Strip(0, 1, ((numbers["share"], numbers.get("low"), numbers.get("high")),), is_share=True)
    for part, whole in (("agreed", "themes"), ("holders", "n")):
        if part in numbers and numbers.get(whole):
            return Strip(0, 1, ((numbers[part] / numbers[whole], None, None),), is_share=True)
    if scale is None:
        return None
    means = tuple(_marks(numbers))
    if means:
        return Strip(*scale, means)
    if "change" in numbers:
        reach = scale[1] - scale[0]
        return Strip(-reach, reach, ((numbers["change"], numbers.get("low"), numbers.get("high")),))
    if "before" in numbers and "after" in numbers:
        return Strip(0, scale[1] - scale[0], ((numbers["before"], None, None), (numbers["after"], None, None)))
    return None


def _marks(numbers: Mapping[str, float]) -> Iterator[tuple[float, float | None, float | None]]:
    for suffix in SUFFIXES:
        if f"mean{suffix}" in numbers:
            yield numbers[f"mean{suffix}"], numbers.get(f"low{suffix}"), numbers.get(f"high{suffix}")


def draw(strip: Strip, alt: str, language: Language, *, plain: bool = False) -> str:
    """As SVG. plain: a file of its own, on white."""
    ink = Ink(plain)
    parts = [
        element("desc", html.escape(alt, quote=False)),
        element("rect", width=WIDTH, height=HEIGHT, fill="#ffffff") if plain else "",
        element("line", x1=LEFT, x2=RIGHT, y1=LINE, y2=LINE, stroke=ink(GRID), stroke_width=3),
        *(_end(end, strip, ink, language) for end in _ticks(strip)),
        *(part for place, mark in enumerate(strip.marks) for part in _mark(mark, place, strip, ink, language)),
    ]
    return element(
        "svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", role="img", aria_label=alt, font_family=FONT, font_size=11,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT,
    )  # fmt: skip


def _ticks(strip: Strip) -> tuple[float, ...]:
    return (strip.low, 0.0, strip.high) if strip.low < 0 else (strip.low, strip.high)


def _x(value: float, strip: Strip) -> float:
    return LEFT + (RIGHT - LEFT) * (value - strip.low) / (strip.high - strip.low)


def _told(value: float, strip: Strip, language: Language, digits: int) -> str:
    return share(value, language) if strip.is_share else number(float(value), language, digits)


def _end(value: float, strip: Strip, ink: Ink, language: Language) -> str:
    x = _x(value, strip)
    tick = element("line", x1=x, x2=x, y1=LINE - 5, y2=LINE + 5, stroke=ink(MUTED))
    return tick + element(
        "text", _told(value, strip, language, 0), x=x, y=LINE + 22, text_anchor="middle", fill=ink(MUTED)
    )


def _mark(
    mark: tuple[float, float | None, float | None], place: int, strip: Strip, ink: Ink, language: Language
) -> Iterator[str]:
    value, low, high = mark
    colour, x = ink(COLOURS[place]), _x(value, strip)
    if low is not None and high is not None:
        yield element("line", x1=_x(low, strip), x2=_x(high, strip), y1=LINE, y2=LINE, stroke=colour, stroke_width=4)
    yield element("circle", cx=x, cy=LINE, r=RADIUS, fill=colour)
    yield element(
        "text",
        _told(value, strip, language, 2),
        x=x,
        y=LINE - 11,
        text_anchor="middle",
        fill=colour,
        font_weight="bold",
    )
