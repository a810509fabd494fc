"""The ten nodes, each called by itself: they change nothing they are given; and what they leave in the node states."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.runtime import Runtime

from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.nodestate import after_choice
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.turn import (
    NODES,
    TurnContext,
    question_generation,
    response_saving,
    scoring_persistence,
)
from enquete.state.asking import Answer, Block, Participant
from tests.graphs.laddering.memory_desk import INSTRUMENT, MemoryDesk, interviewed, person

SETTINGS = LadderingSettings(turns=6)


def steps(desk: MemoryDesk) -> Iterator[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """(node, what it was given, a copy of that from before, what it wrote), turn by turn, without LangGraph."""
    interview = Interview(desk.participants()[0].id, question="Worauf kommt es Ihnen an?")
    runtime = Runtime(context=TurnContext(desk, INSTRUMENT, SETTINGS))
    while not interview.stop:
        state: dict[str, Any] = {"interview": interview}
        every: tuple[Any, ...] = NODES
        for node in every:
            if state.get("stop") and node in (question_generation, response_saving):
                continue
            given = dict(state)
            before = copy.deepcopy(given)
            written = asyncio.run(node(given, runtime))
            yield node, given, before, written
            state |= written
        interview = state["result"]


@pytest.fixture(scope="module")
def walked() -> list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    return list(steps(MemoryDesk(person())))


@pytest.mark.parametrize("node", NODES, ids=[node.__name__ for node in NODES])
def test_nodes_change_nothing_they_are_given(node: Any, walked: list[Any]) -> None:
    """Compared in depth, call by call; a cached property of a frozen object is no change."""
    calls = [(given, before) for one, given, before, _ in walked if one is node]
    assert len(calls) >= 5
    for given, before in calls:
        assert given == before


def yields_once(who: Participant, block: Block) -> Answer:
    """A concept, a link from it, then nothing."""
    texts = {
        1: "Mir geht es vor allem um feste Quoten für alle, wirklich.",
        2: "Das bedeutet für mich ruhige Tage, immer wieder.",
    }
    return Answer(block.items[0].id, "ok", text=texts.get(block.key.turn, "Das weiß ich nicht so genau."))


def test_yield_and_dryness_are_recorded_turn_by_turn() -> None:
    """Port point 1, by hand: n1 is asked about in turn 2 and yields n2; from then on all is dry."""
    desk = MemoryDesk(person(), says=yields_once)
    interview = interviewed(desk, LadderingSettings(turns=5))
    assert [turn.changes.new_nodes for turn in interview.turns] == [1, 1, 0, 0, 0]
    first = interview.turns[1].choice
    assert first is not None
    assert first.focus == "n1"
    n1, n2 = interview.states["n1"], interview.states["n2"]
    assert (n1.yields, n1.since_yield) == (1, 3)  # it yielded in turn 2; turns 3 to 5 were dry
    assert (n2.yields, n2.since_yield) == (0, 3)
    asked = [turn.choice.focus for turn in interview.turns if turn.choice]
    assert (n1.focused, n2.focused) == (asked.count("n1"), asked.count("n2"))
    assert sum(len(state.depths) for state in interview.states.values()) == sum(bool(focus) for focus in asked)


def test_a_turn_whose_states_are_lost_is_not_passed_over(monkeypatch: pytest.MonkeyPatch, walked: list[Any]) -> None:
    """What response_saving writes is what persistence keeps: states that the record does not add up to are an error."""
    _, given, before, _ = next(step for step in walked if step[0] is scoring_persistence and step[1].get("choice"))
    unchanged = {**before, "states": {**before["states"]}}
    focus = before["choice"].focus or "n1"
    unchanged["states"][focus] = after_choice(before["states"], focus, "deepen")[focus]
    runtime = Runtime(context=TurnContext(MemoryDesk(person()), INSTRUMENT, SETTINGS))
    with pytest.raises(RuntimeError, match="other node states"):
        asyncio.run(scoring_persistence(unchanged, runtime))  # type: ignore[arg-type]  # a turn's own keys
    assert given
