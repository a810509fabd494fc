"""Many interviews as one network: concepts pooled as codes, the implication matrix with direct and indirect links, the
indices read off it (Reynolds & Gutman 1988; Pieters, Baumgartner & Allen 1995), the hierarchical value map; and what
interviews are summed up by where their ontology has no ladder but a `pattern`. Rows are those of tables.py.

Measured by: matrix, indices, cut-off, counts, orders and means by hand
(tests/methods/laddering/test_laddering_network.py, test_laddering_patterns.py).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import selected_intervals, share_intervals
from enquete.analysis.vocabulary import opposed
from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import ConceptNode, Force, Incidents, Journey, KnowledgeGraph, reached
from enquete.methods.laddering.settings import InterviewMethod
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST
from enquete.respondents.roles import RULE, normal
from enquete.respondents.rule_coder import features, tree_of
from enquete.runs.conversations import utterance_id
from enquete.state.asking import Language

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


# --- patterns of ontologies without a ladder --------------------------------------------------------------------------

NOTHING_FOUND = 3  # what a rule says of an answer without a word of feeling


def pattern(
    interviews: Sequence[LadderingInterview],
    concepts: Sequence[PooledConcept],
    method: InterviewMethod,
    language: Language,
) -> dict[str, Any]:
    """The tables of the pattern that the ontology declares; none where it has none. Counts are of codes and of
    agents."""
    declared = method.pattern
    if declared is not None and declared.forces is not None:
        return _forces(interviews, concepts, declared.forces, method, language)
    if declared is not None and declared.journey is not None:
        return {"steps": _steps(interviews, concepts, declared.journey)}
    if declared is not None and declared.incidents is not None:
        return _incidents(interviews, concepts, declared.incidents, language)
    return {}


def _forces(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], declared: Sequence[Force],
    method: InterviewMethod, language: Language,
) -> dict[str, Any]:  # fmt: skip
    """Forces of progress in jobs to be done (Moesta; Christensen et al. 2016): of each the agents who name it, those
    who were asked for it, its codes, the one named most; an agent's balance is (Σ for − Σ against) / Σ, from −1 to 1,
    None where it names no force."""
    counts = [
        [sum(node.type in force.types for node in interview.graph.standing.nodes.values()) for force in declared]
        for interview in interviews
    ]
    rows = []
    for place, force in enumerate(declared):
        codes = [concept for concept in concepts if concept.type in force.types]
        rows.append({
            "force": force.label.in_(language), "side": "towards" if force.for_change else "against",
            "agents": sum(named[place] > 0 for named in counts), "n": len(interviews), "codes": len(codes),
            "asked": sum(_asked(interview, force, method) for interview in interviews),
            "first": max(codes, key=lambda concept: concept.agents).id if codes else None,
        })  # fmt: skip
    sides = [1 if force.for_change else -1 for force in declared]
    balances = {
        interview.unit: sum(side * n for side, n in zip(sides, named, strict=True)) / sum(named) if sum(named) else None
        for interview, named in zip(interviews, counts, strict=True)
    }
    values = [balance for balance in balances.values() if balance is not None]
    return {"forces": rows, "balance": _weighed(values, len(interviews)), "balances": balances}


def _weighed(balances: Sequence[float], n_total: int) -> list[Row]:
    """How many agents name more for a change than against it: a sign test of those who do not name as much of both."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    if not balances:
        return []
    towards, against = sum(balance > 0 for balance in balances), sum(balance < 0 for balance in balances)
    decided = towards + against
    share = share_interval(towards, decided) if decided else {}
    return [{
        "direction": "towards" if towards > against else "against" if against > towards else "even", "n": len(balances),
        "n_total": n_total, "towards": towards, "even": len(balances) - decided, "against": against, "decided": decided,
        **{key: share.get(key) for key in ("share", "low", "high")}, "mean": fmean(balances),
        "p": float(stats.binomtest(towards, decided).pvalue) if decided >= FEWEST else None,
    }]  # fmt: skip


def _asked(interview: LadderingInterview, force: Force, method: InterviewMethod) -> bool:
    """Whether a question aimed at it: a force nobody asked for is not missing."""
    chosen = [turn.choice for turn in interview.turns if turn.choice]
    return any(
        way.id == choice.technique and way.elicits in force.types
        for choice in chosen
        for way in method.strategies[choice.strategy].techniques
    )


def _incidents(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], declared: Incidents, language: Language
) -> dict[str, Any]:
    """Critical incidents (Flanagan 1954). parts: tellings with each part, and what is told most; incidents: by code and
    part the agents who told it, and most told; whole: agents who told any incident, and those of them who told one with
    every part."""
    home, labels = homes(concepts), [part.label.in_(language) for part in declared.parts]
    units, whole, tellings = set[str](), set[str](), 0
    named = [Counter[str]() for _ in labels]
    with_part = Counter[str]()
    by_code: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter[str]() for _ in labels])
    having: dict[str, list[set[str]]] = defaultdict(lambda: [set[str]() for _ in labels])
    for interview in interviews:
        graph, unit = interview.graph.standing, interview.unit
        ahead = defaultdict[str, list[str]](list)
        for edge in graph.edges.values():  # but to other incidents: these, and what only they lead to, are not its own
            if graph.nodes[edge.target].type != declared.centre:
                ahead[edge.source].append(edge.target)
        for centre in (node.id for node in graph.nodes.values() if node.type == declared.centre):
            chain_nodes, code = reached([centre], ahead), home[unit, centre].id
            chain = [[name for name in chain_nodes if graph.nodes[name].type in part.types] for part in declared.parts]
            tellings += 1
            units.add(unit)
            whole |= {unit} if all(chain) else set()
            for place, nodes in enumerate(chain):
                codes = {home[unit, node].id for node in nodes}
                named[place].update(codes)
                by_code[code][place].update(codes)
                having[code][place] |= {unit} if nodes else set()
                with_part[labels[place]] += bool(nodes)
    incidents = [concept for concept in concepts if concept.id in by_code]
    agents = [concept.agents for concept in incidents]
    intervals = share_intervals(agents, len(interviews), selected="highest").to_dict("records")
    ties, whole_share = Counter(agents), share_interval(len(whole), len(units)) if units else {}
    middle = next(place for place, part in enumerate(declared.parts) if declared.centre in part.types)
    return {
        "parts": [{"part": label, "told": with_part[label], "tellings": tellings, "different": len(named[place]),
                   "first": _most(named[place])} for place, label in enumerate(labels) if tellings],
        "incidents": [
            {"incident": it.id, "part": label, "agents": len(having[it.id][place]),
             "first": _most(by_code[it.id][place]), "told_by": it.agents, "share": end["estimate"], "low": end["low"],
             "high": end["high"], "tie": "alone" if ties[it.agents] == 1 else "tied", "centre": place == middle}
            for it, end in zip(incidents, intervals, strict=True) for place, label in enumerate(labels)
        ],
        "whole": {"n_told": len(units), "n_whole": len(whole), **{f"whole_{key}": x for key, x in whole_share.items()}},
    }  # fmt: skip


def _most(counts: Counter[str]) -> str | None:
    """The code counted most; of several the one that more agents name, whose number is lower."""
    return min(counts, key=lambda code: (-counts[code], len(code), code), default=None)


def _steps(interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], declared: Journey) -> list[Row]:
    """Steps of a customer journey in the order they were told, how people were at each, and where it chafes.

    Of two stages, or steps of a stage, the one stands first that more agents told first. A feeling belongs to the step
    it hangs on, over any number of links; how good it is is the valence (1 to 5) of the answers that tell of it: each
    agent's mean. low, high: for the lowest of all steps that enough agents told their feelings of. A rule's valence
    counts only where it found a word of feeling.
    """
    home, agents = homes(concepts), {concept.id: concept.agents for concept in concepts}
    first, steps = Counter[tuple[str, str]](), dict[str, None]()  # (a, b): agents who told a before b
    felt, stages = defaultdict[str, list[float]](list), defaultdict[str, Counter[str]](Counter)
    feelings, frictions = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for interview in interviews:
        graph, unit = interview.graph.standing, interview.unit
        order = _told_order(graph, declared)
        codes = list(dict.fromkeys(home[unit, name].id for name in order))
        steps |= dict.fromkeys(codes)
        first.update(combinations(codes, 2))
        for name in order:
            if stage := _stage_of(graph, name, declared):
                stages[home[unit, name].id][home[unit, stage].id] += 1
        valences = defaultdict[str, list[float]](list)
        for node in graph.nodes.values():
            told_of = node.type in (*declared.feelings, *declared.frictions)
            if told_of and (step := _step_of(graph, node.id, declared)):
                code = home[unit, step].id
                (frictions if node.type in declared.frictions else feelings)[code][home[unit, node.id].id] += 1
                valences[code] += _valences(interview, node) if node.type not in declared.frictions else []
        for code, values in valences.items():
            felt[code] += [fmean(values)] if values else []
    ordered = _journey(steps, stages, first)
    enough = [code for code in ordered if len(felt[code]) >= FEWEST]
    means, interval = {code: fmean(felt[code]) for code in ordered if felt[code]}, dict[str, Any]()
    if len(enough) > 1:
        sizes, sds = zip(*((len(felt[code]), float(np.std(felt[code], ddof=1))) for code in enough), strict=True)
        ends = selected_intervals(sizes, [means[code] for code in enough], sds, selected="lowest", ends=(1, 5))
        interval = dict(zip(enough, ends.to_dict("records"), strict=True))
    lowest = min((means[code] for code in interval), default=None)
    return [
        {
            "step": code, "place": place, "agents": agents[code], "n": len(felt[code]), "n_total": len(interviews),
            "mean": means.get(code), **{key: interval.get(code, {}).get(key) for key in ("low", "high")},
            "lowest": code in interval and means[code] == lowest, "feeling": _most(feelings[code]),
            "friction": _most(frictions[code]), "frictions": frictions[code].total(),
        }
        for place, code in enumerate(ordered, 1)
    ]  # fmt: skip


def _journey(codes: Iterable[str], stages: Mapping[str, Counter[str]], first: Counter[tuple[str, str]]) -> list[str]:
    """Stages, each with the steps that most agents told of it; steps of no stage last."""

    def ranked(left: list[str]) -> list[str]:
        """Next is always the one that the fewest of those left should precede."""
        order = list[str]()
        while left:
            after = {code: sum(first[other, code] > first[code, other] for other in left) for code in left}
            order.append(min(left, key=after.__getitem__))
            left = [code for code in left if code != order[-1]]
        return order

    stage = {code: stages[code].most_common(1)[0][0] for code in codes if stages[code]}
    alone = [code for code in codes if code not in stage]
    heads = [code for code in alone if code in stage.values()]
    steps = {head: ranked([step for step in stage if stage[step] == head]) for head in heads}
    ordered = [code for head in ranked(heads) for code in (head, *steps[head])]
    return ordered + ranked([code for code in alone if code not in heads])


def _told_order(graph: KnowledgeGraph, declared: Journey) -> list[str]:
    """Stages and steps as they were told: a stage, then its steps; what is said to precede another comes before it."""
    stages = [node.id for node in graph.nodes.values() if node.type in declared.stages]
    later = {(e.target, e.source) for e in graph.edges.values() if e.type in declared.precedes}
    rank = dict[str, int]()
    while stages:
        # A circle of "comes before" has no first: then the one told first.
        free = next((stage for stage in stages if not any((stage, other) in later for other in stages)), stages[0])
        stages.remove(free)
        rank[free] = len(rank)
    steps = [node.id for node in graph.nodes.values() if node.type in declared.steps]
    of = {name: _stage_of(graph, name, declared) for name in steps}
    keyed = [(rank[name], -1, name) for name in rank]
    keyed += [(rank[stage] if (stage := of[name]) else len(rank), graph.order[name], name) for name in steps]
    return [name for *_, name in sorted(keyed)]


def _stage_of(graph: KnowledgeGraph, step: str, declared: Journey) -> str | None:
    """The stage that a step is linked with; None for one without, and for a stage itself."""
    if graph.nodes[step].type in declared.stages:
        return None
    return next((node for node in sorted(graph.neighbours[step]) if graph.nodes[node].type in declared.stages), None)


def _step_of(graph: KnowledgeGraph, node: str, declared: Journey) -> str | None:
    """The step that a concept hangs on: the nearest against the direction of its links, a step before a stage."""
    before = defaultdict[str, list[str]](list)
    for edge in graph.edges.values():
        before[edge.target].append(edge.source)
    layer, seen = [node], {node}
    while layer:
        layer = [node for name in layer for node in before[name] if node not in seen]
        seen.update(layer)
        for kinds in (declared.steps, declared.stages):
            if near := [node for node in layer if graph.nodes[node].type in kinds]:
                return near[0]
    return None


def _valences(interview: LadderingInterview, node: ConceptNode) -> list[float]:
    """Of the answers that tell of a concept, as far as they were rated."""
    turns = {utterance_id(interview.unit, turn.turn): turn for turn in interview.turns}
    heard = [turns[source.utterance] for source in node.sources if source.utterance in turns]
    rated = [(turn, turn.readings.rating("valence")) for turn in heard]
    return [float(v) for turn, v in rated if v is not None and not (turn.by["signal"] == RULE and v == NOTHING_FOUND)]
