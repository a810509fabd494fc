import statistics
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.respondents.ground_truth import answer_at, normal, persona_hash, pick, sample, uniform
from enquete.state.asking import Item, Option, Participant


def scale(*values, kind="scale"):
    return Item(id="i", kind=kind, wording="?", options=tuple(Option(value=v, label=str(v)) for v in values))


def test_draws_are_pinned():
    # A change here would change every synthetic run.
    assert uniform("a", 1) == uniform("a", 1) != uniform("a", 2)
    # printf 'a\x1f1' | sha256sum | cut -c1-16
    assert uniform("a", 1) == pytest.approx(int("839e11a421d370be", 16) / 2**64)
    assert uniform("ab", "c") != uniform("a", "bc")


def test_draws_have_their_distributions_and_samples_their_weights():
    u = [uniform("u", i) for i in range(4000)]
    z = [normal("z", i) for i in range(4000)]
    assert statistics.mean(u) == pytest.approx(0.5, abs=0.02)
    assert statistics.mean(z) == pytest.approx(0, abs=0.05)
    assert statistics.stdev(z) == pytest.approx(1, abs=0.04)
    assert set(Counter(pick("abc", i) for i in range(300))) == set("abc")
    first = Counter(sample([("a", 3.0), ("b", 1.0)], 1, i)[0] for i in range(2000))
    assert first["a"] / 2000 == pytest.approx(0.75, abs=0.03)
    assert sorted(sample([("a", 3.0), ("b", 1.0)], 5, 0)) == ["a", "b"]


@pytest.mark.parametrize(
    ("position", "values", "expected"),
    [
        (-1, range(1, 6), 1),
        (1, range(1, 6), 5),
        (0, range(1, 6), 3),
        (0.5, range(1, 8), 6),  # 1 + .75·6 = 5.5, halves go outward
        (-0.5, range(1, 8), 2),
        (-0.5, range(1, 4), 1),
        (2, range(-2, 3), 2),
        (-1, (5, 4, 3, 2, 1), 1),  # options shown the other way round
        (0.4, range(11), 7),
    ],
)
def test_position_becomes_the_nearest_scale_point(position, values, expected):
    assert place(position, scale(*values)) == (expected, None)


def place(position, item):
    answer = answer_at(position, item, confidence=0.5)
    return answer.value, answer.data


def test_choices_numbers_and_confidence():
    assert place(1, scale("red", "green", kind="choice")) == (None, "green")
    assert answer_at(1, scale("red", "green", kind="choice"), confidence=0.5).data == "green"
    number = Item(id="n", kind="number", wording="?", minimum=2000, maximum=2040)
    assert place(0.5, number) == (2030, None)
    assert place(5, number)[0] == 2040
    assert place(-1, Item(id="n", kind="number", wording="?"))[0] == 0
    assert place(0, Item(id="n", kind="number", wording="?", minimum=0, maximum=1))[0] == 0.5
    item = scale(1, 2, 3)
    assert answer_at(0, item, confidence=0.7).confidence is None
    assert answer_at(0, item.model_copy(update={"confidence": True}), confidence=1.7).confidence == 0.98


@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(2, 11))
def test_scale_points_rise_with_the_position(one, other, k):
    low, high = sorted((one, other))
    item = scale(*range(1, k + 1))
    assert 1 <= place(low, item)[0] <= place(high, item)[0] <= k
    assert place(-low, item)[0] == k + 1 - place(low, item)[0] or (low == 0 and k % 2 == 0)


def test_persona_hash_ignores_id_and_memory():
    who = Participant(id="agent:1", name="A", stakeholder_type="t", persona="p")
    assert persona_hash(who) == persona_hash(replace(who, id="agent:2", digest="d", agent_id=7))
    assert persona_hash(who) != persona_hash(replace(who, persona="q"))
