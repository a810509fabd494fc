"""The scenario figures: which futures are wished for and which expected; how they are rated, by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed, type_name
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, of, titled, told
from enquete.reports.figures.frame import WIDTH
from enquete.reports.figures.heat import LABEL, ROW, Cell, by_group, heat, kept
from enquete.reports.figures.labels import Box, sides
from enquete.reports.figures.palette import COLOURS, DIVERGING, MUTED, PAPER
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import number
from enquete.state.asking import Language

CLOSE = 24  # px of a row where there are many
PLOT, EDGE = 440, 1.05  # px; a little more than the ends of wish and expectation

CORNERS = (
    ("wished_expected", 1, 1, "right", "top"),
    ("wished_unexpected", -1, 1, "left", "top"),
    ("feared_expected", 1, -1, "right", "bottom"),
    ("feared_unexpected", -1, -1, "left", "bottom"),
)

WORDS = {
    "quadrants": N_("Scenarios: wished for and expected"),
    "wish": N_("wish (−1 to 1)"),
    "expect": N_("expectation (−1 to 1)"),
    "small_dots": N_("small dots: groups of at least 5 agents"),
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "hover": N_("{name}: wish {wish}, expectation {expectation} ({n})"),
    "place": N_("{name} {wish}/{expectation}"),
    "quadrants_alt": N_("Mean wish/expectation of {n} scenarios, from −1 to 1: {places}."),
    "by_group": N_("Scenarios: mean ratings by group"),
    "ratings": N_("Scenarios: mean ratings"),
    "ratings_alt": N_("Mean ratings over all agents, {dimension}: {means}."),
    "small": N_("without groups below 5 agents"),
    "everybody": N_("all"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    labels = {str(one.get("scenario")): str(one.get("label")) for one in listed(found, "scenarios")}
    yield from quadrants(found, labels, words, language)
    yield from Ratings(found, words, language).heatmap()


# --- wish and expectation --------------------------------------------------------------------------------------------


def quadrants(
    found: Found, labels: Mapping[str, str], words: Mapping[str, str], language: Language
) -> Iterator[Figure]:
    """Wish against expectation, both centred and scaled to −1…1: a large dot a scenario, small ones its groups."""
    placed = [one for one in listed(found, "polarity", "scenarios") if _is_placed(one)]
    if not placed:
        return
    names = [escaped(labels.get(str(one["scenario"]), one["scenario"])) for one in placed]
    by_group = [
        [each for each in listed(one, "by_type") if _is_placed(each) and int(each["n_responded"]) >= FEWEST]
        for one in placed
    ]
    small = [_px(each) for own in by_group for each in own]
    spots = sides([_px(one) for one in placed], names, Box(0, 0, WIDTH - 80, PLOT), others=small, radius=9, size=13)
    asked = note(language, counted(at(found, "asked"), language), words["small_dots"] if any(by_group) else "")
    canvas = Canvas(words["quadrants"], asked, language, PLOT)
    wished = at(found, "polarity", "desirability")
    for place, (one, own, name, spot) in enumerate(zip(placed, by_group, names, spots, strict=True)):
        colour, item = COLOURS[place % len(COLOURS)], f"{one['scenario']}/{wished}"
        told_of = [f"{name}, {escaped(type_name(found, each['stakeholder_type']))}" for each in own]
        canvas.data.append(
            _dots(own, told_of, item, words, language) | {"marker": {"size": 7, "color": colour, "opacity": 0.45}}
        )
        canvas.data.append(_dots([one], [name], item, words, language) | {
            "mode": "markers+text", "text": [f"<b>{name}</b>"], "textposition": spot, "textfont": {"size": 13, "color": colour},
            "marker": {"size": 18, "color": colour, "line": {"color": PAPER, "width": 1.5}},
        })  # fmt: skip
    canvas.layout.update(
        showlegend=False,
        xaxis=titled(words["expect"], range=[-EDGE, EDGE], dtick=0.5, zeroline=True),
        yaxis=titled(words["wish"], range=[-EDGE, EDGE], dtick=0.5, zeroline=True),
        annotations=[
            told(words[key], x, y, xanchor=side, yanchor=end, font={"color": MUTED, "size": 11})
            for key, x, y, side, end in CORNERS
        ],
    )
    values = [{key: number(one[key], language) for key in ("wish", "expectation")} for one in placed]
    places = "; ".join(words["place"].format(name=name, **value) for name, value in zip(names, values, strict=True))
    yield canvas.figure("quadrants", words["quadrants_alt"].format(n=len(placed), places=places), lead=True)


def _is_placed(one: Mapping[str, Any]) -> bool:
    return figure(one, "wish") is not None and figure(one, "expectation") is not None


def _px(one: Mapping[str, Any]) -> tuple[float, float]:
    """About where a scenario stands in the plot."""
    across, down = (float(one["expectation"]) + EDGE) / (2 * EDGE), (EDGE - float(one["wish"])) / (2 * EDGE)
    return across * (WIDTH - 80), down * PLOT


def _dots(
    own: list[Mapping[str, Any]], names: list[str], item: str, words: Mapping[str, str], language: Language
) -> dict[str, Any]:
    hover = [
        words["hover"].format(
            name=name,
            wish=number(one["wish"], language),
            expectation=number(one["expectation"], language),
            n=of(one, language),
        )
        for name, one in zip(names, own, strict=True)
    ]
    groups = [{"stakeholder_type": one["stakeholder_type"]} if "stakeholder_type" in one else {} for one in own]
    return {
        "type": "scatter", "mode": "markers", "x": [one["expectation"] for one in own], "y": [one["wish"] for one in own],
        "hoverinfo": "text", "hovertext": hover, "meta": {"links": [answers("scenario", item_id=item, **group) for group in groups]},
    }  # fmt: skip


# --- ratings ---------------------------------------------------------------------------------------------------------


class Ratings:
    """Mean ratings by scenario and dimension, each shaded between the ends of its own scale."""

    def __init__(self, found: Found, words: Mapping[str, str], language: Language) -> None:
        self.found, self.words, self.language = found, words, language
        self.labels = {str(one["scenario"]): str(one["label"]) for one in listed(found, "scenarios")}
        self.rated = {
            (str(one["scenario"]), str(one["dimension"])): one
            for one in listed(found, "ratings")
            if figure(one, "mean") is not None
        }
        self.dimensions = [
            one for one in listed(found, "dimensions") if any(d == one["dimension"] for _, d in self.rated)
        ]
        self.n = max((int(one["n_total"]) for one in self.rated.values()), default=0)
        of_any = next(iter(self.rated.values()), None)
        sizes = [(str(one["stakeholder_type"]), int(one["n_total"])) for one in listed(of_any, "by_type")]
        self.groups = kept(sizes)
        self.small = self.words["small"] if len(self.groups) < len(sizes) else ""

    def heatmap(self) -> Iterator[Figure]:
        """By group where at least two are large enough, a block of rows a dimension; else scenarios by dimensions."""
        if not self.rated:
            return
        is_grouped = len(self.groups) > 1
        trace, layout = self._by_group() if is_grouped else self._by_dimension()
        asked = note(self.language, counted(at(self.found, "asked"), self.language), self.small if is_grouped else "")
        title = self.words["by_group" if is_grouped else "ratings"]
        canvas = Canvas(
            title,
            asked,
            self.language,
            plot=(CLOSE if is_grouped else ROW) * len(trace["y"]),
            data=[trace],
            layout=layout,
        )
        yield canvas.figure("groups", self._alt())

    def _by_group(self) -> tuple[dict[str, Any], dict[str, Any]]:
        labels: list[str] = []
        cells: list[list[Cell]] = []
        named = [(type_name(self.found, name), n) for name, n in self.groups]
        columns = [(self.words["everybody"], self.n), *named]
        for dimension in self.dimensions:
            labels.append(bold(wrapped(self._heading(dimension), LABEL, 1)))
            cells.append([Cell(None)] * len(columns))
            for scenario, label in self.labels.items():
                one = self.rated.get((scenario, str(dimension["dimension"])))
                own = {str(each["stakeholder_type"]): each for each in listed(one, "by_type")}
                labels.append(wrapped(label, LABEL, 1))
                cells.append(
                    [
                        self._cell(dimension, one, one),
                        *(self._cell(dimension, one, own.get(name)) for name, _ in self.groups),
                    ]
                )
        return by_group(labels, columns, cells, DIVERGING, (0.0, 1.0))

    def _by_dimension(self) -> tuple[dict[str, Any], dict[str, Any]]:
        wide = (WIDTH - LABEL) / len(self.dimensions)
        names = [wrapped(self._heading(one), wide, 3) for one in self.dimensions]
        rows = [
            [self.rated.get((scenario, str(one["dimension"]))) for one in self.dimensions] for scenario in self.labels
        ]
        cells = [[self._cell(of, one, one) for of, one in zip(self.dimensions, row, strict=True)] for row in rows]
        return heat([wrapped(label, LABEL, 1) for label in self.labels.values()], names, cells, DIVERGING, (0.0, 1.0))

    def _heading(self, dimension: Mapping[str, Any]) -> str:
        return f"{dimension['label']} ({dimension['scale_min']}–{dimension['scale_max']})"

    def _cell(
        self, dimension: Mapping[str, Any], rated: Mapping[str, Any] | None, own: Mapping[str, Any] | None
    ) -> Cell:
        """own: of a group, or the same as `rated`, which is of all."""
        mean = figure(own, "mean")
        if rated is None or own is None or mean is None:
            return Cell(None)
        group = str(own.get("stakeholder_type") or "")
        who, low = type_name(self.found, group) if group else self.words["everybody"], float(dimension["scale_min"])
        said = f"{escaped(who)}, {escaped(self.labels[str(rated['scenario'])])}: {number(mean, self.language)}, {of(own, self.language)}"
        link = answers("scenario", item_id=rated["item"], **({"stakeholder_type": group} if group else {}))
        shade = (mean - low) / (float(dimension["scale_max"]) - low)
        return Cell(shade, number(mean, self.language, 1), said, link, int(own["n_responded"]))

    def _alt(self) -> str:
        """Means of the first dimension."""
        first = self.dimensions[0]
        means = [
            f"{label} {number(one['mean'], self.language)}"
            for scenario, label in self.labels.items()
            if (one := self.rated.get((scenario, str(first["dimension"]))))
        ]
        return self.words["ratings_alt"].format(dimension=self._heading(first), means="; ".join(means))
