"""Ten answers as people give them, and a model that reads them badly: what must not survive does not.

The answers were written before the reader's rules were read: hedges, lists, several thoughts in one breath, irony,
retractions. The model's reading has concepts nobody said, several in one, too long or in the model's own words, denials
turned round, what was taken back, and relationships that the method forbids. Irony read as meant is the one fault that
no rule can see.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

import enquete
from tests.support.bare_runs import results_alone
from tests.support.model_server import ModelServer
from tests.support.studies import personas

ANSWERS = (
    "Hmm, I suppose the foam is what got me into it, sort of? It holds up in a flat white, not like that watery soy "
    "stuff we used to have.",
    "Price, obviously. The carton. Also that it keeps for weeks in the cupboard, and my daughter can drink it.",
    "It keeps for weeks so I don't run to the shop every other day and that leaves me an evening free, which with two "
    "kids is basically gold dust.",
    "Oh sure, because nothing says saving the planet like shipping cartons of porridge water across half of Europe. "
    "Brilliant.",
    "I said price before, but honestly that's not it. I'd buy it if it cost more. Scratch that. It's that my daughter "
    "doesn't get cramps.",
    "When she isn't doubled up at breakfast I'm, well, I'm a different person. Calm. I don't snap at anybody.",
    "I guess if I'm calm I'm the kind of father I want to be? That sounds soppy. But yeah. Patient with them.",
    "No, I don't do it for the animals. My wife does. I couldn't care less about that side of it, sorry.",
    "Well, an evening free is overselling it. Half an hour on the sofa, maybe, if nobody wakes up.",
    "Not really. Maybe just that being there for my family is the whole point, full stop. The rest is marketing.",
)  # fmt: skip
A, F, P, V, T = (
    "attribute", "functional_consequence", "psychosocial_consequence", "instrumental_value", "terminal_value",
)  # fmt: skip


class Read(NamedTuple):
    """text, node type, quote; and (source, target, relationship)."""

    concepts: list[tuple[str, str, str]]
    links: Sequence[tuple[str, str, str]] = ()


READINGS = (
    Read([
        ("it holds up in a flat white", A, "It holds up in a flat white"),
        ("environmental responsibility", T, "It holds up in a flat white"),  # invented, with a true quote
        ("watery soy stuff", "drawback", "watery soy stuff"),  # no kind of concept
    ], [("it holds up in a flat white", "environmental responsibility", "leads_to")]),
    Read([
        ("Price", A, "Price, obviously"),
        ("keeps for weeks in the cupboard", A, "it keeps for weeks in the cupboard"),
        ("my daughter can drink it", F, "my daughter can drink it"),
        ("price, the carton, keeps for weeks in the cupboard", A, "Price, obviously. The carton."),  # several in one
    ]),
    Read([
        ("I don't run to the shop", F, "I don't run to the shop every other day"),
        ("enjoying more leisure in the evening", P, "that leaves me an evening free"),  # the model's own words
        ("convenience", P, "it keeps for weeks"),  # invented
        ("It keeps for weeks so I don't run to the shop every other day and that leaves me an evening free", F,
         "It keeps for weeks so I don't run to the shop every other day and that leaves me an evening free"),
             # all in one
    ], [
        ("keeps for weeks in the cupboard", "I don't run to the shop", "leads_to"),
        ("I don't run to the shop", "enjoying more leisure in the evening", "leads_to"),
        ("keeps for weeks in the cupboard", "convenience", "leads_to"),  # from a concept to an invention
    ]),
    Read([("worry about transport emissions", P, "shipping cartons of porridge water across half of Europe")]),
    Read([("my daughter doesn't get cramps", F, "my daughter doesn't get cramps")], [
        ("my daughter doesn't get cramps", "Price", "revises"),
        ("Price", "my daughter doesn't get cramps", "leads_to"),  # what it has just taken back
    ]),
    Read([
        ("Calm", P, "Calm."),
        ("snap at anybody", P, "snap at anybody"),  # the opposite of what was said
        ("family harmony", T, "I don't snap at anybody"),  # invented
    ], [("my daughter doesn't get cramps", "Calm", "leads_to"), ("Calm", "Calm", "leads_to")]),
    Read([("Patient with them", V, "Patient with them"), ("self-actualisation", T, "the kind of father I want to be")],
        [
        ("Calm", "Patient with them", "leads_to"),
        ("it holds up in a flat white", "Patient with them", "leads_to"),  # skips two rungs: forbidden
    ]),
    Read([("do it for the animals", V, "do it for the animals"), ("animal welfare", T, "for the animals")]),
    Read([("half an hour on the sofa", P, "Half an hour on the sofa")], [
        ("half an hour on the sofa", "that leaves me an evening free", "revises"),
        ("I don't run to the shop", "half an hour on the sofa", "leads_to"),
    ]),
    Read([("being there for my family", T, "being there for my family")], [
        ("Patient with them", "being there for my family", "leads_to"),
    ]),
)  # fmt: skip
SURVIVE = {
    "it holds up in a flat white", "keeps for weeks in the cupboard", "my daughter can drink it",
    "I don't run to the shop", "my daughter doesn't get cramps", "Calm", "I don't snap at anybody", "Patient with them",
    "I don't do it for the animals", "half an hour on the sofa", "being there for my family",
}  # fmt: skip
LINKS = {
    ("keeps for weeks in the cupboard", "I don't run to the shop"), ("my daughter doesn't get cramps", "Calm"),
    ("Calm", "Patient with them"), ("I don't run to the shop", "half an hour on the sofa"),
    ("Patient with them", "being there for my family"),
}  # fmt: skip
TAKEN_BACK = {"Price", "that leaves me an evening free"}
DROPPED = {
    "concept that is not in the answer": 5,  # responsibility, convenience, emissions, harmony, self-actualisation
    "several concepts in one": 2,
    "unknown node type": 1,
    "relationship to an unknown concept": 2,  # to responsibility and to convenience
    "relationship that the methodology does not allow": 2,  # Calm to itself, over two rungs
}

WORDS = ["First", "then", "why", "what", "how", "when", "where", "who", "which", "whose", "else"]


def reading_badly(body: dict[str, Any]) -> str | None:
    """The model server's script: the answers in their order, and to each its bad reading."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    if "concepts" in asked:
        read = next(read for answer, read in zip(ANSWERS, READINGS, strict=True) if answer in text)
        concepts = [{"text": words, "node_type": kind, "confidence": 0.9, "source_quote": quote, "linked_elements": []}
                    for words, kind, quote in read.concepts]  # fmt: skip
        links = [{"source_text": a, "target_text": b, "relationship_type": kind, "confidence": 0.9, "source_quote": ""}
                 for a, b, kind in read.links]  # fmt: skip
        return json.dumps({"concepts": concepts, "relationships": links})
    if "response_depth" in asked:
        rated = {name: {"rating": 4, "rationale": "scripted"} for name in asked if name not in ("sentiment", "topics")}
        return json.dumps({**rated, "sentiment": "neutral", "topics": []})
    given = sum(answer in text for answer in ANSWERS)
    if "question" in asked:  # each in words of its own: none is a repeat
        return json.dumps({"question": f"{WORDS[given]} {given}?"})
    return json.dumps({name: {"text": ANSWERS[given]} for name in asked})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("bad")
    settings = {"turns": len(ANSWERS), "concept": "oat_drink", "codes": "rule"}
    with ModelServer(script=reading_badly) as server, results_alone():
        run = enquete.conduct_interviews(
            personas(place, 1), out=str(place / "out"), methods=["laddering"], settings={"laddering": settings},
            language="en", model="test", base_url=server.base_url, budget_tokens=10**8, fit="any",
        )  # fmt: skip
    assert run.status == "completed"
    (folder,) = (run.folder.parent.parent / "T1" / "laddering").iterdir()
    logs = {name: [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
            for name in ("turn_log", "knowledge_graphs")}  # fmt: skip
    return {**run.results["laddering"], **logs}


def test_only_what_was_said_and_stands_is_kept_and_what_was_left_out_is_counted(results: Any) -> None:
    assert [turn["answer"] for turn in results["turn_log"]] == list(ANSWERS)
    (graph,) = results["knowledge_graphs"]
    assert {node["text"] for node in graph["nodes"] if not node["retracted"]} == SURVIVE
    assert {node["text"] for node in graph["nodes"] if node["retracted"]} == TAKEN_BACK
    assert {text for concept in results["concepts"] for text in concept["wordings"]} == SURVIVE
    text = {node["node"]: node["text"] for node in results["knowledge_graphs"][0]["nodes"]}
    code = {text: concept["concept"] for concept in results["concepts"] for text in concept["wordings"]}
    given = {(link["source"], link["target"]) for link in results["implications"] if link["direct"]}
    assert given == {(code[source], code[target]) for source, target in LINKS}
    standing = [
        edge
        for edge in results["knowledge_graphs"][0]["edges"]
        if not edge["retracts"] and text[edge["source"]] in SURVIVE
    ]
    assert {
        (text[edge["source"]], text[edge["target"]]) for edge in standing if text[edge["target"]] in SURVIVE
    } == LINKS
    assert Counter({row["why"]: row["n"] for row in results["dropped"]}) == DROPPED
    assert results["n_invented"] == DROPPED["concept that is not in the answer"]
