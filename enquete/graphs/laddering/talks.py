"""One agent's interview as it is read: questions and answers, the codes of each answer, and the agent's own graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from enquete.graphs.laddering.export import codes_of
from enquete.graphs.laddering.figures import HEAD, ROW, WIDE, box, line
from enquete.locale import N_, in_language, tell
from enquete.reports.figures.canvas import Canvas, Figure, answers, note, told
from enquete.reports.figures.frame import EDGE, WIDTH
from enquete.reports.figures.palette import INK
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.reports.talks import INTERVIEWER, Line, Talk, lines_of
from enquete.state.asking import Language

WORDS = {
    "title": N_("What {name} named, from {low} to {high}"),
    "said": N_("a line leads from what was named to what it leads to, further right"),
    "leads": N_("{source} → {target}"),
    "alt": N_("{concepts} concepts and {links} links of one interview."),
}
TEXT = 10  # px
Graph = Mapping[str, Any]


def talks(folder: Path, participant: str, language: Language) -> Iterator[Talk]:
    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if not turns:
        return
    graphs = list(lines_of(folder / "knowledge_graphs.jsonl", "participant", participant))
    pooled: dict[str, Any] = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    codes = codes_of(graphs, pooled["concepts"])
    lines = tuple(one for turn in turns for one in _told(turn, codes, language))
    drawn = own_graph(graphs[0], pooled["kinds"], language) if graphs else None
    yield Talk(str(turns[0]["name"]), lines, graph=drawn)


def _told(turn: Mapping[str, Any], codes: Mapping[str, list[str]], language: Language) -> Iterator[Line]:
    number = int(turn["turn"])
    yield Line(tell(INTERVIEWER, language), turn["question"], turn=number)
    read = tuple(codes.get(f"{turn['participant']}#{number}", ()))
    yield Line(turn["name"], turn["answer"], turn["participant"], number, read)


def own_graph(graph: Graph, kinds: Sequence[Mapping[str, str]], language: Language) -> Figure | None:
    """Concepts in columns by their kind, from left to right, and what leads to what. None without a link."""
    words = in_language(WORDS, language)
    nodes = {str(node["id"]): node for node in graph["nodes"]}
    edges = [edge for edge in graph["edges"] if {edge["source"], edge["target"]} <= set(nodes)]
    used = [kind for kind in kinds if any(node["type"] == kind["id"] for node in nodes.values())]
    if not edges or not used:
        return None
    columns = [[name for name, node in nodes.items() if node["type"] == kind["id"]] for kind in used]
    places = {
        name: (float(level), place - (len(column) - 1) / 2)
        for level, column in enumerate(columns)
        for place, name in enumerate(column)
    }
    half = max(map(len, columns)) / 2
    title = words["title"].format(
        name=escaped(graph["name"]), low=escaped(used[0]["label"]), high=escaped(used[-1]["label"])
    )
    canvas = Canvas(title, note(language, words["said"]), language, plot=ROW * (2 * half + HEAD))
    drawn = [edge for edge in edges if {edge["source"], edge["target"]} <= set(places)]
    canvas.data.extend(line({**edge, "direct": 1}, places, 3) for edge in drawn)
    wide = (WIDTH - 2 * EDGE) / len(used) * WIDE
    canvas.data.append(_marks(graph, nodes, places, wide))
    canvas.layout.update(
        showlegend=False,
        xaxis={"visible": False, "range": [-WIDE / 2 - 0.01, len(used) - 1 + WIDE / 2 + 0.01]},
        yaxis={"visible": False, "range": [half, -half - HEAD]},
        shapes=[{**box(*place), "layer": "below"} for place in places.values()],
        annotations=[
            *(told(bold(wrapped(kind["label"], wide)), level, -half - HEAD / 2, font={"size": 11}) for level, kind in enumerate(used)),
        ],
    )  # fmt: skip
    return canvas.figure("own_graph", words["alt"].format(concepts=len(places), links=len(drawn)))


def _marks(
    graph: Graph, nodes: Mapping[str, Graph], places: Mapping[str, tuple[float, float]], wide: float
) -> dict[str, Any]:
    """What stands in the boxes; each leads to the answer that the concept was named in."""
    found = [nodes[name] for name in places]
    links = [answers("laddering", participant=graph["participant"], turn=node["turn"]) for node in found]
    return {
        "type": "scatter", "mode": "text", "x": [x for x, _ in places.values()], "y": [y for _, y in places.values()],
        "text": [wrapped(node["text"], wide - 8, 3, TEXT) for node in found], "textposition": "middle center",
        "textfont": {"size": TEXT, "color": INK}, "hoverinfo": "text", "hovertext": [escaped(node["text"]) for node in found],
        "showlegend": False, "meta": {"links": links},
    }  # fmt: skip
