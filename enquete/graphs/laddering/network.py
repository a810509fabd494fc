"""Many interviews as one network: concepts pooled, the implication matrix with direct and indirect links, and the indices
read off it (Reynolds & Gutman 1988; Pieters, Baumgartner & Allen 1995).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from enquete.graphs.laddering.codes import grouped
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import reached
from enquete.respondents.quoting import normal

Place = tuple[str, str]
"""A concept of one interview: (unit, node id)."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class PooledConcept:
    """A code: what several interviews said. `label`: the most frequent wording; `wordings`: all, the most frequent first.

    opposite: of a construct, the label of its other pole, which then stands in `label`, too; "" where none was named.
    """

    id: str
    label: str
    type: str
    members: tuple[Place, ...]
    wordings: tuple[str, ...] = ()
    opposite: str = ""

    @property
    def agents(self) -> int:
        return len({unit for unit, _ in self.members})


@dataclass(frozen=True)
class Cell:
    """How many agents link two concepts directly, and how many only by way of others; by which edge type most of them do."""

    source: str
    target: str
    direct: int
    indirect: int
    relation: str = ""


@dataclass(frozen=True)
class Index:
    """Of one concept, from direct links: `ins` and `outs` are sums of cells.

    abstractness = ins / (ins + outs), prestige = ins / all, centrality = (ins + outs) / all; None without any link.
    """

    concept: str
    ins: int
    outs: int
    abstractness: float | None
    centrality: float | None
    prestige: float | None


def pool(interviews: Sequence[Interview]) -> list[PooledConcept]:
    """Concepts of all interviews as codes (codes.py), the most widespread first; only what stands, see KnowledgeGraph."""
    places: dict[tuple[str, str], list[Place]] = defaultdict(list)
    wordings: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for interview in interviews:
        for node in interview.graph.standing.nodes.values():
            key = (node.type, normal(node.text))
            places[key].append((interview.unit, node.id))
            wordings[key][node.text] += 1
    groups: list[list[tuple[str, str]]] = []
    for kind in sorted({kind for kind, _ in places}):
        keys = sorted((key for key in places if key[0] == kind), key=lambda key: (-len(places[key]), key[1]))
        groups += [[keys[i] for i in group] for group in grouped([text for _, text in keys])]
    merged = [(group, [place for key in group for place in places[key]]) for group in groups]
    merged.sort(key=lambda one: (-len({unit for unit, _ in one[1]}), one[0][0]))
    return [
        PooledConcept(
            f"c{number}", wordings[group[0]].most_common(1)[0][0], group[0][0], tuple(members),
            tuple(wordings[key].most_common(1)[0][0] for key in group),
        )
        for number, (group, members) in enumerate(merged, start=1)
    ]  # fmt: skip


def with_poles(concepts: Sequence[PooledConcept], interviews: Sequence[Interview]) -> list[PooledConcept]:
    """Constructs by both poles, "clear ↔ muddled": the other one is the code that most interviews oppose to it."""
    belongs = {place: concept for concept in concepts for place in concept.members}
    others: dict[str, Counter[str]] = defaultdict(Counter)
    for interview in interviews:
        for edge in interview.graph.standing.edges.values():
            ends = [belongs.get((interview.unit, name)) for name in (edge.source, edge.target)]
            if edge.contrast and ends[0] and ends[1]:
                others[ends[0].id][ends[1].label] += 1
    most = {name: counts.most_common(1)[0][0] for name, counts in others.items()}
    return [
        replace(one, label=f"{one.label} ↔ {most[one.id]}", opposite=most[one.id])
        if one.id in most and not one.opposite
        else one
        for one in concepts
    ]


def implication_matrix(interviews: Sequence[Interview], concepts: Sequence[PooledConcept]) -> list[Cell]:
    """Cells with at least one link, the strongest first. An agent counts once a cell, as direct where it is both."""
    belongs = {place: concept.id for concept in concepts for place in concept.members}
    direct, indirect, named = Counter[Pair](), Counter[Pair](), defaultdict[Pair, Counter[str]](Counter)
    for interview in interviews:
        links = linked(interview, belongs)
        direct.update(links)
        indirect.update(set(_reachable(links)) - links)
        for edge in interview.graph.standing.edges.values():
            named[belongs[interview.unit, edge.source], belongs[interview.unit, edge.target]][edge.type] += 1
    cells = [Cell(a, b, direct[a, b], indirect[a, b], _most(named[a, b])) for a, b in {*direct, *indirect}]
    return sorted(cells, key=lambda cell: (-cell.direct, -cell.indirect, cell.source, cell.target))


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda name: (-counts[name], name), default="")


def linked(interview: Interview, belongs: Mapping[Place, str]) -> set[Pair]:
    """Pairs of different codes that an interview links."""
    unit, edges = interview.unit, interview.graph.standing.edges.values()
    pairs = {(belongs[unit, edge.source], belongs[unit, edge.target]) for edge in edges if not edge.contrast}
    return {(source, target) for source, target in pairs if source != target}


def _reachable(links: set[Pair]) -> Iterator[Pair]:
    """Pairs that a path of two links or more connects."""
    ahead: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(links):
        ahead[source].append(target)
    for start in list(ahead):
        far = reached((far for near in ahead[start] for far in ahead.get(near, [])), ahead)
        yield from ((start, end) for end in far if end != start)


def indices(cells: Sequence[Cell], concepts: Sequence[PooledConcept]) -> list[Index]:
    """Abstractness, centrality and prestige of every concept, in the given order."""
    ins, outs = Counter[str](), Counter[str]()
    for cell in cells:
        outs[cell.source] += cell.direct
        ins[cell.target] += cell.direct
    return [_index(concept.id, ins[concept.id], outs[concept.id], outs.total()) for concept in concepts]


def _index(concept: str, ins: int, outs: int, everything: int) -> Index:
    both = ins + outs
    return Index(
        concept,
        ins,
        outs,
        abstractness=ins / both if both else None,
        centrality=both / everything if everything else None,
        prestige=ins / everything if everything else None,
    )


def saturation(interviews: Sequence[Interview], concepts: Sequence[PooledConcept]) -> list[dict[str, int]]:
    """After each interview, in the population's order: pooled concepts so far, and how many of them were new."""
    belongs = {place: concept.id for concept in concepts for place in concept.members}
    seen: set[str] = set()
    curve = []
    for number, interview in enumerate(interviews, start=1):
        here = {belongs[interview.unit, node] for node in interview.graph.standing.nodes}
        curve.append({"interviews": number, "new": len(here - seen), "concepts": len(here | seen)})
        seen |= here
    return curve


def by_turn(interviews: Sequence[Interview]) -> list[dict[str, float | int]]:
    """Per turn: interviews that reached it, and new concepts an interview found in it on average."""
    most = max((len(interview.turns) for interview in interviews), default=0)
    rows: list[dict[str, float | int]] = []
    for number in range(most):
        here = [interview.turns[number] for interview in interviews if len(interview.turns) > number]
        rows.append({"turn": number + 1, "interviews": len(here),
                     "new_concepts": float(np.mean([turn.changes.new_nodes for turn in here]))})  # fmt: skip
    return rows
