"""What counts as an answer: the value table of the instrument rules, and that no JSON whatever breaks the reader."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.respondents.questions import read_answer, read_reply
from enquete.state.asking import Answer, Item, Option
from enquete.state.interview_context import Completion

SCALE = Item(id="s", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in range(-2, 6)))
SURE = SCALE.model_copy(update={"confidence": True})
NUMBER = Item(id="n", kind="number", wording="?", minimum=-10, maximum=10)
FREE = Item(id="f", kind="number", wording="?")
CHOICE = Item(
    id="c", kind="choice", wording="?", options=(Option(value="yes", label="Yes"), Option(value=2, label="Two"))
)
TEXT = Item(id="t", kind="text", wording="?")
WHY = SCALE.model_copy(update={"id": "w", "reason": True})
ALL = (SURE, NUMBER, FREE, CHOICE, TEXT, WHY)


def own_ids(items: Sequence[Item]) -> dict[str, str]:
    """Asked under their own ids."""
    return {item.id: item.id for item in items}


def read(item: Item, given: Any) -> Answer | None:
    """As it would arrive: through JSON text."""
    return read_reply(Completion(json.dumps({item.id: given})), [item], own_ids([item])).answers.get(item.id)


NUMBERS = [("3", 3), (" 4 ", 4), (3.0, 3), ("-2", -2), (5, 5), ("3.0", 3), ("+1", 1), (0, 0), (-2, -2)]
NO_NUMBERS = [
    True, False, 3.5, "3.5", "high", "", " ", None, [], [3], {"value": 3}, "3 (agree)", "three", "1e0", 7, -3, "99",
]  # fmt: skip


@pytest.mark.parametrize(("given", "value"), NUMBERS)
def test_a_number_on_the_scale(given: Any, value: int) -> None:
    for shape in ({"value": given}, given):
        answer = read(SCALE, shape)
        assert answer is not None
        assert answer.value == value
        assert answer.status == "ok"


@pytest.mark.parametrize("given", NO_NUMBERS)
def test_no_number_on_the_scale(given: Any) -> None:
    assert read(SCALE, {"value": given}) is None


@pytest.mark.parametrize(
    ("given", "value"),
    [(3.5, 3.5), ("-2.25", -2.25), (10, 10), (10.01, None), (True, None), ("NaN", None), ("ten", None)],
)
def test_a_number_in_its_range(given: Any, value: float | None) -> None:
    answer = read(NUMBER, {"value": given})
    assert (answer and answer.value) == value


def test_a_number_too_large_to_be_one() -> None:
    for large in ("9" * 400, 10**299 * 10**200, float("inf"), float("nan")):
        assert read_answer(FREE, {"value": large}) is read(FREE, {"value": large}) is None


@pytest.mark.parametrize(
    ("given", "data"),
    [("yes", "yes"), (" yes ", "yes"), (2, 2), ("2", 2), (2.0, 2), ("no", None), (True, None), (None, None),
        (["yes"], None), (2.5, None)],
)  # fmt: skip
def test_a_choice(given: Any, data: Any) -> None:
    answer = read(CHOICE, {"value": given})
    assert (answer and answer.data) == data
    assert answer is None or answer.value is None


@pytest.mark.parametrize("given", ["because", {"text": " because\n"}, {"value": "because"}])
def test_a_text(given: Any) -> None:
    answer = read(TEXT, given)
    assert answer is not None
    assert (answer.text, answer.value) == ("because", None)


@pytest.mark.parametrize(
    "given", ["", "  \n", "…", " }}}, ", {"text": ""}, {}, 5, {"text": 5}, ["because"], {"text": ["because"]}, None]
)
def test_no_text(given: Any) -> None:
    assert read(TEXT, given) is None


@pytest.mark.parametrize(
    ("given", "confidence", "note"),
    [
        (0, 0.0, ""), (0.7, 0.7, ""), (1, 1.0, ""), ("0.5", 0.5, ""), (80, 0.8, "confidence 80 read as 0.8"),
        (100, 1.0, "confidence 100 read as 1"), (101, None, "confidence 101 is out of range"),
        (-1, None, "confidence -1 is out of range"), ("high", None, "no confidence given"),
        (float("nan"), None, "no confidence given"), (True, None, "no confidence given"),
        (None, None, "no confidence given"),
    ],
)  # fmt: skip
def test_confidence(given: Any, confidence: float | None, note: str) -> None:
    answer = read(SURE, {"value": 3, "confidence": given})
    assert answer is not None
    assert answer.value == 3  # a wrong confidence costs the confidence, not the answer
    assert answer.confidence == confidence
    assert answer.notes == ((note,) if note else ())


def test_confidence_and_reasons_where_they_are_asked_for() -> None:
    answer = read(SURE, 3)
    assert answer is not None
    assert (answer.confidence, answer.notes) == (None, ("no confidence given",))
    answer = read(SCALE, {"value": 3, "confidence": 0.9})
    assert answer is not None
    assert (answer.confidence, answer.notes) == (None, ())
    given, missing = read(WHY, {"value": 3, "reason": " so "}), read(WHY, {"value": 3})
    assert given is not None
    assert missing is not None
    assert (given.text, given.notes) == ("so", ())
    assert (missing.text, missing.notes) == ("", ("no reason given",))


class TestWholeReplies:
    def reading(self, given: Any, items: tuple[Item, ...] = (SCALE, TEXT), finish: str = "stop") -> Any:
        return read_reply(
            Completion(given if isinstance(given, str) else json.dumps(given), finish), items, own_ids(items)
        )

    def test_unknown_declined_cut_and_refusing_replies(self) -> None:
        reading = self.reading({"x": 1, "s": 3, "y": {"value": 2}})
        assert reading.unknown == 2
        assert reading.answers["s"].notes == ("2 unknown items ignored",)
        assert "t" not in reading.answers
        assert self.reading({"s": None, "t": {"text": None}}).declined == {"s", "t"}
        assert self.reading({"s": {"value": None}, "t": ""}).declined == {"s"}
        reading = self.reading('{"s": {"value": 3}, "t": {"text": "and th', finish="length")
        assert reading.cut_off
        assert reading.answers.keys() == {"s"}
        reading = self.reading({"s": 1, "t": "I'm sorry, I can't help with that."})
        assert reading.answers.keys() == {"s", "t"}

    @pytest.mark.parametrize("text", ["", "no json", "[1, 2]", "{}", '{"other": 1}', "3"])
    def test_unreadable(self, text: str) -> None:
        reading = self.reading(text)
        assert (reading.unreadable, reading.refused, reading.answers) == (True, False, {})

    @pytest.mark.parametrize(
        ("text", "finish"),
        [("I'm sorry, but I can't help with that.", "stop"), ("", "content_filter"), ('{"s": 3}', "refusal")],
    )
    def test_refused(self, text: str, finish: str) -> None:
        reading = self.reading(text, finish=finish)
        assert reading.refused
        assert reading.answers == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["3", " 4 ",
        "yes", 80, 0.5]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["value", "text", "confidence", "reason", "s", "n", "x"]) | st.text(max_size=5),
        inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
replies = st.dictionaries(st.sampled_from([item.id for item in ALL]) | st.text(max_size=4), json_values, max_size=8)


def well_formed(item: Item, answer: Answer) -> None:
    assert (answer.item, answer.status) == (item.id, "ok")
    assert answer.confidence is None or (item.confidence and 0 <= answer.confidence <= 1)
    options = [option.value for option in item.options]
    if item.kind == "text":
        assert answer.text.strip()
        assert answer.value is None
    elif item.kind == "choice":
        assert answer.data in options
        assert answer.value is None
    else:
        assert answer.value is not None
        assert math.isfinite(answer.value)
        assert not options or answer.value in options
        assert item.maximum is None or answer.value <= item.maximum


@given(replies)
def test_any_json_object_gives_well_formed_answers_or_none(reply: dict[str, Any]) -> None:
    reading = read_reply(Completion(json.dumps(reply)), ALL, own_ids(ALL))
    for item in ALL:
        if item.id in reading.answers:
            well_formed(item, reading.answers[item.id])


@given(st.sampled_from(ALL), json_values)
def test_any_value_is_an_answer_or_none(item: Item, given: Any) -> None:
    answer = read_answer(item, given)
    if answer is not None:
        well_formed(item, answer)


@given(
    st.text(max_size=200) | json_values.map(json.dumps),
    st.sampled_from(["stop", "length", "refusal", "content_filter", "?"]),
)
def test_any_text_at_all(text: str, finish: str) -> None:
    reading = read_reply(Completion(text, finish), ALL, own_ids(ALL))
    assert reading.answers.keys() <= {item.id for item in ALL}


@pytest.mark.parametrize(
    ("reply", "text", "notes"),
    [
        ("The sea is empty [S2].", "The sea is empty.", ("names S2",)),
        ("I wrote it [P1, S12]; so I think [P1].", "I wrote it; so I think.", ("names P1 S12",)),
        ("[P1]", "[P1]", ()),  # nothing else is in it
        ("As G20 [1] and [X1] say", "As G20 [1] and [X1] say", ()),
    ],
)
def test_marks_of_a_memory_are_noted_and_taken_out(reply: str, text: str, notes: tuple[str, ...]) -> None:
    """Others, and whoever gathers themes, see the words without marks, which mean something else in their memories."""
    free, reason = read(TEXT, {"text": reply}), read(WHY, {"value": 3, "reason": reply})
    assert free is not None
    assert reason is not None
    assert (free.text, free.notes) == (reason.text, reason.notes) == (text, notes)
