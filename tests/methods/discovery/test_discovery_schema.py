"""Schemas: what ships, what a file must say, when a record is complete, and the annotated JSON form."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from enquete.instruments.load import shipped
from enquete.instruments.text import texts_of
from enquete.methods.discovery.originals import stripped
from enquete.methods.discovery.record import misfits, normalised, reduced
from enquete.methods.discovery.schema import from_original, given_schema, load_schema
from enquete.state.errors import InstrumentError
from tests.methods.discovery import originals
from tests.methods.discovery.interviews import PLANT, from_yaml, schema

HOUR = {"value-string": "1", "units": "hour"}
SHIPPED: dict[str, tuple[str, dict[str, Any]]] = {  # facts/discovery.md: decrement, and when the record is complete
    "warm-up-with-challenges": (
        ".10", {"scheduling-challenges": ["x"], "one-more-thing": "x", "product-or-service-name": "x"}),
    "scheduling-problem-type": (".10", {"principal-problem-type": "flow-shop"}),
    "flow-shop": (
        ".05",
        {"process-id": "x", "subprocesses": [{"process-id": "a", "duration": HOUR, "outputs": [{"item-id": "x"}]}]},
    ),
    "job-shop": (
        ".05",
        {"classifiable-jobs?": False,
            "unit-processes": [{"process-id": "a", "resources": ["x"], "inputs": [{"item-id": "x"}]}]},
    ),
    "timetabling": (
        ".15",
        {
            "event-types": [
                {"event-type-id": "x", "event-constituents": [{"constituent-type": "y"}],
                    "occurrence-assignment": ["z"]}
            ],
            "timeslots": [{"ts-type-id": "x", "periods": ["9-10"]}],
        },
    ),
    "orm": (".08", {"exhausted?": True}),
    "areas-of-inquiry": (".05", {"areas": ["x"]}),
    "stakeholder-profile": (
        ".10", {"role": "x", "dependence": "x", "goals": ["x"], "worries": ["x"], "influence": "none"}),
    "decision-process": (
        ".10", {"decision": "x", "steps": [{"step": "x", "actor": "y"}], "deciding-body": "x", "fair?": False}),
    "conflict-and-interests": (".08", {"issue": "x", "parties": [{"party": "x", "wants": "y"}], "intensity": "open"}),
    "adaptation-options": (
        ".08", {"pressure": "x", "options": [{"option": "x", "barrier": "time"}], "first-choice": "x"}),
}  # fmt: skip


def test_all_schemas_ship_in_both_languages() -> None:
    assert set(shipped("discovery")) == set(SHIPPED)
    for name in SHIPPED:
        for place, text in texts_of(load_schema(name)):
            assert all(text.has(language) for language in ("de", "en")), f"{name}: {place}"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_schema_is_complete_when_it_says_so_and_not_before(name: str) -> None:
    loaded, (decrement, enough) = load_schema(name), SHIPPED[name]
    assert loaded.decrement == Decimal(decrement)
    assert loaded.completion.holds(enough)
    assert not loaded.completion.holds({})
    for field in enough:  # whatever is taken away is missed, and named
        less = {key: value for key, value in enough.items() if key != field}
        if not loaded.completion.holds(less):
            assert (field,) in loaded.completion.lacking(less)


def test_every_nested_process_needs_its_times_and_ends() -> None:
    completion = load_schema("flow-shop").completion
    baked = {"process-id": "baking", "duration": HOUR, "inputs": [{"item-id": "dough"}]}
    rising: dict[str, Any] = {"process-id": "rising", "outputs": [{"item-id": "dough"}]}
    bread = {"process-id": "bread", "subprocesses": [{**baked, "subprocesses": [rising]}]}
    assert not completion.holds(bread)
    assert ("subprocesses", "baking", "subprocesses", "rising", "duration") in completion.lacking(bread)
    rising["duration"] = HOUR
    assert completion.holds(bread)


@pytest.mark.parametrize(
    ("complete", "says"),
    [("nme", "'nme' is no field here; did you mean 'name'?"), ("every(name, minutes)", "that is no list"),
        ("every(stages, hours)", "'hours' is no field here"), ("not exhausted?", "met by an empty record"),
        ("name or not nights?", "met by an empty record"), ('name and name == "x" and not name', "cannot be met"),
        ('troubles and shifts == "three" and not shifts', "cannot be met"),
        ("count(stages) >= 0 and name or count(stages) >= 0", "met by an empty record"),
        ("name and (stages", "cannot be read"), ("__import__(name)", "holds what cannot stand there"),
        ("name.upper()", "holds what cannot stand there"), ("[name]", "holds what cannot stand there"),
        ("count(name", "cannot be read"), ("every(1, name)", "holds what cannot stand there")],
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
    assert [schema(decrement=step).questions for step in (0.1, 0.15, 0.08, 0.05, 1.0)] == [10, 6, 12, 20, 1]
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
    file.write_text(json.dumps({"DS": "soup", "budget-decrement": 0.2, "interview-objective": "Soup",
        "complete-when": "exhausted?",
                                "discovery-schema": body}))  # fmt: skip
    loaded = load_schema(str(file))
    assert (loaded.id, loaded.questions, loaded.complete) == ("soup", 5, "exhausted?")
    types = {"/".join(node.path): node.field.type for node in loaded.walk()}
    assert types == {
        "process-id": "text", "shifts": "number", "exhausted?": "boolean", "stages": "list", "stages/minutes": "number",
    }  # fmt: skip
    stages = loaded.nodes["stages"].field
    assert (stages.key, stages.nested, loaded.nodes["exhausted?"].field.closing) == ("stage-id", 4, True)
    told = loaded.nodes["process-id"].field
    assert told.description.in_("en") == "what it is called"
    assert told.examples == {"en": ("soup",)}


@pytest.mark.parametrize(
    ("raw", "says"),
    [(b"{", "no JSON"), (b"[]", "has no `DS`"), (b'{"discovery-schema": {}}', "has no"),
        (b'{"discovery-schema": {"a b": 1}}', "no name of a field")],
)  # fmt: skip
def test_other_json_is_refused_with_a_sentence(raw: bytes, says: str) -> None:
    with pytest.raises(InstrumentError, match=says):
        from_original(raw, "x.json")


# --- the originals' shapes --------------------------------------------------------------------------------------------


def kinds(given: dict[str, Any]) -> dict[str, str]:
    return {"/".join(node.path): node.field.type for node in given_schema(given).walk()}


def test_a_process_loads_as_it_is_with_things_quantities_and_steps_in_steps() -> None:
    """The body stands under DS, its id has a slash, and complete is it by exhausted? alone."""
    loaded = given_schema(originals.PROCESS)
    assert (loaded.id, loaded.session, loaded.questions) == ("process/bakery", "process--bakery", 10)
    things = {"": "list", "/quantity": "quantity", "/from": "text"}
    ends = {f"{end}{part}": kind for end in ("inputs", "outputs") for part, kind in things.items()}
    expected = {"resources": "texts", "duration": "quantity", "optional?": "boolean"}
    assert kinds(originals.PROCESS) == {
        "exhausted?": "boolean", "process-id": "text", **ends, "resources": "texts", "duration": "quantity",
        "subprocesses": "list", **{f"subprocesses/{name}": kind for name, kind in (ends | expected).items()},
    }  # fmt: skip
    steps = loaded.nodes["subprocesses"].field
    assert (steps.key, steps.nested, steps.coined) == ("process-id", 4, True)
    assert (loaded.complete, loaded.completion.holds({"exhausted?": False})) == ("exhausted?", False)
    assert loaded.completion.holds({"exhausted?": True})
    assert [name for name, field in loaded.fields.items() if field.wanted] == [
        "inputs", "outputs", "resources", "duration", "subprocesses",
    ]  # fmt: skip  # not the name, which nobody is to be asked for
    assert not steps.fields["optional?"].wanted
    assert "subprocesses: entries may hold such entries, to a depth of 4" in loaded.translated


def test_closed_lists_stay_closed_and_what_is_optional_optional() -> None:
    loaded = given_schema(originals.KINDS)
    assert kinds(originals.KINDS) == {
        "principal-kind": "choice", "kinds-beside": "choices", "cyclical?": "boolean", "remark": "text",
    }  # fmt: skip
    listed = ["BATCH-KIND", "SINGLE-KIND", "MIXED-KIND"]
    assert [list(loaded.fields[name].values) for name in ("principal-kind", "kinds-beside")] == [listed, listed]
    meaning = loaded.fields["kinds-beside"].values["SINGLE-KIND"].description
    assert meaning.in_("en") == "one by one."
    assert loaded.completion.text == "known(principal-kind) and known(kinds-beside) and known(cyclical?)"
    asked = loaded.fields["principal-kind"].question
    assert asked.in_("en") == "What is it that you plan?"


def test_events_need_what_all_examples_have_and_none_is_an_answer() -> None:
    loaded = given_schema(originals.EVENTS)
    assert kinds(originals.EVENTS) == {
        "events": "list", "events/constituents": "list", "events/constituents/base": "choice",
        "events/constituents/quantity": "quantity", "events/periodicity": "object",
        "events/periodicity/interval": "quantity",
        "events/periodicity/occurrences": "quantity", "events/when": "texts", "events/opportunistic?": "boolean",
        "slots": "list", "slots/availability": "texts", "slots/periods": "texts",
    }  # fmt: skip
    record = normalised(loaded.nodes, stripped(originals.EVENTS["DS"]))
    assert list(misfits(loaded.nodes, {name: record[name] for name in loaded.fields})) == []
    assert record["events"][1]["constituents"] == [{"constituent": "none"}]
    assert record["events"][1]["periodicity"] == {"interval": {"value-string": "none"}}
    assert loaded.completion.holds(record)
    del record["events"][0]["when"]
    assert ("events", "class", "when") in loaded.completion.lacking(record)


def test_fact_types_keep_objects_uniqueness_and_tables_in_their_places() -> None:
    loaded = given_schema(originals.FACTS)
    inner = {"objects": "row", "reference-modes": "row", "mandatory?": "row", "uniqueness": "rows",
        "examples": "object",
             "examples/column-headings": "row", "examples/rows": "rows"}  # fmt: skip
    assert kinds(originals.FACTS) == {
        "exhausted?": "boolean", "areas": "texts", "inquiry-areas": "list", "inquiry-areas/objects-here": "list",
        "inquiry-areas/objects-here/definition": "text", "inquiry-areas/fact-types": "list",
        **{f"inquiry-areas/fact-types/{name}": kind for name, kind in inner.items()},
    }  # fmt: skip
    record = normalised(loaded.nodes, {"inquiry-areas": originals.FACTS["DS"]["inquiry-areas"]})
    assert not list(misfits(loaded.nodes, record))
    fact = record["inquiry-areas"][0]["fact-types"][0]
    assert (fact["mandatory?"], fact["uniqueness"]) == (["must", ""], [["key1", ""]])
    later = {
        "inquiry-areas": [
            {"inquiry-area-id": "orders", "fact-types": [{**fact, "uniqueness": [["key1", ""], ["", "key2"]]}]}
        ]
    }
    both = reduced(loaded.nodes, record, later)
    assert both["inquiry-areas"][0]["fact-types"][0]["uniqueness"] == [["key1", ""], ["", "key2"]]
    assert len(both["inquiry-areas"][0]["fact-types"]) == 2


@pytest.mark.parametrize("text", ['{:DS {:DS-id "a"}}', "{'DS': 1}", '{"DS": {'])
def test_what_is_no_json_is_refused_by_name(text: str) -> None:
    with pytest.raises(InstrumentError, match=r"no JSON: .* line 1 column"):
        given_schema(text)
    with pytest.raises(InstrumentError, match=r"x\.json: no JSON"):
        from_original(text.encode(), "x.json")


def test_a_schema_without_anything_new_is_written_as_it_was() -> None:
    """A run's settings hold it, and say which run is meant."""
    written = schema().model_dump(mode="json")
    assert "translated" not in written
    assert not {"wanted", "coined"} & {key for field in written["fields"].values() for key in field}
    assert set(written["fields"]["troubles"]["values"]["demand"]) == {"label", "words"}
