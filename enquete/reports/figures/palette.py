"""Colours of figures: told apart by colour-blind readers and, in the scales, on a black and white print."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

Scale: TypeAlias = Sequence[tuple[float, str]]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#555555")
"""Okabe and Ito's palette."""
INK, MUTED, GRID, PAPER = "#1c2329", "#67707a", "#e4e7eb", "#ffffff"
PALE = {MUTED: "#c3c8ce", COLOURS[0]: "#a6cbe3", COLOURS[1]: "#f2c29b"}
"""For what stands behind."""

DIVERGING = ((0.0, "#b35806"), (0.25, "#f1a340"), (0.5, "#f7f7f7"), (0.75, "#67a9cf"), (1.0, "#2166ac"))
"""Orange below, white, blue above (after ColorBrewer's PuOr and RdBu)."""


def stages(n: int) -> list[str]:
    """Colours of the points of a scale, the lowest first."""
    return [on_scale(DIVERGING, k / (n - 1) if n > 1 else 0.5) for k in range(n)]


def on_scale(scale: Scale, share: float) -> str:
    """The colour at a share between 0 and 1 of a scale, #rrggbb."""
    share = min(1.0, max(0.0, share))
    for (start, one), (end, other) in pairwise(scale):
        if share <= end:
            part = (share - start) / (end - start)
            mixed = (round(a + part * (b - a)) for a, b in zip(_rgb(one), _rgb(other), strict=True))
            return "#" + "".join(f"{each:02x}" for each in mixed)
    return scale[-1][1]


def readable_on(colour: str) -> str:
    """Black or white, by the luminance of what text stands on; neither is a colour that a page sets."""
    r, g, b = _rgb(colour)
    return "#111111" if 0.299 * r + 0.587 * g + 0.114 * b > 140 else "#fefefe"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
