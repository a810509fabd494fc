"""The rule-based reader on its own, the plant on its own, and that neither knows the other's words."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from enquete.graphs.laddering import interviewer, synthetic
from enquete.graphs.laddering.extraction import ExtractionInput, Known, allowed_edges
from enquete.graphs.laddering.interviewer import clause_to_concept, read_answer
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.synthetic import answer, links, plant
from enquete.instruments.text import Text
from enquete.respondents.quoting import normal
from enquete.state.asking import Block, BlockKey, Item
from tests.graphs.laddering.memory_desk import PLANT, PLANTS, person

SETTINGS = LadderingSettings()
NOBODYS = plant(SETTINGS.topic.model_copy(update={"topic": Text(de="Fahrräder", en="Bicycles")}))  # no pack knows it
FOCUS = Known(text="feste Regeln", type="attribute")


def reading(
    text: str,
    focus: Known | None = FOCUS,
    known: tuple[Known, ...] = (FOCUS,),
    aims: tuple[str, ...] = ("functional_consequence",),
) -> Any:
    return read_answer(
        ExtractionInput(
            topic="t", question="Warum?", answer=text, focus=focus, aims=list(aims), known=list(known),
            node_types=dict.fromkeys(SETTINGS.method.node_types, ""), edges=allowed_edges(SETTINGS.method), elements={},
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Das führt für mich zu mehr Ordnung, wirklich.", "mehr Ordnung"),
        ("Feste Regeln bedeuten weniger Ärger am Abend.", "weniger Ärger am Abend"),
        ("Naja, weil ich dadurch Freizeit gewinne.", "Freizeit"),
        ("Wegen der Nachbarn.", "der Nachbarn"),
        ("Dahinter steht Gerechtigkeit, so sehe ich es.", "Gerechtigkeit"),
        ("That gives me a calm evening, and I like it.", "calm evening"),
        ("It leads to better sleep because nothing worries me.", "better sleep"),
        ("What lies behind it is fairness.", "fairness"),
    ],
)
def test_a_link_is_read_from_its_joint(text: str, concept: str) -> None:
    found = reading(text)
    assert [one.text for one in found.concepts] == [concept]
    assert found.concepts[0].node_type == "functional_consequence"
    (link,) = found.relationships
    assert (link.source_text, link.target_text, link.relationship_type) == ("feste Regeln", concept, "leads_to")
    assert link.source_quote in text


def test_a_clause_that_names_a_known_concept_is_the_links_beginning() -> None:
    other = Known(text="offene Häfen", type="functional_consequence")
    found = reading("Offene Häfen bedeuten für mich Heimat.", known=(FOCUS, other), aims=("psychosocial_consequence",))
    assert found.relationships[0].source_text == "offene Häfen"


def test_a_mention_without_a_focus_is_a_concept_without_a_link() -> None:
    found = reading("Mir geht es vor allem um ruhige See, immer schon.", focus=None, known=(), aims=("attribute",))
    assert ([one.text for one in found.concepts], found.relationships) == (["ruhige See"], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ja.",
        "Das weiß ich nicht so genau.",
        "Dazu habe ich schon alles gesagt.",
        "I cannot say.",
        "Das bedeutet das.",
        "...",
    ],
)
def test_where_nothing_is_said_nothing_is_read(text: str) -> None:
    assert reading(text).concepts == []


def test_what_was_said_before_is_not_found_again() -> None:
    assert reading("Das bedeutet für mich feste Regeln.").concepts == []


@pytest.mark.parametrize(
    ("clause", "concept"),
    [
        ("am Ende mehr Ruhe, und so weiter", "mehr Ruhe"),
        ("das, was alle wollen", ""),
        ("the quiet harbour.", "quiet harbour"),
        (" , ", ""),
    ],
)
def test_a_clause_becomes_a_name(clause: str, concept: str) -> None:
    assert clause_to_concept(clause) == concept


# --- the plant ---------------------------------------------------------------------------------------------------------


def asked(question: str, said: str = "", turn: int = 1) -> Block:
    key = BlockKey("r", "main", "laddering", "T1", "means_end_chain", 0, turn, person().id, "turn")
    told = "Ein Gespräch."
    quoted = (("Das Gespräch bis hierher", said),) if said else ()
    return Block(key=key, instruction=told, items=(Item(id="turn_01", kind="text", wording=question),), quoted=quoted)


def reply(question: str, said: str = "", turn: int = 1) -> str:
    (given,) = answer(person(), asked(question, said, turn), "de", 0, planting=PLANT)
    return given.text


def test_a_good_question_reveals_the_next_thought_and_only_that() -> None:
    chain = PLANT.carried(person(), "means_end_chain", 0)[0]
    said = "Antwort: Mir geht es um " + chain.thoughts[0].de[0]
    text = reply(f"Warum ist Ihnen „{chain.thoughts[0].de[0]}“ wichtig?", said)
    assert sum(any(wording in text for wording in thought.de) for thought in chain.thoughts[1:]) == 1
    assert any(wording in text for wording in chain.thoughts[1].de)


@pytest.mark.parametrize(
    "question", ["Warum ist Ihnen „blaue Wolken“ wichtig?", "Habe ich „{first}“ so richtig verstanden?", "Und?"]
)
def test_another_question_reveals_nothing(question: str) -> None:
    chain = PLANT.carried(person(), "means_end_chain", 0)[0]
    first = chain.thoughts[0].de[0]
    text = reply(question.format(first=first), f"Antwort: {first}")
    assert not any(
        wording in text
        for one in PLANT.chains
        for thought in one.thoughts
        for wording in thought.de
        if wording != first
    )


def test_every_type_carries_chains_of_its_own_in_every_methodology() -> None:
    for methodology in (
        "means_end_chain",
        "jobs_to_be_done",
        "critical_incident",
        "customer_journey",
        "repertory_grid",
        "unheard_of",
    ):
        for planted in (*PLANTS.values(), NOBODYS):
            for kind in (*PLANT.pack.types, "Zahnarzt"):
                assert len(links(planted.carried(person(1, kind), methodology, 0))) >= 6


def test_wordings_are_long_enough_to_be_told_apart() -> None:
    for planted in (*PLANTS.values(), NOBODYS):
        for thought in (thought for chain in planted.chains for thought in chain.thoughts):
            assert len(thought.de) >= 2
            assert len(thought.en) >= 2
            assert thought.kind in {"", *planted.manner.cues}


# --- no list is shared -------------------------------------------------------------------------------------------------


def imports(module: Any) -> set[str]:
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    return {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_reader_and_plant_share_no_module_and_no_word_list() -> None:
    assert not any(
        "ground_truth" in name or "synthetic" in name for name in imports(interviewer) if "laddering" in name
    )
    for module in (synthetic,):
        assert not any(name.endswith(("reader", "extraction", "readings", "interviewer")) for name in imports(module))
    code = normal(Path(interviewer.__file__).read_text("utf-8"))
    planted = [
        wording
        for one in (*PLANTS.values(), NOBODYS)
        for chain in one.chains
        for thought in chain.thoughts
        for wording in thought.all_wordings
    ]
    assert not [wording for wording in planted if "{" not in wording and normal(wording) in code]
    sentences = [line for says in PLANT.manner.says.values() for lines in says.values() for line in lines]
    assert not [line for line in sentences if normal(line) in code]
    patterns = " ".join(
        p.pattern for p in (*interviewer._FORWARD, *interviewer._ANSWERING, *interviewer._NAMED, interviewer._NOTHING)
    ).lower()
    lists = {word for word in re.findall(r"\w+", " ".join(planted).lower()) if len(word) > 4} - {
        "about",
        "allem",
        "alles",
    }
    assert not {word for word in lists if re.search(rf"\b{word}\b", patterns)}
