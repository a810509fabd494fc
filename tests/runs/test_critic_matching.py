"""The matching buffer: either order, bounded, the oldest leaves; what a split and a missing verdict are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.runs.answer_pairs import SIZE, MatchingBuffer, winner_of


@given(st.permutations([(question, side) for question in "pqrs" for side in ("a", "b")]))
def test_whatever_comes_first_every_pair_is_found_once(order: list[tuple[str, str]]) -> None:
    buffer: MatchingBuffer[str] = MatchingBuffer()
    offers = [buffer.offer(question, side, f"{side}:{question}") for question, side in order]  # type: ignore[arg-type]
    assert sorted(pair for pair in offers if pair) == [(f"a:{q}", f"b:{q}") for q in "pqrs"]
    assert len(buffer) == 0


def test_the_oldest_leaves_where_there_is_no_more_room_and_the_same_answer_takes_its_own_place() -> None:
    buffer: MatchingBuffer[int] = MatchingBuffer()
    for number in range(SIZE + 3):
        assert buffer.offer(str(number), "a", number) is None
    assert buffer.evicted() == [("a", 0), ("a", 1), ("a", 2)]
    assert (len(buffer), buffer.evicted()) == (SIZE, [])
    assert buffer.offer("0", "b", 0) is None  # its partner is gone: the ledger has it
    assert buffer.offer("3", "b", 3) == (3, 3)
    assert len(buffer.rest()) == SIZE
    assert len(buffer) == 0
    buffer: MatchingBuffer[str] = MatchingBuffer()
    buffer.offer("q", "b", "old")
    buffer.offer("q", "b", "new")
    assert buffer.offer("q", "a", "one") == ("one", "new")


@pytest.mark.parametrize(
    ("forward", "backward", "winner"),
    [
        ("A", "A", "A"), ("B", "B", "B"), ("A", "B", "tie"), ("B", "A", "tie"), ("A", "", ""), ("", "B", ""),
        ("", "", ""),
    ],
)  # fmt: skip
def test_a_win_needs_both_orders(forward: str, backward: str, winner: str) -> None:
    assert winner_of(forward, backward) == winner
