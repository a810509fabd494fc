"""Reducers: parallel branches merge whatever the order and grouping in which they arrive, and fail without them."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from enquete.graphs.delphi import DelphiState
from enquete.state.channels import InterviewsState, MethodologyState, add_counts, merge_by_id, merge_notes

Merge = Callable[[Any, Any], Any]

counts = st.lists(st.dictionaries(st.text(max_size=3), st.integers(-5, 50), max_size=4), min_size=1, max_size=6)
notes = st.lists(st.lists(st.text(max_size=4), max_size=4), min_size=1, max_size=6)
keyed = st.dictionaries(st.text(max_size=3), st.integers() | st.lists(st.integers()), max_size=8)


@st.composite
def writers(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Updates by id: each key has one writer, who may say the same thing twice."""
    whole = draw(keyed)
    parts: list[dict[str, Any]] = [{} for _ in range(draw(st.integers(1, 5)))]
    for key, value in whole.items():
        for index in draw(st.sets(st.integers(0, len(parts) - 1), min_size=1)):
            parts[index][key] = value
    return parts


def grouped(merge: Merge, parts: list[Any], draw: random.Random) -> Any:
    """Merged in a random bracketing: pairs of neighbours until one is left."""
    rest = list(parts)
    while len(rest) > 1:
        i = draw.randrange(len(rest) - 1)
        rest[i : i + 2] = [merge(rest[i], rest[i + 1])]
    return merge(None, rest[0])


def same_in_any_order_and_grouping(merge: Merge, parts: list[Any], seed: int) -> None:
    draw = random.Random(seed)
    expected = functools.reduce(merge, parts, None)
    for _ in range(5):
        shuffled = draw.sample(parts, len(parts))
        assert grouped(merge, shuffled, draw) == expected


@given(counts, st.integers(0, 99))
def test_counts_add_up(parts: list[dict[str, int]], seed: int) -> None:
    same_in_any_order_and_grouping(add_counts, parts, seed)
    total: dict[str, int] = functools.reduce(add_counts, parts, dict[str, int]())
    assert sum(total.values()) == sum(sum(part.values()) for part in parts)


@given(notes, st.integers(0, 99))
def test_notes_are_a_sorted_set(parts: list[list[str]], seed: int) -> None:
    same_in_any_order_and_grouping(merge_notes, parts, seed)
    merged: list[str] = functools.reduce(merge_notes, parts, list[str]())
    assert merged == sorted({note for part in parts for note in part})
    assert merge_notes(merged, merged) == merged


@given(writers(), st.integers(0, 99))
def test_values_by_id_merge(parts: list[dict[str, Any]], seed: int) -> None:
    same_in_any_order_and_grouping(merge_by_id, parts, seed)
    merged: dict[str, Any] = functools.reduce(merge_by_id, parts, dict[str, Any]())
    assert list(merged) == sorted(merged)  # the order of arrival does not show
    assert merge_by_id(merged, merged) == merged


@pytest.mark.parametrize("merge", [add_counts, merge_by_id, merge_notes])
def test_a_merge_changes_neither_side(merge: Merge) -> None:
    left: Any = ["b"] if merge is merge_notes else {"b": 1}
    right: Any = ["a"] if merge is merge_notes else {"a": 2}
    before = (type(left)(left), type(right)(right))
    merge(left, right)
    assert (left, right) == before
    assert merge(None, None) == type(left)()


class Reduced(TypedDict, total=False):
    outcomes: Annotated[dict[str, str], merge_by_id]


def two_branches(schema: Any) -> Any:
    """Two nodes that run at the same time and write one channel."""
    builder = StateGraph(schema)
    for name in ("longitudinal", "delphi"):
        builder.add_node(name, lambda state, name=name: {"outcomes": {f"{name}/T1": "done"}})
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile()


@pytest.mark.parametrize("schema", [Reduced, MethodologyState, InterviewsState])
def test_parallel_branches_merge_with_it(schema: Any) -> None:
    """Also in the real states, where NotRequired and Annotated are nested."""
    ended = two_branches(schema).invoke({"run": "r", "phase": "T1"} if schema is MethodologyState else {})
    assert ended["outcomes"] == {"delphi/T1": "done", "longitudinal/T1": "done"}


def test_every_channel_that_shards_write_at_once_has_its_reducer() -> None:
    """Three shards of a round, as `Send` starts them."""

    def shard(update: Any) -> Any:
        return update["write"]

    def fan_out(state: DelphiState) -> list[Send]:
        writes = [
            {"counts": {"round 1/done": n}, "themes": {f"t{n}": "x"}, "feedback": {f"r{n}": {}}} for n in (3, 1, 2)
        ]
        return [Send("shard", {"write": write}) for write in writes]

    builder: Any = StateGraph(DelphiState)
    builder.add_node("shard", shard)
    builder.add_conditional_edges(START, fan_out, ["shard"])
    builder.add_edge("shard", END)
    ended = builder.compile().invoke({"run": "r", "phase": "T1"})
    assert ended["counts"] == {"round 1/done": 6}
    assert list(ended["themes"]) == ["t1", "t2", "t3"]
    assert list(ended["feedback"]) == ["r1", "r2", "r3"]
