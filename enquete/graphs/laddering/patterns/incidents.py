"""Critical incidents (Flanagan 1954): each with what came before it, what was done, what came of it and what stays; how far along
that chain it was told, and what is told of it most.

Measured by: parts worked out by hand (tests/graphs/laddering/test_laddering_patterns.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.means import share_interval
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph, reached
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.graphs.laddering.network import PooledConcept
from enquete.graphs.laddering.ontology import Incidents
from enquete.locale import N_, in_language
from enquete.reports.figures.canvas import Canvas, Figure, answers, columns, rows
from enquete.reports.figures.frame import EDGE, WIDTH
from enquete.reports.figures.palette import COLOURS, PAPER
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence
from enquete.reports.markdown import share
from enquete.state.asking import Language

ROW, SHOWN, LABEL = 46, 8, 190  # px; incidents that a figure has room for; px of their names
SMALL, LARGE = 18.0, 34.0  # px of a dot

WORDS = {
    "title": N_("Incidents: how far along its chain each was told, by agents"),
    "cell": N_("{incident}, {part}: {agents} of {n} agents; most: {most}"),
    "alt": N_("Agents who told each part of {incidents} incidents; of all {told} tellings {whole} have every part."),
    "finding": N_(
        "Of {told} incidents told, {whole} are told from what led to them to what stays ({shown_share}, 95% interval {low} to "
        "{high}; n = {n}/{total})."
    ),
    "first": N_(
        "The incident told most: “{item}”, in {agents} interviews ({shown_share}, 95% interval {low} to {high}; n = {n}/{total})."
    ),
}


def summed_up(
    interviews: Sequence[Interview],
    concepts: Sequence[PooledConcept],
    declared: Incidents,
    method: InterviewMethod,
    language: Language,
) -> dict[str, Any]:
    """told: incidents over all interviews; whole: those with every part; parts: tellings with it, and what is told most;
    incidents: by code, agents and what they told, part by part."""
    home = {place: one for one in concepts for place in one.members}
    tellings = [
        (interview.unit, centre, chain_of(interview.graph.standing, centre, declared))
        for interview in interviews
        for centre in _centres(interview.graph.standing, declared)
    ]
    named = [Counter[str]() for _ in declared.parts]
    by_code: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter[str]() for _ in declared.parts])
    having: dict[str, list[set[str]]] = defaultdict(lambda: [set[str]() for _ in declared.parts])
    for unit, centre, chain in tellings:
        code = home[unit, centre].id
        for place, nodes in enumerate(chain):
            labels = {home[unit, one].label for one in nodes}
            named[place].update(labels)
            by_code[code][place].update(labels)
            if nodes:
                having[code][place].add(unit)
    return {
        "told": len(tellings),
        "whole": sum(all(chain) for *_, chain in tellings),
        "parts": [
            {"label": part.label.in_(language), "told": sum(bool(chain[place]) for *_, chain in tellings),
             "different": len(named[place]), "first": _most(named[place])}
            for place, part in enumerate(declared.parts)
        ],
        "incidents": [
            {"id": one.id, "label": one.label, "agents": one.agents,
             "parts": [{"agents": len(having[one.id][place]), "first": _most(by_code[one.id][place])}
                       for place in range(len(declared.parts))]}
            for one in concepts if one.id in by_code
        ],
    }  # fmt: skip


def _most(counts: Counter[str]) -> str:
    return counts.most_common(1)[0][0] if counts else ""


def _centres(graph: KnowledgeGraph, declared: Incidents) -> list[str]:
    return [node.id for node in graph.nodes.values() if node.type == declared.centre]


def chain_of(graph: KnowledgeGraph, centre: str, declared: Incidents) -> list[list[str]]:
    """What hangs on an incident, by part; other incidents, and what only they lead to, are not its own."""
    ahead = defaultdict[str, list[str]](list)
    for edge in graph.edges.values():
        if graph.nodes[edge.target].type != declared.centre:
            ahead[edge.source].append(edge.target)
    own = reached([centre], ahead)
    return [[name for name in own if graph.nodes[name].type in part.types] for part in declared.parts]


def figures(own: Mapping[str, Any], note: str, language: Language) -> Iterator[Figure]:
    """A row an incident, a column a part; a dot as large as the number of agents who told it, which stands in it."""
    words = in_language(WORDS, language)
    shown = list(own["incidents"])[:SHOWN]
    if not shown:
        return
    parts = [escaped(one["label"]) for one in own["parts"]]
    cells = [
        (column, row, one, part)
        for row, one in enumerate(shown) for column, part in enumerate(one["parts"]) if part["agents"]
    ]  # fmt: skip
    most = max(part["agents"] for *_, part in cells)
    said = [
        words["cell"].format(incident=escaped(one["label"]), part=parts[column], agents=part["agents"], n=one["agents"],
                             most=escaped(part["first"]))
        for column, _, one, part in cells
    ]  # fmt: skip
    canvas = Canvas(words["title"], note, language, ROW * len(shown))
    canvas.data.append({
        "type": "scatter", "mode": "markers+text", "x": [cell[0] for cell in cells], "y": [cell[1] for cell in cells],
        "marker": {"color": COLOURS[0], "size": [SMALL + (LARGE - SMALL) * (part["agents"] / most) ** 0.5 for *_, part in cells]},
        "text": [str(part["agents"]) for *_, part in cells], "textposition": "middle center",
        "textfont": {"color": PAPER, "size": 11}, "hoverinfo": "text", "hovertext": said,
        "meta": {"links": [answers("laddering")] * len(cells)},
    })  # fmt: skip
    wide = (WIDTH - 2 * EDGE - LABEL) / len(parts) * 0.9
    canvas.layout.update(
        showlegend=False,
        xaxis=columns([wrapped(part, wide, 2, 11) for part in parts], side="top"),
        yaxis=rows([wrapped(escaped(one["label"]), LABEL, 2, 11) for one in shown]),
    )
    alt = words["alt"].format(incidents=len(shown), told=own["told"], whole=own["whole"])
    yield canvas.figure("incidents", alt, lead=True)


def findings(own: Mapping[str, Any], n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    """How many tellings are whole, and which incident most agents tell."""
    if n < FEWEST or not own["told"]:
        return
    whole = share_interval(own["whole"], own["told"])
    facts: dict[str, Any] = {"told": own["told"], "whole": own["whole"]}
    yield _stated("incidents", "finding", whole, facts, "", n, total, language)
    first = own["incidents"][0]
    if first["agents"] > 1:
        numbers = share_interval(first["agents"], n)
        yield _stated(
            f"incident.{first['label']}",
            "first",
            numbers,
            {"agents": first["agents"]},
            first["label"],
            n,
            total,
            language,
        )


def _stated(
    name: str, word: str, numbers: Mapping[str, float], facts: Mapping[str, Any], item: str, n: int, total: int,
    language: Language,
) -> KeyFinding:  # fmt: skip
    shown = {key: share(value, language) for key, value in numbers.items()}
    text = sentence(
        WORDS[word], language, item=item, n=n, total=total, shown_share=shown.pop("share"), **shown, **facts
    )
    every = {**numbers, **facts, "n": n}
    return KeyFinding(name, text, "position", numbers["share"], n, total, None, (), "incidents", every)
