"""The hierarchical value map: links that enough agents gave, concepts on the levels of the ladder, as data, SVG and Mermaid.

Measured by: every concept stands on its own level, no two boxes touch, every link is drawn (tests/graphs/laddering).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain

from jinja2 import Environment, StrictUndefined

from enquete.graphs.laddering.network import Cell, PooledConcept
from enquete.graphs.laddering.ontology import Ontology
from enquete.state.asking import Language

MOST_CONCEPTS = 36  # more cannot be read; the cut-off rises until they fit
BOX_W, BOX_H, GAP_X, GAP_Y, MARGIN, SIDE = 168, 58, 22, 74, 24, 150
LINE_CHARS, LINES = 25, 3
SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A concept on the map; x and y are the middle of the box, in px."""

    id: str
    label: str
    lines: tuple[str, ...]
    agents: int
    level: int
    x: float
    y: float


@dataclass(frozen=True)
class ValueMap:
    """`cut_off`: agents that a link needs here; `levels`: names from the bottom to the top."""

    cut_off: int
    boxes: tuple[Box, ...]
    links: tuple[Cell, ...]
    levels: tuple[str, ...]
    width: int
    height: int


def draw(
    cells: Sequence[Cell], concepts: Sequence[PooledConcept], ontology: Ontology, cut_off: int, language: Language
) -> ValueMap:
    """The map at this cut-off; at a higher one where too many concepts would be on it, at 1 where none would."""
    order = list(ontology.ladder) + [kind for kind in ontology.node_types if kind not in ontology.ladder]
    links, used = _kept(cells, cut_off)
    shown = {end for link in links for end in (link.source, link.target)}
    known = [concept for concept in concepts if concept.id in shown]
    kinds = [kind for kind in order if any(concept.type == kind for concept in known)]
    rows = [[concept for concept in known if concept.type == kind] for kind in kinds]
    rows = _untangled(rows, links)
    widest = max((len(row) for row in rows), default=1)
    width = 2 * MARGIN + SIDE + widest * BOX_W + (widest - 1) * GAP_X
    height = 2 * MARGIN + len(rows) * BOX_H + max(len(rows) - 1, 0) * GAP_Y
    boxes = tuple(chain.from_iterable(_row(row, level, len(rows), width) for level, row in enumerate(rows)))
    names = tuple(ontology.node_types[kind].label.in_(language) for kind in kinds)
    return ValueMap(used, boxes, tuple(links), names, width, height)


def _kept(cells: Sequence[Cell], cut_off: int) -> tuple[list[Cell], int]:
    direct = [cell for cell in cells if cell.direct]
    used = cut_off if any(cell.direct >= cut_off for cell in direct) else 1
    while True:
        kept = [cell for cell in direct if cell.direct >= used]
        if len({end for cell in kept for end in (cell.source, cell.target)}) <= MOST_CONCEPTS or not kept:
            return kept, used
        used += 1


def _untangled(rows: list[list[PooledConcept]], links: Sequence[Cell]) -> list[list[PooledConcept]]:
    """Each row ordered by the mean place of its neighbours (Sugiyama's barycentres), a few times over."""
    beside: dict[str, list[str]] = {}
    for link in links:
        beside.setdefault(link.source, []).append(link.target)
        beside.setdefault(link.target, []).append(link.source)
    for _ in range(SWEEPS):
        for number, row in enumerate(rows):
            place = {one.id: i / max(len(other) - 1, 1) for other in rows for i, one in enumerate(other)}
            rows[number] = sorted(row, key=lambda one: _mean([place[other] for other in beside.get(one.id, [])]))
    return rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def _row(row: Sequence[PooledConcept], level: int, levels: int, width: int) -> list[Box]:
    """Boxes of a level, centred; level 0 at the bottom."""
    used = len(row) * BOX_W + (len(row) - 1) * GAP_X
    left = SIDE + (width - SIDE - used) / 2
    y = MARGIN + (levels - 1 - level) * (BOX_H + GAP_Y) + BOX_H / 2
    return [
        Box(one.id, one.label, tuple(_lines(one.label)), one.agents, level, left + i * (BOX_W + GAP_X) + BOX_W / 2, y)
        for i, one in enumerate(row)
    ]


def _lines(label: str) -> list[str]:
    return textwrap.wrap(label, LINE_CHARS, max_lines=LINES, placeholder=" …") or [label[:LINE_CHARS]]


def svg(found: ValueMap, title: str, agents: str) -> str:
    """The map as a picture of its own; everything that was said is escaped. agents: the word for them in its legend."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        files("enquete.graphs.laddering").joinpath("value_map.svg.j2").read_text("utf-8")
    )
    boxes = {box.id: box for box in found.boxes}
    strongest = max((link.direct for link in found.links), default=1)
    lines = [_line(boxes[link.source], boxes[link.target], link.direct, strongest) for link in found.links]
    marks = [(name, next(b.y for b in found.boxes if b.level == i)) for i, name in enumerate(found.levels)]
    return template.render(
        map=found, title=title, agents=agents, lines=lines, marks=marks, w=BOX_W, h=BOX_H, margin=MARGIN
    )


def _line(source: Box, target: Box, agents: int, strongest: int) -> Mapping[str, float | int]:
    """From edge to edge of the boxes: upwards from the top, downwards from the bottom, sideways within a level."""
    if source.level == target.level:
        side = BOX_W / 2 if target.x > source.x else -BOX_W / 2
        ends = (source.x + side, source.y, target.x - side, target.y)
    else:
        up = -BOX_H / 2 if target.level > source.level else BOX_H / 2
        ends = (source.x, source.y + up, target.x, target.y - up)
    return {"x1": ends[0], "y1": ends[1], "x2": ends[2], "y2": ends[3], "n": agents,
            "width": round(1 + 4 * agents / strongest, 2)}  # fmt: skip


def mermaid(found: ValueMap) -> str:
    """The same map as Mermaid source, bottom to top."""
    lines = ["flowchart BT"]
    for level, name in enumerate(found.levels):
        lines.append(f'  subgraph L{level}["{_quoted(name)}"]')
        lines += [f'    {box.id}["{_quoted(box.label)} ({box.agents})"]' for box in found.boxes if box.level == level]
        lines.append("  end")
    lines += [f"  {link.source} -->|{link.direct}| {link.target}" for link in found.links]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Mermaid's own escapes: nothing that was said ends a label or starts a directive."""
    return "".join(one if one.isalnum() or one in " .,-–" else f"#{ord(one)};" for one in " ".join(text.split()))
