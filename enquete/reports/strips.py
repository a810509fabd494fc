"""The small picture beside a finding of page one: its dots and intervals on the scale that they are on, and below them in words
what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import altair as alt

from enquete.reports.charts import SHAPES, THEME, WIDER, Picture, Spec, number_format
from enquete.reports.figures.palette import COLOURS, GRID, MUTED
from enquete.reports.figures.text import broken
from enquete.reports.key_findings import KeyFinding, Strip
from enquete.state.asking import Language

NAME = "page-one"
WIDTH, HEIGHT = 330, 26  # px of the scale
CAPTION = 11  # px of text


def strips(findings: Sequence[KeyFinding], language: Language) -> dict[tuple[str, str], Picture]:
    """Pictures by methodology and id of the finding; none for a finding without a scale."""
    return {
        (one.methodology, one.id): Picture(
            f"{NAME}/{n}", one.text, one.strip.caption, "page_one", "", partial(_spec, one.strip, language)
        )
        for n, one in enumerate(findings, start=1)
        if one.strip is not None
    }


def _spec(strip: Strip, language: Language, picture: Picture) -> Spec:
    ends = [strip.low, *([0.0] if strip.low < 0 < strip.high else []), strip.high]
    axis = alt.Axis(
        values=ends, format=".0%" if strip.is_share else ",~f", title=None, grid=False, labelColor=MUTED, ticks=True,
        domain=True, domainColor=GRID, domainWidth=3, labelFontSize=CAPTION,
    )  # fmt: skip
    at = alt.X("value:Q", scale=alt.Scale(domain=[strip.low, strip.high], nice=False, clamp=True), axis=axis)
    layers: list[alt.Chart] = []
    for dot, colour in zip(strip.dots, COLOURS, strict=False):
        if dot.low is not None:
            reach = alt.InlineData(values=[{"value": dot.low, "high": dot.high}])
            layers.append(alt.Chart(reach).mark_rule(strokeWidth=4, color=colour).encode(x=at, x2="high:Q"))
    for dot, shape, colour, up in zip(strip.dots, SHAPES, COLOURS, (-14, -14), strict=False):
        base = alt.Chart(alt.InlineData(values=[dot.as_json()])).encode(x=at)
        layers.append(base.mark_point(shape=shape, size=110, color=colour))
        layers.append(base.mark_text(dy=up, fontWeight="bold", color=colour).encode(text="told:N"))
    with alt.theme.enable("none"):
        spec: Spec = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT).to_dict()
    caption = {"text": broken(strip.caption, WIDTH / WIDER, 3, CAPTION), "orient": "bottom", "fontSize": CAPTION, "color": MUTED,
               "fontWeight": "normal", "offset": 4}  # fmt: skip
    config = {**THEME, "locale": {"number": number_format(language)}}
    return {**spec, "title": caption, "description": picture.alt, "config": config}
