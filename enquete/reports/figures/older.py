"""Figures of the older drawing engine as pictures: the one place where both meet."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from enquete.reports.charts import Href, Mark, Picture
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.svg import nowhere, svg


class OlderPicture(Picture):
    """Whose spec is Plotly's JSON."""

    def svg(self, href: Href | None = None) -> str:
        return svg(self.spec, self.alt, plain=href is None, href=href or nowhere)

    @property
    def size(self) -> tuple[float, float]:
        return self.spec["layout"]["width"], self.spec["layout"]["height"]

    def chart(self) -> Any:
        """Shows itself in a notebook as SVG."""
        return _Shown(self.svg())

    def marks(self) -> Iterator[Mark]:
        for trace in self.spec["data"]:
            series = _text(str(trace.get("name", "")))
            links = _flat(trace.get("meta", {}).get("links") or [])
            for number, one in enumerate(_flat(trace.get("hovertext") or [])):
                if one:
                    link = str(links[number] or "") if number < len(links) else ""
                    yield Mark(f"{series}: {_text(str(one))}" if series else _text(str(one)), link)


class _Shown:
    def __init__(self, drawn: str) -> None:
        self._drawn = drawn

    def _repr_svg_(self) -> str:
        return self._drawn


def pictures(name: str, figures: Iterable[Figure], file: Callable[[str, Exception], None]) -> list[Picture]:
    """Of one methodology, "methodology/name"."""
    try:
        return [picture(one, f"{name}/{one.name}") for one in figures]
    except Exception as error:
        file(name, error)
        return []


def picture(one: Figure, name: str = "") -> Picture:
    return OlderPicture(name or one.name, one.title, one.alt, "section", one.note, lambda _: one.spec)


def read(told: Mapping[str, Any]) -> Picture:
    """As it was written, whichever engine drew it."""
    return (OlderPicture if "layout" in told["spec"] else Picture).read(told)


def _flat(values: Any) -> Sequence[Any]:
    """Of a heat map row by row."""
    if isinstance(values, str):
        return [values]
    return [each for one in values for each in (one if isinstance(one, list | tuple) else [one])]


def _text(text: str) -> str:
    """What Plotly's HTML says, on one line."""
    return html.unescape(text.replace("<br>", " ").replace("<b>", "").replace("</b>", ""))
