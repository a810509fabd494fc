"""A figure as a table: what each of its marks says, and the answers behind it, for those who do not see or point."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, NamedTuple

from enquete.reports.figures.axes import Spec


class Spoken(NamedTuple):
    """series: what the mark belongs to, "" where there is only one; link: a reference to answers, "" for none."""

    series: str
    told: str
    link: str


def spoken(spec: Spec) -> Iterator[Spoken]:
    """Every mark that says something, in the order of drawing."""
    for trace in spec["data"]:
        series = as_text(str(trace.get("name", "")))
        links = _flat(trace.get("meta", {}).get("links") or [])
        for number, one in enumerate(_flat(trace.get("hovertext") or [])):
            if one:
                yield Spoken(series, as_text(str(one)), str(links[number] or "") if number < len(links) else "")


def _flat(values: Any) -> list[Any]:
    """Of a heat map row by row."""
    if isinstance(values, str):
        return [values]
    return [each for one in values for each in (one if isinstance(one, list | tuple) else [one])]


def as_text(text: str) -> str:
    """What Plotly's HTML says, on one line."""
    return html.unescape(text.replace("<br>", " ").replace("<b>", "").replace("</b>", ""))
