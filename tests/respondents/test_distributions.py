"""How probabilities over options become an answer: what is normalised, what is asked again, what a prompt asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.respondents.llm import compose
from enquete.respondents.questions import read_reply
from enquete.state.asking import Answer, Block, BlockKey, Item, Option
from enquete.state.interview_context import Completion
from tests.support.populations import participants

SCALE = Item(
    id="s", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in (1, 2, 3)),
    elicitation="distribution",
)  # fmt: skip
CHOICE = Item(
    id="c", kind="choice", wording="?", options=tuple(Option(value=v, label="") for v in ("yes", "no")),
    elicitation="distribution",
)  # fmt: skip


def read(item: Item, given: Any) -> Answer | None:
    return read_reply(Completion(json.dumps({"q1": given})), [item], {item.id: "q1"}).answers.get(item.id)


@pytest.mark.parametrize(
    ("given", "value", "mean", "notes"),
    [
        # By hand: 1·.2 + 2·.5 + 3·.3 = 2.1; half is reached at 2
        ({"1": 0.2, "2": 0.5, "3": 0.3}, 2, 2.1, ()),
        ({"3": 1}, 3, 3, ()),
        ({" 1 ": "0.5", "3": 0.5}, 1, 2, ()),  # exactly half at 1
        # .2 + .4 + .3 = .9; the mean is (.2 + .8 + .9)/.9 = 19/9
        ({"1": 0.2, "2": 0.4, "3": 0.3}, 2, round(19 / 9, 6), ("sum .9 normalised",)),
        ({"1": 0.55, "2": 0.55}, 1, 1.5, ("sum 1.1 normalised",)),
        ({"1": 0.33, "2": 0.33, "3": 0.33}, 2, 2, ("sum .99 normalised",)),
        ({"1": 20, "2": 50, "3": 30}, 2, 2.1, ("sum 100 read as per cent",)),
        ({"1": 50, "2": 45}, 1, round(140 / 95, 6), ("sum 95 read as per cent", "sum .95 normalised")),
    ],
)
def test_median_and_mean_over_the_scale(
    given: dict[str, Any], value: float, mean: float, notes: tuple[str, ...]
) -> None:
    for shape in ({"probabilities": given}, given):
        answer = read(SCALE, shape)
        assert answer is not None
        assert answer.value == value
        assert answer.notes == notes
        assert isinstance(answer.data, dict)
        assert answer.data["mean"] == pytest.approx(mean, abs=1e-6)
        shares = answer.data["distribution"]
        assert isinstance(shares, dict)
        assert list(shares) == ["1", "2", "3"]
        assert sum(map(float, shares.values())) == pytest.approx(1, abs=1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {"1": -0.1, "2": 1.1}, {"1": 0.4, "2": 0.4}, {"1": 0.8, "2": 0.4}, {"1": 0.5, "4": 0.5},
        {"1": "half", "2": 0.5}, {"1": None, "2": 1}, {"1": True}, {}, [], 3, None, {"value": 3}, {"probabilities": 3},
        {"1": 1e308, "2": 1e308},
    ],
)  # fmt: skip
def test_anything_else_is_asked_again(given: Any) -> None:
    """A bare point answer too: the two are never mixed in one aggregate."""
    assert read(SCALE, given) is None
    assert read(SCALE, {"probabilities": given}) is None


def test_a_choice_has_a_mode_and_confidence_and_reason_come_along() -> None:
    assert read(CHOICE, {"probabilities": {"yes": 0.3, "no": 0.7}}) == Answer(
        "c", "ok", data={"distribution": {"yes": 0.3, "no": 0.7}, "mode": "no"}
    )
    tied = read(CHOICE, {"yes": 0.5, "no": 0.5})
    assert tied is not None
    assert isinstance(tied.data, dict)
    assert tied.data["mode"] == "yes"  # the first as written
    item = SCALE.model_copy(update={"confidence": True, "reason": True})
    answer = read(item, {"probabilities": {"2": 0.95}, "confidence": 0.8, "reason": "so"})
    assert answer is not None
    assert (answer.confidence, answer.text, answer.notes) == (0.8, "so", ("sum .95 normalised",))


@given(st.dictionaries(st.sampled_from("1234x"), st.floats(-1, 120, allow_nan=False) | st.none() | st.text(max_size=3)))
def test_whatever_is_given_a_mean_lies_on_the_scale_and_shares_sum_to_one(given: dict[str, Any]) -> None:
    answer = read(SCALE, {"probabilities": given})
    if answer is not None:
        assert answer.value is not None
        assert 1 <= answer.value <= 3
        assert isinstance(answer.data, dict)
        shares: Any = answer.data["distribution"]
        assert all(0 <= share <= 1 for share in shares.values())
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)


def test_the_prompt_asks_for_a_probability_an_option_in_the_order_shown() -> None:
    (who,) = participants(1)
    item = SCALE.model_copy(update={"shown": (3, 2, 1)})
    key = BlockKey("run", "main", "m", "T1", "", 0, 0, who.id, "items")
    prompt = compose(who, Block(key=key, instruction="Please.", items=(item,)), (item,), "en", "", 0)
    schema: Any = json.loads(prompt.schema)["properties"]
    assert list(schema["q1"]["properties"]["probabilities"]["properties"]) == ["3", "2", "1"]
    assert schema["q1"]["required"] == ["probabilities"]
    text = prompt.messages[0]["content"]
    assert "Options: 3; 2; 1" in text
    assert '{"q1": {"probabilities": {"3": 0.…, "2": 0.…, "1": 0.…}}}' in text
    assert "for every option the probability" in text
