"""What all figures share: what a figure is, looks, and the note about who answered. Figures are plain data; plotly is not needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from enquete.locale import N_, in_language, separators, whole
from enquete.reports.figures.frame import EDGE, WIDTH, framed, heading
from enquete.reports.figures.palette import COLOURS, GRID, INK, MUTED, PAPER
from enquete.reports.figures.text import SIZE, wrapped
from enquete.reports.markdown import number
from enquete.state.asking import Language

LOOKS: Mapping[str, Any] = {
    "layout": {
        "font": {"family": "Helvetica, Arial, 'Liberation Sans', Roboto, sans-serif", "size": SIZE, "color": INK},
        "colorway": list(COLOURS),
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        **{
            axis: {"gridcolor": GRID, "zerolinecolor": MUTED, "zeroline": False, "automargin": True,
                   "tickfont": {"size": SIZE - 1}, "title": {"standoff": 6, "font": {"size": SIZE}}}
            for axis in ("xaxis", "yaxis")
        },
    }
}  # fmt: skip

WORDS = {
    "simulated": N_("simulated respondents"),
    "with_people": N_("simulated respondents, and people ({people})"),
    "answers": N_("{n} of {total} answers"),
    "agents": N_("{n} of {total} agents"),
    "n": N_("n = {n} of {total}"),
}

Spec = dict[str, Any]
Links = list[str]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of findings as Plotly's JSON, `{"data": […], "layout": {…}}`, of the part that reports/figures/svg.py draws.

    Points may carry `meta.links`, references to the answers behind them as `answers` makes them.
    """

    name: str  # of a methodology's own; "methodology/name" where figures are joined
    title: str  # says what is shown
    note: str  # n_responded / n_total of what is shown; simulated respondents
    spec: Spec
    alt: str  # one sentence with the main numbers, for those who hear the figure
    lead: bool = False  # may stand on page one

    @property
    def stem(self) -> str:
        """Of its file, and of its place in a page: methodology-name."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class Canvas:
    """A figure on its way: traces, then layout; `figure` closes it. `plot`: px."""

    title: str
    note: str
    language: Language
    plot: float
    data: list[Spec] = field(default_factory=list)
    layout: Spec = field(default_factory=dict)

    def figure(self, name: str, alt: str, *, lead: bool = False) -> Figure:
        """With title, note and margins wide enough for what is written beside the axes."""
        own: Spec = {
            "width": WIDTH, "separators": separators(self.language), "barmode": "overlay", "template": LOOKS,
            "meta": {"plot": self.plot}, **self.layout,
        }  # fmt: skip
        title, said = wrapped(self.title, WIDTH - 2 * EDGE, 2, 17), wrapped(self.note, WIDTH - 2 * EDGE, 3, SIZE)
        spec = {"data": self.data, "layout": {**own, "title": {"text": title, "subtitle": {"text": said}}}}
        frame = framed(spec)
        placed = {
            "height": frame.height,
            "margin": {"l": frame.left, "r": frame.right, "t": frame.above, "b": frame.below},
            "title": {
                "text": title, "font": {"size": 16}, "subtitle": {"text": said, "font": {"size": SIZE, "color": MUTED}},
                "x": EDGE / WIDTH, "xanchor": "left", "yref": "container", "y": 1 - EDGE / frame.height, "yanchor": "top",
            },
            "legend": {
                "orientation": "h", "xref": "container", "x": EDGE / WIDTH, "yref": "container", "yanchor": "top",
                "y": 1 - (EDGE + heading(spec)) / frame.height,
            },
        }  # fmt: skip
        return Figure(name, self.title, self.note, {"data": self.data, "layout": {**own, **placed}}, alt, lead)


def note(language: Language, *said: str, people: int = 0) -> str:
    """The line below a title: that respondents are simulated, and how many are people, then who answered, then whatever else must be
    known."""
    words = in_language(WORDS, language)
    who = words["with_people"].format(people=people) if people else words["simulated"]
    return " · ".join([who, *(one for one in said if one)])


def counted(found: Any, language: Language, what: str = "") -> str:
    """How many agents of how many, from an entry of the findings that counts them; and how many answers where some are missing."""
    words = in_language(WORDS, language)
    names = ("agents_responded", "agents_total", "n_responded", "n_total")
    *agents, responded, total = (found.get(name) if isinstance(found, Mapping) else None for name in names)
    shown = {
        "agents": agents,
        "answers": (responded, total) if agents[0] is None or responded != total else (None, None),
    }
    known = [
        words[key].format(n=whole(n, language), total=whole(total, language))
        for key, (n, total) in shown.items()
        if isinstance(n, int) and isinstance(total, int)
    ]
    return f"{what}: {', '.join(known)}" if what else ", ".join(known)


def of(found: Any, language: Language) -> str:
    """n = 48 of 50, of one point."""
    n, total = (found or {}).get("n_responded") or 0, (found or {}).get("n_total") or 0
    return in_language(WORDS, language)["n"].format(n=whole(n, language), total=whole(total, language))


def signed(value: object, language: Language, digits: int = 2) -> str:
    """A difference with its sign."""
    text = number(value, language, digits)
    return f"+{text}" if isinstance(value, int | float) and value > 0 and float(f"{value:.{digits}f}") else text


def answers(methodology: str, **where: object) -> str:
    """A reference to answers, for `meta.links`: columns of the response table and the value that they have.

    answers("delphi", item_id="theme:1/importance", round=3) → "delphi?item_id=theme%3A1%2Fimportance&round=3"
    """
    return f"{methodology}?{urlencode(where)}"


def dots(
    x: Sequence[float], y: Sequence[float], low: Sequence[float | None], high: Sequence[float | None], *, colour: str,
    symbol: str = "circle", size: float = 9, **more: Any,
) -> Spec:  # fmt: skip
    """Estimates with their intervals, lying; None for an end that is not known."""
    return {
        "type": "scatter", "mode": "markers", "x": list(x), "y": list(y), "hoverinfo": "text",
        "marker": {"color": colour, "symbol": symbol, "size": size},
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 2, "width": 0, "color": colour,
            "array": [max(0.0, end - at_) if end is not None else 0.0 for end, at_ in zip(high, x, strict=True)],
            "arrayminus": [max(0.0, at_ - end) if end is not None else 0.0 for end, at_ in zip(low, x, strict=True)],
        },
        **more,
    }  # fmt: skip


def rows(labels: Sequence[str], *, room: float = 0.5, **more: Any) -> Spec:
    """A vertical axis with a label for each of 0, 1, …, the first on top."""
    ticks = {"tickvals": list(range(len(labels))), "ticktext": list(labels), "range": [len(labels) - 1 + room, -room]}
    return {**ticks, "showgrid": False, **more}


def columns(labels: Sequence[str], **more: Any) -> Spec:
    """A horizontal axis with a label for each of 0, 1, …"""
    ticks = {"tickvals": list(range(len(labels))), "ticktext": list(labels), "range": [-0.5, len(labels) - 0.5]}
    return {**ticks, "showgrid": False, **more}


def titled(text: str, **more: Any) -> Spec:
    """An axis with a title."""
    return {"title": {"text": text}, **more}


def told(text: str, x: float | str, y: float | str, **more: Any) -> Spec:
    """An annotation without an arrow."""
    return {"text": text, "x": x, "y": y, "showarrow": False, **more}


def beside(n: int, gap: float = 0.05, widths: Iterable[float] = ()) -> list[tuple[float, float]]:
    """Domains of n plots beside one another."""
    sizes = list(widths) or [1.0] * n
    room, found, start = 1 - gap * (n - 1), [], 0.0
    for size in sizes:
        end = start + room * size / sum(sizes)
        found.append((round(start, 4), round(min(1.0, end), 4)))
        start = end + gap
    return found
