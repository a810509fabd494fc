"""The laddering figures: the value map, concepts on the levels of the ladder and the links that enough agents gave; and how
many concepts each further interview brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import Any

from enquete.graphs.laddering import patterns
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, titled, told
from enquete.reports.figures.frame import EDGE, WIDTH
from enquete.reports.figures.palette import COLOURS, GRID, INK, MUTED, PALE, PAPER
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.state.asking import Language

ROW, BOX, HEAD = 56, 46, 0.4  # px: a concept's row, its box; rows for the names of the levels
WIDE = 0.72  # of a level's column that its boxes take
TEXT, THIN, THICK = 10, 1.0, 5.0  # px: of text in a box, of the weakest and the strongest link
NARROW = 120  # px: boxes below have smaller text on more lines
PARTS, APART = (
    (0.35, 0.5, 0.65, 0.2, 0.8),
    18.0,
)  # of a link, where its number may stand; px that numbers should be apart
SATURATION = 220  # px
POINTS = 80  # interviews that have a dot each

WORDS = {
    "map": N_("Laddering: hierarchical value map, from {low} to {high}"),
    "links": N_("Laddering: concepts and how they hang together"),
    "cut_off": N_("links that at least {n} agents gave"),
    "link": N_("{source} → {target}: {n} agents"),
    "map_alt": N_("Map of {concepts} concepts and {links} links; strongest: {links_said}."),
    "saturation": N_("Laddering: distinct concepts after each interview"),
    "interviews": N_("interviews, in the order of the population"),
    "concepts": N_("distinct concepts so far"),
    "new": N_("new in this interview"),
    "saturation_hover": N_("interview {n}: {new} new, {concepts} so far"),
    "saturation_alt": N_("{concepts} distinct concepts after {n} interviews; the last quarter of them brought {new}."),
    "interviewed": N_("{n} of {total} agents interviewed"),
}  # fmt: skip

Box = Mapping[str, Any]
Places = Mapping[str, tuple[float, float]]


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    yield from patterns.figures(found, asked(found, words, language), language)
    yield from value_map(found, words, language)
    yield from saturation(found, words, language)


def asked(found: Found, words: Mapping[str, str], language: Language, *more: str) -> str:
    """Agents interviewed, and answers where some are missing."""
    begun, answered = at(found, "interviews") or {}, at(found, "answers") or {}
    agents = words["interviewed"].format(n=begun.get("begun", 0), total=begun.get("total", 0))
    some = counted(answered, language) if answered.get("n_responded") != answered.get("n_total") else ""
    return note(language, agents, some, *more)


# --- the map ---------------------------------------------------------------------------------------------------------


def value_map(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Levels from left to right; a box a concept with its agents, a line a link, wider by agents, with their number on it."""
    boxes = {str(box["id"]): box for box in listed(found, "value_map", "boxes")}
    links = [one for one in listed(found, "value_map", "links") if {one["source"], one["target"]} <= set(boxes)]
    levels = [str(name) for name in at(found, "value_map", "levels") or []]
    if not links:
        return
    sizes = [sum(box["level"] == level for box in boxes.values()) for level in range(len(levels))]
    places = {
        name: (float(box["level"]), float(box["place"]) - (sizes[box["level"]] - 1) / 2) for name, box in boxes.items()
    }
    half = max(sizes) / 2
    cut = words["cut_off"].format(n=at(found, "value_map", "cut_off"))
    climbs = bool(at(found, "ladder"))
    title = words["map" if climbs else "links"].format(low=escaped(levels[0]), high=escaped(levels[-1]))
    canvas = Canvas(title, asked(found, words, language, cut), language, plot=ROW * (2 * half + HEAD))
    strongest = max(int(one["direct"]) for one in links)
    canvas.data.extend(line(one, places, strongest) for one in links)
    canvas.data.append(
        _numbers(links, places, [_told(one, boxes, words) for one in links], (WIDTH - 2 * EDGE) / len(levels))
        | {"meta": {"links": _answers(links, found)}}
    )
    wide = (WIDTH - 2 * EDGE) / len(levels) * WIDE
    canvas.layout.update(
        showlegend=False,
        xaxis={"visible": False, "range": [-WIDE / 2 - 0.01, len(levels) - 1 + WIDE / 2 + 0.01]},
        yaxis={"visible": False, "range": [half, -half - HEAD]},
        shapes=[box(*places[name]) for name in boxes],
        annotations=[
            *(
                told(bold(wrapped(name, wide)), level, -half - HEAD / 2, font={"size": 11})
                for level, name in enumerate(levels)
            ),
            *(_text(one, *places[name], wide) for name, one in boxes.items()),
        ],
    )
    named = sorted(links, key=lambda one: -int(one["direct"]))[:3]
    said = "; ".join(_told(one, boxes, words) for one in named)
    alt = words["map_alt"].format(concepts=len(boxes), links=len(links), links_said=said)
    yield canvas.figure("value_map", alt, lead=climbs and len(boxes) <= 12)


def _answers(links: Sequence[Mapping[str, Any]], found: Found) -> list[str]:
    """To the interviews of the agents who named both ends of a link."""
    named = {str(one["id"]): {str(unit) for unit, _ in one.get("members", ())} for one in listed(found, "concepts")}
    both = [sorted(named.get(str(one["source"]), set()) & named.get(str(one["target"]), set())) for one in links]
    return [answers("laddering", participant=",".join(people)) if people else "" for people in both]


def _ends(one: Mapping[str, Any], places: Places) -> list[tuple[float, float]]:
    """From edge to edge of the boxes; within a level around their right side."""
    (x1, y1), (x2, y2) = places[str(one["source"])], places[str(one["target"])]
    if x1 == x2:
        out = x1 + WIDE / 2
        return [(out, y1), (out + 0.06, y1), (out + 0.06, y2), (out, y2)]
    side = WIDE / 2 if x2 > x1 else -WIDE / 2
    return [(x1 + side, y1), (x2 - side, y2)]


def line(one: Mapping[str, Any], places: Places, strongest: int) -> dict[str, Any]:
    ends, width = _ends(one, places), THIN + (THICK - THIN) * int(one["direct"]) / strongest
    return {
        "type": "scatter", "mode": "lines", "x": [x for x, _ in ends], "y": [y for _, y in ends], "showlegend": False,
        "line": {"color": PALE[MUTED], "width": round(width, 1)}, "hoverinfo": "skip",
    }  # fmt: skip


def _numbers(links: Sequence[Mapping[str, Any]], places: Places, said: list[str], wide: float) -> dict[str, Any]:
    """How many agents gave each link, on its line, as far from other numbers as may be. wide: px of a level's column."""
    taken: list[tuple[float, float]] = []
    for one in links:
        ends = _ends(one, places)
        (x1, y1), (x2, y2) = ends[len(ends) // 2 - 1], ends[len(ends) // 2]
        along = [(x1 + part * (x2 - x1), y1 + part * (y2 - y1)) for part in PARTS]
        free = [min((hypot((x - a) * wide, (y - b) * ROW) for a, b in taken), default=APART) for x, y in along]
        taken.append(max(zip(along, free, strict=True), key=lambda each: min(each[1], APART))[0])
    return {
        "type": "scatter", "mode": "markers+text", "x": [x for x, _ in taken], "y": [y for _, y in taken], "showlegend": False,
        "marker": {"size": 13, "color": PAPER}, "text": [str(one["direct"]) for one in links], "textposition": "middle center",
        "textfont": {"size": 9, "color": MUTED}, "hoverinfo": "text", "hovertext": said,
    }  # fmt: skip


def _told(one: Mapping[str, Any], boxes: Mapping[str, Box], words: Mapping[str, str]) -> str:
    source, target = (escaped(boxes[str(one[end])]["label"]) for end in ("source", "target"))
    return words["link"].format(source=source, target=target, n=one["direct"])


def box(x: float, y: float) -> dict[str, Any]:
    half, tall, look = WIDE / 2, BOX / ROW / 2, {"fillcolor": PAPER, "line": {"color": COLOURS[0]}}
    return {"type": "rect", "x0": x - half, "x1": x + half, "y0": y - tall, "y1": y + tall, **look}


def _text(box: Box, x: float, y: float, wide: float) -> dict[str, Any]:
    size, most = (TEXT, 2) if wide >= NARROW else (TEXT - 1, 3)
    label = wrapped(box["label"], wide - 8, most, size)
    return told(f"{label}<br>n = {box['agents']}", x, y, font={"size": size, "color": INK})


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
