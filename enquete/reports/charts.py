"""Charts of a methodology's tables: from labelled frames to Vega-Lite, SVG and PNG.

A methodology declares a `Chart` and writes a function of 10–25 lines that takes `ChartData` and returns an
altair.Chart:

    def ranking(data: ChartData) -> alt.TopLevelMixin:
        rows = data.rows(told=("theme", "rank", "low_to_high"))
        base = data.chart(rows).encode(y=data.names(rows, "theme"))
        return intervals(base, alt.X("rank:Q", title=data.label("ranking", "rank")), "low", "high")

Title, alternative text, footer, fonts, colours, width and number formats come with `drawn`. Nothing is drawn before it
is looked at: `Picture.spec` calls the function, `svg` and `png` have Vega render it (vl-convert: no browser, no
network). Measured by: what a picture shows stands in a table, each mark leads to the answers behind it, and nothing
that is written lies over anything else at 7, 50 and 1,000 agents (tests/support/charts.py `legible`).
"""

from __future__ import annotations

import html
import importlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

import altair as alt
import numpy as np
import pandas as pd
import vl_convert
from altair.utils.schemapi import debug_mode

from enquete.ledger.folders import write_atomically
from enquete.locale import N_, percent, separators, tell
from enquete.reports.declarations import Chart, Column, Place, Row, Table, View
from enquete.reports.markdown import MISSING, number
from enquete.reports.result_tables import ResultTables, rows_of
from enquete.reports.views import Results, chosen_rows
from enquete.state.errors import InputError
from enquete.state.request import FigureFormat
from enquete.state.untrusted_input import visible

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
    for (start, first), (end, second) in pairwise(scale):
        if share <= end:
            part = (share - start) / (end - start)
            mixed = (round(a + part * (b - a)) for a, b in zip(_rgb(first), _rgb(second), strict=True))
            return "#" + "".join(f"{each:02x}" for each in mixed)
    return scale[-1][1]


def readable_on(colour: str) -> str:
    """Black or white, by the luminance of what text stands on; neither is a colour that a page sets."""
    r, g, b = _rgb(colour)
    return "#111111" if 0.299 * r + 0.587 * g + 0.114 * b > 140 else "#fefefe"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


# --- Text in figures: how wide it is, and how it is broken into lines -------------------------------------------------

SIZE = 12
"""px, of all text that has no size of its own."""


class _Widths(dict[str, float]):
    """By the size of the text. What is not in it is measured when it is first met."""

    def __missing__(self, character: str) -> float:
        return self.setdefault(character, _CAPITAL if character.isupper() else _OTHER)


_WIDTHS = _Widths(
    {
        **dict.fromkeys("ijl|'.,:;!·", 0.26),
        **dict.fromkeys("ftrI()[]/ -", 0.34),
        **dict.fromkeys("mwMWÄÖÜ%@…—", 0.88),
        **dict.fromkeys("csxyzkvJ", 0.51),
    }
)
_CAPITAL, _OTHER = 0.69, 0.57
BOLD = 1.07
"""Width of bold text by that of other."""


def width(text: str, size: float = SIZE) -> float:
    """px, estimated from the widths of Helvetica's characters; other system fonts differ by a tenth."""
    return _line(text) * size


def _line(text: str) -> float:
    return sum(map(_WIDTHS.__getitem__, text))


def broken(text: object, px: float, most: int = 2, size: float = SIZE - 1) -> list[str]:
    """In at most so many lines of so many px, by default of the size of an axis' labels; what does not fit ends in …"""
    lines: list[str] = []
    for word in visible(str(text)).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _line(longer) * size <= px:
            lines[-1] = longer
        else:
            lines.append(word)
    rest = " ".join(lines[most - 1 :])
    return [_cut(line, px, size) for line in [*lines[: most - 1], rest] if line]


def _cut(line: str, px: float, size: float) -> str:
    if _line(line) * size <= px:
        return line
    words = line.split()
    while len(words) > 1 and _line(f"{' '.join(words)} …") * size > px:
        words.pop()
    if len(words) > 1 or _line(f"{words[0]} …") * size <= px:
        return f"{' '.join(words)} …"
    word = words[0]
    while word and _line(f"{word}…") * size > px:
        word = word[:-1]
    return f"{word}…"


# --- Charts of a methodology's tables: from labelled frames to Vega-Lite, SVG and PNG ---------------------------------

WIDTH = 700
"""px of every picture, labels and all: the column of a report."""
LABEL = 220
"""px of the names beside rows, in Helvetica and what is as wide."""
WIDER = 1.15
"""Room for names in fonts that are wider."""
ROWS = 40
"""Rows at most; of more the first are shown, which the footer says."""
LINE = 14  # px from one line of a label to the next
CELL = 28  # px of a matrix' column at least
ALL = N_("all")
FOLDER = "figures"
SCALE = 2.0
"""px of a PNG by px of the picture."""

LEVELS = ("#005a9c", "#b4bbc2", "#d55e00", "#26292e", "#f0e442", "#56b4e9")
"""Colours of a code's levels in their order: told apart by colour-blind readers, the first five in grey as well."""
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")

ENDS = (0.125, 0.805)
"""Shares of a diverging scale below and above which text on it is pale, as `readable_on` finds them."""

THEME: Mapping[str, Any] = {
    "background": PAPER, "font": "Helvetica, Arial, 'Liberation Sans', Roboto, system-ui, sans-serif", "padding": 6,
    "view": {"stroke": None, "step": 30},
    "title": {
        "anchor": "start", "frame": "bounds", "fontSize": 16, "color": INK, "subtitleColor": MUTED,
        "subtitleFontSize": SIZE, "subtitleLineHeight": 16, "subtitlePadding": 4, "offset": 12,
    },
    "axis": {
        "labelColor": INK, "labelFontSize": SIZE - 1, "labelLimit": 0, "titleColor": INK, "titleFontSize": SIZE,
        "titleFontWeight": "normal", "gridColor": GRID, "domain": False, "ticks": False, "labelPadding": 6,
        "labelLineHeight": LINE,
    },
    "axisQuantitative": {"tickCount": 6, "labelFlush": False}, "axisY": {"labelOverlap": False},
    "axisBand": {"grid": False},
    "axisPoint": {"grid": False},
    "legend": {
        "orient": "top", "title": None, "labelColor": INK, "labelFontSize": SIZE, "labelLimit": 0, "symbolSize": 80,
        "symbolStrokeWidth": 2, "symbolOpacity": 1, "columnPadding": 14,
    },
    "facet": {"spacing": 20},
    "header": {
        "title": None, "labelColor": INK, "labelFontSize": SIZE, "labelLimit": 0, "labelLineHeight": 15,
        "labelPadding": 6,
    },
    "point": {"filled": True, "size": 50, "opacity": 1}, "circle": {"opacity": 1}, "rule": {"color": MUTED},
    "text": {"color": INK, "fontSize": SIZE - 1}, "mark": {"color": COLOURS[0]},
    "range": {"category": list(COLOURS), "symbol": list(SHAPES)},
}  # fmt: skip

Spec: TypeAlias = dict[str, Any]
Drawn: TypeAlias = alt.TopLevelMixin
Href: TypeAlias = Callable[[str], str | None]
"""Where a reference to answers (`answers`) leads in a page; None for nowhere."""

BEHIND = {
    "item": "item_id", "phase": "phase", "round": "round", "value": "value", "group": "stakeholder_type",
    "participant": "participant",
}  # fmt: skip
"""Columns of tables that say which answers a row counts, with those of the response table."""

PROPERTIES: Mapping[str, str] = {
    INK: "--ink", LEVELS[3]: "--ink", LEVELS[0]: "--series-1", MUTED: "--muted", GRID: "--rule",
    **{colour.lower(): f"--series-{number}" for number, colour in enumerate(COLOURS, start=1)},
}  # fmt: skip
"""Custom properties by which a page may set colours, in the dark say."""


def answers(methodology: str, **where: object) -> str:
    """A reference to answers: columns of the response table and the value that they have.

    answers("delphi", item_id="theme:1/importance", round=3) → "delphi?item_id=theme%3A1%2Fimportance&round=3"
    """
    return f"{methodology}?{urlencode(where)}"


# --- what a chart's function is given ---------------------------------------------------------------------------------


class OwnChart(alt.Chart):
    """A chart whose copies share its parts, which nobody changes: Altair copies all of them anew with every layer."""

    def copy(self, deep: bool | Iterable[Any] = True, ignore: list[str] | None = None) -> OwnChart:
        copied: OwnChart = super().copy(deep=False if deep is True else deep, ignore=ignore)
        return copied

    def __deepcopy__(self, memo: object) -> OwnChart:
        return self.copy()


@dataclass(frozen=True)
class ChartData:
    """A methodology's results for one chart: frames with words instead of codes, labels, and the footer."""

    results: Results
    declared: Chart
    notes: list[str] = field(default_factory=list)
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.results.facts

    def frame(
        self, table: str, where: str = "", *, order: Sequence[str] = (), told: Sequence[str] = ()
    ) -> pd.DataFrame:
        """A table's rows as `Results.labelled` has them: names and words in the language, ids as `<column>_id`.

        Beside them stand `told`, the columns named as one text, and `link`, which leads to the answers behind the row,
        where the table says which they are: both are behind every mark of `chart`.
        """
        declared = self.results.presentation.tables[table]
        chosen = chosen_rows(self.results.analysis.tables[table], where, self.facts)
        return self._with_words(declared, self.results.ordered(declared, chosen, order), told)

    def rows(self, *, told: Sequence[str] = (), sample: int = 0) -> pd.DataFrame:
        """The rows of the chart's `over`, of the first table that it needs; the footer says how many its `top` leaves
        out. sample: of more rows so many, at even distances."""
        declared = self.results.presentation.tables[self.declared.needs[0]]
        every = rows_drawn(self.results, self.declared)
        some = every.head(over(self.declared).top or len(every))
        if 0 < sample < len(some):
            some = some.iloc[np.linspace(0, len(some) - 1, sample).astype(int)]
        self._count(len(some), len(every))
        return self._with_words(declared, some, told)

    @cached_property
    def tables(self) -> ResultTables:
        """The methodology's frames, as they were computed."""
        return ResultTables(self.results.presentation, self.results.analysis)

    def in_words(self, table: str, rows: pd.DataFrame, *, told: str = "") -> pd.DataFrame:
        """Return rows of a table with names and words in place of ids and codes, which stand in `<column>_id`.

        Beside them stand `told`, the columns named there in one text, and `link`, as in `frame`.
        """
        return self._with_words(self.results.presentation.tables[table], rows, told.split())

    def _with_words(self, table: Table, raw: pd.DataFrame, told: Sequence[str]) -> pd.DataFrame:
        frame, rows = self.results.labelled(table, raw), rows_of(raw)
        stored = {column.name for column in table.stored}
        if told:
            columns = [self.results.column(table.name, name) for name in told]
            frame["told"] = [self._told(columns, row) for row in rows]
        if stored & {"item", "items", "participant"}:
            frame["link"] = [self._link(row) for row in rows]
        return frame.reset_index(drop=True)

    def _told(self, columns: Sequence[Column], row: Row) -> str:
        """Names and words as they are, everything else with its label."""
        cells = ((column, self.results.cell(column, row)) for column in columns)
        return " · ".join(
            cell if column.format in ("reference", "code", "text") else f"{self.results.label(column)} {cell}"
            for column, cell in cells
        )

    def _link(self, row: Row) -> str | None:
        known = {name: row[column] for column, name in BEHIND.items() if row.get(column) is not None}
        if row.get("items"):  # several questions stand behind the row: the first, as in a finding
            known = {"item_id": row["items"][0], **known}
        if not known.keys() & {"item_id", "participant"}:
            return None
        if known.get("stakeholder_type") not in self.results.names.groups:  # groups by another column of the personas
            known.pop("stakeholder_type", None)
        if isinstance(known.get("value"), float):
            known["value"] = f"{known['value']:g}"
        return f"#{answers(self.results.methodology, **known)}"  # Vega takes an anchor, whatever it is

    def label(self, table: str, column: str) -> str:
        """A column's label in the language, as the title of an axis."""
        return self.results.label(self.results.presentation.tables[table].column(column))

    def told(self, table: str, column: str, value: object) -> str:
        """One value as the column's cells are read."""
        declared = self.results.presentation.tables[table].column(column)
        return self.results.cell(declared, {column: value})

    def tell(self, text: str, **facts: object) -> str:
        """A marked text in the language."""
        return tell(text, self.results.language).format(**facts)

    def note(self, text: str) -> None:
        """Says something more in the footer, a text in the language."""
        self.notes.append(text)

    def top(self, frame: pd.DataFrame, column: str, most: int = ROWS) -> pd.DataFrame:
        """Rows of the first `most` values of a column, in the order of the frame; the footer tells of the others."""
        names = frame[_ids(frame, column)]
        every = list(dict.fromkeys(names))
        self._count(min(most, len(every)), len(every))
        return frame[names.isin(every[:most])]

    def _count(self, shown: int, rows: int) -> None:
        if shown < rows:
            self.note(self.tell(N_("{shown} of {rows} shown"), shown=self.count(shown), rows=self.count(rows)))

    def count(self, n: Any) -> str:
        """A whole number as it is read."""
        return number(int(n), self.results.language)

    def chart(self, frame: pd.DataFrame) -> alt.Chart:
        """A chart of the frame; behind every mark its text, said and shown, and its answers. Types are named: "n:Q"."""
        name = f"rows_{len(self.frames) + 1}"  # by name, for Altair copies its data with every layer
        self.frames[name] = frame
        behind: dict[str, Any] = {}  # channels as such: a text in their place costs Altair 15 ms each
        if "told" in frame:
            behind |= {"tooltip": alt.Tooltip("told:N"), "description": alt.Description("told:N")}
        if "link" in frame:
            behind["href"] = alt.Href("link:N")
        return OwnChart(alt.NamedData(name)).encode(**behind)

    # --- names and levels ---------------------------------------------------------------------------------------------

    def names(
        self,
        frame: pd.DataFrame,
        column: str,
        *,
        px: float = LABEL,
        more: Mapping[Any, str] | None = None,
        most: int = 2,
    ) -> alt.Y:
        """Rows of a chart, a name each in at most so many lines, in the order of the frame. Equal names stay apart.

        more: what stands behind a name, by id.
        """
        ids = _ids(frame, column)
        named = dict(zip(frame[ids], frame[column].astype(str), strict=True))
        lines = {}
        for key, name in named.items():
            after = f"\u00a0\u00a0{more[key]}" if more and key in more else ""
            lines[key] = broken(name, px - width(after), most) or [MISSING]
            lines[key][-1] += after
        up = {"value": 0, "condition": [
            {"test": f"indexof({json.dumps(keys)}, toString(datum.value)) >= 0", "value": -LINE / 2 * further}
            for further in range(1, most) if (keys := [str(key) for key in lines if len(lines[key]) == further + 1])
        ]}  # fmt: skip
        room = max(width(line, SIZE - 1) for parts in lines.values() for line in parts) * WIDER
        axis = alt.Axis(title=None, labelExpr=worded(lines), labelOffset=up, minExtent=int(room))
        return alt.Y(f"{ids}:N", scale=alt.Scale(domain=list(named)), axis=axis)

    def levels(self, frame: pd.DataFrame, table: str, column: str) -> tuple[alt.Color, alt.Shape]:
        """Colour and shape of a code: a level has its own in every picture, and a legend if the frame has it.

        For points `encode(*data.levels(…))`, for bars the colour alone.
        """
        declared = self.results.presentation.tables[table].column(column).levels or {}
        words = dict(zip(frame[f"{column}_id"], frame[column], strict=True))
        places = [(place % len(LEVELS), words[code]) for place, code in enumerate(declared) if code in words]
        domain = [word for _, word in places]
        legend = alt.Legend(columns=fitting(domain))
        colours = alt.Scale(domain=domain, range=[LEVELS[place] for place, _ in places])
        shapes = alt.Scale(domain=domain, range=[SHAPES[place] for place, _ in places])
        colour = alt.Color(f"{column}:N", scale=colours, legend=legend)
        return colour, alt.Shape(f"{column}:N", scale=shapes, legend=legend)


def rows_drawn(results: Results, chart: Chart) -> pd.DataFrame:
    """Return the rows that a chart draws, of the first table that it needs."""
    if chart.rows is not None:
        return chart.rows(ResultTables(results.presentation, results.analysis))
    return results.rows(results.presentation.tables[chart.needs[0]], over(chart), all_rows=True)


def over(chart: Chart) -> View:
    return chart.over or View(at=chart.at)


def _ids(frame: pd.DataFrame, column: str) -> str:
    return f"{column}_id" if f"{column}_id" in frame else column


# --- helpers of chart functions ---------------------------------------------------------------------------------------


def intervals(base: alt.Chart, at: alt.X, low: str, high: str) -> alt.LayerChart:
    """Points with their intervals, lying. Where an end is missing no interval is drawn, where the estimate is, no
    point."""
    ends = base.transform_filter(f"isValid(datum.{low}) && isValid(datum.{high})")
    points = base.transform_filter(f"isValid(datum.{at['shorthand'].removesuffix(':Q')})")
    line = ends.mark_rule(strokeWidth=2, point=False)  # else Vega-Lite draws points at the ends
    return alt.LayerChart(
        layer=[line.encode(x=along(at, low), x2=alt.X2(f"{high}:Q")), points.mark_point().encode(x=at)]
    )


def whole(field: str, low: int, high: int, title: str | None = None, *, room: float = 0.3) -> alt.X:
    """A horizontal axis of whole numbers, a tick each; every fifth where there are many."""
    ticks = range(low, high + 1) if high - low <= 20 else [low, *(n for n in range(low + 1, high + 1) if n % 5 == 0)]
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
    axis = alt.Axis(values=list(ticks), tickCount=len(ticks), format="d", title=title)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)


def along(at: alt.X, field: str) -> alt.X:
    """The same axis for another column: layers that say different things of one axis get Vega's own."""
    other: alt.X = at.copy()
    other["shorthand"] = f"{field}:Q"
    return other


def stacked(frame: pd.DataFrame, row: str, value: str, share: str) -> pd.DataFrame:
    """With `left` and `right` of every part of a bar a row, the middle at 0: half of a middle point on either side."""
    parts = frame.sort_values(value, kind="stable")
    middle = (parts[value].min() + parts[value].max()) / 2
    below = parts[share] * (parts[value].lt(middle) + parts[value].eq(middle) / 2)
    right = parts.groupby(row, sort=False)[share].cumsum() - below.groupby(parts[row], sort=False).transform("sum")
    return parts.assign(left=right - parts[share], right=right)


def step(names: Iterable[object], px: float = LABEL, *, least: int = 34, most: int = 3) -> alt.Step:
    """Height of rows in which names in so many lines do not meet."""
    return alt.Step(max(least, LINE * max((len(broken(name, px, most)) for name in names), default=1) + 6))


def by_scale(rows: pd.DataFrame, draw: Callable[[pd.DataFrame], Any], scale: str = "scale") -> alt.TopLevelMixin:
    """Draw one panel a scale, headed by it where there are several, in the order of the frame: what was answered on
    different scales is not ranked in one picture."""
    panels = {str(name): draw(part) for name, part in rows.groupby(scale, sort=False)}
    if len(panels) == 1:
        only: alt.TopLevelMixin = next(iter(panels.values()))
        return only
    headed: list[Any] = [
        panel.properties(title=alt.Title(name, anchor="start", fontSize=SIZE)) for name, panel in panels.items()
    ]
    stacked: alt.VConcatChart = alt.vconcat(*headed).resolve_scale(color="independent")
    return stacked


def by_group(data: ChartData, everybody: pd.DataFrame, groups: pd.DataFrame, px: float) -> list[pd.DataFrame]:
    """Cells of matrices with a column for all agents and one a group, in the order of the frames: as many matrices as
    the groups need, each column with `group`, `group_id`, `n` and `mean`.

    The footer says of how many agents the group is too small to be compared.
    """
    everybody = everybody.assign(group=data.tell(ALL), group_id="")
    cells = pd.concat([everybody, groups[groups["n"] > 0]])
    sizes = cells.groupby("group_id", sort=False)["n"].max()
    small = 2 * int(sizes[""]) - int(sizes.sum())
    told = N_("in brackets: agents; {n} of them are in no group of at least five, so in “all” alone")
    data.note(data.tell(told if small > 0 else N_("in brackets: agents"), n=data.count(small)))
    columns = list(sizes.index)
    most = math.ceil(len(columns) / math.ceil(len(columns) * CELL / px))
    return [cells[cells["group_id"].isin(columns[k : k + most])] for k in range(0, len(columns), most)]


def group_heads(data: ChartData, cells: pd.DataFrame, px: float) -> alt.X:
    """Columns of a matrix, a group each with its agents."""
    words = dict(zip(cells["group_id"], cells["group"], strict=True))
    sizes = {group: f"({data.count(n)})" for group, n in cells.groupby("group_id")["n"].max().items()}
    return alt.X("group_id:N", title=None, sort=list(words), axis=heads(words, px, sizes))


def heads(words: Mapping[Any, str], px: float, after: Mapping[Any, str] | None = None) -> alt.Axis:
    """Names of columns above them: in lines, or turned where they cannot be read so. after: what stands behind each."""
    behind = after or dict.fromkeys(words, "")
    lines = {key: [*broken(word, px / len(words) - 4, 3), *filter(None, [behind[key]])] for key, word in words.items()}
    angle = 0
    if any("…" in line for parts in lines.values() for line in parts):
        angle, lines = -90, {key: broken(f"{word} {behind[key]}", 230, 1) for key, word in words.items()}
    most = max(map(len, lines.values()))
    told = worded({key: [*[""] * (most - len(parts)), *parts] for key, parts in lines.items()})
    down = 6 + LINE * (most - 1)  # lines go down from there
    return alt.Axis(orient="top", labelAngle=angle, labelExpr=told, labelPadding=down)


def matrix(
    data: ChartData,
    cells: pd.DataFrame,
    y: alt.Y,
    px: float,
    low: float,
    high: float,
    title: str,
    *,
    headed: bool = True,
) -> alt.LayerChart:
    """`by_group`'s cells, each with its mean to one decimal; with a sign where the scale goes to either side of 0.

    Coloured by `shade`, where the cells have it, on a scale from low to high.
    """
    language, shown = data.results.language, cells["mean"].round(1) + 0.0
    texts = [f"{'+' if low < 0 < mean else ''}{number(mean, language, 1)}" for mean in shown]
    x = group_heads(data, cells, px)
    if not headed:
        x["axis"] = None
    base = data.chart(cells.assign(mean=shown, said=texts)).encode(x=x, y=y)
    return heat(base, "shade" if "shade" in cells else "mean", low, high, "said", title).properties(width=int(px))


def heat(base: alt.Chart, value: str, low: float, high: float, label: str, title: str) -> alt.LayerChart:
    """Cells of a matrix, orange at `low`, white between, blue at `high`, and in each its text, the column `label`."""
    domain, colours = [low + (high - low) * stop for stop, _ in DIVERGING], [colour for _, colour in DIVERGING]
    ends = [low, (low + high) / 2, high]
    legend = alt.Legend(title=title, values=ends, gradientLength=160, titleFontWeight="normal")
    colour = alt.Color(f"{value}:Q", scale=alt.Scale(domain=domain, range=colours, clamp=True), legend=legend)
    valid = base.transform_filter(f"isValid(datum.{value})")
    part = f"(datum.{value} - {low}) / {high - low}"
    dark, pale = readable_on(DIVERGING[2][1]), readable_on(DIVERGING[0][1])
    # As a channel: a condition in its place costs Altair 15 ms.
    told = alt.condition(f"{part} < {ENDS[0]} || {part} > {ENDS[1]}", alt.value(pale), alt.value(dark))
    ink = alt.ColorValue(**told)
    texts = valid.mark_text().encode(text=alt.Text(f"{label}:N"), color=ink)
    return alt.LayerChart(layer=[valid.mark_rect(stroke=PAPER).encode(color=colour), texts])


def worded(lines: Mapping[Any, Sequence[str]]) -> str:
    """A `labelExpr` that tells values in lines. What agents or models wrote is a string within it."""
    return f"({json.dumps({str(value): list(told) for value, told in lines.items()})})[datum.value]"


def beside(n: int, *, label: float = LABEL, gap: float = 20) -> int:
    """px of each of n panels beside one another, with names of rows at the first."""
    return int((WIDTH - label * WIDER - 30 - (n - 1) * gap) // n)


def fitting(words: Sequence[str], px: float = WIDTH - LABEL) -> int:
    """Columns of a legend so that it does not leave the page."""
    widest = max((len(word) for word in words), default=0) * SIZE * 0.55 + 34
    return max(1, min(len(words), int(px // widest)))


# --- pictures ---------------------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """link: a reference to answers, "" for none."""

    told: str
    link: str


@dataclass(frozen=True, eq=False)
class Picture:
    """One chart of a run's results, drawn when it is looked at; what was drawn is kept with it."""

    name: str  # "delphi/convergence"
    title: str  # says what is shown
    alt: str  # one sentence with the main numbers, for those who hear the picture
    at: Place
    footer: str
    draw: Callable[[Picture], Spec]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Picture:
        """As `as_json` wrote it. Raises KeyError or TypeError for anything else."""
        spec = dict(told["spec"])
        return cls(told["name"], told["title"], told["alt"], told["at"], told["footer"], lambda _: spec)

    def as_json(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("name", "title", "alt", "at", "footer")}
        return {**told, "spec": self.spec}

    @property
    def stem(self) -> str:
        """Of its file, and of its place in a page: delphi-convergence."""
        return self.name.replace("/", "-")

    @cached_property
    def spec(self) -> Spec:
        """Vega-Lite with its data, theme and the language's number formats."""
        return self.draw(self)

    def chart(self) -> Drawn:
        """For a notebook."""
        return alt.Chart.from_dict(self.spec)

    def svg(self, href: Href | None = None) -> str:
        """A file of its own, on white and without links; with `href` part of a page, which sets the colours."""
        drawn = self._rendered
        title, text = html.escape(self.title, quote=False), html.escape(self.alt, quote=False)
        titled = f"<title>{title}</title><desc>{text}</desc>"
        if href is None:
            return _A.sub(r"\2", drawn.replace(">", f' role="img" overflow="visible">{titled}', 1))
        drawn = _A.sub(partial(_linked, href), _BACKGROUND.sub(r"\1", drawn, count=1))
        return _COLOUR.sub(_property, drawn).replace(">", f' role="group" overflow="visible">{titled}', 1)

    def _with_ids(self, drawn: str) -> str:
        """Two pictures in one page must not share ids; Vega counts on through all that a process draws."""
        ids = dict.fromkeys(match[2] for match in _ID.finditer(drawn))
        known = {name: str(n) for n, name in enumerate(ids, start=1)}
        return _ID.sub(lambda match: f"{match[1]}{self.stem}-{known[match[2]]}", drawn)

    @cached_property
    def _rendered(self) -> str:
        """As Vega draws it and we want it: see `_tidied`. vl-convert: no browser, no network."""
        drawn = self._with_ids(_tidied(vl_convert.vegalite_to_svg(json.dumps(self.spec), allowed_base_urls=[])))
        if _SIZE.search(drawn) is None:  # "Infinity": a legend or an axis of nothing
            raise ValueError(f"{self.name} has no size")
        return drawn

    def marks(self) -> Iterator[Mark]:
        """What each mark says and the answers behind it, for those who do not see or point."""
        rows = (row for rows in self.spec["datasets"].values() for row in rows if row.get("told"))
        yield from dict.fromkeys(Mark(row["told"], (row.get("link") or "").removeprefix("#")) for row in rows)

    @property
    def size(self) -> tuple[float, float]:
        """px across and down."""
        match = _SIZE.search(self._rendered)
        assert match is not None
        return float(match[1]), float(match[2])

    def png(self, scale: float = SCALE) -> bytes:
        return bytes(vl_convert.svg_to_png(self.svg(), scale=scale))

    def save(self, path: Path | str) -> Path:
        """By the name's ending: .svg, .png or .pdf. Raises InputError for another."""
        path = Path(path)
        if path.suffix == ".svg":
            write_atomically(path, self.svg())
        elif path.suffix in (".png", ".pdf"):
            path.write_bytes(self.png() if path.suffix == ".png" else vl_convert.svg_to_pdf(self.svg()))
        else:
            ending = path.suffix or "without an ending"
            raise InputError(f"{path}: a figure is saved as .svg, .png or .pdf, not {ending}")
        return path


def drawn(results: Results, *, footer: str, file: Callable[[str, Exception], None] | None = None) -> list[Picture]:
    """A methodology's pictures, without those whose tables have no rows.

    footer: who answered, n / N, and that respondents are simulated; a text in the language. file: takes the name and
    the bug of a chart that fails, whose picture is left out; to know it, all are drawn at once. Without it bugs are
    raised, when they are met.
    """
    pictures = []
    for chart in results.presentation.charts:
        name = f"{results.methodology}/{chart.name}"
        try:
            picture = _picture(results, chart, name, footer)
            if picture is not None:
                if file is not None:
                    _ = picture.size
                pictures.append(picture)
        except Exception as error:
            if file is None:
                raise
            file(name, error)
    return pictures


def chosen(name: str, pictures: Sequence[Picture]) -> Picture:
    """By "methodology/name", or the first of a methodology. Raises InputError that names what there is."""
    for each in pictures:
        if name in (each.name, each.name.partition("/")[0]):
            return each
    names = ", ".join(each.name for each in pictures) or "none yet"
    raise InputError(f"figure {name!r}: there is none; there are {names}")


def written(folder: Path, pictures: Sequence[Picture], kind: FigureFormat = "svg") -> list[Path]:
    """figures/<methodology>-<name>.<kind> of all; earlier ones that are no longer drawn are taken away."""
    into = folder / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    files = [each.save(into / f"{each.stem}.{kind}") for each in pictures]
    for stale in set(into.glob(f"*.{kind}")) - set(files):
        stale.unlink()
    return files


def _picture(results: Results, chart: Chart, name: str, footer: str) -> Picture | None:
    tables = results.analysis.tables
    first = results.presentation.tables[chart.needs[0]]
    chosen = rows_drawn(results, chart)
    if chosen.empty or any(tables[name].empty for name in chart.needs):
        return None
    row = {**results.facts, **next(iter(rows_of(chosen.head(1))))}
    known = {**results.presentation.facts, **{column.name: column for column in first.columns}}
    title, sentence = (results.fill(text, row, known, markdown=False) for text in (chart.title, chart.alt))
    return Picture(name, title, sentence, chart.at, footer, partial(_spec, results, chart))


def _spec(results: Results, chart: Chart, picture: Picture) -> Spec:
    data = ChartData(results, chart)
    with alt.theme.enable("none"), debug_mode(False):  # not the notebook's; Vega says what is wrong, at no cost
        spec: Spec = _function(chart)(data).to_dict(validate=False)
    composed = spec.keys() & {"facet", "hconcat", "vconcat", "concat", "repeat"}
    if not composed:
        spec |= {"width": spec.get("width", WIDTH), "autosize": {"type": "fit-x", "contains": "padding"}}
    subtitle = broken(" · ".join([picture.footer, *data.notes]), WIDTH - 10, 4, SIZE)
    spec |= {
        "title": {"text": broken(picture.title, WIDTH - 10, 2, 17), "subtitle": subtitle},
        "description": picture.alt,
        "config": {**THEME, **spec.get("config", {}), "locale": {"number": number_format(results.language)}},
    }
    read = set(re.findall(r"\w+", json.dumps(spec)))
    # Without columns that no encoding reads: what agents wrote is not carried along in a picture.
    return {**spec, "datasets": {name: rows_of(frame, read) for name, frame in data.frames.items()}}


def _function(chart: Chart) -> Callable[[ChartData], alt.TopLevelMixin]:
    if not isinstance(chart.draw, str):
        return chart.draw
    module, _, name = chart.draw.partition(":")
    function: Callable[[ChartData], alt.TopLevelMixin] = getattr(importlib.import_module(module), name)
    return function


def number_format(language: str) -> Mapping[str, Any]:
    """As d3 takes it."""
    marks, grouped = separators(language), {"grouping": [3], "currency": ["", ""]}
    return {"decimal": marks[0], "thousands": marks[1], "percent": percent("", language), **grouped}


# --- SVG as Vega writes it --------------------------------------------------------------------------------------------

_A = re.compile(r'<a xlink:href="([^"]*)">(.*?)</a>', re.DOTALL)
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_ID = re.compile(r'(\bid="|url\(#)([^")]+)')
_COLOUR = re.compile(rf'\b(fill|stroke)="({"|".join(PROPERTIES)})"', re.IGNORECASE)
_BACKGROUND = re.compile(r"(<svg[^>]*>)<rect[^>]*/>")
_MARK = re.compile(r'<(path|line|rect|image|text)( aria-label="([^"]*)")([^<>]*?)(/>|>(.*?)</\1>)', re.DOTALL)
_NOTHING = re.compile(
    r'<path class="foreground"[^>]*/>|<path class="background"[^>]* d="M0,0h0v0h0Z"[^>]*/>'
    r'| aria-roledescription="[^"]*"| role="graphics-\w+"'
    r'| pointer-events="none"| opacity="1"| class="[^"]*"',
)
_LONG = re.compile(r'( (?:d|transform|x|y|x2|y2|dy|width|height)=")([^"]*)')
_DECIMALS = re.compile(r"(\.\d\d)\d+")


def _tidied(drawn: str) -> str:
    """Without Vega's empty marks and roles in English; a mark's text where browsers show it, coordinates to a hundredth
    of a px."""
    drawn = re.sub(
        r'<g[^>]* aria-label="[^"]*"[^>]*>', lambda match: re.sub(r' aria-label="[^"]*"', "", match[0]), drawn
    )
    drawn = _MARK.sub(_titled, _NOTHING.sub("", drawn))
    return _LONG.sub(lambda match: match[1] + _DECIMALS.sub(r"\1", match[2]), drawn)


def _titled(match: re.Match[str]) -> str:
    name, _, told, rest, _, inside = match.groups()
    return f"<{name}{rest}><title>{told}</title>{inside or ''}</{name}>"


def _linked(href: Href, match: re.Match[str]) -> str:
    _, _, reference = html.unescape(match[1]).partition("#")
    to = href(reference) if reference else None
    return f'<a href="{html.escape(to)}">{match[2]}</a>' if to else match[2]


def _property(match: re.Match[str]) -> str:
    return f'{match[1]}="var({PROPERTIES[match[2].lower()]}, {match[2]})"'
