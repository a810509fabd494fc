"""SVG elements, and colours as a page's custom properties or, in a file, as they are."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

from enquete.reports.figures.palette import COLOURS, GRID, INK, MUTED, PALE, PAPER
from enquete.reports.figures.text import LINE, SIZE, lines

PROPERTIES: Mapping[str, str] = {
    INK: "--ink", MUTED: "--muted", GRID: "--rule", PAPER: "--paper", PALE[MUTED]: "--pale",
    **{colour: f"--series-{number}" for number, colour in enumerate(COLOURS, start=1)},
    **{PALE[colour]: f"--pale-{number}" for number, colour in enumerate(COLOURS, start=1) if colour in PALE},
}  # fmt: skip
"""What a page sets to show figures in the dark or on paper; shades of scales stay as they are, with their own text."""
_BOLD = re.compile(r"<b>(.*?)</b>")


def element(name: str, inside: str = "", /, **attributes: object) -> str:
    """Attributes that are None are left out; `_` stands for a hyphen, numbers are written with one decimal."""
    written = "".join(
        f' {key.replace("_", "-")}="{_written(value)}"' for key, value in attributes.items() if value is not None
    )
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def _written(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, int | float) else html.escape(str(value))


def plain(text: str) -> str:
    """What Plotly's HTML says, on one line, escaped for SVG."""
    return html.escape(html.unescape(text.replace("<br>", " ").replace("<b>", "").replace("</b>", "")), quote=False)


@dataclass(frozen=True)
class Ink:
    """`plain`: for a file on its own."""

    plain: bool = False

    def __call__(self, colour: str) -> str:
        name = None if self.plain else PROPERTIES.get(colour)
        return f"var({name}, {colour})" if name else colour

    def text(
        self, text: str, x: float, y: float, *, anchor: str = "start", valign: str = "middle", size: float = SIZE,
        colour: str = INK, turned: float = 0, bold: bool = False,
    ) -> str:  # fmt: skip
        """Lines of text, above, at or below a point."""
        own = lines(text)
        block = len(own) * LINE * size
        top = {"top": 0.0, "middle": -block / 2, "bottom": -block}[valign]
        spans = [
            element("tspan", _inline(one), x=x, y=y + top + (number + 0.79) * LINE * size)
            for number, one in enumerate(own)
        ]
        return element(
            "text", "".join(spans), text_anchor=None if anchor == "start" else anchor,
            font_size=None if size == SIZE else size, fill=None if colour == INK else self(colour),
            font_weight=600 if bold else None, transform=f"rotate({turned:g} {x:.1f} {y:.1f})" if turned else None,
        )  # fmt: skip


def _inline(line: str) -> str:
    """A line of Plotly's HTML as SVG: every second part is bold."""
    parts = [html.escape(html.unescape(part), quote=False) for part in _BOLD.split(line)]
    return "".join(element("tspan", part, font_weight=600) if n % 2 else part for n, part in enumerate(parts)) or " "
