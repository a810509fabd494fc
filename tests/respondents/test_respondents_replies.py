"""What counts as an answer: the value table of the instrument rules, and that no JSON whatever breaks the reader."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.instruments.scales import NAMED_SCALES
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
    True, False, 3.5, "3.5", "high", "", " ", None, [], [3, 4], {"value": True}, "3 (agree)", "three", "1e0", 7, -3,
    "99",
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


LIKERT = Item(id="lik", kind="scale", wording="?", options=NAMED_SCALES["likert5"].options("en"))
DECIDERS = Item(
    id="cho", kind="choice", wording="?",
    options=(Option(value="1", label="the state"), Option(value="2", label="the market"), Option(value="3", label="")),
)  # fmt: skip
BOATS = Item(id="num", kind="number", wording="How many boats?", minimum=0, maximum=20_000)


@pytest.mark.parametrize(
    "given",
    ["4 = somewhat agree", "4 - somewhat agree", "4.", [4], {"value": 4}, "somewhat agree", "Somewhat agree.", "4,0",
        "4: somewhat agree", "4) somewhat agree", "4 (somewhat agree)", "somewhat agree (4)", ["somewhat agree"]],
)  # fmt: skip
def test_a_point_named_by_its_label_is_read_and_noted(given: Any) -> None:
    """Right values: public_reports, `script_likert_number_open.py`: 4, repaired."""
    answer = read(LIKERT, {"value": given})
    assert answer is not None
    assert (answer.value, answer.status) == (4, "repaired")
    assert answer.notes == (f"{json.dumps(given)} read as 4",)


@pytest.mark.parametrize(
    "given",
    ["agree", "4 = strongly agree", "3-4", "4/5", "4 or 5", "4 - agree", "four", True, 4.4, "0", 6, -1, [4, 5]],
)
def test_what_names_no_point_for_certain_is_asked_again(given: Any) -> None:
    assert read(LIKERT, {"value": given}) is None


@pytest.mark.parametrize(
    ("given", "value"),
    [("the market", "2"), ("2 = the market", "2"), ("2. The market", "2"), (["2"], "2"), ({"value": "2"}, "2"),
        ("the town", None), ("2 = the state", None), ("3 boats", None)],
)  # fmt: skip
def test_an_option_named_by_its_text(given: Any, value: Any) -> None:
    answer = read(DECIDERS, {"value": given})
    assert (answer and answer.data) == value
    assert answer is None or answer.status == "repaired"


def test_labels_are_read_in_rankings_pairs_and_distributions() -> None:
    ranked = read(DECIDERS.model_copy(update={"kind": "ranking"}), {"value": ["the market", "1 = the state", "3"]})
    assert ranked is not None
    assert (ranked.data, ranked.status) == (["2", "1", "3"], "repaired")
    pair = read(DECIDERS.model_copy(update={"kind": "best_worst"}), {"best": "the market", "worst": "the state"})
    assert pair is not None
    assert (pair.data, pair.status) == ({"best": "2", "worst": "1"}, "repaired")
    shares = {"the state": "0,5", "2 = the market": 0.5, "3": 0}
    spread = read(DECIDERS.model_copy(update={"elicitation": "distribution"}), {"probabilities": shares})
    assert spread is not None
    assert spread.data == {"distribution": {"1": 0.5, "2": 0.5, "3": 0.0}, "mode": "1"}


@pytest.mark.parametrize(
    ("given", "value", "status"),
    [
        (1500, 1500, "ok"), ("1500", 1500, "ok"), (1500.0, 1500, "ok"), ("12.5", 12.5, "ok"),
        ("１５００", 1500, "ok"), ("١٥٠٠", 1500, "ok"),
        ("1 500", 1500, "repaired"), ("1'500", 1500, "repaired"), ("1_500", 1500, "repaired"),
        ("1,500.00", 1500, "repaired"), ("1.500,00", 1500, "repaired"), ("12,5", 12.5, "repaired"),
        ([1500], 1500, "repaired"), ({"value": 1500}, 1500, "repaired"), ("0,500", 0.5, "repaired"),
    ],
)  # fmt: skip
def test_numbers_in_any_notation_with_one_meaning(given: Any, value: float, status: str) -> None:
    answer = read(BOATS, {"value": given})
    assert answer is not None
    assert (answer.value, answer.status) == (value, status)


@pytest.mark.parametrize(
    "given", ["1.500", "1,500", "1500 boats", "about 1500", "1.5k", "12.5%", "50 %", "10-20", "≈1500", "~1500"]
)
def test_a_number_that_may_be_another_is_unclear(given: str) -> None:
    """A German 1.500 is 1500, an English one 1.5."""
    reading = read_reply(Completion(json.dumps({"num": given})), [BOATS], own_ids([BOATS]))
    assert reading.answers == {}
    assert reading.unclear == {"num"}


def test_a_bare_json_number_that_may_be_another_is_unclear_until_the_form_was_said() -> None:
    reply = Completion('{"num": 1.500}')
    assert read_reply(reply, [BOATS], own_ids([BOATS])).unclear == {"num"}
    told = read_reply(reply, [BOATS], own_ids([BOATS]), number_form_is_known=True)
    assert told.answers["num"].value == 1.5
    narrow = BOATS.model_copy(update={"maximum": 100})  # 1500 would be no answer
    assert read_reply(reply, [narrow], own_ids([narrow])).answers["num"].value == 1.5


@pytest.mark.parametrize("given", ["N/A", "n/a.", "don't know", "Don’t know", "weiß nicht", "k. A.", None, ["N/A"]])
@pytest.mark.parametrize("item", [LIKERT, DECIDERS, BOATS], ids=lambda item: item.kind)
def test_what_says_that_there_is_no_answer_is_declined(item: Item, given: Any) -> None:
    reading = read_reply(Completion(json.dumps({item.id: {"value": given}})), [item], own_ids([item]))
    assert reading.answers == {}
    assert reading.declined == {item.id}


def test_in_ones_own_words_only_an_empty_entry_is_none() -> None:
    assert read(TEXT, {"text": "N/A"}) is None
    assert read(TEXT, {"text": "I don't know."}) is not None


def test_a_number_too_large_to_be_one() -> None:
    for large in ("9" * 400, 10**299 * 10**200, float("inf"), float("nan")):
        assert read_answer(FREE, {"value": large}) is read(FREE, {"value": large}) is None


@pytest.mark.parametrize(
    ("given", "data"),
    [("yes", "yes"), (" yes ", "yes"), (2, 2), ("2", 2), (2.0, 2), ("no", None), (True, None), (None, None),
        (["yes", 2], None), (2.5, None)],
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
        (None, None, "no confidence given"), ("0,8", 0.8, "confidence 0,8 read as 0.8"),
        ("80 %", 0.8, "confidence 80 % read as 0.8"), ("180 %", None, "confidence 180 is out of range"),
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


def unconfident(answer: Answer) -> list[str]:
    """Its notes but those on the confidence, which is beside the answer."""
    return [note for note in answer.notes if not note.startswith("confidence ")]


def well_formed(item: Item, answer: Answer) -> None:
    assert answer.item == item.id
    assert answer.status == ("repaired" if any(" read as " in note for note in unconfident(answer)) else "ok")
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
