"""Reducers and readings: how answers add up, what is refused, and that nothing is invented."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.methods.discovery.interviewer import ReadingInput, read_by_rule
from enquete.methods.discovery.record import (
    amount_of,
    checked,
    contradictions,
    is_unclear,
    record_model,
    reduced,
    reply_schema,
    unknown,
)
from enquete.methods.discovery.schema import SchemaField
from enquete.state.numbers import WrittenFloat
from tests.methods.discovery.interviews import from_yaml, quoted, schema

PLANT = schema()
NODES = PLANT.nodes


def test_lists_join_trees_merge_and_parts_are_replaced() -> None:
    """Trap: a plain merge of maps replaces it."""
    first = reduced(NODES, {}, {"troubles": ["demand", "staff"]})
    assert reduced(NODES, first, {"troubles": ["staff", "bottleneck"]})["troubles"] == ["demand", "staff", "bottleneck"]
    # Trap: replacing a tree where another has more parts throws away durations that were added.
    first = {"stages": [{"stage-id": "baking", "minutes": 30.0, "stages": [{"stage-id": "rising", "minutes": 60.0}]}]}
    later = {"stages": [{"stage-id": "Baking", "inputs": ["dough"],
        "stages": [{"stage-id": "rising", "inputs": ["yeast"]},
                                                                           {"stage-id": "shaping"}]},
                        {"stage-id": "packing"}]}  # fmt: skip
    assert reduced(NODES, first, later) == {
        "stages": [
            {"stage-id": "baking", "minutes": 30.0, "inputs": ["dough"],
             "stages": [{"stage-id": "rising", "minutes": 60.0, "inputs": ["yeast"]}, {"stage-id": "shaping"}]},
            {"stage-id": "packing"},
        ]
    }  # fmt: skip
    flat = from_yaml(
        "id: x\nversion: '1'\ntitle: x\nlanguage_default: en\nobjective: x\ncomplete: slots\nfields:\n"
        "  slots: {type: list, key: id, reducer: upsert, label: s, fields: {days: {type: texts, label: d}, n: {type: "
        "number, label: n}}}\n"
    )
    old = {"slots": [{"id": "a", "days": ["mon"], "n": 1.0}]}
    new = {"slots": [{"id": "a", "days": ["tue"]}, {"id": "b"}]}
    assert reduced(flat.nodes, old, new) == {"slots": [{"id": "a", "days": ["tue"], "n": 1.0}, {"id": "b"}]}


ENTRIES = st.recursive(
    st.just([]),
    lambda inner: st.lists(
        st.fixed_dictionaries(
            {"stage-id": st.sampled_from("abc")}, optional={"minutes": st.just(5.0), "stages": inner}
        ),
        max_size=3,
        unique_by=lambda entry: entry["stage-id"],
    ),
    max_leaves=6,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(min_size=1), "troubles": st.lists(st.sampled_from(["demand", "staff"]), unique=True),
        "stages": ENTRIES},
)  # fmt: skip


@given(RECORDS, RECORDS)
def test_reducing_keeps_what_was_known_and_changes_neither_side(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = copy.deepcopy((old, new))
    once = reduced(NODES, reduced(NODES, {}, old), new)
    assert (old, new) == before
    assert reduced(NODES, once, new) == once  # said twice is said once
    assert set(once.get("troubles", [])) == {*old.get("troubles", []), *new.get("troubles", [])}
    stages = {entry["stage-id"] for side in (old, new) for entry in side.get("stages", [])}
    assert {entry["stage-id"] for entry in once.get("stages", [])} == stages


def test_contradictions_and_what_is_unknown_wherever_they_stand() -> None:
    old = {"name": "soup", "nights?": False, "exhausted?": False, "troubles": ["demand"],
           "stages": [{"stage-id": "a", "minutes": 5.0}]}  # fmt: skip
    new = {"name": "bread", "nights?": True, "exhausted?": True, "troubles": ["staff"],
           "stages": [{"stage-id": "A", "minutes": 9.0}]}  # fmt: skip
    clashes = [(clash.path, clash.earlier, clash.later) for clash in contradictions(NODES, old, new)]
    assert clashes == [
        (("name",), "soup", "bread"),
        (("nights?",), False, True),
        (("stages", "A", "minutes"), 5.0, 9.0),
    ]
    assert not list(contradictions(NODES, {"name": "soup"}, {"name": "Fine soup in jars"}))  # more of the same
    record = {"name": "soup", "stages": [{"stage-id": "a", "minutes": 5.0}, {"stage-id": "b", "inputs": ["x"]}]}
    assert list(unknown(NODES, record)) == [
        ("troubles",), ("shifts",), ("nights?",), ("stages", "a", "inputs"), ("stages", "b", "minutes"),
    ]  # fmt: skip


# --- readings ---------------------------------------------------------------------------------------------------------

ANSWER = (
    "We make soup. A bottleneck at the oven, and we are too few people; each stage takes 1,5 hours. Mixing comes first."
)


def read(raw: dict[str, Any], known: dict[str, Any] | None = None) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    reading = checked(PLANT, raw, ANSWER, known or {})
    return reading.values, [(problem.kind, problem.path) for problem in reading.problems]


def test_values_keep_words_of_the_answer_keys_are_named_and_lists_closed() -> None:
    reading = checked(PLANT, {"name": quoted("soup", "we make SOUP")}, ANSWER, {})
    assert [(value.path, value.value, value.quote) for value in reading.told] == [(("name",), "soup", "we make SOUP")]
    assert read({"name": quoted("bread", "we make bread")}) == ({}, [("not_said", "name")])
    assert read({"name": quoted("bread")}) == ({}, [("not_said", "name")])
    assert read({"name": quoted("soup", "words that nobody said")}) == ({"name": "soup"}, [])  # it was said itself
    assert read({"nights?": quoted(True)}) == ({}, [("not_said", "nights?")])
    # Trap: a model writes areas-of-inquiry for areas, and completion stays false for ever.
    reading = checked(PLANT, {"trouble": [quoted("staff", "too few people")], "name": "soup"}, ANSWER, {})
    assert reading.values == {"name": "soup"}
    (problem,) = reading.problems
    assert (problem.kind, problem.path) == ("unknown", "trouble")
    assert "did you mean 'troubles'?" in problem.why
    quote = "too few people"
    assert read({"troubles": [quoted("STAFF", quote), quoted("Too few people", quote), quoted("money", quote)]}) == (
        {"troubles": ["staff", "staff"]}, [("unfit", "troubles.2")],
    )  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), [("1,5", 1.5), ("1.5", 1.5), (2, 2.0), ("1.250,5", 1250.5), (" 3 ", 3.0)])
def test_numbers_are_read_as_people_write_them(given: Any, wanted: float) -> None:
    assert read({"shifts": quoted(given, "1,5 hours")})[0] == {"shifts": wanted}


@pytest.mark.parametrize("given", ["1.500", "1,500", WrittenFloat("1.500")])
def test_a_number_with_two_meanings_is_refused_with_both_so_that_it_is_asked_again(given: Any) -> None:
    reading = checked(PLANT, {"shifts": quoted(given, "1,5 hours")}, ANSWER, {})
    assert "shifts" not in reading.values
    (problem,) = reading.problems
    assert problem.why == "may be 1.5 or 1500; write it without a mark between thousands"


MINUTES = SchemaField(type="quantity", label="Duration", unit="minutes", units={"hours": 60})


@pytest.mark.parametrize(
    ("said", "units", "amount"),
    [("20", "minutes", 20), ("4-6", "hours", 300), ("1,5", "hours", 90), ("1.234,50", "minutes", 1234.5),
     ("1.500", "minutes", None), ("1,000 to 1,200", "minutes", None), ("12.500-13.000,5", "minutes", None),
     ("1500", "minutes", 1500), ("it varies", "minutes", None)],
)  # fmt: skip
def test_an_amount_with_two_meanings_stays_as_it_was_said(said: str, units: str, amount: float | None) -> None:
    """“1.500 minutes” had been read as a minute and a half."""
    quantity = {"value-string": said, "units": units}
    assert amount_of(MINUTES, quantity) == amount
    assert is_unclear(quantity) == (said in ("1.500", "1,000 to 1,200", "12.500-13.000,5"))


@pytest.mark.parametrize(("answer", "value"), [("We have 1500 jars.", 1500.0), ("We have 1.500 jars.", None),
    ("It takes 1,5 shifts.", 1.5)])  # fmt: skip
def test_a_rule_reads_no_number_with_two_meanings(answer: str, value: float | None) -> None:
    data = ReadingInput(discovery=PLANT, question="How many?", answer=answer, about=("shifts",), record={})
    read_value = read_by_rule(data).record.get("shifts")
    assert (read_value and read_value["value"]) == value


@pytest.mark.parametrize("given", [True, "many", "1e999", [1], None, {"value": "x"}])
def test_what_is_no_number_is_left_out(given: Any) -> None:
    assert "shifts" not in read({"shifts": {"value": given, "quote": "1,5 hours"}})[0]


def test_entries_are_named_by_the_answer_or_known_already() -> None:
    given = {
        "stages": [
            {"stage-id": quoted("Mixing"), "minutes": quoted(90, "1,5 hours")},
            {"stage-id": quoted("invented"), "minutes": quoted(1)},
        ]
    }
    values, problems = read(given)
    assert values == {"stages": [{"stage-id": "Mixing", "minutes": 90.0}]}
    assert problems == [("not_said", "stages.invented")]
    known = {"stages": [{"stage-id": "packing in jars"}]}
    given = {"stages": [{"stage-id": quoted("Packing in jars"), "minutes": quoted(90, "1,5 hours")}]}
    assert read(given, known) == ({"stages": [{"stage-id": "packing in jars", "minutes": 90.0}]}, [])


KEYS = ("value", "quote", "stage-id", "x")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NODES, *KEYS]), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*NODES, "x"]), JSON, max_size=4))
def test_whatever_a_model_replies_gives_a_record_of_the_schema(raw: dict[str, Any]) -> None:
    reading = checked(PLANT, raw, ANSWER, {})
    assert set(reading.values) <= set(NODES)
    reduced(NODES, {}, reading.values)
    assert all(value.quote for value in reading.told)


def test_the_form_that_a_server_enforces_names_every_field_and_nothing_else() -> None:
    form: Any = reply_schema(PLANT)
    assert form["required"] == list(NODES)
    assert form["additionalProperties"] is False
    assert record_model(PLANT) is record_model(schema())  # made once
