"""The codebook in a researcher's hands: codes renamed, merged, split or retyped in codebook.yaml, and applied again to what the
interviews found. Nobody is asked anything; what was edited is kept beside the result.

Measured by: an unedited codebook gives the matrix back that it came from (tests/graphs/laddering/test_laddering_codebook.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from enquete.checkpoints.folders import write_atomically
from enquete.graphs.laddering.export import codebook_yaml, implications_csv, pooled_graphml, transcripts_md
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import Edge, KnowledgeGraph, Node
from enquete.graphs.laddering.network import Place, PooledConcept, implication_matrix, indices, saturation
from enquete.graphs.laddering.value_map import drawn, mermaid
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
    graphs = _lines(folder / "knowledge_graphs.jsonl")
    kinds = [(str(one["id"]), str(one["label"])) for one in before["kinds"]]
    book = read_codebook(edited, [kind for kind, _ in kinds])
    interviews = [_interview(one) for one in graphs]
    concepts, uncoded = assigned(book, interviews)
    places = {place for one in concepts for place in one.members}
    coded = only(interviews, places.__contains__)
    cells = implication_matrix(coded, concepts)
    picture = drawn(cells, concepts, kinds, None)
    told = [{**asdict(one), "agents": one.agents} for one in concepts]
    links = [asdict(cell) for cell in cells]
    edits = list(changes(before["concepts"], book))
    definitions = {code.id: code.definition for code in book.codes if code.definition}
    indexed = [asdict(one) for one in indices(cells, concepts)] if before["indices"] else []
    pooled = {"concepts": told, "implications": links, "indices": indexed}
    written = {
        "pooled_graph.json": _json({**pooled, "kinds": before["kinds"], "relations": before["relations"]}),
        "pooled_graph.graphml": pooled_graphml(told, links),
        "implications.csv": implications_csv(told, links),
        "value_map.json": _json(asdict(picture)),
        "value_map.mmd": mermaid(picture, before["relations"]),
        "saturation.json": _json({"by_interview": saturation(coded, concepts)}),
        "codebook.yaml": codebook_yaml(told, definitions),
        "transcripts.md": transcripts_md(_lines(folder / "turn_log.jsonl"), graphs, told),
        "edits.json": _json({"from": edited.name, "edits": edits, "uncoded": uncoded}),
    }
    for name, text in written.items():
        write_atomically(folder / RECODED / name, text)
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
    old = {str(one["id"]): one for one in before}
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
    nodes = [Node.model_validate({k: v for k, v in one.items() if k != "retracted"}) for one in stored["nodes"]]
    edges = [Edge.model_validate(one) for one in stored["edges"]]
    graph = KnowledgeGraph({node.id: node for node in nodes}, {edge.key: edge for edge in edges})
    return Interview(str(stored["participant"]), graph=graph)


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


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
