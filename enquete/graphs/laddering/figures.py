"""The laddering figures: what the ontology is summed up by, the value map, and how many concepts each further interview brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from enquete.graphs.laddering import patterns
from enquete.graphs.laddering.map_figure import value_map
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, titled
from enquete.reports.figures.palette import COLOURS, GRID, PALE
from enquete.state.asking import Language

SATURATION = 220  # px
POINTS = 80  # interviews that have a dot each

WORDS = {
    "map": N_("Laddering: hierarchical value map, from {low} to {high}"),
    "links": N_("Laddering: concepts and how they hang together"),
    "cut_off": N_("links that at least {n} agents gave"),
    "link": N_("“{source}” {relation} “{target}”: {n} agents"),
    "map_alt": N_("Map of {concepts} concepts and {links} links; strongest: {links_said}."),
    "saturation": N_("Laddering: distinct concepts after each interview"),
    "interviews": N_("interviews, in the order of the population"),
    "concepts": N_("distinct concepts so far"),
    "new": N_("new in this interview"),
    "saturation_hover": N_("interview {n}: {new} new, {concepts} so far"),
    "saturation_alt": N_("{concepts} distinct concepts after {n} interviews; the last quarter of them brought {new}."),
    "interviewed": N_("{n} of {total} agents interviewed"),
}  # fmt: skip


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    yield from patterns.figures(found, asked(found, words, language), language)
    cut = words["cut_off"].format(n=at(found, "value_map", "cut_off"))
    yield from value_map(found, asked(found, words, language, cut), words, language)
    yield from saturation(found, words, language)


def asked(found: Found, words: Mapping[str, str], language: Language, *more: str) -> str:
    """Agents interviewed, and answers where some are missing."""
    begun, answered = at(found, "interviews") or {}, at(found, "answers") or {}
    agents = words["interviewed"].format(n=begun.get("begun", 0), total=begun.get("total", 0))
    some = counted(answered, language) if answered.get("n_responded") != answered.get("n_total") else ""
    return note(language, agents, some, *more)


# --- saturation ------------------------------------------------------------------------------------------------------


def saturation(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """The number of distinct concepts as it grows, over what each interview added."""
    curve = listed(found, "saturation")
    if len(curve) < 2 or not curve[-1]["concepts"]:
        return
    canvas = Canvas(words["saturation"], asked(found, words, language), language, SATURATION)
    order = [int(one["interviews"]) for one in curve]
    said = [
        words["saturation_hover"].format(n=one["interviews"], new=one["new"], concepts=one["concepts"]) for one in curve
    ]
    people = [str(one["participant"]) for one in listed(found, "agents")]
    links = [answers("laddering", participant=who) for who in people] if len(people) == len(curve) else []
    shown = {"x": order, "hoverinfo": "text", "hovertext": said, "meta": {"links": links}}
    canvas.data.extend([
        {"type": "scatter", "mode": "lines+markers" if len(curve) <= POINTS else "lines", "y": [one["concepts"] for one in curve],
         "line": {"color": COLOURS[0], "width": 2}, "marker": {"color": COLOURS[0], "size": 5}, "name": words["concepts"], **shown},
        {"type": "bar", "y": [one["new"] for one in curve], "width": [0.8] * len(curve), "marker": {"color": PALE[COLOURS[1]]},
         "name": words["new"], **shown},
    ])  # fmt: skip
    canvas.layout.update(
        xaxis=titled(words["interviews"], range=[0, order[-1] + 1], showgrid=False),
        yaxis={"range": [0, curve[-1]["concepts"] * 1.05], "gridcolor": GRID},
    )
    late = sum(int(one["new"]) for one in curve[len(curve) - len(curve) // 4 :])
    alt = words["saturation_alt"].format(concepts=curve[-1]["concepts"], n=order[-1], new=late)
    yield canvas.figure("saturation", alt)
