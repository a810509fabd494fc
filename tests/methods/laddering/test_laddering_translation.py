"""Files in the shapes of interview-system-v2 (made by hand: the originals have no licence) load as they are, and every
key is accounted for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import enquete
from enquete.instruments.load import load_layer
from enquete.methods.laddering.settings import Concept, InterviewMethod, LadderingSettings
from enquete.state.errors import InstrumentError
from enquete.study.method_operations import operate
from tests.support.studies import personas

METHOD = """
method:
  name: rung_ladder
  version: "3.0"
  goal: "Find out what a garden is for"
  opening_bias: "Begin with what can be touched."
  description: "What it is, what it does, what it is for"
ontology:
  nodes:
    - {name: attribute, level: 1, terminal: false, description: "A feature", examples: [shade, "old trees"]}
    - {name: functional_consequence, level: 2, terminal: false, description: "What it does"}
    - {name: terminal_value, level: 5, terminal: true, description: "What it is for"}
  edges:
    - name: leads_to
      description: "One brings the other"
      permitted_connections:
        - [attribute, functional_consequence]
        - {from: functional_consequence, to: terminal_value}
    - {name: near, description: "Beside", permitted_connections: [["*", attribute]]}
    - {name: revises, description: "Takes back", permitted_connections: [["*", "*"]]}
    - {name: touches, description: "Whatever it joins"}
  extraction_guidelines: ["Link what is said in one breath"]
  relationship_examples:
    chain: {description: "A chain", example: "Shade keeps me cool", extraction: "shade → cool"}
  extractability_criteria: {extractable_contains: [features], non_extractable_contains: ["yes or no"]}
  concept_naming_convention: "Name a feature as a noun."
signals:
  graph: [graph.max_depth, graph.avg_depth]
  meta: [meta.conversation.saturation]
strategies:
  - name: deepen
    description: "Ask why"
    signal_weights:
      graph.max_depth: -0.3
      llm.response_depth.shallow: 0.3
      graph.node.exhaustion_score.low: 1.0
      technique.node.strategy_repetition.low: 0.3
      meta.conversation.saturation.high: -0.4
      temporal.strategy_repetition_count: -0.3
  - name: wander
    node_binding: none
    description: "Ask for more"
    focus_mode: topic
    signal_weights: {llm.engagement.low: 0.8, temporal.strategy_repetition_count: -0.5}
  - name: sum_up
    description: "Sum up"
    generates_closing_question: true
    signal_weights: {meta.interview.phase.early: -3.0}
phases:
  early: {description: Begin, signal_weights: {wander: 1.5}, phase_bonuses: {wander: 0.2}}
  mid: {signal_weights: {deepen: 1.3}}
  late: {signal_weights: {sum_up: 1.5}}
"""
CONCEPT = """
id: gardens
name: "Town Gardens Rung-Ladder"
methodology: rung_ladder
objective: "Understand what people look for in a garden"
"""
WITH_ELEMENTS = """
id: gardens_old
name: "Town Gardens"
methodology: rung_ladder
context: {topic: gardens in town, insight: People want quiet, promise: A bench, rtb: Trees stand there, season: spring}
elements:
  - {id: 1, label: shade trees, aliases: [trees]}
  - {id: 2, label: benches}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two folders side by side, as in the original's configuration."""
    for name, text in {
        "methodologies/rung_ladder": METHOD,
        "concepts/gardens": CONCEPT,
        "concepts/old": WITH_ELEMENTS,
    }.items():
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def method_of(folder: Path) -> InterviewMethod:
    return load_layer(InterviewMethod, "methodologies", str(folder / "methodologies" / "rung_ladder.yaml"))


def test_a_methodology_is_read_with_ladder_edges_weights_phases_and_guidelines(folder: Path) -> None:
    method = method_of(folder)
    assert method.ladder == ("attribute", "functional_consequence", "terminal_value")
    assert method.is_terminal("terminal_value")
    assert method.node_types["attribute"].description.in_("en") == "A feature (shade; old trees)"
    assert method.edge_types["leads_to"].pairs == (
        ("attribute", "functional_consequence"), ("functional_consequence", "terminal_value"),
    )  # fmt: skip
    assert {source for source, _ in method.edge_types["near"].pairs} == set(method.node_types)  # * is any
    assert method.edge_types["touches"].any_pair  # an edge that names no pairs
    assert method.edge_types["revises"].retracts  # lent: the shipped ones' edge of that name takes back
    assert dict(method.strategies["deepen"].weights) == {
        "graph.max_depth": -0.3, "graph.node.exhaustion_score.low": 1.0, "graph.node.strategy_repetition.low": 0.3,
        "meta.saturation.high": -0.4, "temporal.strategy_repetition_count": -0.3,
    }  # fmt: skip
    assert not method.strategies["wander"].focus
    assert method.strategies["sum_up"].closing
    assert (method.multiplier("early", "wander"), method.bonus("early", "wander")) == (1.5, 0.2)
    assert [guideline.in_("en") for guideline in method.guidelines] == [
        "Link what is said in one breath", "Name a feature as a noun.",
        "A chain: “Shade keeps me cool” gives shade → cool", "Worth reading: features", "Not worth reading: yes or no",
    ]  # fmt: skip


def test_dead_keys_are_named_with_the_nearest_that_there_is(folder: Path) -> None:
    fates = {entry.key: (entry.fate, entry.into) for entry in method_of(folder).translation}
    assert fates["strategies.deepen.signal_weights.llm.response_depth.shallow"] == (
        "dead", "llm.response_depth.surface")  # fmt: skip
    assert fates["signals.graph.graph.avg_depth"] == ("dead", "graph.max_depth")
    assert fates["strategies.deepen.signal_weights.meta.conversation.saturation.high"] == (
        "translated", "meta.saturation.high")  # fmt: skip
    assert fates["strategies.wander.focus_mode"][0] == "ignored"
    assert fates["strategies.deepen.techniques"] == ("lent", "means_end_chain")
    assert fates["strategies.wander.techniques"] == ("lent", "plain questions")


def test_a_concept_with_an_objective_alone_names_its_methodology(folder: Path) -> None:
    settings = LadderingSettings.model_validate(
        {"concept": str(folder / "concepts" / "gardens.yaml")}, context={"language": "en"}
    )
    assert settings.method.id == "rung_ladder"  # the file beside it
    assert settings.topic.topic.in_("en") == "Town Gardens"  # without the methodology's own words
    assert [view.in_("en") for view in settings.topic.clients_view] == ["Understand what people look for in a garden"]
    chosen = {"concept": str(folder / "concepts" / "gardens.yaml"), "methodology": "means_end_chain"}
    assert LadderingSettings.model_validate(chosen).method.id == "means_end_chain"
    with pytest.raises(InstrumentError, match="German"):
        LadderingSettings.model_validate(
            {"concept": str(folder / "concepts" / "gardens.yaml")}, context={"language": "de"}
        )


def test_a_concept_with_elements_keeps_them_and_tells_what_it_ignores(folder: Path) -> None:
    concept = load_layer(Concept, "concepts", str(folder / "concepts" / "old.yaml"))
    assert concept.mentioned("Two benches under old trees", "en") == ("shade_trees", "benches")
    assert [entry.key for entry in concept.translation if entry.fate == "ignored"] == ["context.season"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{llm.engagement.low: 0.8, temporal.strategy_repetition_count: -0.5}", "{llm.mood.low: 1}",
            "'wander' weighs no signal"),
        ("[attribute, functional_consequence]\n", "[atribute, functional_consequence]\n", "did you mean 'attribute'"),
        ("{wander: 1.5}", "{wonder: 1.5}", "is no strategy; did you mean 'wander'"),
        ("- {from: functional_consequence, to: terminal_value}", "- terminal_value", "is no [source, target]"),
        ("  - name: wander", "  - name: deepen", "'deepen' stands there twice"),
    ],
)  # fmt: skip
def test_what_cannot_be_translated_is_told(folder: Path, old: str, new: str, told: str) -> None:
    file = folder / "methodologies" / "rung_ladder.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InstrumentError) as caught:
        method_of(folder)
    assert told in str(caught.value)
    assert "rung_ladder.yaml:" in str(caught.value)


def test_a_file_of_this_program_leaves_no_trace_of_another_and_still_needs_all_its_parts(tmp_path: Path) -> None:
    """What a run keeps of its settings, and so its fingerprint, is what it was before."""
    layers = LadderingSettings().model_dump(mode="json")["layers"]
    assert {"translation", "guidelines", "bonuses"}.isdisjoint(layers["methodology"])
    assert {"translation", "objective", "methodology"}.isdisjoint(layers["concept"])
    file = tmp_path / "short.yaml"
    file.write_text("{id: short, version: '1', title: Short, topic: Short, elements: {}}", "utf-8")
    with pytest.raises(InstrumentError, match="insight, promise, reasons_to_believe, elements missing"):
        load_layer(Concept, "concepts", str(file))


@pytest.mark.usefixtures("report_only")
def test_a_run_says_what_was_translated_and_an_operation_says_it_before(folder: Path) -> None:
    named = {"file": str(folder / "methodologies" / "rung_ladder.yaml")}
    told = asyncio.run(operate("read_laddering_file", named, folder))
    assert "strategies.deepen.signal_weights.llm.response_depth.shallow → llm.response_depth.surface" in told["dead"]
    run = enquete.conduct_interviews(
        str(personas(folder, 2)), out=str(folder / "out"), methods=["laddering"], respondent="synthetic", language="en",
        settings={"laddering": {"concept": str(folder / "concepts" / "gardens.yaml"), "turns": 4}},
    )  # fmt: skip
    assert run.status == "completed"
    rows = run.results["laddering"]["translated"]
    dead = {row["key"] for row in rows if row["fate"] == "dead"}
    assert len(dead) == 2
    report = next((folder / "out").rglob("synthesis/*/appendix.md")).read_text("utf-8")
    assert "dead: no such signal | llm.response\\_depth.surface" in report
