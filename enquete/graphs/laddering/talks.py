"""One agent's interview as it is read: questions and answers, the codes of each answer, and the agent's own graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from enquete.graphs.laddering.export import codes_of
from enquete.graphs.laddering.map_figure import Plan, labels, relations_of, traces
from enquete.locale import N_, in_language, tell
from enquete.reports.figures.canvas import Canvas, Figure, answers, note
from enquete.reports.figures.palette import INK
from enquete.reports.figures.text import escaped
from enquete.reports.talks import INTERVIEWER, Line, Talk, lines_of
from enquete.state.asking import Language

WORDS = {
    "title": N_("What {name} named, from {low} to {high}"),
    "said": N_("a line leads to the right, ← to the left"),
    "leads": N_("{source} → {target}"),
    "alt": N_("{concepts} concepts and {links} links of one interview."),
}
Graph = Mapping[str, Any]


def talks(folder: Path, participant: str, language: Language) -> Iterator[Talk]:
    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if not turns:
        return
    graphs = list(lines_of(folder / "knowledge_graphs.jsonl", "participant", participant))
    pooled: dict[str, Any] = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    codes = codes_of(graphs, pooled["concepts"])
    lines = tuple(one for turn in turns for one in _told(turn, codes, language))
    drawn = own_graph(graphs[0], pooled["kinds"], pooled["relations"], language) if graphs else None
    yield Talk(str(turns[0]["name"]), lines, graph=drawn)


def _told(turn: Mapping[str, Any], codes: Mapping[str, list[str]], language: Language) -> Iterator[Line]:
    number = int(turn["turn"])
    yield Line(tell(INTERVIEWER, language), turn["question"], turn=number)
    read = tuple(codes.get(f"{turn['participant']}#{number}", ()))
    yield Line(turn["name"], turn["answer"], turn["participant"], number, read)


def own_graph(
    graph: Graph, kinds: Sequence[Mapping[str, str]], relations: Mapping[str, str], language: Language
) -> Figure | None:
    """Concepts in columns by their kind, from left to right, and how they are linked. None without a link."""
    words = in_language(WORDS, language)
    nodes = {str(node["id"]): node for node in graph["nodes"]}
    edges = [edge for edge in graph["edges"] if {edge["source"], edge["target"]} <= set(nodes)]
    used = [kind for kind in kinds if any(node["type"] == kind["id"] for node in nodes.values())]
    if not edges or not used:
        return None
    columns = [[name for name, node in nodes.items() if node["type"] == kind["id"]] for kind in used]
    boxes = {
        name: {"level": level, "place": place, "label": nodes[name]["text"]}
        for level, column in enumerate(columns)
        for place, name in enumerate(column)
    }
    known = [edge for edge in edges if {edge["source"], edge["target"]} <= set(boxes)]
    links = [{**edge, "direct": 0, "relation": edge["type"]} for edge in known]
    plan = Plan(boxes, links, [str(kind["label"]) for kind in used])
    title = words["title"].format(
        name=escaped(graph["name"]), low=escaped(used[0]["label"]), high=escaped(used[-1]["label"])
    )
    canvas = Canvas(title, note(language, words["said"]), language, plot=plan.px)
    said, lines = relations_of(links, relations), plan.lines()
    canvas.data.extend(traces(links, lines, said))
    hover = [
        words["leads"].format(**{end: escaped(nodes[one[end]]["text"]) for end in ("source", "target")})
        for one in links
    ]
    canvas.data.extend([labels(plan, lines, said, hover), _marks(graph, nodes, plan)])
    canvas.layout.update(plan.layout(len(said) > 1))
    for shape in canvas.layout["shapes"]:
        shape["layer"] = "below"
    return canvas.figure("own_graph", words["alt"].format(concepts=len(boxes), links=len(links)))


def _marks(graph: Graph, nodes: Mapping[str, Graph], plan: Plan) -> dict[str, Any]:
    """What stands in the boxes; each leads to the answer that the concept was named in."""
    found = [nodes[name] for name in plan.places]
    links = [answers("laddering", participant=graph["participant"], turn=node["turn"]) for node in found]
    return {
        "type": "scatter", "mode": "text", "x": [x for x, _ in plan.places.values()], "y": [y for _, y in plan.places.values()],
        "text": list(plan.texts.values()), "textposition": "middle center",
        "textfont": {"size": plan.size, "color": INK}, "hoverinfo": "text", "hovertext": [escaped(node["text"]) for node in found],
        "showlegend": False, "meta": {"links": links},
    }  # fmt: skip
