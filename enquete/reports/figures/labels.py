"""Where the labels of points go: beside their point, over no other label and no other point, as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from enquete.reports.figures.text import LINE, SIZE, lines, width

SIDES = (
    "middle right",
    "middle left",
    "top center",
    "bottom center",
    "top right",
    "bottom right",
    "top left",
    "bottom left",
)
Point: TypeAlias = tuple[float, float]
AWAY = 4  # px between a point and its label


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def shared(self, other: Box) -> float:
        """px² that two boxes have in common."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def sides(
    points: Sequence[Point],
    texts: Sequence[str],
    page: Box,
    *,
    others: Sequence[Point] = (),
    radius: float = 5,
    size: float = SIZE,
) -> list[str]:
    """Plotly's `textposition` of each point. points, others: px, y downwards; page: px that labels should not leave."""
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in (*points, *others)]
    taken: list[Box] = []
    found = []
    for number, (point, text) in enumerate(zip(points, texts, strict=True)):
        near = [*taken, *(dot for k, dot in enumerate(dots) if k != number)]
        choices = [(side, _box(point, text, side, radius, size)) for side in SIDES]
        side, box = min(
            choices, key=lambda each: sum(each[1].shared(other) for other in near) + _outside(each[1], page)
        )
        taken.append(box)
        found.append(side)
    return found


def _outside(box: Box, page: Box) -> float:
    whole = (box.right - box.left) * (box.bottom - box.top)
    return 10 * (whole - box.shared(page))


def _box(point: Point, text: str, side: str, radius: float, size: float) -> Box:
    (x, y), (upright, _, across) = point, side.partition(" ")
    wide, tall = width(text, size), len(lines(text)) * LINE * size
    slanted = 0.5 if across != "center" else 1.0
    middle = y + {"top": -1, "middle": 0, "bottom": 1}[upright] * (slanted * (radius + AWAY) + tall / 2)
    left = {"left": x - radius - AWAY - wide, "center": x - wide / 2, "right": x + radius + AWAY}[across]
    return Box(left, middle - tall / 2, left + wide, middle + tall / 2)
