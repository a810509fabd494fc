"""Many interviews as one network: concepts pooled, the implication matrix with direct and indirect links, the indices read off it
(Reynolds & Gutman 1988; Pieters, Baumgartner & Allen 1995), and the hierarchical value map. Rows are those of
tables.py.

Measured by: matrix, indices and cut-off by hand; every concept of the map has its place on its own level alone
(tests/graphs/laddering/test_laddering_network.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from enquete.analysis.inference import share_intervals
from enquete.graphs.laddering.codes import grouped
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import reached
from enquete.respondents.quoting import normal

Place = tuple[str, str]
"""A concept of one interview: (unit, node id)."""
Pair = tuple[str, str]
Row = dict[str, Any]

REPRESENTED = 2 / 3
"""Share of all links given that the map is to represent (Reynolds & Gutman 1988): of the cut-offs that do, and still show the lowest
and the highest kind of concept that two agents linked, the highest is taken."""
MOST_CONCEPTS = 36  # more cannot be read; the cut-off rises until they fit
SWEEPS = 4


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
    belongs = homes(concepts)
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


def homes(concepts: Sequence[PooledConcept]) -> dict[Place, PooledConcept]:
    return {place: concept for concept in concepts for place in concept.members}


def linked(interview: Interview, belongs: Mapping[Place, PooledConcept]) -> set[Pair]:
    """Pairs of different codes that an interview links."""
    unit, edges = interview.unit, interview.graph.standing.edges.values()
    pairs = {(belongs[unit, edge.source].id, belongs[unit, edge.target].id) for edge in edges if not edge.contrast}
    return {(source, target) for source, target in pairs if source != target}


def implication_matrix(interviews: Sequence[Interview], concepts: Sequence[PooledConcept]) -> list[Row]:
    """Cells with at least one link, the strongest first. An agent counts once a cell, as direct where it is both.

    low, high: of the share that links directly, for one that is singled out of all.
    """
    belongs = homes(concepts)
    direct, indirect, named = Counter[Pair](), Counter[Pair](), defaultdict[Pair, Counter[str]](Counter)
    said = defaultdict[Pair, set[str]](set)
    for interview in interviews:
        links = linked(interview, belongs)
        direct.update(links)
        indirect.update(set(_reachable(links)) - links)
        for edge in interview.graph.standing.edges.values():
            pair = belongs[interview.unit, edge.source].id, belongs[interview.unit, edge.target].id
            named[pair][edge.type] += 1
            said[pair] |= {item_of(one.utterance) for one in edge.sources}
    cells = sorted({*direct, *indirect}, key=lambda pair: (-direct[pair], -indirect[pair], pair))
    intervals = share_intervals([direct[pair] for pair in cells], len(interviews)).to_dict("records")
    return [
        {"source": pair[0], "target": pair[1], "relation": min(named[pair], key=lambda name: (-named[pair][name], name),
            default=None),
         "direct": direct[pair], "indirect": indirect[pair], "share": one["estimate"], "low": one["low"],
             "high": one["high"], "items": sorted(said[pair])}
        for pair, one in zip(cells, intervals, strict=True)
    ]  # fmt: skip


def item_of(utterance: str) -> str:
    """The item that an utterance answered: "agent:1#3" is turn_03."""
    return f"turn_{int(utterance.rpartition('#')[2]):02d}"


def _reachable(links: set[Pair]) -> Iterator[Pair]:
    """Pairs that a path of two links or more connects."""
    ahead: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(links):
        ahead[source].append(target)
    for start in list(ahead):
        far = reached((far for near in ahead[start] for far in ahead.get(near, [])), ahead)
        yield from ((start, end) for end in far if end != start)


def concept_rows(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], cells: Sequence[Row], *, climbs: bool
) -> list[Row]:
    """Codes with the agents who name them, and on a ladder with their indices from direct links: `ins` and `outs` are sums of cells,
    abstractness = ins / (ins + outs), prestige = ins / all, centrality = (ins + outs) / all; None without any link."""
    ins, outs = Counter[str](), Counter[str]()
    for cell in cells if climbs else ():
        outs[cell["source"]] += cell["direct"]
        ins[cell["target"]] += cell["direct"]
    n = len(interviews)
    intervals = share_intervals([one.agents for one in concepts], n, selected="highest").to_dict("records")
    ties = Counter((one.type, one.agents) for one in concepts)
    graphs = {one.unit: one.graph for one in interviews}
    return [
        {
            "concept": one.id, "label": one.label, "type": one.type, "opposite": one.opposite or None,
            "agents": one.agents, "share": known["estimate"], "low": known["low"], "high": known["high"],
            "tie": "alone" if ties[one.type, one.agents] == 1 else "tied", "wordings": list(one.wordings),
            **_indices(ins[one.id], outs[one.id], outs.total()),
            "items": sorted(
                {item_of(s.utterance) for unit, node in one.members for s in graphs[unit].nodes[node].sources},
            ),
        }
        for one, known in zip(concepts, intervals, strict=True)
    ]  # fmt: skip


def _indices(ins: int, outs: int, everything: int) -> Row:
    both = ins + outs
    return {
        "abstractness": ins / both if both else None,
        "centrality": both / everything if everything else None,
        "prestige": ins / everything if everything else None,
    }


def saturation(interviews: Sequence[Interview], concepts: Sequence[PooledConcept]) -> list[Row]:
    """After each interview, in the population's order: pooled concepts so far, and how many of them were new."""
    belongs = homes(concepts)
    seen: set[str] = set()
    curve = []
    for number, interview in enumerate(interviews, start=1):
        here = {belongs[interview.unit, node].id for node in interview.graph.standing.nodes}
        curve.append(
            {"interviews": number, "participant": interview.unit, "concepts": len(here | seen), "new": len(here - seen)}
        )
        seen |= here
    last = len(curve) - 1
    marks = {0, last // 4, last // 2, 3 * last // 4, last}
    return [{**one, "mark": place in marks} for place, one in enumerate(curve)]


# --- the agents' own words --------------------------------------------------------------------------------------------


def node_rows(interview: Interview, home: Mapping[Place, PooledConcept]) -> Iterator[Row]:
    for name, node in interview.graph.nodes.items():
        code = home.get((interview.unit, name))
        yield {
            **node.model_dump(exclude={"id", "elements", "sources"}), "participant": interview.unit, "node": name,
            "concept": code.id if code else None, "elements": list(node.elements),
            "item": item_of(node.sources[0].utterance), "quote": node.sources[0].quote,
            "retracted": name in interview.graph.retracted, "utterances": [one.utterance for one in node.sources],
            "quotes": [one.quote for one in node.sources],
        }  # fmt: skip


def edge_rows(interview: Interview) -> Iterator[Row]:
    for edge in interview.graph.edges.values():
        yield {
            **edge.model_dump(exclude={"type", "sources"}), "participant": interview.unit, "relation": edge.type,
            "utterances": [one.utterance for one in edge.sources], "quotes": [one.quote for one in edge.sources],
        }  # fmt: skip


# --- the map ---------------------------------------------------------------------------------------------------------


def value_map(cells: list[Row], concepts: list[Row], order: Sequence[str], wanted: int | None) -> Row:
    """Marks the links of the map (`shown`) and gives its concepts their `level`, the lowest 0, and their `place` within, so that links
    cross as little as may be. Returns the map's facts.

    order: node types from the bottom to the top. wanted: agents that a link needs (None: by REPRESENTED); more where too many concepts
    would be on the map, 1 where none would. map_share: of all links given (an agent counts once a pair) that the map represents;
    map_repeated: of these, those of pairs that two agents or more gave: where it is small, the map shows single voices.
    """
    rung = {one["concept"]: order.index(one["type"]) for one in concepts}
    used = _fitting(cells, _by_share(cells, rung) if wanted is None else wanted)
    for cell in cells:
        cell["shown"] = cell["direct"] >= used
    links = [cell for cell in cells if cell["shown"]]
    here = {end for cell in links for end in (cell["source"], cell["target"])}
    levels = sorted({rung[one] for one in here})
    rows = [
        [one["concept"] for one in concepts if one["concept"] in here and rung[one["concept"]] == level]
        for level in levels
    ]
    at = {one: (level, place) for level, row in enumerate(untangled(rows, links)) for place, one in enumerate(row)}
    for one in concepts:
        one["level"], one["place"] = at.get(one["concept"], (None, None))
    shares = {"map_share": _share(cells, used), "map_repeated": _share(cells, 2)}
    return {"cut_off": used, "cut_off_wanted": wanted, "n_shown": len(at), "n_links": len(links), **shares}


def _share(cells: Sequence[Row], cut_off: int) -> float | None:
    """Σ direct of cells that reach the cut-off / Σ direct."""
    total = sum(cell["direct"] for cell in cells)
    return sum(cell["direct"] for cell in cells if cell["direct"] >= cut_off) / total if total else None


def _by_share(cells: Sequence[Row], rung: Mapping[str, int]) -> int:
    """The highest cut-off at which the map still represents enough of all links from bottom to top; 1 without any."""

    def levels(cut: int) -> set[int]:
        return {rung[cell[end]] for cell in cells if cell["direct"] >= cut for end in ("source", "target")}

    counts = sorted({cell["direct"] for cell in cells if cell["direct"]}, reverse=True)
    reached = levels(2) or levels(1)
    ends = {min(reached), max(reached)} if reached else set[int]()
    return next((cut for cut in counts if (_share(cells, cut) or 0) >= REPRESENTED and ends <= levels(cut)), 1)


def _fitting(cells: Sequence[Row], wanted: int) -> int:
    used = wanted if any(cell["direct"] >= wanted for cell in cells) else 1
    while len({cell[end] for cell in cells if cell["direct"] >= used for end in ("source", "target")}) > MOST_CONCEPTS:
        used += 1
    return used


def untangled(rows: list[list[str]], links: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Each row ordered by the mean place of its neighbours (Sugiyama's barycentres), a few times over."""
    beside: dict[str, list[str]] = defaultdict(list)
    for link in links:
        beside[link["source"]].append(link["target"])
        beside[link["target"]].append(link["source"])
    for _ in range(SWEEPS):
        for number, row in enumerate(rows):
            place = {one: i / max(len(other) - 1, 1) for other in rows for i, one in enumerate(other)}
            middle = {one: fmean([place[other] for other in beside[one]] or [0.5]) for one in row}
            rows[number] = sorted(row, key=middle.__getitem__)
    return rows
