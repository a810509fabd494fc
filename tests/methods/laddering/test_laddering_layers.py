"""The two YAML layers: what ships loads, and every mistake is told with its file and line."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from enquete.instruments.load import load_layer, shipped
from enquete.instruments.pack import FOLDER, packs, yaml_files
from enquete.methods.laddering.settings import FOCUS, Concept, InterviewMethod, LadderingSettings
from enquete.state.asking import Language
from enquete.state.errors import InstrumentError

FIVE = ("critical_incident", "customer_journey", "jobs_to_be_done", "means_end_chain", "repertory_grid")


def edited(tmp_path: Path, layer: str, name: str, *changes: tuple[str, str]) -> Path:
    """A shipped file with some of its text replaced."""
    folders = [FOLDER / pack / layer for pack in packs()] + [files("enquete.instruments") / layer]
    text = yaml_files(folders)[name].read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "own.yaml"
    path.write_text(text, "utf-8")
    return path


def line_of(path: Path, words: str) -> int:
    lines = path.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if words in line)


def complaint(path: Path, model: type[InterviewMethod] | type[Concept] = InterviewMethod) -> str:
    with pytest.raises(InstrumentError) as caught:
        load_layer(model, "", str(path))
    return str(caught.value)


def test_what_ships_and_what_is_no_name_of_it() -> None:
    assert shipped("methodologies") == FIVE
    assert shipped("concepts") == ("fisheries_2040", "high_street_2035", "oat_drink")
    with pytest.raises(InstrumentError, match="did you mean 'means_end_chain'"):
        LadderingSettings(methodology="means_end_chains")
    with pytest.raises(InstrumentError, match="no such file"):
        LadderingSettings(concept="nowhere.yaml")


@pytest.mark.parametrize("name", FIVE)
def test_a_shipped_methodology_is_sound(name: str) -> None:
    """A strategy that repeats must lose: the literal port gave the count no weight at all. A quote stands before a
    colon, or in no sentence at all: its number and case bind nothing."""
    method = LadderingSettings(methodology=name).method
    for strategy in method.strategies.values():
        repeats = strategy.weights.get("temporal.strategy_repetition_count")
        assert strategy.closing or (repeats is not None and repeats < 0)
        for technique in strategy.techniques:
            types = method.node_types if strategy.focus else [""]
            assert any(method.applicable(technique, kind) for kind in types), technique.id
            for text in (q.in_(language) for q in technique.questions for language in get_args(Language)):
                assert not strategy.focus or text.startswith((f"„{FOCUS}“: ", f"“{FOCUS}”: ")), text
    phases = ("early", "mid", "late")
    assert len({max(method.strategies, key=lambda s: method.multiplier(phase, s)) for phase in phases}) >= 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("graph.node.exhausted.true: -5", "graph.node.exhaustd.true: -5",
            "names no signal; did you mean 'graph.node.exhausted'"),
        ("graph.node.exhausted.true: -5", "graph.node.exhausted.high: -5", "is never 'high'"),
        ("graph.max_depth.low: 1.5", "graph.max_depth.shallow: 1.5", "is never 'shallow'"),
        ("graph.max_depth.low: 1.5", "meta.interview.phase: 1.5", "is a category; name one of its values"),
        ("early: {explore: 1.5", "early: {exploit: 1.5", "is no strategy; did you mean 'explore'"),
        ("  early: {explore", "  soon: {explore", "soon"),
        ("- [attribute, attribute]", "- [attribute, atribute]", "is no node type; did you mean 'attribute'"),
        ("elicits: next", "elicits: upwards", "is no node type"),
        ("ladder: [attribute, ", "ladder: [attribute, attribute, ", "twice"),
        ("any_pair: true", "any_pair: false", "needs either `pairs`"),
        ("„{focus}“: was steht für Sie dahinter?", "Was steht dahinter?", "lacks {focus}"),
        ("Worauf achten Sie außerdem, wenn es darum geht?", "Und „{focus}“?", "`focus: false`"),
        ("„{focus}“: was steht für Sie dahinter?", "„{focus}“: was steht denn nun ganz genau für Sie persönlich "
            "dahinter?", "at most 14"),
        ("suits: [psychosocial_consequence, instrumental_value]", "suits: [psychosocial_consequence, terminal_valu]",
         "is no node type; did you mean 'terminal_value'"),
        ("- id: what_else", "- suits: [attribute]\n        id: what_else", "but the strategy says `focus: false`"),
        ("- id: another_side", "- id: what_else", "the technique what_else stands there twice"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_methodology_is_told_with_file_and_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = edited(tmp_path, "methodologies", "means_end_chain", (old, new))
    message = complaint(path)
    assert told in message
    assert "own.yaml:" in message
    if "means" not in told and "lacks" not in told and "focus: false" not in told:
        assert any(
            abs(int(line.split(":")[1]) - line_of(path, new.split("\n", maxsplit=1)[0].strip())) <= 2
            for line in message.replace(str(tmp_path) + "/", "").splitlines()
        ), message


def test_aliases_belong_to_one_element_and_are_never_empty(tmp_path: Path) -> None:
    path = edited(tmp_path, "concepts", "fisheries_2040", ("[Preis, Fischpreis", "[Preis, quote*, Fischpreis"))
    message = complaint(path, Concept)
    assert "'quote*' stands for the elements price and quota; an alias belongs to one element" in message
    assert f"own.yaml:{line_of(path, '[Preis, quote*')}:" in message
    path = edited(tmp_path, "concepts", "fisheries_2040", ("en: [quota,", "en: [Quote*, quota,"))
    assert load_layer(Concept, "", str(path)).mentioned("die Quote") == ("quota",)
    # The literal port let an empty text match every alias.
    path = edited(tmp_path, "concepts", "fisheries_2040", ("de: [Quote*,", 'de: ["", Quote*,'))
    assert "is empty" in complaint(path, Concept)
    concept = LadderingSettings().topic
    assert concept.mentioned("") == concept.mentioned("   ") == ()
    assert concept.mentioned("feste Quoten und volle Häfen") == ("quota", "harbour")
    assert concept.mentioned("Unquoted") == ()  # an alias begins a word


def test_an_own_methodology_is_one_file_and_stays_with_the_run(tmp_path: Path) -> None:
    path = edited(tmp_path, "methodologies", "means_end_chain", ("id: means_end_chain", "id: mine"))
    settings = LadderingSettings(methodology=str(path), turns=3)
    kept = settings.model_dump(mode="json")
    path.unlink()
    again = LadderingSettings.model_validate(kept)
    assert again.method.id == "mine"
    assert again == settings
    assert str(tmp_path) not in str(kept)
