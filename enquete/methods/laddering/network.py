"""Many interviews as one network: concepts pooled as codes, the implication matrix with direct and indirect links, the
indices read off it (Reynolds & Gutman 1988; Pieters, Baumgartner & Allen 1995), and the hierarchical value map. Rows
are those of the tables in results.py.

Measured by: matrix, indices, cut-off and counts by hand (tests/methods/laddering/test_laddering_network.py).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

from enquete.analysis.inference import share_intervals
from enquete.analysis.vocabulary import opposed
from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import reached
from enquete.reports.declarations import Row
from enquete.respondents.roles import normal
from enquete.respondents.rule_coder import features, tree_of

Place = tuple[str, str]
"""A concept of one interview: (unit, node id)."""
Pair = tuple[str, str]

REPRESENTED = 2 / 3
"""Share of all links given that the map is to represent (Reynolds & Gutman 1988): of the cut-offs that do, and still
show the lowest and the highest kind of concept that two agents linked, the highest is taken."""
MOST_CONCEPTS = 36  # more cannot be read; the cut-off rises until they fit
SWEEPS = 4


@dataclass(frozen=True)
class PooledConcept:
    """A code: what several interviews said. `label`: the most frequent wording; `wordings`: all, the most frequent
    first.

    opposite: of a construct, the label of its other pole, which then stands in `label`, too; "" where none was named.
    """

    id: str
    label: str
    type: str
    members: tuple[Place, ...]
    wordings: tuple[str, ...] = ()
    opposite: str = ""

    @cached_property
    def units(self) -> frozenset[str]:
        return frozenset(unit for unit, _ in self.members)

    @property
    def agents(self) -> int:
        return len(self.units)


# --- codes by a rule -------------------------------------------------------------------------------------------------
# What is meant alike, within one type, is one code, however it was worded. A crude stand-in for a model's coder: it
# compares the stems of words and their character n-grams, as the theme coder's rule does, and knows no meaning.

SAME = 0.22
"""Mean cosine from which groups of texts are one code. At .20 the 86 wordings of 43 planted thoughts are 43 codes in
German and 48 in English, at .25 50 and 51, at .35 57 and 59."""

_NUMBER = re.compile(r"\w*\d\w*")


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """Positions of texts of one code, each group led by its first; texts come in the order of their weight."""
    from scipy.cluster.hierarchy import fcluster  # noqa: PLC0415 - a second of import

    if len(texts) < 2:
        return [[place] for place in range(len(texts))]
    clusters: dict[int, list[int]] = defaultdict(list)
    for place, cluster in enumerate(fcluster(tree_of(features(texts))[1], 1 - SAME, "distance").tolist()):
        clusters[cluster].append(place)
    return sorted(group for cluster in clusters.values() for group in without_opposites(texts, cluster, _apart))


def without_opposites(
    texts: Sequence[str], cluster: Sequence[int], apart: Callable[[str, str], bool] = opposed
) -> list[list[int]]:
    """Each text with the first group that none of whose texts it contradicts."""
    groups: list[list[int]] = []
    for place in cluster:
        home = next((g for g in groups if not any(apart(texts[place], texts[member]) for member in g)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    return groups


def _apart(text: str, other: str) -> bool:
    return opposed(text, other) or set(_NUMBER.findall(text)) != set(_NUMBER.findall(other))


def pool(interviews: Sequence[LadderingInterview]) -> list[PooledConcept]:
    """Concepts of all interviews as codes, the most widespread first; only what stands, see KnowledgeGraph."""
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
    words = {key: counts.most_common(1)[0][0] for key, counts in wordings.items()}
    concepts = [
        PooledConcept("", words[group[0]], group[0][0], tuple(place for key in group for place in places[key]),
                      tuple(words[key] for key in group))
        for group in sorted(groups)
    ]  # fmt: skip
    return numbered(concepts)


def numbered(concepts: Iterable[PooledConcept]) -> list[PooledConcept]:
    """The most widespread first; of equals that which comes first here."""
    ordered = sorted(concepts, key=lambda concept: -concept.agents)
    return [replace(concept, id=f"c{number}") for number, concept in enumerate(ordered, start=1)]


def with_poles(concepts: Sequence[PooledConcept], interviews: Sequence[LadderingInterview]) -> list[PooledConcept]:
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
        replace(code, label=f"{code.label} ↔ {most[code.id]}", opposite=most[code.id])
        if code.id in most and not code.opposite else code for code in concepts
    ]  # fmt: skip


def homes(concepts: Sequence[PooledConcept]) -> dict[Place, PooledConcept]:
    return {place: concept for concept in concepts for place in concept.members}


def linked(interview: LadderingInterview, belongs: Mapping[Place, PooledConcept]) -> set[Pair]:
    """Pairs of different codes that an interview links."""
    unit, edges = interview.unit, interview.graph.standing.edges.values()
    pairs = {(belongs[unit, edge.source].id, belongs[unit, edge.target].id) for edge in edges if not edge.contrast}
    return {(source, target) for source, target in pairs if source != target}


def implication_matrix(interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept]) -> list[Row]:
    """Cells with at least one link, the strongest first. An agent counts once a cell, as direct where it is both.

    low, high: of the share that links directly, for one that is singled out of all.
    """
    belongs = homes(concepts)
    direct, indirect, named = Counter[Pair](), Counter[Pair](), defaultdict[Pair, Counter[str]](Counter)
    items = defaultdict[Pair, set[str]](set)
    for interview in interviews:
        links = linked(interview, belongs)
        direct.update(links)
        indirect.update(set(_reachable(links)) - links)
        for edge in interview.graph.standing.edges.values():
            pair = belongs[interview.unit, edge.source].id, belongs[interview.unit, edge.target].id
            named[pair][edge.type] += 1
            items[pair] |= {item_of(source.utterance) for source in edge.sources}
    cells = sorted({*direct, *indirect}, key=lambda pair: (-direct[pair], -indirect[pair], pair))
    intervals = share_intervals([direct[pair] for pair in cells], len(interviews)).to_dict("records")
    relations = {pair: min(kinds, key=lambda name: (-kinds[name], name)) for pair, kinds in named.items()}
    return [
        {"source": pair[0], "target": pair[1], "relation": relations.get(pair), "direct": direct[pair],
         "indirect": indirect[pair], "share": interval["estimate"], "low": interval["low"], "high": interval["high"],
         "items": sorted(items[pair])}
        for pair, interval in zip(cells, intervals, strict=True)
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
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], cells: Sequence[Row], *, climbs: bool
) -> list[Row]:
    """Codes with the agents who name them, and on a ladder with their indices from direct links: `ins` and `outs` are
    sums of cells, abstractness = ins / (ins + outs), prestige = ins / all, centrality = (ins + outs) / all; None
    without any link."""
    ins, outs = Counter[str](), Counter[str]()
    for cell in cells if climbs else ():
        outs[cell["source"]] += cell["direct"]
        ins[cell["target"]] += cell["direct"]
    n = len(interviews)
    intervals = share_intervals([concept.agents for concept in concepts], n, selected="highest").to_dict("records")
    ties = Counter((concept.type, concept.agents) for concept in concepts)
    graphs = {interview.unit: interview.graph for interview in interviews}
    return [
        {
            "concept": concept.id, "label": concept.label, "type": concept.type, "opposite": concept.opposite or None,
            "agents": concept.agents, "share": interval["estimate"], "low": interval["low"], "high": interval["high"],
            "tie": "alone" if ties[concept.type, concept.agents] == 1 else "tied", "wordings": list(concept.wordings),
            "abstractness": _share_of(ins[concept.id], ins[concept.id] + outs[concept.id]),
            "centrality": _share_of(ins[concept.id] + outs[concept.id], outs.total()),
            "prestige": _share_of(ins[concept.id], outs.total()),
            "items": sorted(
                {item_of(s.utterance) for unit, node in concept.members for s in graphs[unit].nodes[node].sources},
            ),
        }
        for concept, interval in zip(concepts, intervals, strict=True)
    ]  # fmt: skip


def _share_of(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def saturation(interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept]) -> list[Row]:
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
    return [{**row, "mark": place in marks} for place, row in enumerate(curve)]


# --- the agents' own words --------------------------------------------------------------------------------------------


def node_rows(interview: LadderingInterview, home: Mapping[Place, PooledConcept]) -> Iterator[Row]:
    for name, node in interview.graph.nodes.items():
        code = home.get((interview.unit, name))
        yield {
            **node.model_dump(exclude={"id", "elements", "sources"}), "participant": interview.unit, "node": name,
            "concept": code.id if code else None, "elements": list(node.elements),
            "item": item_of(node.sources[0].utterance), "quote": node.sources[0].quote,
            "retracted": name in interview.graph.retracted, "utterances": [source.utterance for source in node.sources],
            "quotes": [source.quote for source in node.sources],
        }  # fmt: skip


def edge_rows(interview: LadderingInterview) -> Iterator[Row]:
    for edge in interview.graph.edges.values():
        yield {
            **edge.model_dump(exclude={"type", "sources"}), "participant": interview.unit, "relation": edge.type,
            "utterances": [s.utterance for s in edge.sources], "quotes": [s.quote for s in edge.sources],
        }  # fmt: skip


# --- the map ---------------------------------------------------------------------------------------------------------


def value_map(cells: list[Row], concepts: list[Row], order: Sequence[str], wanted: int | None) -> Row:
    """Marks the links of the map (`shown`) and gives its concepts their `level`, the lowest 0, and their `place`
    within, so that links cross as little as may be. Returns the map's facts.

    order: node types from the bottom to the top. wanted: agents that a link needs (None: by REPRESENTED); more where
    too many concepts would be on the map, 1 where none would. map_share: of all links given (an agent counts once a
    pair) that the map represents;
    map_repeated: of these, those of pairs that two agents or more gave: where it is small, the map shows single voices.
    """
    rung = {row["concept"]: order.index(row["type"]) for row in concepts}
    used = _fitting(cells, _by_share(cells, rung) if wanted is None else wanted)
    for cell in cells:
        cell["shown"] = cell["direct"] >= used
    links = [cell for cell in cells if cell["shown"]]
    here = {end for cell in links for end in (cell["source"], cell["target"])}
    levels = sorted({rung[code] for code in here})
    rows = [
        [row["concept"] for row in concepts if row["concept"] in here and rung[row["concept"]] == level]
        for level in levels
    ]
    at = {code: (level, place) for level, row in enumerate(untangled(rows, links)) for place, code in enumerate(row)}
    for concept in concepts:
        concept["level"], concept["place"] = at.get(concept["concept"], (None, None))
    shares = {"map_share": _share(cells, used), "map_repeated": _share(cells, 2)}
    return {"cut_off": used, "cut_off_wanted": wanted, "n_shown": len(at), "n_links": len(links), **shares}


def _share(cells: Sequence[Row], cut_off: int) -> float | None:
    """Σ direct of cells that reach the cut-off / Σ direct."""
    return _share_of(sum(c["direct"] for c in cells if c["direct"] >= cut_off), sum(c["direct"] for c in cells))


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
            place = {code: i / max(len(other) - 1, 1) for other in rows for i, code in enumerate(other)}
            middle = {code: fmean([place[other] for other in beside[code]] or [0.5]) for code in row}
            rows[number] = sorted(row, key=middle.__getitem__)
    return rows
