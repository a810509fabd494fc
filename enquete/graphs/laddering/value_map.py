"""The hierarchical value map: links that enough agents gave, concepts on the levels of the ladder, as data and Mermaid.

Measured by: every concept stands on its own level and has its place there alone, every link is drawn (tests/graphs/laddering).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from enquete.graphs.laddering.network import Cell, PooledConcept
from enquete.graphs.laddering.ontology import Ontology
from enquete.state.asking import Language

REPRESENTED = 2 / 3
"""Share of all links given that the map is to represent (Reynolds & Gutman 1988): of the cut-offs that do, and still show the lowest
and the highest kind of concept that two agents linked, the highest is taken."""
MOST_CONCEPTS = 36  # more cannot be read; the cut-off rises until they fit
SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A concept on the map: its level, the lowest 0, and its place within, so that links cross as little as may be."""

    id: str
    label: str
    agents: int
    level: int
    place: int


@dataclass(frozen=True)
class ValueMap:
    """`cut_off`: agents that a link needs here; `levels`: names from the bottom to the top.

    share: of all links given (an agent counts once a pair) that the map represents; repeated: of these, those of pairs that two
    agents or more gave: where it is small, the map shows single voices. None without any link.
    """

    cut_off: int
    boxes: tuple[Box, ...]
    links: tuple[Cell, ...]
    levels: tuple[str, ...]
    share: float | None = None
    repeated: float | None = None


def draw(
    cells: Sequence[Cell],
    concepts: Sequence[PooledConcept],
    ontology: Ontology,
    cut_off: int | None,
    language: Language,
) -> ValueMap:
    """The map at this cut-off (None: by REPRESENTED); at a higher one where too many concepts would be on it, at 1 where none
    would."""
    return drawn(cells, concepts, kinds_of(ontology, language), cut_off)


def kinds_of(ontology: Ontology, language: Language) -> list[tuple[str, str]]:
    """Node types with their names, the ladder's first, from the bottom to the top."""
    order = list(ontology.ladder) + [kind for kind in ontology.node_types if kind not in ontology.ladder]
    return [(kind, ontology.node_types[kind].label.in_(language)) for kind in order]


def drawn(
    cells: Sequence[Cell], concepts: Sequence[PooledConcept], order: Sequence[tuple[str, str]], cut_off: int | None
) -> ValueMap:
    """The same, of types with their names in their order."""
    places = {kind: place for place, (kind, _) in enumerate(order)}
    level = {one.id: places[one.type] for one in concepts}
    links, used = _kept(cells, by_share(cells, level) if cut_off is None else cut_off)
    shown = {end for link in links for end in (link.source, link.target)}
    known = [concept for concept in concepts if concept.id in shown]
    kinds = [(kind, name) for kind, name in order if any(concept.type == kind for concept in known)]
    rows = [[concept for concept in known if concept.type == kind] for kind, _ in kinds]
    boxes = chain.from_iterable(
        (Box(one.id, one.label, one.agents, level, place) for place, one in enumerate(row))
        for level, row in enumerate(_untangled(rows, links))
    )
    names = tuple(name for _, name in kinds)
    share, repeated = _share(cells, used), _share(cells, 2)
    return ValueMap(used, tuple(boxes), tuple(links), names, share, repeated)


def _share(cells: Sequence[Cell], cut_off: int) -> float | None:
    """Σ direct of cells that reach the cut-off / Σ direct."""
    total = sum(cell.direct for cell in cells)
    return sum(cell.direct for cell in cells if cell.direct >= cut_off) / total if total else None


def by_share(cells: Sequence[Cell], level: Mapping[str, int]) -> int:
    """The highest cut-off at which the map still represents enough of all links from bottom to top; 1 without any."""

    def levels(cut: int) -> set[int]:
        return {level[end] for cell in cells if cell.direct >= cut for end in (cell.source, cell.target)}

    counts = sorted({cell.direct for cell in cells if cell.direct}, reverse=True)
    reached = levels(2) or levels(1)
    ends = {min(reached), max(reached)} if reached else set[int]()
    return next((cut for cut in counts if (_share(cells, cut) or 0) >= REPRESENTED and ends <= levels(cut)), 1)


def _kept(cells: Sequence[Cell], wanted: int) -> tuple[list[Cell], int]:
    direct = [cell for cell in cells if cell.direct]
    used = wanted if any(cell.direct >= wanted for cell in direct) else 1
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


def mermaid(found: ValueMap, relations: Mapping[str, str] | None = None) -> str:
    """The same map as Mermaid source, bottom to top; relations: names of the edge types, which then stand on the links."""
    lines = ["flowchart BT"]
    for level, name in enumerate(found.levels):
        lines.append(f'  subgraph L{level}["{_quoted(name)}"]')
        lines += [f'    {box.id}["{_quoted(box.label)} ({box.agents})"]' for box in found.boxes if box.level == level]
        lines.append("  end")
    for link in found.links:
        said = _quoted(f"{(relations or {}).get(link.relation, '')} {link.direct}")
        lines.append(f"  {link.source} -->|{said}| {link.target}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Mermaid's own escapes: nothing that was said ends a label or starts a directive."""
    return "".join(one if one.isalnum() or one in " .,-–" else f"#{ord(one)};" for one in " ".join(text.split()))
