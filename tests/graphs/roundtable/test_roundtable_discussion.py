"""Stored turns add up to rounds, with what was said privately apart."""

from __future__ import annotations

from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn, Weighed
from enquete.graphs.roundtable.modes import Response


def said(turn: int, round: int, who: str, position: str, **more: object) -> RoundtableTurn:
    return RoundtableTurn.model_validate(
        {
            "turn": turn,
            "round": round,
            "participant": who,
            "status": "ok",
            "response": Response(position=position),
            **more,
        }
    )


def test_rounds_are_public_and_the_exit_is_that_of_the_last_complete_round() -> None:
    talk = Discussion("group_01", participants=("a", "b"), mode="collaborative")
    for turn in (
        said(1, 0, "a", "before", private=True),
        said(2, 0, "b", "before too", private=True),
        said(3, 1, "a", "one"),
        said(4, 1, "b", "one too", weighed=Weighed(should_exit=False, reason="open")),
        said(5, 2, "a", "two"),
    ):
        talk = talk.after(turn)
    assert [{who: one.position for who, one in held.items()} for held in talk.rounds()] == [
        {"a": "one", "b": "one too"},
        {"a": "two"},
    ]
    assert {who: one.position for who, one in talk.before.items()} == {"a": "before", "b": "before too"}
    assert talk.afterwards == {}
    assert talk.exit is not None
    assert talk.exit.reason == "open"
