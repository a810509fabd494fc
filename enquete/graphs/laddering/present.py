"""The laddering section of the report, and the files of its phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.laddering.export import agents_graphml, pooled_graphml
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.network import Cell
from enquete.graphs.laddering.value_map import Box, ValueMap, mermaid
from enquete.graphs.laddering.words import STOPS, WORDS
from enquete.locale import in_language
from enquete.reports.context import ItemFacts
from enquete.reports.markdown import MISSING, escape, number, of, quote, share, table
from enquete.reports.writing import records
from enquete.state.asking import Language

CONCEPTS, LINKS, TRANSCRIPTS = 15, 15, 3  # shown in the section; everything is in the files


def item_facts(item_id: str, instrument: LadderingInstrument) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Mapping[str, Any]:
    """Answers, transcript, turn log, graphs (JSON and GraphML), implication matrix, value map (JSON, Mermaid), saturation."""
    found: Mapping[str, Any] = findings
    drawn = _value_map(found)
    kept = (
        "arms",
        "partial",
        "concept",
        "methodology",
        "interviews",
        "stops",
        "agents",
        "coverage",
        "strategies",
        "models",
        "dropped",
    )
    return {
        "responses.jsonl": records(frame),
        "transcript.jsonl": (
            {key: turn[key] for key in ("participant", "name", "turn", "question", "answer", "status")}
            for turn in found["turns"]
        ),
        "turn_log.jsonl": found["turns"],
        "interviews.json": {key: found.get(key) for key in kept},
        "knowledge_graphs.jsonl": found["graphs"],
        "knowledge_graphs.graphml": agents_graphml(found["graphs"]),
        "pooled_graph.json": {key: found[key] for key in ("concepts", "implications", "indices")},
        "pooled_graph.graphml": pooled_graphml(found["concepts"], found["implications"]),
        "value_map.json": found["value_map"],
        "value_map.mmd": mermaid(drawn),
        "saturation.json": {"by_interview": found["saturation"], "by_turn": found["by_turn"]},
    }


def _value_map(found: Mapping[str, Any]) -> ValueMap:
    stored = found["value_map"]
    boxes = tuple(Box(**box) for box in stored["boxes"])
    return ValueMap(stored["cut_off"], boxes, tuple(Cell(**link) for link in stored["links"]), tuple(stored["levels"]))


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Mapping[str, Any] = findings
    words = in_language(WORDS, language)
    intro = words["intro"].format(
        topic=escape(found["topic"]),
        method=escape(found["method"]),
        ladder=" → ".join(map(escape, found["ladder"])),
    )
    parts = [f"## {words['title']}", intro, *_interviews(found, words, language)]
    if found["concepts"]:
        parts += [
            *_concepts(found, words, language),
            *_links(found, words),
            *_covered(found, words, language),
            *_saturated(found, words, language),
            *_asked(found, words, language),
        ]
    else:
        parts.append(words["nothing"])
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """What is long: every interview in a line, and the first transcripts."""
    found: Mapping[str, Any] = findings
    words = in_language(WORDS, language)
    if not found["agents"]:
        return ""
    return "\n\n".join(
        part for part in (*_agents(found, words, language), *_transcripts(found, words, language)) if part
    )


def _source(words: Mapping[str, str], what: str) -> str:
    return f"*{words['source']}: {what}*"


def _interviews(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    begun = found["interviews"]
    turns = [agent["turns"] for agent in found["agents"]]
    mean = number(sum(turns) / len(turns), language, 1) if turns else MISSING
    yield f"### {words['interviews']}"
    yield words["counts"].format(over=begun["over"], begun=begun["begun"], total=begun["total"], turns=mean)
    rows = [[escape(in_language(STOPS, language)[stop]), str(n)] for stop, n in found["stops"].items()]
    yield table([words["ended"], words["interviews"]], rows)
    if found["strategy"] == "random":
        yield words["random"]
    yield _source(words, "T1/laddering/interviews.json")


def _concepts(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    by_id = {index["concept"]: index for index in found["indices"]}
    rows = [
        [escape(one["label"]), escape(found["types"][one["type"]]), of(one["agents"], found["interviews"]["begun"]),
         *(number(by_id[one["id"]][key], language) for key in ("abstractness", "centrality", "prestige"))]
        for one in found["concepts"][:CONCEPTS]
    ]  # fmt: skip
    yield f"### {words['concepts']}"
    heads = [words[key] for key in ("concept", "type", "agents", "abstractness", "centrality", "prestige")]
    yield table(heads, rows, numeric_from=2)
    yield words["legend"].format(k=len(rows), n=len(found["concepts"]))
    yield _source(words, "T1/laddering/pooled_graph.json → concepts, indices")


def _links(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """The map's links, the strongest first."""
    labels = {concept["id"]: escape(concept["label"]) for concept in found["concepts"]}
    drawn = found["value_map"]
    rows = [
        [labels[cell["source"]], labels[cell["target"]], str(cell["direct"]), str(cell["indirect"])]
        for cell in drawn["links"][:LINKS]
    ]
    yield f"### {words['map']}"
    yield words["map_text"].format(
        cut=drawn["cut_off"], k=len(rows), n=len(drawn["links"]), concepts=len(drawn["boxes"])
    )
    if drawn["cut_off"] != drawn["cut_off_wanted"]:
        yield words["other_cut"].format(wanted=drawn["cut_off_wanted"], cut=drawn["cut_off"])
    yield table([words[key] for key in ("from", "to", "direct", "indirect")], rows, numeric_from=2)
    yield _source(words, "T1/laddering/value_map.json; pooled_graph.json → implications")


def _covered(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [
            escape(one["label"]),
            of(one["n_covered"], one["n_total"]),
            str(one["concepts"]),
            number(one["mean_depth"], language),
        ]
        for one in found["coverage"]
    ]
    yield f"### {words['coverage']}"
    yield table([words[key] for key in ("element", "agents", "concepts", "depth")], rows)
    yield words["depth_text"]
    yield _source(words, "T1/laddering/interviews.json → coverage")


def _saturated(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    """A few points of the curve: its whole is in the file."""
    curve = found["saturation"]
    marks = sorted({0, len(curve) // 4, len(curve) // 2, 3 * len(curve) // 4, len(curve) - 1})
    rows = [[str(curve[i]["interviews"]), str(curve[i]["concepts"]), str(curve[i]["new"])] for i in marks]
    yield f"### {words['saturation']}"
    yield table([words["after"], words["distinct"], words["new"]], rows, numeric_from=0)
    yield _source(words, "T1/laddering/saturation.json")


def _asked(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [escape(one["label"]), str(one["used"]), str(one["yielded"]), share(one["yield_rate"], language)]
        for one in found["strategies"]
    ]
    yield f"### {words['strategies']}"
    yield table([words[key] for key in ("strategy", "used", "yielded", "rate")], rows)
    lost = sum(found["dropped"].values())
    if lost:
        yield words["dropped"].format(
            n=lost, why=escape(", ".join(f"{why}: {n}" for why, n in found["dropped"].items()))
        )
    yield _source(words, "T1/laddering/turn_log.jsonl")


def _agents(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [escape(one["name"]), str(one["turns"]), str(one["concepts"]), str(one["links"]), str(one["chain"]),
         of(one["elements_covered"], one["elements_total"]), number(one["depth"], language),
         escape(in_language(STOPS, language).get(one["stop"], MISSING))]
        for one in found["agents"]
    ]  # fmt: skip
    yield f"### {words['by_agent']}"
    heads = [words[key] for key in ("agent", "turns", "concepts", "links", "chain", "elements", "depth", "ended")]
    yield table(heads, rows)
    yield _source(words, "T1/laddering/interviews.json → agents")


def _transcripts(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    shown = [agent["participant"] for agent in found["agents"][:TRANSCRIPTS]]
    yield f"### {words['transcripts']}"
    for unit in shown:
        turns = [turn for turn in found["turns"] if turn["participant"] == unit]
        yield f"**{escape(turns[0]['name'])}**"
        yield "\n".join(
            quote(turn["answer"] or MISSING, f"{turn['turn']}. {escape(turn['question'])}", language) for turn in turns
        )
    yield _source(words, "T1/laddering/transcript.jsonl")
