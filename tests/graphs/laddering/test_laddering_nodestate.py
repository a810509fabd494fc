"""What a concept goes through: the tables of exhaustion, and that every turn is really recorded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.graphs.laddering.signals import Depth, NodeState, after_answer, after_choice

S: Depth = "surface"
M: Depth = "moderate"


@pytest.mark.parametrize(
    ("since_yield", "streak", "depths", "score"),
    [
        # .4 × dryness/10 + .3 × streak/5 + .3 × share of shallow ones among the last three, worked by hand
        (0, 0, (), 0.0),
        (3, 2, (S, S, M), 0.4 * 0.3 + 0.3 * 0.4 + 0.3 * 2 / 3),
        (10, 5, (S, S, S), 1.0),
        (25, 9, (S, S, S), 1.0),  # both counts are capped
        (5, 0, (M, M, M), 0.2),
        (0, 5, (), 0.3),
        (0, 0, (M, S), 0.15),
        (0, 0, (S, S, M, M, M), 0.0),  # only the last three count
    ],
)
def test_exhaustion_score(since_yield: int, streak: int, depths: tuple[Depth, ...], score: float) -> None:
    state = NodeState(focused=1, streak=streak, since_yield=since_yield, depths=depths)
    assert state.exhaustion_score == pytest.approx(score)


@pytest.mark.parametrize(
    ("focused", "since_yield", "streak", "depths", "exhausted"),
    [
        (1, 3, 2, (S, S, M), True),  # each condition at its boundary
        (0, 3, 2, (S, S, M), False),  # never in focus
        (1, 2, 2, (S, S, M), False),  # two turns dry
        (1, 3, 1, (S, S, M), False),  # once in focus
        (1, 3, 2, (S, M, M), False),  # one third shallow
        (1, 3, 2, (), False),
    ],
)
def test_exhausted(focused: int, since_yield: int, streak: int, depths: tuple[Depth, ...], exhausted: bool) -> None:
    state = NodeState(focused=focused, since_yield=since_yield, streak=streak, depths=depths)
    assert state.exhausted is exhausted


def test_focus_yield_and_depth_move_every_turn() -> None:
    """Port point 1: without recording, exhaustion, streak and recency never move.

    n1 is asked about three times; the first answer yields n2, the others nothing.
    """
    states = after_answer({}, ["n1"], "", M, yielded=True)
    states = after_choice(states, "n1", "deepen")
    assert (states["n1"].focused, states["n1"].streak, states["n1"].strategies) == (1, 1, {"deepen": 1})
    states = after_answer(states, ["n1", "n2"], "n1", M, yielded=True)
    assert (states["n1"].yields, states["n1"].since_yield, states["n1"].depths) == (1, 0, (M,))
    for turn in (1, 2, 3):
        states = after_answer(after_choice(states, "n1", "deepen"), ["n1", "n2"], "n1", S, yielded=False)
        assert states["n1"].since_yield == turn
        assert states["n2"].since_yield == turn  # every node ages, not the focus alone
        assert states["n2"].since_focus == turn
    assert states["n1"].depths == (M, S, S, S)
    assert states["n1"].exhausted
    assert states["n2"].depths == ()  # the depth belongs to what was asked about


def test_the_depth_goes_to_the_focus_of_the_question_that_was_answered_not_of_the_next() -> None:
    states = after_choice(after_answer({}, ["n1", "n2"], "", M, yielded=True), "n1", "deepen")
    states = after_choice(after_answer(states, ["n1", "n2"], "n1", S, yielded=False), "n2", "deepen")
    assert states["n1"].depths == (S,)
    assert states["n2"].depths == ()


def test_a_yield_does_not_end_the_streak_only_a_change_of_focus_does() -> None:
    """Port point 2."""
    states = after_choice(after_answer({}, ["n1", "n2"], "", M, yielded=True), "n1", "deepen")
    states = after_choice(after_answer(states, ["n1", "n2"], "n1", M, yielded=True), "n1", "deepen")
    assert states["n1"].streak == 2
    states = after_choice(states, "n2", "deepen")
    assert (states["n1"].streak, states["n2"].streak) == (0, 1)
    states = after_choice(states, "", "explore")  # a question about no concept is a change as well
    assert states["n2"].streak == 0


turns = st.lists(st.tuples(st.sampled_from(["", "n1", "n2"]), st.sampled_from([S, M]), st.booleans()), max_size=25)


@given(turns)
def test_counts_are_consistent_whatever_happens(history: list[tuple[str, Depth, bool]]) -> None:
    states = after_answer({}, ["n1", "n2"], "", M, yielded=True)
    for focus, depth, yielded in history:
        states = after_answer(after_choice(states, focus, "deepen"), ["n1", "n2"], focus, depth, yielded=yielded)
    for node, state in states.items():
        asked = [turn for turn in history if turn[0] == node]
        assert state.focused == len(asked) == len(state.depths) == sum(state.strategies.values())
        assert state.yields == sum(turn[2] for turn in asked)
        assert (state.exhaustion_score is None) is (state.focused == 0)
        assert 0 <= (state.exhaustion_score or 0) <= 1
        assert state.streak <= state.focused
        assert state.yield_rate is None if not asked else 0 <= (state.yield_rate or 0) <= 1
