"""The map as a figure: a box a concept on the level of its kind, a line a link that enough agents gave, with its agents and what
it says. No line runs behind a box: one over several levels takes the nearest gap between the boxes of each.

Measured by: no point of a line lies within a box (tests/graphs/laddering/test_laddering_figures.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import hypot
from typing import Any

from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, told
from enquete.reports.figures.frame import EDGE, WIDTH
from enquete.reports.figures.palette import COLOURS, INK, MUTED, PALE, PAPER
from enquete.reports.figures.text import bold, escaped, height, width, wrapped
from enquete.state.asking import Language

HEAD = 0.4  # rows for the names of the levels
WIDE = 0.72  # of a level's column that its boxes take
TEXT, THIN, THICK = 10, 1.0, 5.0  # px: of text in a box, of the weakest and the strongest link
NARROW = 120  # px: boxes below have smaller text on more lines
BORDER, GAP, LANE = 12, 10, 6  # px: around a box's text, between boxes, and of each line that passes there
PARTS = (0.5, 0.35, 0.65)  # of a line, where its number may stand
APART = 18.0  # px that numbers should be apart
LETTERS = "abcdefghijklmnopqrstuvwxyz"

Box = Mapping[str, Any]
Point = tuple[float, float]


class Plan:
    """Where everything stands: x in levels, y in rows, the middle of each level at 0. A link has source, target, direct (agents) and
    relation (edge type)."""

    def __init__(self, boxes: Mapping[str, Box], links: Sequence[Mapping[str, Any]], levels: Sequence[str]) -> None:
        self.boxes, self.links, self.levels = boxes, links, levels
        self.sizes: list[int] = [sum(box["level"] == level for box in boxes.values()) for level in range(len(levels))]
        self.column = (WIDTH - 2 * EDGE) / len(levels)
        self.places: dict[str, Point] = {
            name: (float(box["level"]), float(box["place"]) - (self.sizes[box["level"]] - 1) / 2) for name, box in boxes.items()
        }  # fmt: skip
        self.gaps = [list(self._gaps(one)) for one in links]
        self.lanes = Counter(gap for gaps in self.gaps for gap in gaps)
        self.size = TEXT if self.column * WIDE >= NARROW else TEXT - 1
        self.texts = {name: self._text(box) for name, box in boxes.items()}
        self.tall = max(height(text, self.size) for text in self.texts.values()) + BORDER
        self.row = self.tall + max(GAP, LANE * (max(self.lanes.values(), default=0) + 1))

    @property
    def _half(self) -> float:
        return max(self.sizes) / 2 + 0.1

    @property
    def px(self) -> float:
        """Height of the plot."""
        return self.row * (2 * self._half + HEAD)

    def layout(self, legend: bool) -> dict[str, Any]:
        """Boxes and the names of the levels, without what stands in the boxes."""
        top, wide = -self._half - HEAD, self.column * WIDE
        return {
            "showlegend": legend,
            "xaxis": {"visible": False, "range": [-WIDE / 2 - 0.01, len(self.levels) - 1 + WIDE / 2 + 0.01]},
            "yaxis": {"visible": False, "range": [self._half, top]},
            "shapes": [self._shape(*place) for place in self.places.values()],
            "annotations": [
                told(bold(wrapped(name, wide)), level, top + HEAD / 2, font={"size": 11})
                for level, name in enumerate(self.levels)
            ],
        }

    def _shape(self, x: float, y: float) -> dict[str, Any]:
        tall, look = self.tall / self.row / 2, {"fillcolor": PAPER, "line": {"color": COLOURS[0]}}
        return {"type": "rect", "x0": x - WIDE / 2, "x1": x + WIDE / 2, "y0": y - tall, "y1": y + tall, **look}

    def _text(self, box: Box) -> str:
        most = (2 if self.size == TEXT else 3) + ("↔" in str(box["label"]))
        label = wrapped(str(box["label"]), self.column * WIDE - 8, most, self.size)
        return f"{label}<br>n = {box['agents']}" if "agents" in box else label

    def _gaps(self, link: Mapping[str, Any]) -> Iterator[tuple[int, float]]:
        """(level, y) of each gap that a line takes between its ends; where it passes above or below all boxes it takes none."""
        (x1, y1), (x2, y2) = self._sorted(link)
        for level in range(int(x1) + 1, int(x2)):
            half = self.sizes[level] / 2
            y = y1 + (y2 - y1) * (level - x1) / (x2 - x1)
            yield level, round(y + half) - half if abs(y) < half else y

    def _sorted(self, link: Mapping[str, Any]) -> list[Point]:
        return sorted(self.places[str(link[end])] for end in ("source", "target"))

    def lines(self) -> list[list[Point]]:
        """The corners of each link's line, from left to right; within a level around the right side of its boxes."""
        passed, beside = defaultdict[tuple[int, float], int](int), defaultdict[float, int](int)
        found = []
        for link, gaps in zip(self.links, self.gaps, strict=True):
            (x1, y1), (x2, y2) = self._sorted(link)
            if x1 == x2:
                out = x1 + WIDE / 2
                turn = out + 0.06 + 0.03 * (beside[x1] % 5)
                beside[x1] += 1
                found.append([(out, y1), (turn, y1), (turn, y2), (out, y2)])
                continue
            corners = [(x1 + WIDE / 2, y1)]
            for level, gap in gaps:
                lane = gap + (passed[level, gap] - (self.lanes[level, gap] - 1) / 2) * LANE / self.row
                passed[level, gap] += 1
                corners += [(level - WIDE / 2, lane), (level + WIDE / 2, lane)]
            found.append([*corners, (x2 - WIDE / 2, y2)])
        return found

    def numbers(self, lines: Sequence[Sequence[Point]]) -> list[Point]:
        """For each link a place on its line, between the levels and as far from the others as may be."""
        taken: list[Point] = []
        for line in lines:
            between = [pair for pair in pairwise(line) if pair[0][0] != round(pair[0][0]) - WIDE / 2]
            if len(line) == 4 and line[0][0] == line[3][0]:
                between = [(line[1], line[2])]
            spots = [(x1 + part * (x2 - x1), y1 + part * (y2 - y1)) for (x1, y1), (x2, y2) in between for part in PARTS]
            free = [
                min((hypot((x - a) * self.column, (y - b) * self.row) for a, b in taken), default=APART)
                for x, y in spots
            ]
            taken.append(max(zip(spots, free, strict=True), key=lambda each: min(each[1], APART))[0])
        return taken


def value_map(found: Found, note: str, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Levels from left to right; a line is wider by agents, with their number on it and, where links say different things, a letter
    for what this one says; ← where it is read from right to left."""
    boxes = {str(box["id"]): box for box in listed(found, "value_map", "boxes")}
    links = [one for one in listed(found, "value_map", "links") if {one["source"], one["target"]} <= set(boxes)]
    levels = [str(name) for name in at(found, "value_map", "levels") or []]
    if not links:
        return
    plan = Plan(boxes, links, levels)
    ladder = [str(one) for one in at(found, "ladder") or []]
    title = words["map"].format(low=escaped(ladder[0]), high=escaped(ladder[-1])) if ladder else words["links"]
    canvas = Canvas(title, note, language, plot=plan.px)
    said = relations_of(links, at(found, "relations") or {})
    lines = plan.lines()
    canvas.data.extend(traces(links, lines, said))
    hover = [_told(one, boxes, said, words) for one in links]
    canvas.data.append(labels(plan, lines, said, hover) | {"meta": {"links": _answers(links, found)}})
    canvas.layout.update(plan.layout(len(said) > 1))
    canvas.layout["annotations"] += [
        told(text, *plan.places[name], font={"size": plan.size, "color": INK}) for name, text in plan.texts.items()
    ]
    named = sorted(range(len(links)), key=lambda place: -int(links[place]["direct"]))[:3]
    alt = words["map_alt"].format(
        concepts=len(boxes), links=len(links), links_said="; ".join(hover[place] for place in named)
    )
    yield canvas.figure("value_map", alt, lead=bool(ladder) and len(boxes) <= 12)


def relations_of(links: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Edge type → (its letter, what it says), of those on the map in the ontology's order; no letter where there is only one."""
    used = {str(one.get("relation", "")) for one in links}
    here = [name for name in names if name in used] or [""]
    return {
        name: (LETTERS[place % len(LETTERS)] if len(here) > 1 else "", str(names.get(name, "")))
        for place, name in enumerate(here)
    }


def traces(
    links: Sequence[Mapping[str, Any]], lines: Sequence[Sequence[Point]], said: Mapping[str, tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """A line a link; the first of each edge type stands in the legend."""
    strongest = max(int(one["direct"]) for one in links) or 1
    order, shown = list(said), set[str]()
    kinds = [kind if (kind := str(one.get("relation", ""))) in said else order[0] for one in links]
    by_kind = sorted(zip(links, lines, kinds, strict=True), key=lambda each: order.index(each[2]))
    for one, line, kind in by_kind:
        letter, name = said[kind]
        wide = THIN + (THICK - THIN) * int(one["direct"]) / strongest
        yield {
            "type": "scatter", "mode": "lines", "x": [x for x, _ in line], "y": [y for _, y in line], "hoverinfo": "skip",
            "line": {"color": COLOURS[order.index(kind) % len(COLOURS)] if letter else PALE[MUTED], "width": round(wide, 1)},
            "name": f"{letter}: {escaped(name)}", "showlegend": bool(letter) and kind not in shown,
            **({"opacity": 0.5} if letter else {}),
        }  # fmt: skip
        shown.add(kind)


def labels(
    plan: Plan, lines: Sequence[Sequence[Point]], said: Mapping[str, tuple[str, str]], hover: list[str]
) -> dict[str, Any]:
    """How many agents gave each link, where there are several, and its letter, on its line; ← where it leads to the left."""
    spots, texts = plan.numbers(lines), list[str]()
    for one in plan.links:
        back = plan.places[str(one["source"])][0] > plan.places[str(one["target"])][0]
        letter = said.get(str(one.get("relation", "")), ("", ""))[0]
        texts.append(f"{'←' if back else ''}{one['direct'] or ''}{letter}")
    return {
        "type": "scatter", "mode": "markers+text", "x": [x for x, _ in spots], "y": [y for _, y in spots], "showlegend": False,
        "marker": {"size": [max(13.0, width(text, 9) + 3) for text in texts], "color": PAPER}, "text": texts,
        "textposition": "middle center", "textfont": {"size": 9, "color": MUTED}, "hoverinfo": "text", "hovertext": hover,
    }  # fmt: skip


def _told(
    one: Mapping[str, Any],
    boxes: Mapping[str, Box],
    said: Mapping[str, tuple[str, str]],
    words: Mapping[str, str],
) -> str:
    source, target = (escaped(boxes[str(one[end])]["label"]) for end in ("source", "target"))
    name = escaped(said.get(str(one.get("relation", "")), ("", ""))[1])
    return words["link"].format(source=source, relation=name or "→", target=target, n=one["direct"])


def _answers(links: Sequence[Mapping[str, Any]], found: Found) -> list[str]:
    """To the interviews of the agents who named both ends of a link."""
    named = {str(one["id"]): {str(unit) for unit, _ in one.get("members", ())} for one in listed(found, "concepts")}
    both = [sorted(named.get(str(one["source"]), set()) & named.get(str(one["target"]), set())) for one in links]
    return [answers("laddering", participant=",".join(people)) if people else "" for people in both]
