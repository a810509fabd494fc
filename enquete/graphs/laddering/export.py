"""Files of the interviews, made of their tables: knowledge graphs, the implication matrix as a table, the map, the codebook, the
interviews with their codes in the margin. `network_files` are written again where a codebook was edited (codebook.py)."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import pandas as pd
import yaml

from enquete.reports.context import Files, Found
from enquete.reports.markdown import escape
from enquete.reports.writing import lines
from enquete.state.showing import as_cell

Row = Mapping[str, Any]
Rows = Sequence[Row]
MAP = ("cut_off", "cut_off_wanted", "map_share", "map_repeated")
OF_TURN = ("participant", "turn", "question", "answer", "status")
INTERVIEW = (
    "partial", "arms", "concept", "methodology", "strategy", "n", "n_total", "n_over", "coding", "stops", "coverage",
    "strategies", "work", "dropped", "interviews", "strategies_compared", "adapting", "interviews_compared",
)  # fmt: skip


def files(found: Found, frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, turn log, graphs (JSON and GraphML), implication matrix, value map (JSON, Mermaid), saturation."""
    tables: Mapping[str, Any] = found
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    nodes, edges, turns = (
        tables["nodes"],
        tables["edges"],
        tables["turns"],
    )  # rows are made anew each time that they are read
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": (
            {"name": names.get(t["participant"], ""), **{key: t[key] for key in OF_TURN}} for t in turns
        ),
        "turn_log.jsonl": turn_log(turns, tables, names),
        "interviews.json": {key: tables[key] for key in INTERVIEW},
        "knowledge_graphs.jsonl": graphs_of(nodes, edges, names),
        "knowledge_graphs.graphml": agents_graphml(nodes, edges),
        **network_files(tables, {key: tables[key] for key in MAP}),
        "transcripts.md": transcripts_md(turns, nodes, tables["concepts"], names),
        "saturation.json": {"by_interview": tables["saturation"]},
    }


def network_files(tables: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Of concepts, implications, types and relations; about: the map's facts."""
    concepts, cells, types = tables["concepts"], tables["implications"], tables["types"]
    links = [one for one in cells if one["shown"]]
    boxes = [
        {key: one[key] for key in ("concept", "label", "type", "agents", "level", "place")}
        for one in concepts
        if one["level"] is not None
    ]
    kind, of_level = {one["type"]: one["label"] for one in types}, {one["level"]: one["type"] for one in boxes}
    levels = [kind[of_level[level]] for level in sorted(of_level)]
    return {
        "pooled_graph.json": {name: tables[name] for name in ("concepts", "implications", "types", "relations")},
        "pooled_graph.graphml": pooled_graphml(concepts, cells),
        "value_map.json": {**about, "levels": levels, "boxes": boxes, "links": links},
        "value_map.mmd": mermaid(levels, boxes, links, tables["relations"]),
        "implications.csv": implications_csv(concepts, cells),
        "codebook.yaml": codebook_yaml(concepts),
    }


# --- turns and graphs, agent by agent --------------------------------------------------------------------------------


def turn_log(turns: Rows, tables: Mapping[str, Any], names: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    """A turn with what it was judged, signalled and scored by, each beside the utterance that it was read from."""
    signals = {key: list(rows) for key, rows in groupby(tables["signals"], key=itemgetter("participant", "turn"))}
    for turn in turns:
        key, who = (turn["participant"], turn["turn"]), turn["participant"]
        source = {"source_utterance_id": f"{who}#{turn['turn']}", "source_quote": (turn["answer"] or "")[:300]}
        own = [{**_rest(row), **source} for row in signals.get(key, ())]
        by = {name: turn[f"by_{name}"] for name in ("extract", "signal", "question")}
        yield {
            "name": names.get(who, ""),
            **{k: v for k, v in turn.items() if not k.startswith("by_")},
            "by": by,
            "signals": own,
            **source,
        }


def _rest(row: Row) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("participant", "turn")}


def graphs_of(nodes: Rows, edges: Rows, names: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    links = {
        who: [_rest(one) | {"turn": one["turn"]} for one in rows]
        for who, rows in groupby(edges, key=itemgetter("participant"))
    }
    for who, rows in groupby(nodes, key=itemgetter("participant")):
        own = [_rest(one) | {"turn": one["turn"]} for one in rows]
        yield {"participant": who, "name": names.get(who, ""), "nodes": own, "edges": links.get(who, [])}


def agents_graphml(nodes: Rows, edges: Rows) -> str:
    """One GraphML of all agents' graphs side by side; node ids are "<participant>/<node>"."""
    graph = nx.MultiDiGraph()  # two relationships of different types may join the same concepts
    for one in nodes:
        graph.add_node(f"{one['participant']}/{one['node']}", **_facts({
            "label": one["text"], "participant": one["participant"], "type": one["type"], "turn": one["turn"],
                "confidence": one["confidence"],
            "retracted": one["retracted"], "elements": ", ".join(one["elements"]),
                "sources": "; ".join(one["utterances"]),
            "quote": one["quote"],
        }))  # fmt: skip
    for number, one in enumerate(edges, start=1):
        ends = (f"{one['participant']}/{one[end]}" for end in ("source", "target"))
        graph.add_edge(*ends, key=f"e{number}", **_facts({
            "link_type": one["relation"], "link_turn": one["turn"], "link_confidence": one["confidence"],
            "link_sources": "; ".join(one["utterances"]), "link_quote": one["quotes"][0],
        }))  # fmt: skip
    return _graphml(graph)


def pooled_graphml(concepts: Rows, cells: Rows) -> str:
    """The pooled graph: concepts with their agents, direct links with theirs."""
    graph = nx.MultiDiGraph()
    for one in concepts:
        graph.add_node(one["concept"], **_facts({key: one[key] for key in ("label", "type", "agents", "opposite")}))
    for number, one in enumerate((cell for cell in cells if cell["direct"]), start=1):
        facts = {
            "weight": one["direct"],
            "direct": one["direct"],
            "indirect": one["indirect"],
            "relation": one["relation"],
        }
        graph.add_edge(one["source"], one["target"], key=f"e{number}", **_facts(facts))
    return _graphml(graph)


def _facts(facts: Row) -> dict[str, Any]:
    """Without what is missing, and without the control characters that XML does not allow."""
    return {
        name: "".join(one for one in fact if one in "\t\n" or (one >= " " and one not in "\ufffe\uffff")) if isinstance(fact, str) else fact
        for name, fact in facts.items() if fact is not None
    }  # fmt: skip


def _graphml(graph: nx.MultiDiGraph) -> str:
    """Keys are called by their names, none of an edge as one of a node: Gephi, as yEd does, takes whatever is numbered d3 for a node's
    label and d7 for an edge's (ImporterGraphML.java)."""
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"


# --- all interviews together -----------------------------------------------------------------------------------------


def mermaid(levels: Sequence[str], boxes: Rows, links: Rows, relations: Rows) -> str:
    """The map as Mermaid source, bottom to top, with what links say on them."""
    said, out = {one["relation"]: one["label"] for one in relations}, ["flowchart BT"]
    for level, name in enumerate(levels):
        own = sorted((box for box in boxes if box["level"] == level), key=itemgetter("place"))
        out.append(f'  subgraph L{level}["{_quoted(name)}"]')
        out += [*(f'    {box["concept"]}["{_quoted(box["label"])} ({box["agents"]})"]' for box in own), "  end"]
    for link in links:
        told = _quoted(f"{said.get(link['relation'], '')} {link['direct']}")
        out.append(f"  {link['source']} -->|{told}| {link['target']}")
    return "\n".join(out) + "\n"


def _quoted(text: str) -> str:
    """Mermaid's own escapes: nothing that was said ends a label or starts a directive."""
    return "".join(one if one.isalnum() or one in " .,-–" else f"#{ord(one)};" for one in " ".join(text.split()))


def implications_csv(concepts: Rows, cells: Rows) -> str:
    """The matrix as Reynolds & Gutman (1988) print it: a row leads to a column, "3.02" is three direct and two indirect links."""
    linked = {one[end] for one in cells for end in ("source", "target")}
    codes = [one for one in concepts if one["concept"] in linked]
    given = {(one["source"], one["target"]): f"{one['direct']}.{one['indirect']:02d}" for one in cells}
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["id", "type", "code", *(as_cell(one["label"]) for one in codes)])
    for row in codes:
        counts = (given.get((row["concept"], column["concept"]), "") for column in codes)
        table.writerow([row["concept"], row["type"], as_cell(row["label"]), *counts])
    return out.getvalue()


def codebook_yaml(concepts: Rows) -> str:
    """Every code with its type, what a researcher or a model wrote of it, the agents who named it, all wordings that stand for it."""
    codes = [
        {"id": one["concept"], "label": one["label"], "type": one["type"], "definition": one["definition"] or "",
            "agents": one["agents"],
         "wordings": list(one["wordings"]), **({"opposite": one["opposite"]} if one["opposite"] else {})}
        for one in concepts
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
        said = f"**{escape(turn['question'])}**<br>{escape(turn['answer'] or '')}"
        out.append(f"| {turn['turn']} | {said} | {margin} |".replace("\n", " "))
    return "\n".join(out).lstrip() + "\n"


def codes_of(nodes: Rows, concepts: Rows) -> Mapping[str, list[str]]:
    """Utterance → labels of its codes."""
    label, found = {one["concept"]: one["label"] for one in concepts}, defaultdict[str, list[str]](list)
    for node in nodes:
        for utterance in node["utterances"] if node["concept"] in label else ():
            found[utterance].append(label[node["concept"]])
    return found
