"""Who sits together: by hand, of one type, mixed, of most different views; and who only reads."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from enquete.methods.roundtable.discussion import RoundtableSettings
from enquete.methods.roundtable.procedure import Seating, seated
from enquete.state.asking import Participant
from enquete.state.errors import InstrumentError
from tests.support.populations import participants


def seat(people: list[Participant], draw: int = 1, **given: Any) -> Seating:
    return seated(people, RoundtableSettings.model_validate(given), draw)


def sizes(seating: Seating) -> list[int]:
    return sorted(map(len, seating.groups.values()))


@pytest.mark.parametrize(
    ("people", "size", "groups"),
    [(50, 5, [5] * 10), (7, 5, [3, 4]), (6, 5, [3, 3]), (3, 2, [3]), (2, 5, [2]), (11, 10, [5, 6]), (9, 4, [3, 3, 3])],
)
def test_everybody_has_a_seat_in_groups_of_nearly_the_size(people: int, size: int, groups: list[int]) -> None:
    seating = seat(participants(people), size=size)
    assert sizes(seating) == groups
    assert len(set(chain.from_iterable(seating.groups.values()))) == people
    assert (seating.unseated, seating.controls) == ((), {})


def test_one_agent_alone_is_asked_and_discusses_nothing() -> None:
    (who,) = participants(1)
    assert seat([who]) == Seating(alone={"alone_01": who.id})


def test_mixed_groups_have_every_type_or_one() -> None:
    people = participants(25)  # of five types, five each
    kinds = {who.id: who.stakeholder_type for who in people}
    seating = seat(people)
    assert [len({kinds[who] for who in group}) for group in seating.groups.values()] == [5] * 5
    assert seat(list(reversed(people))) == seating
    assert seat(people, draw=2).groups != seating.groups
    people = participants(22)  # two types have five agents, three have four
    kinds = {who.id: who.stakeholder_type for who in people}
    seating = seat(people, compose="type", size=5)
    assert [len({kinds[who] for who in group}) for group in seating.groups.values()] == [1] * 5
    assert sizes(seating) == [4, 4, 4, 5, 5]


def test_groups_by_hand_go_by_name_or_id_and_name_strangers() -> None:
    people = participants(6)
    seating = seat(people, compose="hand", members="Agent 3, agent:uuid-0000; Agent 5, Agent 1, Nobody")
    assert list(seating.groups.values()) == [
        ("agent:uuid-0003", "agent:uuid-0000"), ("agent:uuid-0005", "agent:uuid-0001")]  # fmt: skip
    assert seating.unknown == ("Nobody",)
    assert seating.unseated == ("agent:uuid-0002", "agent:uuid-0004")


def test_groups_of_most_different_views_keep_like_minded_apart(tmp_path: Path) -> None:
    """Eight agents in four tight corners, two each: groups of four have one of each corner, and every pair in a group
    is about a side of the square apart or more."""
    people = participants(9)
    corners = [(1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)]
    loadings = {
        who.id: [corners[n % 4][0] * (0.8 + n / 100), corners[n % 4][1] * 0.8] for n, who in enumerate(people[:8])
    }
    file = tmp_path / "qmethod.json"
    file.write_text(json.dumps({"members": [{"participant": who, "loadings": at} for who, at in loadings.items()]}))
    seating = seat(people, compose="views", views=str(file), size=4)
    for group in seating.groups.values():
        assert min(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in combinations([loadings[w] for w in group], 2)) > 1.4
    assert sizes(seating) == [4, 4]
    assert seating.unseated == (people[8].id,)  # of no known view
    with pytest.raises(InstrumentError, match=r"no qmethod\.json"):
        seat(people, compose="views", views=str(tmp_path / "none.json"))
    with pytest.raises(InstrumentError, match="is a path"):  # said by somebody from outside, who may open nothing
        RoundtableSettings.model_validate(
            {"compose": "views", "views": str(file)}, context={"own_folder": str(tmp_path / "own_folder")}
        )


def test_controls_join_no_group_and_there_may_be_fewer_groups() -> None:
    seating = seat(participants(13), controls=3)
    assert sizes(seating) == [5, 5]
    assert Counter(control.reads for control in seating.controls.values()) == {"group_01": 2, "group_02": 1}
    sitting = set(chain.from_iterable(seating.groups.values()))
    assert not sitting & {control.participant for control in seating.controls.values()}
    seating = seat(participants(20), groups=2, size=5, controls=4)
    assert sizes(seating) == [5, 5]
    assert (len(seating.controls), len(seating.unseated)) == (4, 6)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"size": 1}, "greater than or equal to 2"), ({"size": 11}, "less than or equal to 10"),
        ({"compose": "hand"}, "groups by hand need them"), ({"members": "Ada, Ben"}, "set compose to hand"),
        ({"compose": "hand", "members": "Ada"}, "a group has 2 to 10"), ({"compose": "views"}, "need the qmethod.json"),
        ({"mode": "expert-panel", "perspective_of": "Ada: technica"}, "did you mean 'technical'"),
        ({"rounds": 2, "least_rounds": 3}, "least_rounds 3 is more than rounds 2")],
)  # fmt: skip
def test_what_cannot_be_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises((ValidationError, InstrumentError), match=re.escape(says)):
        RoundtableSettings.model_validate(given)
