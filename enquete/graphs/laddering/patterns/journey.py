"""A customer journey: its steps in the order they were told, how people were at each, and where it chafes.

Of two stages, or steps of a stage, the one stands first that more agents told first. A feeling belongs to the step it hangs on,
over any number of links; how good it is is the valence (1 to 5) of the answers that tell of it. A rule's valence counts only where
it found a word of feeling.

Measured by: orders and means worked out by hand (tests/graphs/laddering/test_laddering_patterns.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from enquete.analysis.means import mean_of
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph, Node
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.graphs.laddering.network import PooledConcept
from enquete.graphs.laddering.ontology import Journey
from enquete.locale import N_, in_language
from enquete.nodes.conversations import utterance_id
from enquete.reports.figures.canvas import Canvas, Figure, answers, columns, titled, told
from enquete.reports.figures.frame import EDGE, WIDTH
from enquete.reports.figures.palette import COLOURS, GRID, MUTED
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence
from enquete.reports.markdown import number
from enquete.respondents.roles import RULE
from enquete.state.asking import Language

NOTHING_FOUND = 3  # what a rule says of an answer without a word of feeling
PLOT = 300  # px
SHOWN = 8  # steps that a figure has room for: those that most agents told of

WORDS = {
    "title": N_("Journey: how people are at each step, in the order it was told"),
    "axis": N_("valence of the answers about it (1 to 5)"),
    "note": N_("the {n} steps that most agents told of; n: agents who told how they were there"),
    "step": N_("{step}: told by {agents} agents; valence {mean} (n = {n})"),
    "alt": N_("Mean valence along {steps} steps; lowest at {low} ({mean}, n = {n})."),
    "alt_none": N_("{steps} steps in the order they were told; nobody told how they were there."),
    "finding": N_(
        "Lowest point of the journey: “{item}”, where answers about feelings have a mean valence of {mean} of 5 "
        "(95% interval {low} to {high}; n = {n}/{total})."
    ),
}


def summed_up(
    interviews: Sequence[Interview],
    concepts: Sequence[PooledConcept],
    declared: Journey,
    method: InterviewMethod,
    language: Language,
) -> dict[str, Any]:
    """steps: in their order, with agents, valence with its n, feelings and frictions."""
    home = {place: one for one in concepts for place in one.members}
    tally = _Tally()
    for interview in interviews:
        tally.add(interview, declared, home)
    by_id = {one.id: one for one in concepts}
    return {"steps": [tally.step(by_id[code]) for code in tally.order()]}


class _Tally:
    """What the interviews told, by the code of each step."""

    def __init__(self) -> None:
        self.first = Counter[tuple[str, str]]()  # (a, b): agents who told a before b
        self.told: dict[str, None] = {}
        self.valences = defaultdict[str, list[float]](list)  # of the agents who told how they were, each agent's mean
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

    def add(self, interview: Interview, declared: Journey, home: Mapping[tuple[str, str], PooledConcept]) -> None:
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
            code, label = home[unit, step].id, home[unit, node.id].label
            if node.type in declared.frictions:
                self.frictions[code][label] += 1
            else:
                self.feelings[code][label] += 1
                felt[code] += valences(interview, node)
        for code, values in felt.items():
            self.valences[code] += [fmean(values)] if values else []

    def step(self, one: PooledConcept) -> dict[str, Any]:
        valence = mean_of(self.valences[one.id], (1, 5))
        return {
            "id": one.id,
            "label": one.label,
            "agents": one.agents,
            "valence": {"n": valence.n, "mean": valence.mean, "low": valence.low, "high": valence.high},
            "feeling": _most(self.feelings[one.id]),
            "friction": _most(self.frictions[one.id]),
            "frictions": self.frictions[one.id].total(),
        }


def _most(counts: Counter[str]) -> str:
    return counts.most_common(1)[0][0] if counts else ""


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
    return (
        next((one for one in sorted(graph.neighbours[step]) if _is(graph, one, declared.stages)), None)
        if not _is(graph, step, declared.stages)
        else None
    )


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
            if found := [one for one in layer if _is(graph, one, kinds)]:
                return found[0]
    return None


def _is(graph: KnowledgeGraph, name: str, kinds: Sequence[str]) -> bool:
    return graph.nodes[name].type in kinds


def valences(interview: Interview, node: Node) -> list[float]:
    """Of the answers that tell of a concept, as far as they were rated."""
    turns = {utterance_id(interview.unit, turn.turn): turn for turn in interview.turns}
    heard = [turns[source.utterance] for source in node.sources if source.utterance in turns]
    rated = [(turn, turn.readings.rating("valence")) for turn in heard]
    return [float(v) for turn, v in rated if v is not None and not (turn.by["signal"] == RULE and v == NOTHING_FOUND)]


def figures(own: Mapping[str, Any], note: str, language: Language) -> Iterator[Figure]:
    """A column a step from left to right, its dot as high as the valence told there, with its n."""
    words = in_language(WORDS, language)
    most = sorted(own["steps"], key=lambda one: -one["agents"])[:SHOWN]
    shown = [one for one in own["steps"] if one in most]
    if len(shown) < 2:
        return
    hover = [
        words["step"].format(
            step=escaped(one["label"]), agents=one["agents"],
            mean=number(one["valence"]["mean"], language), n=one["valence"]["n"],
        )
        for one in shown
    ]  # fmt: skip
    canvas = Canvas(words["title"], " · ".join([note, words["note"].format(n=len(shown))]), language, PLOT)
    canvas.data.append({
        "type": "scatter", "mode": "lines+markers+text", "x": list(range(len(shown))),
        "y": [one["valence"]["mean"] for one in shown], "line": {"color": COLOURS[0], "width": 2},
        "marker": {"color": COLOURS[0], "size": 11}, "text": [f"n = {one['valence']['n']}" for one in shown],
        "textposition": "top center", "textfont": {"color": MUTED, "size": 10}, "hoverinfo": "text", "hovertext": hover,
        "meta": {"links": [answers("laddering")] * len(shown)},
    })  # fmt: skip
    wide = (WIDTH - 2 * EDGE) / len(shown) * 0.85
    ticks = [wrapped(escaped(one["label"]), wide, 4, 10) for one in shown]
    canvas.layout.update(
        showlegend=False,
        xaxis=columns(ticks, tickfont={"size": 10}),
        yaxis=titled(words["axis"], range=[0.8, 5.4], tickvals=[1, 2, 3, 4, 5], ticktext=[*"12345"], gridcolor=GRID),
        annotations=[
            told("n = 0", place, 1.1, font={"color": MUTED, "size": 10})
            for place, one in enumerate(shown) if one["valence"]["mean"] is None
        ],
    )  # fmt: skip
    low = min(
        (one for one in shown if one["valence"]["mean"] is not None),
        key=lambda one: one["valence"]["mean"],
        default=None,
    )
    alt = words["alt_none"].format(steps=len(shown)) if low is None else words["alt"].format(
        steps=len(shown), low=escaped(low["label"]), mean=number(low["valence"]["mean"], language), n=low["valence"]["n"]
    )  # fmt: skip
    yield canvas.figure("journey", alt, lead=True)


def findings(own: Mapping[str, Any], n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    """The step with the lowest mean valence, of those that enough agents told their feelings of."""
    felt = [one for one in own["steps"] if one["valence"]["n"] >= FEWEST]
    if len(felt) < 2:
        return
    low = min(felt, key=lambda one: one["valence"]["mean"])
    valence = low["valence"]
    shown = {key: number(valence[key], language) for key in ("mean", "low", "high")}
    text = sentence(WORDS["finding"], language, item=low["label"], n=valence["n"], total=total, **shown)
    size = max(0.0, (3 - valence["mean"]) / 2)
    yield KeyFinding(
        f"journey.{low['label']}", text, "position", size, valence["n"], total, None, (), "journey", dict(valence)
    )
