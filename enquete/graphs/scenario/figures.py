"""The scenario figures: which futures are wished for and which expected; how desirable each is to each group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, of, titled, told
from enquete.reports.figures.frame import WIDTH
from enquete.reports.figures.heat import ROW, Cell, heat, kept
from enquete.reports.figures.labels import Box, sides
from enquete.reports.figures.palette import COLOURS, DIVERGING, MUTED, PAPER
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import number, readable
from enquete.state.asking import Language

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
    "groups": N_("Scenarios: {dimension} by group, mean from {low} to {high}"),
    "groups_alt": N_("Means of {n} scenarios in {groups} groups; over all agents: {means}."),
    "small": N_("groups below 5 agents left open"),
    "everybody": N_("all"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    labels = {str(one.get("scenario")): str(one.get("label")) for one in listed(found, "scenarios")}
    yield from quadrants(found, labels, words, language)
    yield from groups(found, labels, words, language)


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
        told_of = [f"{name}, {escaped(readable(each['stakeholder_type']))}" for each in own]
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


# --- by group --------------------------------------------------------------------------------------------------------


def groups(found: Found, labels: Mapping[str, str], words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Means of how desirable the scenarios are, all agents first. Drawn where at least two groups are large enough."""
    dimensions = {str(one["dimension"]): one for one in listed(found, "dimensions")}
    wish = at(found, "polarity", "desirability") or next(iter(dimensions), None)
    rated = [one for one in listed(found, "ratings") if one["dimension"] == wish and figure(one, "mean") is not None]
    if not rated or wish not in dimensions:
        return
    sizes = {str(one["stakeholder_type"]): int(one["n_total"]) for one in listed(rated[0], "by_type")}
    shown = kept(list(sizes.items()))
    if sum(n >= FEWEST for _, n in shown) < 2:
        return
    by_group = [{str(each["stakeholder_type"]): each for each in listed(one, "by_type")} for one in rated]
    cells = [
        [
            _cell(one, one, words["everybody"], language),
            *(_cell(own.get(name), one, name, language) for name, _ in shown),
        ]
        for one, own in zip(rated, by_group, strict=True)
    ]
    columns = [(words["everybody"], int(rated[0]["n_total"])), *shown]
    low, high = dimensions[wish]["scale_min"], dimensions[wish]["scale_max"]
    names = [labels.get(str(one["scenario"]), str(one["scenario"])) for one in rated]
    trace, layout = heat(names, columns, cells, DIVERGING, (low, high))
    title = words["groups"].format(dimension=dimensions[wish]["label"], low=low, high=high)
    small = words["small"] if any(n < FEWEST for _, n in shown) else ""
    asked = note(language, counted(at(found, "asked"), language), small)
    canvas = Canvas(title, asked, language, plot=1.2 * ROW * len(rated), data=[trace], layout=layout)
    means = "; ".join(f"{name} {number(one['mean'], language)}" for name, one in zip(names, rated, strict=True))
    alt = words["groups_alt"].format(n=len(rated), groups=sum(n >= FEWEST for _, n in shown), means=means)
    yield canvas.figure("groups", alt)


def _cell(own: Mapping[str, Any] | None, rated: Mapping[str, Any], group: str, language: Language) -> Cell:
    value = figure(own, "mean")
    if own is None or value is None:
        return Cell(None)
    told_of = f"{wrapped(readable(group), 300, 1)}: {number(value, language)}, {of(own, language)}"
    where = {"stakeholder_type": group} if own is not rated else {}
    return Cell(
        value,
        number(value, language, 1),
        told_of,
        answers("scenario", item_id=rated["item"], **where),
        int(own["n_responded"]),
    )
