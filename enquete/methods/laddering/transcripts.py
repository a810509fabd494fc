"""An agent's interview as it is read: questions and answers, the codes of each answer, and the agent's own graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enquete.locale import N_
from enquete.methods.laddering.files import codes_of
from enquete.methods.laddering.results import FACTS, GLOSSARY, TABLES
from enquete.reports.declarations import Chart, Presentation, shaped
from enquete.reports.evaluation import Transcript, dialogue, lines_of
from enquete.reports.views import Names, Results
from enquete.state.asking import Language

OF_ONE_AGENT = Presentation(
    tables=TABLES,
    facts=(*FACTS, *GLOSSARY.facts("n_nodes n_edges")),
    glossary=GLOSSARY,
    charts=(
        Chart(
            name="own_graph", title=N_("What {participant} named, and how it hangs together"), needs=("nodes", "edges"),
            draw="enquete.methods.laddering.charts:own_graph",
            alt=N_("{n_nodes} concepts and {n_edges} links of one interview."),
        ),
    ),
)  # fmt: skip


def read_transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    """Yield the interview of an agent, from the run's files; nothing where it has none."""
    from enquete.reports.charts import drawn  # noqa: PLC0415 - altair

    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if not turns:
        return
    pooled: dict[str, Any] = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    graphs = list(lines_of(folder / "knowledge_graphs.jsonl", "participant", participant))
    graph = graphs[0] if graphs else {"nodes": [], "edges": []}
    tables = {name: [{"participant": participant, **row} for row in graph[name]] for name in ("nodes", "edges")}
    codes = codes_of(tables["nodes"], pooled["concepts"])

    name = str(turns[0]["name"])
    facts = {"n_nodes": len(tables["nodes"]), "n_edges": len(tables["edges"])}
    analysis = shaped(OF_ONE_AGENT, {**pooled, **tables}, facts)
    results = Results("laddering", OF_ONE_AGENT, analysis, Names(agents={participant: name}), language)
    picture = next(iter(drawn(results, footer=name)), None)

    read = [codes.get(f"{participant}#{turn['turn']}", ()) for turn in turns]
    yield Transcript(name, dialogue(turns, read, language), graph=picture)
