"""Files of the interviews, made of their tables: knowledge graphs, the implication matrix as a table, the map, the
codebook, the interviews with their codes in the margin; what is read of them by a program; and the same by a codebook
that a researcher edited (codes renamed, merged, split or retyped): nobody is asked anything, and what was edited is
kept beside the result.

Measured by: an unedited codebook gives the matrix back that it came from
(tests/methods/laddering/test_laddering_codebook.py).
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, get_args

import networkx as nx  # type: ignore[import-untyped]
import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.instruments.load import load_layer
from enquete.ledger.folders import read_record, run_folder
from enquete.methods.laddering.coding import Codebook, assigned, only
from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import ConceptNode, ConceptSource, Edge, KnowledgeGraph
from enquete.methods.laddering.network import concept_rows, homes, implication_matrix, node_rows, saturation, value_map
from enquete.methods.laddering.settings import Concept, InterviewMethod
from enquete.methods.laddering.translation import Fate
from enquete.reports import declarations as d
from enquete.reports.context import Files
from enquete.reports.markdown import escape
from enquete.reports.writing import lines, write_files
from enquete.respondents.roles import normal
from enquete.runs.result_folders import population_folders
from enquete.simulations.locate import by_id, is_plain
from enquete.state.errors import InputError, InstrumentError
from enquete.state.methodology import Operation, Port
from enquete.state.request import RUN_ID
from enquete.state.untrusted_input import as_cell, authorship, read_regular

Rows = Iterable[d.Row]
POOLED = ("concepts", "implications", "types", "relations")
MAP = ("cut_off", "cut_off_wanted", "map_share", "map_repeated")
OF_TURN = ("participant", "turn", "question", "answer", "status")
INTERVIEW = (
    "partial", "arms", "concept", "methodology", "strategy", "n", "n_total", "n_over", "coding", "stops", "coverage",
    "strategies", "work", "dropped", "interviews", "strategies_compared", "adapting",
)  # fmt: skip


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, turn log, graphs (JSON and GraphML), implication matrix, value map (JSON, Mermaid),
    saturation."""
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    nodes, edges, turns = (results.rows(name) for name in ("nodes", "edges", "turns"))
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": (
            {"name": names.get(t["participant"], ""), **{key: t[key] for key in OF_TURN}} for t in turns
        ),
        "turn_log.jsonl": turn_log(turns, results.rows("signals"), names),
        "interviews.json": {key: results[key] for key in INTERVIEW},
        "knowledge_graphs.jsonl": graphs_of(nodes, edges, names),
        "knowledge_graphs.graphml": agents_graphml(nodes, edges),
        **network_files({key: results.rows(key) for key in POOLED}, {key: results[key] for key in MAP}),
        "transcripts.md": transcripts_md(turns, nodes, results.rows("concepts"), names),
        "saturation.json": {"by_interview": results["saturation"]},
        **({"translation.json": results["translated"]} if results["translated"] else {}),
    }


def network_files(tables: Mapping[str, Rows], about: d.Row) -> dict[str, Any]:
    """Of concepts, implications, types and relations; about: the map's facts."""
    concepts, cells, types = tables["concepts"], tables["implications"], tables["types"]
    links = [cell for cell in cells if cell["shown"]]
    boxes = [
        {key: row[key] for key in ("concept", "label", "type", "agents", "level", "place")}
        for row in concepts
        if row["level"] is not None
    ]
    kind, of_level = {row["type"]: row["label"] for row in types}, {row["level"]: row["type"] for row in boxes}
    levels = [kind[of_level[level]] for level in sorted(of_level)]
    return {
        "pooled_graph.json": {name: tables[name] for name in POOLED},
        "pooled_graph.graphml": pooled_graphml(concepts, cells),
        "value_map.json": {**about, "levels": levels, "boxes": boxes, "links": links},
        "value_map.mmd": mermaid(levels, boxes, links, tables["relations"]),
        "implications.csv": implications_csv(concepts, cells),
        "codebook.yaml": codebook_yaml(concepts),
    }


# --- turns and graphs, agent by agent --------------------------------------------------------------------------------


def turn_log(turns: Rows, read: Rows, names: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    """A turn with what it was judged, signalled and scored by, each beside the utterance that it was read from."""
    signals = {key: list(rows) for key, rows in groupby(read, key=itemgetter("participant", "turn"))}
    for turn in turns:
        key, who = (turn["participant"], turn["turn"]), turn["participant"]
        source = {"source_utterance_id": f"{who}#{turn['turn']}", "source_quote": (turn["answer"] or "")[:300]}
        turn_signals = [{**_rest(row), **source} for row in signals.get(key, ())]
        by = {name: turn[f"by_{name}"] for name in ("extract", "signal", "question")}
        rest = {name: value for name, value in turn.items() if not name.startswith("by_")}
        yield {"name": names.get(who, ""), **rest, "by": by, "signals": turn_signals, **source}


def _rest(row: d.Row) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("participant", "turn")}


def graphs_of(nodes: Rows, edges: Rows, names: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    by_agent = [
        {
            who: [_rest(row) | {"turn": row["turn"]} for row in group]
            for who, group in groupby(rows, key=itemgetter("participant"))
        }
        for rows in (nodes, edges)
    ]
    for who, mentioned in by_agent[0].items():
        yield {"participant": who, "name": names.get(who, ""), "nodes": mentioned, "edges": by_agent[1].get(who, [])}


def agents_graphml(nodes: Rows, edges: Rows) -> str:
    """One GraphML of all agents' graphs side by side; node ids are "<participant>/<node>"."""
    graph = nx.MultiDiGraph()  # two relationships of different types may join the same concepts
    for row in nodes:
        graph.add_node(f"{row['participant']}/{row['node']}", **_facts({
            "label": row["text"], **{key: row[key] for key in ("participant", "type", "turn", "confidence",
                "retracted")},
            "elements": ", ".join(row["elements"]), "sources": "; ".join(row["utterances"]), "quote": row["quote"],
        }))  # fmt: skip
    for number, row in enumerate(edges, start=1):
        ends = (f"{row['participant']}/{row[end]}" for end in ("source", "target"))
        graph.add_edge(*ends, key=f"e{number}", **_facts({
            "link_type": row["relation"], "link_turn": row["turn"], "link_confidence": row["confidence"],
            "link_sources": "; ".join(row["utterances"]), "link_quote": row["quotes"][0],
        }))  # fmt: skip
    return _graphml(graph)


def pooled_graphml(concepts: Rows, cells: Rows) -> str:
    """The pooled graph: concepts with their agents, direct links with theirs."""
    graph = nx.MultiDiGraph()
    for row in concepts:
        graph.add_node(row["concept"], **_facts({key: row[key] for key in ("label", "type", "agents", "opposite")}))
    for number, row in enumerate((cell for cell in cells if cell["direct"]), start=1):
        facts = {"weight": row["direct"], **{key: row[key] for key in ("direct", "indirect", "relation")}}
        graph.add_edge(row["source"], row["target"], key=f"e{number}", **_facts(facts))
    return _graphml(graph)


def _facts(facts: d.Row) -> dict[str, Any]:
    """Without what is missing, and without the control characters that XML does not allow."""
    return {
        name: "".join(char for char in fact if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff"))
        if isinstance(fact, str) else fact
        for name, fact in facts.items() if fact is not None
    }  # fmt: skip


def _graphml(graph: nx.MultiDiGraph) -> str:
    """Keys are called by their names, none of an edge as one of a node: Gephi, as yEd does, takes whatever is numbered
    d3 for a node's label and d7 for an edge's (ImporterGraphML.java)."""
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"


# --- all interviews together -----------------------------------------------------------------------------------------


def mermaid(levels: Sequence[str], boxes: Rows, links: Rows, relations: Rows) -> str:
    """The map as Mermaid source, bottom to top, with what links say on them."""
    labels, out = {row["relation"]: row["label"] for row in relations}, ["flowchart BT"]
    for level, name in enumerate(levels):
        on_level = sorted((box for box in boxes if box["level"] == level), key=itemgetter("place"))
        out.append(f'  subgraph L{level}["{_quoted(name)}"]')
        out += [*(f'    {box["concept"]}["{_quoted(box["label"])} ({box["agents"]})"]' for box in on_level), "  end"]
    for link in links:
        label = _quoted(f"{labels.get(link['relation'], '')} {link['direct']}")
        out.append(f"  {link['source']} -->|{label}| {link['target']}")
    return "\n".join(out) + "\n"


def _quoted(text: str) -> str:
    """Mermaid's own escapes: nothing that was said ends a label or starts a directive."""
    return "".join(char if char.isalnum() or char in " .,-–" else f"#{ord(char)};" for char in " ".join(text.split()))


def implications_csv(concepts: Rows, cells: Rows) -> str:
    """The matrix as Reynolds & Gutman (1988) print it: a row leads to a column, "3.02" is three direct and two indirect
    links."""
    linked = {cell[end] for cell in cells for end in ("source", "target")}
    codes = [code for code in concepts if code["concept"] in linked]
    links = {(cell["source"], cell["target"]): f"{cell['direct']}.{cell['indirect']:02d}" for cell in cells}
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["id", "type", "code", *(as_cell(code["label"]) for code in codes)])
    for row in codes:
        counts = (links.get((row["concept"], column["concept"]), "") for column in codes)
        table.writerow([row["concept"], row["type"], as_cell(row["label"]), *counts])
    return out.getvalue()


def codebook_yaml(concepts: Rows) -> str:
    """Every code with its type, what a researcher or a model wrote of it, the agents who named it, all wordings that
    stand for it."""
    codes = [
        {"id": row["concept"], "label": row["label"], "type": row["type"], "definition": row["definition"] or "",
            "agents": row["agents"],
         "wordings": list(row["wordings"]), **({"opposite": row["opposite"]} if row["opposite"] else {})}
        for row in concepts
    ]  # fmt: skip
    return str(yaml.safe_dump({"codes": codes}, allow_unicode=True, sort_keys=False, width=120))


def transcripts_md(turns: Rows, nodes: Rows, concepts: Rows, names: Mapping[str, str]) -> str:
    """All interviews in words, each answer beside the codes that were read in it."""
    codes = codes_of(nodes, concepts)
    out: list[str] = []
    for turn in turns:
        who = turn["participant"]
        if turn["turn"] == 1:
            out += ["", f"## {escape(names.get(who) or who)}", "", "| | | |", "|---:|---|---|"]
        margin = "<br>".join(escape(label) for label in codes.get(f"{who}#{turn['turn']}", ()))
        words = f"**{escape(turn['question'])}**<br>{escape(turn['answer'] or '')}"
        out.append(f"| {turn['turn']} | {words} | {margin} |".replace("\n", " "))
    return "\n".join(out).lstrip() + "\n"


def codes_of(nodes: Rows, concepts: Rows) -> Mapping[str, list[str]]:
    """Utterance → labels of its codes."""
    label, codes = {row["concept"]: row["label"] for row in concepts}, defaultdict[str, list[str]](list)
    for node in nodes:
        for utterance in node["utterances"] if node["concept"] in label else ():
            codes[utterance].append(label[node["concept"]])
    return codes


# --- by an edited codebook --------------------------------------------------------------------------------------------

RECODED = "recoded"


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
        ("wording", [f"{code.type}: {normal(text)}" for code in book.codes for text in code.wordings]),
    ):
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"{path.name}: {what} '{twice[0]}' stands there twice; it belongs to one code")
    return book


def recode(folder: Path, edited: Path) -> dict[str, Any]:
    """Matrix, map, saturation, codebook and transcripts by the edited codes, in `<folder>/recoded`; what was edited and
    left over."""
    before = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    graphs, turns = _lines(folder / "knowledge_graphs.jsonl"), _lines(folder / "turn_log.jsonl")
    kinds = [str(row["type"]) for row in before["types"]]
    book = read_codebook(edited, kinds)
    interviews = [_interview(graph) for graph in graphs]
    concepts, uncoded = assigned(book, interviews)
    home = homes(concepts)
    coded = only(interviews, home.__contains__)
    cells = implication_matrix(coded, concepts)
    definitions = {code.id: code.definition for code in book.codes}
    rows = concept_rows(coded, concepts, cells, climbs=any(row["rung"] for row in before["types"]))
    codes = [{**row, "definition": definitions[row["concept"]] or None} for row in rows]
    picture = value_map(cells, codes, kinds, None)
    nodes = [row for interview in interviews for row in node_rows(interview, home)]
    names = {str(graph["participant"]): str(graph["name"]) for graph in graphs}
    edits = list(changes(before["concepts"], book))
    tables = {**before, "concepts": codes, "implications": cells}
    written = {
        **network_files(tables, {key: picture[key] for key in MAP}),
        "saturation.json": {"by_interview": saturation(coded, concepts)},
        "transcripts.md": transcripts_md(turns, nodes, codes, names),
        "edits.json": {"from": edited.name, "edits": edits, "uncoded": uncoded},
    }
    write_files(folder / RECODED, written)
    return {"codes": len(concepts), "edits": edits, "uncoded": uncoded, "files": sorted(written)}


def changes(before: Sequence[Mapping[str, Any]], book: Codebook) -> Iterator[dict[str, Any]]:
    """What a researcher did to the codes that were made: renamed, retyped, moved, added, dropped."""
    old = {str(row["concept"]): row for row in before}
    home = {(row["type"], normal(text)): name for name, row in old.items() for text in row["wordings"]}
    for code in book.codes:
        was = old.get(code.id, {"label": code.label, "type": code.type})
        if code.id not in old:
            yield {"edit": "added", "code": code.id, "label": code.label}
        if was["label"] != code.label:
            yield {"edit": "renamed", "code": code.id, "from": was["label"], "to": code.label}
        if was["type"] != code.type:
            yield {"edit": "retyped", "code": code.id, "from": was["type"], "to": code.type}
        for text in code.wordings:
            anywhere = (name for (_, wording), name in home.items() if wording == normal(text))
            came = home.get((was["type"], normal(text))) or next(anywhere, "")
            if came != code.id:
                yield {"edit": "moved", "wording": text, "from": came, "to": code.id}
    ids = {code.id for code in book.codes}
    yield from (
        {"edit": "dropped", "code": name, "label": row["label"]} for name, row in old.items() if name not in ids
    )


def _interview(stored: Mapping[str, Any]) -> LadderingInterview:
    """A graph as knowledge_graphs.jsonl has it; a concept without turns."""

    def whole(row: d.Row) -> dict[str, Any]:
        quotes = zip(row["utterances"], row["quotes"], strict=True)
        return {**row, "sources": [ConceptSource(utterance=utterance, quote=quote) for utterance, quote in quotes]}

    nodes = [ConceptNode.model_validate({**whole(node), "id": node["node"]}) for node in stored["nodes"]]
    edges = [Edge.model_validate({**whole(edge), "type": edge["relation"]}) for edge in stored["edges"]]
    graph = KnowledgeGraph({node.id: node for node in nodes}, {edge.key: edge for edge in edges})
    return LadderingInterview(str(stored["participant"]), graph=graph)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


# --- as a program reads them ------------------------------------------------------------------------------------------

LONGEST_CHAIN = 8  # codes
FOLDER = Path("T1", "laddering")


class OfRun(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sim_id: str = Field(
        min_length=1,
        max_length=1000,
        description="the simulation, or the interview with a person; a folder where files may be named",
    )
    run_id: str = Field("", pattern=rf"^$|{RUN_ID}", description="the run; the latest with interviews unless named")
    recoded: bool = Field(False, description="by the edited codebook, once it was applied")


class ResultsQuery(OfRun):
    part: Literal["codes", "chains", "map", "transcript"] = Field(
        "codes",
        description="codes with their wordings; chains of them by their weakest link; the map: boxes by level and "
        "links; one agent's transcript with what was read in each answer and why the next was asked",
    )
    most: int = Field(30, ge=1, le=500, description="codes or chains, the strongest first")
    agent: str = Field("", max_length=200, description="of the transcript: name or id")


class Applying(OfRun):
    file: str = Field(
        "codebook_edited.yaml", pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}\.ya?ml$",
        description="the edited codebook, in the run's folder",
    )  # fmt: skip


class CodebookFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    file: str = Field(min_length=1, max_length=1000, description="its name; its path where files may be named")
    document: bool = Field(False, description="with the file in this project's own terms, to be edited")


async def laddering_results(port: Port, asked: ResultsQuery) -> dict[str, JsonValue]:
    """What laddering interviews, of a study or with one person, came to, who made the codes, and who answered."""
    if asked.part == "transcript":
        return _transcript(port, asked)
    folder = _folder(port, asked)
    about, drawn = _about(port, asked), _read(folder, "value_map.json")
    if asked.part == "map":
        return {**about, **drawn}
    concepts = _read(folder, "pooled_graph.json")["concepts"]
    if asked.part == "codes":
        shown = ("concept", "label", "type", "agents", "wordings", "abstractness", "centrality", "prestige")
        codes: list[JsonValue] = [{key: code[key] for key in shown} for code in concepts[: asked.most]]
        return {**about, "codes": codes, "total": len(concepts)}
    label = {code["concept"]: code["label"] for code in concepts}
    ordered = sorted(chains_of(drawn["links"]), key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))
    chains: list[JsonValue] = [{"chain": [label[code] for code in chain], "agents": n} for chain, n in ordered]
    return {**about, "chains": chains[: asked.most], "total": len(chains)}


def chains_of(links: list[Mapping[str, Any]]) -> Iterator[tuple[list[str], int]]:
    """(codes, agents who gave its weakest link) of every chain, from where nothing leads in to where nothing leads on,
    cut at LONGEST_CHAIN; no code twice in one."""
    ahead: dict[str, dict[str, int]] = {}
    for link in links:
        ahead.setdefault(link["source"], {})[link["target"]] = link["direct"]
    led_to = {link["target"] for link in links}
    waiting = [([start], 10**9) for start in ahead if start not in led_to]
    while waiting:
        chain, weakest = waiting.pop()
        on = {code: n for code, n in ahead.get(chain[-1], {}).items() if code not in chain}
        if not on or len(chain) >= LONGEST_CHAIN:
            yield chain, weakest
        else:
            waiting += [([*chain, code], min(weakest, n)) for code, n in on.items()]


def _about(port: Port, asked: OfRun) -> dict[str, JsonValue]:
    """Which run it is, of how many interviews, and who made the codes: a model, a rule, or a researcher."""
    folder = _folder(port, asked, plain=True)
    interviews = _read(folder, "interviews.json")
    by = "researcher" if asked.recoded else "model" if interviews["coding"] == "model" else "rule"
    return {"run_id": folder.name, "interviews": interviews["n"], "coded_by": by, **_authorship(folder)}


def _authorship(folder: Path) -> dict[str, JsonValue]:
    """Who answered. folder: of the run's results."""
    main = read_record(run_folder(folder.parents[len(FOLDER.parts)], folder.name)).main
    return {**authorship(main.respondent, main.model)}


def _transcript(port: Port, asked: ResultsQuery) -> dict[str, JsonValue]:
    if not asked.agent:
        raise InputError("agent: say whose transcript, by name or id")
    folder = _folder(port, asked, plain=True)
    shown = ("turn", "question", "strategy", "focus", "answer", "new_concepts", "new_links", "by", "stop")
    turns = [turn for turn in _lines(folder / "turn_log.jsonl") if asked.agent in (turn["participant"], turn["name"])]
    log: list[JsonValue] = [{key: turn[key] for key in shown} for turn in turns]
    if not log:
        raise InputError(f"nobody called {asked.agent!r} was interviewed in this run")
    return {"agent": asked.agent, "turns": log, **_authorship(folder)}


async def apply_codebook(port: Port, asked: Applying) -> dict[str, JsonValue]:
    """Apply an edited codebook (codes renamed, merged, split, retyped) again: matrix, map, saturation and transcripts,
    in `recoded`."""
    folder = _folder(port, asked, plain=True)
    file = folder / asked.file
    if not file.is_file() or file.is_symlink():
        raise InputError(
            f"{asked.file}: no such file in the run's folder; copy codebook.yaml there under this name and edit it"
        )
    return {**recode(folder, file), "folder": str(Path(folder.name, RECODED)), **_authorship(folder)}


async def read_laddering_file(port: Port, asked: CodebookFile) -> dict[str, JsonValue]:
    """Read a concept or methodology file, also one of interview-system-v2, and say what became of its keys: what was
    translated, lent by a shipped methodology, ignored, or is a dead signal (with the nearest that there is)."""
    layers: dict[str, type[Concept] | type[InterviewMethod]] = {"concepts": Concept, "methodologies": InterviewMethod}
    wrong: list[InstrumentError] = []
    for layer, model in layers.items():
        try:
            file = load_layer(model, layer, asked.file, port.own_folder)
        except InstrumentError as error:
            wrong.append(error)
            continue
        fates: dict[str, JsonValue] = {
            fate: [f"{key.key} → {key.into}" if key.into else key.key for key in file.translation if key.fate == fate]
            for fate in get_args(Fate)
        }
        whole = {"document": file.model_dump(mode="json", exclude={"translation"}, exclude_none=True)}
        return {"file": asked.file, "layer": layer, "id": file.id, **fates, **(whole if asked.document else {})}
    raise min(wrong, key=lambda error: len(error.problems))


def _folder(port: Port, asked: OfRun, *, plain: bool = False) -> Path:
    """Where the run's files lie. Raises InputError where there are none, or a link leads out of the root."""
    named = Path(asked.sim_id)
    by_path = port.own_folder is None and named.is_dir()
    sim = named if by_path else by_id(asked.sim_id, port.root) or held_with_person(asked.sim_id, port.root)
    if sim is None:
        raise InputError(f"no simulation {asked.sim_id[:100]!r}")
    base = sim / "interviews" if (sim / "interviews").is_dir() else only_population(sim)
    latest = _read(base, "latest.json") if (base / "latest.json").is_file() else {}
    run = asked.run_id or str(latest.get("T1/laddering", ""))
    folder = base / FOLDER / run
    if asked.recoded and not plain:
        folder /= RECODED
    inside = by_path or folder.resolve().is_relative_to(port.root.resolve())
    if not run or not inside or not folder.is_dir():
        what = "no codebook was applied to" if asked.recoded else "there are no interviews of"
        raise InputError(
            f"{what} this run ({asked.run_id or 'latest'}) of {asked.sim_id[:100]!r}; results are written once "
            "interviews are over"
        )
    return folder


def only_population(folder: Path) -> Path:
    """Return the results of the one population below a folder that was named with `--out`, or the folder itself.

    Raises InputError where there are several.
    """
    below = population_folders(folder)
    if len(below) > 1:
        listed = ", ".join(str(entry.folder) for entry in below)
        raise InputError(f"{folder} holds results of several populations; name the folder of one: {listed}")
    return below[0].folder if below else folder


INTERVIEWS = "laddering"
"""Folder of interviews with persons, under the root."""


def held_with_person(id: str, root: Path) -> Path | None:
    """The folder of an interview with a person, nothing of which leads out of the root."""
    folder = root / INTERVIEWS / id
    return folder if is_plain(id) and folder.is_dir() and folder.resolve().is_relative_to(root.resolve()) else None


def _read(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / name).read_text("utf-8"))
    return content


OPERATIONS = (
    Operation(laddering_results, ResultsQuery, "Codes, chains, map, transcripts", reads=True),
    Operation(read_laddering_file, CodebookFile, "Read a concept or methodology file", reads=True),
    Operation(apply_codebook, Applying, "Apply an edited codebook"),
)
