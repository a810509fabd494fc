"""Schemas: what ships, what a file must say, when a record is complete, and the annotated JSON form."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from enquete.graphs.discovery.schema import from_json, load_schema
from enquete.instruments.load import shipped
from enquete.instruments.text import texts_of
from enquete.state.errors import InstrumentError
from tests.graphs.discovery.interviews import PLANT, from_yaml, schema

SHIPPED = {  # facts/discovery.md: decrement, and when the record is complete
    "warm-up-with-challenges": (
        ".10",
        {"scheduling-challenges": ["x"], "one-more-thing": "x", "product-or-service-name": "x"},
    ),
    "scheduling-problem-type": (".10", {"principal-problem-type": "flow-shop"}),
    "flow-shop": (".05", {"process-id": "x", "subprocesses": [{"process-id": "a", "duration": 5.0, "outputs": ["x"]}]}),
    "timetabling": (".15", {"event-types": [{"event-type-id": "x"}], "timeslots": [{"ts-type-id": "x"}]}),
    "orm": (".08", {"areas-we-intend-to-discuss": ["x"], "inquiry-areas": [{"fact-type-id": "x"}], "exhausted?": True}),
    "areas-of-inquiry": (".05", {"areas": ["x"]}),
    "stakeholder-profile": (
        ".10",
        {"role": "x", "dependence": "x", "goals": ["x"], "worries": ["x"], "influence": "none"},
    ),
    "decision-process": (
        ".10",
        {"decision": "x", "steps": [{"step": "x", "actor": "y"}], "deciding-body": "x", "fair?": False},
    ),
    "conflict-and-interests": (".08", {"issue": "x", "parties": [{"party": "x", "wants": "y"}], "intensity": "open"}),
    "adaptation-options": (
        ".08",
        {"pressure": "x", "options": [{"option": "x", "barrier": "time"}], "first-choice": "x"},
    ),
}


def test_ten_schemas_ship_in_both_languages() -> None:
    assert set(shipped("discovery")) == set(SHIPPED)
    for name in SHIPPED:
        for place, text in texts_of(load_schema(name)):
            assert all(text.has(language) for language in ("de", "en")), f"{name}: {place}"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_schema_is_complete_when_it_says_so_and_not_before(name: str) -> None:
    found, (decrement, enough) = load_schema(name), SHIPPED[name]
    assert found.decrement == Decimal(decrement)
    assert found.completion.holds(enough)
    assert not found.completion.holds({})
    for field in enough:  # whatever is taken away is missed, and named
        less = {key: value for key, value in enough.items() if key != field}
        if not found.completion.holds(less):
            assert (field,) in found.completion.lacking(less)


def test_every_nested_process_needs_its_times_and_ends() -> None:
    found = load_schema("flow-shop").completion
    baked = {"process-id": "baking", "duration": 30.0, "inputs": ["dough"]}
    rising = {"process-id": "rising", "outputs": ["dough"]}
    bread = {"process-id": "bread", "subprocesses": [{**baked, "subprocesses": [rising]}]}
    assert not found.holds(bread)
    assert ("subprocesses", "baking", "subprocesses", "rising", "duration") in found.lacking(bread)
    rising["duration"] = 60.0  # type: ignore[assignment]
    assert found.holds(bread)


@pytest.mark.parametrize(
    ("complete", "says"),
    [
        ("nme", "'nme' is no field here; did you mean 'name'?"),
        ("every(name, minutes)", "that is no list"),
        ("every(stages, hours)", "'hours' is no field here"),
        ("not exhausted?", "met by an empty record"),
        ("name or not nights?", "met by an empty record"),
        ('name and name == "x" and not name', "cannot be met"),
        ('troubles and shifts == "three" and not shifts', "cannot be met"),
        ("count(stages) >= 0 and name or count(stages) >= 0", "met by an empty record"),
        ("name and (stages", "cannot be read"),
        ("__import__(name)", "holds what cannot stand there"),
        ("name.upper()", "holds what cannot stand there"),
        ("[name]", "holds what cannot stand there"),
        ("count(name", "cannot be read"),
        ("every(1, name)", "holds what cannot stand there"),
    ],
)  # fmt: skip
def test_a_completion_is_checked_on_loading(complete: str, says: str) -> None:
    text = PLANT.format(complete=json.dumps(complete), decrement=0.1)
    with pytest.raises(InstrumentError, match=r"plant\.yaml:20: complete:") as caught:
        from_yaml(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("{type: choice, label: a}", "choice needs `values`"),
        ("{type: text, label: a, values: {x: y}}", "text has no `values`"),
        ("{type: list, label: a, fields: {b: {type: text, label: b}}}", "a list needs `key`"),
        ("{type: list, label: a, key: b}", "list needs `fields`"),
        ("{type: text, label: a, reducer: union}", "reducer 'union' does not fit text"),
        ("{type: text, label: a, nested: 2}", "only a list can be nested"),
        ("{type: txt, label: a}", "type"),
        ("{label: a}", "type"),
        ("{type: list, label: a, key: b, fields: {b: {type: text, label: b}}}", "stands among the fields too"),
    ],
)
def test_a_field_must_fit_its_type(field: str, says: str) -> None:
    head = "id: x\nversion: '1'\ntitle: x\nlanguage_default: en\nobjective: x\nfields:\n  a: "
    with pytest.raises(InstrumentError, match=r"plant.yaml:7") as caught:
        from_yaml(f"{head}{field}\ncomplete: a\n")
    assert says in str(caught.value)


def test_questions_follow_from_the_decrement_without_drift() -> None:
    assert [schema(decrement=one).questions for one in (0.1, 0.15, 0.08, 0.05, 1.0)] == [10, 6, 12, 20, 1]
    with pytest.raises(InstrumentError, match="1 to 100 make an interview"):
        schema(decrement=0.001)
    assert schema("exhausted?").completion.text == "known(name) and (exhausted?)"


def test_annotated_json_loads_with_its_comments_and_keys(tmp_path: Path) -> None:
    body = {
        "process-id": {"val": "soup", "comment": "what it is called"},
        "shifts": {"val": 2, "comment": "a day"},
        "exhausted?": {"val": False, "comment": "nothing left to say"},
        "stages": [{"stage-id": {"val": "mixing", "comment": "name of the stage"}, "minutes": 5,
                    "stages": [{"stage-id": "stirring", "minutes": 1}]}],
    }  # fmt: skip
    file = tmp_path / "soup.json"
    file.write_text(json.dumps({"DS": "soup", "budget-decrement": 0.2, "interview-objective": "Soup", "complete-when": "exhausted?",
                                "discovery-schema": body}))  # fmt: skip
    found = load_schema(str(file))
    assert (found.id, found.questions, found.complete) == ("soup", 5, "exhausted?")
    types = {"/".join(node.path): node.field.type for node in found.walk()}
    assert types == {
        "process-id": "text",
        "shifts": "number",
        "exhausted?": "boolean",
        "stages": "list",
        "stages/minutes": "number",
    }
    stages = found.nodes["stages"].field
    assert (stages.key, stages.nested, found.nodes["exhausted?"].field.closing) == ("stage-id", 3, True)
    told = found.nodes["process-id"].field
    assert told.description is not None
    assert told.description.in_("en") == "what it is called"
    assert told.examples == {"en": ("soup",)}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "no JSON"),
        (b"[]", "has no `discovery-schema`"),
        (b'{"discovery-schema": {}}', "has no"),
        (b'{"discovery-schema": {"a b": 1}}', "no name of a field"),
    ],
)
def test_other_json_is_refused_with_a_sentence(raw: bytes, says: str) -> None:
    with pytest.raises(InstrumentError, match=says):
        from_json(raw, "x.json")
