"""Means before and after: a line a statement, a plot a family of statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, told
from enquete.reports.figures.palette import COLOURS, MUTED
from enquete.reports.figures.text import LINE, bold, height, wrapped
from enquete.reports.markdown import number
from enquete.state.asking import Language

BESIDE = 2
SLOPE, LABEL = 0.175, 190  # of the figure's width from T0 to T1; px of a statement's label beside it
LEAST, HEAD, FOOT, GAP = 130, 24, 22, 20  # px: of a plot, above and below it, between plots
SIZE, APART = 10, 3  # px: of a label, between two

WORDS = {
    "title": N_("Longitudinal: mean of every statement at T0 and T1, by family"),
    "alt": N_(
        "Means of {n} statements at T0 and T1 in {families} families; most changed: {item}, from {before} to {after}."
    ),
    "changed": N_("changed at p < 0.05 (Holm)"),
    "other": N_("not changed, or not tested"),
    "hover": N_("{item}: {before} at T0, {after} at T1"),
}

Item = Mapping[str, Any]


def slopes(found: Found, changes: Sequence[Item], language: Language) -> Iterator[Figure]:
    """changes: tests by statement, as the findings have them."""
    words = in_language(WORDS, language)
    items = [one for one in listed(found, "items") if None not in _means(one)]
    if not items:
        return
    families: dict[str, list[Item]] = {}
    for one in items:
        families.setdefault(str(one.get("family") or ""), []).append(one)
    change = "drift" if at(found, "drift") else "experience_effect"
    titles = {str(one["family"]): str(one.get("label") or one["family"]) for one in listed(found, change, "families")}
    certain = frozenset(str(one["item"]) for one in changes if (p := figure(one, "p_holm")) is not None and p < 0.05)
    tall = [max(LEAST, *map(_needed, line)) for line in batched(list(families.values()))]
    total = sum(tall) + len(tall) * (HEAD + FOOT) + (len(tall) - 1) * GAP
    asked = [counted(at(found, "waves", wave), language, wave) for wave in ("T0", "T1")]
    canvas = Canvas(
        words["title"], note(language, *asked), language, total, [_key(kind, words) for kind in ("changed", "other")]
    )
    for place, (family, own) in enumerate(families.items()):
        line, column = divmod(place, BESIDE)
        top = sum(tall[:line]) + line * (HEAD + FOOT + GAP) + HEAD
        start = column * (1 / BESIDE + 0.01)
        domains = ((start, start + SLOPE), (1 - (top + tall[line]) / total, 1 - top / total))
        Plot(canvas, str(place + 1) if place else "", tall[line], words, certain).draw(
            own, titles.get(family, family), domains
        )
    most = max(items, key=lambda one: abs(_means(one)[1] - _means(one)[0]))
    before, after = (number(value, language) for value in _means(most))
    alt = words["alt"].format(
        n=len(items), families=len(families), item=str(most.get("wording")).rstrip("."), before=before, after=after
    )
    yield canvas.figure("slopes", alt)


def batched(own: Sequence[Sequence[Item]]) -> Iterator[Sequence[Sequence[Item]]]:
    yield from (own[k : k + BESIDE] for k in range(0, len(own), BESIDE))


def _look(kind: str) -> dict[str, Any]:
    colour = COLOURS[0] if kind == "changed" else MUTED
    return {
        "line": {"color": colour, "width": 2.5 if kind == "changed" else 1.5},
        "marker": {"color": colour, "size": 7},
    }


def _key(kind: str, words: Mapping[str, str]) -> dict[str, Any]:
    """For the legend alone: lines are told apart by their labels."""
    return {"type": "scatter", "mode": "lines+markers", "x": [None], "y": [None], "name": words[kind], **_look(kind)}


def _means(one: Item) -> tuple[Any, Any]:
    return figure(one, "waves", "T0", "mean"), figure(one, "waves", "T1", "mean")


def _label(one: Item) -> str:
    return wrapped(one.get("wording") or one["item"], LABEL, 3, SIZE)


def _needed(own: Sequence[Item]) -> float:
    return sum(height(_label(one), SIZE) + APART for one in own)


@dataclass(frozen=True)
class Plot:
    """One family. axis: "" or its number; px: height; certain: statements that changed."""

    canvas: Canvas
    axis: str
    px: float
    words: Mapping[str, str]
    certain: frozenset[str]

    def draw(self, own: Sequence[Item], title: str, domains: tuple[tuple[float, float], tuple[float, float]]) -> None:
        low, high = min(one["scale_min"] for one in own), max(one["scale_max"] for one in own)
        x, y = f"x{self.axis}", f"y{self.axis}"
        self.canvas.layout[f"xaxis{self.axis}"] = {
            "domain": domains[0], "anchor": y, "range": [-0.1, 1.1], "tickvals": [0, 1], "ticktext": ["T0", "T1"]
        }  # fmt: skip
        self.canvas.layout[f"yaxis{self.axis}"] = {"domain": domains[1], "anchor": x, "range": [low, high], "dtick": 1}
        heading = told(
            bold(wrapped(title, 340, 1)),
            0,
            1,
            xref=f"{x} domain",
            yref=f"{y} domain",
            xanchor="left",
            yanchor="bottom",
        )
        self.canvas.layout.setdefault("annotations", []).append({**heading, "yshift": 5, "font": {"size": 11}})
        ordered = sorted(own, key=lambda one: -float(_means(one)[1] or 0))
        scale = self.px / (high - low)
        wanted = [(high - float(_means(one)[1] or 0)) * scale for one in ordered]
        for one, px in zip(
            ordered, _spread(wanted, [height(_label(one), SIZE) + APART for one in ordered], self.px), strict=True
        ):
            self._line(one, high - px / scale)

    def _line(self, one: Item, label_at: float) -> None:
        """A statement's two means, and its label beside the second, led to it by a thin line."""
        language, (before, after) = self.canvas.language, _means(one)
        look = _look("changed" if one["item"] in self.certain else "other")
        axes = {"type": "scatter", "xaxis": f"x{self.axis}", "yaxis": f"y{self.axis}", "showlegend": False}
        hover = self.words["hover"].format(
            item=wrapped(one.get("wording"), 400, 3), before=number(before, language), after=number(after, language)
        )
        links = [answers("longitudinal", item_id=one["item"], phase=wave) for wave in ("T0", "T1")]
        colour = look["marker"]["color"]
        self.canvas.data.extend([
            {**axes, "mode": "lines+markers", "x": [0, 1], "y": [before, after], **look, "hoverinfo": "text", "hovertext": [hover] * 2,
             "meta": {"links": links}},
            {**axes, "mode": "lines", "x": [1, 1.1], "y": [after, label_at], "line": {"color": colour, "width": 0.7}, "hoverinfo": "skip"},
        ])  # fmt: skip
        refs = {"xref": f"x{self.axis}", "yref": f"y{self.axis}", "xanchor": "left", "xshift": 4, "align": "left"}
        self.canvas.layout["annotations"].append(
            told(_label(one), 1.1, label_at, **refs, font={"size": SIZE, "color": colour})
        )


def _spread(wanted: Sequence[float], heights: Sequence[float], px: float) -> list[float]:
    """Middles of labels in their order, as near to where they belong as their heights allow, none above 0 or below px.

    Pushed down where they lie over one another, then up again from the lower end.
    """
    middles: list[float] = []
    edge = 0.0
    for want, tall in zip(wanted, heights, strict=True):
        middles.append(max(want, edge + tall / 2))
        edge = middles[-1] + tall / 2
    edge = px + LINE
    for k in range(len(middles) - 1, -1, -1):
        middles[k] = min(middles[k], edge - heights[k] / 2)
        edge = middles[k] - heights[k] / 2
    return middles
