"""One agent's interview as it is read: questions and answers, the codes of each answer, and the agent's own graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from enquete.graphs.laddering.export import codes_of
from enquete.graphs.laddering.tables import PRESENTATION
from enquete.locale import N_, tell
from enquete.reports.declarations import Chart, Presentation, integer, shaped
from enquete.reports.transcripts import INTERVIEWER, Line, Talk, lines_of
from enquete.reports.views import Names, Results
from enquete.state.asking import Language

OWN = Presentation(
    tables=tuple(PRESENTATION.tables.values()),
    facts=(*PRESENTATION.facts.values(), integer("n_nodes"), integer("n_edges")),
    charts=(Chart(
        name="own_graph", title=N_("What {participant} named, and how it hangs together"), needs=("nodes", "edges"),
        draw="enquete.graphs.laddering.charts:own_graph", alt=N_("{n_nodes} concepts and {n_edges} links of one "
                                                                 "interview."),
    ),),
)  # fmt: skip


def talks(folder: Path, participant: str, language: Language) -> Iterator[Talk]:
    from enquete.reports.charts import drawn  # noqa: PLC0415 - altair

    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if not turns:
        return
    pooled: dict[str, Any] = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    (graph,) = list(lines_of(folder / "knowledge_graphs.jsonl", "participant", participant)) or [
        {"nodes": [], "edges": []}
    ]
    tables = {name: [{"participant": participant, **one} for one in graph[name]] for name in ("nodes", "edges")}
    codes = codes_of(tables["nodes"], pooled["concepts"])
    name = str(turns[0]["name"])
    analysis = shaped(OWN, {**pooled, **tables}, {"n_nodes": len(tables["nodes"]), "n_edges": len(tables["edges"])})
    results = Results("laddering", OWN, analysis, Names(agents={participant: name}), language)
    picture = next(iter(drawn(results, footer=name)), None)
    yield Talk(name, tuple(one for turn in turns for one in _told(turn, codes, language)), graph=picture)


def _told(turn: Mapping[str, Any], codes: Mapping[str, list[str]], language: Language) -> Iterator[Line]:
    number = int(turn["turn"])
    yield Line(tell(INTERVIEWER, language), turn["question"], turn=number)
    read = tuple(codes.get(f"{turn['participant']}#{number}", ()))
    yield Line(turn["name"], turn["answer"], turn["participant"], number, read)
