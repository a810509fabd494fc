"""What interviews are summed up by where their ontology has no ladder: the forces for and against a change, the journey with
how people were at each step, the chain of an incident. Which one it is the ontology's file declares (`pattern`). Counts are of codes
and of agents; rows are those of tables.py.

Measured by: counts, orders and means worked out by hand (tests/graphs/laddering/test_laddering_patterns.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import selected_intervals, share_intervals
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph, Node, reached
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.graphs.laddering.network import Place, PooledConcept, Row, homes
from enquete.graphs.laddering.ontology import Force, Incidents, Journey
from enquete.nodes.conversations import utterance_id
from enquete.reports.findings import FEWEST
from enquete.respondents.roles import RULE
from enquete.state.asking import Language

NOTHING_FOUND = 3  # what a rule says of an answer without a word of feeling
Tables = dict[str, Any]


def pattern(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], method: InterviewMethod, language: Language
) -> Tables:
    """The tables of the pattern that the ontology declares; none where it has none."""
    own = method.pattern
    if own is None:
        return {}
    if own.forces is not None:
        return _forces(interviews, concepts, own.forces, method, language)
    if own.journey is not None:
        return {"steps": _steps(interviews, concepts, own.journey)}
    assert own.incidents is not None
    return _incidents(interviews, concepts, own.incidents, language)


# --- forces of progress in jobs to be done (Moesta; Christensen et al. 2016) ------------------------------------------


def _forces(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], declared: Sequence[Force],
        method: InterviewMethod,
    language: Language,
) -> Tables:  # fmt: skip
    """Of each force the agents who name it, those who were asked for it, its codes, the one named most."""
    named = [[_named(interview, force) for force in declared] for interview in interviews]
    rows = []
    for place, force in enumerate(declared):
        codes = [one for one in concepts if one.type in force.types]
        first = max(codes, key=lambda one: one.agents, default=None)
        rows.append({
            "force": force.label.in_(language), "side": "towards" if force.for_change else "against",
            "agents": sum(counts[place] > 0 for counts in named), "n": len(interviews), "codes": len(codes),
            "asked": sum(_asked(interview, force, method) for interview in interviews), "first": first and first.id,
        })  # fmt: skip
    balances = {i.unit: balance(counts, declared) for i, counts in zip(interviews, named, strict=True)}
    return {"forces": rows, "balance": _weighed([one for one in balances.values() if one is not None], len(interviews)),
            "balances": balances}  # fmt: skip


def _named(interview: Interview, force: Force) -> int:
    return sum(node.type in force.types for node in interview.graph.standing.nodes.values())


def balance(counts: Sequence[int], declared: Sequence[Force]) -> float | None:
    """(Σ for − Σ against) / Σ, from −1 (all against a change) to 1; None where no force is named."""
    total = sum(counts)
    for_change = sum(count for count, force in zip(counts, declared, strict=True) if force.for_change)
    return (2 * for_change - total) / total if total else None


def _weighed(known: Sequence[float], n_total: int) -> list[Row]:
    """How many agents name more for a change than against it: a sign test of those who do not name as much of both."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    if not known:
        return []
    towards, against = sum(one > 0 for one in known), sum(one < 0 for one in known)
    decided = towards + against
    share = share_interval(towards, decided) if decided else {}
    return [{
        "direction": "towards" if towards > against else "against" if against > towards else "even", "n": len(known),
        "n_total": n_total, "towards": towards, "even": len(known) - decided, "against": against, "decided": decided,
        **{key: share.get(key) for key in ("share", "low", "high")}, "mean": fmean(known),
        "p": float(stats.binomtest(towards, decided).pvalue) if decided >= FEWEST else None,
    }]  # fmt: skip


def _asked(interview: Interview, force: Force, method: InterviewMethod) -> bool:
    """Whether a question aimed at it: a force nobody asked for is not missing."""
    return any(
        technique.id == turn.choice.technique and technique.elicits in force.types
        for turn in interview.turns
        if turn.choice
        for technique in method.strategies[turn.choice.strategy].techniques
    )


# --- critical incidents (Flanagan 1954) -------------------------------------------------------------------------------


def _incidents(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], declared: Incidents, language: Language
) -> Tables:
    """parts: tellings with each part, and what is told most; incidents: by code and part the agents who told it, and most told;
    whole: agents who told any incident, and those of them who told one with every part."""
    home, labels = homes(concepts), [part.label.in_(language) for part in declared.parts]
    told, whole, tellings = set[str](), set[str](), 0
    named = [Counter[str]() for _ in labels]
    with_part = Counter[str]()
    by_code: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter[str]() for _ in labels])
    having: dict[str, list[set[str]]] = defaultdict(lambda: [set[str]() for _ in labels])
    for interview in interviews:
        graph, unit = interview.graph.standing, interview.unit
        for centre in (node.id for node in graph.nodes.values() if node.type == declared.centre):
            chain, code = chain_of(graph, centre, declared), home[unit, centre].id
            tellings += 1
            told.add(unit)
            whole |= {unit} if all(chain) else set()
            for place, nodes in enumerate(chain):
                codes = {home[unit, one].id for one in nodes}
                named[place].update(codes)
                by_code[code][place].update(codes)
                having[code][place] |= {unit} if nodes else set()
                with_part[labels[place]] += bool(nodes)
    found = [one for one in concepts if one.id in by_code]
    ends = share_intervals([one.agents for one in found], len(interviews), selected="highest").to_dict("records")
    ties, ends_of = Counter(one.agents for one in found), share_interval(len(whole), len(told)) if told else {}
    return {
        "parts": [{"part": label, "told": with_part[label], "tellings": tellings, "different": len(named[place]),
                   "first": _most(named[place])} for place, label in enumerate(labels) if tellings],
        "incidents": [
            {"incident": one.id, "part": label, "agents": len(having[one.id][place]),
                "first": _most(by_code[one.id][place]),
             "told_by": one.agents, "share": end["estimate"], "low": end["low"], "high": end["high"],
                 "tie": "alone" if ties[one.agents] == 1 else "tied",
             "centre": place == next(i for i, part in enumerate(declared.parts) if declared.centre in part.types)}
            for one, end in zip(found, ends, strict=True) for place, label in enumerate(labels)
        ],
        "whole": {"n_told": len(told), "n_whole": len(whole),
            **{f"whole_{key}": value for key, value in ends_of.items()}},
    }  # fmt: skip


def _most(counts: Counter[str]) -> str | None:
    """The code counted most; of several the one that more agents name, whose number is lower."""
    return min(counts, key=lambda code: (-counts[code], len(code), code), default=None)


def chain_of(graph: KnowledgeGraph, centre: str, declared: Incidents) -> list[list[str]]:
    """What hangs on an incident, by part; other incidents, and what only they lead to, are not its own."""
    ahead = defaultdict[str, list[str]](list)
    for edge in graph.edges.values():
        if graph.nodes[edge.target].type != declared.centre:
            ahead[edge.source].append(edge.target)
    own = reached([centre], ahead)
    return [[name for name in own if graph.nodes[name].type in part.types] for part in declared.parts]


# --- a customer journey -----------------------------------------------------------------------------------------------


def _steps(interviews: Sequence[Interview], concepts: Sequence[PooledConcept], declared: Journey) -> list[Row]:
    """Steps in the order they were told, how people were at each, and where it chafes.

    Of two stages, or steps of a stage, the one stands first that more agents told first. A feeling belongs to the step it hangs on,
    over any number of links; how good it is is the valence (1 to 5) of the answers that tell of it: each agent's mean. low, high: for
    the lowest of all steps that enough agents told their feelings of. A rule's valence counts only where it found a word of feeling.
    """
    home, tally = homes(concepts), _Tally()
    for interview in interviews:
        tally.add(interview, declared, home)
    by_id = {one.id: one for one in concepts}
    order = tally.order()
    felt = {code: tally.valences[code] for code in order}
    known = [code for code in order if len(felt[code]) >= FEWEST]
    sd = [float(np.std(felt[code], ddof=1)) for code in known]
    means = [fmean(felt[code]) for code in known]
    ends = (
        selected_intervals([len(felt[c]) for c in known], means, sd, selected="lowest", ends=(1, 5)).to_dict("records")
        if known
        else []
    )
    interval = dict(zip(known, ends, strict=True))
    lowest = min(means, default=None)
    return [
        {
            "step": code, "place": place, "agents": by_id[code].agents, "n": len(felt[code]),
            "n_total": len(interviews), "mean": fmean(felt[code]) if felt[code] else None,
            **{key: interval[code][key] if code in interval and len(known) > 1 else None for key in ("low", "high")},
            "lowest": code in interval and len(known) > 1 and fmean(felt[code]) == lowest,
            "feeling": _most(tally.feelings[code]), "friction": _most(tally.frictions[code]),
            "frictions": tally.frictions[code].total(),
        }
        for place, code in enumerate(order, 1)
    ]  # fmt: skip


class _Tally:
    """What the interviews told, by the code of each step."""

    def __init__(self) -> None:
        self.first = Counter[tuple[str, str]]()  # (a, b): agents who told a before b
        self.told: dict[str, None] = {}
        self.valences = defaultdict[str, list[float]](list)
        self.feelings = defaultdict[str, Counter[str]](Counter)
        self.frictions = defaultdict[str, Counter[str]](Counter)
        self.stages = defaultdict[str, Counter[str]](Counter)

    def order(self) -> list[str]:
        """Stages, each with the steps that most agents told of it; steps of no stage last."""
        stage = {one: self.stages[one].most_common(1)[0][0] for one in self.told if self.stages[one]}
        alone = [one for one in self.told if one not in stage]
        stages = [one for one in alone if one in stage.values()]
        found: list[str] = []
        for one in self._ranked(stages):
            found += [one, *self._ranked([each for each in stage if stage[each] == one])]
        return found + self._ranked([one for one in alone if one not in stages])

    def _ranked(self, left: list[str]) -> list[str]:
        """Next is always the one that the fewest of those left should precede."""
        found = list[str]()
        while left:
            after = {one: sum(self.first[other, one] > self.first[one, other] for other in left) for one in left}
            found.append(min(left, key=after.__getitem__))
            left = [one for one in left if one != found[-1]]
        return found

    def add(self, interview: Interview, declared: Journey, home: Mapping[Place, PooledConcept]) -> None:
        graph, unit = interview.graph.standing, interview.unit
        order = told_order(graph, declared)
        codes = list(dict.fromkeys(home[unit, name].id for name in order))
        self.told |= dict.fromkeys(codes)
        self.first.update(combinations(codes, 2))
        for name in order:
            stage = stage_of(graph, name, declared)
            if stage:
                self.stages[home[unit, name].id][home[unit, stage].id] += 1
        felt = defaultdict[str, list[float]](list)
        for node in graph.nodes.values():
            step = step_of(graph, node.id, declared)
            if step is None or node.type not in (*declared.feelings, *declared.frictions):
                continue
            code, own = home[unit, step].id, home[unit, node.id].id
            if node.type in declared.frictions:
                self.frictions[code][own] += 1
            else:
                self.feelings[code][own] += 1
                felt[code] += valences(interview, node)
        for code, values in felt.items():
            self.valences[code] += [fmean(values)] if values else []


def told_order(graph: KnowledgeGraph, declared: Journey) -> list[str]:
    """Stages and steps as they were told: a stage, then its steps; what is said to precede another comes before it."""
    stages = [node.id for node in graph.nodes.values() if node.type in declared.stages]
    later = {(e.target, e.source) for e in graph.edges.values() if e.type in declared.precedes}
    ranked: list[str] = []
    while stages:
        # A circle of "comes before" has no first: then the one told first.
        free = next((one for one in stages if not any((one, other) in later for other in stages)), stages[0])
        stages.remove(free)
        ranked.append(free)
    rank = {name: place for place, name in enumerate(ranked)}
    steps = [node.id for node in graph.nodes.values() if node.type in declared.steps]

    def key(name: str) -> tuple[int, int]:
        stage = stage_of(graph, name, declared)
        return (rank[stage] if stage else len(rank), graph.order[name])

    found = [*((rank[name], -1, name) for name in ranked), *((*key(name), name) for name in steps)]
    return [name for *_, name in sorted(found)]


def stage_of(graph: KnowledgeGraph, step: str, declared: Journey) -> str | None:
    """The stage that a step is linked with; None for one without, and for a stage itself."""
    if graph.nodes[step].type in declared.stages:
        return None
    return next((one for one in sorted(graph.neighbours[step]) if graph.nodes[one].type in declared.stages), None)


def step_of(graph: KnowledgeGraph, node: str, declared: Journey) -> str | None:
    """The step that a concept hangs on: the nearest against the direction of its links, a step before a stage."""
    before = defaultdict[str, list[str]](list)
    for edge in graph.edges.values():
        before[edge.target].append(edge.source)
    layer, seen = [node], {node}
    while layer:
        layer = [one for name in layer for one in before[name] if one not in seen]
        seen.update(layer)
        for kinds in (declared.steps, declared.stages):
            if found := [one for one in layer if graph.nodes[one].type in kinds]:
                return found[0]
    return None


def valences(interview: Interview, node: Node) -> list[float]:
    """Of the answers that tell of a concept, as far as they were rated."""
    turns = {utterance_id(interview.unit, turn.turn): turn for turn in interview.turns}
    heard = [turns[source.utterance] for source in node.sources if source.utterance in turns]
    rated = [(turn, turn.readings.rating("valence")) for turn in heard]
    return [float(v) for turn, v in rated if v is not None and not (turn.by["signal"] == RULE and v == NOTHING_FOUND)]
