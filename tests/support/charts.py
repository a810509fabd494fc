"""Charts under test: results of rows made by hand, and a look at a picture's texts without eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from enquete.reports.charts import BOLD, width
from enquete.reports.declarations import Presentation, shaped
from enquete.reports.views import Names, Results
from enquete.state.asking import Language

Rows = Iterable[Mapping[str, Any]]
NAMESPACE = "{http://www.w3.org/2000/svg}"
SLACK = 0.92
"""Widths are estimated; only what is clearly too wide counts."""


TALL = 0.75
"""Height of capitals by the size of the text, roughly."""


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


def results(
    presentation: Presentation, tables: Mapping[str, Rows], facts: Mapping[str, Any], language: Language = "en",
    methodology: str = "delphi"
) -> Results:  # fmt: skip
    """Of rows that name the columns they need; the others are missing."""
    whole = {
        name: [{column.name: row.get(column.name) for column in presentation.tables[name].stored} for row in rows]
        for name, rows in tables.items()
    }
    return Results(methodology, presentation, shaped(presentation, whole, facts), Names(), language)


def texts(svg: str) -> Iterator[Placed]:
    """Every line that stands upright in a picture that Vega drew, and whether it is on the page."""
    root = ElementTree.fromstring(svg)
    _, _, across, down = map(float, root.get("viewBox", "").split())
    yield from _within(root, 0.0, 0.0, (across, down))


def _within(element: ElementTree.Element, x: float, y: float, page: tuple[float, float]) -> Iterator[Placed]:
    moved = element.get("transform", "")
    if "rotate" in moved:
        return
    if moved:
        dx, _, dy = moved.removeprefix("translate(").removesuffix(")").partition(",")
        x, y = x + float(dx), y + float(dy or 0)
    if element.tag == f"{NAMESPACE}text":
        yield from _lines(element, x, y, page)
    else:
        for each in element:
            yield from _within(each, x, y, page)


def _lines(element: ElementTree.Element, x: float, base: float, page: tuple[float, float]) -> Iterator[Placed]:
    size = float(element.get("font-size", "11px").removesuffix("px"))
    spans = element.findall(f"{NAMESPACE}tspan")
    bold = BOLD if element.get("font-weight") == "bold" else 1.0
    written = [(float(span.get("dy", 0)), "".join(span.itertext())) for span in spans]
    lines = written or [(0.0, "".join(part for part in (element.text, *(child.tail for child in element)) if part))]
    for down, text in lines:
        base += down
        wide = width(text, size) * SLACK * bold
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
        inside = left >= 0 and left + wide <= page[0] and size * TALL <= base <= page[1]
        yield Placed(text, left, left + wide, base, size, inside)


def illegible(svg: str) -> list[str]:
    """Texts that are off the page or over one another."""
    every = [text for text in texts(svg) if text.text.strip()]
    off = [f"{text.text!r} is off the page" for text in every if not text.inside]
    over = [f"{a.text!r} is over {b.text!r}" for k, a in enumerate(every) for b in every[k + 1 :] if a.overlaps(b)]
    return off + over
