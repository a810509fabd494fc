"""The codebook in a researcher's hands: codes renamed, merged, split or retyped in codebook.yaml, and applied again to what the
interviews found. Nobody is asked anything; what was edited is kept beside the result.

Measured by: an unedited codebook gives the matrix back that it came from (tests/graphs/laddering/test_laddering_codebook.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from enquete.graphs.laddering.export import MAP, network_files, transcripts_md
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import Edge, KnowledgeGraph, Node, Source
from enquete.graphs.laddering.network import (
    Place,
    PooledConcept,
    concept_rows,
    homes,
    implication_matrix,
    node_rows,
    saturation,
    value_map,
)
from enquete.reports.writing import write_files
from enquete.respondents.quoting import normal
from enquete.state.errors import InputError
from enquete.state.regular_files import read_regular

RECODED = "recoded"


class Code(BaseModel):
    """A code as the file holds it; `agents` is for the reader and is counted anew."""

    model_config = ConfigDict(extra="forbid")

    id: str
    label: str = Field(min_length=1)
    type: str
    definition: str = ""
    agents: int = 0
    wordings: list[str] = Field(min_length=1)
    opposite: str = ""


class Codebook(BaseModel):
    model_config = ConfigDict(extra="forbid")

    codes: list[Code]


def read_codebook(path: Path, types: Sequence[str]) -> Codebook:
    """Raises InputError naming the file and what is wrong: no YAML, an unknown type, a wording or an id twice."""
    try:
        book = Codebook.model_validate(yaml.safe_load(read_regular(path)))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path.name}: {error}") from None
    for code in book.codes:
        if code.type not in types:
            raise InputError(f"{path.name}: code {code.id} has the type '{code.type}'; there are {', '.join(types)}")
    for what, names in (
        ("code", [code.id for code in book.codes]),
        ("wording", [f"{one.type}: {normal(text)}" for one in book.codes for text in one.wordings]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"{path.name}: {what} '{twice[0]}' stands there twice; it belongs to one code")
    return book


def recode(folder: Path, edited: Path) -> dict[str, Any]:
    """Matrix, map, saturation, codebook and transcripts by the edited codes, in `<folder>/recoded`; what was edited and left over."""
    before = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    graphs, turns = _lines(folder / "knowledge_graphs.jsonl"), _lines(folder / "turn_log.jsonl")
    kinds = [str(one["type"]) for one in before["types"]]
    book = read_codebook(edited, kinds)
    interviews = [_interview(one) for one in graphs]
    concepts, uncoded = assigned(book, interviews)
    home = homes(concepts)
    coded = only(interviews, home.__contains__)
    cells = implication_matrix(coded, concepts)
    climbs = any(one["rung"] for one in before["types"])
    definitions = {code.id: code.definition for code in book.codes}
    told = [
        {**one, "definition": definitions[one["concept"]] or None}
        for one in concept_rows(coded, concepts, cells, climbs=climbs)
    ]
    picture = value_map(cells, told, kinds, None)
    nodes = [row for one in interviews for row in node_rows(one, home)]
    edits = list(changes(before["concepts"], book))
    tables = {**before, "concepts": told, "implications": cells}
    written = {
        **network_files(tables, {key: picture[key] for key in MAP}),
        "saturation.json": {"by_interview": saturation(coded, concepts)},
        "transcripts.md": transcripts_md(
            turns, nodes, told, {str(one["participant"]): str(one["name"]) for one in graphs}
        ),
        "edits.json": {"from": edited.name, "edits": edits, "uncoded": uncoded},
    }
    write_files(folder / RECODED, written)
    return {"codes": len(concepts), "edits": edits, "uncoded": uncoded, "files": sorted(written)}


def assigned(book: Codebook, interviews: Sequence[Interview]) -> tuple[list[PooledConcept], int]:
    """The codes with the concepts whose words they list, the most widespread first, and how many concepts no code lists.

    Words that two codes list are the code's of the concept's own type.
    """
    homes: dict[str, list[Code]] = {}
    for code in book.codes:
        for text in code.wordings:
            homes.setdefault(normal(text), []).append(code)
    members: dict[str, list[Place]] = {code.id: [] for code in book.codes}
    uncoded = 0
    for interview in interviews:
        for node in interview.graph.standing.nodes.values():
            codes = homes.get(normal(node.text), [])
            uncoded += not codes
            for code in sorted(codes, key=lambda one: one.type != node.type)[:1]:
                members[code.id].append((interview.unit, node.id))
    found = [
        PooledConcept(one.id, one.label, one.type, tuple(members[one.id]), tuple(one.wordings), one.opposite)
        for one in book.codes
    ]
    return sorted(found, key=lambda one: -one.agents), uncoded


def changes(before: Sequence[Mapping[str, Any]], book: Codebook) -> Iterator[dict[str, Any]]:
    """What a researcher did to the codes that were made: renamed, retyped, moved, added, dropped."""
    old = {str(one["concept"]): one for one in before}
    home = {(one["type"], normal(text)): name for name, one in old.items() for text in one["wordings"]}
    for code in book.codes:
        was = old.get(code.id)
        if was is None:
            yield {"edit": "added", "code": code.id, "label": code.label}
        else:
            if was["label"] != code.label:
                yield {"edit": "renamed", "code": code.id, "from": was["label"], "to": code.label}
            if was["type"] != code.type:
                yield {"edit": "retyped", "code": code.id, "from": was["type"], "to": code.type}
        kind = was["type"] if was else code.type
        for text in code.wordings:
            came = home.get((kind, normal(text))) or next((n for (_, t), n in home.items() if t == normal(text)), "")
            if came != code.id:
                yield {"edit": "moved", "wording": text, "from": came, "to": code.id}
    kept = {code.id for code in book.codes}
    yield from (
        {"edit": "dropped", "code": name, "label": one["label"]} for name, one in old.items() if name not in kept
    )


def _interview(stored: Mapping[str, Any]) -> Interview:
    """A graph as knowledge_graphs.jsonl has it; a concept without turns."""
    nodes = [
        Node(id=one["node"], **{key: one[key] for key in OF_NODE}, sources=_sources(one)) for one in stored["nodes"]
    ]
    edges = [
        Edge(type=one["relation"], **{key: one[key] for key in OF_EDGE}, sources=_sources(one))
        for one in stored["edges"]
    ]
    graph = KnowledgeGraph({node.id: node for node in nodes}, {edge.key: edge for edge in edges})
    return Interview(str(stored["participant"]), graph=graph)


OF_NODE, OF_EDGE = (
    ("text", "type", "confidence", "turn", "elements"),
    ("source", "target", "confidence", "turn", "retracts", "contrast"),
)


def _sources(stored: Mapping[str, Any]) -> tuple[Source, ...]:
    return tuple(Source(utterance=u, quote=q) for u, q in zip(stored["utterances"], stored["quotes"], strict=True))


def only(interviews: Sequence[Interview], wanted: Callable[[Place], bool]) -> list[Interview]:
    """With these concepts alone, and the links between them."""
    found = []
    for one in interviews:
        whole = one.graph.standing
        nodes = {name: node for name, node in whole.nodes.items() if wanted((one.unit, name))}
        edges = {key: edge for key, edge in whole.edges.items() if {edge.source, edge.target} <= nodes.keys()}
        found.append(Interview(one.unit, graph=KnowledgeGraph(nodes, edges)))
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
