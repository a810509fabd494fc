"""Looking at a figure without eyes: where each text of an SVG stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from enquete.reports.figures.text import SIZE, width

NAMESPACE = "{http://www.w3.org/2000/svg}"
SLACK = 0.92
"""Widths are estimated; only what is clearly too wide counts."""


@dataclass(frozen=True)
class Placed:
    """A line of text; px."""

    text: str
    left: float
    right: float
    base: float
    size: float
    inside: bool

    def overlaps(self, other: Placed) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and abs(self.base - other.base) < 0.7 * min(self.size, other.size)
        )


def placed_texts(drawn: str) -> Iterator[Placed]:
    """Every line that stands upright, and whether it is on the page."""
    root = ElementTree.fromstring(drawn)
    _, _, across, down = map(float, root.get("viewBox", "").split())
    for text in root.iter(f"{NAMESPACE}text"):
        if text.get("transform"):
            continue
        size = float(text.get("font-size", SIZE))
        for line in text.findall(f"{NAMESPACE}tspan"):
            said = "".join(line.itertext())
            wide, x, base = width(said, size) * SLACK, float(line.get("x", 0)), float(line.get("y", 0))
            left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "start")]
            yield Placed(
                said, left, left + wide, base, size, left >= 0 and left + wide <= across and size <= base <= down
            )


def overlapping(drawn: str) -> list[tuple[str, str]]:
    """Pairs of texts that lie over one another."""
    every = [one for one in placed_texts(drawn) if one.text.strip()]
    return [(a.text, b.text) for k, a in enumerate(every) for b in every[k + 1 :] if a.overlaps(b)]
